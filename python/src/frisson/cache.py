"""Baked shots."""

from __future__ import annotations

import base64
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _native
from .scene import Scene, plain
from .shapes import Frame

if TYPE_CHECKING:
    from numpy import float32, uint8
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Finding:
    """Something an animator would complain of."""

    number: int
    measure: str
    shape: str
    body: str | None
    value: float
    limit: float
    unit: str
    frame: int
    frames: int
    element: int | None
    place: tuple[float, float, float] | None
    size: float
    text: str


class Cache:
    """A baked shot: a sequence of frames, by their numbers."""

    def __init__(self, path: str | os.PathLike[str], *, report: dict[str, Any] | None = None):
        self.path = Path(path)
        self.report = report
        """What the bake said about itself (time per layer, speed, memory); None for a cache that was opened."""
        self._native = _native.Cache(self.path)
        self.first, self.last, self.fps = self._native.range()

    def __len__(self) -> int:
        return self.last - self.first + 1

    def __getitem__(self, number: int) -> Frame:
        if not self.first <= number <= self.last:
            raise IndexError(f"frame {number} is not in this shot: it has {self.first} to {self.last}")
        return Frame._of(self._native.frame(number))

    def __iter__(self) -> Iterator[Frame]:
        return (self[number] for number in range(self.first, self.last + 1))

    @property
    def is_finished(self) -> bool:
        """Whether the bake came to its end."""
        return self._native.is_finished()

    @property
    def layers(self) -> list[tuple[str, str]]:
        """Kind and name of the layers, in order."""
        return self._native.layers()

    @property
    def scene(self) -> Scene:
        """The scene it was baked from."""
        return Scene.parse(self._native.scene_text(), self.path.with_suffix(".toml"))

    def positions(self, mesh: str, first: int | None = None, last: int | None = None) -> NDArray[float32]:
        """Positions of a mesh that keeps its vertices, over frames: (frames, vertices, 3) [m]."""
        first, last = self.first if first is None else first, self.last if last is None else last
        return self._native.positions(mesh, first, last)

    def measures(self) -> dict[str, NDArray[float32]]:
        """What the layers measured, by `layer/measure`, one value a frame (NaN where there is none)."""
        import numpy as np

        series = json.loads(self._native.measures())
        return {
            f"{s['layer']}/{s['name']}": np.array([np.nan if v is None else v for v in s["values"]], dtype="float32")
            for s in series
        }

    def judge(
        self, limits: Mapping[str, float] | None = None, frames: tuple[int, int] | None = None
    ) -> list[Finding]:
        """What an animator would complain of, worst first: pops, shivers, stretch, penetration. `limits` replaces
        limits by measure, in its unit: `{"inside": 0.5}`."""
        judged = json.loads(self._native.judge(list((limits or {}).items()), frames))
        return [Finding(**finding) for finding in judged["findings"]]

    def render(
        self,
        frame: int | Iterable[int] | None = None,
        size: tuple[int, int] = (640, 360),
        **look: Any,
    ) -> NDArray[uint8]:
        """Draws a frame (default: the one in the middle) as an array of shape (height, width, 4), RGBA; several
        frames as (frames, height, width, 4).

        `samples` per pixel, `compare=True` (beside the motion without layers), `overlays=["wireframe", …]`; all
        else is taken for the camera: `yaw_deg=40, eye=(0, 1, 3), target=(0, 1, 0)`.
        """
        single = frame is None or isinstance(frame, int)
        frames = [(self.first + self.last) // 2 if frame is None else frame] if single else list(frame)
        width, height, numbers = self._native.render(frames, _look(size, look))
        pictures = numbers.reshape(len(frames), height, width, 4)
        return pictures[0] if single else pictures

    def sheet(self, count: int = 6, size: tuple[int, int] = (320, 180), **look: Any) -> Picture:
        """The frames where the layers show most, on one sheet; see `render` for the rest."""
        width, height, numbers = self._native.sheet(count, _look(size, look))
        return Picture(numbers.reshape(height, width, 4))

    def animation(
        self, path: str | os.PathLike[str], size: tuple[int, int] = (480, 270), every: int = 1, **look: Any
    ) -> Path:
        """Writes an animation (.png, .gif or .webp) and answers its path; see `render` for the rest."""
        self._native.animate(Path(path), every, _look(size, look))
        return Path(path)

    def movie(self, size: tuple[int, int] = (320, 180), every: int = 1, **look: Any) -> Movie:
        """A small animation that a notebook plays; see `render` for the rest."""
        with tempfile.TemporaryDirectory() as folder:
            return Movie(self.animation(Path(folder) / "movie.webp", size, every, **look).read_bytes())

    def export(self, folder: str | os.PathLike[str] | None = None, *, force: bool = False, **params: Any) -> list[Path]:
        """Writes files for other programs: `cache.export(alembic="cat.abc")`; keys as in `[[exports]]`."""
        target = Path(folder) if folder is not None else self.path.parent
        return [Path(p) for p in self._native.export(json.dumps(plain(params)), target, force)]

    def __repr__(self) -> str:
        state = "" if self.is_finished else ", unfinished"
        return f"<frisson.Cache {str(self.path)!r}: frames {self.first} to {self.last} at {self.fps:g} frames/s{state}>"

    def _repr_png_(self) -> bytes:
        return self.sheet()._repr_png_()


def _look(size: tuple[int, int], look: dict[str, Any]) -> dict[str, Any]:
    width, height = size
    return {
        "width": width,
        "height": height,
        "samples": look.pop("samples", None),
        "compare": look.pop("compare", False),
        "overlays": list(look.pop("overlays", [])),
        "camera": json.dumps(plain(look)),
    }


class Picture:
    """A picture: an array that a notebook shows. `numpy.asarray(picture)` is the array itself."""

    def __init__(self, pixels: NDArray[uint8]):
        self.pixels = pixels

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[uint8]:
        return self.pixels if dtype is None else self.pixels.astype(dtype)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes a PNG."""
        Path(path).write_bytes(self._repr_png_())
        return Path(path)

    def _repr_png_(self) -> bytes:
        return _native.encode_png(self.pixels)


class Movie:
    """A small animation (WebP), which a notebook plays."""

    def __init__(self, data: bytes):
        self.data = data

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes it (.webp)."""
        Path(path).write_bytes(self.data)
        return Path(path)

    def _repr_html_(self) -> str:
        return f'<img alt="the shot" src="data:image/webp;base64,{base64.b64encode(self.data).decode()}">'
