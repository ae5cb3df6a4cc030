"""Compares what we read of FBX and Alembic files with what other readers make of them.

    python compare_readers.py DUMP_POSITIONS FILE_OR_FOLDER [TOLERANCE]

Needs numpy, `bpy` for FBX (`import_scene.fbx`, Blender's own importer in Python) and `alembic3d` for
Alembic (the Alembic library). DUMP_POSITIONS is built by
`cargo build --release --example dump_positions`.

FBX: our vertices are split at seams, so clouds are compared: every point of ours has one of
Blender's within the tolerance (of the size) and the other way round, at up to six times of every
take at which all curves have a key. Alembic: every point of every sample of every mesh and curve, in the file's own order where it
has one, under the transforms above it.
"""

import json

from compare_each import compare_each, dump


def cloud_distance(numpy, ours, theirs):
    """Largest distance of a point to the nearest of the other cloud."""
    if len(ours) == 0 or len(theirs) == 0:
        return 0.0 if len(ours) == len(theirs) else float("inf")
    worst = 0.0
    for a, b in ((ours, theirs), (theirs, ours)):
        for start in range(0, len(a), 512):
            part = a[start : start + 512]
            d = ((part[:, None, :] - b[None, :, :]) ** 2).sum(2).min(1)
            worst = max(worst, float(d.max()) ** 0.5)
    return worst


def tell(path, worst, size, poses, tolerance, note=""):
    relative = worst / size if size else 0.0
    word = "ok" if relative <= tolerance and poses else "DIFFERS"
    print(f"{word:8}{path.name:44} {poses:3} poses, {relative:.1e} of the size{note}", flush=True)
    return 0 if word == "ok" else 1


def blender_points(bpy, numpy):
    graph = bpy.context.evaluated_depsgraph_get()
    parts = []
    for item in bpy.context.scene.objects:
        if item.type != "MESH" or item.hide_get() or item.hide_render:
            continue
        evaluated = item.evaluated_get(graph)
        mesh = evaluated.to_mesh()
        if len(mesh.polygons):
            flat = numpy.empty(3 * len(mesh.vertices), numpy.float32)
            mesh.vertices.foreach_get("co", flat)
            used = numpy.empty(len(mesh.loops), numpy.int32)
            mesh.loops.foreach_get("vertex_index", used)
            points = flat.reshape(-1, 3).astype(numpy.float64)[numpy.unique(used)]
            matrix = numpy.array(evaluated.matrix_world, numpy.float64)
            parts.append(points @ matrix[:3, :3].T + matrix[:3, 3])
        evaluated.to_mesh_clear()
    points = numpy.concatenate(parts) if parts else numpy.empty((0, 3))
    return points[:, [0, 2, 1]] * [1, 1, -1]


def play_take(bpy, take):
    """Plays the actions of one take: the importer calls them `object|take` or `object|take|layer`."""
    found = []
    for holder in [*bpy.data.objects, *bpy.data.shape_keys]:
        owner = holder.name
        for action in bpy.data.actions:
            own = action.name.removeprefix(owner + "|")
            if own != action.name and (own == take or own.startswith(take + "|")):
                if not holder.animation_data:
                    holder.animation_data_create()
                holder.animation_data.action = action
                if action.slots:
                    holder.animation_data.action_slot = action.slots[0]
                found.append(action)
    return found


def common_keys(actions):
    """Whole frames at which every curve has a key: between keys Blender draws straight lines where
    the file has curves."""
    common = None
    for action in actions:
        for layer in action.layers:
            for strip in layer.strips:
                for bag in strip.channelbags:
                    for curve in bag.fcurves:
                        keys = {round(k.co.x, 3) for k in curve.keyframe_points}
                        common = keys if common is None else common & keys
    return sorted(k for k in common or [] if k == int(k))


