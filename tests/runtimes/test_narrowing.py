"""Tests which differences other types of a model explain."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from onnx import parser

from tests.runtimes import narrowing
from tests.runtimes.proof import Outcome, Run


def outcome(text: str, x: np.ndarray, answer: Sequence[object]) -> Outcome:
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["": 21]> g {text}')
    return Outcome("", "differs", False, (), Run(model.SerializeToString(), {"x": x}, [np.array(answer, x.dtype)]))


SUM = "(double[2] x) => (double[2] y) <double k = {0.1}> { y = Add (x, k) }"
TWICE = "(int64[1] x) => (int64[1] y) { y = Add (x, x) }"
CHAIN = "(float16[1] x) => (float16[1] y) { s = Mul (x, x) y = Div (s, x) }"


@pytest.mark.parametrize(
    ("answer", "explained"),
    [
        ([0.1, 0.2], True),
        ([float(np.float32(0.1)), float(np.float32(0.2))], True),
        ([0.1, 0.2001], False),
        ([0.1, np.nan], False),
    ],
)
def test_double_in_float(answer: Sequence[float], explained: bool) -> None:
    explains = narrowing.rounded_otherwise(narrowing.double_in_float)
    assert explains(outcome(SUM, np.array([0, 0.1]), answer)) is explained


def test_infinities_become_the_largest_float() -> None:
    explains = narrowing.rounded_otherwise(narrowing.double_in_float)
    largest = float(np.finfo(np.float32).max)
    assert explains(outcome(SUM, np.array([0, np.inf]), [0.1, largest]))
    assert explains(outcome(SUM, np.array([0, -np.inf]), [0.1, -largest]))
    assert not explains(outcome(SUM, np.array([0, np.inf]), [0.1, 77]))


def test_constants_are_saturated_where_inputs_are_wrapped() -> None:
    text = "(int64[2] x) => (int64[2] y) <int64 k = {-9223372036854775808}> { y = Max (x, k) }"
    x = np.array([-(1 << 62), (1 << 62) + 7])
    assert narrowing.cut_to_32_bits(outcome(text, x, [0, 7]))
    assert not narrowing.cut_to_32_bits(outcome(text, x, [1, 7]))


def test_unsigned_integers_take_a_sign() -> None:
    found = narrowing.cut_to_32_bits
    text = "(uint64[1] x) => (uint64[1] y) <uint64 k = {5}> { y = Max (x, k) }"
    assert found(outcome(text, np.array([(1 << 64) - 2], np.uint64), [5]))
    assert not found(outcome(text, np.array([(1 << 64) - 2], np.uint64), [6]))


@pytest.mark.parametrize(("answer", "explained"), [(1 << 41, True), (0, True), (2**32 - 2, True), (1 << 32, False)])
def test_integers_that_are_cut(answer: int, explained: bool) -> None:
    """Inputs are cut too: the low bits of 2**40 are 0, and a value saturated at 2**31 - 1 is saturated again."""
    found = outcome(TWICE, np.array([1 << 40]), [answer if answer != 2**32 - 2 else 2**31 - 1])
    assert narrowing.cut_to_32_bits(found) is explained


@pytest.mark.parametrize(("answer", "explained"), [(np.inf, True), (256, True), (300, True), (-1, False)])
def test_halves_in_float(answer: float, explained: bool) -> None:
    explains = narrowing.rounded_otherwise(narrowing.half_in_float, narrowing.HALF_DIGITS)
    assert explains(outcome(CHAIN, np.array([256], np.float16), [answer])) is explained


@pytest.mark.parametrize(
    ("x", "answer", "explained"),
    [
        ([1, np.inf], [1, np.inf, np.inf, np.nan], True),
        ([1, np.inf], [np.nan, np.inf, np.inf, np.inf], True),
        ([1, np.inf], [1.1, np.inf, np.inf, np.nan], False),
        ([1, np.inf], [1, 7, np.inf, np.nan], False),
        ([1, 2], [1, 1.25, 1.75, np.nan], False),
    ],
)
def test_nan_of_infinities(x: Sequence[float], answer: Sequence[float], explained: bool) -> None:
    text = '(float[1,1,2] x) => (float[1,1,4] y) <int64[3] s = {1,1,4}> { y = Resize <mode = "linear"> (x, , , s) }'
    found = outcome(text, np.array([[x]], np.float32), [[answer]])
    assert narrowing.nan_of_infinities({np.float32: narrowing.DIGITS})(found) is explained


def test_what_cannot_be_computed_is_not_explained() -> None:
    refused = Outcome("", "refused", True, ())
    for explains in (narrowing.rounded_otherwise(narrowing.stated), narrowing.cut_to_32_bits):
        assert not explains(refused)
