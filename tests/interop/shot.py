"""The expected shot, and comparisons that say what differs."""

import json
import pathlib
import sys

import numpy as np

TOLERANCE = 1e-6  # metres: positions are stored, not computed


class Shot:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        data = json.loads((self.folder / "expected.json").read_text())
        self.fps, self.first, self.last = data["fps"], data["first"], data["last"]
        self.frames = {int(k): v for k, v in data["frames"].items()}

    def numbers(self):
        return range(self.first, self.last + 1)

    def points(self, name, frame):
        """Expected positions; none when the shape is absent."""
        shape = self.frames[frame].get(name)
        return np.array(shape["points"] if shape else [], dtype=np.float64).reshape(-1, 3)

    def get(self, name, frame, key, default=()):
        shape = self.frames[frame].get(name)
        return shape[key] if shape else default


checks = 0


def check(condition, *what):
    global checks
    checks += 1
    if not condition:
        print("FAILED:", *what)
        sys.exit(1)


def same(found, expected, what, tolerance=TOLERANCE):
    found, expected = np.asarray(found, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    check(found.shape == expected.shape, what, "shape", found.shape, "not", expected.shape)
    if found.size:
        worst = float(np.abs(found - expected).max())
        check(worst <= tolerance, what, "differs by", worst)


def done(name):
    print(f"{name}: {checks} checks passed")
