"""Finds equal tables in a FlatBuffers file, so that each is decoded once.

A writer stores a table and its parts contiguously, as one piece, with relative offsets: equal tables have equal bytes
wherever they are. Only shared parts, such as vtables, have different distances. So far offsets, and all offsets of
vtables, are replaced by their targets, and pieces are compared by their bytes. Equal pieces decode to equal values.

Pieces of many tables are found at once, by arrays of offsets. Nothing is reported here: damaged, overlapping and too
large tables have no piece, and their reader reports errors.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

import numpy as np

from dml2onnx.frontends.flatbuffer import NO_PLACE, READS_PER_BYTE, DamagedError, FlatBuffer, Place, Table, VTable
from dml2onnx.serialized_schema import MAX_BYTES, PARTS, OffsetTarget, TableLayout

if TYPE_CHECKING:
    import numpy.typing as npt

    Ints = npt.NDArray[np.int64]

T = TypeVar("T")
Element: TypeAlias = "tuple[int, T | Table]"
"""The offset of a table in a vector, and the cached value of an equal table or else the table."""

MAX_PIECE = 1 << 14
"""Bytes of a piece. Descriptors have some hundred; a hostile file could have the same large piece for every table."""
_MAX_RANGE = 1 << 24
"""Bytes from the first piece to the last of those that are found together."""
_MAX_DEPTH = 12
"""Nesting of tables."""
_MAX_FORMS = 1 << 8
"""Vtables of the tables of one kind. Writers have some ten; a hostile file could have one for every table."""
_NO_END = 1 << 40
"""The end of a table without a piece, beyond all others."""


class Pieces:
    """The pieces of a file."""

    def __init__(self, buffer: FlatBuffer) -> None:
        self._buffer = buffer
        self._words = np.asarray(buffer.words)
        self._known: defaultdict[TableLayout, dict[int, int]] = defaultdict(dict)
        """Ends of pieces by start."""
        self._content, self._start = b"", 0
        self._left = READS_PER_BYTE * len(buffer.data)

    def find(self, layout: TableLayout, tables: Iterable[int]) -> None:
        """Finds the pieces of these tables and of all tables in them, and drops those found before."""
        search = _Search(self._buffer, self._words, self._left)
        search.ends(layout, np.unique(np.fromiter(tables, np.int64)), 0)
        known, self._content, self._start = search.result()
        self._left = search.left
        self._known = defaultdict(dict, known)

    def content(self, layout: TableLayout, table: int) -> bytes | None:
        """Returns bytes that are equal for equal tables; ``None`` if the table has no piece."""
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
        """The budget of offsets to follow and of words to compare."""
        self._pieces: defaultdict[TableLayout, list[tuple[Ints, Ints]]] = defaultdict(list)
        self._tables: list[tuple[Ints, Ints]] = []
        """Starts and ends of tables."""
        self._vectors: list[tuple[Ints, Ints]] = []
        """Starts and ends of vectors of tables, which consist of offsets."""
        self._others: list[tuple[Ints, Ints]] = []
        """Starts and ends of all else."""
        self._moved: list[tuple[Ints, Ints]] = []
        """Positions of far offsets, and their targets."""

    def ends(self, layout: TableLayout, tables: Ints, depth: int) -> Ints:
        """Returns the ends of the pieces of tables."""
        ends = np.full(tables.size, _NO_END)
        rows = np.flatnonzero((tables & 3 == 0) & (tables + 4 <= self._size))
        if depth < _MAX_DEPTH and rows.size:
            ends[rows] = self._ends(layout, tables[rows], depth)
            self._pieces[layout].append((tables, ends))
        return ends

    def _ends(self, layout: TableLayout, tables: Ints, depth: int) -> Ints:
        """Returns the ends for tables whose first word is in the file."""
        forms, kinds, vtables = self._forms(layout, tables)
        ends: Ints = tables + np.array([_NO_END if form is None else form.size for form in forms])[kinds]
        ends[ends > self._size] = _NO_END
        good = ends < _NO_END
        self._tables.append((tables[good], ends[good]))
        self._moved.append((tables[good], vtables[good]))
        for field, kind in PARTS[layout].items():
            inside = np.array([0 if form is None else form.offsets.get(field, 0) for form in forms])[kinds]
            rows = np.flatnonzero((inside > 0) & (ends < _NO_END))
            if not rows.size:
                continue
            if isinstance(kind, OffsetTarget):
                self._extend(ends, rows, tables[rows] + inside[rows], kind, depth)
                continue
            inner = np.array([0 if form is None else form.codes.get(field, 0) for form in forms])[kinds][rows]
            codes = np.where(inner, self._bytes[tables[rows] + inner], 0)
            for code in np.unique(codes):
                part = kind.get(int(code))
                chosen = rows[codes == code]
                if part is None:
                    ends[chosen] = _NO_END
                else:
                    self._extend(ends, chosen, tables[chosen] + inside[chosen], part, depth)
        return ends

    def _forms(self, layout: TableLayout, tables: Ints) -> tuple[list[VTable | None], Ints, Ints]:
        """Returns the vtables (``None`` for invalid ones), the index of each table's vtable, and their offsets."""
        vtables = tables - self._words[tables >> 2].view(np.int32)
        unique = np.unique(vtables)
        kinds = np.searchsorted(unique, vtables)
        forms: list[VTable | None] = []
        for vtable in unique.tolist():
            try:
                forms.append(self._buffer.vtable(NO_PLACE, vtable, layout) if len(forms) < _MAX_FORMS else None)
            except DamagedError:
                forms.append(None)
        return forms, kinds, vtables

    def _extend(self, ends: Ints, rows: Ints, places: Ints, part: OffsetTarget, depth: int) -> None:
        """Extends the pieces of some rows to the ends of the targets of the offsets at ``places``."""
        rows, targets = self._follow(rows, places, depth)
        if not part.is_vector:
            if part.layout is not None:
                reached = self.ends(part.layout, targets, depth + 1)
            else:
                reached = targets + part.nbytes
                reached[reached > self._size] = _NO_END
                self._others.append((targets, reached))
            np.maximum.at(ends, rows, reached)
            return
        lengths = np.full(rows.size, _NO_END)
        good = np.flatnonzero((targets & 3 == 0) & (targets + 4 <= self._size))
        lengths[good] = self._words[targets[good] >> 2]
        reached = targets + 4 + lengths * part.nbytes + part.ending
        reached[(lengths > MAX_PIECE) | (reached > self._size)] = _NO_END
        np.maximum.at(ends, rows, reached)
        if part.layout is None:
            self._others.append((targets, reached))
            return
        self._vectors.append((targets, reached))
        good = np.flatnonzero(reached < _NO_END)
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
        """Returns the targets of near offsets, and notes the far ones."""
        distances = self._words[places >> 2].astype(np.int64)
        near = distances <= (MAX_PIECE if depth else self._size)
        if not near.all():
            far = ~near
            self._moved.append((places[far], places[far] + distances[far]))
        return rows[near], places[near] + distances[near]

    def result(self) -> tuple[dict[TableLayout, dict[int, int]], bytes, int]:
        """Returns the ends of all pieces by layout and start, the bytes to compare, and their offset in the file."""
        nothing: tuple[dict[TableLayout, dict[int, int]], bytes, int] = {}, b"", 0
        spans = [_joined(several) for several in (self._tables, self._vectors, self._others) if several]
        spans = [(start[end < _NO_END], end[end < _NO_END]) for start, end in spans]
        if self.left < 0 or not spans or not spans[0][0].size:
            return nothing
        low = int(spans[0][0].min()) & ~7
        high = max(int(end.max()) for _, end in spans if end.size)
        self.left -= (high - low) >> 2
        if high - low > _MAX_RANGE or self.left < 0:
            return nothing
        overlaps = self._overlaps(spans, low, high)
        words = self._words[low >> 2 : (high + 3) >> 2].copy()
        places, targets = _joined(self._moved)
        inside = places < high
        words[(places[inside] - low) >> 2] = targets[inside]
        known: dict[TableLayout, dict[int, int]] = {}
        for layout, several in self._pieces.items():
            starts, ends = _joined(several)
            good = np.flatnonzero(ends - starts <= MAX_PIECE)
            starts, ends = starts[good], ends[good]
            good = np.flatnonzero(overlaps[(ends - low + 3) >> 2] == overlaps[(starts - low) >> 2])
            known[layout] = dict(zip(starts[good].tolist(), ends[good].tolist(), strict=True))
        return known, words.tobytes(), low

    @staticmethod
    def _overlaps(spans: Sequence[tuple[Ints, Ints]], low: int, high: int) -> Ints:
        """Counts, for each word, the words before it that belong to several parts."""
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


