"""Random nodes of attention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from dml2onnx.ir.tensor import DataType
from dml2onnx.test_cases.random_graphs.draft import GraphDraft

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
"""The sizes of each type of mask."""


def attention(g: GraphDraft, name: str) -> None:
    """Attention with separate or stacked tensors, masks, biases and past keys and values."""
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
    shapes = {field: sizes for field, sizes in own.items() if field not in stacked}
    if stack is not None:
        shapes[stack] = (batch, queries if "QueryTensor" in stacked else keys, groups, len(stacked), size)
    if g.chance(2):
        shapes["BiasTensor"] = (sum(sizes[-1] for sizes in own.values()),)
    if g.chance(3):
        shapes["RelativePositionBiasTensor"] = (batch, heads, queries, total)
    if past:
        shapes["PastKeyTensor"] = (batch, groups, past, size)
        shapes["PastValueTensor"] = (batch, groups, past, value_size)
    data_type = g.data_type(name, "OutputTensor")
    fields: dict[str, Any] = {"Scale": g.draw(st.sampled_from([1.0, 0.5, -0.25])), "MaskFilterValue": -100.0}
    fields |= {"QueryHeadCount": heads, "KeyValueHeadCount": groups} if grouped else {"HeadCount": heads}
    inputs = {field: g.view(data_type, sizes) for field, sizes in shapes.items()}
    fields["MaskType"] = kind = g.draw(st.sampled_from(["NONE", *_MASKS]))
    if kind in _MASKS:
        sizes = _MASKS[kind](batch, heads, queries, total)
        inputs["MaskTensor"] = g.integers(DataType.INT32, sizes, 0, 1 if kind == "BOOLEAN" else total)
    if lengths:
        inputs["PastSequenceLengthsTensor"] = g.integers(DataType.INT32, (batch,), 0, past)
    results: dict[str, tuple[int, ...]] = {"OutputTensor": (batch, queries, heads * value_size)}
    presents: dict[str, tuple[int, ...]] = {
        "OutputPresentKeyTensor": (batch, groups, total, size),
        "OutputPresentValueTensor": (batch, groups, total, value_size),
    }
    # a cache has both outputs or neither
    chosen = (tuple(presents) if g.chance(2) else ()) if lengths else [item for item in presents if g.chance(2)]
    results |= {field: presents[field] for field in chosen}
    outputs = {field: g.layout(data_type, sizes, output=True) for field, sizes in results.items()}
    g.add(name, inputs, outputs, **fields)


FAMILIES: dict[tuple[str, ...], Callable[[GraphDraft, str], None]] = {
    ("MULTIHEAD_ATTENTION", "MULTIHEAD_ATTENTION1"): attention,
}
