# SPDX-License-Identifier: GPL-3.0-or-later
"""From an object with layers to a folder that the engine can bake: scene.toml, characters, recorded positions."""

from __future__ import annotations

import dataclasses
import re
import tempfile
from fractions import Fraction
from pathlib import Path

import bpy
import numpy as np

from . import fields, motion

# Soft selections travel as vertex colours: there are four channels.
CHANNELS = "rgba"


def actor_name(obj: bpy.types.Object) -> str:
    """An object's name in the scene file."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", obj.name).strip("_") or "actor"
    library = obj.library.name if obj.library else ""
    return f"{plain}_{re.sub(r'[^A-Za-z0-9_-]+', '_', library)}" if library else plain


def participants(scene: bpy.types.Scene, obj: bpy.types.Object) -> list[bpy.types.Object]:
    """The object, and those that its layers may see: marked ones and Blender's own colliders."""

    def sees(other: bpy.types.Object) -> bool:
        marked = other.frisson.takes_part or any(m.type == "COLLISION" for m in other.modifiers)
        return other.type == "MESH" and other != obj and marked and not other.hide_render

    return [obj, *sorted((o for o in scene.objects if sees(o)), key=lambda o: o.name)]


def rounded(number: float) -> float:
    """A number of 32 bits without the digits it does not have."""
    return float(f"{number:.7g}")


