# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake gives, shown without touching what is there: one modifier, and objects for what layers add."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np

from . import motion, scenes

MODIFIER = "Frisson"
# Marks objects that we made, with the object they belong to.
MADE_FOR = "frisson_made_for"


def owner(context: bpy.types.Context) -> bpy.types.Object | None:
    """The object that the panel speaks of: the active one, or the one that the active one was made for."""
    obj = context.object
    return obj.get(MADE_FOR, obj) if obj is not None else None


def clear(context: bpy.types.Context, obj: bpy.types.Object) -> None:
    """Takes back all that was shown; layers and files stay."""
    for modifier in [m for m in obj.modifiers if m.name.startswith(MODIFIER)]:
        obj.modifiers.remove(modifier)
    for made in [o for o in bpy.data.objects if o.get(MADE_FOR) == obj]:
        data = made.data
        bpy.data.objects.remove(made)
        if data is not None and data.users == 0:
            bpy.data.batch_remove([data])
    for collection in [c for c in bpy.data.collections if c.get(MADE_FOR) == obj]:
        bpy.data.collections.remove(collection)
    for cache in [c for c in bpy.data.cache_files if c.users == 0]:
        bpy.data.batch_remove([cache])
    if obj.get("frisson_hidden"):
        obj.hide_render = False
        obj.hide_set(False)
        del obj["frisson_hidden"]


def show(context: bpy.types.Context, obj: bpy.types.Object, cache_path: Path) -> list[str]:
    """Shows a finished bake; says what it made."""
    import frisson

    clear(context, obj)
    cache = frisson.Cache(cache_path)
    frame = cache[cache.first]
    stored = np.load(cache_path.parent / "matrices.npz")
    made, others = [], []
    for other in scenes.participants(context.scene, obj):
        name = scenes.baked_name(other)
        if name not in stored:
            # It takes part since the bake began.
            continue
        recorded = np.fromfile(cache_path.parent / f"{name}.pc2", dtype="<f4", offset=32)
        try:
            positions = cache.positions(name)
        except frisson.InputError:
            positions = None
        if positions is None or positions.size != recorded.size:
            # A layer refined it: its vertices are others.
            others.append(name)
        elif other == obj or not np.array_equal(positions.ravel(), recorded):
            show_points(context, other, obj, positions, stored[name], cache_path.parent / f"{name}.result.pc2")
            made.append(other.name)
    names = [n for n in [*frame.meshes, *frame.curves, *frame.points] if n not in stored]
    last = cache[cache.last]
    names += [n for n in [*last.meshes, *last.curves, *last.points] if n not in stored and n not in names]
    if names or others:
        made += show_alembic(context, obj, cache, [*others, *names])
    if scenes.baked_name(obj) in others:
        # Its triangles change: a new object stands in its place.
        obj["frisson_hidden"] = True
        obj.hide_render = True
        obj.hide_set(True)
    return made


def show_points(context, other, obj, positions: np.ndarray, matrices: np.ndarray, path: Path) -> None:
    """Positions as a point cache in the object's own space, played by one modifier at the end of its stack."""
    back = np.linalg.inv(motion.engine_from_blender(context.scene))
    local = [motion.placed(p, np.linalg.inv(m) @ back) for p, m in zip(positions, matrices, strict=True)]
    scenes.write_points(path, local)
    modifier = other.modifiers.new(MODIFIER, "MESH_CACHE")
    modifier.cache_format = "PC2"
    modifier.filepath = bpy.path.relpath(str(path)) if bpy.data.filepath else str(path)
    modifier.forward_axis, modifier.up_axis = "POS_Y", "POS_Z"
    modifier.frame_start = context.scene.frame_start
    modifier.show_expanded = False


def show_alembic(context, obj, cache, names: list[str]) -> list[str]:
    """Everything else through an Alembic file: meshes whose triangles change, hair as curves, drops as points."""
    (path, *_) = cache.export(alembic=f"{scenes.baked_name(obj)}.abc", meshes=names, force=True)
    before = set(bpy.data.objects)
    frame, active = context.scene.frame_current, context.view_layer.objects.active
    bounds = context.scene.frame_start, context.scene.frame_end
    bpy.ops.wm.alembic_import(
        filepath=str(path), scale=1.0 / motion.metres(context.scene), set_frame_range=False,
        always_add_cache_reader=True, as_background_job=False,
    )
    context.scene.frame_start, context.scene.frame_end = bounds
    made = [o for o in bpy.data.objects if o not in before]
    collection = bpy.data.collections.new(f"Frisson {obj.name}")
    collection[MADE_FOR] = obj
    context.scene.collection.children.link(collection)
    for thing in made:
        thing[MADE_FOR] = obj
        for old in list(thing.users_collection):
            old.objects.unlink(thing)
        collection.objects.link(thing)
    for file in {m.cache_file for o in made for m in o.modifiers if m.type == "MESH_SEQUENCE_CACHE"}:
        # The cache begins at frame 0, the shot at its own first frame.
        file.frame_offset = float(context.scene.frame_start)
        if bpy.data.filepath:
            file.filepath = bpy.path.relpath(str(path))
    context.scene.frame_set(frame)
    context.view_layer.objects.active = active
    return [o.name for o in made]
