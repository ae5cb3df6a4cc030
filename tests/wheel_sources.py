#!/usr/bin/env python3
"""What can be told of the Python package and the Blender extension without building anything."""

import ast
import pathlib
import re
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main() -> int:
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    manifest = tomllib.loads((ROOT / "blender/frisson/blender_manifest.toml").read_text())
    problems = []
    if manifest["version"] != version:
        problems.append(f"the extension has version {manifest['version']}, the workspace {version}")
    sources = [*ROOT.glob("python/**/*.py"), *ROOT.glob("blender/**/*.py"), *ROOT.glob("python/**/*.pyi")]
    for path in sources:
        text = path.read_text()
        try:
            ast.parse(text)
        except SyntaxError as error:
            problems.append(f"{path}:{error.lineno}: {error.msg}")
        if "blender" in path.relative_to(ROOT).parts and "SPDX-License-Identifier: GPL-3.0-or-later" not in text:
            problems.append(f"{path} does not say its licence")
    # The stubs name what the module has.
    stub = (ROOT / "python/src/frisson/_native.pyi").read_text()
    module = (ROOT / "crates/frisson-py/src/lib.rs").read_text()
    for name in re.findall(r"wrap_pyfunction!\((?:\w+::)?(\w+),", module):
        if f"def {name}(" not in stub:
            problems.append(f"_native.pyi does not name {name}")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
