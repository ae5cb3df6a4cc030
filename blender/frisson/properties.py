# SPDX-License-Identifier: GPL-3.0-or-later
"""What is stored in the .blend: a stack of layers on every object, with properties generated from the schema."""

from __future__ import annotations

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from . import fields

# What may be edited on a character of a library; groups themselves may not be marked so (see overrides.py).
OVER = {"override": {"LIBRARY_OVERRIDABLE"}}
OVER_LIST = {"override": {"LIBRARY_OVERRIDABLE", "USE_INSERTION"}}
FAR = 3.0e38
LARGE = 2**31 - 1


def touched(self, context):
    """A parameter changed: whoever shows it live looks again."""
    from . import live

    live.forget(self.id_data)


class FRISSON_PG_selection(bpy.types.PropertyGroup):
    """Vertices, with weights."""

    vertex_group: StringProperty(name="Vertex group", description="Its weights say how much", update=touched, **OVER)
    attribute: StringProperty(
        name="Attribute", description="Colour or number on points whose value (red of a colour) says how much",
        update=touched, **OVER,
    )
    invert: BoolProperty(name="All but these", update=touched, **OVER)


def _property(entry: fields.Field, classes: dict[str, type]):
    """The property that stores a field."""
    common = {"name": entry.label, "description": entry.about or entry.label, **OVER}
    default = entry.default
    if entry.kind == "float":
        low, high = entry.least if entry.least is not None else -FAR, entry.most if entry.most is not None else FAR
        soft = entry.slider or (low, high)
        start = default if isinstance(default, int | float) else _start(entry, soft)
        return FloatProperty(
            **common, default=start, min=max(low, -FAR), max=min(high, FAR), soft_min=soft[0], soft_max=soft[1],
            precision=4, step=1, update=touched,
        )
    if entry.kind == "int":
        low = int(max(entry.least if entry.least is not None else -LARGE, -LARGE))
        high = int(min(entry.most if entry.most is not None else LARGE, LARGE))
        start = default if isinstance(default, int) else max(low, min(1, high))
        return IntProperty(**common, default=max(low, min(start, high)), min=low, max=high, update=touched)
    if entry.kind == "bool":
        return BoolProperty(**common, default=bool(default), update=touched)
    if entry.kind == "enum":
        items = [(v, v.replace("_", " ").capitalize(), about) for v, about in entry.choices]
        start = default if any(default == v for v, _ in entry.choices) else items[0][0]
        return EnumProperty(**common, items=items, default=start, update=touched)
    if entry.kind == "vector":
        start = default if isinstance(default, list) and len(default) == entry.size else [0.0] * entry.size
        return FloatVectorProperty(**common, size=entry.size, default=start, precision=4, update=touched)
    if entry.kind == "selection":
        return PointerProperty(type=FRISSON_PG_selection, name=common["name"], description=common["description"])
    if entry.kind in ("anchor", "line", "lines"):
        return PointerProperty(type=bpy.types.Object, update=touched, **common)
    if entry.kind == "group":
        return PointerProperty(type=classes[entry.group], name=common["name"], description=common["description"])
    if entry.kind == "list":
        return CollectionProperty(type=classes[entry.group], **{**common, **OVER_LIST})
    return StringProperty(**common, default=default if isinstance(default, str) else "", update=touched)


def _start(entry: fields.Field, soft: tuple[float, float]) -> float:
    """Where a number without a default begins: in the middle of its useful range."""
    low, high = soft
    if entry.slider:
        return (low * high) ** 0.5 if low > 0 else 0.5 * (low + high)
    return max(low, min(1.0, high)) if low > -FAR else 0.0


def _class_of(group: fields.Group, classes: dict[str, type]) -> type:
    """A property group for a group of parameters."""
    notes = {}
    if group.variants:
        items = [(v.key, v.label, v.about) for v in group.variants]
        notes["variant"] = EnumProperty(name="Kind", items=items, update=touched, **OVER)
    for entry in [*group.fields, *group.variants]:
        notes[entry.attribute] = _property(entry, classes)
    return type(f"FRISSON_PG_{group.name}", (bpy.types.PropertyGroup,), {"__annotations__": notes})


def kind_items(self, context):
    return KIND_ITEMS


KIND_ITEMS: list[tuple[str, str, str]] = []
CLASSES: list[type] = []


def make_classes() -> list[type]:
    """All property groups, those that others are made of first."""
    made: dict[str, type] = {}
    kinds = fields.layers()
    for name, group in fields.groups().items():
        if group is not None:
            made[name] = _class_of(group, made)
    KIND_ITEMS[:] = [(kind, kind.capitalize(), about) for kind, (_, about) in kinds.items()]
    layer_notes = {
        "kind": EnumProperty(name="Kind", items=KIND_ITEMS, **OVER),
        "enabled": BoolProperty(name="Enabled", default=True, update=touched, **OVER),
        **{kind: PointerProperty(type=made[group]) for kind, (group, _) in kinds.items()},
    }
    layer = type("FRISSON_PG_layer", (bpy.types.PropertyGroup,), {"__annotations__": layer_notes})
    stack = type("FRISSON_PG_object", (bpy.types.PropertyGroup,), {"__annotations__": {
        "layers": CollectionProperty(type=layer, **OVER_LIST),
        "active": IntProperty(name="Active layer", default=0, **OVER),
        "takes_part": BoolProperty(
            name="Takes part", default=False, **OVER,
            description="Other objects' layers see this one: bodies under cloth, garments, what drops fall on",
        ),
        "preroll": FloatProperty(
            name="Pre-roll", default=0.0, min=0.0, max=600.0, unit="TIME_ABSOLUTE", **OVER,
            description="Time simulated before the first frame, so that hair and cloth have settled [s]",
        ),
        "rounds": IntProperty(
            name="Loop rounds", default=0, min=0, max=50, **OVER,
            description="For a motion that repeats (its last frame is followed by its first): times it is played before "
            "the shot, so that the layers close, too. 0: no loop",
        ),
        "live": BoolProperty(
            name="Live", default=False, update=_live_changed, **OVER,
            description="Simulate while scrubbing: for flesh, wrinkles and folds",
        ),
        "folder": StringProperty(
            name="Folder", default="//frisson", subtype="DIR_PATH", description="Where recordings and caches are kept",
            **OVER,
        ),
        # As it was called in the files of its last bake, and where they are: it may have another name by now.
        "actor": StringProperty(name="Actor", options={"HIDDEN"}, **OVER),
        "place": StringProperty(name="Place", options={"HIDDEN"}, **OVER),
        "status": StringProperty(name="Status", options={"SKIP_SAVE"}, **OVER),
        "progress": FloatProperty(name="Progress", default=-1.0, options={"SKIP_SAVE"}, **OVER),
    }})
    return [FRISSON_PG_selection, *made.values(), layer, stack]


def _live_changed(self, context):
    from . import live

    live.switched(self.id_data, context)


def register():
    if not CLASSES:
        CLASSES.extend(make_classes())
    for made in CLASSES:
        bpy.utils.register_class(made)
    bpy.types.Object.frisson = PointerProperty(type=CLASSES[-1], name="Frisson")


def unregister():
    del bpy.types.Object.frisson
    for made in reversed(CLASSES):
        bpy.utils.unregister_class(made)
    CLASSES.clear()
