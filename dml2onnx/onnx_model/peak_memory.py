"""Computes the peak memory of a run of a model."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import prod

from dml2onnx.onnx_model.records import OnnxGraph, OnnxNode, OnnxValue, Origin, has_unknown
from dml2onnx.onnx_model.types import DType, stored_size

ALIASES = frozenset({"Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"})
"""Operators whose output shares the memory of their input."""


@dataclass(frozen=True, slots=True)
class Peak:
    """The peak bytes of all live tensors, and the node that runs then."""

    nbytes: int
    origin: Origin | None


def peak(graph: OnnxGraph) -> Peak:
    """A lower bound of the memory of a run: weights, inputs, outputs, and values that are still to be read.

    A node's result may reuse the memory of its inputs, so these count only if they are read later.
    """
    owner: dict[str, str] = {}
    sizes: dict[str, int] = {}
    uses: Counter[str] = Counter()
    supplied = {port.onnx_name for port in graph.outputs}  # each has its own memory
    for node in graph.nodes:
        for value in node.outputs:
            if value is None:
                continue
            source = node.inputs[0] if _is_alias(node) and value.name not in supplied else None
            owner[value.name] = value.name if source is None else owner.get(source.name, source.name)
            sizes.setdefault(owner[value.name], _nbytes(value.dtype, value.shape))
        uses.update(_owners(node.inputs, owner))
    uses.update(owner.get(port.onnx_name, port.onnx_name) for port in graph.outputs)
    ports = sum(_nbytes(port.dtype, port.shape) for port in graph.inputs)
    alive = {*graph.initializers, *(port.onnx_name for port in graph.inputs)}
    now = graph.weight_bytes + ports
    most = Peak(now, None)
    for origin in graph.origins:
        for node in origin.nodes:
            for name in _owners(node.inputs, owner):
                uses[name] -= 1
                if not uses[name] and name in sizes and name in alive:
                    alive.discard(name)
                    now -= sizes[name]
            for name in _owners(node.outputs, owner):
                if name in sizes and name not in alive and (uses[name] or not _is_alias(node)):
                    alive.add(name)
                    now += sizes[name]
            if now > most.nbytes:
                most = Peak(now, origin)
    return most


def _is_alias(node: OnnxNode) -> bool:
    return node.op_type in ALIASES and bool(node.inputs)


def _owners(values: tuple[OnnxValue | None, ...], owner: dict[str, str]) -> list[str]:
    return [owner.get(value.name, value.name) for value in values if value is not None]


def _nbytes(dtype: DType, shape: tuple[int, ...]) -> int:
    """Bytes of a value; 0 if its size is unknown."""
    return 0 if has_unknown(shape) else stored_size(dtype, prod(shape))
