"""Scene files."""

from __future__ import annotations

import base64
import html
import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _native
from .errors import FrissonError
from .params import Params

if TYPE_CHECKING:
    from .character import Character


def plain(value: Any) -> Any:
    """Parameter objects as the dictionaries that a scene file has; what is None is left out."""
    if isinstance(value, Params):
        return value.to_entry()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, str | bytes | bool | int | float) or value is None:
        return value
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Iterable):
        return [plain(item) for item in value]
    return value


class Scene:
    """A scene that says only what it may: actors whose motion is given, and the layers that follow."""

    def __init__(self, native: _native.Scene):
        self._native = native

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Scene:
        """Reads and validates a scene file. Raises `SceneError` with line, column and what to do."""
        return cls(_native.Scene.load(Path(path)))

    @classmethod
    def parse(cls, text: str, path: str | os.PathLike[str] = "scene.toml") -> Scene:
        """Validates a scene's text. `path` is for messages and for finding files beside it."""
        return cls(_native.Scene.parse(text, Path(path)))

    @classmethod
    def of(
        cls,
        *,
        actors: Mapping[str, Any] | None = None,
        layers: Iterable[Any] = (),
        path: str | os.PathLike[str] = "scene.toml",
        **rest: Any,
    ) -> Scene:
        """Makes a scene of objects and dictionaries.

        `actors` are `frisson.params.Actor`, a source by itself (`"builtin:cat"`), or a `Character` (which is then
        given to `bake` or `Simulator` under the same name); `layers` are objects of `frisson.params`. All other
        keys of a scene file are taken as they are: `fps=24, frames=(0, 60), gravity=(0, -9.81, 0)`.
        """
        from .character import Character

        def actor(name: str, given: Any) -> Any:
            if isinstance(given, Character):
                return {"source": f"given:{name}"}
            return {"source": str(given)} if isinstance(given, str | os.PathLike) else plain(given)

        document = {"frisson": 2, **plain(rest)}
        document["actors"] = {name: actor(name, given) for name, given in (actors or {}).items()}
        document["layers"] = [plain(layer) for layer in layers]
        return cls.parse(_native.toml_of(json.dumps(document)), path)

    def check(self, actors: Mapping[str, Character] | None = None) -> Scene:
        """Reads the actors and builds every layer, without simulating; answers the scene itself."""
        self._native.check(given(actors))
        return self

    @property
    def text(self) -> str:
        """The text, as it was read or made."""
        return self._native.text

    @property
    def path(self) -> Path:
        """Where it was read, or would have been."""
        return self._native.path

    def to_dict(self) -> dict[str, Any]:
        """What it says, with all defaults filled in."""
        return json.loads(self._native.to_json())

    def replaced(self, **changes: Any) -> Scene:
        """The same scene with top-level keys replaced: `scene.replaced(fps=60, frames=(0, 20))`."""
        import tomllib

        document = tomllib.loads(self.text)
        document.update(plain(changes))
        return Scene.parse(_native.toml_of(json.dumps(document)), self.path)

    def with_layer(self, name: str, **changes: Any) -> Scene:
        """The same scene with parameters of one layer changed: `scene.with_layer("belly", frequency_hz=3)`."""
        import tomllib

        document = tomllib.loads(self.text)
        names = []
        for entry in document.get("layers", []):
            for parameters in entry.values():
                names.append(parameters.get("name"))
                if parameters.get("name") == name:
                    parameters.update(plain(changes))
                    return Scene.parse(_native.toml_of(json.dumps(document)), self.path)
        raise KeyError(f"there is no layer named {name!r}; layers: {', '.join(map(str, names))}")

    def __repr__(self) -> str:
        said = self.to_dict()
        layers = [f"{kind} {p['name']!r}" for layer in said.get("layers", []) for kind, p in layer.items()]
        return f"<frisson.Scene {str(self.path)!r}: {', '.join(said['actors']) or 'no actor'}; {', '.join(layers)}>"

    def _repr_html_(self) -> str:
        said = self.to_dict()
        rows = [("actor", name, actor["source"]) for name, actor in said["actors"].items()]
        rows += [
            (kind, p["name"], ", ".join(f"{k} = {v}" for k, v in p.items() if isinstance(v, int | float | str))[:160])
            for layer in said.get("layers", [])
            for kind, p in layer.items()
        ]
        cells = "".join(
            "<tr>" + "".join(f"<td style='text-align:left'>{html.escape(str(c))}</td>" for c in row) + "</tr>"
            for row in rows
        )
        title = html.escape(f"{self.path} at {said['fps']} frames/s")
        return (
            f"<b>{title}</b><br>{self._picture()}<table>{cells}</table>"
            f"<details><summary>text</summary><pre>{html.escape(self.text)}</pre></details>"
        )

    def _picture(self) -> str:
        """Its actors at the first frame, as a picture of a page; nothing where they cannot be read."""
        import tomllib

        from .baking import bake

        document = tomllib.loads(self.text)
        first = self.to_dict().get("frames")
        # What stands there before any layer acts: a moment's work.
        bare = {key: document[key] for key in ("frisson", "fps", "actors", "camera") if key in document}
        bare["frames"] = [first[0], first[0]] if first else [0, 0]
        try:
            with tempfile.TemporaryDirectory() as folder:
                scene = Scene.parse(_native.toml_of(json.dumps(bare)), self.path)
                data = bake(scene, Path(folder) / "first.frisson").sheet(1, samples=2)._repr_png_()
        except (FrissonError, OSError):
            return ""
        return f'<img alt="its actors" src="data:image/png;base64,{base64.b64encode(data).decode()}">'


def given(actors: Mapping[str, Character] | None) -> dict[str, _native.Character]:
    """Characters as the module takes them."""
    return {name: character._native for name, character in (actors or {}).items()}


def demo(name: str = "cat") -> Scene:
    """A scene that needs no file."""
    for known, _, text in _native.demos():
        if known == name:
            return Scene.parse(text, f"{name}.toml")
    raise KeyError(f"there is no demo {name!r}; there are {', '.join(demos())}")


def demos() -> dict[str, str]:
    """Scenes that need no file, and what is to be seen."""
    return {name: about for name, about, _ in _native.demos()}


def cast() -> dict[str, tuple[str, list[str]]]:
    """The built-in cast: `builtin:NAME`, what it is, its clips."""
    return {name: (about, clips) for name, about, clips in _native.cast()}


def init(
    character: str | os.PathLike[str],
    clip: str | None = None,
    fps: int = 30,
    path: str | os.PathLike[str] = "scene.toml",
    with_layers: Iterable[str] = (),
) -> Scene:
    """A first scene for a character (a .glb, .gltf, .vrm, .fbx or .usd file, or `builtin:NAME`): proposes flesh, wrinkles
    and cloth from its rig and clip. `with_layers` are proposals that would only be comments in it: `"hair"`, `"sweat"`,
    `"coat"`, a garment's name, or `"all"`. `path` is where the scene will be kept; nothing is written."""
    text, _ = _native.propose(os.fspath(character), clip, fps, Path(path), list(with_layers))
    return Scene.parse(text, path)


def schema() -> dict[str, Any]:
    """The JSON schema of scene files, with what the controls of a program need."""
    return json.loads(_native.schema())


def explain(name: str) -> list[dict[str, Any]]:
    """Everything of a scene file with that name: meaning, form, default, unit, what a change does."""
    return json.loads(_native.explain(name))
