"""Stepping a scene by hand."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from . import _native
from .errors import InputError
from .params import Params, kinds
from .scene import Scene, given, plain
from .shapes import Frame

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from .character import Character


class Layer:
    """A running layer: its parameters are attributes, and setting one tells the engine.

    >>> simulator["belly"].frequency_hz = 3.0
    """

    def __init__(self, simulator: Simulator, kind: str, name: str):
        self.__dict__.update(_simulator=simulator, kind=kind, name=name)

    def _values(self) -> dict[str, Any]:
        return self._simulator._entry(self.name)[1]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *kinds()[self.kind].names()]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or kinds()[self.kind].key(name) is None:
            raise AttributeError(f"{self.kind} has no parameter {name!r}")
        return self._values().get(kinds()[self.kind].key(name))

    def __setattr__(self, name: str, value: Any) -> None:
        self._simulator.set(self.name, **{name: value})

    def __repr__(self) -> str:
        values = ", ".join(f"{k}={v!r}" for k, v in self._values().items() if v not in (None, [], {}))
        return f"<{self.kind} {values}>"


class Simulator:
    """Actors and layers at some time. Everything that Frisson does goes through this door.

    Actors named in `live` are moved by what is pushed:

    >>> simulator = frisson.Simulator(scene, live=["hero"])
    >>> simulator.push_pose("hero", 0.0, matrices(0.0)); simulator.start()
    >>> while playing:
    ...     simulator.push_pose("hero", simulator.time + dt, matrices(simulator.time + dt))
    ...     draw(simulator.step(dt).positions("hero"))

    The motion does not depend on the steps taken. Push before you step: after the newest sample everything stands
    still.
    """

    def __init__(
        self, scene: Scene, *, actors: Mapping[str, Character] | None = None, live: Iterable[str] | None = None
    ):
        """`actors`: characters made of arrays, by name, for sources spelled `given:NAME`; they are live unless
        `live` says who is."""
        live = list(actors or {}) if live is None else list(live)
        self._native = _native.Simulator(scene._native, given(actors), live)
        self.fps, self.first, self.last = self._native.clock()

    @property
    def time(self) -> float:
        """The present [s]."""
        return self._native.time

    @property
    def frame_number(self) -> int:
        """Number of the frame that is shown, or of the last one before."""
        return self._native.frame_number

    def start(self) -> Simulator:
        """Goes back to the start and starts every layer again, from what was pushed."""
        self._native.start()
        return self

    def step(self, dt: float | None = None) -> Simulator:
        """Advances by any length of time [s]; without one, to the next frame."""
        if dt is None:
            return self.advance_to(self._native.frame_time(self.frame_number + 1))
        return self.advance_to(self.time + dt)

    def advance_to(self, time: float) -> Simulator:
        """Advances to a time [s]. Ctrl-C interrupts it between two quarters of a second."""
        self._native.advance_to(time)
        return self

    def frame(self) -> Frame:
        """All that is shown now, copied once."""
        return Frame._of(self._native.frame())

    def positions(self, mesh: str | None = None) -> NDArray[float32]:
        """Positions of a mesh (default: the first), copied once: (vertices, 3) [m]."""
        return self._native.positions(self.mesh_names[0] if mesh is None else mesh)

    @property
    def mesh_names(self) -> list[str]:
        """Meshes that are shown."""
        return self._native.mesh_names()

    def push_pose(
        self, actor: str, time: float, matrices: NDArray[float32], weights: NDArray[float32] | None = None
    ) -> None:
        """Gives the matrices of all joints of a live actor at a time [s], in its own space: float32, (joints, 4, 4),
        and perhaps the weights of its morph targets."""
        self._native.push_pose(actor, time, matrices, weights)

    def push_positions(self, actor: str, time: float, positions: NDArray[float32], mesh: int = 0) -> None:
        """Gives the positions of one mesh of a live actor at a time [s], in its own space: float32, (vertices, 3).
        The array is read in place."""
        self._native.push_positions(actor, time, positions, mesh)

    def save(self) -> bytes:
        """All that evolves."""
        return self._native.save()

    def load(self, state: bytes) -> Simulator:
        """Takes back what `save` gave, in this or another simulator of the same scene."""
        self._native.load(state)
        return self

    def set(self, layer: str, /, **parameters: Any) -> str:
        """Changes parameters of a layer; answers what that took: `none`, `live` (from the next step on), `rebuild`
        or `restart`."""
        kind, values = self._entry(layer)
        known = kinds()[kind]
        for name, value in parameters.items():
            key = known.key(name)
            if key is None:
                near = difflib.get_close_matches(name, known.names(), 1)
                help = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known.names())}"
                raise InputError(f"{kind} {layer!r} has no parameter {name!r}", help)
            values[key] = plain(value)
        return self._native.set_params(json.dumps({kind: values}))

    def set_forces(self, gravity: tuple[float, float, float] = (0.0, -9.81, 0.0), forces: Iterable[Any] = ()) -> None:
        """Gives the scene other gravity [m/s²] and fields (as in `[[forces]]`), from the next step on."""
        self._native.set_forces(list(gravity), json.dumps([plain(force) for force in forces]))

    def __getitem__(self, name: str) -> Layer:
        kind, _ = self._entry(name)
        return Layer(self, kind, name)

    def __iter__(self) -> Iterator[Layer]:
        return (Layer(self, kind, p["name"]) for layer in self._layers() for kind, p in layer.items())

    @property
    def layers(self) -> list[str]:
        """Names of the layers, in order."""
        return [p["name"] for layer in self._layers() for p in layer.values()]

    def add(self, layer: Params, index: int | None = None) -> Simulator:
        """Adds a layer at a place of the stack (default: the end); it starts at the present time."""
        self._native.add_layer(len(self.layers) if index is None else index, json.dumps(plain(layer)))
        return self

    def remove(self, name: str) -> Simulator:
        """Removes a layer."""
        self._native.remove_layer(name)
        return self

    def reorder(self, names: Iterable[str]) -> Simulator:
        """Puts the layers in another order."""
        self._native.reorder_layers(list(names))
        return self

    def reports(self) -> list[dict[str, Any]]:
        """What the layers measure now, in order."""
        return json.loads(self._native.reports())

    def _layers(self) -> list[dict[str, dict[str, Any]]]:
        return json.loads(self._native.layers())

    def _entry(self, name: str) -> tuple[str, dict[str, Any]]:
        for layer in self._layers():
            for kind, parameters in layer.items():
                if parameters["name"] == name:
                    return kind, parameters
        raise KeyError(f"there is no layer named {name!r}; layers: {', '.join(self.layers)}")

    def __repr__(self) -> str:
        return f"<frisson.Simulator at {self.time:.3f} s: layers {', '.join(self.layers) or 'none'}>"
