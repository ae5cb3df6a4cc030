"""Reads drops with Blender: meshes whose topology changes, trails, points, wetness.

usage: drops.py FILE.usdc|FILE.abc     from a bake of scenes/drops-roughness.toml
"""

import sys

import bpy
import numpy as np

FRAMES = (10, 40, 100)


def check(condition, *what):
    if not condition:
        print("FAILED:", *what)
        sys.exit(1)


def values(data, name, width):
    attribute = data.attributes.get(name)
    if attribute is None:
        return None
    flat = np.zeros(width * len(attribute.data), dtype=np.float32)
    attribute.data.foreach_get("vector" if width == 3 else "value", flat)
    return flat.reshape(-1, width)


def main():
    path = sys.argv[1]
    usd = path.endswith(".usdc")
    bpy.ops.wm.read_factory_settings(use_empty=True)
    if usd:
        bpy.ops.wm.usd_import(filepath=path)
    else:
        bpy.ops.wm.alembic_import(filepath=path, as_background_job=False)
    scene = bpy.context.scene
    scene.render.fps = 30
    dot = "_" if usd else "."
    sizes, trail_sizes, fastest, wettest = [], [], 0.0, 0.0
    for frame in FRAMES:
        scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        data = {o.name: o.evaluated_get(graph).data for o in bpy.data.objects}
        drops, points = data["on_smooth"], data[f"on_smooth{dot}points"]
        count = len(points.points)
        check(count > 0 and len(drops.vertices) % count == 0, frame, "drops and points disagree")
        sizes.append(len(drops.vertices))
        trail_sizes.append(len(data[f"on_smooth{dot}trails"].vertices))
        width, velocity = values(points, "radius", 1), values(points, "velocity", 3)
        check(width is not None and (width == 0).all(), "a drop is drawn once, by its mesh")
        check(velocity is not None and len(velocity) == count, "velocity of points")
        fastest = max(fastest, float(np.linalg.norm(velocity, axis=1).max()))
        check(len(values(drops, "velocity", 3)) == len(drops.vertices), "velocity of the mesh")
        if usd:
            wet = values(data["smooth"], "wetness", 1)
            check(wet is not None and (wet >= 0).all() and (wet <= 1).all(), "wetness")
            wettest = max(wettest, float(wet.max()))
        # Every drop is a closed shell with a volume.
        faces = np.zeros(3 * len(drops.loop_triangles), dtype=np.int32)
        drops.loop_triangles.foreach_get("vertices", faces)
        corners = values(drops, "position", 3)[faces.reshape(-1, 3)]
        volume = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6
        check(abs(volume) > 0, frame, "volume", volume)
        # Blender takes the attributes of points from USD only.
        if usd:
            radius = values(points, "drop_radius", 1)
            check(radius is not None and (radius > 1e-4).all() and (radius < 1e-2).all(), "radius")
            expected = (4 / 3 * np.pi * radius.astype(np.float64) ** 3).sum()
            check(abs(abs(volume) / expected - 1) < 0.15, frame, "volume", volume, expected)
    check(len(set(sizes)) == len(sizes), "the topology changes", sizes)
    check(trail_sizes == sorted(trail_sizes) and trail_sizes[-1] > 0, "trails grow", trail_sizes)
    check(fastest > 0.01, "something moves", fastest)
    if usd:
        check(wettest > 0.5, "something is wet", wettest)
    print("drops in Blender:", path, "vertices", sizes, "trails", trail_sizes)


main()
