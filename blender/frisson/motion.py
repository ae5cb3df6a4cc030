# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's motion as arrays: evaluated meshes and bones, frame by frame, in the engine's axes and metres.

Whatever makes the motion (modifiers, constraints, drivers) is evaluated by Blender; nothing has to be understood here.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import bpy
import numpy as np

# Blender has Z up, the engine Y: (x, y, z) becomes (x, z, -y).
TURN = np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]], dtype=np.float64)
# Modifiers of ours are never part of what is recorded.
OURS = "Frisson"


@dataclass
class Recorded:
    """One object, recorded."""

    name: str
    triangles: np.ndarray
    rest: np.ndarray
    """Rest pose [m], (vertices, 3)."""
    joints: list[tuple[str, int | None]]
    rest_joints: np.ndarray
    weights: np.ndarray
    groups: dict[str, np.ndarray] = field(default_factory=dict)
    attributes: dict[str, np.ndarray] = field(default_factory=dict)
    positions: list[np.ndarray] = field(default_factory=list)
    """[m], one array a frame."""
    matrices: list[np.ndarray] = field(default_factory=list)
    """Blender's world matrix of the object, one a frame."""
    poses: list[np.ndarray] = field(default_factory=list)
    """Joints, one array a frame, (joints, 4, 4)."""
    places: dict[str, np.ndarray] = field(default_factory=dict)
    """World matrices of all objects when the shot begins: lines and empties hold there."""


def metres(scene: bpy.types.Scene) -> float:
    """Metres in one of Blender's units."""
    settings = scene.unit_settings
    return settings.scale_length if settings.system != "NONE" else 1.0


def engine_from_blender(scene: bpy.types.Scene) -> np.ndarray:
    """The matrix between the two worlds."""
    return TURN @ np.diag([metres(scene)] * 3 + [1.0])


def armature_of(obj: bpy.types.Object) -> bpy.types.Object | None:
    """The armature that deforms an object."""
    for modifier in obj.modifiers:
        if modifier.type == "ARMATURE" and modifier.object:
            return modifier.object
    return obj.parent if obj.parent and obj.parent.type == "ARMATURE" else None


def points_of(mesh: bpy.types.Mesh) -> np.ndarray:
    """Places of all vertices, in the object's space."""
    flat = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3)


