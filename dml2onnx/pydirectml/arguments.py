"""Converts and checks the arguments of PyDirectML's functions as pybind11 does.

Every function here converts an argument, or raises :class:`RefusedError` with a reason. :func:`public` turns that into
a ``TypeError`` with the function's name and signature.
https://pybind11.readthedocs.io/en/stable/advanced/cast/overview.html
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Final, ParamSpec, SupportsFloat, SupportsIndex, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

Integers: TypeAlias = Sequence[int] | npt.NDArray[np.integer[Any]]
"""A sequence of whole numbers: a list, a tuple, an integer array."""
Number: TypeAlias = float | np.number[Any] | np.bool_
Flag: TypeAlias = bool | float | None
"""A truth value: a bool or any number; ``None`` is false."""

UINT32_MAX = 2**32 - 1
UINT64_MAX = 2**64 - 1
INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1

_P = ParamSpec("_P")
_R = TypeVar("_R")
_T = TypeVar("_T")


class _Required:
    """The default of required parameters that follow optional ones."""

    def __repr__(self) -> str:
        return "<required>"


REQUIRED: Final[Any] = _Required()


class RefusedError(TypeError):
    """An argument that the parameter does not accept."""


def typed_repr(value: object) -> str:
    """Formats the type of a value, and the value if it is short."""
    text = repr(value)
    return f"{type(value).__name__} {text}" if len(text) <= 40 and "\n" not in text else type(value).__name__


def instance(name: str, value: object, kind: type[_T]) -> _T:
    """Checks for an instance of a class of PyDirectML; for an enumeration, a member of exactly that one."""
    if not isinstance(value, kind):
        parts = {part: getattr(value, part, None) for part in getattr(type(value), "__slots__", ())}
        several = [part for part, item in parts.items() if isinstance(item, kind) and not _is_null(item)]
        hint = f"; take one of its outputs: {' or '.join(f'.{part}' for part in several)}" if several else ""
        if isinstance(value, str) and hasattr(kind, value.upper()) and issubclass(kind, Enum):
            hint = f"; did you mean dml.{kind.__name__}.{value.upper()}?"
        raise RefusedError(f"{name} has to be of {kind.__name__}, not {typed_repr(value)}{hint}")
    return value


def _is_null(item: object) -> bool:
    """Whether this is a null expression, such as an optional output that was not requested."""
    return bool(getattr(item, "is_null", False))


def dimension(name: str, value: object, rank: int) -> int:
    """Checks for a dimension of a tensor of ``rank`` dimensions, and converts negative ones in the message."""
    if type(value) is int and -rank <= value < 0:
        raise RefusedError(f"{name} counts dimensions from 0, and is {value}; the same from 0 is {value + rank}")
    return integer(name, value)


def dimensions(name: str, value: object, rank: int) -> list[int]:
    """Checks for a list of dimensions of a tensor of ``rank`` dimensions."""
    return [dimension(f"{name}[{i}]", item, rank) for i, item in enumerate(_items(name, value))]


def integer(name: str, value: object, low: int = 0, high: int = UINT32_MAX) -> int:
    """Converts to an integer; rejects all floats."""
    if not isinstance(value, SupportsIndex) or isinstance(value, float):
        raise RefusedError(f"{name} has to be an int, not {typed_repr(value)}")
    try:
        number = operator.index(value)
    except TypeError:
        raise RefusedError(f"{name} has to be an int, not {typed_repr(value)}") from None
    if not low <= number <= high:
        raise RefusedError(f"{name} has to be an int from {low} to {high}, not {number}")
    return number


def integers(name: str, value: object, low: int = 0, high: int = UINT32_MAX) -> list[int]:
    """Converts any sequence but a string to a list of integers."""
    return [integer(f"{name}[{i}]", item, low, high) for i, item in enumerate(_items(name, value))]


def number(name: str, value: object) -> float:
    """Converts to a number rounded to FLOAT32, with overflow to infinity."""
    if isinstance(value, (str, bytes, bytearray)) or not isinstance(value, (SupportsFloat, SupportsIndex)):
        raise RefusedError(f"{name} has to be a number, not {typed_repr(value)}")
    try:
        exact = float(value)
    except TypeError:
        raise RefusedError(f"{name} has to be a number, not {typed_repr(value)}") from None
    with np.errstate(over="ignore"):
        return float(np.float32(exact))


def numbers(name: str, value: object) -> list[float]:
    """Converts to a list of numbers rounded to FLOAT32."""
    return [number(f"{name}[{i}]", item) for i, item in enumerate(_items(name, value))]


def flag(name: str, value: object) -> bool:
    """Converts a number or ``None`` to a bool; rejects strings and lists."""
    if value is None:
        return False
    if not hasattr(type(value), "__bool__"):
        raise RefusedError(f"{name} has to be a bool or a number, not {typed_repr(value)}")
    return bool(value)


def instances(name: str, value: object, kind: type[_T]) -> list[_T]:
    """Checks for a list of instances of a class."""
    return [instance(f"{name}[{i}]", item, kind) for i, item in enumerate(_items(name, value))]


def optional_instances(name: str, value: object, kind: type[_T]) -> list[_T | None]:
    """Checks for a list of instances of a class or ``None``."""
    items = _items(name, value)
    return [None if item is None else instance(f"{name}[{i}]", item, kind) for i, item in enumerate(items)]


def _items(name: str, value: object) -> list[object]:
    if isinstance(value, np.ndarray) and value.ndim:
        return list(value)
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes, bytearray)):
        raise RefusedError(f"{name} has to be a list, not {typed_repr(value)}")
    return list(value)


def public(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Decorates a public function: rejected arguments are reported with the signature, as pybind11 does."""
    signature = inspect.signature(function)
    required = [item.name for item in signature.parameters.values() if item.default is REQUIRED]
    takes_names = not any(item.kind is item.VAR_KEYWORD for item in signature.parameters.values())
    name = function.__qualname__.removesuffix(".__init__")
    visible = [item for item in signature.parameters.values() if item.name != "self"]
    shown = str(signature.replace(parameters=visible, return_annotation=inspect.Signature.empty))

    @functools.wraps(function)
    def checked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            for unknown in kwargs:
                if takes_names and unknown not in signature.parameters:
                    free = [item.name for item in visible if item.name not in kwargs]
                    raise RefusedError(_unknown_argument(unknown, free))
            if required:
                argument = signature.bind_partial(*args, **kwargs).arguments
                missing = [name for name in required if name not in argument]
                if missing:
                    raise RefusedError(f"{', '.join(missing)} must be given")
            return function(*args, **kwargs)
        except RefusedError as reason:
            raise TypeError(incompatible(name, [shown], str(reason))) from None

    return checked


