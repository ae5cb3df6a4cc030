"""What all parameter classes share; the classes themselves are generated into `params.py`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, ClassVar


class Params:
    """Parameters as an object. What is None is not written, so that the default holds."""

    _kind: ClassVar[str | None] = None
    _keys: ClassVar[dict[str, str]] = {}

    @classmethod
    def names(cls) -> list[str]:
        """Names of all parameters."""
        return [field.name for field in fields(cls)]

    @classmethod
    def key(cls, name: str) -> str | None:
        """How a parameter is spelled in a scene file: `from_` is `from`. None for what is not there."""
        spelled = {cls._keys.get(n, n): n for n in cls.names()}
        if name in spelled:
            return name
        return cls._keys.get(name, name) if name in cls.names() else None

    def to_dict(self) -> dict[str, Any]:
        """As a scene file has it."""
        values = ((self._keys.get(f.name, f.name), getattr(self, f.name)) for f in fields(self))
        return {key: _plain(value) for key, value in values if value is not None}

    def to_entry(self) -> dict[str, Any]:
        """As an entry of a list: a layer under the name of its kind."""
        return self.to_dict() if self._kind is None else {self._kind: self.to_dict()}


def _plain(value: Any) -> Any:
    if isinstance(value, Params):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items() if item is not None}
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