def placed(points: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Points moved by a matrix."""
    moved = points.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
    return np.ascontiguousarray(moved, dtype=np.float32)


class Recorder:
    """Records some objects; one call of `frame` for every frame of the shot."""

    def __init__(self, context: bpy.types.Context, objects: list[bpy.types.Object]):
        self.scene = context.scene
        self.objects = objects
        self.convert = engine_from_blender(self.scene)
        self.back = np.linalg.inv(self.convert)
        self.hidden: list[tuple[bpy.types.Modifier, bool]] = []
        self.recorded: dict[str, Recorded] = {}

    def begin(self, context: bpy.types.Context) -> None:
        """Looks at the rest pose: topology, weights, joints; and where everything stands when the shot begins."""
        self.places = {o.name: np.array(o.matrix_world) for o in self.scene.objects}
        for obj in self.objects:
            for modifier in obj.modifiers:
                if modifier.name.startswith(OURS):
                    self.hidden.append((modifier, modifier.show_viewport))
                    modifier.show_viewport = False
        armatures = {a for a in map(armature_of, self.objects) if a is not None}
        before = {a: a.data.pose_position for a in armatures}
        try:
            for armature in armatures:
                armature.data.pose_position = "REST"
            context.view_layer.update()
            depsgraph = context.evaluated_depsgraph_get()
            for obj in self.objects:
                self.recorded[obj.name] = self._rest(obj, depsgraph)
        finally:
            for armature, position in before.items():
                armature.data.pose_position = position
            context.view_layer.update()

    def _rest(self, obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Recorded:
        evaluated = obj.evaluated_get(depsgraph)
        mesh = evaluated.to_mesh()
        try:
            mesh.calc_loop_triangles()
            corners = np.empty(3 * len(mesh.loop_triangles), dtype=np.int32)
            mesh.loop_triangles.foreach_get("vertices", corners)
            world = self.convert @ np.array(evaluated.matrix_world)
            joints, matrices = self._rest_joints(obj)
            groups = _vertex_groups(obj, mesh)
            attributes = _attributes(mesh)
            rest = placed(points_of(mesh), world)
        finally:
            evaluated.to_mesh_clear()
        weights = np.zeros((len(rest), len(joints)), dtype=np.float32)
        for index, (name, _) in enumerate(joints):
            if name in groups:
                weights[:, index] = groups[name]
        # What no bone holds follows the first joint.
        weights[weights.sum(axis=1) <= 0, 0] = 1.0
        made = Recorded(
            obj.name, corners.reshape(-1, 3).astype(np.uint32), rest, joints, matrices, weights, groups, attributes
        )
        made.places = self.places
        return made

    def _rest_joints(self, obj: bpy.types.Object) -> tuple[list[tuple[str, int | None]], np.ndarray]:
        armature = armature_of(obj)
        if armature is None:
            return [("root", None)], np.eye(4)[None]
        bones = list(armature.data.bones)
        index = {bone.name: i for i, bone in enumerate(bones)}
        joints = [(b.name, index[b.parent.name] if b.parent else None) for b in bones]
        world = np.array(armature.matrix_world)
        return joints, np.stack([self._joint(world @ np.array(b.matrix_local)) for b in bones])

    def _joint(self, matrix: np.ndarray) -> np.ndarray:
        return self.convert @ matrix @ self.back

    def frame(self, context: bpy.types.Context, number: int) -> None:
        """Records one frame."""
        self.scene.frame_set(number)
        depsgraph = context.evaluated_depsgraph_get()
        for obj in self.objects:
            evaluated = obj.evaluated_get(depsgraph)
            mesh = evaluated.to_mesh()
            world = np.array(evaluated.matrix_world)
            points = placed(points_of(mesh), self.convert @ world)
            evaluated.to_mesh_clear()
            recorded = self.recorded[obj.name]
            if len(points) != len(recorded.rest):
                raise ValueError(
                    f"{obj.name}: its modifiers give {len(points)} vertices at frame {number} and "
                    f"{len(recorded.rest)} at rest; apply or disable what changes their number"
                )
            if not np.isfinite(points).all():
                raise ValueError(f"{obj.name}: a vertex is nowhere (not a number) at frame {number}")
            recorded.positions.append(points)
            recorded.matrices.append(world)
            recorded.poses.append(self._pose(obj, recorded, depsgraph))

    def _pose(self, obj, recorded: Recorded, depsgraph) -> np.ndarray:
        armature = armature_of(obj)
        if armature is None:
            return np.eye(4, dtype=np.float32)[None]
        posed = armature.evaluated_get(depsgraph)
        world = np.array(posed.matrix_world)
        bones = posed.pose.bones
        return np.stack([self._joint(world @ np.array(bones[n].matrix)) for n, _ in recorded.joints]).astype(np.float32)

    def end(self) -> dict[str, Recorded]:
        """Puts everything back and gives what was recorded."""
        for modifier, shown in self.hidden:
            modifier.show_viewport = shown
        self.hidden.clear()
        return self.recorded


def repeated(recorded: Recorded, rounds: int) -> Recorded:
    """The same motion, played some more times before."""
    return replace(
        recorded, positions=recorded.positions * (rounds + 1), poses=recorded.poses * (rounds + 1),
    )


def _vertex_groups(obj: bpy.types.Object, mesh: bpy.types.Mesh) -> dict[str, np.ndarray]:
    names = [group.name for group in obj.vertex_groups]
    found = {name: np.zeros(len(mesh.vertices), dtype=np.float32) for name in names}
    if names:
        for vertex in mesh.vertices:
            for element in vertex.groups:
                if element.group < len(names):
                    found[names[element.group]][vertex.index] = element.weight
    return found


def _attributes(mesh: bpy.types.Mesh) -> dict[str, np.ndarray]:
    """Numbers and colours on points, as weights."""
    found = {}
    for attribute in mesh.attributes:
        if attribute.domain != "POINT" or attribute.name.startswith("."):
            continue
        count = len(attribute.data)
        if attribute.data_type == "FLOAT":
            values = np.empty(count, dtype=np.float32)
            attribute.data.foreach_get("value", values)
        elif attribute.data_type in ("FLOAT_COLOR", "BYTE_COLOR"):
            values = np.empty(4 * count, dtype=np.float32)
            attribute.data.foreach_get("color", values)
            values = values.reshape(-1, 4)[:, 0].copy()
        else:
            continue
        found[attribute.name] = values
    return found


def lines_of(
    obj: bpy.types.Object, convert: np.ndarray, places: dict[str, np.ndarray] | None = None
) -> list[list[list[float]]]:
    """Points along curves, strokes or a mesh's vertices, in the engine's axes; whatever else gives its own place."""
    world = convert @ (places or {}).get(obj.name, np.array(obj.matrix_world))
    drawn = [line for line in _drawn(obj) if line] or [[(0.0, 0.0, 0.0)]]
    return [placed(np.array(line, dtype=np.float32), world).tolist() for line in drawn]


def _drawn(obj: bpy.types.Object) -> list[list[tuple[float, ...]]]:
    data = obj.data
    if obj.type == "CURVE":
        return [[tuple(p.co)[:3] for p in (spline.bezier_points or spline.points)] for spline in data.splines]
    if obj.type == "CURVES":
        return [[tuple(p.position) for p in curve.points] for curve in data.curves]
    if obj.type == "GREASEPENCIL":
        drawings = [layer.frames[0].drawing for layer in data.layers if len(layer.frames)]
        return [[tuple(p.position) for p in stroke.points] for drawing in drawings for stroke in drawing.strokes]
    if obj.type == "MESH":
        return [[tuple(v.co) for v in data.vertices]]
    return []
