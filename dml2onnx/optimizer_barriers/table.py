"""All barriers: the operators to which they apply, and the inputs that they protect."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from dml2onnx.onnx_model import CONTROL_FLOW, OnnxNode
from dml2onnx.optimizer_barriers import arithmetic, quantisations
from dml2onnx.optimizer_barriers.placing import Placing
from dml2onnx.passes import Pass
from dml2onnx.passes.draft import Draft
from dml2onnx.passes.quantised import DQ, MOVES, Q, Quantised

Inputs: TypeAlias = "Callable[[Quantised, OnnxNode], Sequence[int]]"


@dataclass(frozen=True, slots=True)
class Barrier:
    """A wrong match of a node and its inputs, which a barrier prevents."""

    name: str
    operators: frozenset[str]
    """Operators of the nodes that would match."""
    beside: frozenset[str]
    """The model must have one of these operators for a match."""
    inputs: Inputs
    """Returns the inputs of a node that need a barrier."""
    among_quantisations: bool = True
    """Whether quantization could be propagated through a Reshape."""
    of_kernels: bool = False
    """Whether the match has no kernel, rather than one with the rounding promised between quantizations."""


_STEPS = frozenset({DQ, Q})
BARRIERS = (
    Barrier("casts", frozenset({"Cast"}), frozenset({"Cast"}), arithmetic.merged_casts, among_quantisations=False),
    Barrier("pads", arithmetic.POOLS, frozenset({"Pad"}), arithmetic.swallowed_pads, among_quantisations=False),
    Barrier("clipped integers", frozenset({"Clip"}), frozenset({"Relu"}), arithmetic.clipped_integers),
    Barrier("quotients", frozenset({"Mul"}), frozenset({"Div"}), arithmetic.quotients_of_one),
    Barrier("scaled rows", frozenset({"Add"}), frozenset({"MatMulInteger"}), arithmetic.scaled_rows),
    Barrier("signed products", frozenset({"Mul"}), frozenset({"MatMulInteger"}), arithmetic.signed_products),
    Barrier("moved steps", MOVES, _STEPS, quantisations.moved_steps),
    Barrier("doubled", frozenset({Q}), _STEPS, quantisations.doubled),
    Barrier("close bounds", frozenset({Q}), _STEPS, quantisations.close_bounds),
    Barrier("weights", frozenset({"Conv", "ConvTranspose", "Gemm"}), _STEPS, quantisations.weights),
    Barrier("factors", frozenset({"MatMul"}), _STEPS, quantisations.factors),
    Barrier("coarse weights", frozenset({"Gemm", "MatMul"}), _STEPS, quantisations.coarse_weights),
    Barrier("refused means", quantisations.MEANS, _STEPS, quantisations.refused_means, of_kernels=True),
    Barrier("inexact kernels", quantisations.INEXACT, _STEPS, quantisations.inexact_kernels),
)
"""In order of precedence: a node gets the first barrier that applies."""

_PLAIN = {
    name: [item for item in BARRIERS if name in item.operators and not item.among_quantisations]
    for name in ("Cast", *arithmetic.POOLS)
}
"""Barriers that also apply in bodies, where nothing is quantized."""


def _protect(draft: Draft) -> None:
    """Inserts all barriers."""
    rows: defaultdict[str, list[Barrier]] = defaultdict(list)
    for barrier in BARRIERS:
        if not draft.operators.isdisjoint(barrier.beside):
            for operator in barrier.operators:
                rows[operator].append(barrier)
    quantised, placing, signed = Quantised(draft), Placing(draft), set[str]()
    for node in draft.nodes(frozenset({*rows, *CONTROL_FLOW, DQ})):
        if node.op_type == DQ:
            if quantisations.enters_body(quantised, node.outputs[0]):
                placing.after(node)
            elif name := quantisations.signed_constant(quantised, node):
                placing.duplicate(node, is_first=name not in signed)
                signed.add(name)
        elif node.op_type in CONTROL_FLOW:
            placing.within(node, _PLAIN)
        result = node.outputs[0]
        for barrier in rows.get(node.op_type, ()):
            # the kernel's rounding is within the promise for operators between quantizations
            is_paired = not barrier.of_kernels and barrier.among_quantisations and result is not None and result.paired
            inputs = () if is_paired else barrier.inputs(quantised, node)
            if inputs:
                placing.before(node, inputs, flat=barrier.among_quantisations)
                break


PROTECTION = Pass(
    "protect",
    "Inserts barriers between nodes that ONNX Runtime would fuse with a different result.",
    _protect,
    CONTROL_FLOW.union(*(item.beside for item in BARRIERS)),
)
"""Runs last, on every model."""
