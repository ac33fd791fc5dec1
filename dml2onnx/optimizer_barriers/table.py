"""All barriers: at which operators they may have to stand, and which inputs of a node they keep apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from dml2onnx.onnx_model import CONTROL_FLOW, Node
from dml2onnx.optimizer_barriers import arithmetic, quantisations
from dml2onnx.optimizer_barriers.placing import Placing
from dml2onnx.passes import Pass
from dml2onnx.passes.draft import Draft
from dml2onnx.passes.quantised import DQ, MOVES, Q, Quantised

Inputs: TypeAlias = "Callable[[Quantised, Node], Sequence[int]]"


@dataclass(frozen=True, slots=True)
class Barrier:
    """What would match in front of a node, and be wrong."""

    name: str
    operators: frozenset[str]
    """Of the nodes that would match with what they read."""
    beside: frozenset[str]
    """Operators without which there is nothing to match with."""
    inputs: Inputs
    """Which inputs of a node have to be kept apart from the nodes that make them."""
    among_quantisations: bool = True
    """Whether quantisations would be moved across a Reshape."""
    of_kernels: bool = False
    """Whether there is no kernel, and not one that rounds as is promised between quantisations."""


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
"""In the order in which they are asked; the first that applies to a node stands."""

_PLAIN = {
    name: [item for item in BARRIERS if name in item.operators and not item.among_quantisations]
    for name in ("Cast", *arithmetic.POOLS)
}
"""Those that stand in bodies as well, where nothing is quantised."""


def _protect(draft: Draft) -> None:
    """Puts barriers wherever one has to stand."""
    rows: defaultdict[str, list[Barrier]] = defaultdict(list)
    for barrier in BARRIERS:
        if not draft.operators.isdisjoint(barrier.beside):
            for operator in barrier.operators:
                rows[operator].append(barrier)
    quantised, placing, signed = Quantised(draft), Placing(draft), set[str]()
    for node in draft.nodes(frozenset({*rows, *CONTROL_FLOW, DQ})):
        if node.op_type == DQ:
            if quantisations.enters_body(quantised, node.outputs[0]):
                placing.behind(node)
            elif name := quantisations.signed_constant(quantised, node):
                placing.alone(node, is_first=name not in signed)
                signed.add(name)
        elif node.op_type in CONTROL_FLOW:
            placing.within(node, _PLAIN)
        made = node.outputs[0]
        for barrier in rows.get(node.op_type, ()):
            # the kernel gives what is promised of operators between quantisations
            is_paired = not barrier.of_kernels and barrier.among_quantisations and made is not None and made.paired
            inputs = () if is_paired else barrier.inputs(quantised, node)
            if inputs:
                placing.in_front(node, inputs, flat=barrier.among_quantisations)
                break


PROTECTION = Pass(
    "protect",
    "Nodes that ONNX Runtime would make one, and give other numbers by, are kept apart.",
    _protect,
    CONTROL_FLOW.union(*(item.beside for item in BARRIERS)),
)
"""The last that is done to every model."""
