"""Random nodes of attention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from dml2onnx.ir.graph import Read
from dml2onnx.ir.tensor import DataType
from dml2onnx.testing.random_graphs.draft import GraphDraft, of_latest
from dml2onnx.testing.random_graphs.movement import counted

_STACKS = {
    "StackedQueryKeyTensor": ("QueryTensor", "KeyTensor"),
    "StackedKeyValueTensor": ("KeyTensor", "ValueTensor"),
    "StackedQueryKeyValueTensor": ("QueryTensor", "KeyTensor", "ValueTensor"),
}

_MASKS: dict[str, Callable[[int, int, int, int], tuple[int, ...]]] = {
    "KEY_SEQUENCE_LENGTH": lambda batch, heads, queries, total: (1, batch),
    "KEY_SEQUENCE_END_START": lambda batch, heads, queries, total: (2, batch),
    "KEY_QUERY_SEQUENCE_LENGTH_START_END": lambda batch, heads, queries, total: (3 * batch + 2,),
    "BOOLEAN": lambda batch, heads, queries, total: (batch, heads, queries, total),
}
"""The sizes of a mask of each type."""


def attention(g: GraphDraft, name: str) -> None:
    """Attention with separate or stacked tensors, masks, biases and a past."""
    batch, queries, keys, size, value_size, heads, past = g.each(7, 1, 3)
    stack = g.draw(st.sampled_from([None, *_STACKS]))
    stacked = () if stack is None else _STACKS[stack]
    grouped = name == "MULTIHEAD_ATTENTION1"
    if "QueryTensor" in stacked:
        keys = queries
    if "ValueTensor" in stacked:
        value_size = size
    groups = heads
    if grouped and "QueryTensor" not in stacked:
        heads *= g.draw(st.integers(1, 2))
    past = past if g.chance(2) else 0
    lengths = grouped and past > 0 and g.chance(2)
    total = past + keys
    own: dict[str, tuple[int, ...]] = {
        "QueryTensor": (batch, queries, heads * size),
        "KeyTensor": (batch, keys, groups * size),
        "ValueTensor": (batch, keys, groups * value_size),
    }
    inputs = {field: sizes for field, sizes in own.items() if field not in stacked}
    if stack is not None:
        inputs[stack] = (batch, queries if "QueryTensor" in stacked else keys, groups, len(stacked), size)
    if g.chance(2):
        inputs["BiasTensor"] = (sum(sizes[-1] for sizes in own.values()),)
    if g.chance(3):
        inputs["RelativePositionBiasTensor"] = (batch, heads, queries, total)
    if past:
        inputs["PastKeyTensor"] = (batch, groups, past, size)
        inputs["PastValueTensor"] = (batch, groups, past, value_size)
    data_type = DataType[g.draw(st.sampled_from(of_latest(name, "OutputTensor")[1]))]
    fields: dict[str, Any] = {"Scale": g.draw(st.sampled_from([1.0, 0.5, -0.25])), "MaskFilterValue": -100.0}
    fields |= {"QueryHeadCount": heads, "KeyValueHeadCount": groups} if grouped else {"HeadCount": heads}
    reads: dict[str, tuple[Read, ...]] = {}
    for field, sizes in inputs.items():
        fields[field], read = g.view(data_type, sizes)
        reads[field] = (read,)
    fields["MaskType"] = kind = g.draw(st.sampled_from(["NONE", *_MASKS]))
    if kind in _MASKS:
        sizes = _MASKS[kind](batch, heads, queries, total)
        fields["MaskTensor"], read = counted(g, DataType.INT32, sizes, 0, 1 if kind == "BOOLEAN" else total)
        reads["MaskTensor"] = (read,)
    if lengths:
        fields["PastSequenceLengthsTensor"], read = counted(g, DataType.INT32, (batch,), 0, past)
        reads["PastSequenceLengthsTensor"] = (read,)
    outputs: dict[str, tuple[int, ...]] = {"OutputTensor": (batch, queries, heads * value_size)}
    presents: dict[str, tuple[int, ...]] = {
        "OutputPresentKeyTensor": (batch, groups, total, size),
        "OutputPresentValueTensor": (batch, groups, total, value_size),
    }
    # of a cache both are given or neither
    chosen = (tuple(presents) if g.chance(2) else ()) if lengths else [item for item in presents if g.chance(2)]
    outputs |= {field: presents[field] for field in chosen}
    for field, sizes in outputs.items():
        fields[field] = g.layout(data_type, sizes, output=True)
    g.add(name, reads, list(outputs), **fields)


FAMILIES: dict[tuple[str, ...], Callable[[GraphDraft, str], None]] = {
    ("MULTIHEAD_ATTENTION", "MULTIHEAD_ATTENTION1"): attention,
}