def _unknown_argument(name: str, known: Sequence[str]) -> str:
    """Reports an unknown argument, and suggests known ones, also for names of other libraries."""
    from dml2onnx.catalog.familiar import meant_arguments  # only needed for errors

    close = meant_arguments(name, known)
    return f"it has no argument {name}" + (f"; did you mean {' and '.join(close)}?" if close else "")


def suggest_members(name: str, known: Sequence[str]) -> list[str]:
    """Suggests a member of the module for a similar name or one of another library."""
    from difflib import get_close_matches  # only needed for errors

    from dml2onnx.catalog.familiar import meant_operator

    meant = meant_operator(name).rstrip("12").removeprefix("ELEMENT_WISE_").replace("_", "").lower()
    alike = [item for item in known if meant and item.islower() and item.replace("_", "") == meant]
    return alike[:1] or get_close_matches(name, known, n=1)


def incompatible(name: str, signatures: Sequence[str], reason: str) -> str:
    """Formats the message of a ``TypeError`` about the arguments of a call."""
    listed = "".join(f"\n    {i}. {name}{signature}" for i, signature in enumerate(signatures, 1))
    end = "" if reason.endswith("?") else "."
    return f"{name}(): incompatible function arguments: {reason}{end} The following arguments are supported:{listed}"
