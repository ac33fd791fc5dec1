"""Converts the texts of options; raises :class:`argparse.ArgumentTypeError` for wrong ones."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentTypeError
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from dml2onnx.cli.lazily import files
from dml2onnx.diagnostics import DmlError, quote

if TYPE_CHECKING:
    from collections.abc import Callable

    from dml2onnx.catalog import FeatureLevel
    from dml2onnx.files import Destination


def output(text: str) -> Destination:
    """A path, or standard output for ``-`` and its other names."""
    named = path(text)
    return _standard_output() if text == "-" or files.is_standard_output(named) else named


def path(text: str) -> Path:
    """The path of a file or directory."""
    if not text:
        raise ArgumentTypeError("the path is empty")
    return Path(text)


def directory(text: str) -> Path:
    """The path of a directory; refuses ``-``."""
    if text == "-":
        raise ArgumentTypeError("needs a directory, not standard output; ./- is a directory named -")
    return path(text)


def _standard_output() -> BinaryIO:
    try:
        if sys.stdout.fileno() == 1:
            return sys.stdout.buffer
    except OSError:  # a program that calls us has replaced sys.stdout
        return sys.stdout.buffer
    return open(1, "wb", closefd=False)


def target(text: str) -> str:
    """The name of a target; the error for the name of an execution provider explains the difference."""
    from dml2onnx import targets
    from dml2onnx.providers import table

    if text in table.NAMES and text not in targets.NAMES:
        names = ", ".join(targets.NAMES)
        raise ArgumentTypeError(
            f"{quote(text)} is an execution provider, not a target: compile without --target, and run or measure with "
            f"--provider {text}; targets are {names}"
        )
    return text


def code(text: str) -> str:
    """A diagnostic code or a prefix of one, with or without ``DML``."""
    from dml2onnx.codes import all_codes

    name = f"DML{text}" if text.isdecimal() else text.upper()
    if not any(known.startswith(name) for known in all_codes()):
        raise ArgumentTypeError(f"no code begins with {quote(text)}; codes look like DML1503")
    return name


def feature_level(text: str) -> FeatureLevel | None:
    """A feature level, such as ``3_0``."""
    from dml2onnx import arguments

    try:
        return arguments.feature_level(text)
    except DmlError as error:
        raise ArgumentTypeError(error.diagnostics[0].message) from None


def level_by(name: str) -> Callable[[str], FeatureLevel]:
    """A reader of feature levels with the function ``name`` of ``dml2onnx.arguments``."""

    def level(text: str) -> FeatureLevel:
        from dml2onnx import arguments

        try:
            found: FeatureLevel = getattr(arguments, name)(text)
        except DmlError as error:
            raise ArgumentTypeError(error.diagnostics[0].message) from None
        return found

    return level


def pass_name(text: str) -> str:
    """The name of a pass."""
    from dml2onnx.passes import PASSES

    names = [item.name for item in PASSES]
    if text not in names:
        raise ArgumentTypeError(f"there is no pass {quote(text)}; the passes are {', '.join(names)}")
    return text


def at_least(lowest: int, hint: str = "") -> Callable[[str], int]:
    """A reader of integers from ``lowest`` on; ``hint`` is appended to the error for other texts."""

    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise ArgumentTypeError(f"{quote(text)} is not a whole number{hint}") from None
        if value < lowest:
            raise ArgumentTypeError(f"{value} is less than {lowest}")
        return value

    return number


def seconds(text: str) -> float:
    """A time, in seconds."""
    try:
        value = float(text)
    except ValueError:
        raise ArgumentTypeError(f"{quote(text)} is not a number") from None
    if not 0 < value < float("inf"):
        raise ArgumentTypeError(f"{quote(text)} is not a number of seconds above 0")
    return value


def size(text: str) -> int:
    """Bytes, as a number or with a unit such as ``512M``."""
    number, unit = re.fullmatch(r"(\d*)([KMGT]?)(?:i?B)?", text, re.IGNORECASE | re.ASCII), "KMGT"
    if number is None or not number[1] or not int(number[1]):
        raise ArgumentTypeError(f"{quote(text)} is not a number of bytes above 0, such as 1000000, 512M or 4G")
    return int(number[1]) << 10 * (unit.index(number[2].upper()) + 1 if number[2] else 0)


def sizes(text: str) -> tuple[str, tuple[int | str, ...]]:
    """The sizes of an input, as ``picture=8,3,224,224`` or ``picture=N,3,H,W``."""
    name, _, listed = text.rpartition("=")
    found = tuple(_size_or_name(item.strip()) for item in listed.split(","))
    if not name or 0 in found:
        raise ArgumentTypeError(
            f"{quote(text)} is not of the form NAME=8,3,224,224, of sizes above 0 or names{_sizes_hint(text)}"
        )
    return name, found


def _sizes_hint(text: str) -> str:
    """Converts the notation of other tools, such as ``picture:[8x3x224x224]``."""
    written = re.fullmatch(r"(.+?)\s*[=:]\s*[\[(]?(\d+(?:\s*[x×*,; ]\s*\d+)*)[\])]?", text, re.IGNORECASE)
    found = re.findall(r"\d+", written[2]) if written else []
    return f"; did you mean {written[1]}={','.join(found)}?" if written and "0" not in found else ""


def _size_or_name(text: str) -> int | str:
    if re.fullmatch(r"\d+", text, re.ASCII):
        return int(text)
    return text if re.fullmatch(r"[A-Za-z_]\w*", text, re.ASCII) else 0


def sizes_range(text: str) -> tuple[str, tuple[int, int]]:
    """The range of a named size, as ``N=1..64``."""
    found = re.fullmatch(r"(\w+)=(\d+)\.\.(\d+)", text, re.ASCII)
    if found is not None and 1 <= int(found[3]) < int(found[2]):
        swapped = f"{found[1]}={found[3]}..{found[2]}"
        raise ArgumentTypeError(f"{quote(text)} begins with the larger size; did you mean {swapped}?")
    if found is None or int(found[2]) < 1:
        raise ArgumentTypeError(f"{quote(text)} is not of the form N=1..64, from the smaller size to the larger")
    return found[1], (int(found[2]), int(found[3]))
