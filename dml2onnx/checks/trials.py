"""Candidates for remedies, tried: which of them leave nothing wrong, and which of those are meant most likely."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from dml2onnx.checks.candidates import (
    COUNTS,
    LIKE,
    NEUTRAL,
    candidates,
    changed,
    single_tensors,
    with_inferred_outputs,
)
from dml2onnx.checks.operators import Judge
from dml2onnx.checks.single_edits import ATTRIBUTE, TENSOR, single_edits
from dml2onnx.ir.tensor import TensorDesc

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from dml2onnx.checks.candidates import Candidate, Change
    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.ir.operator import OperatorDesc

    AnyJudge = Callable[[OperatorDesc], tuple[Diagnostic, ...]]

MOST_TRIED = 200
"""Candidates that are judged for one node."""
MOST_EDITED = 400
"""And single edits of fields, where the candidates do not explain all of it."""
MOST_FOUND = 2000
"""Findings of all of them together, about: a node with so much wrong that few can be tried is no slip."""
MOST_ALIKE = 2
"""Values of one field that are offered: where more would do nothing is known."""

FOLLOWING = frozenset({*NEUTRAL, "DimensionCount", *COUNTS.values()})
"""Fields that only go along with another one: the other end of a padding, the count of an array."""


class Trial(NamedTuple):
    """A candidate, and the findings that it does away with."""

    candidate: Candidate
    gone: frozenset[tuple[str, str]]
    further: tuple[Change, ...]
    """Outputs that follow from the changes."""


def counted(candidate: Candidate) -> list[Change]:
    """The changes, without those that only go along: the other end of a padding, the count of an array."""
    changes = candidate.changes
    return [item for item in changes if item is changes[0] or item.field not in FOLLOWING]


class _Tried:
    """A wrong descriptor, what is wrong with it, and what is left of that when something is changed."""

    def __init__(self, desc: OperatorDesc, findings: Sequence[Diagnostic], judge: AnyJudge) -> None:
        self.desc = desc
        self.findings = findings
        self._judge = judge
        own = judge(desc)
        of_rules = [item for item in findings if not item.is_structural]
        self.known = _places((*of_rules, *own))
        """With those that are not said: they are made anew."""
        self.errors = _places(item for item in of_rules if item.is_error)
        self.refusals = _places(item for item in own if item.is_error)
        self.affordable = MOST_FOUND // max(1, len(self.known))
        """How many descriptors may be judged, of which each has about as many findings."""
        self._refused = judge.refusing(desc.schema) if isinstance(judge, Judge) else self._refused_in_words

    def _refused_in_words(self, desc: OperatorDesc) -> bool:
        return any(item.is_error for item in self._judge(desc))

    def better(self, tried: Iterable[Candidate]) -> Iterator[Trial]:
        """Those with which less is wrong, with the outputs that follow from them where that takes these."""
        for candidate in islice(tried, min(MOST_TRIED, self.affordable)):
            made = changed(self.desc, candidate.changes)
            outputs, further = with_inferred_outputs(made, self.desc)
            for changes, more in ((made, ()), (outputs, further)) if further else ((made, ()),):
                left = _places(self._judge(changes))
                if left < self.known:
                    yield Trial(candidate, frozenset(self.known - left), more)
                    break

    def right(self, tried: Iterable[Candidate], most: int) -> Iterator[Trial]:
        """Those with which no error is left, and no warning that was not there."""
        for candidate in islice(tried, min(most, self.affordable)):
            made = changed(self.desc, candidate.changes)
            if not self._refused(made) and _places(self._judge(made)) <= self.known:
                yield Trial(candidate, frozenset(self.known), ())


def best_trials(desc: OperatorDesc, findings: Sequence[Diagnostic], judge: AnyJudge) -> list[Trial]:
    """The candidates that do away with most, by the fewest changes and of the likeliest kind, and make nothing new."""
    tried = _Tried(desc, findings, judge)
    trials = list(tried.better(candidates(desc, findings)))
    if len(tried.errors) > 1 and not any(tried.errors <= trial.gone for trial in trials):
        trials += tried.right(single_tensors(desc, findings), MOST_TRIED)
    best = _likeliest(trials, tried.errors | _places(item for item in findings if item.is_error))
    return _with_single_edits(tried, best) if tried.refusals else best


def _places(findings: Iterable[Diagnostic]) -> set[tuple[str, str]]:
    return {(item.code, item.path) for item in findings}


def _likeliest(trials: Sequence[Trial], errors: Collection[tuple[str, str]]) -> list[Trial]:
    """Those that do away with most, by the fewest changes and of the likeliest kind."""
    if not trials:
        return []

    def rank(trial: Trial) -> tuple[int, int, int]:
        return -len(trial.gone.intersection(errors)), -len(trial.gone), len(counted(trial.candidate))

    least = min(map(rank, trials))
    best = [trial for trial in trials if rank(trial) == least]
    kind = min(trial.candidate.kind for trial in best)
    best = [trial for trial in best if trial.candidate.kind == kind]
    return list({trial.candidate.changes: trial for trial in best}.values())


def _with_single_edits(tried: _Tried, best: Sequence[Trial]) -> list[Trial]:
    """The candidates, or what any one field as another one would do, where that is one of few and leaves no error.

    Conventions explain more than a number that happens to do, and stand alone. Of an output that follows from the
    rest, and of what is not known as a convention, any other single edit is a second opinion.
    """
    desc, findings = tried.desc, tried.findings
    is_whole = any(tried.refusals <= trial.gone for trial in best) and best[0].candidate.kind < LIKE
    of_outputs = all(_is_of_outputs(desc, trial.candidate) for trial in best)
    if is_whole and not of_outputs:
        return list(best)
    further = [
        item
        for item in islice(single_edits(desc, findings), MOST_EDITED)
        if not is_whole or (item.kind in (ATTRIBUTE, TENSOR) and not _is_of_outputs(desc, item))
    ]
    trials = list(tried.right(further, MOST_EDITED))
    fields = {item.field for item in findings}
    edits = sorted(_few(desc, trials), key=lambda trial: trial.candidate.changes[0].field not in fields)
    if not is_whole:
        return edits or list(best)
    return [*edits, *best] if edits and _differs_widely(desc, best) else [*best, *edits]


def _few(desc: OperatorDesc, trials: Sequence[Trial]) -> list[Trial]:
    """Those of the likeliest kind of which there are few: of many no one is meant more than another.

    Of arrays it is those that differ least.
    """
    for kind in sorted({trial.candidate.kind for trial in trials}):
        alike = list({trial.candidate.changes: trial for trial in trials if trial.candidate.kind == kind}.values())
        least = min(_distance(desc, trial) for trial in alike)
        near = [trial for trial in alike if _distance(desc, trial) == least]
        if len(near) <= MOST_ALIKE:
            return near
    return []


def _distance(desc: OperatorDesc, trial: Trial) -> tuple[int, int]:
    """By how much the length of an array changes, and how many of its entries."""
    change = trial.candidate.changes[0]
    old, new = desc.get(change.field), change.value
    if not isinstance(old, tuple) or not isinstance(new, tuple):
        return 0, 1
    return abs(len(old) - len(new)), sum(one != other for one, other in zip(old, new, strict=False))


def _is_of_outputs(desc: OperatorDesc, candidate: Candidate) -> bool:
    outputs = {field.name for field in desc.schema.output_fields}
    return all(change.field in outputs for change in candidate.changes)


def _differs_widely(desc: OperatorDesc, best: Sequence[Trial]) -> bool:
    """Whether an output is stated with several other sizes than follow: no slip, but what was meant."""
    for change in best[0].candidate.changes:
        old, new = desc.get(change.field), change.value
        if isinstance(old, TensorDesc) and isinstance(new, TensorDesc) and old.rank == new.rank:
            return sum(one != other for one, other in zip(old.sizes, new.sizes, strict=True)) > 1
    return False
