"""What a frame is made of, as numpy arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy import float32, uint32, uint64
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """A mesh at one instant."""

    name: str
    positions: NDArray[float32]
    """World positions [m], (vertices, 3)."""
    triangles: NDArray[uint32]
    """Corners, counter-clockwise from outside, (triangles, 3); one array for all frames that share it."""
    uvs: NDArray[float32] | None = None
    """Texture coordinates, v down, (vertices, 2)."""
    normals: NDArray[float32] | None = None
    """Shading normals, (vertices, 3); a running simulator has none."""
    velocities: NDArray[float32] | None = None
    """Velocities [m/s], where the layer knows them."""
    attributes: dict[str, NDArray[float32]] = field(default_factory=dict)
    """Named values per vertex."""


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """Hair and other strands."""

    name: str
    counts: NDArray[uint32]
    """Points of each curve."""
    positions: NDArray[float32]
    """Points [m], one curve after the other, (points, 3)."""
    widths: NDArray[float32]
    """Diameter at each point [m]."""
    ids: NDArray[uint64]
    """Stable id of each curve."""
    velocities: NDArray[float32] | None = None
    """Velocity at each point [m/s]."""
    color: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Linear RGB of all strands."""
    attributes: dict[str, NDArray[float32]] = field(default_factory=dict)
    """Named values per curve."""

    def each(self) -> list[NDArray[float32]]:
        """The points of every curve by itself, as views."""
        import numpy as np

        return np.split(self.positions, np.cumsum(self.counts)[:-1])


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Drops, spray, beads."""

    name: str
    positions: NDArray[float32]
    """Centres [m], (points, 3)."""
    widths: NDArray[float32]
    """Diameters [m]."""
    ids: NDArray[uint64]
    """Stable ids."""
    velocities: NDArray[float32] | None = None
    """Velocities [m/s]."""
    attributes: dict[str, NDArray[float32]] = field(default_factory=dict)
    """Named values per point."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """Everything visible at one instant, by name."""

    index: int
    """Frame number."""
    time: float
    """Time [s]."""
    meshes: dict[str, Mesh]
    """Meshes: those of the actors first, then those that layers add."""
    curves: dict[str, Curves]
    """Strands."""
    points: dict[str, Points]
    """Points."""

    @classmethod
    def _of(cls, given: dict[str, Any]) -> Frame:
        def named(kind, parts):
            return {part["name"]: kind(**part) for part in parts}

        return cls(
            index=given["index"],
            time=given["time"],
            meshes=named(Mesh, given["meshes"]),
            curves=named(Curves, given["curves"]),
            points=named(Points, given["points"]),
        )

    def __repr__(self) -> str:
        def told(what, parts, count):
            return [f"{name} ({count(part)} {what})" for name, part in parts.items()]

        shapes = told("vertices", self.meshes, lambda m: len(m.positions))
        shapes += told("curves", self.curves, lambda c: len(c.counts))
        shapes += told("points", self.points, lambda p: len(p.positions))
        return f"<frisson.Frame {self.index} at {self.time:.3f} s: {', '.join(shapes)}>"
