"""Tables of a FlatBuffers file that are alike, so that what they hold is decoded once.

A writer puts a table and what belongs to it in one piece, in which offsets tell how far it is from one part to another:
the same things become the same bytes wherever they stand. Only what is shared, such as vtables and strings, is farther
from one piece than from another. So pieces are compared by their bytes, the offsets that lead out of them by where they
lead. What was read from one can be read from the other, and would be the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from dml2onnx.frontends.flatbuffer import Trace

if TYPE_CHECKING:
    from collections.abc import Hashable

    import numpy.typing as npt

    from dml2onnx.frontends.flatbuffer import FlatBuffer, Table

    Words = npt.NDArray[np.uint32]

T = TypeVar("T")

LARGEST = 1 << 14
"""Bytes of a piece. Descriptors have some hundred; a hostile file could have the same large piece for every table."""
MOST_FORMS = 8
"""Forms of pieces that are tried for a table."""
_PADDING = 16
"""Bytes that may lie between two parts of a piece unread: padding, and the rest of a vtable."""


@dataclass(frozen=True, slots=True)
class _Form:
    """How large a piece is, and which of its words are offsets that lead out of it."""

    size: int
    """In words of 4 bytes."""
    moves: Words
    """What each word is more than in a piece that starts one byte further: 0, 1, or -1 modulo 2**32."""

    def content(self, words: Words, start: int) -> bytes:
        """The piece that starts at a byte of the file, with offsets as if it started at 0."""
        first = start >> 2
        piece = words[first : first + self.size]
        return (piece + self.moves * np.uint32(start)).tobytes() if piece.size == self.size else b""


class Repeats(Generic[T]):
    """What tables of one kind stand for, by their contents and by what else it depends on."""

    def __init__(self, buffer: FlatBuffer) -> None:
        self._buffer = buffer
        self._words: Words = np.frombuffer(buffer.data, "<u4", len(buffer.data) // 4)
        self._forms: dict[tuple[int, bytes], dict[bytes, _Form]] = {}
        """Those of pieces by the bytes of their tables, and by where these start modulo 8, which is all that alignment
        depends on."""
        self._known: dict[tuple[bytes, Hashable], tuple[T, int]] = {}
        """With the bytes that reading it counts."""
        self._left = 0

    def find(self, table: Table, beside: Hashable) -> T | None:
        """What an equal table was, with the same things ``beside`` it; else what is read from here on is watched."""
        for form in self._forms.get((table.offset & 7, table.inline()), {}).values():
            known = self._known.get((form.content(self._words, table.offset), beside))
            if known is not None:
                self._buffer.spend(table.reached, table.offset, known[1])
                return known[0]
        self._left = self._buffer.left
        self._buffer.trace = Trace()
        return None

    def keep(self, table: Table, beside: Hashable, found: T | None) -> None:
        """Called behind :meth:`find` with what the table is; with ``None`` where that depends on its place."""
        trace, self._buffer.trace = self._buffer.trace, None
        if found is None or trace is None:
            return
        start, end = table.offset, table.end
        for first, last in sorted([span for span in trace.spans if span[0] >= start]):
            if first > end + _PADDING:
                break
            end = max(end, last)
        forms = self._forms.setdefault((start & 7, table.inline()), {})
        if end - start > LARGEST or end > 4 * self._words.size:
            return
        form = self._form(table, trace, end)
        if len(forms) < MOST_FORMS:
            form = forms.setdefault(form.moves.tobytes(), form)
        shared = sum(nbytes for place, nbytes in trace.strings if not start <= place < end)
        cost = self._left - self._buffer.left - shared
        self._known[form.content(self._words, start), beside] = found, cost

    @staticmethod
    def _form(table: Table, trace: Trace, end: int) -> _Form:
        start = table.offset
        moves = np.zeros((end - start + 3) // 4, np.uint32)
        for sign, offsets in ((1, trace.pointers), (-1, [*trace.vtables, (start, table.vtable)])):
            for place, target in offsets:
                if start <= place < end and not start <= target < end:
                    moves[(place - start) >> 2] = sign % (1 << 32)
        return _Form(moves.size, moves)
