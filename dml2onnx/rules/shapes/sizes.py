"""Sizes by formulas, and diagnostics about sizes that differ from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from dml2onnx.codes import checking as codes
from dml2onnx.diagnostics import Diagnostic
from dml2onnx.rules.findings import accepting
from dml2onnx.rules.subject import Subject

OTHER_SIZES = "it computes as many elements as the output has, whatever the number of windows"
"""What DirectML does if the number of windows differs from the output size."""


# --- Formulas -------------------------------------------------------------------------------------------------------

Words: TypeAlias = "str | Callable[[], str]"


class Term(NamedTuple):
    """The result of a formula for one size: the natural size, and the range of valid ones.

    ``words`` is the formula with its numbers, or a function that returns it, since it is rarely needed. ``expected``
    describes the valid sizes in messages. ``high`` is ``None`` without an upper limit, ``size`` if no size is natural.
    """

    size: int | None
    words: Words
    expected: object
    low: int
    high: int | None
    accepted: str = ""
    """What DirectML does with other sizes, if it accepts them."""
    compiled: bool = False
    """Whether a compiled model does the same."""

    @property
    def formula(self) -> str:
        """The formula with its numbers."""
        return self.words if isinstance(self.words, str) else self.words()

    def nearest(self, found: int) -> int:
        """The valid size nearest to ``found``."""
        return max(found if self.high is None else min(found, self.high), self.low)


def exactly(size: int, words: Words) -> Term:
    """A single valid size."""
    return Term(size, words, size, size, size)


def between(low: int, high: int, words: Words) -> Term:
    """Two valid sizes, of which the lower one is natural."""
    return Term(low, words, f"{low}" if low == high else f"{low} or {high}", low, high)


def at_most(high: int, words: Words) -> Term:
    """Sizes up to a maximum, which is natural."""
    return Term(high, words, f"at most {high}", 0, high)


def loosely(term: Term, does: str, *, compiled: bool = False) -> Term:
    """Marks that DirectML also accepts all other sizes; ``does`` describes what it does then."""
    return term._replace(accepted=does, compiled=compiled)


def free(size: int | None = None) -> Term:
    """Any size."""
    return Term(size, "", "any", 0, None)


@dataclass(frozen=True, slots=True)
class Whole:
    """Sizes that are reported together, with the formula in words."""

    terms: tuple[Term, ...]
    words: str

    @classmethod
    def of(cls, sizes: Iterable[int], words: str) -> Whole:
        """A single valid size per dimension."""
        return cls(tuple(exactly(size, words) for size in sizes), words)


Sizes: TypeAlias = "Whole | Iterable[Term | Diagnostic]"
"""One term per dimension, or the reason why there is no valid size."""

SizeFormula: TypeAlias = "Callable[[Subject, int], Sizes]"
"""The sizes of a tensor of that dimension count. May raise :class:`~dml2onnx.rules.subject.UnanswerableError`."""


def windows_formula(subject: Subject, i: int, size: int, reach: int, stride: int) -> str:
    """The formula of the number of windows, with the names of the attributes involved."""
    text = str(size)
    for name in ("StartPadding", "EndPadding"):
        if subject.numbers(name)[i]:
            text += f" + {name}[{i}] {subject.numbers(name)[i]}"
    dilation = subject.numbers("Dilations")[i] if "Dilations" in subject.index else 1
    window = f"{reach} (with Dilations[{i}] {dilation})" if dilation != 1 else f"{reach}"
    return f"({text} - {window}) / {f'Strides[{i}] {stride}' if stride != 1 else stride} + 1"


def extended(sizes: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """Adds or drops leading ones to reach ``rank``; the result is longer if other sizes do not fit."""
    while len(sizes) > rank and sizes[0] == 1:
        sizes = sizes[1:]
    return (1,) * (rank - len(sizes)) + sizes


# --- Findings -------------------------------------------------------------------------------------------------------


def compared(subject: Subject, tensor: str, formula: SizeFormula) -> Iterator[Diagnostic]:
    """Compares the sizes of ``tensor`` with its formula."""
    found = subject.sizes(tensor)
    sizes = formula(subject, len(found))
    if isinstance(sizes, Whole):
        return _compared_at_once(tensor, found, sizes)
    return compared_singly(tensor, found, sizes)


def _compared_at_once(tensor: str, found: Sequence[int], sizes: Whole) -> Iterator[Diagnostic]:
    if len(found) == len(sizes.terms):
        expected = [term.nearest(size) for term, size in zip(sizes.terms, found, strict=True)]
    else:
        expected = [term.low for term in sizes.terms]
    return wrong_sizes(tensor, found, expected, sizes.words)


def compared_singly(tensor: str, found: Sequence[int], sizes: Iterable[Term | Diagnostic]) -> Iterator[Diagnostic]:
    """Compares sizes per dimension; mismatches become one diagnostic."""
    wrong: list[tuple[int, Term]] = []
    for i, term in enumerate(sizes):
        if isinstance(term, Diagnostic):
            yield term
        elif found[i] != term.size and found[i] != term.nearest(found[i]):
            wrong.append((i, term))
    yield from _differing(tensor, found, [(i, term) for i, term in wrong if not term.accepted])
    accepted = [(i, term) for i, term in wrong if term.accepted]
    for finding in _differing(tensor, found, accepted):
        yield accepting(finding, accepted[0][1].accepted, compiled=accepted[0][1].compiled)


def _differing(tensor: str, found: Sequence[int], wrong: Sequence[tuple[int, Term]]) -> Iterator[Diagnostic]:
    """One diagnostic about the wrong sizes, if any."""
    if len(wrong) == 1:
        i, term = wrong[0]
        yield wrong_size(tensor, i, found[i], term.expected, term.formula)
    elif wrong:
        parts = [f"Sizes[{i}] has to be {term.expected} = {term.formula}" for i, term in wrong]
        expected = [dict(wrong).get(i, Term(size, "", size, 0, None)).expected for i, size in enumerate(found)]
        message = f"{tensor} has sizes {list(found)}; {', and '.join(parts)}."
        wanted = f"[{', '.join(map(str, expected))}]"  # some are words, such as "16 or 17"
        yield codes.WRONG_SIZE.of(f"{tensor}/Sizes", message, wanted, list(found))


def problems_and_sizes(sizes: Sizes) -> tuple[list[Diagnostic], tuple[int, ...] | None]:
    """The natural sizes of a tensor, or ``None`` with the reasons that the formula reports."""
    terms = list(sizes.terms if isinstance(sizes, Whole) else sizes)
    problems = [term for term in terms if isinstance(term, Diagnostic)]
    found = [term.size for term in terms if isinstance(term, Term) and term.size is not None]
    return problems, tuple(found) if len(found) == len(terms) else None


def wrong_size(tensor: str, i: int, found: int, expected: object, formula: str = "", why: str = "") -> Diagnostic:
    """A diagnostic about one size; ``formula`` has the numbers, ``why`` is another reason."""
    reason = f", {why}" if why else "" if formula == str(expected) else f" = {formula}"
    message = f"{tensor}.Sizes[{i}] is {found}; it has to be {expected}{reason}."
    return codes.WRONG_SIZE.of(f"{tensor}/Sizes/{i}", message, expected, found)


def wrong_sizes(tensor: str, found: Sequence[int], expected: Sequence[int], formula: str) -> Iterator[Diagnostic]:
    """A diagnostic about all sizes if they differ from those of the formula."""
    if tuple(found) != tuple(expected):
        message = f"{tensor} has sizes {list(found)}; they have to be {list(expected)}: {formula}."
        yield codes.WRONG_SIZE.of(f"{tensor}/Sizes", message, list(expected), list(found))


def not_multiple(path: str, label: str, found: int, divisor: int, of: str) -> Iterator[Diagnostic]:
    """A diagnostic if a number is not a multiple of ``divisor``; ``of`` is the divisor's name."""
    if found % divisor:
        message = f"{label} is {found}, not a multiple of {of}, {divisor}."
        yield codes.INDIVISIBLE.of(path, message, f"a multiple of {divisor}", found)