def compare_fbx(program, path, tolerance):
    import bpy
    import numpy

    about = json.loads(dump(program, path))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    try:
        bpy.ops.import_scene.fbx(filepath=str(path), ignore_leaf_bones=False)
    except RuntimeError as problem:
        print(f"refused {path.name:44} by Blender: {str(problem).strip().splitlines()[-1]}")
        return 0
    fps = bpy.context.scene.render.fps / bpy.context.scene.render.fps_base
    worst = size = 0.0
    poses = missing = 0
    for index, clip in enumerate(about["clips"]):
        actions = play_take(bpy, clip["name"])
        missing += not actions
        keys = common_keys(actions)
        for frame in sorted({keys[k * (len(keys) - 1) // 5] for k in range(6)}) if keys else []:
            bpy.context.scene.frame_set(int(frame))
            theirs = blender_points(bpy, numpy)
            # Our clips begin at 0.
            raw = dump(program, path, index, repr((frame - min(keys)) / fps))
            ours = numpy.frombuffer(raw, numpy.float32).reshape(-1, 3).astype(numpy.float64)
            size = max(size, float(numpy.linalg.norm(numpy.ptp(theirs, axis=0))))
            worst = max(worst, cloud_distance(numpy, ours, theirs))
            poses += 1
    if not poses:
        # Nothing moves in Blender: the file as it stands.
        theirs = blender_points(bpy, numpy)
        raw = dump(program, path, 0 if about["clips"] else "rest", 0)
        ours = numpy.frombuffer(raw, numpy.float32).reshape(-1, 3).astype(numpy.float64)
        size = float(numpy.linalg.norm(numpy.ptp(theirs, axis=0))) if len(theirs) else 0.0
        worst, poses = cloud_distance(numpy, ours, theirs), 1
    note = f", {missing} takes not found in Blender" if missing else ""
    return tell(path, worst, size, poses, tolerance, note)


def alembic_shapes(geom, archive):
    """Objects with points, in the order of the tree: meshes, curves, points."""
    found = {"meshes": [], "curves": [], "points": []}
    kinds = (
        ("meshes", "AbcGeom_PolyMesh", geom.IPolyMesh),
        ("curves", "AbcGeom_Curve", geom.ICurves),
        ("points", "AbcGeom_Points", geom.IPoints),
    )

    def walk(item, chain):
        for k in range(item.getNumChildren()):
            child = item.getChild(k)
            meta = child.getMetaData().serialize()
            below = chain
            if "AbcGeom_Xform" in meta:
                below = [*chain, geom.IXform(item, child.getName())]
            for kind, wanted, schema in kinds:
                if wanted in meta:
                    found[kind].append((schema(item, child.getName()), chain))
            walk(child, below)

    walk(archive.getTop(), [])
    return found["meshes"] + found["curves"] + found["points"]


def alembic_points(selector, numpy, shape, chain):
    values = shape.getSchema().getValue(selector)
    points = numpy.array([[p[0], p[1], p[2]] for p in values.getPositions()], numpy.float64)
    world = numpy.eye(4)
    for transform in reversed(chain):
        sample = transform.getSchema().getValue(selector)
        matrix = sample.getMatrix()
        world = world @ numpy.array([[matrix[i][j] for j in range(4)] for i in range(4)])
        if not sample.getInheritsXforms():
            break
    return points.reshape(-1, 3) @ world[:3, :3] + world[3, :3]


def compare_abc(program, path, tolerance):
    import numpy
    from alembic3d import AbcGeom
    from alembic3d.Abc import IArchive, ISampleSelector

    archive = IArchive(str(path))
    shapes = alembic_shapes(AbcGeom, archive)
    times = set()
    for shape, _ in shapes:
        schema = shape.getSchema()
        sampling = schema.getTimeSampling()
        times.update(sampling.getSampleTime(k) for k in range(schema.getNumSamples()))
    times = sorted(times)
    worst = size = 0.0
    for time in times:
        raw = dump(program, path, "-", repr(time))
        at = 0
        for shape, chain in shapes:
            count = int(numpy.frombuffer(raw, numpy.uint32, 1, at)[0])
            flat = numpy.frombuffer(raw, numpy.float32, 3 * count, at + 4)
            at += 4 + 12 * count
            ours = flat.reshape(-1, 3).astype(numpy.float64)
            if count == 0:
                continue
            selector = ISampleSelector(time, ISampleSelector.TimeIndexType.kNearIndex)
            theirs = alembic_points(selector, numpy, shape, chain)
            size = max(size, float(numpy.linalg.norm(numpy.ptp(theirs, axis=0))))
            worst = max(worst, cloud_distance(numpy, ours, theirs))
    return tell(path, worst, size, len(times), tolerance)


def compare_file(program, path, tolerance):
    compare = compare_abc if path.suffix == ".abc" else compare_fbx
    return compare(program, path, tolerance)


if __name__ == "__main__":
    compare_each(__file__, __doc__, (".fbx", ".abc"), compare_file)
