"""Unique names for nodes whose own names are ambiguous, and file names made of names of values."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import count

_DEVICE = re.compile(r"(?:con|conin\$|conout\$|prn|aux|nul|(?:com|lpt)[0-9¹²³])(?:\..*)?", re.IGNORECASE | re.DOTALL)
"""What Windows takes for a device, whatever follows: https://learn.microsoft.com/windows/win32/fileio/naming-a-file."""


def file_stem(name: str) -> str:
    """A file name, without its suffix, for a value: the name itself as far as files may be called so."""
    return no_device(re.sub(r"[^\w.-]", "_", name).lstrip("."))


def no_device(stem: str) -> str:
    """The name of a file, with a mark in front of it where Windows would write to a device of that name."""
    return f"_{stem}" if _DEVICE.fullmatch(stem) else stem


def free_name(wanted: str, is_taken: Callable[[str], bool]) -> str:
    """``wanted``, or that with the first number, from 2 on, with which it is nobody's."""
    numbered = (wanted if number == 1 else f"{wanted}_{number}" for number in count(1))
    return next(name for name in numbered if not is_taken(name))


class UniqueNames:
    """Names as they come, with numbers behind those that come again.

    DirectML's names are for debugging: it does not ask for different ones, DirectMLX repeats those of its scopes, and
    ONNX Runtime calls the nodes of all unnamed ONNX nodes alike.
    """

    __slots__ = ("_runs", "_taken")

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._runs: dict[str, int] = {}
        """How often a name has come, so that many equal ones do not take the square of their number."""

    def new(self, name: str) -> str:
        """``name``, or that with the first number that makes it a new one."""
        unique, run = name, self._runs.get(name, 1)
        while unique in self._taken:
            run += 1
            unique = f"{name}#{run}"
        self._taken.add(unique)
        self._runs[name] = run
        return unique
