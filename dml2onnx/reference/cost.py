"""Estimates the work for a graph in advance: a file of a few hundred bytes can describe tensors of several GiB."""

from __future__ import annotations

from collections.abc import Sequence

from dml2onnx.codes.running import TOO_LARGE_FOR_REFERENCE
from dml2onnx.diagnostics import DmlError, Remedy, quote
from dml2onnx.ir.data import stored_bytes
from dml2onnx.ir.graph import Graph, GraphOutput, Node, Value
from dml2onnx.reference.work import hidden_work

LARGEST_NODE = 1 << 27
"""Elements that one node may read and visit, plus bytes that it may write: a minute's work, a few GiB."""
LARGEST_GRAPH = 1 << 29


def require_computable(graph: Graph, outputs: Sequence[GraphOutput]) -> None:
    """Raises :class:`DmlError` (DML3015) for graphs that need too much time or memory, before reading any data."""
    nodes = graph.live_nodes(tuple(outputs))
    needed = values_needed(nodes, outputs)
    total = 0
    # the stored bytes of constants exist already; only reading them costs anything
    allocated = [(item.value, item.value.nbytes) for item in graph.inputs]
    allocated += [(item.value, item.value.nbytes - stored_bytes(item.data)) for item in graph.constants]
    for value, nbytes in allocated:
        if value in needed:
            total += nbytes
            _require(nbytes, total, f"the buffer {quote(value.name)} has {value.nbytes} bytes")
    for node in nodes:
        read = sum(desc.element_count for _, _, _, desc in node.views_in())
        written = sum(desc.element_count + write.value.nbytes for _, _, write, desc in node.views_out())
        hidden = hidden_work(node.operator)
        work = read + written + hidden
        total += work
        reason = f"it reads {read} elements and writes {written}, bytes of their buffers included"
        reason += f", and visits {hidden} in between" if hidden > read + written else ""
        _require(work, total, reason, node)


def values_needed(nodes: Sequence[Node], outputs: Sequence[GraphOutput]) -> set[Value]:
    """The values that the nodes read or overwrite, and the outputs."""
    needed = {output.value for output in outputs}
    for node in nodes:
        needed |= {read.value for _, _, read, _ in node.views_in()}
        needed |= {write.base for _, _, write, _ in node.views_out() if write.base is not None}
    return needed


def _require(work: int, total: int, reason: str, node: Node | None = None) -> None:
    node_too_large = work > LARGEST_NODE
    if not node_too_large and total <= LARGEST_GRAPH:
        return
    found, limit, subject = (work, LARGEST_NODE, "one node") if node_too_large else (total, LARGEST_GRAPH, "a graph")
    if not node_too_large:
        reason = f"this node and those before it visit {total:,} elements"
    name, operator = (node.name, node.operator.type) if node else ("", "")
    raise DmlError(
        TOO_LARGE_FOR_REFERENCE.at(
            f"{reason}; the limit of the reference implementation is {limit:,} for {subject}",
            node=name,
            operator=operator,
            pointer=node.source if node else "",
            expected=f"at most {limit}",
            found=found,
            remedies=(Remedy("smaller inputs: --size NAME=SIZES, or sizes= in Python"),),
        )
    )
