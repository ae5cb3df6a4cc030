#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the extension: `blender/build.py WHEEL... [-o FOLDER]` writes frisson-VERSION.zip with the wheels inside.

Wheels come from `maturin build --release` in `python/`; for systems other than the builder's own,
`maturin build --release --zig --compatibility manylinux_2_17` gives one that all of Blender's Linux systems take.
"""

from __future__ import annotations

import argparse
import re
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Wheels say where they run in other words than Blender does.
PLATFORMS = {
    "linux_x86_64": "linux-x64",
    "linux_aarch64": "linux-arm64",
    "win_amd64": "windows-x64",
    "win_arm64": "windows-arm64",
    "macosx_x86_64": "macos-x64",
    "macosx_arm64": "macos-arm64",
}


def platform_of(wheel: Path) -> str:
    """Blender's name of a wheel's platform."""
    tag = wheel.stem.rsplit("-", 1)[1].split(".")[0]
    system = re.sub(r"^(many|musl)linux_?\d*_?\d*_", "linux_", re.sub(r"^macosx_\d+_\d+_", "macosx_", tag))
    if system not in PLATFORMS:
        sys.exit(f"{wheel.name}: Blender has no platform for {tag!r}")
    return PLATFORMS[system]


def manifest(wheels: list[Path]) -> str:
    """The manifest with its wheels and platforms."""
    text = (HERE / "frisson" / "blender_manifest.toml").read_text()
    quoted = lambda names: "[" + ", ".join(f'"{n}"' for n in names) + "]"  # noqa: E731
    text = text.replace("platforms = []", f"platforms = {quoted(sorted({platform_of(w) for w in wheels}))}")
    return text.replace("wheels = []", f"wheels = {quoted(f'./wheels/{w.name}' for w in wheels)}")


def version() -> str:
    return re.search(r'^version = "(.+)"', (HERE / "frisson" / "blender_manifest.toml").read_text(), re.M)[1]


def build(wheels: list[Path], folder: Path) -> Path:
    """Writes the zip."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"frisson-{version()}.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("blender_manifest.toml", manifest(wheels))
        for file in sorted((HERE / "frisson").iterdir()):
            if file.suffix == ".py" or file.name == "LICENSE":
                archive.write(file, file.name)
        for wheel in wheels:
            archive.write(wheel, f"wheels/{wheel.name}")
    return target


def main() -> None:
    parser = argparse.ArgumentParser(description="Builds the Blender extension around wheels of frisson.")
    parser.add_argument("wheels", nargs="+", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=HERE / "dist")
    arguments = parser.parse_args()
    print(build(arguments.wheels, arguments.output))


if __name__ == "__main__":
    main()
