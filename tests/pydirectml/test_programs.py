"""Whole programs, compared with the results of PyTorch."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

import dml2onnx

ROOT = Path(__file__).resolve().parents[2]
TOLERANCE = 1e-4


def load_script():
    spec = importlib.util.spec_from_file_location("make_torch_answers", ROOT / "scripts" / "make_torch_answers.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # NamedTuple needs it for annotations
    spec.loader.exec_module(module)
    return module


torch_answers = load_script()


def run(name, directory, *options):
    """Runs a program with the arrays of its network; returns the results and the process."""
    arrays, results = directory / "arrays.npz", directory / "results.npz"
    np.savez(arrays, **torch_answers.NETWORKS[name].arrays())
    program = torch_answers.PROGRAMS / f"{name}.py"
    line = [sys.executable, "-m", "dml2onnx", "pydirectml", *options, program, arrays, results]
    done = subprocess.run(line, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    with np.load(results) as file:
        return {key: file[key] for key in file.files}, done


def test_every_program_has_a_network_and_answers():
    programs = {path.stem for path in torch_answers.PROGRAMS.glob("*.py")}
    assert programs == set(torch_answers.NETWORKS) == {path.stem for path in torch_answers.ANSWERS.glob("*.npz")}


@pytest.mark.parametrize("name", torch_answers.NETWORKS)
def test_the_answers_are_up_to_date(name):
    _, made_for = torch_answers.kept_answers(name)
    assert made_for == torch_answers.digest(name), "run python scripts/make_torch_answers.py (needs PyTorch)"


@pytest.mark.parametrize("name", torch_answers.NETWORKS)
def test_programs_agree_with_pytorch(name, tmp_path):
    results, done = run(name, tmp_path)
    expected, _ = torch_answers.kept_answers(name)
    assert results.keys() == expected.keys()
    for key, array in expected.items():
        assert np.ptp(array) > 0.01, "a constant answer proves nothing"
        np.testing.assert_allclose(results[key], array, TOLERANCE, TOLERANCE)
    assert done.stdout.strip()
    assert done.stderr == ""


@pytest.mark.parametrize("name", torch_answers.NETWORKS)
def test_kept_answers_agree_with_the_installed_pytorch(name):
    pytest.importorskip("torch")
    kept, _ = torch_answers.kept_answers(name)
    for key, array in torch_answers.torch_answers(name).items():
        np.testing.assert_allclose(kept[key], array, TOLERANCE, TOLERANCE)


@pytest.mark.parametrize(
    ("name", "options", "inputs"),
    [
        ("classifier", [], {"input0": "image"}),
        ("style_transfer", ["--freeze", "--input", "input0"], {"input0": "picture"}),
        ("digit_recognizer", [], {"input0": "image", "input2": "bias1", "input4": "bias2"}),
        ("digit_recognizer", ["--freeze"], {}),
        ("super_resolution", ["--input", "input1"], {"input0": "picture", "input1": "conv1.weight"}),
        (
            "gated_recurrence",
            ["--freeze", "--input", "input0", "--input", "input4"],
            {"input0": "signal", "input4": "start"},
        ),
    ],
)
def test_the_saved_model_returns_the_same_results(name, options, inputs, tmp_path):
    model = tmp_path / "model.onnx"
    results, done = run(name, tmp_path, "--save", model, *options)
    assert f"wrote {model}" in done.stderr
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    assert {item.name for item in session.get_inputs()} == set(inputs)
    arrays = torch_answers.NETWORKS[name].arrays()
    feeds = {item.name: arrays[inputs[item.name]].reshape(item.shape) for item in session.get_inputs()}
    first = session.run(["output0"], feeds)[0]
    expected = next(iter(results.values()))
    np.testing.assert_array_equal(first.reshape(-1), expected.reshape(-1))


def test_the_sample_reads_digits(tmp_path):
    program = ROOT / "samples" / "pydirectml" / "classify.py"
    line = [sys.executable, "-m", "dml2onnx", "pydirectml", "--quiet", "--save", tmp_path / "classify.json", program]
    done = subprocess.run(line, capture_output=True, text=True, encoding="utf-8", check=True)
    assert done.stdout.splitlines()[-1] == "355 of 360 digits read right"
    assert done.stderr == ""
    verification = dml2onnx.verify(tmp_path / "classify.json", rounds=1)
    assert verification.passed
    assert verification.first_wrong_node is None
