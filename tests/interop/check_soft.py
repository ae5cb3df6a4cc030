"""Soft bodies in Blender: a surface whose topology changes, watertight in every frame.

usage: check_soft.py FILE [FILE ...]      .abc or .usdc, exported from a bake of a soft scene
"""

import pathlib
import subprocess
import sys

import numpy as np
from shot import check, done


def main():
    if len(sys.argv) == 2:
        return check_file(pathlib.Path(sys.argv[1]))
    for path in sys.argv[1:]:
        # A malformed Alembic file aborts the whole process.
        if subprocess.run([sys.executable, __file__, path]).returncode != 0:
            sys.exit(1)


def check_file(path):
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    if path.suffix == ".abc":
        bpy.ops.wm.alembic_import(filepath=str(path), as_background_job=False)
    else:
        bpy.ops.wm.usd_import(filepath=str(path))
    scene = bpy.context.scene
    objects = [o for o in bpy.data.objects if o.type == "MESH" and not o.name.endswith("contacts")]
    check(objects, "meshes in", path)
    frames = range(scene.frame_start, scene.frame_end + 1)
    counts = {}
    for frame in frames:
        scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        for obj in objects:
            counts.setdefault(obj.name, set()).add(len(obj.evaluated_get(graph).data.vertices))
    # Tools that are shown stay as they are.
    soft = [o for o in objects if len(counts[o.name]) > 1]
    check(soft, "no topology changes:", counts)
    for frame in frames:
        scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        for obj in soft:
            check_mesh(obj.evaluated_get(graph).to_mesh(), obj.name, frame)
    done(f"Blender {path.name}, frames {scene.frame_start} to {scene.frame_end}")


def array(data, name, width, kind):
    flat = np.zeros(len(data) * width, dtype=kind)
    data.foreach_get(name, flat)
    return flat.reshape(-1, width) if width > 1 else flat


def check_mesh(mesh, name, frame):
    check(len(mesh.polygons) > 0, name, "is empty in", frame)
    # Every edge has two faces, which run along it in opposite senses.
    corners = array(mesh.loops, "vertex_index", 1, np.int32).reshape(-1, 3)
    tails, heads = corners.ravel(), np.roll(corners, -1, axis=1).ravel()
    there = tails.astype(np.int64) * len(mesh.vertices) + heads
    back = heads.astype(np.int64) * len(mesh.vertices) + tails
    check(len(np.unique(there)) == len(there), name, "has an edge with three faces in", frame)
    check(np.array_equal(np.sort(there), np.sort(back)), name, "is open in", frame)
    points = array(mesh.vertices, "co", 3, np.float32)
    check(np.isfinite(points).all(), name, "positions in", frame)
    # Smooth: one normal per vertex, whatever the face, and not the face's own.
    normals = np.array([n.vector for n in mesh.corner_normals]).reshape(-1, 3)
    first = np.zeros((len(mesh.vertices), 3))
    first[corners.ravel()] = normals
    split = np.abs(first[corners.ravel()] - normals).max(axis=1)
    check((split > 0.02).mean() < 1e-3, name, "normals split in", frame, split.max())
    faces = np.repeat(array(mesh.polygons, "normal", 3, np.float32), 3, axis=0)
    check(np.abs(faces - normals).max() > 1e-2, name, "is flat-shaded in", frame)
    check(np.median((faces * normals).sum(axis=1)) > 0.9, name, "normals point elsewhere in", frame)
    colors = [a for a in mesh.attributes if a.data_type in ("FLOAT_COLOR", "BYTE_COLOR")]
    check(colors, name, "has no colours in", frame, [a.name for a in mesh.attributes])


main()
