"""Blocks of statements that repeat, with a number in their names that counts, as loops."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from dml2onnx.source_code.statements import Statement
from dml2onnx.source_code.text import Group, Joined, Keyword, Label, Part, Ref, leaves

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

LONGEST_BLOCK = 256
"""Statements of a block that is looked for."""
LEAST_SAVED = 4
"""Statements that a loop makes unnecessary, at least."""
MARK = "\ue000"
"""Stands in a name around what is added to the number of the repetition."""
_DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True, eq=False)
class Carried:
    """A variable that a repetition hands to the next one."""

    first: object
    """What it is before the loop."""
    position: int
    target: int
    """Which statement of the block makes what the next repetition finds in it, and as which of its targets."""


@dataclass(eq=False)
class Loop:
    """``for i in range(count)`` over a block."""

    count: int
    body: list[Statement]
    carried: list[Carried]
    last: dict[object, object] = field(default_factory=dict)
    """What the last repetition makes, by the targets of the block: what is seen of it behind the loop."""


class Place(NamedTuple):
    """Where a value is made."""

    statement: int
    target: int


def with_loops(statements: list[Statement], kept: frozenset[object], rename: Renaming) -> list[Statement | Loop]:
    """Statements with loops for blocks that repeat; ``kept`` are the values that the end of the program needs."""
    search = _Search(statements, kept, rename)
    made: list[Statement | Loop] = []
    position = 0
    found = search.found()
    while position < len(statements):
        loop = found.get(position)
        if loop is None:
            made.append(statements[position])
            position += 1
        else:
            made.append(loop)
            position += loop.count * len(loop.body)
    return made


class _Search:
    def __init__(self, statements: list[Statement], kept: frozenset[object], rename: Renaming) -> None:
        self._statements = statements
        self._rename = rename
        self._made: dict[object, Place] = {}
        self._last_use: dict[object, int] = dict.fromkeys(kept, len(statements))
        for index, item in enumerate(statements):
            for number, target in enumerate(item.targets):
                self._made[target] = Place(index, number)
            for part in _leaves(item):
                if isinstance(part, Ref):
                    self._last_use[part.value] = max(index, self._last_use.get(part.value, 0))

    def found(self) -> dict[int, Loop]:
        """Loops by where they start, none in another."""
        loops: dict[int, Loop] = {}
        taken = [False] * len(self._statements)
        for _, start, period, count in self._candidates():
            for shift in range(min(period, len(self._statements))):
                first = start + shift
                times = count if first + count * period <= start + self._run(start, period, count) else count - 1
                if times < 2 or period * (times - 1) < LEAST_SAVED:
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
        """Statements from ``start`` on that repeat with that period."""
        shapes, length = self._shapes, count * period
        while start + length < len(shapes) and shapes[start + length] == shapes[start + length - period]:
            length += 1
        return length

    def _candidates(self) -> list[tuple[int, int, int, int]]:
        """(statements saved, start, length of the block, repetitions), the best first."""
        known: dict[object, int] = {}
        self._shapes = [known.setdefault(shape(item), len(known)) for item in self._statements]
        shapes, total = self._shapes, len(self._shapes)
        found = []
        for period in range(1, min(LONGEST_BLOCK, total // 2) + 1):
            position = 0
            while position + period < total:
                run = 0
                while position + run + period < total and shapes[position + run] == shapes[position + run + period]:
                    run += 1
                count = run // period + 1
                if count > 1 and period * (count - 1) >= LEAST_SAVED:
                    found.append((period * (count - 1), position, period, count))
                position += run + 1
        return sorted(found, key=lambda item: (-item[0], item[2], item[1]))

    # --- One loop -----------------------------------------------------------------------------------------------------

    def _loop(self, start: int, period: int, count: int) -> Loop | None:
        """The loop of a block, if its repetitions differ in nothing but what they hand on, and numbers in names."""
        blocks = [self._statements[start + r * period : start + (r + 1) * period] for r in range(count)]
        if any(not item.stem for item in blocks[0]):  # inputs and constants are no part of a block
            return None
        carried: dict[Place, Carried] = {}
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
        carried: dict[Place, Carried],
        refs: dict[int, Carried],
        number: int,
    ) -> bool:
        """Whether an operand is the same in all repetitions: a value before them, one of their own, or handed on."""
        if all(value is values[0] for value in values):
            return self._made[values[0]].statement < start
        places = [self._made[value] for value in values]
        relative = [Place(item.statement - start - r * period, item.target) for r, item in enumerate(places)]
        if any(item != relative[1] for item in relative[1:]) or not -period <= relative[1].statement < period:
            return False
        if relative[1].statement >= 0:
            return relative[0] == relative[1]
        if places[0].statement >= start:
            return False
        next_one = Place(relative[1].statement + period, relative[1].target)
        known = carried.setdefault(next_one, Carried(values[0], *next_one))
        refs[number] = known
        return known.first is values[0]

    def _ends_inside(self, start: int, period: int, count: int, carried: Mapping[Place, Carried]) -> bool:
        """Whether nothing behind the loop needs what a repetition but the last one made."""
        end = start + period * count
        for index in range(start, end - period):
            for number, target in enumerate(self._statements[index].targets):
                last = self._last_use.get(target, -1)
                block = (index - start) // period
                place = Place((index - start) % period, number)
                limit = start + (block + (2 if place in carried else 1)) * period
                if last >= limit:
                    return False
        return True

    def _labels(self, all_leaves: list[list[Part]]) -> dict[int, str]:
        """The keys of arrays as templates; those that do not count by themselves get others."""
        found: dict[int, str] = {}
        for number, parts in enumerate(zip(*all_leaves, strict=True)):
            keys = [part.name for part in parts if isinstance(part, Label)]
            if not keys:
                continue
            if len(set(keys)) == 1:
                found[number] = keys[0]
                continue
            made = _templates([[key] for key in keys])
            found[number] = made[0] if made is not None else self._rename(keys)
        return found


class Renaming:
    """Gives arrays of a loop keys that count."""

    def __init__(self, rename: Callable[[str, str], None], taken: Callable[[str], bool]) -> None:
        self._change = rename
        self._is_taken = taken

    def __call__(self, keys: Sequence[str]) -> str:
        """The template of the new keys."""
        stem = _DIGITS.sub("", keys[0]).strip("_/. ") or "weight"
        number = 1
        while any(self._is_taken(f"{stem}{number}_{r}") for r in range(len(keys))):
            number += 1
        for r, key in enumerate(keys):
            self._change(key, f"{stem}{number}_{r}")
        return f"{stem}{number}_{MARK}0{MARK}"


def shape(statement: Statement) -> tuple[object, ...]:
    """What two statements have in common that may be repetitions of each other."""
    kinds = tuple(part.text if hasattr(part, "text") else type(part).__name__ for part in _leaves(statement))
    others = (statement.is_tuple, statement.takes_name, not statement.name, len(statement.layouts))
    return kinds, len(statement.targets), *others


def _leaves(statement: Statement) -> Iterator[Part]:
    yield from leaves(statement.part)
    for item in statement.layouts:
        yield from leaves(item)


def _templates(repetitions: list[list[str]]) -> list[str] | None:
    """Names with marks where the number of the repetition stands; ``None`` where they do not count."""
    made = []
    for names in zip(*repetitions, strict=True):
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
        made.append(text)
    if len(repetitions) > 1 and any(name and MARK not in name for name in made):
        return None  # the same name for all: they would get numbers of another kind
    return made


def _rewritten(
    block: list[Statement], names: list[str], labels: Mapping[int, str], refs: Mapping[int, Carried]
) -> list[Statement]:
    """The first repetition with templates for names, and variables for what is handed on."""
    counter = iter(range(1 << 62))

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

    made = []
    for item, name in zip(block, names, strict=True):
        part = change(item.part)
        layouts = tuple(map(change, item.layouts))
        made.append(replace(item, part=part, layouts=layouts, name=name))
    return made
