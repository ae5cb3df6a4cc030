#!/usr/bin/env python3
"""Writes `src/frisson/params.py` from the schema; `--check` only compares.

  python tools/params.py                                                       with the wheel installed
  frisson schema > schema.json; python tools/params.py --schema schema.json    without
"""

from __future__ import annotations

import json
import keyword
import sys
import textwrap
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / "src" / "frisson" / "params.py"
WIDTH = 116

HEADER = '''"""A class for every layer and everything else that a scene file has, with all that can be set.

Generated from the schema by `python/tools/params.py`: do not edit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ._params import Params
'''

FOOTER = '''

_KINDS: dict[str, type[Params]] = {{{kinds}}}


def kinds() -> dict[str, type[Params]]:
    """The layers' classes, by the name of their kind in a scene file."""
    return _KINDS


__all__ = [
    "Params",
{names}
    "kinds",
]
'''


def class_name(name: str) -> str:
    """`FleshParams` is `Flesh` in Python."""
    return name.removesuffix("Params")


def is_class(definition: dict) -> bool:
    return definition.get("type") == "object" and "properties" in definition


def joined(parts: list[str]) -> str:
    return " | ".join(dict.fromkeys(parts)) or "Any"


def python_type(node: dict, definitions: dict) -> str:
    """The type hint of a schema node."""
    if "$ref" in node:
        name = node["$ref"].rsplit("/", 1)[1]
        if is_class(definitions[name]):
            return f"{class_name(name)} | Mapping[str, Any]"
        return python_type(definitions[name], definitions)
    if "const" in node:
        return f"Literal[{json.dumps(node['const'])}]"
    if "enum" in node:
        return f"Literal[{', '.join(json.dumps(v) for v in node['enum'])}]"
    for key in ("oneOf", "anyOf"):
        if key in node:
            parts = [python_type(part, definitions) for part in node[key] if part.get("type") != "null"]
            return joined([p for part in parts for p in part.split(" | ")])
    kinds = node.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    names = {"number": "float", "integer": "int", "string": "str", "boolean": "bool", "object": "Mapping[str, Any]"}
    parts = []
    for kind in kinds:
        if kind == "array":
            items = node.get("items")
            parts.append(f"Sequence[{python_type(items, definitions) if isinstance(items, dict) else 'Any'}]")
        elif kind != "null":
            parts.append(names[kind])
    return joined(parts)


def rounded(value):
    """Defaults of 32 bits without the digits they do not have."""
    if isinstance(value, float):
        return float(f"{value:.7g}")
    return [rounded(item) for item in value] if isinstance(value, list) else value


def documentation(node: dict) -> str:
    """Meaning, range, default, what a change does."""
    text = " ".join(node.get("description", "").split())
    more = []
    if "minimum" in node and "maximum" in node:
        more.append(f"From {node['minimum']:g} to {node['maximum']:g}.")
    elif "minimum" in node:
        more.append(f"At least {node['minimum']:g}.")
    if node.get("default") not in (None, [], {}):
        default = json.dumps(rounded(node["default"]))
        more.append(f"Default: {default if len(default) < 60 else 'see the book'}.")
    if "x-change" in node:
        more.append(f"A change while it runs: {node['x-change']}.")
    return " ".join([text, *more]).replace("\\", "\\\\")


def docstring(text: str, indent: str) -> list[str]:
    lines = textwrap.wrap(text, WIDTH - len(indent) - 6) or ["."]
    lines[0] = f'"""{lines[0]}'
    if lines[-1].endswith('"'):
        lines[-1] += " "
    lines[-1] += '"""'
    return [indent + line for line in lines]


def class_text(name: str, definition: dict, kind: str | None, about: str, definitions: dict) -> str:
    required = definition.get("required", [])
    lines = ["", "", "@dataclass(kw_only=True)", f"class {class_name(name)}(Params):"]
    lines += docstring(" ".join((about or definition.get("description", name)).split()), "    ")
    keys = {}
    body = []
    for key, node in definition["properties"].items():
        spelled = f"{key}_" if keyword.iskeyword(key) else key
        if spelled != key:
            keys[spelled] = key
        hint = python_type(node, definitions)
        body.append(f"    {spelled}: {hint}" if key in required else f"    {spelled}: {hint} | None = None")
        body += docstring(documentation(node), "    ")
    lines.append("")
    if kind:
        lines.append(f"    _kind: ClassVar[str | None] = {json.dumps(kind)}")
    if keys:
        lines.append(f"    _keys: ClassVar[dict[str, str]] = {json.dumps(keys)}")
    return "\n".join(lines + body) + "\n"


def generate(schema: dict) -> str:
    definitions = schema["$defs"]
    kinds = {}
    for part in definitions["LayerParams"]["oneOf"]:
        kind, node = next(iter(part["properties"].items()))
        kinds[node["$ref"].rsplit("/", 1)[1]] = (kind, part.get("description", ""))
    text, names = HEADER, []
    for name, definition in definitions.items():
        if not is_class(definition):
            continue
        kind, about = kinds.get(name, (None, ""))
        text += class_text(name, definition, kind, about, definitions)
        names.append(class_name(name))
    listed = ", ".join(f"{json.dumps(kind)}: {class_name(name)}" for name, (kind, _) in kinds.items())
    return text + FOOTER.format(kinds=listed, names="\n".join(f'    "{n}",' for n in sorted(names)))


def main() -> int:
    if "--schema" in sys.argv:
        schema = json.loads(Path(sys.argv[sys.argv.index("--schema") + 1]).read_text())
    else:
        from frisson import _native

        schema = json.loads(_native.schema())
    made = generate(schema)
    if "--check" in sys.argv:
        if TARGET.read_text() != made:
            print(f"{TARGET} is not what the schema says: frisson schema > s.json; {sys.argv[0]} --schema s.json")
            return 1
        return 0
    TARGET.write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
