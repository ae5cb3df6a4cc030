"""A motion without a body: Blender writes an armature alone, saved in the middle of its clip, and the character it came
from plays it as its own.

usage: clip_only.py FRISSON CHARACTER.glb FOLDER

Needs `bpy` and `usd-core`. Such a file has no rest pose: every vertex must be where the character's own clip has it,
to 1e-3 of the size, at every frame of half a second.
"""

import subprocess
import sys
from pathlib import Path

import bpy
import numpy

FRAMES = 12
TOLERANCE = 1e-3


def write_motion(character, path):
    """Exports the armature with its first action, and answers that action's name."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=str(character))
    armature = next(o for o in bpy.context.scene.objects if o.type == "ARMATURE")
    data = armature.animation_data
    tracks = [(t.name, t.strips[0].action) for t in data.nla_tracks if t.strips]
    name, action = tracks[0] if tracks else (data.action.name, data.action)
    for track in list(data.nla_tracks):
        data.nla_tracks.remove(track)
    data.action = action
    if action.slots:
        data.action_slot = action.slots[0]
    scene = bpy.context.scene
    first, last = (int(f) for f in action.frame_range)
    scene.frame_start, scene.frame_end = first, last
    scene.frame_set((first + last) // 3)
    bpy.ops.export_scene.fbx(
        filepath=str(path),
        object_types={"ARMATURE"},
        add_leaf_bones=False,
        bake_anim=True,
        bake_anim_use_all_actions=False,
        bake_anim_use_nla_strips=False,
        bake_anim_simplify_factor=0,
    )
    return name


def bake(frisson, folder, name, lines):
    """Bakes the character without layers; points of all meshes, frame by frame."""
    from pxr import Usd, UsdGeom

    scene = folder / f"{name}.toml"
    head = f"frisson = 2\nfps = 24\nframes = [0, {FRAMES}]\n[actors.it]\n"
    scene.write_text(head + lines + f'[[exports]]\nusdc = "{name}.usdc"\n')
    subprocess.run([frisson, "bake", scene, "--force", "--quiet", "--no-judge"], check=True)
    stage = Usd.Stage.Open(str(folder / f"{name}.usdc"))
    meshes = [UsdGeom.Mesh(p) for p in stage.Traverse() if p.IsA(UsdGeom.Mesh)]
    at = lambda frame: numpy.concatenate([numpy.array(m.GetPointsAttr().Get(frame)) for m in meshes])
    return [at(frame) for frame in range(FRAMES + 1)]


def main():
    frisson, character, folder = sys.argv[1], Path(sys.argv[2]).resolve(), Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    motion = folder / "motion.fbx"
    clip = write_motion(character, motion.resolve())
    own = bake(frisson, folder, "own", f'source = "{character}"\nclip = "{clip}"\n')
    given = bake(frisson, folder, "given", f'source = "{character}"\nclip_from = "motion.fbx"\n')
    size = numpy.ptp(own[0], axis=0).max()
    moved = max(numpy.abs(frame - own[0]).max() for frame in own) / size
    worst = max(numpy.linalg.norm(a - b, axis=1).max() for a, b in zip(own, given)) / size
    word = "ok" if worst <= TOLERANCE and moved > 0.01 else "DIFFERS"
    print(f"{word}: {character.stem}, {clip}: {worst:.1e} of the size (it moves by {moved:.2f})")
    sys.exit(word != "ok")


main()
