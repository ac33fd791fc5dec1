"""Chooses the nodes to compute in FLOAT16, with reasons for the others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from dml2onnx.catalog import LATEST
from dml2onnx.checks.operators import findings_of
from dml2onnx.codes.compiling import HALF_MISFIT, HALF_WITHOUT_EFFECT
from dml2onnx.diagnostics import Diagnostic, quote
from dml2onnx.half_precision.numbers import ByteRange, Misfit, attribute_misfit, half_operator, misfit
from dml2onnx.half_precision.shared_memory import BufferVersions
from dml2onnx.ir.graph import Graph, GraphOutput, Node, Value
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType, TensorDesc

NO_FORM = "stays FLOAT32: DirectML does not have it in FLOAT16"
POSITIONS = "stays FLOAT32: it computes positions, which are exact in FLOAT16 up to 2,048 only"
QUANTIZED = "stays FLOAT32: it is quantized"
STEPS = "stays FLOAT32: the steps of an optimizer are too small for FLOAT16"
BITS = "stays FLOAT32: other nodes read its memory as another data type"
IN_PLACE = "stays FLOAT32, like other writers of its memory"
MISFIT = "stays FLOAT32: FLOAT16 does not hold {}"

LOCATING = frozenset({"roi", "roi_gradients"})
"""Families with an input of image coordinates, counted in elements."""
CARRYING = frozenset(
    {"cast", "element_wise", "element_wise_logic", "element_wise_math", "filling", "gathering", "join", "padding"}
    | {"rearranging", "reduction", "slicing"}
)
"""Families whose results may be positions if their inputs are, unlike convolutions, products and activations."""
QUANTIZING = frozenset({"integer_products", "quantization"})
MOST_NAMES = 3
"""The maximal number of nodes named in a diagnostic."""


@dataclass(slots=True)
class Choice:
    """The nodes that stay FLOAT32, with reasons, and diagnostics."""

    kept: dict[Node, str] = field(default_factory=dict)
    findings: list[Diagnostic] = field(default_factory=list)

    def keep(self, nodes: Iterable[Node], reason: str) -> None:
        """Adds nodes; the first reason of a node wins."""
        for node in nodes:
            self.kept.setdefault(node, reason)


def choose(graph: Graph, nodes: Sequence[Node], outputs: Sequence[GraphOutput]) -> Choice:
    """Chooses among ``nodes``, the nodes that ``outputs`` need in topological order.

    Nodes without FLOAT32 tensors are not part of the result.
    """
    floats = [node for node in nodes if _has_floats(node)]
    choice = Choice()
    if nodes and not floats:
        message = "no node has a FLOAT32 tensor, so there is nothing to compute in FLOAT16"
        choice.findings.append(HALF_WITHOUT_EFFECT.at(message, expected="FLOAT32 tensors"))
    choice.keep((node for node in floats if node.operator.schema.family == "adam"), STEPS)
    _keep_quantized(choice, floats)
    _keep_positions(choice, nodes)
    has_form: dict[OperatorDesc, bool] = {}
    for node in floats:
        if node.operator not in has_form:
            has_form[node.operator] = _is_valid(half_operator(node.operator))
        if not has_form[node.operator]:
            choice.keep([node], NO_FORM)
    _keep_misfits(choice, graph, floats)
    memory = BufferVersions.of(graph, nodes, outputs)
    choice.keep((node for node in floats if _is_reinterpreted(node, memory)), BITS)
    _keep_shared(choice, memory, set(floats))
    choice.kept = {node: choice.kept[node] for node in floats if node in choice.kept}
    return choice


def _descs(node: Node) -> list[TensorDesc]:
    return [desc for *_, desc in (*node.views_in(), *node.views_out())]


def _is_valid(op: OperatorDesc) -> bool:
    return all(not finding.is_error for finding in findings_of(op, LATEST))


# --- Quantization -----------------------------------------------------------------------------------------------------


def _keep_quantized(choice: Choice, floats: Sequence[Node]) -> None:
    """Keeps nodes that produce or use integers, and single operators between DEQUANTIZE and QUANTIZE.

    Dequantized weights become FLOAT16, unless such a node reads them.
    """
    writers = {value: node for node in floats for value in node.targets}
    readers: defaultdict[Value, list[Node]] = defaultdict(list)
    for node in floats:
        for value in node.sources:
            readers[value].append(node)
    quantizing = {node for node in floats if _is_quantized(node) and not _dequantizes(node)}
    between = {
        node
        for node in floats
        if not _is_quantized(node)
        and any(value in writers and _dequantizes(writers[value]) for value in node.sources)
        and all(readers[value] and quantizing.issuperset(readers[value]) for value in node.targets)
    }
    choice.keep((node for node in floats if node in quantizing or node in between), QUANTIZED)
    kept = quantizing | between
    for node in floats:
        if _dequantizes(node) and any(not kept.isdisjoint(readers[value]) for value in node.targets):
            choice.keep([node], QUANTIZED)


def _is_quantized(node: Node) -> bool:
    return node.operator.schema.family in QUANTIZING or "QUANTIZE" in node.operator.type


def _dequantizes(node: Node) -> bool:
    return "DEQUANTIZE" in node.operator.type


# --- Positions --------------------------------------------------------------------------------------------------------


def _keep_positions(choice: Choice, nodes: Sequence[Node]) -> None:
    """Keeps nodes that read coordinates, and those that compute integers from integers by way of FLOAT32."""
    for node in nodes:
        if node.operator.schema.family in LOCATING:
            choice.keep([node], POSITIONS)
    carrying = [node for node in nodes if node.operator.schema.family in CARRYING]
    after = _reached(carrying, _starts_positions, lambda node: node.sources, lambda node: node.targets)
    before = _reached(carrying[::-1], _ends_positions, lambda node: node.targets, lambda node: node.sources)
    choice.keep((node for node in carrying if node in after and node in before and _has_floats(node)), POSITIONS)
    choice.keep((node for node in carrying if _is_coarse_sequence(node.operator)), POSITIONS)


def _reached(
    nodes: Sequence[Node],
    starts: Callable[[Node], bool],
    takes: Callable[[Node], Iterable[Value]],
    gives: Callable[[Node], Iterable[Value]],
) -> set[Node]:
    found: set[Node] = set()
    values: set[Value] = set()
    for node in nodes:
        if starts(node) or not values.isdisjoint(takes(node)):
            found.add(node)
            values.update(gives(node))
    return found


def _has_floats(node: Node) -> bool:
    return any(desc.data_type is DataType.FLOAT32 for desc in _descs(node))


def _starts_positions(node: Node) -> bool:
    """Whether a node converts integers to FLOAT32, or produces a sequence of FLOAT32."""
    inputs = [desc.data_type for *_, desc in node.views_in()]
    outputs = [desc.data_type for *_, desc in node.views_out()]
    is_source = bool(inputs) or node.operator.type == "FILL_VALUE_SEQUENCE"
    return DataType.FLOAT32 in outputs and is_source and not any(item.is_float for item in inputs)


def _ends_positions(node: Node) -> bool:
    """Whether a node converts FLOAT32 to integers."""
    inputs = [desc.data_type for *_, desc in node.views_in()]
    outputs = [desc.data_type for *_, desc in node.views_out()]
    return DataType.FLOAT32 in inputs and not any(item.is_float for item in outputs)


def _is_coarse_sequence(op: OperatorDesc) -> bool:
    """Whether FLOAT16 cannot represent each number of a sequence."""
    if op.type != "FILL_VALUE_SEQUENCE":
        return False
    start, delta = op.scalar("ValueStart"), op.scalar("ValueDelta")
    if start.data_type is not DataType.FLOAT32:
        return False
    count = op.tensor("OutputTensor").element_count
    first, step = float(start.value), float(delta.value)
    if count > 1 << 16:  # there are no more FLOAT16 numbers than that
        return step != 0 or not _holds(np.array([first]))
    return not _holds(first + step * np.arange(count))


def _holds(values: npt.NDArray[np.floating]) -> bool:
    with np.errstate(all="ignore"):
        return bool((values.astype(np.float16) == values).all())


# --- Numbers that do not fit ------------------------------------------------------------------------------------------


def _keep_misfits(choice: Choice, graph: Graph, floats: Sequence[Node]) -> None:
    data = {item.value: item.data for item in graph.constants}
    known: dict[tuple[Value, int, int], Misfit | None] = {}
    found: defaultdict[Value, list[tuple[Misfit, Node]]] = defaultdict(list)
    for node in floats:
        own = attribute_misfit(node.operator)
        if own is not None and node not in choice.kept:
            name, why = own
            choice.keep([node], MISFIT.format(f"its {name}"))
            choice.findings.append(_finding(f"{name} of {quote(node.name)}", why, [node]))
        for _, _, read, desc in node.views_in():
            if desc.data_type is not DataType.FLOAT32 or read.value not in data or node in choice.kept:
                continue
            key = (read.value, read.offset, desc.extent)
            if key not in known:
                known[key] = misfit(ByteRange.of(data[read.value], read.offset, desc.extent * 4))
            reason = known[key]
            if reason is not None:
                found[read.value].append((reason, node))
    for value, several in found.items():
        readers = list(dict.fromkeys(node for _, node in several))
        choice.keep(readers, MISFIT.format(quote(value.name)))
        choice.findings.append(_finding(f"the constant {quote(value.name)}", several[0][0], readers))


def _finding(what: str, why: Misfit, nodes: Sequence[Node]) -> Diagnostic:
    names = ", ".join(quote(node.name) for node in nodes[:MOST_NAMES])
    rest = len(nodes) - MOST_NAMES
    stay = "stays" if len(nodes) == 1 else "stay"
    message = f"FLOAT16 does not hold {what}: {why}; {names}{f' and {rest} more' if rest > 0 else ''} {stay} FLOAT32"
    return HALF_MISFIT.at(message, node=nodes[0].name, operator=nodes[0].operator.type, pointer=nodes[0].source)


# --- Memory ----------------------------------------------------------------------------------------------------------


def _is_reinterpreted(node: Node, memory: BufferVersions) -> bool:
    """Whether other nodes read a FLOAT32 output of this node as another type."""
    return any(
        desc.data_type is DataType.FLOAT32 and write.value in memory.mixed for _, _, write, desc in node.views_out()
    )


def _keep_shared(choice: Choice, memory: BufferVersions, floats: set[Node]) -> None:
    """Keeps all writers of a buffer FLOAT32 if one of them stays FLOAT32."""
    changed = True
    while changed:
        changed = False
        for writers in memory.shared():
            staying = [node for node in writers if node in choice.kept or node not in floats]
            if staying and len(staying) < len(writers):
                choice.keep((node for node in writers if node in floats), IN_PLACE)
                changed = True
