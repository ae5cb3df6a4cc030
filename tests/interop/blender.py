"""Reads everything with Blender (`pip install bpy==5.0.1`), each format in a process of its own.

usage: blender.py FOLDER            all parts
       blender.py FOLDER PART       one of alembic, usd, pc2, mdd, obj, glb
"""

import subprocess
import sys

import numpy as np
from shot import Shot, check, done, same

PARTS = ["alembic", "usd", "pc2", "mdd", "obj", "glb"]


def main():
    if len(sys.argv) > 2:
        return run_part(Shot(sys.argv[1]), sys.argv[2])
    failed = []
    for part in PARTS:
        # A malformed Alembic file aborts the whole process.
        result = subprocess.run([sys.executable, __file__, sys.argv[1], part])
        if result.returncode != 0:
            failed.append(f"{part} ({result.returncode})")
    if failed:
        print("FAILED in Blender:", ", ".join(failed))
        sys.exit(1)


def z_up(points):
    """Y up to Blender's Z up."""
    points = np.asarray(points, dtype=np.float64).reshape(-1, 3)
    return np.stack([points[:, 0], -points[:, 2], points[:, 1]], axis=1)


class Scene:
    def __init__(self, shot):
        import bpy

        self.bpy = bpy
        bpy.ops.wm.read_factory_settings(use_empty=True)
        self.scene = bpy.context.scene
        self.scene.render.fps = round(shot.fps)
        self.scene.frame_start, self.scene.frame_end = shot.first, shot.last

    def evaluated(self, name, frame):
        self.scene.frame_set(frame)
        graph = self.bpy.context.evaluated_depsgraph_get()
        candidates = [o for o in self.bpy.data.objects if o.name == name]
        check(len(candidates) == 1, "objects called", name, [o.name for o in self.bpy.data.objects])
        return candidates[0].evaluated_get(graph)

    def world(self, obj, points):
        matrix = np.array(obj.matrix_world)
        points = np.asarray(points, dtype=np.float64).reshape(-1, 3)
        return points @ matrix[:3, :3].T + matrix[:3, 3]

    def mesh(self, name, frame):
        obj = self.evaluated(name, frame)
        mesh = obj.to_mesh()
        flat = np.zeros(3 * len(mesh.vertices), dtype=np.float32)
        mesh.vertices.foreach_get("co", flat)
        return obj, mesh, self.world(obj, flat)

    def attribute_points(self, name, frame):
        """Points of a CURVES or POINTCLOUD object."""
        obj = self.evaluated(name, frame)
        data = obj.data
        position = data.attributes.get("position")
        if position is None or len(position.data) == 0:
            return obj, np.zeros((0, 3))
        flat = np.zeros(3 * len(position.data), dtype=np.float32)
        position.data.foreach_get("vector", flat)
        return obj, self.world(obj, flat)


def check_shapes(scene, shot, names):
    for frame in (1, 2, 3, 4, 5, 6, 9, 12):
        for key in ("actor/wave sheet", "ball", "drop"):
            _, mesh, points = scene.mesh(names[key], frame)
            same(points, z_up(shot.points(key, frame)), f"{key} {frame}", 1e-5)
            triangles = shot.get(key, frame, "triangles")
            check(len(mesh.polygons) == len(triangles), key, "faces", frame, len(mesh.polygons))
    outwards(scene, names["ball"])
    for frame in (1, 4, 12):
        obj, points = scene.attribute_points(names["hair"], frame)
        check(obj.type == "CURVES", "hair is", obj.type)
        same(points, z_up(shot.points("hair", frame)), f"hair {frame}", 1e-5)
        radius = obj.data.attributes.get("radius")
        if radius is not None:
            found = [2 * r.value for r in radius.data]
            same(found, shot.get("hair", frame, "widths"), f"hair widths {frame}", 1e-5)
        obj, points = scene.attribute_points(names["spray"], frame)
        check(obj.type == "POINTCLOUD", "spray is", obj.type)
        same(points, z_up(shot.points("spray", frame)), f"spray {frame}", 1e-5)


def outwards(scene, name):
    obj, mesh, points = scene.mesh(name, 3)
    center = points.mean(axis=0)
    turn = np.array(obj.matrix_world)[:3, :3]
    for polygon in mesh.polygons:
        normal = turn @ np.array(polygon.normal)
        check((points[list(polygon.vertices)].mean(axis=0) - center) @ normal > 0, "faces inwards")


