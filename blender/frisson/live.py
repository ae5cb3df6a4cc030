# SPDX-License-Identifier: GPL-3.0-or-later
"""Light layers while scrubbing: the motion is recorded once, the layers run in Blender's own process.

What they do is shown as an offset by one geometry-nodes modifier; the mesh itself keeps its shape.
"""

from __future__ import annotations

import bpy
import numpy as np
from bpy.app.handlers import persistent

from . import motion, results

ATTRIBUTE = "frisson_offset"
MODIFIER = "Frisson live"
GROUP = "Frisson offset"
# Frames that are pushed beyond the present, on both sides of the start: layers look there to start at speed, as in a
# bake.
AHEAD = 8
# Layers that take a fraction of a frame's time, and keep vertices.
LIGHT = {"flesh"}


class Session:
    """An object shown live."""

    def __init__(self, context: bpy.types.Context, obj: bpy.types.Object):
        from .baking import record

        heavy = [layer.name for layer in obj.frisson.layers if layer.enabled and layer.kind not in LIGHT]
        if heavy:
            raise ValueError(f"Live shows flesh only: bake {', '.join(heavy)}, or disable them")
        self.recorded = record(context, obj)[obj.name]
        if len(self.recorded.rest) != len(obj.data.vertices):
            raise ValueError(f"{obj.name}: its modifiers add vertices; live works where they only deform")
        self.first = context.scene.frame_start
        self.convert = motion.engine_from_blender(context.scene)
        self.simulator = None
        self.offsets: list[np.ndarray] = []

    def build(self, context: bpy.types.Context, obj: bpy.types.Object) -> None:
        """Makes the simulator of the parameters as they are."""
        import frisson

        from . import scenes

        writer = scenes.Writer(context.scene, obj, self.recorded)
        values = scenes.document(context.scene, [writer], len(self.recorded.positions), 0.0)
        fps = context.scene.render.fps / context.scene.render.fps_base
        who = scenes.character(self.recorded, fps, writer.painted())
        name = scenes.actor_name(obj)
        values["actors"] = {name: who}
        values["reference"] = "rest"
        self.fps = fps
        self.name = name
        self.simulator = frisson.Simulator(frisson.Scene.of(**values), actors={name: who})
        self._push_before()
        for index in range(AHEAD + 1):
            self._push(index)
        self.simulator.start()
        self.offsets = [self._offset(0)]

    def _push_before(self) -> None:
        """A shot that starts in full motion has moved so before: joints go back at the speed of the first frame."""
        if len(self.recorded.poses) < 2:
            return
        first, second = (p.astype(np.float64) for p in self.recorded.poses[:2])
        back = first @ np.linalg.inv(second)
        pose, earlier = first, []
        for _ in range(AHEAD):
            pose = back @ pose
            earlier.append(pose.astype(np.float32))
        for count, pose in zip(range(AHEAD, 0, -1), reversed(earlier), strict=True):
            self.simulator.push_pose(self.name, -count / self.fps, pose)

    def _push(self, index: int) -> None:
        if index >= len(self.recorded.positions):
            return
        time = index / self.fps
        self.simulator.push_pose(self.name, time, self.recorded.poses[index])
        self.simulator.push_positions(self.name, time, self.recorded.positions[index])

    def _offset(self, index: int) -> np.ndarray:
        """How far the layers moved every vertex, in the object's space."""
        moved = self.simulator.positions(self.name) - self.recorded.positions[index]
        back = np.linalg.inv(self.convert @ self.recorded.matrices[index])[:3, :3]
        return np.ascontiguousarray(moved @ back.T, dtype=np.float32)

    def at(self, frame: int) -> np.ndarray:
        """The offset of a frame; what was simulated before is kept."""
        index = max(0, min(frame - self.first, len(self.recorded.positions) - 1))
        while len(self.offsets) <= index:
            now = len(self.offsets)
            self._push(now + AHEAD)
            self.simulator.advance_to(now / self.fps)
            self.offsets.append(self._offset(now))
        return self.offsets[index]


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
        SESSIONS.pop(obj.session_uid, None)
        remove(obj)
        return
    try:
        results.clear(context, obj)
        SESSIONS[obj.session_uid] = Session(context, obj)
        ensure_modifier(obj)
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
        offset = session.at(context.scene.frame_current)
    except ValueError as error:
        obj.frisson.status = str(error)
        return
    stored = obj.data.attributes.get(ATTRIBUTE)
    if stored is None:
        stored = obj.data.attributes.new(ATTRIBUTE, "FLOAT_VECTOR", "POINT")
    stored.data.foreach_set("vector", offset.ravel())
    obj.data.update()


def node_group() -> bpy.types.NodeTree:
    """Adds the named attribute to every position."""
    tree = bpy.data.node_groups.get(GROUP)
    if tree is not None:
        return tree
    tree = bpy.data.node_groups.new(GROUP, "GeometryNodeTree")
    tree.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    start, end = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    move, named = tree.nodes.new("GeometryNodeSetPosition"), tree.nodes.new("GeometryNodeInputNamedAttribute")
    named.data_type = "FLOAT_VECTOR"
    named.inputs["Name"].default_value = ATTRIBUTE
    tree.links.new(start.outputs[0], move.inputs["Geometry"])
    tree.links.new(next(o for o in named.outputs if o.name == "Attribute" and o.enabled), move.inputs["Offset"])
    tree.links.new(move.outputs[0], end.inputs[0])
    return tree


def ensure_modifier(obj: bpy.types.Object) -> None:
    if MODIFIER not in obj.modifiers:
        modifier = obj.modifiers.new(MODIFIER, "NODES")
        modifier.node_group = node_group()
        modifier.show_expanded = False


def remove(obj: bpy.types.Object) -> None:
    """Leaves nothing behind."""
    if modifier := obj.modifiers.get(MODIFIER):
        obj.modifiers.remove(modifier)
    if obj.type == "MESH" and (stored := obj.data.attributes.get(ATTRIBUTE)):
        obj.data.attributes.remove(stored)
    tree = bpy.data.node_groups.get(GROUP)
    if tree is not None and tree.users == 0:
        bpy.data.node_groups.remove(tree)


@persistent
def on_frame(scene, depsgraph=None):
    for obj in [o for o in scene.objects if o.session_uid in SESSIONS]:
        show(obj, bpy.context)


@persistent
def on_load(*_):
    # What was live when it was saved has no recording any more: the switch says so.
    SESSIONS.clear()
    for obj in bpy.data.objects:
        if obj.frisson.live:
            obj.frisson.live = False


def register():
    bpy.app.handlers.frame_change_post.append(on_frame)
    bpy.app.handlers.load_post.append(on_load)


def unregister():
    bpy.app.handlers.frame_change_post.remove(on_frame)
    bpy.app.handlers.load_post.remove(on_load)
    for obj in bpy.data.objects:
        if obj.session_uid in SESSIONS:
            remove(obj)
    SESSIONS.clear()