class TableCache(Generic[T]):
    """Caches the decoded values of tables of one layout, by content and context."""

    def __init__(self, buffer: FlatBuffer, pieces: Pieces, layout: TableLayout) -> None:
        self._buffer = buffer
        self._pieces = pieces
        self._layout = layout
        self._known: dict[tuple[bytes, int, Hashable], tuple[T, int]] = {}
        """Values, each with the bytes that reading it counts."""

    def _key(self, offset: int, context: Hashable) -> tuple[bytes, int, Hashable] | None:
        content = self._pieces.content(self._layout, offset)
        # alignment depends on the offset modulo 8
        return None if content is None else (content, offset & 7, context)

    def find(self, place: Place, offset: int, context: Hashable) -> T | None:
        """Returns the value of an equal table in an equal ``context``, if cached."""
        key = self._key(offset, context)
        known = None if key is None else self._known.get(key)
        if known is None:
            return None
        self._buffer.spend(place, offset, known[1])
        return known[0]

    def elements(self, parent: Table, field: str, contexts: Iterable[Hashable]) -> list[Element[T]]:
        """Returns the cached values of all tables of a vector, or the tables if not cached."""
        elements: list[Element[T]] = []
        for index, (offset, context) in enumerate(zip(parent.targets(field), contexts, strict=False)):
            place = parent, field, index
            known = self.find(place, offset, context)
            element = Table(self._buffer, offset, self._layout, place) if known is None else known
            elements.append((offset, element))
        return elements

    def keep(self, offset: int, context: Hashable, value: T, left: int) -> None:
        """Caches the value of a table; ``left`` is the budget of the buffer before it was read."""
        key = self._key(offset, context)
        if key is not None:
            self._known[key] = value, left - self._buffer.left
