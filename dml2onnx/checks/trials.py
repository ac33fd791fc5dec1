"""Candidates for remedies, tried: which of them leave nothing wrong, and which of those are meant most likely."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from dml2onnx.checks.candidates import (
    COUNTS,
    LAYOUTS,
    NEUTRAL,
    candidates,
    changed,
    with_inferred_outputs,
)
from dml2onnx.checks.operators import refusing
from dml2onnx.checks.single_edits import BEYOND, FAR, LIKE, single_edits
from dml2onnx.checks.solved import solved_inputs
from dml2onnx.ir.tensor import TensorDesc

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from dml2onnx.checks.candidates import Candidate, Change
    from dml2onnx.checks.consequences import AnyJudge
    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.ir.operator import OperatorDesc

    IsRead = Callable[[Sequence[Change]], bool]
    """Whether outputs with these changes can be read by those who read them."""

MOST_TRIED = 200
"""Candidates that are judged for one node."""
MOST_EDITED = 1000
"""And single edits of fields, where the candidates do not explain all of it."""
MOST_FOUND = 2000
"""Findings of all of them together, about: a node with so much wrong that few can be tried is no slip."""
MOST_ALIKE = 2
"""Values of one field that are offered: where more would do nothing is known."""
MOST_FIELDS = 3
"""Fields of which another value is offered."""

_PADDING = re.compile("^(Start|End)(?=Padding$)")
"""What padding at either end is without its end: more of one is as good as of the other."""
LENGTHS = frozenset({"DimensionCount", *COUNTS.values()})
"""Fields that say how long an array is."""
FOLLOWING = LENGTHS | NEUTRAL.keys()
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

    def __init__(
        self, desc: OperatorDesc, findings: Sequence[Diagnostic], judge: AnyJudge, is_read: IsRead | None = None
    ) -> None:
        self.desc = desc
        self._is_read = is_read or (lambda _: True)
        self.findings = findings
        self._judge = judge
        own = judge(desc)
        of_rules = [item for item in findings if not item.is_structural]
        self.known = {item.key for item in (*of_rules, *own)}
        """With those that are not said: they are made anew."""
        self.errors = {item.key for item in of_rules if item.is_error}
        self.refusals = {item.key for item in own if item.is_error}
        self.affordable = MOST_FOUND // max(1, len(self.known))
        """How many descriptors may be judged, of which each has about as many findings."""
        warned = not self.refusals
        self._refused = refusing(judge, desc.schema, warned=warned)

    def better(self, tried: Iterable[Candidate]) -> Iterator[Trial]:
        """Those with which less is wrong, with the outputs that follow from them where that takes these."""
        for candidate in islice(tried, min(MOST_TRIED, self.affordable)):
            made = changed(self.desc, candidate.changes)
            outputs, further = with_inferred_outputs(made, self.desc)
            follows = bool(further) and self._is_read(further)
            for changes, more in ((made, ()), (outputs, further)) if follows else ((made, ()),):
                left = {item.key for item in self._judge(changes)}
                if left < self.known:
                    yield Trial(candidate, frozenset(self.known - left), more)
                    break

    def is_clean(self, trial: Trial) -> bool:
        """Whether nothing at all is said with it."""
        return not self._judge(changed(self.desc, trial.candidate.changes))

    def right(self, tried: Iterable[Candidate]) -> Iterator[Trial]:
        """Those with which no error is left, and no warning that was not there; of warnings none at all."""
        for candidate in islice(tried, min(MOST_EDITED, self.affordable)):
            made = changed(self.desc, candidate.changes)
            if not self._refused(made) and (
                not self.refusals or {item.key for item in self._judge(made)} <= self.known
            ):
                yield Trial(candidate, frozenset(self.known), ())


def best_trials(
    desc: OperatorDesc, findings: Sequence[Diagnostic], judge: AnyJudge, is_read: IsRead | None = None
) -> list[Trial]:
    """The candidates that do away with most, by the fewest changes and of the likeliest kind, and make nothing new.

    Outputs follow from a change only where ``is_read`` says that those who read them can read them so.
    """
    tried = _Tried(desc, findings, judge, is_read)
    trials = list(tried.better(candidates(desc, findings)))
    best = _likeliest(trials, tried.errors | {item.key for item in findings if item.is_error})
    return _with_single_edits(tried, best)


def _likeliest(trials: Sequence[Trial], errors: Collection[tuple[str, str]]) -> list[Trial]:
    """Those that do away with most, by the fewest changes and of the likeliest kind."""
    if not trials:
        return []

    def rank(trial: Trial) -> tuple[int, int, int]:
        alike = {change.words for change in counted(trial.candidate)}
        return -len(trial.gone.intersection(errors)), -len(trial.gone), len(alike)

    least = min(map(rank, trials))
    best = [trial for trial in trials if rank(trial) == least]
    kind = min(trial.candidate.kind for trial in best)
    best = [trial for trial in best if trial.candidate.kind == kind]
    return list({trial.candidate.changes: trial for trial in best}.values())


def _with_single_edits(tried: _Tried, best: Sequence[Trial]) -> list[Trial]:
    """The candidates, or what any one field as another one would do, where that is one of few and leaves no error.

    Conventions explain more than a number that happens to do, and stand alone. Of an output that follows from the
    rest, and of what is not known as a convention, any other slip is a second opinion.
    """
    desc = tried.desc
    is_whole = any((tried.refusals or tried.known) <= trial.gone for trial in best)
    if is_whole and not any(tried.known <= trial.gone for trial in best):  # a warning is left, which may be a trace
        clean = filter(tried.is_clean, tried.right(single_edits(desc, tried.findings)))
        if found := _few(tried, list(clean)):
            return found
    is_followed = all(trial.further or _has_second_opinion(desc, trial.candidate) for trial in best)
    is_read = not tried.refusals and bool(tried.errors)  # by who reads an output that DirectML accepts
    is_layout = any(trial.candidate.kind in LAYOUTS and not _is_of_outputs(desc, trial.candidate) for trial in best)
    if is_whole and (is_read or is_layout or not is_followed):
        return list(best)
    further = [
        item
        for item in islice(single_edits(desc, tried.findings), MOST_EDITED)
        if not is_whole or (item.kind < LIKE and not _is_of_outputs(desc, item))
    ]
    edits = _few(tried, list(tried.right(further)))
    if len(edits) < MOST_FIELDS:
        edits += tried.right(solved_inputs(desc, tried.findings))
    if not is_whole:
        return edits or [*best]
    follow = [trial for trial in best if _is_of_outputs(desc, trial.candidate)]
    others = _one_of_either([*[trial for trial in best if trial not in follow], *edits])
    is_wide = len(follow) == len(best) and differs_widely(desc, best[0])
    return [*others[: MOST_FIELDS - 1], *follow] if is_wide else [*follow, *others]


def _one_of_either(trials: Sequence[Trial]) -> list[Trial]:
    """The first of padding at one end or the other, where there is more than that."""
    either = {_PADDING.sub("", trial.candidate.changes[0].path): trial for trial in reversed(trials)}
    return list(reversed(either.values())) if len(either) > 1 else list(trials)


def _few(tried: _Tried, trials: Sequence[Trial]) -> list[Trial]:
    """The nearest values of each field of which there are few: of many no one is meant more than another.

    The nearest come first, and of these those of the fields that findings are about.
    """
    fields = {item.field for item in tried.findings}
    beyond = {item.field for item in tried.findings if item.code in BEYOND}
    alike: dict[tuple[str, ...], list[Trial]] = {}
    for trial in {trial.candidate.changes: trial for trial in trials}.values():
        alike.setdefault(tuple([change.field for change in counted(trial.candidate)]), []).append(trial)
    found: list[Trial] = []
    for (field, *_), several in alike.items():
        least = min(trial.candidate.kind for trial in several)
        near = [trial for trial in several if trial.candidate.kind == least]
        if field in beyond:  # then it is the bound that is nearest, and the first that was tried
            near = near[:1]
        if len(near) > MOST_ALIKE:
            fewest = min(_different(trial) for trial in near)
            near = [trial for trial in near if _different(trial) == fewest]
        found += near if len(near) <= MOST_ALIKE else ()
    found.sort(key=lambda trial: (trial.candidate.kind, trial.candidate.changes[0].field not in fields))
    known = [trial for trial in found if trial.candidate.kind < FAR] or found
    return _one_of_either(known)[:MOST_FIELDS]


def _different(trial: Trial) -> int:
    """How many different numbers an array has then: most have one in all places."""
    value = trial.candidate.changes[0].value
    return len(set(value)) if isinstance(value, tuple) else 1


def _has_second_opinion(desc: OperatorDesc, candidate: Candidate) -> bool:
    """Whether another field may be the wrong one all the same: of outputs, paddings, and attributes that fit others."""
    is_padding = candidate.changes[0].field.endswith("Padding")
    return is_padding or candidate.kind == 1 or _is_of_outputs(desc, candidate)


def _is_of_outputs(desc: OperatorDesc, candidate: Candidate) -> bool:
    outputs = {field.name for field in desc.schema.output_fields}
    return all(change.field in outputs for change in candidate.changes)


def differs_widely(desc: OperatorDesc, trial: Trial) -> bool:
    """Whether outputs are stated with several other sizes than follow: no slip, but what was meant."""
    if len(trial.candidate.changes) > 1:
        return True
    for change in trial.candidate.changes:
        old, new = desc.get(change.field), change.value
        if isinstance(old, TensorDesc) and isinstance(new, TensorDesc) and old.rank == new.rank:
            return sum(one != other for one, other in zip(old.sizes, new.sizes, strict=True)) > 1
    return False
