"""Frisson: secondary animation for animated characters.

You animate the character; Frisson adds what follows by itself: flesh, wrinkles, cloth, folds, hair, drops and soft
bodies.

>>> import frisson
>>> cache = frisson.bake(frisson.demo("cat"), "cat.frisson")
>>> cache.positions("cat").shape
(100, 5480, 3)

- `Scene` is a scene file: `Scene.load`, `Scene.parse`, `Scene.of`; `scene.check()` finds mistakes without simulating.
- `bake` simulates a scene into a `Cache`: meshes, curves, points and attributes as numpy arrays, pictures, a judge.
- `Simulator` steps a scene by hand, with actors that your arrays move.
- `Character` is a skeleton with meshes, made of arrays or read from a file.
- `frisson.params` has a class for every layer, with everything that can be set.

Units are metres, seconds and kilograms; right-handed, Y up.
"""

import sys as _sys
from pathlib import Path as _Path

from . import _native, errors, params
from ._native import __version__
from .baking import bake
from .cache import Cache, Finding, Movie, Picture
from .character import Character
from .errors import FrissonError, InputError, Problem, SceneError, SimulationError, Stopped
from .scene import Scene, cast, demo, demos, explain, init, schema
from .shapes import Curves, Frame, Mesh, Points
from .simulator import Layer, Simulator

# Draco blocks are unpacked by a process of their own: what is wrong in one ends that process only.
if _sys.executable:
    _native.set_draco_helper(_Path(_sys.executable), [str(_Path(__file__).parent), "unpack-draco"])

__all__ = [
    "Cache", "Character", "Curves", "Finding", "Frame", "FrissonError", "InputError", "Layer", "Mesh", "Movie", "Picture", "Points",
    "Problem", "Scene", "SceneError", "SimulationError", "Simulator", "Stopped", "__version__", "bake", "cast", "demo",
    "demos", "errors", "explain", "init", "params", "schema",
]  # fmt: skip
