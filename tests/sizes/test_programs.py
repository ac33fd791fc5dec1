"""A resized program equals the program written for that size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dml2onnx
from dml2onnx.diagnostics import DmlError
from tests.sizes.programs import STEPS, Program, programs
from tests.sizes.same import assert_same, written_for

SIZES = st.tuples(st.integers(1, 5), st.integers(4, 9), st.integers(4, 9))
REFUSALS = {"DML2104", "DML2105"}
"""Sizes of the range that are not possible, or at which another form is chosen."""
OLD = st.tuples(st.integers(2, 5), st.integers(4, 9), st.integers(4, 9))
"""At least two items: in [1, 3, 8, 8] items and channels cannot be distinguished."""


def _compare(program: Program, old: tuple[int, int, int], new: tuple[int, int, int]) -> None:
    written, wanted = written_for(program, old), written_for(program, new)
    if written is None or wanted is None:
        return
    n, h, w = new
    found = dml2onnx.resize(written, {"x": (n, 3, h, w)})
    assert not [item for item in dml2onnx.check(found) if item.is_error]
    assert_same(found, wanted)


@pytest.mark.parametrize("step", range(len(STEPS)), ids=[step.__name__.strip("_") for step in STEPS])
@pytest.mark.parametrize("new", [(5, 6, 8), (2, 9, 8), (2, 6, 5), (3, 8, 4), (1, 5, 7)])
def test_every_step_along_every_dimension(step: int, new: tuple[int, int, int]) -> None:
    for number in range(4):
        assert Program(((step, (number, number, number)),)).at(2, 6, 8)
        _compare(Program(((step, (number, number, number)),)), (2, 6, 8), new)


@settings(max_examples=60, deadline=None)
@given(programs(), OLD, SIZES)
def test_random_programs(program: Program, old: tuple[int, int, int], new: tuple[int, int, int]) -> None:
    _compare(program, old, new)


@settings(max_examples=12, deadline=None)
@given(programs(3), SIZES)
def test_random_programs_with_names(program: Program, new: tuple[int, int, int]) -> None:
    """One model for all sizes computes the same bits as the program written for a size, or is refused."""
    written, wanted = written_for(program, (4, 8, 8)), written_for(program, new)
    if written is None or wanted is None:
        return
    ranges = {"N": (1, 5), "H": (4, 9), "W": (4, 9)}
    try:
        model = dml2onnx.compile(written, sizes={"x": ("N", 3, "H", "W")}, ranges=ranges)
    except DmlError as error:
        if {item.code for item in error.diagnostics} <= REFUSALS:
            return
        raise
    x = np.random.default_rng(0).standard_normal((new[0], 3, *new[1:])).astype(np.float32)
    np.testing.assert_array_equal(model.run({"x": x})["y"], dml2onnx.run(wanted, {"x": x})["y"])