def check_sheet_data(scene, shot, name):
    _, mesh, _ = scene.mesh(name, 4)
    key = "actor/wave sheet"
    check(len(mesh.uv_layers) == 1, "uv layers", len(mesh.uv_layers))
    expected = shot.get(key, 4, "uvs")
    layer = mesh.uv_layers[0].data
    for loop in mesh.loops:
        u, v = expected[loop.vertex_index]
        same(layer[loop.index].uv, (u, 1 - v), "uv", 1e-6)
    velocity = mesh.attributes.get("velocity")
    check(velocity is not None, "velocities", [a.name for a in mesh.attributes])
    central = (shot.points(key, 5) - shot.points(key, 3)) * shot.fps / 2
    found = np.array([v.vector for v in velocity.data])
    agree = [np.abs(found - e).max() < 1e-3 for e in (central, z_up(central))]
    per_frame = [np.abs(found - e / shot.fps).max() < 1e-3 for e in (central, z_up(central))]
    check(any(agree + per_frame), "velocity values")
    check(len(scene.bpy.data.objects[name].material_slots) == 2, "materials")


def run_alembic(shot):
    scene = Scene(shot)
    path = str(shot.folder / "shot.abc")
    scene.bpy.ops.wm.alembic_import(filepath=path, as_background_job=False)
    names = {k: k for k in ("ball", "drop", "hair", "spray")}
    names["actor/wave sheet"] = "actor_wave sheet"
    check_shapes(scene, shot, names)
    check_sheet_data(scene, shot, "actor_wave sheet")


def run_usd(shot):
    scene = Scene(shot)
    scene.bpy.ops.wm.usd_import(filepath=str(shot.folder / "shot.usdc"))
    names = {k: k for k in ("ball", "drop", "hair", "spray")}
    names["actor/wave sheet"] = "actor_wave_sheet"
    check_shapes(scene, shot, names)
    check_sheet_data(scene, shot, "actor_wave_sheet")


def run_cache(shot, extension):
    scene = Scene(shot)
    key = "actor/wave sheet"
    mesh = scene.bpy.data.meshes.new("sheet")
    first = [tuple(p) for p in z_up(shot.points(key, shot.first))]
    mesh.from_pydata(first, [], shot.get(key, shot.first, "triangles"))
    obj = scene.bpy.data.objects.new("sheet", mesh)
    scene.scene.collection.objects.link(obj)
    cache = obj.modifiers.new("cache", "MESH_CACHE")
    cache.cache_format = extension.upper()
    cache.filepath = str(shot.folder / f"shot.actor_wave sheet.{extension}")
    cache.forward_axis, cache.up_axis = "POS_Z", "NEG_Y"
    cache.frame_start = shot.first
    cache.interpolation = "NONE"
    for frame in (1, 5, 12):
        _, _, points = scene.mesh("sheet", frame)
        same(points, z_up(shot.points(key, frame)), f"{extension} {frame}", 1e-5)


def run_obj(shot):
    scene = Scene(shot)
    scene.bpy.ops.wm.obj_import(filepath=str(shot.folder / "shot.0004.obj"))
    by_name = {o.name: o for o in scene.bpy.data.objects}
    for key, name in (("actor/wave sheet", "actor/wave_sheet"), ("ball", "ball"), ("drop", "drop")):
        check(name in by_name, "obj has", list(by_name))
        _, _, points = scene.mesh(name, 4)
        same(points, z_up(shot.points(key, 4)), f"obj {key}", 1e-5)
    outwards(scene, "ball")


def run_glb(shot):
    scene = Scene(shot)
    scene.bpy.ops.import_scene.gltf(filepath=str(shot.folder / "shot.glb"))
    meshes = [o.name for o in scene.bpy.data.objects if o.type == "MESH"]
    for key in ("actor/wave sheet", "ball"):
        # Blender cuts a mesh by material into primitives and joins them again.
        names = [n for n in meshes if key.split("/")[-1] in n]
        check(len(names) == 1, "GLB meshes", meshes)
        for offset in (0, 4, 11):
            # glTF starts at time 0 whatever the first frame.
            _, _, points = scene.mesh(names[0], offset)
            expected = z_up(shot.points(key, shot.first + offset))
            check(len(points) >= len(expected), key, "vertices", len(points))
            distance = np.abs(expected[:, None] - points[None]).max(axis=2).min(axis=1)
            check(distance.max() < 1e-4, f"glb {key} {offset} differs by", distance.max())


def run_part(shot, part):
    if part in ("pc2", "mdd"):
        run_cache(shot, part)
    else:
        {"alembic": run_alembic, "usd": run_usd, "obj": run_obj, "glb": run_glb}[part](shot)
    done(f"Blender {part}")


main()
