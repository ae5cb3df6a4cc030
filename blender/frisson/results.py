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
# Marks the collection of what stands in for an object that is hidden meanwhile.
HIDDEN = "frisson_hidden"
# Gives points of drops their size.
DROPS = "Frisson drops"


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
        if collection.get(HIDDEN):
            unhide(obj)
        bpy.data.collections.remove(collection)
    for cache in [c for c in bpy.data.cache_files if c.users == 0]:
        bpy.data.batch_remove([cache])
    for tree in [t for t in bpy.data.node_groups if t.name == DROPS and t.users == 0]:
        bpy.data.node_groups.remove(tree)


def hide(obj: bpy.types.Object) -> None:
    """Another object stands in its place."""
    obj.hide_render = True
    obj.hide_set(True)


def unhide(obj: bpy.types.Object) -> None:
    """Shows what `hide` hid."""
    obj.hide_render = False
    obj.hide_set(False)


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
        # Of a loop, one round.
        recorded = recorded[: len(cache) * (recorded.size // (cache.last + 1))]
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
        for collection in bpy.data.collections:
            if collection.get(MADE_FOR) == obj:
                collection[HIDDEN] = True
        hide(obj)
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
        if thing.type == "POINTCLOUD":
            dress_drops(thing, not any(o.name == thing.name.removesuffix(".points") for o in made))
        for old in list(thing.users_collection):
            old.objects.unlink(thing)
        collection.objects.link(thing)
    for file in {m.cache_file for o in made for m in o.modifiers if m.type == "MESH_SEQUENCE_CACHE"}:
        # The cache has its own numbers (a loop's are those of its last round), the shot its own first frame.
        file.frame_offset = float(context.scene.frame_start - cache.first)
        if bpy.data.filepath:
            file.filepath = bpy.path.relpath(str(path))
    context.scene.frame_set(frame)
    context.view_layer.objects.active = active
    return [o.name for o in made]


def new_tree(name: str):
    """A tree from geometry to geometry: itself, its input and its output."""
    tree = bpy.data.node_groups.new(name, "GeometryNodeTree")
    tree.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    return tree, tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")


def named_attribute(tree: bpy.types.NodeTree, name: str, kind: str):
    """The socket of an attribute by name."""
    node = tree.nodes.new("GeometryNodeInputNamedAttribute")
    node.data_type = kind
    node.inputs["Name"].default_value = name
    return next(o for o in node.outputs if o.name == "Attribute" and o.enabled)


def drops_tree() -> bpy.types.NodeTree:
    """Points with the radius of their drops, or, if asked, spheres of that size."""
    tree = bpy.data.node_groups.get(DROPS)
    if tree is not None:
        return tree
    tree, start, end = new_tree(DROPS)
    spheres = tree.interface.new_socket("Spheres", in_out="INPUT", socket_type="NodeSocketBool")
    spheres.description = "A small mesh on every point, instead of the point itself"
    radius = named_attribute(tree, "drop_radius", "FLOAT")
    sized = tree.nodes.new("GeometryNodeSetPointRadius")
    tree.links.new(start.outputs[0], sized.inputs["Points"])
    tree.links.new(radius, sized.inputs["Radius"])
    ball, laid = tree.nodes.new("GeometryNodeMeshIcoSphere"), tree.nodes.new("GeometryNodeInstanceOnPoints")
    ball.inputs["Subdivisions"].default_value = 3
    tree.links.new(start.outputs[0], laid.inputs["Points"])
    tree.links.new(ball.outputs["Mesh"], laid.inputs["Instance"])
    tree.links.new(radius, laid.inputs["Scale"])
    switch = tree.nodes.new("GeometryNodeSwitch")
    switch.input_type = "GEOMETRY"
    tree.links.new(start.outputs["Spheres"], switch.inputs["Switch"])
    tree.links.new(sized.outputs[0], switch.inputs["False"])
    tree.links.new(laid.outputs[0], switch.inputs["True"])
    tree.links.new(switch.outputs[0], end.inputs[0])
    return tree


def dress_drops(points: bpy.types.Object, alone: bool) -> None:
    """Points have no size of their own, so that a drop is not drawn twice: the modifier gives it. It is off where
    meshes show the drops already."""
    modifier = points.modifiers.new(MODIFIER, "NODES")
    modifier.node_group = drops_tree()
    modifier.show_viewport = modifier.show_render = alone
