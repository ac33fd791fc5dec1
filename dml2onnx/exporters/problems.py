"""Collects everything that a format cannot express, with the same messages for every format."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import networkx as nx

from dml2onnx.codes import exporting as codes
from dml2onnx.diagnostics import Code, Diagnostic, DmlError, quote, raise_errors

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from dml2onnx.ir.graph import Graph, Node, Value
    from dml2onnx.ir.tensor import TensorDesc

_SURROGATE = re.compile("[\ud800-\udfff]")
_WITH_SURROGATE = re.compile(r'"(?:[^"\\\n\ud800-\udfff]|\\.)*[\ud800-\udfff](?:[^"\\\n]|\\.)*"')
_NO_TEXT = "has half of a surrogate pair, which UTF-8 cannot encode"


class Problems:
    """Findings about one graph; ``found`` are the first ones."""

    def __init__(self, found: Iterable[Diagnostic] = ()) -> None:
        self._found = list(found)

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, code: Code, message: str, node: Node | None = None, field: str = "", found: object = "") -> None:
        """Adds a finding about a node, or about the whole graph."""
        self._found.append(problem(code, message, node, field, found))

    def raise_found(self) -> None:
        """Raises :class:`DmlError` with all findings, if there are any."""
        raise_errors(self._found)

    def check_size(self, node: Node, field: str, desc: TensorDesc, value: Value) -> None:
        """Checks that a tensor has the size of its buffer."""
        if desc.total_bytes != value.nbytes:
            message = f"{field} has {desc.total_bytes} bytes, its buffer {quote(value.name)} has {value.nbytes}."
            self.add(codes.BUFFER_SIZE, message, node, field, f"{value.nbytes} bytes")

    def check_view(self, what: str, name: str, desc: TensorDesc | None, of_node: TensorDesc) -> None:
        """Checks that an input or output has the descriptor of its node."""
        if desc is not None and desc != of_node:
            message = f"The {what} {quote(name)} is {desc}, but the tensor of the node is {of_node}."
            self.add(codes.OTHER_VIEW, message, found=desc)

    def check_name(self, what: str, name: str, taken: Container[str]) -> None:
        """Checks that a name is not empty, unique, and valid in UTF-8."""
        reason = "is empty" if not name else f"is that of another {what}" if name in taken else ""
        if not reason and utf8(name) != name:
            reason = _NO_TEXT
        if reason:
            self.add(codes.UNSUITABLE_NAME, f"The name {quote(name)} {reason}.", found=quote(name))

    def check_strings(self, text: str) -> None:
        """Checks that UTF-8 can encode the strings of a JSON text."""
        for item in dict.fromkeys(_WITH_SURROGATE.findall(text)) if _SURROGATE.search(text) else ():
            name = json.loads(item)
            self.add(codes.UNSUITABLE_NAME, f"The name {quote(name)} {_NO_TEXT}.", found=quote(name))


def problem(code: Code, message: str, node: Node | None = None, field: str = "", found: object = "") -> Diagnostic:
    """A finding about a node, or about the whole graph."""
    if node is None:
        return code.at(message, found=found)
    return code.at(message, node=node.name, operator=node.operator.type, field=field, pointer=node.source, found=found)


def sorted_nodes(graph: Graph) -> tuple[Node, ...]:
    """The nodes in order of execution; raises :class:`DmlError` for cycles."""
    try:
        return graph.sorted_nodes()
    except nx.NetworkXUnfeasible:
        message = "The nodes depend on each other in a cycle."
        raise DmlError(codes.NOT_SORTABLE.at(message, expected="a graph without cycles")) from None


def utf8(name: str) -> str:
    """The name, with replacements for characters that UTF-8 cannot encode."""
    return name.encode("utf-8", "replace").decode()
