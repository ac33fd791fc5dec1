"""Loops for blocks of statements that repeat with consecutive numbers in their names."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from dml2onnx.source_code.statements import Statement
from dml2onnx.source_code.text import Group, Joined, Keyword, Label, Part, Ref, leaves

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

MAX_BLOCK = 256
"""The most statements of a block."""
MIN_SAVED = 4
"""The fewest statements that a loop has to save."""
MARK = "\ue000"
"""Surrounds the number of the first iteration in a template for names."""
_DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True, eq=False)
class Carried:
    """A variable that an iteration passes to the next one."""

    first: object
    """Its value before the loop."""
    position: int
    """The statement of the block that computes the value for the next iteration."""
    target: int
    """The target of that statement."""


@dataclass(eq=False)
class Loop:
    """``for i in range(count)`` over a block."""

    count: int
    body: list[Statement]
    carried: list[Carried]
    last: dict[object, object] = field(default_factory=dict)
    """The values of the last iteration, by the targets of the block."""


class Definition(NamedTuple):
    """The definition of a value."""

    statement: int
    target: int


def with_loops(statements: list[Statement], kept: frozenset[object], rename: Renaming) -> list[Statement | Loop]:
    """Replaces repeated blocks by loops; ``kept`` are the values that the end of the program reads."""
    items: list[Statement | Loop] = []
    position = 0
    loops = _Search(statements, kept, rename).loops()
    while position < len(statements):
        loop = loops.get(position)
        items.append(statements[position] if loop is None else loop)
        position += 1 if loop is None else loop.count * len(loop.body)
    return items


class _Search:
    def __init__(self, statements: list[Statement], kept: frozenset[object], rename: Renaming) -> None:
        self._statements = statements
        self._rename = rename
        self._places: dict[object, Definition] = {}
        self._last_use: dict[object, int] = dict.fromkeys(kept, len(statements))
        for index, item in enumerate(statements):
            for number, target in enumerate(item.targets):
                self._places[target] = Definition(index, number)
            for part in _leaves(item):
                if isinstance(part, Ref):
                    self._last_use[part.value] = max(index, self._last_use.get(part.value, 0))

    def loops(self) -> dict[int, Loop]:
        """Loops, which are not nested, by the index of their first statement."""
        loops: dict[int, Loop] = {}
        taken = [False] * len(self._statements)
        for _, start, period, count in self._candidates():
            for shift in range(min(period, len(self._statements))):
                first = start + shift
                times = count if first + count * period <= start + self._run(start, period, count) else count - 1
                if times < 2 or period * (times - 1) < MIN_SAVED:
                    continue
                if any(taken[first : first + times * period]):
                    continue
                loop = self._loop(first, period, times)
                if loop is not None:
                    loops[first] = loop
                    taken[first : first + times * period] = [True] * (times * period)
                    break
        return loops

    def _run(self, start: int, period: int, count: int) -> int:
        """The number of statements from ``start`` on that repeat with that period."""
        shapes, length = self._shapes, count * period
        while start + length < len(shapes) and shapes[start + length] == shapes[start + length - period]:
            length += 1
        return length

    def _candidates(self) -> list[tuple[int, int, int, int]]:
        """Candidates as (statements saved, start, length of the block, iterations), the best first."""
        indices: dict[object, int] = {}
        self._shapes = [indices.setdefault(shape(item), len(indices)) for item in self._statements]
        shapes, total = self._shapes, len(self._shapes)
        found = []
        for period in range(1, min(MAX_BLOCK, total // 2) + 1):
            position = 0
            while position + period < total:
                run = 0
                while position + run + period < total and shapes[position + run] == shapes[position + run + period]:
                    run += 1
                count = run // period + 1
                if count > 1 and period * (count - 1) >= MIN_SAVED:
                    found.append((period * (count - 1), position, period, count))
                position += run + 1
        return sorted(found, key=lambda item: (-item[0], item[2], item[1]))

    # --- One loop -----------------------------------------------------------------------------------------------------

    def _loop(self, start: int, period: int, count: int) -> Loop | None:
        """The loop of a block, if its iterations differ only in carried variables and in numbers of names."""
        blocks = [self._statements[start + r * period : start + (r + 1) * period] for r in range(count)]
        if any(not item.stem for item in blocks[0]):  # an input or a constant
            return None
        carried: dict[Definition, Carried] = {}
        refs: dict[int, Carried] = {}
        all_leaves = [[part for item in block for part in _leaves(item)] for block in blocks]
        for number, parts in enumerate(zip(*all_leaves, strict=True)):
            if isinstance(parts[0], Ref):
                values = [part.value for part in parts if isinstance(part, Ref)]
                if not self._connects(values, start, period, carried, refs, number):
                    return None
        if not self._ends_inside(start, period, count, carried):
            return None
        names = _templates([[item.name for item in block] for block in blocks])
        if names is None:
            return None
        labels = self._labels(all_leaves)
        body = _rewritten(blocks[0], names, labels, refs)
        last = {
            a: b
            for mine, other in zip(blocks[0], blocks[-1], strict=True)
            for a, b in zip(mine.targets, other.targets, strict=True)
        }
        return Loop(count, body, list(carried.values()), last)

    def _connects(
        self,
        values: Sequence[object],
        start: int,
        period: int,
        carried: dict[Definition, Carried],
        refs: dict[int, Carried],
        number: int,
    ) -> bool:
        """Whether an operand is the same in all iterations: defined before the loop, in the block, or carried."""
        if all(value is values[0] for value in values):
            return self._places[values[0]].statement < start
        places = [self._places[value] for value in values]
        relative = [Definition(item.statement - start - r * period, item.target) for r, item in enumerate(places)]
        if any(item != relative[1] for item in relative[1:]) or not -period <= relative[1].statement < period:
            return False
        if relative[1].statement >= 0:
            return relative[0] == relative[1]
        if places[0].statement >= start:
            return False
        place = Definition(relative[1].statement + period, relative[1].target)
        refs[number] = carried.setdefault(place, Carried(values[0], *place))
        return refs[number].first is values[0]

    def _ends_inside(self, start: int, period: int, count: int, carried: Mapping[Definition, Carried]) -> bool:
        """Whether statements after the loop read only values of its last iteration."""
        end = start + period * count
        for index in range(start, end - period):
            for number, target in enumerate(self._statements[index].targets):
                last = self._last_use.get(target, -1)
                block = (index - start) // period
                place = Definition((index - start) % period, number)
                limit = start + (block + (2 if place in carried else 1)) * period
                if last >= limit:
                    return False
        return True

    def _labels(self, all_leaves: list[list[Part]]) -> dict[int, str]:
        """The keys of arrays as templates; keys without consecutive numbers are renamed."""
        found: dict[int, str] = {}
        for number, parts in enumerate(zip(*all_leaves, strict=True)):
            keys = [part.name for part in parts if isinstance(part, Label)]
            if not keys:
                continue
            if len(set(keys)) == 1:
                found[number] = keys[0]
                continue
            templates = _templates([[key] for key in keys])
            found[number] = templates[0] if templates is not None else self._rename(keys)
        return found


class Renaming:
    """Renames arrays of a loop to keys with consecutive numbers."""

    def __init__(self, rename: Callable[[str, str], None], is_taken: Callable[[str], bool]) -> None:
        self._rename = rename
        self._is_taken = is_taken

    def __call__(self, keys: Sequence[str]) -> str:
        """Renames the keys and returns the template of the new ones."""
        stem = _DIGITS.sub("", keys[0]).strip("_/. ") or "weight"
        number = 1
        while any(self._is_taken(f"{stem}{number}_{r}") for r in range(len(keys))):
            number += 1
        for r, key in enumerate(keys):
            self._rename(key, f"{stem}{number}_{r}")
        return f"{stem}{number}_{MARK}0{MARK}"


def shape(statement: Statement) -> tuple[object, ...]:
    """A key that is equal for all iterations of a statement."""
    kinds = tuple(part.text if hasattr(part, "text") else type(part).__name__ for part in _leaves(statement))
    flags = (statement.is_tuple, statement.takes_name, not statement.name, len(statement.layouts))
    return kinds, len(statement.targets), *flags


def _leaves(statement: Statement) -> Iterator[Part]:
    yield from leaves(statement.part)
    for item in statement.layouts:
        yield from leaves(item)


def _templates(iterations: list[list[str]]) -> list[str] | None:
    """Templates for names, with marks around the number; ``None`` if the numbers are not consecutive."""
    templates = []
    for names in zip(*iterations, strict=True):
        split = [_DIGITS.split(name) for name in names]
        if any(len(item) != len(split[0]) for item in split):
            return None
        text = ""
        for position, parts in enumerate(zip(*split, strict=True)):
            if len(set(parts)) == 1:
                text += parts[0]
                continue
            if position % 2 == 0 or any(str(int(part)) != part for part in parts):
                return None
            numbers = [int(part) for part in parts]
            if any(b - a != 1 for a, b in pairwise(numbers)):
                return None
            text += f"{MARK}{numbers[0]}{MARK}"
        templates.append(text)
    if len(iterations) > 1 and any(name and MARK not in name for name in templates):
        return None  # the builder would number equal names by itself
    return templates


def _rewritten(
    block: list[Statement], names: list[str], labels: Mapping[int, str], refs: Mapping[int, Carried]
) -> list[Statement]:
    """The first iteration with templates for names, and with carried variables."""
    counter = itertools.count()

    def change(part: Part) -> Part:
        match part:
            case Keyword(name, value):
                next(counter)
                return Keyword(name, change(value))
            case Group(head, items, tail):
                next(counter)
                changed = tuple(map(change, items))
                next(counter)
                return Group(head, changed, tail)
            case Joined(parts):
                return Joined(tuple(map(change, parts)))
            case Label():
                return Label(labels[next(counter)])
            case Ref(value):
                return Ref(refs.get(next(counter), value))
            case _:
                next(counter)
                return part

    # Keyword arguments are evaluated in this order, which is the order of the counter.
    return [
        replace(item, part=change(item.part), layouts=tuple(map(change, item.layouts)), name=name)
        for item, name in zip(block, names, strict=True)
    ]
