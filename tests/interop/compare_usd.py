"""Compares what we read of USD files with what OpenUSD makes of them.

    python compare_usd.py DUMP_POSITIONS FILE_OR_FOLDER [TOLERANCE]

Needs numpy and `usd-core`. Points of every mesh, curve and cloud at up to six times, on samples and between them;
characters are skinned by OpenUSD (`UsdSkel.BakeSkinning`) and by us. Our vertices are split at seams, so clouds
are compared: every point of ours has one of theirs within the tolerance (of the size) and the other way round.
Splines are compared only where they pass through their points.
"""

import json

from compare_each import compare_each, dump
from compare_readers import cloud_distance, tell

TIMES = 6


def all_times(stage):
    """Time codes of samples of anything that moves, and some between."""
    codes = set()
    for prim in stage.Traverse():
        for attribute in prim.GetAttributes():
            codes.update(attribute.GetTimeSamples())
    codes = sorted(codes) or [0.0]
    picked = [codes[k * (len(codes) - 1) // (TIMES - 1)] for k in range(TIMES)]
    between = [0.5 * (a + b) for a, b in zip(picked, picked[1:])]
    return sorted({*picked, *between})


def their_points(stage, code, numpy):
    from pxr import Usd, UsdGeom

    cache = UsdGeom.XformCache(code)
    unit = UsdGeom.GetStageMetersPerUnit(stage)
    is_z_up = UsdGeom.GetStageUpAxis(stage) == "Z"
    parts = {"Mesh": [], "BasisCurves": [], "Points": []}
    for prim in stage.Traverse():
        kind = str(prim.GetTypeName())
        if kind not in parts:
            continue
        if UsdGeom.Imageable(prim).ComputeVisibility(code) == "invisible":
            continue
        points = UsdGeom.PointBased(prim).GetPointsAttr().Get(code)
        points = numpy.array(points or [], numpy.float64).reshape(-1, 3)
        if kind == "Mesh":
            indices = UsdGeom.Mesh(prim).GetFaceVertexIndicesAttr().Get(code)
            points = points[numpy.unique(numpy.array(indices or [], numpy.int64))]
        matrix = numpy.array(cache.GetLocalToWorldTransform(prim))
        points = unit * (points @ matrix[:3, :3] + matrix[3, :3])
        parts[kind].append(points[:, [0, 2, 1]] * [1, 1, -1] if is_z_up else points)
    found = [p for kind in parts.values() for p in kind]
    return numpy.concatenate(found) if found else numpy.empty((0, 3))


def clouds(raw, numpy):
    """Shapes with their counts before them."""
    out, at = [], 0
    while at < len(raw):
        count = int(numpy.frombuffer(raw, numpy.uint32, 1, at)[0])
        out.append(numpy.frombuffer(raw, numpy.float32, 3 * count, at + 4).reshape(-1, 3))
        at += 4 + 12 * count
    return numpy.concatenate(out).astype(numpy.float64) if out else numpy.empty((0, 3))


def baked(stage):
    """The stage with its skins baked to points."""
    from pxr import Usd, UsdSkel

    flat = Usd.Stage.Open(stage.Flatten())
    for prim in flat.Traverse():
        if prim.IsA(UsdSkel.Root) and not UsdSkel.BakeSkinning(UsdSkel.Root(prim)):
            raise RuntimeError("OpenUSD cannot bake")
    return flat


def compare_file(program, path, tolerance):
    import numpy
    from pxr import Usd

    stage = Usd.Stage.Open(str(path))
    is_character = any(p.GetTypeName() == "Skeleton" for p in stage.Traverse())
    rate = stage.GetTimeCodesPerSecond()
    truth, start = stage, 0.0
    codes = all_times(stage)
    if is_character:
        truth = baked(stage)
        # Our clips begin at their first key. Between keys OpenUSD bakes nothing.
        moving = [
            a
            for p in stage.Traverse()
            for a in p.GetAttributes()
            if p.GetTypeName() == "SkelAnimation" or a.GetName().startswith("xformOp:")
        ]
        # What has one sample stands.
        samples = {c for a in moving if a.GetNumTimeSamples() > 1 for c in a.GetTimeSamples()}
        codes = [c for c in codes if c in samples] or codes
        start = min(samples, default=0.0)
    worst = size = 0.0
    for code in codes:
        theirs = their_points(truth, code, numpy)
        if is_character:
            clip = 0 if json.loads(dump(program, path))["clips"] else "rest"
            raw = dump(program, path, clip, repr((code - start) / rate))
            ours = numpy.frombuffer(raw, numpy.float32).reshape(-1, 3).astype(numpy.float64)
        else:
            ours = clouds(dump(program, path, "shapes", repr(code / rate)), numpy)
        size = max(size, float(numpy.linalg.norm(numpy.ptp(theirs, axis=0))) if len(theirs) else 0.0)
        worst = max(worst, cloud_distance(numpy, ours, theirs))
    return tell(path, worst, size, len(codes), tolerance, ", a character" if is_character else "")


if __name__ == "__main__":
    compare_each(__file__, __doc__, (".usd", ".usda", ".usdc", ".usdz"), compare_file)