class Writer:
    """Turns properties into the values of a scene file."""

    def __init__(self, scene: bpy.types.Scene, obj: bpy.types.Object, recorded: motion.Recorded | None):
        self.scene, self.obj, self.recorded = scene, obj, recorded
        self.convert = motion.engine_from_blender(scene)
        self.colors: list[np.ndarray] = []

    def layer(self, layer) -> dict:
        """One layer as an entry of the scene's list."""
        group = fields.groups()[fields.layers()[layer.kind][0]]
        values = {"name": layer.name or layer.kind}
        if any(f.key == "on" for f in group.fields):
            values["on"] = actor_name(self.obj)
        values.update(self.group(getattr(layer, layer.kind), group, top=True))
        return {layer.kind: values}

    def group(self, owner, group: fields.Group, top: bool = False) -> dict:
        """What was set in a group, and what it cannot be without."""
        if group.variants:
            chosen = next(v for v in group.variants if v.key == owner.variant)
            inner = self.value(owner, chosen)
            return {chosen.key: {} if inner is None else inner}
        values = {}
        for entry in group.fields:
            if top and entry.key in fields.OWN:
                continue
            value = self.value(owner, entry)
            if value is not None:
                values[entry.key] = value
        return values

    def value(self, owner, entry: fields.Field):
        """The value of one field; None where the default holds."""
        stored = getattr(owner, entry.attribute)
        wanted = entry.required or owner.is_property_set(entry.attribute)
        if entry.kind == "selection":
            return self.selection(stored)
        if entry.kind == "anchor":
            return self.lines(stored)[0][0] if stored else None
        if entry.kind == "line" and entry.key == "at" and stored and stored.type == "CURVES":
            # Roots, where whole hairs are given.
            return [line[0] for line in self.lines(stored)]
        if entry.kind == "line":
            return self.lines(stored)[0] if stored else None
        if entry.kind == "lines":
            return self.lines(stored) if stored else None
        if entry.kind == "group":
            group = fields.groups()[entry.group]
            # A choice among kinds is made by setting it; a group by setting something in it.
            if group.variants and not (entry.required or stored.is_property_set("variant")):
                return None
            if not (group.variants or entry.required or self.is_touched(stored, group)):
                return None
            return self.group(stored, group) or ({} if entry.required else None)
        if entry.kind == "list":
            group = fields.groups()[entry.group]
            return [self.group(item, group) for item in stored] if len(stored) or entry.required else None
        if not wanted:
            return None
        if entry.kind == "vector":
            return self.vector(entry, stored)
        if entry.kind == "float":
            return self.animated(owner, entry) or rounded(stored)
        if entry.kind == "names" and stored.lstrip().startswith("["):
            return fields.written(stored)
        if entry.kind == "names":
            return [name.strip() for name in stored.split(",") if name.strip()]
        if entry.kind in ("json", "string"):
            return (fields.written(stored) if entry.kind == "json" else stored) if stored else None
        return stored

    def is_touched(self, owner, group: fields.Group) -> bool:
        """Whether anything in a group was set: one that may be left out is not there for what it cannot be without."""
        return any(self.value(owner, dataclasses.replace(f, required=False)) is not None for f in group.fields)

    def lines(self, stored: bpy.types.Object) -> list[list[list[float]]]:
        return motion.lines_of(stored, self.convert, self.recorded.places if self.recorded else None)

    def vector(self, entry: fields.Field, stored) -> list[float]:
        numbers = [rounded(v) for v in stored]
        if entry.size == 3 and entry.key in fields.TURNED:
            return (motion.TURN[:3, :3] @ numbers).tolist()
        return numbers

    def animated(self, owner, entry: fields.Field) -> list | None:
        """Keys of an animated parameter: its value at every frame, where it changes."""
        if not entry.animated or not self.obj.animation_data or not self.obj.animation_data.action:
            return None
        path = f"{owner.path_from_id()}.{entry.attribute}"
        curve = next((c for c in curves_of(self.obj) if c.data_path == path), None)
        if curve is None:
            return None
        first = self.scene.frame_start
        return [[f - first, rounded(curve.evaluate(f))] for f in range(first, self.scene.frame_end + 1)]

    def selection(self, stored) -> dict | None:
        """A vertex group or attribute as a colour channel."""
        if not stored.vertex_group and not stored.attribute:
            return None
        if self.recorded is None:
            return {"color": "r"}
        known = self.recorded.groups if stored.vertex_group else self.recorded.attributes
        name = stored.vertex_group or stored.attribute
        if name not in known:
            kind = "vertex group" if stored.vertex_group else "attribute on points"
            raise ValueError(f"{self.obj.name} has no {kind} named {name!r}; it has: {', '.join(known) or 'none'}")
        weights = np.clip(known[name], 0.0, 1.0)
        channel = next((i for i, c in enumerate(self.colors) if np.array_equal(c, weights)), None)
        if channel is None:
            if len(self.colors) == len(CHANNELS):
                raise ValueError(f"{self.obj.name}: its layers use more than {len(CHANNELS)} vertex groups")
            channel = len(self.colors)
            self.colors.append(weights)
        chosen = {"color": CHANNELS[channel]}
        return {**chosen, "invert": True} if stored.invert else chosen

    def painted(self) -> np.ndarray | None:
        """The channels in use, as vertex colours."""
        if not self.colors:
            return None
        colors = np.ones((len(self.colors[0]), 4), dtype=np.float32)
        for channel, weights in enumerate(self.colors):
            colors[:, channel] = weights
        return colors


def curves_of(obj: bpy.types.Object):
    """The f-curves that drive an object, in actions of the old and the new kind."""
    data = obj.animation_data
    if hasattr(data.action, "fcurves"):
        return list(data.action.fcurves)
    found = []
    for layer in data.action.layers:
        for strip in layer.strips:
            bag = strip.channelbag(data.action_slot)
            found.extend(bag.fcurves if bag else [])
    return found


def rate(scene: bpy.types.Scene) -> str | int:
    """Frames per second, exactly."""
    fraction = Fraction(scene.render.fps) / Fraction(scene.render.fps_base).limit_denominator(1001)
    return fraction.numerator if fraction.denominator == 1 else f"{fraction.numerator}/{fraction.denominator}"


def forces(scene: bpy.types.Scene) -> list[dict]:
    """Blender's wind."""
    found = []
    for obj in scene.objects:
        settings = obj.field
        if settings and settings.type == "WIND" and not obj.hide_render:
            direction = motion.TURN[:3, :3] @ np.array(obj.matrix_world)[:3, 2]
            found.append({"wind": {"direction": [rounded(v) for v in direction], "speed": rounded(settings.strength)}})
    return found


