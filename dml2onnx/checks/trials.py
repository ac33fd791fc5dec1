"""Tries candidates for remedies, and selects the likeliest of those that resolve findings."""

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
    """Whether the readers of outputs accept these changes."""

MOST_TRIED = 200
"""The most candidates that are tried for a node."""
MOST_EDITED = 1000
"""The most single edits that are tried if the candidates do not resolve everything."""
MOST_FOUND = 2000
"""The approximate limit on findings of all trials together: a node with very many findings has no simple remedy."""
MOST_ALIKE = 2
"""The most values proposed for one field: if more are valid, none is likely."""
MOST_FIELDS = 3
"""The most fields for which another value is proposed."""

_PADDING = re.compile("^(Start|End)(?=Padding$)")
"""Start or End in the name of a padding: a remedy may change either."""
LENGTHS = frozenset({"DimensionCount", *COUNTS.values()})
"""The fields that hold the length of an array."""
FOLLOWING = LENGTHS | NEUTRAL.keys()
"""The fields that change together with another one: the other end of a padding, the count of an array."""


class CandidateTrial(NamedTuple):
    """A candidate and the findings that it resolves."""

    candidate: Candidate
    resolved: frozenset[tuple[str, str]]
    further: tuple[Change, ...]
    """Inferred outputs that change with the candidate."""


def counted(candidate: Candidate) -> list[Change]:
    """Returns the changes without those implied by the first one: the other end of a padding, the count of an array."""
    changes = candidate.changes
    return [item for item in changes if item is changes[0] or item.field not in FOLLOWING]


class _Tried:
    """An invalid descriptor with its findings, and a test of candidates."""

    def __init__(
        self, desc: OperatorDesc, findings: Sequence[Diagnostic], judge: AnyJudge, is_read: IsRead | None = None
    ) -> None:
        self.desc = desc
        self.states_outputs = is_read is not None
        self._is_read = is_read or (lambda _: True)
        self.findings = findings
        self._judge = judge
        own = judge(desc)
        rule_findings = [item for item in findings if not item.is_structural]
        self.known = {item.key for item in (*rule_findings, *own)}
        """Including findings that were dropped as consequences."""
        self.errors = {item.key for item in rule_findings if item.is_error}
        self.refusals = {item.key for item in own if item.is_error}
        self.affordable = MOST_FOUND // max(1, len(self.known))
        """The number of descriptors that may be checked, if each has about as many findings."""
        self._refused = refusing(judge, desc.schema, warned=not self.refusals)

    def improvements(self, tried: Iterable[Candidate]) -> Iterator[CandidateTrial]:
        """The candidates with fewer findings, with inferred outputs if they need them."""
        for candidate in islice(tried, min(MOST_TRIED, self.affordable)):
            made = changed(self.desc, candidate.changes)
            outputs, further = with_inferred_outputs(made, self.desc)
            follows = bool(further) and self._is_read(further)
            for changes, more in ((made, ()), (outputs, further)) if follows else ((made, ()),):
                left = {item.key for item in self._judge(changes)}
                if left < self.known:
                    yield CandidateTrial(candidate, frozenset(self.known - left), more)
                    break

    def is_clean(self, trial: CandidateTrial) -> bool:
        """Whether the descriptor has no findings after this change."""
        return not self._judge(changed(self.desc, trial.candidate.changes))

    def solutions(self, tried: Iterable[Candidate]) -> Iterator[CandidateTrial]:
        """The candidates without errors or new warnings; if there were only warnings, those without findings."""
        for candidate in islice(tried, min(MOST_EDITED, self.affordable)):
            made = changed(self.desc, candidate.changes)
            if not self._refused(made) and (
                not self.refusals or {item.key for item in self._judge(made)} <= self.known
            ):
                yield CandidateTrial(candidate, frozenset(self.known), ())


def best_trials(
    desc: OperatorDesc, findings: Sequence[Diagnostic], judge: AnyJudge, is_read: IsRead | None = None
) -> list[CandidateTrial]:
    """Returns the candidates that resolve the most findings by the fewest and likeliest changes, and add none.

    Outputs are inferred from a change only if ``is_read`` accepts them; without it, no outputs are stated.
    """
    tried = _Tried(desc, findings, judge, is_read)
    trials = list(tried.improvements(candidates(desc, findings)))
    best = _likeliest(trials, tried.errors | {item.key for item in findings if item.is_error})
    return _with_single_edits(tried, best)


def _likeliest(trials: Sequence[CandidateTrial], errors: Collection[tuple[str, str]]) -> list[CandidateTrial]:
    """The trials that resolve the most findings, by the fewest changes and of the likeliest kind."""
    if not trials:
        return []

    def rank(trial: CandidateTrial) -> tuple[int, int, int]:
        alike = {change.words for change in counted(trial.candidate)}
        return -len(trial.resolved.intersection(errors)), -len(trial.resolved), len(alike)

    least = min(map(rank, trials))
    best = [trial for trial in trials if rank(trial) == least]
    kind = min(trial.candidate.kind for trial in best)
    best = [trial for trial in best if trial.candidate.kind == kind]
    return list({trial.candidate.changes: trial for trial in best}.values())


