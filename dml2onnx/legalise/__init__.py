"""What takes the place of an ONNX operator where a target has no kernel for it, a wrong one, or a slow one.

Lowerings say what a DirectML operator means, in ONNX operators. Each call of the emitter that would make a node goes
through the rules of the target first: those of its quirks, in ``quirks/``, then those for operators without a kernel,
in ``kernels.py`` and its neighbours. That is so while nodes are emitted, since a rule also decides in which type and
form later lowerings find a value. What passes make of the nodes is asked about in ``behind.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from dml2onnx.emitter import Emitter
from dml2onnx.emitter.budget import Budget
from dml2onnx.legalise import edges, kernels
from dml2onnx.legalise.behind import READ, legalise
from dml2onnx.legalise.quirks import QUIRKS
from dml2onnx.legalise.rules import Kind, Rule
from dml2onnx.passes import Draft, Pass
from dml2onnx.targets import Target

__all__ = ["LEGALISATION", "Kind", "emitter", "rules_of"]


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
"""Quirks of the CPU provider on which any session may place a node, whatever its target."""
FIRST = ("RESIZE_TAKES_PLANES", "RESIZE_INTERPOLATES_NEIGHBOURS")
"""Quirks of nodes that become several, of which the others are asked, too."""


@cache
def rules_of(target: Target, *, speed: bool = True) -> Mapping[str, tuple[Rule, ...]]:
    """The rules for each ONNX operator, in the order in which they are asked: those for numbers first."""
    found: dict[str, list[Rule]] = {}
    given = {*target.quirks, *EVERYWHERE}
    names = (*(name for name in FIRST if name in given), *target.quirks, *EVERYWHERE)
    quirks = [QUIRKS[name] for name in dict.fromkeys(names)]
    quirks = [item for item in quirks if speed or item.kind is not Kind.SPEED]
    quirks.sort(key=lambda item: list(Kind).index(item.kind))
    tables = [item.rules for item in quirks if target.exact or item.kind is not Kind.EDGES]
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
    """An emitter whose operators the rules of the target may replace."""
    return Emitter(target, ports, weights, budget, rules_of(target))


def _legalise(draft: Draft) -> None:
    rules = rules_of(draft.target, speed=False)  # which passes know better
    legalise(draft, lambda taken: Emitter(draft.target, taken, rules=rules))


LEGALISATION = Pass(
    "legalise", "What passes have made goes through the rules of the target, too.", _legalise, frozenset(READ)
)
"""What is done behind all passes."""
