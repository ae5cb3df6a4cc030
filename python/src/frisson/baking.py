"""Baking a scene into a cache."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from . import _native
from .cache import Cache
from .scene import Scene, given

if TYPE_CHECKING:
    from .character import Character


def bake(
    scene: Scene | str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    progress: Callable[[int, int], object] | None = None,
    resume: bool = False,
    force: bool = False,
    actors: Mapping[str, Character] | None = None,
) -> Cache:
    """Simulates a scene into a cache, and opens it.

    `scene` is a `Scene` or the path of a scene file. `output` is the cache to write (default: the scene's name with
    `.frisson`, beside it). `progress(done, total)` is called at every frame and stops the bake by answering False
    (`Stopped`). Ctrl-C stops it with a `KeyboardInterrupt`. Either way, finished frames are kept, and `resume=True`
    goes on and ends with the same bytes. An existing cache is refused unless `force`, or `resume`. Characters made
    of arrays are given by name in `actors`, for sources spelled `given:NAME`.
    """
    if not isinstance(scene, Scene):
        scene = Scene.load(scene)
    output = Path(output) if output is not None else scene.path.with_suffix(".frisson")
    how = "resume" if resume else "replace" if force else "refuse"
    report = _native.bake(scene._native, output, how, progress, given(actors))
    return Cache(output, report=json.loads(report))
