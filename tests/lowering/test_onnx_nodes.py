"""ONNX's node tests as DirectML graphs, with default and exact models."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import dml2onnx
from dml2onnx.onnx_model import CONTROL_FLOW, with_bodies

if TYPE_CHECKING:
    from collections.abc import Sequence

sys.path.append(str(Path(__file__).parents[2] / "scripts"))
from _onnx_nodes import onnx_cases  # type: ignore[import-not-found]  # of scripts
from _onnx_rows import ROWS  # type: ignore[import-not-found]

OnnxCase = Any

CHUNKS = 8
"""The number of tests that the cases are split into, for parallel runs."""
LEAST_CASES = 560
ABSOLUTE = 1e-6
"""The minimum absolute tolerance: without one, expected zeros would have to be exact."""


@cache
def cases() -> Sequence[OnnxCase]:
    return tuple(onnx_cases())


DIRECTML_DIFFERS = "test_mod_float_edge_cases_fmod_0"
"""A remainder by an infinite divisor is NaN in DirectML (decision E5), which exact models keep."""


def difference(case: OnnxCase, *, exact: bool) -> str:
    """Describes the failure of a case, or returns ``""``."""
    model = dml2onnx.compile(case.graph, opset=23, exact=exact)
    if not exact and any(node.op_type in CONTROL_FLOW for node in with_bodies(model.lowered.nodes)):
        return "control flow"
    got = model.run(dict(case.feeds))
    for name, want in case.expected.items():
        have = got[name].reshape(-1).astype(np.float64)
        flat = want.reshape(-1).astype(np.float64)
        if have.shape != flat.shape:
            return f"{name}: {got[name].shape} instead of {want.shape}"
        if not np.allclose(have, flat, case.rtol, max(case.atol, ABSOLUTE), equal_nan=True):
            return f"{name}: {have[:6]} instead of {flat[:6]}"
    return ""


def test_every_row_is_used() -> None:
    assert {case.op for case in cases()} == set(ROWS) - {"Cast"}  # its tests have types that DirectML lacks
    assert len(cases()) >= LEAST_CASES


@pytest.mark.parametrize("exact", [False, True], ids=["default", "exact"])
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_published_numbers(chunk: int, exact: bool) -> None:
    chosen = [case for case in cases()[chunk::CHUNKS] if not (exact and case.name.startswith(DIRECTML_DIFFERS))]
    wrong = {case.name: text for case in chosen if (text := difference(case, exact=exact))}
    assert not wrong
