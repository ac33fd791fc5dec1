"""MULTIHEAD_ATTENTION: cases for each rule about sizes."""

from __future__ import annotations

from dml2onnx.codes import checking as codes
from dml2onnx.testing.valid_attention import (
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
from tests.checks.cases import Case, case

SIZE, RANK = codes.WRONG_SIZE, codes.DIFFERENT_DIMENSION_COUNTS
LEADING = attention(
    QueryTensor=t(4, 2, 3, 16), KeyTensor=t(1, 2, 4, 16), ValueTensor=t(1, 2, 4, 6), OutputTensor=t(1, 2, 3, 6)
)
CASES: list[Case] = [
    case("batches of keys", attention(KeyTensor=t(1, 4, 16)), SIZE, "KeyTensor/Sizes/0"),
    case("numbers of a key", attention(KeyTensor=t(2, 4, 8)), SIZE, "KeyTensor/Sizes/2"),
    case("keys and values", attention(ValueTensor=t(2, 3, 6)), SIZE, "ValueTensor/Sizes/1"),
    case("attention output", attention(OutputTensor=t(2, 3, 16)), SIZE, "OutputTensor/Sizes/2"),
    case("attention bias", attention(BiasTensor=t(32)), SIZE, "BiasTensor/Sizes/0"),
    case("heads do not divide", attention(QueryTensor=t(2, 3, 15)), SIZE, "QueryTensor/Sizes/2"),
    case(
        "heads divide neither",
        attention(QueryTensor=t(2, 3, 15), KeyTensor=t(2, 4, 15)),
        codes.INDIVISIBLE,
        "QueryTensor/Sizes/2",
    ),
    case(
        "relative position bias without the past",
        attention(**PAST, RelativePositionBiasTensor=t(2, 2, 3, 4)),
        SIZE,
        "RelativePositionBiasTensor/Sizes/3",
    ),
    case(
        "present key without the past",
        attention(**{**PAST, "OutputPresentKeyTensor": t(2, 2, 4, 8)}),
        SIZE,
        "OutputPresentKeyTensor/Sizes/2",
    ),
    case(
        "head size of the past",
        attention(**{**PAST, "PastValueTensor": t(2, 2, 5, 8)}),
        SIZE,
        "PastValueTensor/Sizes/3",
    ),
    case(
        "layout of a stack",
        stacked(QueryTensor=QUERY, StackedKeyValueTensor=t(2, 4, 2, 3, 8), OutputTensor=t(2, 3, 16)),
        SIZE,
        "StackedKeyValueTensor/Sizes/3",
    ),
    case(
        "heads of a stack",
        stacked(QueryTensor=QUERY, StackedKeyValueTensor=t(2, 4, 1, 2, 8), OutputTensor=t(2, 3, 16)),
        SIZE,
        "StackedKeyValueTensor/Sizes/2",
    ),
    case(
        "values beside a stack of queries and keys",
        stacked(StackedQueryKeyTensor=t(2, 4, 2, 2, 8), ValueTensor=t(2, 3, 6), OutputTensor=t(2, 4, 6)),
        SIZE,
        "ValueTensor/Sizes/1",
    ),
    case(
        "past values beside a stack of keys and values",
        stacked(
            QueryTensor=QUERY,
            StackedKeyValueTensor=t(2, 4, 2, 2, 8),
            PastKeyTensor=PAST_KEY,
            PastValueTensor=t(2, 2, 5, 3),
            OutputTensor=t(2, 3, 16),
        ),
        SIZE,
        "PastValueTensor/Sizes/3",
    ),
    case("leading ones of a query", LEADING, SIZE, "QueryTensor/Sizes"),
    case("a leading one of the query alone", attention(QueryTensor=t(1, 2, 3, 16)), RANK, "QueryTensor/Sizes"),
    case(
        "lengths with strides",
        grouped(**{**LENGTHS, "PastSequenceLengthsTensor": t(2, type="INT32", strides=(2,))}),
        codes.NOT_PACKED,
        "PastSequenceLengthsTensor/Strides",
    ),
    case("mask by length", masked("KEY_SEQUENCE_LENGTH", 1, 3), SIZE, "MaskTensor/Sizes"),
    case("mask by end and start", masked("KEY_SEQUENCE_END_START", 1, 2), SIZE, "MaskTensor/Sizes"),
    case("packed mask", masked("KEY_QUERY_SEQUENCE_LENGTH_START_END", 2), SIZE, "MaskTensor/Sizes"),
    case("boolean mask", masked("BOOLEAN", 2, 1, 3, 4), SIZE, "MaskTensor/Sizes"),
    case("boolean mask of rank 2", masked("BOOLEAN", 2, 4), SIZE, "MaskTensor/Sizes"),
    case(
        "groups of heads",
        grouped(QueryTensor=t(2, 3, 24), OutputTensor=t(2, 3, 9), QueryHeadCount=3),
        codes.INDIVISIBLE,
        "QueryHeadCount",
    ),
    case("groups in the output", grouped(OutputTensor=t(2, 3, 6)), SIZE, "OutputTensor/Sizes/2"),
    case(
        "groups in a stack of queries",
        grouped(QueryTensor=None, KeyTensor=None, StackedQueryKeyTensor=t(2, 4, 2, 2, 8), OutputTensor=t(2, 4, 12)),
        SIZE,
        "StackedQueryKeyTensor/Sizes/2",
    ),
    case(
        "present tensors of different lengths",
        grouped(**{**LENGTHS, "OutputPresentValueTensor": t(2, 2, 21, 3)}),
        SIZE,
        "OutputPresentValueTensor/Sizes/2",
    ),
    case(
        "past keys without values",
        attention(**{**PAST, "PastValueTensor": None}),
        codes.ALL_OR_NONE,
        "PastValueTensor",
    ),
    case(
        "grouped past values without keys",
        grouped(PastValueTensor=PAST_VALUE),
        codes.ALL_OR_NONE,
        "PastKeyTensor",
    ),
    case(
        "a cache of keys without values",
        grouped(**{**LENGTHS, "OutputPresentValueTensor": None}),
        codes.ALL_OR_NONE,
        "OutputPresentValueTensor",
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
        "a cache shorter than the new keys",
        grouped(**{**LENGTHS, "OutputPresentKeyTensor": t(1, 2, 2, 3, 8), "OutputPresentValueTensor": t(2, 2, 3, 3)}),
        SIZE,
        "OutputPresentKeyTensor/Sizes/3",
    ),
    case(
        "position bias beside the lengths of the past",
        grouped(**LENGTHS, RelativePositionBiasTensor=t(2, 4, 3, 20)),
        codes.EXACTLY_ONE,
        "RelativePositionBiasTensor",
    ),
    case(
        "leading ones of the present",
        grouped(**{**PAST, "OutputPresentKeyTensor": t(3, 2, 2, 9, 8)}),
        SIZE,
        "OutputPresentKeyTensor/Sizes",
    ),
    case(
        "layout of grouped stack",
        grouped(KeyTensor=None, ValueTensor=None, StackedKeyValueTensor=t(2, 4, 2, 1, 8), OutputTensor=t(2, 3, 32)),
        SIZE,
        "StackedKeyValueTensor/Sizes/3",
    ),
    case(
        "grouped mask",
        grouped(MaskType="BOOLEAN", MaskTensor=t(2, 2, 3, 4, type="INT32")),
        SIZE,
        "MaskTensor/Sizes",
    ),
]