def gravity(scene: bpy.types.Scene) -> list[float]:
    """Blender's gravity [m/s²]."""
    if not scene.use_gravity:
        return [0.0, 0.0, 0.0]
    return [rounded(v) for v in motion.TURN[:3, :3] @ np.array(scene.gravity)]


def document(scene: bpy.types.Scene, writers: list[Writer], frames: int, rounds: int) -> dict:
    """The scene file's values. A loop is simulated for some rounds; only the last is kept."""
    obj = writers[0].obj
    before = rounds * frames
    fps = Fraction(rate(scene))
    return {
        "fps": rate(scene),
        "frames": (before, before + frames - 1),
        "preroll": float(before / fps) if rounds else obj.frisson.preroll,
        "gravity": gravity(scene),
        "actors": {
            actor_name(w.obj): {"source": f"{actor_name(w.obj)}.glb", "points": f"{actor_name(w.obj)}.pc2"}
            for w in writers
        },
        "forces": forces(scene),
        "layers": [writers[0].layer(layer) for layer in obj.frisson.layers if layer.enabled],
    }


def character(recorded: motion.Recorded, fps: float, colors: np.ndarray | None):
    """The recorded object as a character whose clip is what its bones did."""
    import frisson

    mesh = {"positions": recorded.rest, "triangles": recorded.triangles, "weights": recorded.weights}
    if colors is not None:
        mesh["colors"] = colors
    clip = None
    if recorded.poses:
        clip = (np.arange(len(recorded.poses)) / fps, np.stack(recorded.poses))
    return frisson.Character({"mesh": mesh}, recorded.joints, recorded.rest_joints, clip, name="recorded")


def write_points(path: Path, positions: list[np.ndarray], start: float = 0.0) -> None:
    """A PC2 point cache."""
    head = np.array([1, len(positions[0])], dtype="<i4").tobytes() + np.array([start, 1.0], dtype="<f4").tobytes()
    with open(path, "wb") as file:
        file.write(b"POINTCACHE2\0" + head + np.array([len(positions)], dtype="<i4").tobytes())
        for points in positions:
            file.write(np.ascontiguousarray(points, dtype="<f4").tobytes())


def write_folder(context: bpy.types.Context, obj: bpy.types.Object, folder: Path, recorded: dict) -> Path:
    """Writes all that a bake needs; gives the scene file."""
    import frisson

    folder.mkdir(parents=True, exist_ok=True)
    writers = [Writer(context.scene, o, recorded[o.name]) for o in participants(context.scene, obj)]
    rounds = obj.frisson.rounds
    values = document(context.scene, writers, len(recorded[obj.name].positions), rounds)
    fps = context.scene.render.fps / context.scene.render.fps_base
    for writer in writers:
        name = actor_name(writer.obj)
        played = motion.repeated(writer.recorded, rounds)
        character(played, fps, writer.painted()).save(folder / f"{name}.glb", force=True)
        write_points(folder / f"{name}.pc2", played.positions)
        if writer.obj.library is None:
            writer.obj.frisson.actor = name
    np.savez(folder / "matrices.npz", **{actor_name(w.obj): np.stack(w.recorded.matrices) for w in writers})
    path = folder / "scene.toml"
    made = frisson.Scene.of(path=path, **values)
    path.write_text(made.text)
    return path


def baked_name(obj: bpy.types.Object) -> str:
    """An object's name in the files of its last bake."""
    return obj.frisson.actor or actor_name(obj)


def folder_of(obj: bpy.types.Object) -> Path:
    """Where an object's recordings and caches are kept: beside the .blend, or for this session only."""
    given = obj.frisson.folder or "//frisson"
    if given.startswith("//") and not bpy.data.filepath:
        return Path(bpy.app.tempdir or tempfile.gettempdir()) / "frisson" / actor_name(obj)
    return Path(bpy.path.abspath(given)) / actor_name(obj)
