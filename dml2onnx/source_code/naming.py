"""Chooses the variable names of a program; a name is used again when its value is no longer needed."""

from __future__ import annotations

import builtins
import keyword
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dml2onnx.frontends.names import free_name
from dml2onnx.source_code.loops import MARK, Carried, Loop
from dml2onnx.source_code.text import Part, Ref, leaves

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dml2onnx.source_code.statements import Statement

MAX_LENGTH = 40
"""The most characters of a variable's name."""
_TAKEN = frozenset(
    {*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "g", "i", "np", "Path", "weights", "build"}
) | {"Activation", "Graph", "GraphBuilder", "ScaleBias", "Size2D", "interleaved_channel"}


def identifier(text: str) -> str:
    """Converts a text to the name of a variable; the result is empty if no character is valid."""
    text = re.sub(f"{MARK}\\d+{MARK}", "", text)
    plain = re.sub(r"_+", "_", re.sub(r"\W|[^\x00-\x7f]", "_", text)).strip("_").lower()[:MAX_LENGTH].strip("_")
    if plain[:1].isdigit():
        plain = f"x{plain}"
    return f"{plain}_" if plain in _TAKEN else plain


@dataclass
class _Life:
    start: int
    end: int
    base: str
    is_kept: bool


@dataclass
class Variables:
    """Assigns variables to values; several values may share one."""

    _same: dict[object, object] = field(default_factory=dict)
    _lives: dict[object, _Life] = field(default_factory=dict)
    _names: dict[object, str] = field(default_factory=dict)
    assigned: dict[int, list[Carried]] = field(default_factory=dict)
    """Carried variables that need assignments before the loop or at the end of its block, by the loop's ``id``."""
    _used: set[object] = field(default_factory=set)

    def name(self, value: object) -> str:
        """The variable of a value."""
        return self._names[self._of(value)]

    def is_used(self, value: object) -> bool:
        """Whether any expression reads the value."""
        return self._of(value) in self._used

    def _of(self, value: object) -> object:
        while value in self._same:
            value = self._same[value]
        return value

    def plan(
        self, items: Sequence[Statement | Loop], ends: Sequence[Part], bases: Mapping[object, str], first: int
    ) -> None:
        """Chooses all names.

        ``bases`` are the preferred names of values. The ``first`` statements define inputs and constants, which keep
        their variables to the end.
        """
        loops = [item for item in items if isinstance(item, Loop)]
        for loop in loops:
            self._same.update((last, target) for target, last in loop.last.items())
        uses = self._count_uses(items, loops, ends)
        for loop in loops:
            self._share(loop, uses)
        self._find_lives(items, ends, bases, first)
        self._choose()

    def _count_uses(
        self, items: Sequence[Statement | Loop], loops: Sequence[Loop], ends: Sequence[Part]
    ) -> Mapping[object, int]:
        """How often each value is read; as the first value of a carried variable it counts once."""
        uses: Counter[object] = Counter()
        for part in [*_parts(items), *ends]:
            for leaf in leaves(part):
                if isinstance(leaf, Ref) and not isinstance(leaf.value, Carried):
                    uses[self._of(leaf.value)] += 1
        uses.update(self._of(carried.first) for loop in loops for carried in loop.carried)
        return uses

    def _share(self, loop: Loop, uses: Mapping[object, int]) -> None:
        """Gives all values of a carried variable one name, unless an old value is still needed."""
        for carried in loop.carried:
            read = [
                index
                for index, item in enumerate(loop.body)
                for part in (item.part, *item.layouts)
                for leaf in leaves(part)
                if isinstance(leaf, Ref) and leaf.value is carried
            ]
            targets = loop.body[carried.position].targets
            target = targets[carried.target]
            if len(targets) == 1 and max(read, default=-1) <= carried.position:
                self._same[target] = carried
            first = self._of(carried.first)
            if uses.get(first, 0) == 1 and first is not self._of(carried):
                self._same[carried] = first
            if self._of(target) is not self._of(carried) or self._of(carried) is not first:
                self.assigned.setdefault(id(loop), []).append(carried)

    def _find_lives(
        self, items: Sequence[Statement | Loop], ends: Sequence[Part], bases: Mapping[object, str], first: int
    ) -> None:
        position = 0
        for item in items:
            body = item.body if isinstance(item, Loop) else [item]
            begin, end = position, position + len(body)
            if isinstance(item, Loop):
                for carried in item.carried:
                    self._use(carried.first, begin)
                    self._define(carried, begin, bases.get(carried.first, "x"), kept=False)
                    self._use(carried, end)
            for statement in body:
                for part in (statement.part, *statement.layouts):
                    self._uses(part, position, end if isinstance(item, Loop) else position, begin)
                for target in statement.targets:
                    self._define(target, position, bases.get(target, "x"), kept=position < first)
                position += 1
            if isinstance(item, Loop):
                for carried in item.carried:
                    self._use(item.body[carried.position].targets[carried.target], end)
            position = end + 1
        for part in ends:
            self._uses(part, position, position, 0)

    def _uses(self, part: Part, position: int, end: int, begin: int) -> None:
        for leaf in leaves(part):
            if isinstance(leaf, Ref):
                life = self._lives.get(self._of(leaf.value))
                outside = life is not None and life.start < begin
                self._used.add(self._of(leaf.value))
                self._use(leaf.value, end if outside else position)

    def _define(self, value: object, position: int, base: str, *, kept: bool) -> None:
        key = self._of(value)
        if key not in self._lives:
            self._lives[key] = _Life(position, position, base, kept)

    def _use(self, value: object, position: int) -> None:
        life = self._lives[self._of(value)]
        life.end = max(life.end, position)

    def _choose(self) -> None:
        """Chooses names in order of definition; a name is free again after the last use of its value."""
        owners: dict[str, _Life] = {}
        for key, life in self._lives.items():

            def is_needed(name: str, start: int = life.start) -> bool:
                return (owner := owners.get(name)) is not None and (owner.is_kept or owner.end > start)

            name = free_name(life.base or "x", is_needed)
            owners[name] = life
            self._names[key] = name


def _parts(items: Sequence[Statement | Loop]) -> Iterator[Part]:
    for item in items:
        for statement in item.body if isinstance(item, Loop) else [item]:
            yield statement.part
            yield from statement.layouts
