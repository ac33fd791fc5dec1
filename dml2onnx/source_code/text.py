"""Expressions of a program, and their text in the layout of a formatter."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from dml2onnx.ir.tensor import DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

WIDTH = 88
"""The default line length of formatters."""
STEP = "    "


@dataclass(frozen=True, slots=True)
class Text:
    """Literal text."""

    text: str


@dataclass(frozen=True, slots=True)
class Ref:
    """A variable, by the value that it contains."""

    value: object


@dataclass(frozen=True, slots=True)
class Label:
    """A string literal; in a loop it may contain the number of the iteration."""

    name: str


@dataclass(frozen=True, slots=True)
class Keyword:
    """A keyword argument."""

    name: str
    value: Part


@dataclass(frozen=True, slots=True)
class Group:
    """Items in brackets, such as a call or a list."""

    head: str
    items: tuple[Part, ...]
    tail: str = ")"


@dataclass(frozen=True, slots=True)
class Joined:
    """Concatenated parts."""

    parts: tuple[Part, ...]


Part: TypeAlias = "Text | Ref | Label | Keyword | Group | Joined"


def call(function: str, arguments: Iterable[Part]) -> Group:
    """``function(arguments)``."""
    return Group(f"{function}(", tuple(arguments))


def leaves(part: Part) -> Iterator[Part]:
    """Yields the parts without parts of their own, including brackets and names of arguments, in order."""
    match part:
        case Keyword(name, value):
            yield Text(name)
            yield from leaves(value)
        case Group(head, items, tail):
            yield Text(head)
            for item in items:
                yield from leaves(item)
            yield Text(tail)
        case Joined(parts):
            for item in parts:
                yield from leaves(item)
        case _:
            yield part


@dataclass
class Writer:
    """The lines of a program."""

    variable: Callable[[object], str]
    label: Callable[[str], str]
    lines: list[str] = field(default_factory=list)
    depth: int = 0

    def line(self, text: str = "") -> None:
        """Writes one line of any length."""
        self.lines.append(f"{STEP * self.depth}{text}" if text else "")

    def write(self, head: str, part: Part, tail: str = "") -> None:
        """Writes a statement on one line, or with each item of its brackets on a line of its own."""
        flat = f"{head}{self.flat(part)}{tail}"
        if len(flat) + len(STEP) * self.depth <= WIDTH:
            self.line(flat)
            return
        self._split(head, part, tail)

    def flat(self, part: Part) -> str:
        """Returns the text of a part on one line."""
        match part:
            case Text(text):
                return text
            case Ref(value):
                return self.variable(value)
            case Label(name):
                return self.label(name)
            case Keyword(name, value):
                return f"{name}={self.flat(value)}"
            case Group(head, items, tail):
                return f"{head}{', '.join(map(self.flat, items))}{tail}"
            case Joined(parts):
                return "".join(map(self.flat, parts))

    def _split(self, head: str, part: Part, tail: str) -> None:
        match part:
            case Keyword(name, value):
                self._split(f"{head}{name}=", value, tail)
            case Group(start, items, end) if items:
                self.line(f"{head}{start}")
                self.depth += 1
                for item in items:
                    self.write("", item, ",")
                self.depth -= 1
                self.line(f"{end}{tail}")
            case Joined(parts):
                # Formatters split the last part in brackets.
                place = max((i for i, item in enumerate(parts) if isinstance(item, Group) and item.items), default=-1)
                if place < 0:
                    self.line(f"{head}{self.flat(part)}{tail}")
                    return
                before = "".join(map(self.flat, parts[:place]))
                after = "".join(map(self.flat, parts[place + 1 :]))
                self.write(f"{head}{before}", parts[place], f"{after}{tail}")
            case _:
                self.line(f"{head}{self.flat(part)}{tail}")


# --- Literals ---------------------------------------------------------------------------------------------------------


def string(text: str) -> str:
    """A string literal in double quotes, or in single quotes if it contains double quotes."""
    shown = repr(text)
    if shown[0] == '"' or '"' in text:
        return shown
    return f'"{shown[1:-1]}"'


def numbers(items: Iterable[float], data_type: DataType | None = None) -> Group:
    """A list of numbers."""
    return Group("[", tuple(Text(number(item, data_type)) for item in items), "]")


def number(value: float, data_type: DataType | None = None) -> str:
    """The shortest literal that ``data_type``, by default FLOAT32, rounds to ``value``."""
    if isinstance(value, (bool, int)):
        return str(value)
    if not math.isfinite(value):
        return f'float("{value}")'
    return repr(_shortest(value, data_type or DataType.FLOAT32)).replace("e+", "e")


def _shortest(value: float, data_type: DataType) -> float:
    if data_type is DataType.FLOAT64 or not data_type.is_float:
        return value
    kind = data_type.dtype.type
    short = float(str(kind(value)))
    return short if kind(short) == value else value
