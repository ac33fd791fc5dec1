"""The samples work as documented."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import dml2onnx
from dml2onnx.execution import execute, write_effect

SAMPLES = Path(__file__).resolve().parent.parent / "samples"
WORKING = ["picture", "digits"]


def load(name: str) -> dml2onnx.Graph:
    return dml2onnx.load(SAMPLES / name / "model.json")


@pytest.mark.parametrize("name", WORKING)
def test_compiled_models_agree_with_the_reference(name):
    found = dml2onnx.verify(load(name))
    assert found.passed
    assert found.first_wrong_node is None
    assert found.finished == found.rounds
    assert len({item.node for item in found.nodes}) == len(load(name).nodes)


def test_the_picture_is_as_shown(tmp_path):
    ((effect, array),) = execute(load("picture"), {}).shown
    written = write_effect(effect, array, tmp_path)
    assert written == tmp_path / "result.png"
    with Image.open(written) as got, Image.open(SAMPLES / "picture" / "result.png") as want:
        distance = np.abs(np.asarray(got, np.int16) - np.asarray(want, np.int16))
    assert distance.shape == (480, 640, 3)
    # a value between two levels may round either way
    assert distance.max() <= 1


def test_the_digits_are_read():
    answers = dml2onnx.run(load("digits"))["probabilities"].reshape(360, 10)
    np.testing.assert_allclose(answers.sum(axis=1), 1, rtol=1e-5)
    labels = np.load(SAMPLES / "digits" / "labels.npy")
    assert (answers.argmax(axis=1) == labels).mean() >= 0.97


def test_the_accuracy_script(capsys):
    runpy.run_path(str(SAMPLES / "digits" / "accuracy.py"), run_name="__main__")
    first, *_ = capsys.readouterr().out.splitlines()
    match = re.fullmatch(r"(\d+) of 360 digits read right: accuracy (0\.\d{4})", first)
    assert match is not None
    assert round(int(match[1]) / 360, 4) == float(match[2]) >= 0.97


@pytest.mark.parametrize("name", WORKING)
def test_a_saved_model_runs_without_this_package(name, tmp_path):
    import onnxruntime

    model = dml2onnx.compile(load(name))
    model.save(tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    feeds = {port.onnx_name: np.asarray(model.complete({})[port.name]) for port in model.inputs}
    got = session.run([port.onnx_name for port in model.outputs], feeds)
    for array, want in zip(got, model.run().values(), strict=True):
        np.testing.assert_array_equal(array.reshape(-1), want.reshape(-1))


BROKEN = {
    ("error", "/nodes/0/desc/PaddingMode"),
    ("error", "/nodes/1/desc/Dilation"),
    ("error", "/nodes/1/desc/FusedActivation"),
    ("error", "/nodes/2/inputs/InputTensor"),
    ("error", "/nodes/3/desc/InputTensor/DataType"),
}


def test_all_mistakes_of_the_broken_model_are_reported():
    findings = dml2onnx.check(load("broken"))
    errors = [item for item in findings if item.severity.value == "error"]
    assert {(item.severity.value, item.pointer) for item in errors} == BROKEN
    assert {item.since for item in errors if item.pointer.startswith("/nodes/3")} == {"6_2"}
    with pytest.raises(dml2onnx.DmlError) as caught:
        dml2onnx.compile(load("broken"))
    assert list(caught.value.diagnostics) == errors


def test_the_samples_are_small():
    files = [path for path in SAMPLES.rglob("*") if path.is_file() and "output" not in path.relative_to(SAMPLES).parts]
    assert sum(path.stat().st_size for path in files) < 1_500_000
