"""Files as Blender writes them, for our readers: FBX, Alembic and USD of every glTF file that is named.

usage: blender_files.py FOLDER FILE.glb...

Every action of a character becomes a take of its FBX file. Alembic files hold the first action, all frames;
USD files the same, once as a rig (`NAME.usdc`) and once as moving points (`NAME_baked.usdc`).
"""

import sys
from pathlib import Path

import bpy


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for source in map(Path, sys.argv[2:]):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        bpy.ops.import_scene.gltf(filepath=str(source), merge_vertices=False, bone_heuristic="TEMPERANCE")
        scene = bpy.context.scene
        ranges = [a.frame_range for a in bpy.data.actions] or [(0, 10)]
        scene.frame_start, scene.frame_end = int(ranges[0][0]), max(int(ranges[0][1]), int(ranges[0][0]) + 1)
        bpy.ops.export_scene.fbx(
            filepath=str(folder / f"{source.stem}.fbx"),
            add_leaf_bones=False,
            bake_anim=True,
            bake_anim_use_nla_strips=True,
            bake_anim_simplify_factor=0,
        )
        bpy.ops.wm.alembic_export(
            filepath=str(folder / f"{source.stem}.abc"),
            start=scene.frame_start,
            end=scene.frame_end,
            as_background_job=False,
        )
        for ending, rig in (("", True), ("_baked", False)):
            bpy.ops.wm.usd_export(
                filepath=str(folder / f"{source.stem}{ending}.usdc"),
                export_animation=True,
                export_armatures=rig,
                export_shapekeys=rig,
            )
        print(f"written: {source.stem}, {len(bpy.data.actions)} actions")


main()
