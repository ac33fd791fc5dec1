"""Expressions of a program, and their text as a formatter lays it out."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from dml2onnx.ir.tensor import DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

WIDTH = 88
"""What formatters take for the length of a line when nobody tells them another."""
STEP = "    "


@dataclass(frozen=True, slots=True)
class Text:
    """What is written as it stands."""

    text: str


@dataclass(frozen=True, slots=True)
class Ref:
    """A variable: the value that stands in it."""

    value: object


@dataclass(frozen=True, slots=True)
class Label:
    """A name as a string of the program, which in a loop has the number of the repetition in it."""

    name: str


@dataclass(frozen=True, slots=True)
class Keyword:
    """An argument by its name."""

    name: str
    value: Part


@dataclass(frozen=True, slots=True)
class Group:
    """Something in brackets: a call, a list, what is indexed."""

    head: str
    items: tuple[Part, ...]
    tail: str = ")"


@dataclass(frozen=True, slots=True)
class Joined:
    """Parts one behind the other."""

    parts: tuple[Part, ...]


Part: TypeAlias = "Text | Ref | Label | Keyword | Group | Joined"


def call(function: str, arguments: Iterable[Part]) -> Group:
    """``function(arguments)``."""
    return Group(f"{function}(", tuple(arguments))


def leaves(part: Part) -> Iterator[Part]:
    """The parts that have no parts, brackets and the names of arguments among them, in their order."""
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
        """One line, however long."""
        self.lines.append(f"{STEP * self.depth}{text}" if text else "")

    def write(self, head: str, part: Part, tail: str = "") -> None:
        """A statement on one line, or with the items of its brackets on lines of their own."""
        flat = f"{head}{self.flat(part)}{tail}"
        if len(flat) + len(STEP) * self.depth <= WIDTH:
            self.line(flat)
            return
        self._split(head, part, tail)

    def flat(self, part: Part) -> str:
        """The text on one line."""
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
                # the last one in brackets is opened, as formatters do
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
    """A string in double quotes, in single ones where it has double quotes itself."""
    shown = repr(text)
    if shown[0] == '"' or '"' in text:
        return shown
    return f'"{shown[1:-1]}"'


def numbers(items: Iterable[float], data_type: DataType | None = None) -> Group:
    """A list of numbers."""
    return Group("[", tuple(Text(number(item, data_type)) for item in items), "]")


def number(value: float, data_type: DataType | None = None) -> str:
    """The shortest number that a data type rounds to ``value``; FLOAT32 unless another is meant."""
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
