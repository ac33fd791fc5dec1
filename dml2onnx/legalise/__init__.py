"""Replaces ONNX operators for which a target has no kernel, a wrong one, or a slow one.

Lowerings express DirectML operators in ONNX operators. Each emitter call that would make a node first goes through
the target's rules: those of its quirks (``quirks/``), then those for missing kernels (``kernels.py`` and its
neighbours). Rules run during emission because they also decide the type and form in which later lowerings find a
value. Nodes made by passes are legalized in ``after_passes.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from dml2onnx.emitter import Emitter
from dml2onnx.emitter.budget import Budget
from dml2onnx.legalise import edges, kernels
from dml2onnx.legalise.after_passes import READ, legalise
from dml2onnx.legalise.quirks import QUIRKS
from dml2onnx.legalise.rules import Rule, RuleKind
from dml2onnx.passes import Draft, Pass
from dml2onnx.targets import Target

__all__ = ["LEGALISATION", "RuleKind", "emitter", "rules_of"]


EVERYWHERE = (
    "INT64_COMPARED_BY_HALVES",
    "ATTENTION_SHARES_NO_FLOAT16",
    "AVERAGE_POOL_COUNTS_PADDING_WRONGLY",
    "DOUBLE_HALVED_IN_TWO_STEPS",
    "LAYER_NORMALIZATION_SQUARES_THE_MEAN",
    "LRN_LOSES_SMALL_ELEMENTS",
    "LRN_WANTS_ODD_SIZES",
    "COLUMNS_MAKE_PLANES_ONLY",
    "OUTPUT_PADDING_BELOW_THE_STRIDE",
    "CONSTANT_STATES_WANT_NAMES",
    "RESIZE_INTERPOLATES_NEIGHBOURS",
    "RNN_READS_BY_POSITION",
    "REVERSE_SEQUENCE_SKIPS_EMPTY_ONES",
    "SUMS_WITH_ZERO_ARE_LEFT_OUT",
    "UNKNOWN_PAIRS_OF_BYTES_SATURATE",
)
"""Quirks of the CPU provider; a session may place any node there, whatever its target."""
FIRST = ("RESIZE_TAKES_PLANES", "RESIZE_INTERPOLATES_NEIGHBOURS")
"""Quirks that split a node; their rules run first, so that the others apply to the parts."""


@cache
def rules_of(target: Target, *, speed: bool = True) -> Mapping[str, tuple[Rule, ...]]:
    """Returns the rules by ONNX operator, in the order in which they are tried: those for numbers first."""
    found: dict[str, list[Rule]] = {}
    names = sorted(dict.fromkeys((*target.quirks, *EVERYWHERE)), key=lambda name: name not in FIRST)
    quirks = [QUIRKS[name] for name in names if speed or QUIRKS[name].kind is not RuleKind.SPEED]
    quirks.sort(key=lambda item: list(RuleKind).index(item.kind))
    tables = [item.rules for item in quirks if target.exact or item.kind is not RuleKind.EDGES]
    for table in ([edges.RULES] if target.exact else []) + [*tables, kernels.RULES]:
        for operator, rule in table.items():
            found.setdefault(operator, []).append(rule)
    return {operator: tuple(rules) for operator, rules in found.items()}


def emitter(
    target: Target,
    ports: frozenset[str] = frozenset(),
    weights: frozenset[str] = frozenset(),
    budget: Budget | None = None,
) -> Emitter:
    """Returns an emitter that applies the rules of the target."""
    return Emitter(target, ports, weights, budget, rules_of(target))


def _legalise(draft: Draft) -> None:
    rules = rules_of(draft.target, speed=False)  # passes decide about speed themselves
    legalise(draft, lambda taken: Emitter(draft.target, taken, rules=rules))


LEGALISATION = Pass(
    "legalise", "Applies the rules of the target to the nodes that passes made.", _legalise, frozenset(READ)
)
"""Runs after all passes."""
