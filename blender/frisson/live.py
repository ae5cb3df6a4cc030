# SPDX-License-Identifier: GPL-3.0-or-later
"""Light layers while scrubbing: the motion is recorded once, the layers run in Blender's own process.

The recording is the very folder that a bake reads, so what is shown is what a bake would show. Where vertices stay, it
is an offset by one geometry-nodes modifier and the mesh keeps its shape; else another object stands in.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import bpy
import numpy as np
from bpy.app.handlers import persistent

from . import motion, results

ATTRIBUTE = "frisson_offset"
MODIFIER = "Frisson live"
GROUP = "Frisson offset"
# Marks the object that stands in while live.
STANDS_IN = "frisson_live"
# Layers that take a fraction of a frame's time.
LIGHT = ("flesh", "wrinkles", "folds")


class Session:
    """An object shown live."""

    def __init__(self, context: bpy.types.Context, obj: bpy.types.Object):
        from .baking import record

        heavy = [layer.name for layer in obj.frisson.layers if layer.enabled and layer.kind not in LIGHT]
        if heavy:
            raise ValueError(f"Live shows {', '.join(LIGHT)}: bake {', '.join(heavy)}, or disable them")
        self.recorded = record(context, obj)
        self.folder = Path(tempfile.mkdtemp(prefix="frisson-live-"))
        self.first = context.scene.frame_start
        self.convert = motion.engine_from_blender(context.scene)
        self.simulator = None
        self.shown: list[tuple[np.ndarray, np.ndarray]] = []

    def end(self) -> None:
        """Nothing is left on the disk."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def build(self, context: bpy.types.Context, obj: bpy.types.Object) -> None:
        """Makes the simulator of the parameters as they are."""
        import frisson

        from . import scenes

        path = scenes.write_folder(context, obj, self.folder, self.recorded)
        self.motion = self.recorded[obj.name]
        self.name = scenes.baked_name(obj)
        self.simulator = frisson.Simulator(frisson.Scene.load(path))
        self.simulator.start()
        self.shown = [self._now(0)]

    def _now(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        """Positions in the object's space and triangles at the present."""
        mesh = self.simulator.frame().meshes[self.name]
        back = np.linalg.inv(self.convert @ self.motion.matrices[index])
        return motion.placed(mesh.positions, back), mesh.triangles

    def at(self, frame: int) -> tuple[np.ndarray, np.ndarray, int]:
        """What is shown at a frame; what was simulated before is kept."""
        index = max(0, min(frame - self.first, len(self.motion.positions) - 1))
        while len(self.shown) <= index:
            self.simulator.step()
            self.shown.append(self._now(len(self.shown)))
        return *self.shown[index], index

    def offset(self, index: int) -> np.ndarray:
        """How far the layers moved every vertex, in the object's space."""
        plain = motion.placed(self.motion.positions[index], np.linalg.inv(self.convert @ self.motion.matrices[index]))
        return self.shown[index][0] - plain


SESSIONS: dict[int, Session] = {}


def forget(obj: bpy.types.Object) -> None:
    """Parameters changed: what was simulated with the old ones is shown no more."""
    session = SESSIONS.get(obj.session_uid) if isinstance(obj, bpy.types.Object) else None
    if session is not None:
        session.simulator = None
        show(obj, bpy.context)


def switched(obj: bpy.types.Object, context: bpy.types.Context) -> None:
    """Live was switched on or off."""
    if not obj.frisson.live:
        if session := SESSIONS.pop(obj.session_uid, None):
            session.end()
        remove(obj)
        return
    try:
        results.clear(context, obj)
        SESSIONS[obj.session_uid] = Session(context, obj)
        show(obj, context)
    except ValueError as error:
        obj.frisson.live = False
        obj.frisson.status = str(error)


def show(obj: bpy.types.Object, context: bpy.types.Context) -> None:
    """Shows the current frame."""
    session = SESSIONS.get(obj.session_uid)
    if session is None:
        return
    try:
        if session.simulator is None:
            session.build(context, obj)
            obj.frisson.status = ""
        positions, triangles, index = session.at(context.scene.frame_current)
    except (ValueError, RuntimeError) as error:
        obj.frisson.status = str(error)
        return
    # Data of a library, or of several objects, is not ours to write into.
    own = obj.data.library is None and obj.data.users == 1
    if own and len(positions) == len(obj.data.vertices):
        show_offset(obj, session.offset(index))
    else:
        show_stand_in(context, obj, positions, triangles)


def show_offset(obj: bpy.types.Object, offset: np.ndarray) -> None:
    """Moves the object's own vertices."""
    remove_stand_in(obj)
    ensure_modifier(obj)
    stored = obj.data.attributes.get(ATTRIBUTE)
    if stored is None:
        stored = obj.data.attributes.new(ATTRIBUTE, "FLOAT_VECTOR", "POINT")
    stored.data.foreach_set("vector", np.ascontiguousarray(offset, dtype=np.float32).ravel())
    obj.data.update()


def stand_in_of(obj: bpy.types.Object) -> bpy.types.Object | None:
    return next((o for o in bpy.data.objects if o.get(STANDS_IN) == obj), None)


def show_stand_in(context, obj: bpy.types.Object, positions: np.ndarray, triangles: np.ndarray) -> None:
    """Another object with other triangles, in the same place; the original is hidden meanwhile."""
    other = stand_in_of(obj)
    if other is None:
        mesh = bpy.data.meshes.new(f"{obj.name} live")
        for material in obj.data.materials:
            mesh.materials.append(material)
        other = bpy.data.objects.new(f"{obj.name} live", mesh)
        other[STANDS_IN] = obj
        context.scene.collection.objects.link(other)
        follow = other.constraints.new("COPY_TRANSFORMS")
        follow.target = obj
        results.hide(obj)
    fill(other.data, positions, triangles)


def fill(mesh: bpy.types.Mesh, positions: np.ndarray, triangles: np.ndarray) -> None:
    """Gives a mesh vertices and triangles; only positions, where the triangles are the same."""
    corners = np.ascontiguousarray(triangles, dtype=np.int32).ravel()
    same = len(mesh.vertices) == len(positions) and len(mesh.loops) == len(corners)
    if same:
        present = np.empty(len(corners), dtype=np.int32)
        mesh.loops.foreach_get("vertex_index", present)
        same = np.array_equal(present, corners)
    if not same:
        mesh.clear_geometry()
        mesh.vertices.add(len(positions))
        mesh.loops.add(len(corners))
        mesh.polygons.add(len(triangles))
        mesh.loops.foreach_set("vertex_index", corners)
        mesh.polygons.foreach_set("loop_start", np.arange(0, len(corners), 3, dtype=np.int32))
    mesh.vertices.foreach_set("co", np.ascontiguousarray(positions, dtype=np.float32).ravel())
    mesh.update(calc_edges=not same)


def node_group() -> bpy.types.NodeTree:
    """Adds the named attribute to every position."""
    tree = bpy.data.node_groups.get(GROUP)
    if tree is not None:
        return tree
    tree, start, end = results.new_tree(GROUP)
    move, named = tree.nodes.new("GeometryNodeSetPosition"), results.named_attribute(tree, ATTRIBUTE, "FLOAT_VECTOR")
    tree.links.new(start.outputs[0], move.inputs["Geometry"])
    tree.links.new(named, move.inputs["Offset"])
    tree.links.new(move.outputs[0], end.inputs[0])
    return tree


def ensure_modifier(obj: bpy.types.Object) -> None:
    if MODIFIER not in obj.modifiers:
        modifier = obj.modifiers.new(MODIFIER, "NODES")
        modifier.node_group = node_group()
        modifier.show_expanded = False


def remove_stand_in(obj: bpy.types.Object) -> None:
    other = stand_in_of(obj)
    if other is not None:
        data = other.data
        bpy.data.objects.remove(other)
        bpy.data.meshes.remove(data)
        results.unhide(obj)


def remove(obj: bpy.types.Object) -> None:
    """Leaves nothing behind."""
    remove_stand_in(obj)
    if modifier := obj.modifiers.get(MODIFIER):
        obj.modifiers.remove(modifier)
    if obj.type == "MESH" and obj.data.library is None and (stored := obj.data.attributes.get(ATTRIBUTE)):
        obj.data.attributes.remove(stored)
    tree = bpy.data.node_groups.get(GROUP)
    if tree is not None and tree.users == 0:
        bpy.data.node_groups.remove(tree)


@persistent
def on_frame(scene, depsgraph=None):
    for obj in [o for o in scene.objects if o.session_uid in SESSIONS]:
        show(obj, bpy.context)


@persistent
def on_undo(*_):
    """A step back may have changed parameters, the switch, or taken what was shown."""
    known = {o.session_uid: o for o in bpy.data.objects}
    for uid in [u for u in SESSIONS if u not in known or not known[u].frisson.live]:
        SESSIONS.pop(uid).end()
        if uid in known:
            remove(known[uid])
    for obj in known.values():
        if obj.session_uid in SESSIONS:
            forget(obj)
        elif obj.library is None and obj.frisson.live:
            # Its recording is gone: to be switched on again by hand.
            obj.frisson.live = False


@persistent
def on_load(*_):
    # What was live when it was saved has no recording any more: the switch says so.
    end_all()
    for obj in bpy.data.objects:
        if obj.library is None and obj.frisson.live:
            obj.frisson.live = False


def end_all() -> None:
    for session in SESSIONS.values():
        session.end()
    SESSIONS.clear()


def handlers():
    found = bpy.app.handlers
    return (
        (found.frame_change_post, on_frame), (found.load_post, on_load), (found.undo_post, on_undo),
        (found.redo_post, on_undo),
    )


def register():
    for place, handler in handlers():
        place.append(handler)


def unregister():
    for place, handler in handlers():
        place.remove(handler)
    for obj in bpy.data.objects:
        if obj.session_uid in SESSIONS:
            remove(obj)
    end_all()
