"""The `frisson` command: also `python -m frisson`, and `python FOLDER` where FOLDER is this one."""

import sys
from pathlib import Path


def main() -> int:
    """Does what the arguments say."""
    if not __package__:
        # Started by its folder: the package is found beside it, wherever it was unpacked.
        sys.path[0] = str(Path(__file__).resolve().parent.parent)
    from frisson import _native

    return _native.run(["frisson", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
