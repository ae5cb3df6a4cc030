# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake as shape keys, for engines that know bones and shapes only.

Shape keys come before the armature: what a layer did to a vertex is turned back by the bones that hold it, so that the
rig stays alive and the sum is what was baked.
"""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np

from . import motion, results, scenes

# Engines loop over all shapes: more than some hundred are slow everywhere.
MOST = 200
PREFIX = "frisson"


def skinning(posed: np.ndarray, rest: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The 3 x 3 matrix by which bones turn every vertex, (vertices, 3, 3)."""
    moved = posed.astype(np.float64) @ np.linalg.inv(rest.astype(np.float64))
    total = weights.sum(axis=1, keepdims=True)
    return np.einsum("vj,jab->vab", weights / np.maximum(total, 1e-12), moved[:, :3, :3])


def bake_shapes(context: bpy.types.Context, obj: bpy.types.Object, every: int) -> tuple[bpy.types.Object, float]:
    """A copy of the object with one shape key for every so many frames; it, and the largest distance from the bake [m]."""
    import frisson

    from .baking import record

    others = [m.name for m in obj.modifiers if m.show_viewport and not _is_ours(m) and m.type != "ARMATURE"]
    if others:
        raise ValueError(f"shape keys come before modifiers: apply or disable {', '.join(others)}")
    folder = Path(obj.frisson.place)
    if not obj.frisson.place or not (folder / "bake.frisson").exists():
        raise ValueError(f"{obj.name} has no bake: bake it first")
    positions = frisson.Cache(folder / "bake.frisson").positions(scenes.baked_name(obj))
    recorded = record(context, obj)[obj.name]
    if positions.shape[1] != len(obj.data.vertices) or len(recorded.positions) != len(positions):
        raise ValueError("shape keys need the object's own vertices, and the frames that were baked")
    frames = sorted({*range(0, len(positions), every), len(positions) - 1})
    if len(frames) > MOST:
        raise ValueError(f"{len(frames)} shapes are more than engines take ({MOST}): take every {-(-len(positions) // MOST)}th")
    convert = motion.engine_from_blender(context.scene)
    # The mesh's own space where bones rest, from the engine's axes.
    local = np.linalg.inv(convert @ recorded.places[obj.name])[:3, :3]
    deltas = []
    for index in frames:
        turn = skinning(recorded.poses[index], recorded.rest_joints, recorded.weights)
        moved = (positions[index] - recorded.positions[index]).astype(np.float64)
        deltas.append(np.linalg.solve(turn, moved[..., None])[..., 0] @ local.T)
    made = _keyed_copy(context, obj, frames, deltas)
    return made, _distance(context, made, positions, frames, convert)


def _is_ours(modifier: bpy.types.Modifier) -> bool:
    return modifier.name.startswith(results.MODIFIER)


def _keyed_copy(context, obj, frames: list[int], deltas: list[np.ndarray]) -> bpy.types.Object:
    """A copy that is its shapes."""
    made = obj.copy()
    made.name = f"{obj.name} shapes"
    made.data = obj.data.copy()
    for modifier in [m for m in made.modifiers if _is_ours(m)]:
        made.modifiers.remove(modifier)
    made.frisson.layers.clear()
    made[results.MADE_FOR] = obj
    context.scene.collection.objects.link(made)
    if made.data.shape_keys is None:
        made.shape_key_add(name="Basis", from_mix=False)
    base = motion.points_of(made.data)
    first = context.scene.frame_start
    for place, (index, delta) in enumerate(zip(frames, deltas, strict=True)):
        key = made.shape_key_add(name=f"{PREFIX}_{first + index:04d}", from_mix=False)
        key.data.foreach_set("co", np.ascontiguousarray(base + delta, dtype=np.float32).ravel())
        key.value = 0.0
        # One after the other, each fading into the next.
        beside = {frames[max(place - 1, 0)]: 0.0, frames[min(place + 1, len(frames) - 1)]: 0.0, index: 1.0}
        for at, value in sorted(beside.items()):
            key.value = value
            key.keyframe_insert("value", frame=first + at)
    for curve in _key_curves(made):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    return made


def _key_curves(made: bpy.types.Object):
    return scenes.curves_of(made.data.shape_keys)


def _distance(context, made, positions, frames, convert) -> float:
    """How far the shapes are from the bake at their own frames [m]."""
    scene, before, worst = context.scene, context.scene.frame_current, 0.0
    for index in frames:
        scene.frame_set(scene.frame_start + index)
        evaluated = made.evaluated_get(context.evaluated_depsgraph_get())
        mesh = evaluated.to_mesh()
        shown = motion.placed(motion.points_of(mesh), convert @ np.array(evaluated.matrix_world))
        evaluated.to_mesh_clear()
        worst = max(worst, float(np.abs(shown - positions[index]).max()))
    scene.frame_set(before)
    return worst


class FRISSON_OT_shapes(bpy.types.Operator):
    """Make a copy whose shape keys are the bake, for engines: the rig stays alive, glTF and FBX take it along"""

    bl_idname = "frisson.shapes"
    bl_label = "As shape keys"
    bl_options = {"REGISTER", "UNDO"}

    every: bpy.props.IntProperty(name="Every", default=1, min=1, max=100, description="Frames between two shapes")

    @classmethod
    def poll(cls, context):
        obj = results.owner(context)
        return obj is not None and obj.type == "MESH" and bool(obj.frisson.place)

    def execute(self, context):
        obj = results.owner(context)
        try:
            made, apart = bake_shapes(context, obj, self.every)
        except (ValueError, OSError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        obj.frisson.status = f"{made.name}: {len(made.data.shape_keys.key_blocks) - 1} shapes, {1e3 * apart:.3f} mm off"
        self.report({"INFO"}, obj.frisson.status)
        return {"FINISHED"}


def register():
    bpy.utils.register_class(FRISSON_OT_shapes)


def unregister():
    bpy.utils.unregister_class(FRISSON_OT_shapes)
