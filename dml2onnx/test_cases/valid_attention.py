"""Valid descriptors of MULTIHEAD_ATTENTION in every form."""

from __future__ import annotations

from typing import Any

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.test_cases.descriptors import plain as op
from dml2onnx.test_cases.descriptors import sized as t

# 2 batches, 3 queries, 4 keys, 5 past positions; 2 heads of size 8 in queries and keys, and 3 in values
QUERY, KEY, VALUE, OUTPUT = t(2, 3, 16), t(2, 4, 16), t(2, 4, 6), t(2, 3, 6)
PAST_KEY, PAST_VALUE = t(2, 2, 5, 8), t(2, 2, 5, 3)


def attention(**fields: Any) -> OperatorDesc:
    """2 heads with separate queries, keys and values."""
    present = {"QueryTensor": QUERY, "KeyTensor": KEY, "ValueTensor": VALUE, "OutputTensor": OUTPUT, "HeadCount": 2}
    return op("MULTIHEAD_ATTENTION", **{**present, "MaskType": "NONE", **fields})


def grouped(**fields: Any) -> OperatorDesc:
    """4 query heads and 2 key-value heads."""
    present = {"QueryTensor": t(2, 3, 32), "KeyTensor": KEY, "ValueTensor": VALUE, "OutputTensor": t(2, 3, 12)}
    heads = {"QueryHeadCount": 4, "KeyValueHeadCount": 2}
    return op("MULTIHEAD_ATTENTION1", **{**present, **heads, "MaskType": "NONE", **fields})


def stacked(**fields: Any) -> OperatorDesc:
    """:func:`attention` without the three tensors that may be stacked."""
    return attention(**{"QueryTensor": None, "KeyTensor": None, "ValueTensor": None, **fields})


def masked(kind: str, *sizes: int, **fields: Any) -> OperatorDesc:
    """:func:`attention` with a mask."""
    return attention(MaskType=kind, MaskTensor=t(*sizes, type="INT32"), **fields)


PAST = {
    "PastKeyTensor": PAST_KEY,
    "PastValueTensor": PAST_VALUE,
    "OutputPresentKeyTensor": t(2, 2, 9, 8),
    "OutputPresentValueTensor": t(2, 2, 9, 3),
}
LENGTHS = {
    "PastSequenceLengthsTensor": t(2, type="INT32"),
    "OutputPresentKeyTensor": t(2, 2, 20, 8),
    "OutputPresentValueTensor": t(2, 2, 20, 3),
}

VALID = {
    "attention, separate": attention(BiasTensor=t(16 + 16 + 6)),
    "attention, leading ones": attention(
        QueryTensor=t(1, 2, 3, 16),
        KeyTensor=t(1, 2, 4, 16),
        ValueTensor=t(1, 2, 4, 6),
        BiasTensor=t(1, 1, 38),
        OutputTensor=t(1, 2, 3, 6),
        **{**PAST, "PastKeyTensor": t(1, 2, 2, 5, 8)},
    ),
    "attention, query and key": stacked(
        StackedQueryKeyTensor=t(2, 4, 2, 2, 8), ValueTensor=VALUE, OutputTensor=t(2, 4, 6)
    ),
    "attention, key and value": stacked(
        QueryTensor=QUERY, StackedKeyValueTensor=t(2, 4, 2, 2, 8), OutputTensor=t(2, 3, 16)
    ),
    "attention, all three": stacked(
        StackedQueryKeyValueTensor=t(2, 4, 2, 3, 8), BiasTensor=t(48), OutputTensor=t(2, 4, 16)
    ),
    "attention, past": attention(**PAST, RelativePositionBiasTensor=t(2, 2, 3, 9)),
    "attention, present": attention(
        OutputPresentKeyTensor=t(2, 2, 4, 8), OutputPresentValueTensor=t(2, 2, 4, 3), BiasTensor=t(38)
    ),
    "attention, mask by length": masked("KEY_SEQUENCE_LENGTH", 1, 2),
    "attention, mask by end and start": masked("KEY_SEQUENCE_END_START", 1, 2, 2),
    "attention, packed mask": masked("KEY_QUERY_SEQUENCE_LENGTH_START_END", 8),
    "attention, boolean mask": masked("BOOLEAN", 2, 2, 3, 9, **PAST),
    "grouped": grouped(BiasTensor=t(32 + 16 + 6), RelativePositionBiasTensor=t(2, 4, 3, 4)),
    "grouped, past": grouped(**PAST),
    "grouped, key and value": grouped(
        KeyTensor=None, ValueTensor=None, StackedKeyValueTensor=t(2, 4, 2, 2, 8), OutputTensor=t(2, 3, 32)
    ),
    "grouped, one group": grouped(
        QueryTensor=None,
        KeyTensor=None,
        ValueTensor=None,
        StackedQueryKeyValueTensor=t(2, 4, 2, 3, 8),
        QueryHeadCount=2,
        OutputTensor=t(2, 4, 16),
    ),
    "grouped, lengths of the past": grouped(**LENGTHS, KeyTensor=t(2, 3, 16), ValueTensor=t(2, 3, 6)),
    "grouped, bias and mask over the past": grouped(
        **PAST, RelativePositionBiasTensor=t(2, 4, 3, 9), MaskType="BOOLEAN", MaskTensor=t(2, 4, 3, 9, type="INT32")
    ),
    "grouped, boolean mask": grouped(MaskType="BOOLEAN", MaskTensor=t(1, 2, 4, 3, 4, type="INT32")),
}
