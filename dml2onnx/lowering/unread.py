"""ONNX nodes that nobody reads, which no model keeps: what a lowering made and its readers saw another way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.model import CONTROL_FLOW, bodies, with_bodies

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dml2onnx.emitter import Emitter
    from dml2onnx.model import Node


def drop_unread(e: Emitter, outputs: Iterable[str]) -> bool:
    """Takes away the nodes that lead to none of ``outputs``; whether there were any."""
    read, found = set(outputs), False
    for origin in reversed(e.origins):
        kept: list[Node] = []
        for node in reversed(origin.nodes):
            for item in node.outputs:
                if item is not None and item.name in read:
                    kept.append(node)
                    _add_reads(node, read)
                    break
        if len(kept) < len(origin.nodes):
            assert isinstance(origin.nodes, list)
            origin.nodes[:] = reversed(kept)
            found = True
    return found


def drop_constants(e: Emitter, outputs: Iterable[str]) -> None:
    """Takes away the constants that no node reads; it must be the last thing that is done, since they are shared."""
    read = set(outputs)
    for origin in e.origins:
        for node in origin.nodes:
            _add_reads(node, read)
    for name in [name for name in e.initializers if name not in read]:
        del e.initializers[name]


def _add_reads(node: Node, read: set[str]) -> None:
    for item in node.inputs:
        if item is not None:
            read.add(item.name)
    if node.op_type in CONTROL_FLOW:
        for inner in with_bodies([node]):
            read.update(item.name for item in inner.inputs if item is not None)
            read.update(item.name for body in bodies(inner) for item in body.outputs)
