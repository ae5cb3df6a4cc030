"""Characters."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _native

if TYPE_CHECKING:
    from numpy import float32, uint32
    from numpy.typing import ArrayLike, NDArray


class Character:
    """A skeleton with meshes and clips: made of arrays, or read with `Character.load`.

    Matrices are as numpy has them: `m[:3, 3]` is the translation, points are columns, all in the character's own
    space (not relative to the parent).
    """

    def __init__(
        self,
        meshes: Mapping[str, Mapping[str, Any]],
        joints: Iterable[tuple[str, int | None]] = (("root", None),),
        rest: ArrayLike | None = None,
        clip: tuple[Sequence[float], ArrayLike] | None = None,
        name: str = "character",
    ):
        """`meshes` by name: `positions` (n, 3) in the rest pose, `triangles` (m, 3), and perhaps `weights`
        (n, joints), `uvs` (n, 2), `colors` (n, 4), `regions` {name: vertices}. `joints`: name and index of the
        parent. `rest`: their matrices (joints, 4, 4). `clip`: times [s] and matrices (times, joints, 4, 4)."""
        import numpy as np

        def floats(array, *shape):
            return None if array is None else np.ascontiguousarray(array, dtype=np.float32).reshape(*shape)

        joints = [(str(n), None if p is None else int(p)) for n, p in joints]
        rest = np.broadcast_to(np.eye(4, dtype=np.float32), (len(joints), 4, 4)) if rest is None else rest
        made = [
            {
                "name": mesh_name,
                "positions": floats(mesh["positions"], -1, 3),
                "triangles": np.ascontiguousarray(mesh["triangles"], dtype=np.uint32).reshape(-1, 3),
                "weights": floats(mesh.get("weights"), -1, len(joints)),
                "uvs": floats(mesh.get("uvs"), -1, 2),
                "colors": floats(mesh.get("colors"), -1, 4),
                "regions": {n: [int(v) for v in vs] for n, vs in mesh.get("regions", {}).items()},
            }
            for mesh_name, mesh in meshes.items()
        ]
        times, matrices = clip if clip is not None else ((), ())
        play = ("clip", [float(t) for t in times], floats(matrices, -1, 4, 4)) if clip is not None else None
        self._native = _native.Character(name, joints, floats(rest, -1, 4, 4), made, play)

    @classmethod
    def load(cls, source: str | os.PathLike[str]) -> Character:
        """Reads a .glb, .gltf, .vrm, .fbx or .usd file, or one of the cast (`builtin:NAME`)."""
        self = cls.__new__(cls)
        self._native = _native.Character.load(os.fspath(source))
        return self

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Writes a GLB."""
        self._native.save(Path(path), force)
        return Path(path)

    @property
    def name(self) -> str:
        """Its name."""
        return self._native.name

    @property
    def joints(self) -> list[tuple[str, int | None]]:
        """Name of every joint, and index of its parent."""
        return self._native.joints()

    @property
    def clips(self) -> dict[str, float]:
        """Clips and their lengths [s]."""
        return dict(self._native.clips())

    @property
    def meshes(self) -> dict[str, tuple[NDArray[float32], NDArray[uint32]]]:
        """Positions in the bind pose and triangles of every mesh."""
        return {name: (positions, triangles) for name, positions, triangles in self._native.meshes()}

    def pose(self, clip: str | None = None, time: float = 0.0) -> NDArray[float32]:
        """Matrices of all joints at a time of a clip [s], (joints, 4, 4); without a clip, the rest pose."""
        return self._native.pose(clip, time)

    def __repr__(self) -> str:
        return f"<frisson.Character {self.name!r}: {len(self.joints)} joints, clips {', '.join(self.clips) or 'none'}>"
