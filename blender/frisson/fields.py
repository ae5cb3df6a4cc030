# SPDX-License-Identifier: GPL-3.0-or-later
"""From the schema of the engine's parameters to what Blender can store and show.

Every parameter becomes a `Field`: how it is stored (`kind`), and how a value of Blender becomes one of a scene file.
Nothing about any layer is written down here: a new parameter of the engine appears in the panel by itself.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import lru_cache

# What the add-on itself decides: the layer's name and the object it is on.
OWN = {"name", "on"}
# Three numbers that are a direction or a place: Blender's axes are turned.
TURNED = {"axis", "at", "center", "direction", "from", "point", "pseudo_gravity", "to", "translate", "velocity"}


@dataclass
class Field:
    """One parameter."""

    key: str
    kind: str
    about: str = ""
    required: bool = False
    default: object = None
    least: float | None = None
    most: float | None = None
    slider: tuple[float, float] | None = None
    heading: str = ""
    size: int = 0
    choices: list[tuple[str, str]] = field(default_factory=list)
    group: str = ""
    animated: bool = False

    @property
    def label(self) -> str:
        unit = re.search(r"\[([^\],\s]{1,8})\]", self.about)
        word = re.sub(r"_(hz|deg)$", "", self.key).replace("_", " ").capitalize()
        return f"{word} [{unit[1]}]" if unit and unit[1] != "-" and self.kind in ("float", "int", "vector") else word

    @property
    def attribute(self) -> str:
        # Blender's own names, and Python's.
        return f"p_{self.key}"


@dataclass
class Group:
    """Parameters that belong together; with `variants`, exactly one of them is chosen."""

    name: str
    about: str
    fields: list[Field]
    variants: list[Field] = field(default_factory=list)


@lru_cache
def schema() -> dict:
    from frisson import schema as read

    return read()


def _definition(reference: str) -> tuple[str, dict]:
    name = reference.rsplit("/", 1)[1]
    return name, schema()["$defs"][name]


def _bare(node: dict) -> tuple[str, dict]:
    """A node without references and without null; the name of the definition, if it had one."""
    name = ""
    while True:
        parts = [p for p in node.get("anyOf", []) if p.get("type") != "null"]
        if "$ref" in node:
            name, target = _definition(node["$ref"])
            node = {**target, **{k: v for k, v in node.items() if k != "$ref"}}
        elif len(parts) == 1:
            node = {**parts[0], **{k: v for k, v in node.items() if k != "anyOf"}}
        else:
            return name, node


def _tagged(node: dict) -> bool:
    parts = node.get("oneOf", [])
    return bool(parts) and all(p.get("type") == "object" and len(p.get("properties", {})) == 1 for p in parts)


def _kinds(node: dict) -> set[str]:
    kinds = node.get("type", [])
    return {kinds} - {"null"} if isinstance(kinds, str) else set(kinds) - {"null"}


def make_field(key: str, node: dict, required: bool) -> Field:
    """The field of a parameter."""
    name, bare = _bare(node)
    made = Field(
        key=key,
        kind="json",
        about=" ".join((node.get("description") or bare.get("description") or "").split()),
        required=required,
        default=bare.get("default"),
        least=bare.get("minimum"),
        most=bare.get("maximum"),
        slider=tuple(bare["x-slider"]) if "x-slider" in bare else None,
        heading=bare.get("x-group", ""),
        animated=bool(bare.get("x-animated")),
    )
    kinds = _kinds(bare)
    if name == "Selection":
        made.kind = "selection"
    elif name == "Anchor":
        made.kind = "anchor"
    elif bare.get("oneOf") and all("const" in p for p in bare["oneOf"]):
        made.kind = "enum"
        made.choices = [(p["const"], p.get("description", "")) for p in bare["oneOf"]]
    elif "enum" in bare:
        made.kind, made.choices = "enum", [(v, "") for v in bare["enum"] if v is not None]
    elif _tagged(bare) or (kinds == {"object"} and bare.get("properties")):
        made.kind, made.group = "group", name or f"{key.capitalize()}Of"
        _ensure_group(made.group, bare)
    elif "number" in kinds:
        made.kind = "float"
    elif kinds == {"integer"}:
        made.kind = "int"
    elif kinds == {"boolean"}:
        made.kind = "bool"
    elif kinds == {"string"}:
        made.kind = "string"
    elif kinds == {"array"}:
        _make_array(made, bare)
    return made


def _make_array(made: Field, bare: dict) -> None:
    item_name, item = _bare(bare.get("items") or {})
    sizes = bare.get("minItems"), bare.get("maxItems")
    if item_name == "Anchor" or _is_point(item):
        made.kind = "line"
    elif _kinds(item) == {"array"} and _is_point(_bare(item.get("items") or {})[1]):
        made.kind = "lines"
    elif _kinds(item) & {"number", "integer"} and sizes[0] == sizes[1] and sizes[0] in (2, 3, 4):
        made.kind, made.size = "vector", sizes[0]
    elif _kinds(item) == {"string"} or any(_kinds(p) == {"string"} for p in item.get("anyOf", [])):
        made.kind = "names"
    elif _tagged(item) or (_kinds(item) == {"object"} and item.get("properties")):
        made.kind, made.group = "list", item_name or f"{made.key.capitalize()}Of"
        _ensure_group(made.group, item)


def _is_point(node: dict) -> bool:
    numbers = _kinds(node.get("items") or {}) == {"number"}
    return _kinds(node) == {"array"} and numbers and node.get("minItems") == node.get("maxItems") == 3


@lru_cache
def groups() -> dict[str, Group | None]:
    """Groups met so far, by name, each after those it is made of."""
    return {}


def _ensure_group(name: str, node: dict) -> None:
    if name not in groups():
        # Its place is taken while its parts are made, so that no group is entered twice.
        groups()[name] = None
        _add_group(name, node)


def _add_group(name: str, node: dict) -> None:
    about = " ".join((node.get("description") or "").split())
    if _tagged(node):
        variants = []
        for part in node["oneOf"]:
            key, inner = next(iter(part["properties"].items()))
            variant = make_field(key, inner, True)
            variant.about = part.get("description", variant.about)
            variants.append(variant)
        made = Group(name, about, [], variants)
    else:
        required = node.get("required", [])
        made = Group(name, about, [make_field(k, n, k in required) for k, n in node["properties"].items()])
    # Those it is made of were added meanwhile: it comes after them.
    groups().pop(name, None)
    groups()[name] = made


@lru_cache
def layers() -> dict[str, tuple[str, str]]:
    """Kinds of layers: name of their group, what they are."""
    found = {}
    for part in schema()["$defs"]["LayerParams"]["oneOf"]:
        kind, node = next(iter(part["properties"].items()))
        name, bare = _bare(node)
        _add_group(name, bare)
        found[kind] = (name, part.get("description", ""))
    return found


def written(text: str) -> object:
    """A value typed as text: JSON, or a plain word."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
