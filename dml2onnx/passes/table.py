"""All passes in the order in which they run, and their selection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dml2onnx import arguments
from dml2onnx.onnx_model import OnnxGraph
from dml2onnx.passes import (
    activations,
    integer_weights,
    kept_bytes,
    margins,
    moves,
    parts,
    scales,
    shapes,
    signed_weights,
)
from dml2onnx.passes.draft import Draft
from dml2onnx.passes.sharing import MOVES, share_moves
from dml2onnx.targets import Target

LEVELS = (0, 1, 2)
"""0 has no passes, 1 those that keep results on the CPU provider bit for bit, except which NaN a NaN is, 2 also those
that change rounding."""


LAYOUT_PROPAGATION = "propagate-layouts"
"""Part of lowering, but disabled by ``--no-pass`` like a pass; see ``memory.layout_propagation``."""


@dataclass(frozen=True, slots=True)
class Pass:
    """A rewrite of whole models that preserves their results, to the bits if it is in ``PASSES`` (see ``LEVELS``).

    It is skipped if a model has none of ``operators``.
    """

    name: str
    description: str
    """One sentence for users."""
    run: Callable[[Draft], None]
    operators: frozenset[str]


ALWAYS = (
    Pass(
        "keep-integers",
        "Keeps weights between quantizations as integers.",
        integer_weights.keep_integers,
        integer_weights.OPERATORS,
    ),
)
"""Passes that run at every level: a constant that the graph dequantizes is dequantized in the model."""

PASSES = (
    Pass(
        "share-moves",
        "Shares equal nodes that move, reshape or cast the same elements.",
        share_moves,
        MOVES,
    ),
    Pass(
        "turn-parts",
        "Turns a Concat of all slices along another axis into a Transpose.",
        parts.turn_parts,
        parts.OPERATORS,
    ),
    Pass(
        "merge-moves",
        "Merges two consecutive Cast, Concat, Pad, Reshape, Slice or Transpose, or drops them if they cancel out.",
        moves.merge_moves,
        moves.OPERATORS,
    ),
    Pass(
        "merge-activations",
        "Merges two consecutive Clip; drops an activation that repeats or undoes the one before it.",
        activations.merge_activations,
        activations.OPERATORS,
    ),
    Pass(
        "fold-pads",
        "Folds a constant margin into the pads of the convolutions and pools that read it.",
        margins.fold_pads,
        margins.OPERATORS,
    ),
    Pass(
        "keep-bytes",
        "Keeps 8 bits between quantized operators: MaxPool of 8 bits, and no conversions of UINT8 to INT8 and back.",
        kept_bytes.keep_bytes,
        kept_bytes.OPERATORS,
    ),
    Pass(
        "drop-reshapes",
        "Gives element-wise nodes the shape of their neighbors.",
        shapes.drop_reshapes,
        shapes.OPERATORS,
    ),
    Pass(
        "sign-weights",
        "For `cpu`: uses INT8 weights if the processor sums products exactly, which the model tests when loaded.",
        signed_weights.sign_weights,
        signed_weights.OPERATORS,
    ),
)


ROUNDING = (
    Pass(
        "fold-scales",
        "Folds constant factors and terms into weights and bias of an adjacent product, or into one Mul and Add.",
        scales.fold_scales,
        scales.OPERATORS,
    ),
    Pass(
        "fold-pads-behind-relu",
        "Folds a margin of zeros around nonnegative numbers into the pads of the maximum that reads it.",
        margins.fold_pads_behind_relu,
        margins.OPERATORS,
    ),
)
"""Passes that change rounding or the sign of a zero."""


def chosen(level: object = 1, without: object = ()) -> tuple[Pass, ...]:
    """The passes of a level without the named ones; raises :class:`DmlError` for unknown levels or names."""
    number = arguments.whole_number(level, "optimize")
    if number not in LEVELS:
        raise arguments.refusal("optimize", number, " or ".join(map(str, LEVELS)))
    left_out = arguments.names(without, "without_passes")
    known = [*(item.name for item in (*PASSES, *ROUNDING)), LAYOUT_PROPAGATION]
    for name in left_out:
        if name not in known:
            raise arguments.refusal("a name in without_passes", name, f"one of {', '.join(known)}")
    of_level = ((), PASSES, (*PASSES, *ROUNDING))[number]
    return tuple(item for item in of_level if item.name not in left_out)


def propagates_layouts(without: object = ()) -> bool:
    """Whether layout propagation is enabled."""
    return LAYOUT_PROPAGATION not in arguments.names(without, "without_passes")


def apply(graph: OnnxGraph, passes: Sequence[Pass], target: Target) -> OnnxGraph:
    """Returns the model after ``passes``, without unread nodes."""
    draft = Draft(graph, target)
    for item in passes:
        if not draft.operators.isdisjoint(item.operators):
            item.run(draft)
    return draft.finish()
