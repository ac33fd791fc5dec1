"""Compares error bounds with FLOAT32 arithmetic in several orders."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dml2onnx.reference import accuracy
from dml2onnx.reference.bounded import Bounded, exactly, input_tensor

REFERENCE = Path(accuracy.__file__).parent
Formula = Callable[..., object]

FORMULAS: dict[str, Formula] = {
    "sums": lambda x, y, z: (x - y) + (y - z) + (z - x),
    "products": lambda x, y, z: x * y * z - z * (y * x),
    "quotients": lambda x, y, z: (x / y) / (z / x),
    "differences of squares": lambda x, y, z: (x * x - y * y) / (x - y) + z,
}
NUMBERS = st.sampled_from([0.0, -0.0, 1.0, -1.5, 3e-20, -7e18, 3e38, 1e-45, np.inf, -np.inf, np.nan, 0.1, 16777217.0])


def agrees(got: np.ndarray, want: Bounded) -> np.ndarray:
    """Where ``got`` is marked, equal, or within the error."""
    with np.errstate(all="ignore"):
        close = np.abs(got.astype(np.float64) - want.values) <= want.error
        same = (got == want.values) | (np.isnan(got) & np.isnan(want.values))
    return np.asarray(close | same | want.marks)


@pytest.mark.parametrize("name", FORMULAS)
@settings(max_examples=60)
@given(numbers=st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=8))
def test_formulas(name: str, numbers: list[tuple[float, float, float]]) -> None:
    operands = np.array(numbers, np.float32).T
    with np.errstate(all="ignore"):
        got = FORMULAS[name](*operands)
        want = FORMULAS[name](*(input_tensor(item) for item in operands))
    assert isinstance(want, Bounded)
    assert agrees(np.asarray(got), want).all(), (got, want)


@settings(max_examples=60)
@given(numbers=st.lists(NUMBERS, min_size=1, max_size=12), seed=st.integers(0, 99))
@example(numbers=[3e38, -np.inf, 3e38], seed=0)
def test_sums_in_any_order(numbers: list[float], seed: int) -> None:
    x = np.array(numbers, np.float32)
    with np.errstate(all="ignore"):
        want = input_tensor(x).total((0,))
        got = np.float32(0)
        for item in np.random.default_rng(seed).permutation(x):
            got += item
    assert agrees(np.array([got]), want).all()


def test_bounds_are_tight() -> None:
    x, y = input_tensor(np.array([3.0], np.float32)), input_tensor(np.array([0.1], np.float32))
    for result in (x + y, x * y, x / y, x.root(), input_tensor(np.full(100, 0.1, np.float32)).total((0,))):
        assert not result.marks.any()
        assert (result.error < 120 * accuracy.ROUNDOFF * np.abs(result.values)).all()
    power = (x + exactly(1.0)).power(0.3)
    assert (power.error < 1.1 * accuracy.ACCURACY * power.values).all()


def test_accuracies_are_defined_in_one_table() -> None:
    promised = {accuracy.ACCURACY, accuracy.INVERSE_ACCURACY, accuracy.ROUNDOFF}
    for path in REFERENCE.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found = [item for item in ast.walk(tree) if isinstance(item, ast.Constant) and item.value in promised]
        assert not found or path.name == "accuracy.py", f"{path.name}:{found[0].lineno}"
