"""The sheet of `frisson bench cloth` in Blender: times and stretch, one line of JSON per case.

usage: cloth_blender.py N [--self]     N vertices along a side
"""

import json
import sys
import time

import bpy
import numpy as np

FRAMES, WARM = 60, 5


def sheet(n):
    """A level square of 2 m, two metres up; Blender's z is up."""
    at = np.linspace(-1.0, 1.0, n)
    corners = [(x, -z, 2.0) for z in at for x in at]
    quads = [(j * n + i, (j + 1) * n + i, (j + 1) * n + i + 1, j * n + i + 1)
             for j in range(n - 1) for i in range(n - 1)]
    mesh = bpy.data.meshes.new("sheet")
    mesh.from_pydata(corners, [], quads)
    thing = bpy.data.objects.new("sheet", mesh)
    bpy.context.collection.objects.link(thing)
    pins = thing.vertex_groups.new(name="pins")
    pins.add([0, n - 1], 1.0, "REPLACE")
    return thing


def build(n, self_collision):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = 30, 1, FRAMES + 1
    bpy.ops.mesh.primitive_uv_sphere_add(segments=64, ring_count=32, radius=0.5, location=(0, 0.1, 1))
    ball = bpy.context.object
    ball.modifiers.new("collision", "COLLISION")
    ball.collision.cloth_friction = 0.1
    thing = sheet(n)
    modifier = thing.modifiers.new("cloth", "CLOTH")
    settings = modifier.settings
    settings.mass = 0.3 * 4.0 / n**2
    settings.air_damping = 0.0
    settings.vertex_group_mass = "pins"
    modifier.collision_settings.use_self_collision = self_collision
    modifier.point_cache.frame_start, modifier.point_cache.frame_end = 1, FRAMES + 1
    return scene, thing


def positions(thing):
    shown = thing.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    flat = np.zeros(3 * len(shown.vertices), dtype=np.float32)
    shown.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3)


def main():
    n, self_collision = int(sys.argv[1]), "--self" in sys.argv
    scene, thing = build(n, self_collision)
    edges = np.zeros(2 * len(thing.data.edges), dtype=np.int32)
    thing.data.edges.foreach_get("vertices", edges)
    edges = edges.reshape(-1, 2)
    lengths = lambda p: np.linalg.norm(p[edges[:, 0]] - p[edges[:, 1]], axis=1)
    scene.frame_set(1)
    start = positions(thing)
    times = []
    for frame in range(2, FRAMES + 2):
        begun = time.perf_counter()
        scene.frame_set(frame)
        times.append(1e3 * (time.perf_counter() - begun))
    end = positions(thing)
    if np.abs(end - start).max() < 0.1:
        sys.exit("the sheet did not move: nothing was simulated")
    stretch = lengths(end) / lengths(start) - 1.0
    print(json.dumps({
        "n": n, "self": self_collision, "ms": float(np.mean(times[WARM:])),
        "p99": float(np.percentile(np.abs(stretch), 99)),
        "version": bpy.app.version_string,
    }))


main()
