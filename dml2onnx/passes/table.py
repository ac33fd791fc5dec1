"""All passes, in the order in which they run, and which of them are asked for."""

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
"""0 has no passes, 1 those that keep each bit of results on the CPU provider, 2 also those that round otherwise."""


LAYOUT_PROPAGATION = "propagate-layouts"
"""Part of the translation, which ``--no-pass`` turns off as if it were a pass; see ``memory.layout_propagation``."""


@dataclass(frozen=True, slots=True)
class Pass:
    """One rewriting of whole models that leaves what they compute as it is: to the bit, if it is one of ``PASSES``.

    Where a model has none of ``operators`` there is nothing to do, and the pass is not called.
    """

    name: str
    description: str
    """What it does, in a sentence."""
    run: Callable[[Draft], None]
    operators: frozenset[str]


ALWAYS = (
    Pass(
        "keep-integers",
        "Weights between quantisations stay the integers that they were.",
        integer_weights.keep_integers,
        integer_weights.OPERATORS,
    ),
)
"""What is part of the literal translation: a constant that the graph dequantises is dequantised in the model."""

PASSES = (
    Pass(
        "share-moves",
        "What moves, reshapes or casts the same elements in the same way for several nodes does so once.",
        share_moves,
        MOVES,
    ),
    Pass(
        "turn-parts",
        "All steps along an axis, joined along another one, are a Transpose.",
        parts.turn_parts,
        parts.OPERATORS,
    ),
    Pass(
        "merge-moves",
        "Two Cast, Concat, Pad, Reshape, Slice or Transpose in a row are one, or none where they undo each other.",
        moves.merge_moves,
        moves.OPERATORS,
    ),
    Pass(
        "merge-activations",
        "Two Clip in a row are one; an activation that repeats or undoes the one before it goes.",
        activations.merge_activations,
        activations.OPERATORS,
    ),
    Pass(
        "fold-pads",
        "A constant margin becomes the pads of the convolutions and pools that read it.",
        margins.fold_pads,
        margins.OPERATORS,
    ),
    Pass(
        "keep-bytes",
        "Between quantised operators MaxPool has 8 bits, and INT8 that is computed with as UINT8 stays so.",
        kept_bytes.keep_bytes,
        kept_bytes.OPERATORS,
    ),
    Pass(
        "drop-reshapes",
        "What computes element by element takes the shape that its neighbours have.",
        shapes.drop_reshapes,
        shapes.OPERATORS,
    ),
    Pass(
        "sign-weights",
        "For `cpu`: weights of 8 bits are INT8 where products are added exactly, which the model asks when loaded.",
        signed_weights.sign_weights,
        signed_weights.OPERATORS,
    ),
)


ROUNDING = (
    Pass(
        "fold-scales",
        "Constant factors and terms go into the weights and bias of the product beside them, or into one Mul and Add.",
        scales.fold_scales,
        scales.OPERATORS,
    ),
    Pass(
        "fold-pads-behind-relu",
        "A margin of zeros around what is not negative becomes the pads of the maximum that reads it.",
        margins.fold_pads_behind_relu,
        margins.OPERATORS,
    ),
)
"""Passes that round otherwise, or give a zero another sign."""


def chosen(level: object = 1, without: object = ()) -> tuple[Pass, ...]:
    """The passes of a level, but not those of these names; :class:`DmlError` where there are none such."""
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
    """Whether layouts are propagated from node to node."""
    return LAYOUT_PROPAGATION not in arguments.names(without, "without_passes")


def apply(graph: OnnxGraph, passes: Sequence[Pass], target: Target) -> OnnxGraph:
    """The model after ``passes``, without nodes that nobody reads: the same inputs, outputs, and numbers."""
    draft = Draft(graph, target)
    for item in passes:
        if not draft.operators.isdisjoint(item.operators):
            item.run(draft)
    return draft.finish()
