"""What can go wrong, as exceptions that say where and what to do."""

from __future__ import annotations

from typing import NamedTuple


class Problem(NamedTuple):
    """One thing that is wrong in a scene file; lines and columns count from 1."""

    message: str
    line: int
    column: int
    label: str
    help: str | None


class FrissonError(Exception):
    """Anything that Frisson refuses."""

    help: str | None = None
    """What to do about it."""


class InputError(FrissonError, ValueError):
    """Something is wrong with what was given: a file, an array, a name."""

    def __init__(self, text: str, help: str | None = None):
        super().__init__(text if help is None else f"{text} ({help})")
        self.help = help


class SceneError(FrissonError, ValueError):
    """A scene says something it may not. The message shows every place in the text."""

    def __init__(self, text: str, path: str, problems: list[tuple]):
        super().__init__(text)
        self.path = path
        self.problems = [Problem(*problem) for problem in problems]
        first = self.problems[0] if self.problems else Problem(text, 1, 1, "", None)
        self.line, self.column, self.help = first.line, first.column, first.help


class SimulationError(FrissonError, RuntimeError):
    """The simulation stopped: a number was not finite. Finished frames of a bake are kept."""


class Stopped(FrissonError):
    """The progress function answered False. `frisson.bake(…, resume=True)` goes on."""

    def __init__(self, last_frame: int | None):
        kept = "no frame was finished" if last_frame is None else f"frames up to {last_frame} are kept"
        super().__init__(f"stopped; {kept}; resume=True goes on")
        self.last_frame = last_frame
