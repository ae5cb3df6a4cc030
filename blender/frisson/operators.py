# SPDX-License-Identifier: GPL-3.0-or-later
"""Add, remove and reorder layers; lists inside layers; a first stack from the rig; presets."""

from __future__ import annotations

import json
import tempfile
import tomllib
from pathlib import Path

import bpy

from . import fields, live, properties, results, scenes


def new_name(stack, base: str) -> str:
    """A name that no layer of the stack has."""
    names = {layer.name for layer in stack.layers}
    number = 1
    while (name := base if number == 1 else f"{base}_{number}") in names:
        number += 1
    return name


def fill(owner, group: fields.Group, values: dict) -> None:
    """Stores values of a scene file in properties."""
    if group.variants:
        key, inner = next(iter(values.items()))
        variant = next(v for v in group.variants if v.key == key)
        owner.variant = key
        store(owner, variant, inner)
        return
    for entry in group.fields:
        if entry.key in values and values[entry.key] is not None:
            store(owner, entry, values[entry.key])


def store(owner, entry: fields.Field, value) -> None:
    """Stores one value; what has no place of its own is kept as text."""
    if entry.kind == "group":
        fill(getattr(owner, entry.attribute), fields.groups()[entry.group], value)
    elif entry.kind == "list":
        items = getattr(owner, entry.attribute)
        items.clear()
        for one in value:
            fill(items.add(), fields.groups()[entry.group], one)
    elif entry.kind == "names":
        # Ends that are more than a name (a place beside a joint) keep their text.
        plain = all(isinstance(v, str) for v in value)
        setattr(owner, entry.attribute, ", ".join(value) if plain else json.dumps(value))
    elif entry.kind == "json":
        setattr(owner, entry.attribute, json.dumps(value))
    elif entry.kind == "float" and isinstance(value, list):
        setattr(owner, entry.attribute, value[0][1])
    elif entry.kind not in ("selection", "anchor", "line", "lines"):
        setattr(owner, entry.attribute, value)


def add_layer(obj: bpy.types.Object, kind: str, name: str = "", values: dict | None = None):
    """Adds a layer at the end of an object's stack."""
    stack = obj.frisson
    layer = stack.layers.add()
    layer.name = new_name(stack, name or kind)
    layer.kind = kind
    if values:
        fill(getattr(layer, kind), fields.groups()[fields.layers()[kind][0]], values)
    stack.active = len(stack.layers) - 1
    live.forget(obj)
    return layer


class OnMesh:
    @classmethod
    def poll(cls, context):
        obj = results.owner(context)
        if obj is not None and obj.library is not None:
            cls.poll_message_set("It is linked from a library: make an override first")
            return False
        return obj is not None and obj.type == "MESH"


class FRISSON_OT_add(OnMesh, bpy.types.Operator):
    """Add a layer to the active object"""

    bl_idname = "frisson.add"
    bl_label = "Add layer"
    bl_options = {"REGISTER", "UNDO"}

    kind: bpy.props.EnumProperty(name="Kind", items=properties.kind_items)

    def execute(self, context):
        add_layer(results.owner(context), self.kind)
        return {"FINISHED"}


class FRISSON_OT_remove(OnMesh, bpy.types.Operator):
    """Remove the active layer"""

    bl_idname = "frisson.remove"
    bl_label = "Remove layer"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context):
        stack = results.owner(context).frisson
        if not 0 <= stack.active < len(stack.layers):
            return {"CANCELLED"}
        stack.layers.remove(stack.active)
        stack.active = max(0, min(stack.active, len(stack.layers) - 1))
        live.forget(results.owner(context))
        return {"FINISHED"}


class FRISSON_OT_move(OnMesh, bpy.types.Operator):
    """Move the active layer; later layers see what earlier ones made"""

    bl_idname = "frisson.move"
    bl_label = "Move layer"
    bl_options = {"REGISTER", "UNDO"}

    by: bpy.props.IntProperty(default=-1)

    def execute(self, context):
        stack = results.owner(context).frisson
        to = stack.active + self.by
        if not 0 <= to < len(stack.layers):
            return {"CANCELLED"}
        stack.layers.move(stack.active, to)
        stack.active = to
        live.forget(results.owner(context))
        return {"FINISHED"}


class FRISSON_OT_list(OnMesh, bpy.types.Operator):
    """Add or remove an entry"""

    bl_idname = "frisson.list"
    bl_label = "Edit list"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    path: bpy.props.StringProperty()
    index: bpy.props.IntProperty(default=-1)

    def execute(self, context):
        items = results.owner(context).path_resolve(self.path)
        if self.index < 0:
            added = items.add()
            if added.bl_rna.properties.get("p_name"):
                added.p_name = f"{len(items)}"
        else:
            items.remove(self.index)
        live.forget(results.owner(context))
        return {"FINISHED"}


