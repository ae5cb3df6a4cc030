"""Hair as tubes for engines: a GLB opened in Blender against the same curves in USD.

usage: hair.py HAIR.glb HAIR.usdc

Every ring of a tube has three corners around a point of the hair, so that its centre is that point;
one shape key per frame moves them.
"""

import sys

import numpy as np
from pxr import Usd, UsdGeom

SIDES = 3


def curves(path):
    """Points of every curve prim by name and frame, Z up."""
    stage = Usd.Stage.Open(path)
    first, last = int(stage.GetStartTimeCode()), int(stage.GetEndTimeCode())
    found = {}
    for prim in stage.Traverse():
        if prim.IsA(UsdGeom.BasisCurves):
            points = UsdGeom.BasisCurves(prim).GetPointsAttr()
            found[prim.GetName()] = {f: z_up(points.Get(f)) for f in range(first, last + 1)}
    return found, stage.GetTimeCodesPerSecond()


def z_up(points):
    points = np.asarray(points, dtype=np.float64).reshape(-1, 3)
    return np.stack([points[:, 0], -points[:, 2], points[:, 1]], axis=1)


def rings(bpy, obj):
    """Centres of the rings of an evaluated mesh, in the world."""
    graph = bpy.context.evaluated_depsgraph_get()
    posed = obj.evaluated_get(graph)
    mesh = posed.to_mesh()
    flat = np.zeros(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", flat)
    matrix = np.array(posed.matrix_world)
    points = flat.reshape(-1, 3).astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
    assert len(points) % SIDES == 0, len(points)
    return points.reshape(-1, SIDES, 3).mean(axis=1)


def plain(name):
    return "".join(c if c.isalnum() else "_" for c in name)


def main(glb, usd):
    import bpy

    wanted, fps = curves(usd)
    assert wanted, "no curves in the USD file"
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = round(fps)
    bpy.ops.import_scene.gltf(filepath=glb)
    objects = {plain(o.name): o for o in bpy.data.objects if o.type == "MESH"}
    worst, moved = 0.0, 0.0
    for name, frames in wanted.items():
        obj = objects.get(plain(name))
        assert obj is not None, (name, sorted(objects))
        first = min(frames)
        for frame, points in frames.items():
            bpy.context.scene.frame_set(frame)
            found = rings(bpy, obj)
            assert found.shape == points.shape, (name, frame, found.shape, points.shape)
            worst = max(worst, np.abs(found - points).max())
            moved = max(moved, np.linalg.norm(points - frames[first], axis=1).max())
    assert worst < 1e-4, f"tubes are {worst} m off the curves"
    assert moved > 0.01, f"nothing moves ({moved} m)"
    print(f"hair: {len(wanted)} sets of tubes in Blender follow the curves to {worst:.1e} m (moved {moved:.2f} m)")


main(*sys.argv[1:])
