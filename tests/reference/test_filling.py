from __future__ import annotations

import numpy as np
import pytest

from dml2onnx import catalog
from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import operator_results, run_operator
from dml2onnx.reference.filling import philox_4x32_10
from dml2onnx.testing.descriptors import describe

TYPES = [t for t in DataType if t.bits >= 8]
SHAPES = [(5,), (3, 4), (2, 1, 3, 2), (1, 2, 1, 3, 1, 2, 2, 1)]


def extremes(data_type):
    if data_type.is_float:
        info = np.finfo(data_type.dtype)
        numbers = [0.0, -0.0, np.inf, -np.inf, np.nan, info.max, info.smallest_subnormal, 1 + info.eps]
        return [float(number) for number in numbers]
    low, high = data_type.limits
    return [low, high, 0, 1, high // 3]


@pytest.mark.parametrize("data_type", TYPES, ids=lambda t: t.name)
@pytest.mark.parametrize("shape", SHAPES, ids=len)
def test_constant(data_type, shape):
    for value in extremes(data_type):
        y = np.zeros(shape, data_type.dtype)
        op = describe("FILL_VALUE_CONSTANT", OutputTensor=y, ValueDataType=data_type.name, Value=value)
        (got,) = run_operator(op, {})["OutputTensor"]
        assert got.dtype == data_type.dtype
        assert all(element.tobytes() == data_type.dtype.type(value).tobytes() for element in got.reshape(-1))


def sequence(data_type, start, delta, shape):
    y = np.zeros(shape, data_type.dtype)
    fields = {"ValueDataType": data_type.name, "ValueStart": start, "ValueDelta": delta}
    (result,) = operator_results(describe("FILL_VALUE_SEQUENCE", OutputTensor=y, **fields), {})["OutputTensor"]
    return result


@pytest.mark.parametrize("data_type", [t for t in TYPES if not t.is_float], ids=lambda t: t.name)
@pytest.mark.parametrize("shape", [*SHAPES, (300,)], ids=str)
def test_integer_sequences_wrap(data_type, shape):
    low, high = data_type.limits
    for start in extremes(data_type):
        for delta in extremes(data_type):
            got = sequence(data_type, start, delta, shape)
            want = [(start + k * delta - low) % (high - low + 1) + low for k in range(np.prod(shape))]
            assert got.values.reshape(-1).tolist() == want
            assert got.error is None


@pytest.mark.parametrize("data_type", [DataType.FLOAT16, DataType.FLOAT32], ids=lambda t: t.name)
@pytest.mark.parametrize(("start", "delta"), [(0.0, 0.125), (-3.5, 0.1), (1000.0, -0.3), (0.0, 0.0)])
def test_float_sequences_multiply(data_type, start, delta):
    start, delta = (float(data_type.dtype.type(number)) for number in (start, delta))
    got = sequence(data_type, start, delta, (20, 50))
    want = np.array([start + k * delta for k in range(1000)])
    np.testing.assert_array_equal(got.values.reshape(-1), want.astype(data_type.dtype))
    in_float32 = np.float32(start) + np.arange(1000, dtype=np.float32) * np.float32(delta)
    assert (np.abs(in_float32 - want) <= got.error.reshape(-1)).all()


def test_float_sequences_of_special_numbers():
    np.testing.assert_array_equal(sequence(DataType.FLOAT16, 0.0, 30000.0, (4,)).values, [0, 30000, 60000, np.inf])
    np.testing.assert_array_equal(sequence(DataType.FLOAT32, np.inf, 1.0, (2,)).values, [np.inf, np.inf])
    np.testing.assert_array_equal(sequence(DataType.FLOAT32, 1.0, -np.inf, (2,)).values, [np.nan, -np.inf])


@pytest.mark.parametrize("data_type", TYPES, ids=lambda t: t.name)
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 5), (2, 3, 4, 5)])
@pytest.mark.parametrize("offset", [0, 1, -1, 3, -4, 100, -(2**31), 2**31 - 1])
def test_diagonal_matrix(data_type, shape, offset):
    y = np.zeros(shape, data_type.dtype)
    (got,) = run_operator(describe("DIAGONAL_MATRIX", OutputTensor=y, Offset=offset, Value=3), {})["OutputTensor"]
    for *matrix, row, column in np.ndindex(*shape):
        assert got[(*matrix, row, column)] == (3 if column - row == offset else 0)


@pytest.mark.parametrize(
    ("data_type", "value", "want"),
    [
        ("INT8", -1.9, -1),
        ("INT8", 300.0, 44),
        ("UINT8", -3.5, 253),
        ("UINT64", 1e30, 0),
        ("INT64", float("-inf"), -(2**63)),
        ("INT32", float("nan"), 0),
        ("FLOAT16", 1.0 + 2**-11 + 2**-20, 1.0 + 2**-10),
        ("FLOAT64", 0.1, float(np.float32(0.1))),
    ],
)
def test_diagonal_matrix_drops_fractions_and_wraps(data_type, value, want):
    y = np.zeros((1, 1), DataType[data_type].dtype)
    (got,) = run_operator(describe("DIAGONAL_MATRIX", OutputTensor=y, Offset=0, Value=value), {})["OutputTensor"]
    assert got[0, 0] == want


