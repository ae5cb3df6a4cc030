#!/usr/bin/env python3
"""What cargo-binstall would ask for and unpack, held against an archive: `binstall.py TARGET ARCHIVE`.

Follows its documented rules: a target's overrides replace the common keys, `{ name }` in them is filled in.
"""

import pathlib
import re
import sys
import tarfile
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUFFIX = {"tgz": ".tar.gz", "zip": ".zip"}


def wanted(target: str) -> dict[str, str]:
    """The filled-in keys for a target."""
    package = tomllib.loads((ROOT / "crates/frisson-cli/Cargo.toml").read_text())["package"]
    keys = dict(package["metadata"]["binstall"])
    keys.update(keys.pop("overrides", {}).get(target, {}))
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    exe = ".exe" if "windows" in target else ""
    words = {"repo": "https://example.org/frisson", "version": version, "target": target, "bin": "frisson",
             "binary-ext": exe, "archive-suffix": SUFFIX[keys["pkg-fmt"]]}  # fmt: skip
    fill = lambda text: re.sub(r"\{ ([\w-]+) \}", lambda m: words[m[1]], text)  # noqa: E731
    return {key: fill(value) for key, value in keys.items()}


def main() -> int:
    target, archive = sys.argv[1], pathlib.Path(sys.argv[2])
    keys = wanted(target)
    name = keys["pkg-url"].rsplit("/", 1)[1]
    if name != archive.name:
        print(f"binstall asks for {name}, the archive is {archive.name}")
        return 1
    inside = zipfile.ZipFile(archive).namelist() if name.endswith(".zip") else tarfile.open(archive).getnames()
    if keys["bin-dir"] not in inside:
        print(f"binstall looks for {keys['bin-dir']}, which is not in {name}")
        return 1
    # Every target of the release workflow has a name that its archive will have.
    workflow = (ROOT / ".github/workflows/release.yml").read_text()
    for other in sorted(set(re.findall(r"target: ([\w-]+) }", workflow))):
        suffix = ".zip" if "windows" in other else ".tar.gz"
        if not wanted(other)["pkg-url"].endswith(f"-{other}{suffix}"):
            print(f"binstall asks for {wanted(other)['pkg-url']}, the archive of {other} ends in {suffix}")
            return 1
    print(f"binstall: {name} holds {keys['bin-dir']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
