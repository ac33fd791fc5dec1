"""Reports the nodes for which a target has no kernels, with reasons, and where they run instead.

Lowerings choose a form that the target runs if there is an exact one. These warnings are about the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dml2onnx.codes.compiling import FALLS_BACK, IN_UNITS, LOSES_NUMBERS, LOST_BITS
from dml2onnx.diagnostics import Diagnostic, plural, quote
from dml2onnx.onnx_model import ELEMENT_TYPES, OnnxGraph, OnnxNode, OnnxValue, with_bodies
from dml2onnx.targets import Target, bound

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Key = tuple[str, tuple[str | None, ...], tuple[str | None, ...]]
    """An ONNX operator and the element types of its inputs and outputs."""

MOST_DIMENSIONS = 5
"""Most dimensions on an NPU; nodes with more run on the CPU."""
QUANTIZERS = frozenset({"DequantizeLinear", "QuantizeLinear"})
"""Operators that a target without kernels for them may still fuse with the operators between them."""
MOST_NAMES = 3
"""DirectML nodes that a finding names; it counts the others."""


@dataclass(slots=True)
class _Stranded:
    """Nodes without a kernel, of one operator and the same types."""

    key: Key
    types: Mapping[str, str]
    """The types bound to the type variables of the ONNX schema."""
    most: int | None = None
    """Most dimensions on the target, if the nodes only have too many."""
    count: int = 0
    origins: dict[str, str] = field(default_factory=dict)
    """The DirectML nodes they come from, and their operators."""


def fallbacks(graph: OnnxGraph, chosen: Target) -> list[Diagnostic]:
    """A warning (DML2009) for each operator and combination of types that a target does not run."""
    found = [_finding(chosen, stranded) for stranded in _all_stranded(graph, chosen)]
    return found + _lost(graph, chosen)


def nodes_without_kernels(graph: OnnxGraph, chosen: Target) -> int:
    """The number of nodes that a target does not run."""
    return sum(stranded.count for stranded in _all_stranded(graph, chosen))


def _all_stranded(graph: OnnxGraph, chosen: Target) -> list[_Stranded]:
    served: dict[tuple[object, ...], _Stranded | None] = {}
    most = MOST_DIMENSIONS if chosen.has("EXTREMES_END_AT_5") else None
    for origin in graph.origins:
        is_unit = IN_UNITS in origin.notes and chosen.has("QUANTIZES_IN_UNITS")
        for node in with_bodies(origin.nodes):
            values = node.inputs + node.outputs
            key = (node.op_type, len(node.inputs), *[None if value is None else value.dtype for value in values])
            if is_unit and node.op_type in QUANTIZERS:
                continue
            if most is not None and max((value.rank for value in values if value is not None), default=0) > most:
                key = (*key, most)
            try:
                stranded = served[key]  # looked up once: data types are slow to hash
            except KeyError:
                is_wide = most is not None and key[-1] == most
                stranded = served[key] = _stranded(node, chosen, most if is_wide else None)
            if stranded is not None:
                stranded.count += 1
                stranded.origins.setdefault(origin.node, origin.operator)
    return [stranded for stranded in served.values() if stranded is not None]


def _lost(graph: OnnxGraph, chosen: Target) -> list[Diagnostic]:
    """A warning (DML2011) for each DirectML node whose numbers the target loses in any form."""
    return [
        LOSES_NUMBERS.at(f"{chosen.name}: {LOST_BITS}", node=origin.node, operator=origin.operator)
        for origin in graph.origins
        if LOST_BITS in origin.notes
    ]


def _stranded(node: OnnxNode, chosen: Target, most: int | None = None) -> _Stranded | None:
    """An empty record for nodes like this one, which exceed ``most`` dimensions; ``None`` if the target runs them."""
    key = (node.op_type, _types(node.inputs), _types(node.outputs))
    types = bound(node.op_type, chosen.opset, key[1], key[2])
    if not chosen.has_kernel(node.op_type, types):
        return _Stranded(key, types)
    return None if most is None else _Stranded(key, types, most)


def _types(values: Sequence[OnnxValue | None]) -> tuple[str | None, ...]:
    return tuple([None if value is None else ELEMENT_TYPES[value.dtype][1] for value in values])


def _finding(chosen: Target, stranded: _Stranded) -> Diagnostic:
    actual = ", ".join(stranded.types.values()) or "any type"
    op = stranded.key[0]
    has = _kernels(chosen, stranded.key, stranded.types)
    if stranded.most is not None:
        has = f"kernels of {op} for {stranded.most} dimensions at most"
    named = [quote(name) for name in stranded.origins if name][:MOST_NAMES]
    rest = len(stranded.origins) - len(named)
    whose = f" (of {', '.join(named)}{f' and {rest} more' if rest else ''})" if named else ""
    nodes = f"{plural(stranded.count, 'node')} {op} of {actual}{whose}"
    where = "run on the CPU" if stranded.count > 1 else "runs on the CPU"
    instead = where if chosen.falls_back else "will not run there without ONNX Runtime, which uses the CPU instead"
    node = next(iter(stranded.origins))
    return FALLS_BACK.at(
        f"{chosen.name} has {has}; {nodes} {instead}",
        node=node,
        operator=stranded.origins[node],
        expected=has,
        found=f"{op} of {actual}",
    )


def _kernels(chosen: Target, key: Key, types: Mapping[str, str]) -> str:
    """The types that the operator has kernels for: of the first type variable, with the others unchanged."""
    op, inputs, outputs = key
    for variable, actual in types.items():
        others = {name: item for name, item in types.items() if name != variable}
        known = [item for _, item in ELEMENT_TYPES.values() if item != actual]
        fitting = [item for item in known if chosen.has_kernel(op, {**others, variable: item})]
        if fitting:
            return f"kernels of {op} for {', '.join(fitting)}, and none for {actual}"
    elsewhere = [other for other in chosen.opsets if chosen.at(other).has_kernel(op, bound(op, other, inputs, outputs))]
    hint = f", but in opset {', '.join(map(str, elsewhere))}" if elsewhere else ""
    return f"no kernel of {op} in opset {chosen.opset}{hint}"
