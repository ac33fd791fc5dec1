"""Frozen dataclasses of which a graph has tens of thousands."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from typing import Any, TypeVar

_T = TypeVar("_T")


def filled_at_once(cls: type[_T]) -> type[_T]:
    """Gives a frozen dataclass with slots an ``__init__`` that fills the slots themselves.

    The one of ``dataclasses`` asks ``object.__setattr__`` to look each of them up, and takes more than twice as long.
    No field has a default factory.
    """
    own: list[Field[Any]] = list(fields(cls))  # type: ignore[arg-type]  # a dataclass
    scope: dict[str, object] = {f"set_{item.name}": cls.__dict__[item.name].__set__ for item in own}
    scope |= {f"default_{item.name}": item.default for item in own}
    parameters = [
        item.name if item.default is MISSING else f"{item.name}=default_{item.name}" for item in own if item.init
    ]
    lines = [
        f"set_{item.name}(self, {item.name if item.init else f'default_{item.name}'})"
        for item in own
        if item.init or item.default is not MISSING
    ]
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    exec(f"def __init__(self, {', '.join(parameters)}):\n " + "\n ".join(lines), scope)  # as dataclasses do
    made: Any = scope["__init__"]
    made.__annotations__ = cls.__init__.__annotations__
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    cls.__init__ = made  # type: ignore[method-assign]  # as dataclasses do
    return cls