def diagonal_matrix1(data_type, x, shape, begin, end, value):
    fields = {} if x is None else {"InputTensor": x}
    op = describe(
        "DIAGONAL_MATRIX1",
        OutputTensor=np.zeros(shape, data_type.dtype),
        ValueDataType=data_type.name,
        Value=value,
        DiagonalFillBegin=begin,
        DiagonalFillEnd=end,
        **fields,
    )
    return run_operator(op, fields)["OutputTensor"][0]


BANDS = [(0, 1), (-1, 2), (1, 1), (2, -1), (1, 0), (-(2**31), 1), (0, 2**31 - 1), (2**31 - 1, -(2**31)), (9, 12)]


@pytest.mark.parametrize("data_type", TYPES, ids=lambda t: t.name)
@pytest.mark.parametrize("with_input", [False, True])
@pytest.mark.parametrize("shape", [(3, 3), (2, 5), (2, 1, 4, 2)])
def test_diagonal_matrix1(data_type, with_input, shape):
    x = np.arange(1, 1 + np.prod(shape)).reshape(shape).astype(data_type.dtype) if with_input else None
    for begin, end in BANDS:
        got = diagonal_matrix1(data_type, x, shape, begin, end, 99)
        for index in np.ndindex(*shape):
            t = index[-1] - index[-2]
            filled = begin <= t < end if begin <= end else not end <= t < begin
            assert got[index] == (99 if filled else 0 if x is None else x[index]), (begin, end, index)


@pytest.mark.parametrize("k", [-5, -1, 0, 2, 7])
def test_diagonal_matrix1_makes_triangles(k):
    x = np.random.default_rng(0).normal(size=(2, 4, 5)).astype(np.float32)
    upper = diagonal_matrix1(DataType.FLOAT32, x, x.shape, -(2**31), k, 0)
    np.testing.assert_array_equal(upper, np.triu(x, k))
    lower = diagonal_matrix1(DataType.FLOAT32, x, x.shape, k + 1, 2**31 - 1, 0)
    np.testing.assert_array_equal(lower, np.tril(x, k))


def random_words(state, shape):
    state = np.array(state, np.uint32).reshape(1, 1, 1, 6)
    op = describe(
        "RANDOM_GENERATOR",
        InputStateTensor=state,
        OutputTensor=np.zeros(shape, np.uint32),
        OutputStateTensor=state,
        Type="PHILOX_4X32_10",
    )
    outputs = run_operator(op, {"InputStateTensor": state})
    return outputs["OutputTensor"][0], outputs["OutputStateTensor"][0].reshape(-1).tolist()


# The known answers of Random123, the library of the authors: counter, key, block.
KNOWN_ANSWERS = [
    ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        [0xA4093822, 0x299F31D0],
        [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
    ),
]


@pytest.mark.parametrize(("counter", "key", "want"), KNOWN_ANSWERS)
def test_philox_known_answers(counter, key, want):
    assert philox_4x32_10(np.array([counter], np.uint64), tuple(key)).tolist() == [want]
    words, state = random_words([*counter, *key], (1, 1, 1, 4))
    assert words.reshape(-1).tolist() == want
    after = (sum(word << 32 * i for i, word in enumerate(counter)) + 1) % 2**128
    assert state == [*(after >> 32 * i & 0xFFFFFFFF for i in range(4)), *key]


@pytest.mark.parametrize("counter", [0, 2**32 - 2, 2**64 - 3, 2**96 - 1, 2**128 - 2, 7 * 2**64 - 2])
def test_blocks_follow_one_another(counter):
    def words_of(number):
        return [number % 2**128 >> 32 * i & 0xFFFFFFFF for i in range(4)]

    key = [0x12345678, 0x9ABCDEF0]
    one_by_one = [random_words([*words_of(counter + b), *key], (4,))[0] for b in range(5)]
    words, state = random_words([*words_of(counter), *key], (2, 3, 3))
    np.testing.assert_array_equal(words.reshape(-1), np.concatenate(one_by_one)[:18])
    assert state == [*words_of(counter + 5), *key]


@pytest.mark.parametrize(("elements", "blocks"), [(1, 1), (4, 1), (5, 2), (8, 2)])
def test_a_block_begun_is_used_up(elements, blocks):
    assert random_words([0] * 6, (elements,))[1] == [blocks, 0, 0, 0, 0, 0]


def test_the_documented_step_of_the_counter():
    """The page prints the two counters in exchanged places."""
    (example,) = catalog.operator("RANDOM_GENERATOR").examples()
    later, earlier = (int(example[key], 16) for key in ("counter_before", "counter_after"))
    counter = [earlier >> 32 * i & 0xFFFFFFFF for i in range(4)]
    _, state = random_words([*counter, 1, 2], example["output_sizes"])
    assert sum(word << 32 * i for i, word in enumerate(state[:4])) == later == earlier + example["increment"]


def test_the_new_state_may_be_left_out():
    state = np.arange(6, dtype=np.uint32)
    fields = {"InputStateTensor": state, "OutputTensor": np.zeros(3, np.uint32)}
    outputs = run_operator(describe("RANDOM_GENERATOR", Type="PHILOX_4X32_10", **fields), {"InputStateTensor": state})
    assert outputs.keys() == {"OutputTensor"}
