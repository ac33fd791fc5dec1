from __future__ import annotations

import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import operator_results, run_operator
from dml2onnx.testing.descriptors import describe

ALL = [t for t in DataType if t.bits >= 8]
INTEGERS = [t for t in ALL if not t.is_float]
UNSIGNED = [t for t in INTEGERS if not t.is_signed]
FLOATS = np.array([0.0, -0.0, 1.5, -3, 1e-7, np.inf, -np.inf, np.nan])

COMPARISONS = {
    "EQUALS": operator.eq,
    "GREATER_THAN": operator.gt,
    "GREATER_THAN_OR_EQUAL": operator.ge,
    "LESS_THAN": operator.lt,
    "LESS_THAN_OR_EQUAL": operator.le,
}


def run(name, dtype=None, /, *arrays, **values):
    """One or two inputs, or the condition and two; the output has the given type, or that of the last input."""
    fields = {1: ["InputTensor"], 2: ["ATensor", "BTensor"], 3: ["ConditionTensor", "ATensor", "BTensor"]}[len(arrays)]
    inputs = dict(zip(fields, arrays, strict=True))
    output = np.zeros(arrays[-1].shape, dtype or arrays[-1].dtype)
    op = describe(f"ELEMENT_WISE_{name}", **inputs, OutputTensor=output, **values)
    (result,) = run_operator(op, inputs)["OutputTensor"]
    return result


def one(number, data_type):
    return np.array([number], data_type.dtype)


def patterns(data_type, count=64):
    raw = np.random.default_rng(3).integers(0, 256, count * data_type.itemsize).astype(np.uint8)
    return raw.view(data_type.dtype)


@given(st.sampled_from(list(COMPARISONS)), st.sampled_from(INTEGERS), st.data())
def test_integers_compare_in_full(name, data_type, data):
    low, high = data_type.limits
    a = data.draw(st.one_of(st.integers(low, high), st.sampled_from([low, high])))
    b = data.draw(st.one_of(st.just(a), st.integers(max(low, a - 1), min(high, a + 1)), st.integers(low, high)))
    got = run(f"LOGICAL_{name}", np.uint8, one(a, data_type), one(b, data_type))
    assert got[0] == COMPARISONS[name](a, b)


@pytest.mark.parametrize("output", [np.uint8, np.uint32])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("name", COMPARISONS)
def test_floats_compare_as_python_floats(name, dtype, output):
    a, b = (x.reshape(-1).copy() for x in np.broadcast_arrays(FLOATS.astype(dtype)[:, None], FLOATS.astype(dtype)))
    got = run(f"LOGICAL_{name}", output, a, b)
    assert got.dtype == output
    want = [COMPARISONS[name](x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    np.testing.assert_array_equal(got, np.array(want, output))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint32])
def test_all_but_zero_is_true(dtype):
    a, b = np.array([0, 0, 2, 2, 255], dtype), np.array([0, 4, 0, 4, 1], dtype)
    np.testing.assert_array_equal(run("LOGICAL_AND", None, a, b), [0, 0, 0, 1, 1])
    np.testing.assert_array_equal(run("LOGICAL_OR", None, a, b), [0, 1, 1, 1, 1])
    np.testing.assert_array_equal(run("LOGICAL_XOR", None, a, b), [0, 1, 1, 0, 0])
    np.testing.assert_array_equal(run("LOGICAL_NOT", None, a), [1, 1, 0, 0, 0])


@pytest.mark.parametrize("data_type", ALL, ids=lambda t: t.name)
def test_if_selects_bits(data_type):
    a, b = patterns(data_type), patterns(data_type)[::-1].copy()
    condition = np.arange(64, dtype=np.uint8) % 3 * 100
    got = run("IF", None, condition, a, b)
    bits = f"u{data_type.itemsize}"
    for i, c in enumerate(condition):
        assert got.view(bits)[i] == (a if c else b).view(bits)[i]


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_floats_are_classified(dtype):
    x = FLOATS.astype(dtype)
    np.testing.assert_array_equal(run("IS_NAN", np.uint32, x), [0, 0, 0, 0, 0, 0, 0, 1])
    for mode, want in {"EITHER": [1, 1], "POSITIVE": [1, 0], "NEGATIVE": [0, 1]}.items():
        got = run("IS_INFINITY", np.uint8, x, InfinityMode=mode)
        np.testing.assert_array_equal(got, [0, 0, 0, 0, 0, *want, 0])


@pytest.mark.parametrize("data_type", ALL, ids=lambda t: t.name)
def test_bits_of_every_type(data_type):
    a, b = patterns(data_type), patterns(data_type)[::-1].copy()
    bits = f"u{data_type.itemsize}"
    raw_a, raw_b = (x.view(bits).tolist() for x in (a, b))
    mask = (1 << data_type.bits) - 1
    for name, function in (("AND", operator.and_), ("OR", operator.or_), ("XOR", operator.xor)):
        got = run(f"BIT_{name}", None, a, b).view(bits).tolist()
        assert got == [function(x, y) for x, y in zip(raw_a, raw_b, strict=True)]
    assert run("BIT_NOT", None, a).view(bits).tolist() == [x ^ mask for x in raw_a]
    for output in (np.uint8, np.uint32):
        assert run("BIT_COUNT", output, a).tolist() == [x.bit_count() for x in raw_a]


def test_bits_of_nan_are_open():
    x = np.array([1, np.nan, -0.0, np.inf], np.float32)
    desc = describe("ELEMENT_WISE_BIT_NOT", InputTensor=x, OutputTensor=x)
    (result,) = operator_results(desc, {"InputTensor": x})["OutputTensor"]
    assert result.unspecified is not None
    assert result.unspecified.tolist() == [False, True, False, False]


def test_bits_are_counted_in_any_layout():
    x = np.arange(24, dtype=np.uint16).reshape(2, 3, 4).transpose(2, 0, 1)
    got = run("BIT_COUNT", np.uint8, x)
    np.testing.assert_array_equal(got, np.vectorize(int.bit_count)(x.astype(object)))


@given(st.sampled_from(UNSIGNED), st.data())
def test_shifts_take_the_count_modulo_the_width(data_type, data):
    low, high = data_type.limits
    a = data.draw(st.integers(low, high))
    count = data.draw(st.one_of(st.integers(0, min(high, 80)), st.integers(low, high)))
    masked = count % max(data_type.bits, 32)
    left = run("BIT_SHIFT_LEFT", None, one(a, data_type), one(count, data_type))
    right = run("BIT_SHIFT_RIGHT", None, one(a, data_type), one(count, data_type))
    assert int(left[0]) == (a << masked) & high
    assert int(right[0]) == a >> masked
