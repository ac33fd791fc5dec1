"""Published test vectors of WebNN, as DxDispatch programs: small graphs whose outputs nobody here computed."""

from __future__ import annotations

import functools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

import dml2onnx
from dml2onnx.execution import execute
from dml2onnx.frontends.options import DEFAULT_OPTIONS, LoadOptions
from dml2onnx.lowering.registry import lowerings
from tests import replay

CHUNKS = 24
"""Cases run in so many tests, which spreads them over processes.

Those of an operator stand together, so that another release of ONNX Runtime, which computes some operators otherwise,
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
"""Cases that are translated against the facts: what has to come of them instead, and why."""


@functools.cache
def cases(corpus: Path) -> list[tuple[Path, dict[str, Any]]]:
    return [(file.parent, json.loads(file.read_text())) for file in sorted(corpus.glob("*/case.json"))]


def is_lowered(case: dict[str, Any]) -> bool:
    return all(operator in lowerings() for operator in [*case["operators"], *case["fused"]])


def compare(directory: Path, case: dict[str, Any], options: LoadOptions = DEFAULT_OPTIONS) -> str | None:
    """What is wrong with a case, or ``None``."""
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
    """How an output differs from what was published, or ``None``."""
    if have.shape != want.shape:
        return f"{have.shape} instead of {want.shape}"
    if case["rtol"] == 0 and case["atol"] == 0:
        same = np.array_equal(have, want, equal_nan=want.dtype.kind == "f")
    else:
        same = np.allclose(have.astype(np.float64), want.astype(np.float64), case["rtol"], case["atol"], equal_nan=True)
    return None if same else f"{have[:8]} instead of {want[:8]}"


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_vectors(corpus: Path, chunk: int) -> None:
    """Every case whose operators are lowered agrees."""
    everything = cases(corpus)
    first, end = (len(everything) * part // CHUNKS for part in (chunk, chunk + 1))
    mine = [(d, c) for d, c in everything[first:end] if is_lowered(c)]
    chosen = [(d, c) for d, c in mine if d.name not in CONTRADICTED]
    failures = {directory.name: found for directory, case in chosen if (found := compare(directory, case)) is not None}
    assert not failures, "\n".join(f"{name}: {found}" for name, found in failures.items())


def test_constants_alone(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is left to be bound: what we do not compute when compiling ONNX Runtime does when it loads the model.

    It does so with as many threads as it wants, other than in the tests above (``tests/conftest.py``).
    """
    monkeypatch.setattr(onnxruntime, "SessionOptions", replay.Options)
    chosen = [(d, c) for d, c in cases(corpus)[::6] if d.name not in CONTRADICTED]
    frozen = LoadOptions(freeze=True)
    failures = {directory.name: found for directory, case in chosen if (found := compare(directory, case, frozen))}
    assert not failures, "\n".join(f"{name}: {found}" for name, found in failures.items())


@pytest.mark.parametrize("name", CONTRADICTED)
def test_what_comes_of_contradicted_cases(corpus: Path, name: str) -> None:
    """They still run, or are refused, as the facts have it."""
    found = compare(corpus / name, json.loads((corpus / name / "case.json").read_text()))
    expected, reason = CONTRADICTED[name]
    assert found is not None, f"it agrees, although {reason}"
    assert expected in found, found


def test_every_case_is_run_or_pending_by_the_registry(corpus: Path) -> None:
    """Nothing is skipped silently: a case is left out only for an operator that the registry does not have."""
    everything = [case for _, case in cases(corpus)]
    run = [case for case in everything if is_lowered(case)]
    pending = [case for case in everything if not is_lowered(case)]
    missing = Counter(op for case in pending for op in {*case["operators"], *case["fused"]} if op not in lowerings())
    counted = Counter(op for case in run for op in set(case["operators"]))
    print(f"\n{len(run)} of {len(everything)} cases run")
    print("run, by operator:", ", ".join(f"{op} {count}" for op, count in counted.most_common()))
    print("pending for want of:", ", ".join(f"{op} {count}" for op, count in missing.most_common()))
    assert len(run) + len(pending) == len(everything) == 2748
    assert all(any(op not in lowerings() for op in [*case["operators"], *case["fused"]]) for case in pending)
