"""A GLB that keeps its rig alive, in Blender: its clips still mean what they meant, and its own animation is the bake.

    python living.py ORIGINAL.glb LIVING.glb BAKE.usdc [SCALE] [TOLERANCE]

Needs `bpy`, numpy and `usd-core`. BAKE holds the shot as positions; SCALE is metres per unit of the character's file.
At several frames of every clip of ORIGINAL the two files give the same points, and at several frames of the animation
`frisson` LIVING gives those of the bake, within TOLERANCE of the size.
"""

import sys

import bpy
import numpy

FPS = 30


def points():
    """All vertices of all meshes, as rendered, Y up."""
    graph = bpy.context.evaluated_depsgraph_get()
    parts = {}
    for item in bpy.context.scene.objects:
        # The importer makes a mesh that stands for bones.
        if item.type != "MESH" or item.users_collection[0].name.startswith("glTF_not_exported"):
            continue
        evaluated = item.evaluated_get(graph)
        mesh = evaluated.to_mesh()
        flat = numpy.empty(3 * len(mesh.vertices), numpy.float32)
        mesh.vertices.foreach_get("co", flat)
        matrix = numpy.array(evaluated.matrix_world, numpy.float64)
        world = flat.reshape(-1, 3).astype(numpy.float64) @ matrix[:3, :3].T + matrix[:3, 3]
        parts[item.name] = world[:, [0, 2, 1]] * [1, 1, -1]
        evaluated.to_mesh_clear()
    return parts


def load(path):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = FPS
    # Bones rest as the file's nodes do, not in a pose that Blender guesses.
    bpy.ops.import_scene.gltf(
        filepath=str(path), merge_vertices=False, bone_heuristic="TEMPERANCE", guess_original_bind_pose=False
    )


def clips():
    names = []
    for holder in [*bpy.data.objects, *bpy.data.shape_keys]:
        for track in holder.animation_data.nla_tracks if holder.animation_data else []:
            if track.name not in names:
                names.append(track.name)
    return names


def play(clip):
    """Plays one clip alone; gives its last frame."""
    # A bone that the clip does not move would stay where another clip left it: in glTF it rests.
    for item in bpy.data.objects:
        for bone in item.pose.bones if item.pose else []:
            bone.matrix_basis.identity()
    last = 0
    for holder in [*bpy.data.objects, *bpy.data.shape_keys]:
        animation = holder.animation_data
        if not animation:
            continue
        animation.use_nla = False
        animation.action = None
        for track in animation.nla_tracks:
            for strip in track.strips if track.name == clip else []:
                animation.action, animation.action_slot = strip.action, strip.action_slot
                last = max(last, int(strip.action.frame_range[1]))
    return last


def at(path, clip, frames):
    load(path)
    last = play(clip)
    chosen = sorted({min(f, last) for f in frames}) if frames else [last * k // 4 for k in range(5)]
    found = []
    for frame in chosen:
        bpy.context.scene.frame_set(frame)
        found.append(points())
    return chosen, found


def size(parts):
    return float(numpy.linalg.norm(numpy.ptp(numpy.concatenate(list(parts.values())), axis=0)))


def baked(path, frame):
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.Open(path)
    first = stage.GetStartTimeCode()
    meshes = [p for p in stage.Traverse() if p.IsA(UsdGeom.Mesh)]
    return numpy.concatenate([numpy.array(UsdGeom.Mesh(p).GetPointsAttr().Get(first + frame)) for p in meshes])


def farthest(a, b):
    """Largest distance of a point of one cloud from the nearest of the other."""
    worst = 0.0
    for start in range(0, len(a), 256):
        d = ((a[start : start + 256, None] - b[None]) ** 2).sum(2).min(1)
        worst = max(worst, float(d.max()) ** 0.5)
    return worst


def difference(before, after):
    """Largest move of any vertex. Blender calls a mesh that has an animation of its own by another name, so meshes are
    found by their numbers of vertices."""
    assert sorted(map(len, before.values())) == sorted(map(len, after.values())), "other meshes"
    alike = lambda a: [b for b in after.values() if len(b) == len(a)]
    return max(min(float(numpy.abs(a - b).max()) for b in alike(a)) for a in before.values())


def main():
    original, living, bake = sys.argv[1:4]
    scale = float(sys.argv[4]) if len(sys.argv) > 4 else 1.0
    tolerance = float(sys.argv[5]) if len(sys.argv) > 5 else 1e-4
    load(original)
    names = clips()
    load(living)
    kept = clips()
    worst = 0.0
    for index, clip in enumerate(names):
        # Clips without a name are called by their number, and ours is the first.
        now = clip if clip in kept else f"Anim_{index + 1}"
        assert now in kept, f"clips {names} became {kept}"
        (_, before), (_, after) = at(original, clip, None), at(living, now, None)
        worst = max([worst, *(difference(a, b) / size(a) for a, b in zip(before, after))])
    frames, shown = at(living, "frisson", [0, 3, 7, 12, 20])
    off = 0.0
    for frame, parts in zip(frames, shown):
        ours = numpy.concatenate(list(parts.values())) * scale
        theirs = baked(bake, frame)
        off = max(off, farthest(theirs, ours) / (scale * size(parts)))
    word = "ok" if max(worst, off) <= tolerance else "DIFFERS"
    print(f"{word:8}{living}: {len(names)} clips as they were ({worst:.1e} of the size), the bake's frames {frames} ({off:.1e})")
    sys.exit(word != "ok")


main()
