"""Cases for the size rules of MULTIHEAD_ATTENTION."""

from __future__ import annotations

from dml2onnx.codes import checking as codes
from dml2onnx.test_cases.valid_attention import (
    LENGTHS,
    PAST,
    PAST_KEY,
    PAST_VALUE,
    QUERY,
    attention,
    grouped,
    masked,
    stacked,
)
from tests.checks.build import t
from tests.checks.cases import Case, case, cases

SIZE, RANK = codes.WRONG_SIZE, codes.DIFFERENT_DIMENSION_COUNTS
LEADING = attention(
    QueryTensor=t(4, 2, 3, 16), KeyTensor=t(1, 2, 4, 16), ValueTensor=t(1, 2, 4, 6), OutputTensor=t(1, 2, 3, 6)
)
CASES: list[Case] = [
    *cases(
        SIZE,
        {
            "batches of keys": ("KeyTensor/Sizes/0", attention(KeyTensor=t(1, 4, 16))),
            "numbers of a key": ("KeyTensor/Sizes/2", attention(KeyTensor=t(2, 4, 8))),
            "keys and values": ("ValueTensor/Sizes/1", attention(ValueTensor=t(2, 3, 6))),
            "attention output": ("OutputTensor/Sizes/2", attention(OutputTensor=t(2, 3, 16))),
            "attention bias": ("BiasTensor/Sizes/0", attention(BiasTensor=t(32))),
            "heads do not divide": ("QueryTensor/Sizes/2", attention(QueryTensor=t(2, 3, 15))),
            "relative position bias without the past": (
                "RelativePositionBiasTensor/Sizes/3",
                attention(**PAST, RelativePositionBiasTensor=t(2, 2, 3, 4)),
            ),
            "present key without the past": (
                "OutputPresentKeyTensor/Sizes/2",
                attention(**{**PAST, "OutputPresentKeyTensor": t(2, 2, 4, 8)}),
            ),
            "head size of the past": (
                "PastValueTensor/Sizes/3",
                attention(**{**PAST, "PastValueTensor": t(2, 2, 5, 8)}),
            ),
            "layout of a stack": (
                "StackedKeyValueTensor/Sizes/3",
                stacked(QueryTensor=QUERY, StackedKeyValueTensor=t(2, 4, 2, 3, 8), OutputTensor=t(2, 3, 16)),
            ),
            "heads of a stack": (
                "StackedKeyValueTensor/Sizes/2",
                stacked(QueryTensor=QUERY, StackedKeyValueTensor=t(2, 4, 1, 2, 8), OutputTensor=t(2, 3, 16)),
            ),
            "values beside a stack of queries and keys": (
                "ValueTensor/Sizes/1",
                stacked(StackedQueryKeyTensor=t(2, 4, 2, 2, 8), ValueTensor=t(2, 3, 6), OutputTensor=t(2, 4, 6)),
            ),
            "past values beside a stack of keys and values": (
                "PastValueTensor/Sizes/3",
                stacked(
                    QueryTensor=QUERY,
                    StackedKeyValueTensor=t(2, 4, 2, 2, 8),
                    PastKeyTensor=PAST_KEY,
                    PastValueTensor=t(2, 2, 5, 3),
                    OutputTensor=t(2, 3, 16),
                ),
            ),
            "leading ones of a query": ("QueryTensor/Sizes", LEADING),
            "mask by length": ("MaskTensor/Sizes", masked("KEY_SEQUENCE_LENGTH", 1, 3)),
            "mask by end and start": ("MaskTensor/Sizes", masked("KEY_SEQUENCE_END_START", 1, 2)),
            "packed mask": ("MaskTensor/Sizes", masked("KEY_QUERY_SEQUENCE_LENGTH_START_END", 2)),
            "boolean mask": ("MaskTensor/Sizes", masked("BOOLEAN", 2, 1, 3, 4)),
            "boolean mask of rank 2": ("MaskTensor/Sizes", masked("BOOLEAN", 2, 4)),
            "groups in the output": ("OutputTensor/Sizes/2", grouped(OutputTensor=t(2, 3, 6))),
            "groups in a stack of queries": (
                "StackedQueryKeyTensor/Sizes/2",
                grouped(
                    QueryTensor=None, KeyTensor=None, StackedQueryKeyTensor=t(2, 4, 2, 2, 8), OutputTensor=t(2, 4, 12)
                ),
            ),
            "present tensors of different lengths": (
                "OutputPresentValueTensor/Sizes/2",
                grouped(**{**LENGTHS, "OutputPresentValueTensor": t(2, 2, 21, 3)}),
            ),
            "a cache shorter than the new keys": (
                "OutputPresentKeyTensor/Sizes/3",
                grouped(
                    **{**LENGTHS, "OutputPresentKeyTensor": t(1, 2, 2, 3, 8), "OutputPresentValueTensor": t(2, 2, 3, 3)}
                ),
            ),
            "leading ones of the present": (
                "OutputPresentKeyTensor/Sizes",
                grouped(**{**PAST, "OutputPresentKeyTensor": t(3, 2, 2, 9, 8)}),
            ),
            "layout of grouped stack": (
                "StackedKeyValueTensor/Sizes/3",
                grouped(
                    KeyTensor=None, ValueTensor=None, StackedKeyValueTensor=t(2, 4, 2, 1, 8), OutputTensor=t(2, 3, 32)
                ),
            ),
            "grouped mask": ("MaskTensor/Sizes", grouped(MaskType="BOOLEAN", MaskTensor=t(2, 2, 3, 4, type="INT32"))),
        },
    ),
    *cases(
        codes.ALL_OR_NONE,
        {
            "past keys without values": ("PastValueTensor", attention(**{**PAST, "PastValueTensor": None})),
            "grouped past values without keys": ("PastKeyTensor", grouped(PastValueTensor=PAST_VALUE)),
            "a cache of keys without values": (
                "OutputPresentValueTensor",
                grouped(**{**LENGTHS, "OutputPresentValueTensor": None}),
            ),
        },
    ),
    case(
        "heads divide neither",
        attention(QueryTensor=t(2, 3, 15), KeyTensor=t(2, 4, 15)),
        codes.INDIVISIBLE,
        "QueryTensor/Sizes/2",
    ),
    case("a leading one of the query alone", attention(QueryTensor=t(1, 2, 3, 16)), RANK, "QueryTensor/Sizes"),
    case(
        "lengths with strides",
        grouped(**{**LENGTHS, "PastSequenceLengthsTensor": t(2, type="INT32", strides=(2,))}),
        codes.NOT_PACKED,
        "PastSequenceLengthsTensor/Strides",
    ),
    case(
        "groups of heads",
        grouped(QueryTensor=t(2, 3, 24), OutputTensor=t(2, 3, 9), QueryHeadCount=3),
        codes.INDIVISIBLE,
        "QueryHeadCount",
    ),
    case(
        "lengths of no past",
        grouped(PastSequenceLengthsTensor=t(2, type="INT32")),
        codes.REQUIRED_HERE,
        "OutputPresentKeyTensor",
    ),
    case(
        "a past beside its lengths",
        grouped(**LENGTHS, PastKeyTensor=PAST_KEY, PastValueTensor=PAST_VALUE),
        codes.EXACTLY_ONE,
        "PastKeyTensor",
    ),
    case(
        "position bias beside the lengths of the past",
        grouped(**LENGTHS, RelativePositionBiasTensor=t(2, 4, 3, 20)),
        codes.EXACTLY_ONE,
        "RelativePositionBiasTensor",
    ),
]
