"""Networks in FLOAT16, on the CPU provider and on an NPU's emulator, compared with the FLOAT32 graph."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import dml2onnx
from tests.runtimes.proof import Job, Runtime, Worker
from tests.runtimes.samples import Sample, halves

QNN = Path(__file__).parents[2] / ".venv-qnn" / "bin" / "python"
NAMES = ("transformer block, 64 behind 64", "decoder, one token behind 255", "training step (Adam)", "digits")
STAYING = {"training step (Adam)": 4}
"""The number of nodes that stay FLOAT32: the optimizer, once per parameter."""
CLOSE = 4e-3
"""The tolerance relative to the largest result: a few roundings to 11 bits."""


@cache
def networks() -> dict[str, Sample]:
    return {sample.name.removesuffix(" in FLOAT16"): sample for sample in halves(None)}


@pytest.mark.parametrize("name", NAMES)
def test_networks_on_the_cpu(name: str) -> None:
    sample = networks()[name]
    model = sample.compile("onnx")
    assert len(model.stay_float32) == STAYING.get(name, 0)
    assert not model.warnings
    got = model.run(sample.inputs)
    assert sample.judge(model, got) is None
    assert sample.graph is not None
    plain = dml2onnx.compile(sample.graph)
    assert model.weight_bytes < 0.9 * plain.weight_bytes
    for key, want in plain.run(sample.inputs).items():
        assert np.abs(got[key] - want).max() <= CLOSE * np.abs(want).max()


@pytest.mark.skipif(not QNN.exists(), reason="needs .venv-qnn, which scripts/test.py makes")
@pytest.mark.parametrize("name", ["transformer block, 64 behind 64"])
def test_networks_run_entirely_on_the_npu(name: str) -> None:
    worker = Worker(Runtime("qnn", "qnn-npu", QNN, {}))
    try:
        worker.start()
    except RuntimeError as error:
        pytest.skip(f"no emulator here: {error}")
    try:
        sample = networks()[name]
        outcome = Job(sample, sample.compile("qnn-npu")).run(worker)
    finally:
        worker.stop()
    assert outcome.problem is None
    assert set(outcome.places) == {"QNNExecutionProvider"}
