"""Unique names of nodes and values."""

from __future__ import annotations


class Names:
    """Names in use; repeated names get a number."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._numbers: dict[str, int] = {}

    def free(self, wanted: str) -> str:
        """The first free one of ``wanted``, ``wanted_2`` and so on."""
        if wanted not in self._taken:
            return wanted
        number = self._numbers.get(wanted, 2)
        while f"{wanted}_{number}" in self._taken:
            number += 1
        self._numbers[wanted] = number
        return f"{wanted}_{number}"

    def take(self, wanted: str) -> str:
        """As :meth:`free`, and marks the name as used."""
        name = self.free(wanted)
        self._taken.add(name)
        return name
