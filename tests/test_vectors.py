"""Published test vectors of WebNN as DxDispatch programs: small graphs with independent results."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

import dml2onnx
from dml2onnx.execution import execute
from dml2onnx.frontends.options import DEFAULT_OPTIONS, LoadOptions
from tests import replay

CHUNKS = 24
"""The number of tests that run the cases, to spread them over processes.

Cases of one operator are together, so that another release of ONNX Runtime, which computes some operators differently,
runs few of these tests in full (``tests/replay.py``).
"""

NULL_IS_0 = "it reads a zero point that UINT8 leaves out as 0; DirectML takes the middle, 128 (decision Q3)"
PADDED = "it has the bias, or contributions, in the elements of OutputPadding; DirectML has zeros there (decision C7)"
PADDED_CASES = (
    *(f"extra-convTranspose2d-564-{form}" for form in ("float16", "natural", "owned")),
    *(f"extra-convTranspose2d-565-{form}" for form in ("5d", "natural")),
    *(f"extra-convTranspose2d-566-{form}" for form in ("float16", "natural")),
    *(f"extra-convTranspose2d-576-{form}" for form in ("float16", "natural", "owned")),
    *(f"extra-convTranspose2d-577-{form}" for form in ("5d", "natural")),
    *(f"extra-convTranspose2d-578-{form}" for form in ("float16", "natural")),
)

CONTRADICTED = {
    **dict.fromkeys(PADDED_CASES, ("output: [", PADDED)),
    "resample2d-421-resample1-int8": ("output: [1 1 1 1 2 2", "8 bits take the element below (decision S2)"),
    "dequantizeLinear-134-dequantize": ("y: [-128. -127.", NULL_IS_0),
    "dequantizeLinear-136-dequantize": ("y: [-128. -127.", NULL_IS_0),
    "quantizeLinear-318-quantize": ("DML1503", "scale and zero point have different sizes (decision Q4)"),
}
"""Cases whose translation contradicts DirectML: the expected difference, and why."""


@functools.cache
def cases(corpus: Path) -> list[tuple[Path, dict[str, Any]]]:
    return [(file.parent, json.loads(file.read_text())) for file in sorted(corpus.glob("*/case.json"))]


def compare(directory: Path, case: dict[str, Any], options: LoadOptions = DEFAULT_OPTIONS) -> str | None:
    """Runs a case; returns what is wrong, or ``None``."""
    try:
        shown = execute(dml2onnx.load(directory / "model.json", options), {}).shown
    except Exception as error:  # a failure of one case must not hide the others
        return f"{type(error).__name__}: {error}"
    # the model prints its result buffers, whole and in memory order
    got = {effect.output.name: array for effect, array in shown}
    for name in case["outputs"]:
        want = np.load(directory / "expected" / f"{name}.npy").reshape(-1)
        have = got[name].reshape(-1)
        if have.dtype != want.dtype and have.dtype.itemsize == want.dtype.itemsize:
            have = have.view(want.dtype)
        if (found := difference(have, want, case)) is not None:
            return f"{name}: {found}"
    return None


def difference(have: np.ndarray, want: np.ndarray, case: dict[str, Any]) -> str | None:
    """Returns how an output differs from the published one, or ``None``."""
    if have.shape != want.shape:
        return f"{have.shape} instead of {want.shape}"
    if case["rtol"] == 0 and case["atol"] == 0:
        same = np.array_equal(have, want, equal_nan=want.dtype.kind == "f")
    else:
        same = np.allclose(have.astype(np.float64), want.astype(np.float64), case["rtol"], case["atol"], equal_nan=True)
    return None if same else f"{have[:8]} instead of {want[:8]}"


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_vectors(corpus: Path, chunk: int) -> None:
    everything = cases(corpus)
    assert len(everything) == 2748
    first, end = (len(everything) * part // CHUNKS for part in (chunk, chunk + 1))
    chosen = [(d, c) for d, c in everything[first:end] if d.name not in CONTRADICTED]
    failures = {directory.name: found for directory, case in chosen if (found := compare(directory, case)) is not None}
    assert not failures, "\n".join(f"{name}: {found}" for name, found in failures.items())


def test_constants_alone(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With constant inputs, ONNX Runtime computes on loading what we do not fold.

    It uses its default number of threads, unlike in the tests above (``tests/conftest.py``).
    """
    monkeypatch.setattr(onnxruntime, "SessionOptions", replay.Options)
    chosen = [(d, c) for d, c in cases(corpus)[::6] if d.name not in CONTRADICTED]
    frozen = LoadOptions(freeze=True)
    failures = {directory.name: found for directory, case in chosen if (found := compare(directory, case, frozen))}
    assert not failures, "\n".join(f"{name}: {found}" for name, found in failures.items())


@pytest.mark.parametrize("name", CONTRADICTED)
def test_contradicted_cases(corpus: Path, name: str) -> None:
    """They run, or are refused, as DirectML does."""
    found = compare(corpus / name, json.loads((corpus / name / "case.json").read_text()))
    expected, reason = CONTRADICTED[name]
    assert found is not None, f"it matches, although {reason}"
    assert expected in found, found
