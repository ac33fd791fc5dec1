"""Makes unique names of nodes, and file names from names of values."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import count

_DEVICE = re.compile(r"(?:con|conin\$|conout\$|prn|aux|nul|(?:com|lpt)[0-9¹²³])(?:\..*)?", re.IGNORECASE | re.DOTALL)
"""Device names of Windows, with any suffix: https://learn.microsoft.com/windows/win32/fileio/naming-a-file."""


def file_stem(name: str) -> str:
    """Converts the name of a value to a file name without suffix."""
    return no_device(re.sub(r"[^\w.-]", "_", name).lstrip("."))


def no_device(stem: str) -> str:
    """Prefixes a file name with an underscore if Windows would treat it as a device."""
    return f"_{stem}" if _DEVICE.fullmatch(stem) else stem


def free_name(wanted: str, is_taken: Callable[[str], bool]) -> str:
    """Returns ``wanted``, with the first number from 2 on appended if it is taken."""
    numbered = (wanted if number == 1 else f"{wanted}_{number}" for number in count(1))
    return next(name for name in numbered if not is_taken(name))


class UniqueNames:
    """Makes names unique by appending numbers to repeated ones.

    DirectML's names are for debugging and need not be unique: DirectMLX repeats those of its scopes, and ONNX Runtime
    has one name for all unnamed nodes.
    """

    __slots__ = ("_runs", "_taken")

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._runs: dict[str, int] = {}
        """The last number of each name, so that n equal names do not take O(n²) time."""

    def new(self, name: str) -> str:
        """Returns ``name``, with a number appended if it is taken."""
        unique, run = name, self._runs.get(name, 1)
        while unique in self._taken:
            run += 1
            unique = f"{name}#{run}"
        self._taken.add(unique)
        self._runs[name] = run
        return unique
