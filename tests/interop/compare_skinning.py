"""Compares our skinned positions with Blender's, for every glTF file of a folder.

    python compare_skinning.py DUMP_POSITIONS FOLDER [TOLERANCE]

Needs `bpy` and numpy. DUMP_POSITIONS is the program built by
`cargo build --release --example dump_positions`.

All clips are compared, at times that fall on Blender frames and that are keys of the clip: between
keys Blender blends rotations by component where the format wants the shortest arc (see
compare_skinning.mjs for those times). Each file is imported in a process of its own, since Blender
gives up on the whole process when something goes wrong.

Blender is Z up: its importer turns (x, y, z) into (x, -z, y), which is undone here.
"""

import json

from compare_each import compare_each, dump

FPS = 120


def evaluated_positions(bpy, numpy, objects):
    graph = bpy.context.evaluated_depsgraph_get()
    parts = []
    for item in objects:
        evaluated = item.evaluated_get(graph)
        mesh = evaluated.to_mesh()
        flat = numpy.empty(3 * len(mesh.vertices), numpy.float32)
        mesh.vertices.foreach_get("co", flat)
        points = flat.reshape(-1, 3).astype(numpy.float64)
        matrix = numpy.array(evaluated.matrix_world, numpy.float64)
        points = points @ matrix[:3, :3].T + matrix[:3, 3]
        evaluated.to_mesh_clear()
        parts.append(points[:, [0, 2, 1]] * [1, 1, -1])
    return numpy.concatenate(parts) if parts else numpy.empty((0, 3))


def show_only_clip(bpy, clip, index):
    """Plays one clip: the importer puts each on tracks of its name, `Anim_N` for those without."""
    names = {clip["name"], f"Anim_{index}", f"Animation_{index}"}
    found = False
    for holder in [*bpy.data.objects, *bpy.data.shape_keys]:
        animation = holder.animation_data
        if not animation:
            continue
        strips = [s for t in animation.nla_tracks if t.name in names for s in t.strips]
        animation.use_nla = False
        animation.action = None
        for strip in strips[:1]:
            animation.action = strip.action
            animation.action_slot = strip.action_slot
            found = True
    return found


def import_file(bpy, path):
    """A fresh start: Blender keeps what an earlier clip did to bones that the next one does not move."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = FPS
    bpy.ops.import_scene.gltf(filepath=str(path), merge_vertices=False, bone_heuristic="TEMPERANCE")


def key_frames(clip):
    """Keys of all tracks of the clip that fall on whole Blender frames."""
    frames = [round(t * FPS) for t in clip["common_key_times"] if abs(t * FPS - round(t * FPS)) < 1e-3]
    frames = sorted(set(frames))
    step = max(1, len(frames) // 6)
    return frames[::step]


def find_objects(bpy, numpy, meshes):
    """Blender's object for each of our meshes: by name, else by vertex count."""
    objects = [o for o in bpy.context.scene.objects if o.type == "MESH"]
    chosen = []
    for mesh in meshes:
        same = [o for o in objects if len(o.data.vertices) == mesh["vertices"]]
        named = [o for o in same if o.name == mesh["name"] or o.data.name == mesh["name"]]
        pick = (named or same or [None])[0]
        if pick is None:
            return None
        objects.remove(pick)
        chosen.append(pick)
    return chosen


def nearest_error(numpy, ours, theirs):
    return float(numpy.abs(ours - theirs).max()) if len(ours) else 0.0


def compare_file(program, path, tolerance):
    import bpy
    import numpy

    about = json.loads(dump(program, path))
    import_file(bpy, path)
    objects = find_objects(bpy, numpy, about["meshes"])
    if objects is None:
        print(f"DIFFERS {path.name}: a mesh of ours has no counterpart in Blender")
        return 1
    worst, size, poses, skipped = 0.0, 0.0, 0, 0
    for index, clip in enumerate(about["clips"]):
        if index > 0:
            import_file(bpy, path)
            objects = find_objects(bpy, numpy, about["meshes"])
        if not show_only_clip(bpy, clip, index):
            skipped += 1
            continue
        for frame in key_frames(clip):
            bpy.context.scene.frame_set(frame)
            theirs = evaluated_positions(bpy, numpy, objects)
            raw = dump(program, path, index, repr(frame / FPS))
            ours = numpy.frombuffer(raw, numpy.float32).reshape(-1, 3).astype(numpy.float64)
            size = max(size, float(numpy.linalg.norm(numpy.ptp(ours, axis=0))))
            error = nearest_error(numpy, ours, theirs)
            worst = max(worst, error)
            poses += 1
    if not about["clips"]:
        theirs = evaluated_positions(bpy, numpy, objects)
        ours = numpy.frombuffer(dump(program, path, "rest", 0), numpy.float32).reshape(-1, 3)
        size = float(numpy.linalg.norm(numpy.ptp(ours, axis=0)))
        worst, poses = nearest_error(numpy, ours, theirs), 1
    relative = worst / size if size else 0.0
    word = "ok" if relative <= tolerance and poses else "DIFFERS"
    note = f", {skipped} clips not found" if skipped else ""
    print(f"{word:8}{path.name:28} {poses} poses, largest difference {relative:.1e} of the size{note}")
    return 0 if word == "ok" else 1


compare_each(__file__, __doc__, (".glb", ".gltf"), compare_file)
