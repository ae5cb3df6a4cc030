"""The Blender extension in a few seconds: installed from its zip, flesh on a rigged character, baked, against the engine.

usage: extension.py ZIP            (an interpreter with bpy; the whole of it is in blender/tests)
"""

import os
import sys
import tempfile
from pathlib import Path

FOLDER = Path(tempfile.mkdtemp(prefix="frisson-extension-"))
# Read when bpy is imported: no other profile is touched.
os.environ["BLENDER_USER_RESOURCES"] = str(FOLDER / "profile")

import bpy  # noqa: E402
import numpy as np  # noqa: E402


def character():
    """The cat of the cast as an animated rig."""
    import frisson

    path = frisson.Character.load("builtin:cat").save(FOLDER / "cat.glb")
    bpy.ops.import_scene.gltf(filepath=str(path))
    cat = next(o for o in bpy.data.objects if o.type == "MESH" and o.find_armature())
    animation = cat.find_armature().animation_data
    animation.action = next(a for a in bpy.data.actions if "leap" in a.name)
    for track in animation.nla_tracks:
        track.mute = True
    bpy.context.view_layer.objects.active = cat
    return cat


def main() -> int:
    bpy.ops.extensions.package_install_files(filepath=sys.argv[1], repo="user_default", enable_on_install=True)
    import frisson

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=False)
    bpy.ops.wm.save_as_mainfile(filepath=str(FOLDER / "shot.blend"))
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = 30, 1, 8
    cat = character()
    bpy.ops.frisson.add(kind="flesh")
    flesh = cat.frisson.layers[0].flesh
    flesh.p_from, flesh.p_to, flesh.p_frequency_hz = "pelvis", "chest", 2.5
    if bpy.ops.frisson.bake(wait=True) != {"FINISHED"}:
        print("the extension: the bake failed:", cat.frisson.status)
        return 1
    baked = frisson.Cache(Path(cat.frisson.place) / "bake.frisson")
    scene.frame_set(8)
    evaluated = cat.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh, world = evaluated.to_mesh(), np.array(evaluated.matrix_world)
    shown = np.array([v.co[:] for v in mesh.vertices]) @ world[:3, :3].T + world[:3, 3]
    engine = baked[7].meshes[cat.frisson.actor].positions
    apart = np.abs(shown - np.stack([engine[:, 0], -engine[:, 2], engine[:, 1]], axis=-1)).max() / np.ptp(engine)
    print(f"the extension: Blender shows what the engine baked, within {apart:.1e} of the size")
    return 0 if apart < 1e-4 else 1


if __name__ == "__main__":
    sys.exit(main())
