"""Hair as hair curves in Blender: widths, ids, texture coordinates and normals of the roots.

usage: curves.py HAIR.usdc

What Blender has of every curve is compared with what the USD library reads of the same file, in the first
and the last frame.
"""

import sys

import numpy as np
from pxr import Usd, UsdGeom


def z_up(vectors):
    vectors = np.asarray(vectors, dtype=np.float64).reshape(-1, 3)
    return np.stack([vectors[:, 0], -vectors[:, 2], vectors[:, 1]], axis=1)


def wanted(path):
    """Every set of curves in the file by name and frame."""
    stage = Usd.Stage.Open(path)
    frames = [int(stage.GetStartTimeCode()), int(stage.GetEndTimeCode())]
    found = {}
    for prim in stage.Traverse():
        if not prim.IsA(UsdGeom.BasisCurves):
            continue
        curves, variables = UsdGeom.BasisCurves(prim), UsdGeom.PrimvarsAPI(prim)

        def value(name, frame):
            variable = variables.GetPrimvar(name)
            return np.array(variable.Get(frame)) if variable and variable.HasValue() else None

        found[prim.GetName()] = {
            frame: {
                "points": z_up(curves.GetPointsAttr().Get(frame)),
                "counts": list(curves.GetCurveVertexCountsAttr().Get(frame)),
                "radius": np.array(curves.GetWidthsAttr().Get(frame)) / 2,
                "id": value("id", frame),
                "st": value("st", frame),
                "root_normal": value("root_normal", frame),
            }
            for frame in frames
        }
    return found, frames


def read(data, name, field, width):
    attribute = data.attributes.get(name)
    assert attribute is not None, (name, [a.name for a in data.attributes])
    flat = np.zeros(width * len(attribute.data), dtype=np.float32)
    attribute.data.foreach_get(field, flat)
    return attribute.domain, flat.reshape(-1, width) if width > 1 else flat


def same(found, expected, what, limit=1e-5):
    assert found.shape == expected.shape, (what, found.shape, expected.shape)
    worst = float(np.abs(found - expected).max())
    assert worst < limit, f"{what}: {worst} off"


def main(path):
    import bpy

    sets, frames = wanted(path)
    assert sets, "no curves in the USD file"
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.usd_import(filepath=path)
    normals, hairs = 0, 0
    for name, by_frame in sets.items():
        for frame in frames:
            expected = by_frame[frame]
            bpy.context.scene.frame_set(frame)
            graph = bpy.context.evaluated_depsgraph_get()
            posed = bpy.data.objects[name].evaluated_get(graph)
            assert posed.type == "CURVES", posed.type
            data, matrix = posed.data, np.array(posed.matrix_world)
            assert [c.points_length for c in data.curves] == expected["counts"], name
            _, points = read(data, "position", "vector", 3)
            same(points @ matrix[:3, :3].T + matrix[:3, 3], expected["points"], f"{name} points")
            same(read(data, "radius", "value", 1)[1], expected["radius"], f"{name} widths", 1e-7)
            domain, ids = read(data, "id", "value", 1)
            assert domain == "CURVE", domain
            same(ids, expected["id"], f"{name} ids")
            if expected["st"] is not None:
                domain, uvs = read(data, "st", "vector", 2)
                assert domain == "CURVE", domain
                same(uvs, expected["st"], f"{name} texture coordinates")
            if expected["root_normal"] is not None:
                domain, found = read(data, "root_normal", "vector", 3)
                assert domain == "CURVE", domain
                assert np.abs(np.linalg.norm(found, axis=1) - 1).max() < 1e-4, "unit normals"
                # A plain vector stays in the file's axes unless the object is turned to Blender's.
                plain, turned = expected["root_normal"], z_up(expected["root_normal"])
                kept = min(np.abs(found - plain).max(), np.abs(found - turned).max())
                assert kept < 1e-5, f"{name} normals: {kept} off"
                normals += len(found)
            hairs += len(expected["counts"])
    print(f"curves: {hairs} hairs in Blender have their widths, ids and texture coordinates; {normals} root normals")


if __name__ == "__main__":
    main(sys.argv[1])
