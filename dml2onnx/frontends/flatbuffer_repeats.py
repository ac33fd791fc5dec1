"""Finds equal tables in a FlatBuffers file, so that each is decoded once.

A writer puts a table and what belongs to it in one piece, in which offsets tell how far it is from one part to another:
the same things become the same bytes wherever they stand. Only what is shared, such as vtables, is farther from one
piece than from another. So the offsets that lead far away are replaced by where they lead, those of vtables all, and
pieces are compared by their bytes. What was read from one can be read from the other, and would be the same.

Pieces are found for many tables at once, by arrays of places instead of one after the other. Nothing is reported here:
what is damaged, has parts that overlap or is too large is no piece, and its reader reports it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

import numpy as np

from dml2onnx.frontends.flatbuffer import NO_PLACE, READS_PER_BYTE, DamagedError, FlatBuffer, Form, Place, Table
from dml2onnx.serialized_schema import MAX_BYTES, PARTS, Part, TableLayout

if TYPE_CHECKING:
    import numpy.typing as npt

    Ints = npt.NDArray[np.int64]

T = TypeVar("T")
Element: TypeAlias = "tuple[int, T | Table]"
"""Where a table of a vector is, and what an equal one was or else itself."""

LARGEST = 1 << 14
"""Bytes of a piece. Descriptors have some hundred; a hostile file could have the same large piece for every table."""
_WIDEST = 1 << 24
"""Bytes from the first piece to the last of those that are found together."""
_DEEPEST = 12
"""Tables within tables."""
_MOST_FORMS = 1 << 8
"""Vtables of the tables of one kind. Writers have some ten; a hostile file could have one for every table."""
_NOWHERE = 1 << 40
"""The end of what is no piece, beyond all others."""


class Pieces:
    """The pieces of a file."""

    def __init__(self, buffer: FlatBuffer) -> None:
        self._buffer = buffer
        self._words = np.asarray(buffer.words)
        self._known: defaultdict[TableLayout, dict[int, int]] = defaultdict(dict)
        """Where the piece of a table ends, by where it starts."""
        self._content, self._start = b"", 0
        self._left = READS_PER_BYTE * len(buffer.data)

    def find(self, layout: TableLayout, tables: Iterable[int]) -> None:
        """Finds the pieces of these tables and of all that they lead to, in place of those that were found before."""
        search = _Search(self._buffer, self._words, self._left)
        search.ends(layout, np.unique(np.fromiter(tables, np.int64)), 0)
        known, self._content, self._start = search.result()
        self._left = search.left
        self._known = defaultdict(dict, known)

    def content(self, layout: TableLayout, table: int) -> bytes | None:
        """What is the same for tables that hold the same; ``None`` where that is not known."""
        end = self._known[layout].get(table)
        return None if end is None else self._content[table - self._start : end - self._start]


class _Search:
    """The pieces of some tables."""

    def __init__(self, buffer: FlatBuffer, words: npt.NDArray[np.uint32], left: int) -> None:
        self._buffer = buffer
        self._words = words
        self._bytes = np.frombuffer(buffer.data, np.uint8)
        self._size = 4 * words.size if len(buffer.data) <= MAX_BYTES else 0
        self.left = left
        """Offsets that may be followed, as often as they are found, and words that may be compared."""
        self._pieces: defaultdict[TableLayout, list[tuple[Ints, Ints]]] = defaultdict(list)
        self._tables: list[tuple[Ints, Ints]] = []
        """Start and end of the tables themselves."""
        self._vectors: list[tuple[Ints, Ints]] = []
        """Start and end of the vectors of tables, which consist of offsets."""
        self._others: list[tuple[Ints, Ints]] = []
        """Start and end of all else."""
        self._moved: list[tuple[Ints, Ints]] = []
        """Places of offsets, and where these lead."""

    def ends(self, layout: TableLayout, tables: Ints, depth: int) -> Ints:
        """Where the pieces of tables end."""
        ends = np.full(tables.size, _NOWHERE)
        rows = np.flatnonzero((tables & 3 == 0) & (tables + 4 <= self._size))
        if depth < _DEEPEST and rows.size:
            ends[rows] = self._ends(layout, tables[rows], depth)
            self._pieces[layout].append((tables, ends))
        return ends

    def _ends(self, layout: TableLayout, tables: Ints, depth: int) -> Ints:
        """The same of tables of which at least the first word lies in the file."""
        forms, kinds, vtables = self._forms(layout, tables)
        ends: Ints = tables + np.array([_NOWHERE if form is None else form.size for form in forms])[kinds]
        ends[ends > self._size] = _NOWHERE
        good = ends < _NOWHERE
        self._tables.append((tables[good], ends[good]))
        self._moved.append((tables[good], vtables[good]))
        for field, kind in PARTS[layout].items():
            inside = np.array([0 if form is None else form.offsets.get(field, 0) for form in forms])[kinds]
            rows = np.flatnonzero((inside > 0) & (ends < _NOWHERE))
            if not rows.size:
                continue
            if isinstance(kind, Part):
                self._extend(ends, rows, tables[rows] + inside[rows], kind, depth)
                continue
            inner = np.array([0 if form is None else form.codes.get(field, 0) for form in forms])[kinds][rows]
            codes = np.where(inner > 0, self._bytes[tables[rows] + inner], 0)
            for code in np.unique(codes):
                part = kind.get(int(code))
                chosen = rows[codes == code]
                if part is None:
                    ends[chosen] = _NOWHERE
                else:
                    self._extend(ends, chosen, tables[chosen] + inside[chosen], part, depth)
        return ends

    def _forms(self, layout: TableLayout, tables: Ints) -> tuple[list[Form | None], Ints, Ints]:
        """The vtables, ``None`` for those that are none, which of them each table has, and where."""
        vtables = tables - self._words[tables >> 2].view(np.int32)
        unique = np.unique(vtables)
        kinds = np.searchsorted(unique, vtables)
        forms: list[Form | None] = []
        for vtable in unique.tolist():
            try:
                forms.append(self._buffer.vtable(NO_PLACE, vtable, layout) if len(forms) < _MOST_FORMS else None)
            except DamagedError:
                forms.append(None)
        return forms, kinds, vtables

    def _extend(self, ends: Ints, rows: Ints, places: Ints, part: Part, depth: int) -> None:
        """The pieces of some rows reach as far as what the offsets at these places lead to."""
        rows, targets = self._follow(rows, places, depth)
        if not part.is_vector:
            if part.layout is not None:
                reached = self.ends(part.layout, targets, depth + 1)
            else:
                reached = targets + part.nbytes
                reached[reached > self._size] = _NOWHERE
                self._others.append((targets, reached))
            np.maximum.at(ends, rows, reached)
            return
        lengths = np.full(rows.size, _NOWHERE)
        good = np.flatnonzero((targets & 3 == 0) & (targets + 4 <= self._size))
        lengths[good] = self._words[targets[good] >> 2]
        reached = targets + 4 + lengths * part.nbytes + part.ending
        reached[(lengths > LARGEST) | (reached > self._size)] = _NOWHERE
        np.maximum.at(ends, rows, reached)
        if part.layout is None:
            self._others.append((targets, reached))
            return
        self._vectors.append((targets, reached))
        good = np.flatnonzero(reached < _NOWHERE)
        rows, targets, lengths = rows[good], targets[good], lengths[good]
        self.left -= int(lengths.sum())
        if self.left < 0:
            return
        firsts = np.cumsum(lengths) - lengths
        numbers = np.arange(lengths.sum()) - np.repeat(firsts, lengths)
        rows, targets = self._follow(np.repeat(rows, lengths), np.repeat(targets + 4, lengths) + 4 * numbers, depth)
        if rows.size:
            np.maximum.at(ends, rows, self.ends(part.layout, targets, depth + 1))

    def _follow(self, rows: Ints, places: Ints, depth: int) -> tuple[Ints, Ints]:
        """Where offsets lead, without those that lead far away."""
        distances = self._words[places >> 2].astype(np.int64)
        near = distances <= (LARGEST if depth else self._size)
        if not near.all():
            far = ~near
            self._moved.append((places[far], places[far] + distances[far]))
        return rows[near], places[near] + distances[near]

    def result(self) -> tuple[dict[TableLayout, dict[int, int]], bytes, int]:
        """The ends of all pieces, by layouts and starts; the bytes to compare, and where in the file they start."""
        nothing: tuple[dict[TableLayout, dict[int, int]], bytes, int] = {}, b"", 0
        spans = [_joined(several) for several in (self._tables, self._vectors, self._others) if several]
        spans = [(start[end < _NOWHERE], end[end < _NOWHERE]) for start, end in spans]
        if self.left < 0 or not spans or not spans[0][0].size:
            return nothing
        low = int(spans[0][0].min()) & ~7
        high = max(int(end.max()) for _, end in spans if end.size)
        self.left -= (high - low) >> 2
        if high - low > _WIDEST or self.left < 0:
            return nothing
        overlaps = self._overlaps(spans, low, high)
        words = self._words[low >> 2 : (high + 3) >> 2].copy()
        places, targets = _joined(self._moved)
        inside = places < high
        words[(places[inside] - low) >> 2] = targets[inside]
        known: dict[TableLayout, dict[int, int]] = {}
        for layout, several in self._pieces.items():
            starts, ends = _joined(several)
            good = np.flatnonzero(ends - starts <= LARGEST)
            starts, ends = starts[good], ends[good]
            good = np.flatnonzero(overlaps[(ends - low + 3) >> 2] == overlaps[(starts - low) >> 2])
            known[layout] = dict(zip(starts[good].tolist(), ends[good].tolist(), strict=True))
        return known, words.tobytes(), low

    @staticmethod
    def _overlaps(spans: Sequence[tuple[Ints, Ints]], low: int, high: int) -> Ints:
        """How many words in front of each are read as parts of different things."""
        size = ((high - low + 3) >> 2) + 1
        times = np.zeros(size, np.int32)
        uneven: list[Ints] = []
        for start, end in spans:
            first, last = (start - low) >> 2, (end - low + 3) >> 2
            lasts = np.zeros(size, np.int32)
            lasts[first] = last
            uneven.append(first[lasts[first] != last])  # from one start to several ends
            distinct = np.flatnonzero(lasts)
            times[distinct] += 1
            times -= np.bincount(lasts[distinct], minlength=size).astype(np.int32)
        several = np.cumsum(times) > 1
        several[np.concatenate(uneven)] = True
        return np.concatenate([[0], np.cumsum(several)[:-1]])


def _joined(several: Sequence[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    first, second = zip(*several, strict=True)
    return np.concatenate(first), np.concatenate(second)


class Repeats(Generic[T]):
    """What tables of one layout stand for, by their contents and by what else it depends on."""

    def __init__(self, buffer: FlatBuffer, pieces: Pieces, layout: TableLayout) -> None:
        self._buffer = buffer
        self._pieces = pieces
        self._layout = layout
        self._known: dict[tuple[bytes, int, Hashable], tuple[T, int]] = {}
        """With the bytes that reading it counts."""

    def _key(self, offset: int, beside: Hashable) -> tuple[bytes, int, Hashable] | None:
        content = self._pieces.content(self._layout, offset)
        # where a table starts modulo 8 is all that alignment depends on
        return None if content is None else (content, offset & 7, beside)

    def find(self, place: Place, offset: int, beside: Hashable) -> T | None:
        """What an equal table was, with the same things ``beside`` it."""
        key = self._key(offset, beside)
        known = None if key is None else self._known.get(key)
        if known is None:
            return None
        self._buffer.spend(place, offset, known[1])
        return known[0]

    def elements(self, parent: Table, field: str, besides: Iterable[Hashable]) -> list[Element[T]]:
        """The same for all tables of a vector, and the tables where nothing equal is known."""
        elements: list[Element[T]] = []
        for index, (offset, beside) in enumerate(zip(parent.targets(field), besides, strict=False)):
            place = parent, field, index
            known = self.find(place, offset, beside)
            element = Table(self._buffer, offset, self._layout, place) if known is None else known
            elements.append((offset, element))
        return elements

    def keep(self, offset: int, beside: Hashable, found: T, left: int) -> None:
        """Called with what a table is that was not known, and with how many bytes were left before it was read."""
        key = self._key(offset, beside)
        if key is not None:
            self._known[key] = found, left - self._buffer.left