def _with_single_edits(tried: _Tried, best: Sequence[CandidateTrial]) -> list[CandidateTrial]:
    """The best candidates, with or replaced by single edits that make the node valid, if these are few.

    A known convention is more likely than a number that happens to be valid: then there are no single edits. They are
    offered beside an inferred output, and beside a change that is no known convention. They come before a convention
    that the stated outputs contradict.
    """
    desc = tried.desc
    is_whole = any((tried.refusals or tried.known) <= trial.resolved for trial in best)
    if is_whole and not any(tried.known <= trial.resolved for trial in best):  # a remaining warning may be a symptom
        clean = filter(tried.is_clean, tried.solutions(single_edits(desc, tried.findings)))
        if found := _few(tried, list(clean)):
            return found
    is_followed = all(trial.further or _has_alternatives(desc, trial.candidate) for trial in best)
    is_read = not tried.refusals and bool(tried.errors)  # a reader refuses an output that DirectML accepts
    late = [trial for trial in best if _is_layout(trial) and trial.further and tried.states_outputs]
    is_layout = any(_is_layout(trial) and not _changes_outputs(desc, trial.candidate) for trial in best) and not late
    if is_whole and (is_read or is_layout or not is_followed):
        return list(best)
    further = [
        item
        for item in islice(single_edits(desc, tried.findings), MOST_EDITED)
        if not is_whole or (item.kind < LIKE and not _changes_outputs(desc, item))
    ]
    edits = _few(tried, list(tried.solutions(further)))
    if len(edits) < MOST_FIELDS:
        edits += tried.solutions(solved_inputs(desc, tried.findings))
    if not is_whole:
        return edits or [*best]
    follow = [trial for trial in best if _changes_outputs(desc, trial.candidate)]
    early = [trial for trial in best if trial not in (*follow, *late)]
    others = [*_one_for_each_padding([*early, *edits]), *late]
    is_wide = len(follow) == len(best) and differs_widely(desc, best[0])
    return [*others[: MOST_FIELDS - 1], *follow] if is_wide else [*follow, *others]


def _one_for_each_padding(trials: Sequence[CandidateTrial]) -> list[CandidateTrial]:
    """The trials; of those that change a padding at either end, only the first, unless nothing else is left."""
    either = {_PADDING.sub("", trial.candidate.changes[0].path): trial for trial in reversed(trials)}
    return list(reversed(either.values())) if len(either) > 1 else list(trials)


def _few(tried: _Tried, trials: Sequence[CandidateTrial]) -> list[CandidateTrial]:
    """The nearest values of each field that has few of them, sorted by distance.

    Fields that findings are about come before others at the same distance.
    """
    fields = {item.field for item in tried.findings}
    beyond = {item.field for item in tried.findings if item.code in BEYOND}
    alike: dict[tuple[str, ...], list[CandidateTrial]] = {}
    for trial in {trial.candidate.changes: trial for trial in trials}.values():
        alike.setdefault(tuple([change.field for change in counted(trial.candidate)]), []).append(trial)
    found: list[CandidateTrial] = []
    for (field, *_), several in alike.items():
        least = min(trial.candidate.kind for trial in several)
        near = [trial for trial in several if trial.candidate.kind == least]
        if field in beyond:  # only the nearest bound
            near = near[:1]
        if len(near) > MOST_ALIKE:
            fewest = min(_different(trial) for trial in near)
            near = [trial for trial in near if _different(trial) == fewest]
        found += near if len(near) <= MOST_ALIKE else ()
    found.sort(key=lambda trial: (trial.candidate.kind, trial.candidate.changes[0].field not in fields))
    known = [trial for trial in found if trial.candidate.kind < FAR] or found
    return _one_for_each_padding(known)[:MOST_FIELDS]


def _different(trial: CandidateTrial) -> int:
    """The number of different entries of an array; most arrays repeat one number."""
    value = trial.candidate.changes[0].value
    return len(set(value)) if isinstance(value, tuple) else 1


def _is_layout(trial: CandidateTrial) -> bool:
    return trial.candidate.kind in LAYOUTS


def _has_alternatives(desc: OperatorDesc, candidate: Candidate) -> bool:
    """Whether another field may be the wrong one: for outputs, paddings, and attributes that depend on others."""
    is_padding = candidate.changes[0].field.endswith("Padding")
    return is_padding or candidate.kind == 1 or _changes_outputs(desc, candidate)


def _changes_outputs(desc: OperatorDesc, candidate: Candidate) -> bool:
    outputs = {field.name for field in desc.schema.output_fields}
    return all(change.field in outputs for change in candidate.changes)


def differs_widely(desc: OperatorDesc, trial: CandidateTrial) -> bool:
    """Whether several output sizes differ from the inferred ones, which suggests that they are intended."""
    if len(trial.candidate.changes) > 1:
        return True
    for change in trial.candidate.changes:
        old, new = desc.get(change.field), change.value
        if isinstance(old, TensorDesc) and isinstance(new, TensorDesc) and old.rank == new.rank:
            return sum(one != other for one, other in zip(old.sizes, new.sizes, strict=True)) > 1
    return False
