"""Maps nodes to the providers that ran them, and times in a profile to nodes."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from dml2onnx.codes.running import FELL_BACK
from dml2onnx.diagnostics import Diagnostic, quote
from dml2onnx.onnx_model import OnnxGraph, OnnxNode, bodies
from dml2onnx.providers.choice import Providers
from dml2onnx.providers.table import AUTO, BY_NAME
from dml2onnx.runtime.profiles import NodeTime

BLOCKED = "_nchwc"
"""The suffix of a node that ONNX Runtime converts to a blocked layout; the prefix is the name of its output.

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/nchwc_transformer.cc
"""


@dataclass(frozen=True, slots=True)
class NodeAssignment:
    """Where one ONNX node ran."""

    name: str
    operator: str
    provider: str
    """ONNX Runtime's name of the execution provider; empty for a node that was folded or merged."""
    node: str
    """The DirectML node that it was created for; empty for conversions of outputs."""
    directml: str
    """The operator of the DirectML node."""


RENEWED = re.compile(r"(_token_\d+|_new_reshape)+$")
"""Suffixes that ONNX Runtime appends to the name of a node when it replaces it, for example with an NHWC form.

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/graph/graph.cc (GenerateNodeName),
https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/reshape_fusion.cc
"""

LONGEST_MERGED = 4
"""Limit of nodes that ONNX Runtime merges into one, such as Conv, Add and Relu."""


def assignments(model: OnnxGraph, recorded: Mapping[str, str], times: Iterable[NodeTime]) -> tuple[NodeAssignment, ...]:
    """The provider of each node: the one ``recorded`` by ONNX Runtime, else the one in the profile."""
    seen, _ = placed(times, model.nodes)
    return tuple(
        NodeAssignment(
            node.name,
            node.op_type,
            recorded.get(node.name) or (seen[node.name].provider if node.name in seen else ""),
            origin.node if origin.operator else "",
            origin.operator,
        )
        for origin in model.origins
        for node in origin.nodes
    )


def fell_back(found: Iterable[NodeAssignment], providers: Providers, loaded: Sequence[str]) -> tuple[Diagnostic, ...]:
    """A finding for each node that ran on none of the requested providers.

    For ``auto``, the requested providers are those ``loaded`` in the session, without the CPU unless it is alone.
    """
    cpu = BY_NAME["cpu"].full_name
    if providers.first == AUTO:
        wanted = {name for name in loaded if name != cpu} or {cpu}
    else:
        wanted = {BY_NAME[name].full_name for name in providers.names}
    return tuple(
        FELL_BACK.at(
            f"the ONNX node {quote(item.name)} ({item.operator}) ran on {item.provider}",
            node=item.node,
            operator=item.directml,
            expected=", ".join(sorted(wanted)),
            found=item.provider,
        )
        for item in found
        if item.provider and item.provider not in wanted
    )


def placed(times: Iterable[NodeTime], nodes: Sequence[OnnxNode]) -> tuple[dict[str, NodeTime], list[NodeTime]]:
    """The time of each node by name, and the times that belong to no node.

    Nodes in subgraphs are skipped, since the times of their hosts include them.
    """
    inner = {node.name for host in nodes for body in bodies(host) for node in body.nodes}
    names = {node.name for node in nodes}
    by_name = {node.name: node for node in nodes}
    by_value = {value.name: node for node in nodes for value in node.outputs if value is not None}
    found: dict[str, NodeTime] = {}
    others: list[NodeTime] = []
    for item in times:
        name = item.name
        if name not in names and name.endswith(BLOCKED):
            name = by_value[value].name if (value := name.removesuffix(BLOCKED)) in by_value else name
        if name not in names:
            name = RENEWED.sub("", name)
        if name in names:
            name = _at_work(by_name[name], item.operator, by_value, found)
        if name in names and name not in found:
            found[name] = item
        elif item.name not in inner:
            others.append(item)
    return found, others


def _at_work(node: OnnxNode, operator: str, makers: Mapping[str, OnnxNode], found: Container[str]) -> str:
    """The name of the main node of a merged one, such as Conv with Relu.

    ONNX Runtime names a merged node after the last of its parts, whose operator is not the one that runs.
    """
    at = node
    for _ in range(LONGEST_MERGED):
        if at.op_type == operator.removeprefix("Fused"):
            return node.name if at.name in found else at.name
        first = next((value.name for value in at.inputs if value is not None and value.name in makers), None)
        if first is None:
            break
        at = makers[first]
    return node.name