# What can be proposed: the kind of layer, what it is called there, and why one would want it.
PROPOSALS = [
    ("flesh", "Flesh", "Soft parts around the bones that swing"),
    ("hair", "Hair", "Hair where the head's skin is"),
    ("drops", "Sweat", "Drops that bead on the skin and run"),
    ("soft", "Coat", "A soft coat in place of the skin, which presses and fuses"),
]
SWITCHED_ON = {"hair": "hair", "drops": "sweat", "soft": "coat"}


class FRISSON_OT_propose(OnMesh, bpy.types.Operator):
    """Propose layers from the rig, the skin and the motion of the shot"""

    bl_idname = "frisson.propose"
    bl_label = "Propose from rig"
    bl_options = {"REGISTER", "UNDO"}

    kinds: bpy.props.EnumProperty(name="Layers", items=PROPOSALS, options={"ENUM_FLAG"}, default={"flesh"})

    def execute(self, context):
        from .baking import record

        obj = results.owner(context)
        try:
            added = propose(context, obj, record(context, obj)[obj.name], self.kinds)
        except ValueError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, f"Proposed {added} layers" if added else "Nothing in this rig asks for that")
        return {"FINISHED"}


def propose(context, obj, recorded, kinds) -> int:
    """Adds the layers that the engine proposes; how many."""
    import frisson

    fps = context.scene.render.fps / context.scene.render.fps_base
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{scenes.actor_name(obj)}.glb"
        scenes.character(recorded, fps, None).save(path)
        shot = {"clip": "clip", "fps": max(1, round(fps)), "path": Path(folder) / "scene.toml"}
        found = {}
        for kind in kinds:
            wanted = [SWITCHED_ON[kind]] if kind in SWITCHED_ON else []
            try:
                text = frisson.init(path, with_layers=wanted, **shot).text
            except frisson.InputError:
                # Nothing of that kind is proposed for this character: hair on a cat.
                continue
            found[kind] = [layer[kind] for layer in tomllib.loads(text).get("layers", []) if kind in layer]
    for kind, layers in found.items():
        for values in layers:
            # What the text does not say is left unset, so that defaults may improve.
            known = {k: v for k, v in values.items() if k not in ("name", "on", "limit")}
            add_layer(obj, kind, values["name"], known)
    return sum(map(len, found.values()))


# Starting points, by kind: name and what they set.
PRESETS = {
    "flesh": {
        "Belly": {"frequency_hz": 2.5, "damping_ratio": 0.15},
        "Cheek": {"frequency_hz": 6.0, "damping_ratio": 0.3},
        "Firm": {"frequency_hz": 8.0, "damping_ratio": 0.5},
    },
    "cloth": {
        name.capitalize(): {"material": name} for name in ("silk", "cotton", "denim", "wool", "leather", "rubber")
    },
}


def preset_items(self, context):
    obj = results.owner(context) if context else None
    stack = obj.frisson if obj else None
    kind = stack.layers[stack.active].kind if stack and 0 <= stack.active < len(stack.layers) else ""
    presets = PRESETS.get(kind, {}).items()
    items = [(name, name, ", ".join(f"{k} {v}" for k, v in values.items())) for name, values in presets]
    return items or [("NONE", "None", "")]


class FRISSON_OT_preset(OnMesh, bpy.types.Operator):
    """Set the active layer's parameters to a starting point"""

    bl_idname = "frisson.preset"
    bl_label = "Preset"
    bl_options = {"REGISTER", "UNDO"}

    preset: bpy.props.EnumProperty(name="Preset", items=preset_items)

    def execute(self, context):
        stack = results.owner(context).frisson
        if not 0 <= stack.active < len(stack.layers):
            return {"CANCELLED"}
        layer = stack.layers[stack.active]
        values = PRESETS.get(layer.kind, {}).get(self.preset)
        if values is None:
            return {"CANCELLED"}
        fill(getattr(layer, layer.kind), fields.groups()[fields.layers()[layer.kind][0]], values)
        return {"FINISHED"}


CLASSES = (
    FRISSON_OT_add, FRISSON_OT_remove, FRISSON_OT_move, FRISSON_OT_list, FRISSON_OT_propose, FRISSON_OT_preset,
)


register, unregister = bpy.utils.register_classes_factory(CLASSES)
