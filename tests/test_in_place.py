"""Models that refer to weights in existing files instead of copying them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import dml2onnx
from dml2onnx.cli import main
from tests.frontends.models import f32
from tests.refusals import refused

SIZE = 24
WEIGHTS = np.random.default_rng(1).normal(size=(3, SIZE, SIZE)).astype(np.float32)
X = np.random.default_rng(2).normal(size=(1, 1, 1, SIZE)).astype(np.float32)


def write(directory: Path, **members: object) -> Path:
    """Three products: with a file, with a part of one in a subdirectory, and with small weights written out."""
    row, weight = f32(1, 1, 1, SIZE), f32(1, 1, SIZE, SIZE)
    (directory / "deep").mkdir(parents=True)
    WEIGHTS[0].tofile(directory / "w0.bin")
    (directory / "deep" / "w1.bin").write_bytes(b"before  " + WEIGHTS[1].tobytes() + b"behind")
    constants = {
        "w0": {**weight, "file": "w0.bin", **members},
        "w1": {**weight, "file": "deep/w1.bin", "offset": 8, "length": WEIGHTS[1].nbytes},
        "w2": {**weight, "values": WEIGHTS[2].ravel().tolist()},
    }
    nodes = [
        {
            "type": "GEMM",
            "desc": {"OutputTensor": row, "TransA": "NONE", "TransB": "NONE", "Alpha": 1.0, "Beta": 0.0},
            "inputs": {"ATensor": f"y{i - 1}" if i else "x", "BTensor": f"w{i}"},
            "outputs": {"OutputTensor": f"y{i}"},
        }
        for i in range(3)
    ]
    model = {"dml2onnx": 1, "inputs": {"x": row}, "constants": constants, "nodes": nodes, "outputs": ["y2"]}
    (directory / "model.json").write_text(json.dumps(model), encoding="utf-8")
    return directory / "model.json"


def computed(path: Path) -> Any:
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    (port,) = session.get_inputs()
    return session.run(None, {port.name: X.reshape(port.shape)})[0]


def external(path: Path) -> dict[str, tuple[str, int, int]]:
    """Returns the files, offsets and lengths of the weights of a model."""
    found = {}
    for item in onnx.load(str(path), load_external_data=False).graph.initializer:
        place = {entry.key: entry.value for entry in item.external_data}
        if place:
            found[item.name] = (place["location"], int(place["offset"]), int(place["length"]))
    return found


@pytest.mark.parametrize("elsewhere", [False, True], ids=["there", "moved"])
def test_the_model_refers_to_the_files(tmp_path: Path, elsewhere: bool) -> None:
    directory = tmp_path / "net"
    path = directory / "out.onnx"
    model = dml2onnx.compile(write(directory))
    assert model.save(path, in_place=True) == [path]
    assert sorted(external(path).values()) == [("deep/w1.bin", 8, 4 * SIZE * SIZE), ("w0.bin", 0, 4 * SIZE * SIZE)]
    assert sorted(item.name for item in directory.iterdir()) == ["deep", "model.json", "out.onnx", "w0.bin"]
    if elsewhere:
        path = Path(shutil.move(directory, tmp_path / "other")) / "out.onnx"
    expected = X.astype(np.float64) @ WEIGHTS[0] @ WEIGHTS[1] @ WEIGHTS[2]
    assert np.allclose(computed(path).ravel(), expected.ravel(), rtol=1e-3, atol=1e-3)


def test_other_weights_are_saved_beside_the_model(tmp_path: Path) -> None:
    path = tmp_path / "net" / "out.onnx"
    model = dml2onnx.compile(write(tmp_path / "net"))
    data = path.with_name("out.onnx.data")
    assert model.save(path, external_data=True, in_place=True) == [path, data]
    assert sorted(place[0] for place in external(path).values()) == ["deep/w1.bin", "out.onnx.data", "w0.bin"]
    assert data.read_bytes() == WEIGHTS[2].tobytes()
    with_data = computed(path)
    model.save(path, in_place=True)
    assert not data.exists()
    assert computed(path).tobytes() == with_data.tobytes()


def test_replaced_files_are_copied(tmp_path: Path) -> None:
    path = tmp_path / "net" / "out.onnx"
    model = dml2onnx.compile(write(tmp_path / "net"))
    (tmp_path / "net" / "w0.bin").unlink()
    (tmp_path / "net" / "w0.bin").write_bytes(bytes(WEIGHTS[0].nbytes))
    model.save(path, in_place=True)
    assert [place[0] for place in external(path).values()] == ["deep/w1.bin"]
    assert model.run({"x": X})["y2"].ravel() == pytest.approx(computed(path).ravel())


def test_weights_in_its_own_data_file_are_not_overwritten(tmp_path: Path) -> None:
    """The model has the weights of an earlier one that it would replace."""
    model = write(tmp_path / "net")
    text = model.read_text(encoding="utf-8").replace("w0.bin", "out.onnx.data")
    (tmp_path / "net" / "w0.bin").rename(tmp_path / "net" / "out.onnx.data")
    model.write_text(text, encoding="utf-8")
    path = tmp_path / "net" / "out.onnx"
    assert refused(dml2onnx.compile(model).save, path, external_data=True, in_place=True) == ["DML3012"]
    assert path.with_name("out.onnx.data").read_bytes() == WEIGHTS[0].tobytes()
    assert not path.exists()


def test_weights_in_a_parent_directory_are_copied(tmp_path: Path) -> None:
    model = dml2onnx.compile(write(tmp_path / "net"))
    path = tmp_path / "net" / "deep" / "out.onnx"
    model.save(path, in_place=True)
    assert [place[0] for place in external(path).values()] == ["w1.bin"]


def test_weights_elsewhere_are_refused(tmp_path: Path) -> None:
    model = dml2onnx.compile(write(tmp_path / "net"))
    (tmp_path / "out").mkdir()
    assert refused(model.save, tmp_path / "out" / "out.onnx", in_place=True) == ["DML3009"]
    assert not any((tmp_path / "out").iterdir())


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = write(tmp_path / "net", Strides=[0, 0, 1, SIZE])
    assert main(["compile", str(model), "--in-place"]) == 0
    assert "some of it in 1 file in place" in " ".join(capsys.readouterr().out.split())
    assert main(["compile", str(model), "--in-place", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["in_place"] == ["deep/w1.bin"]
    assert main(["compile", str(model), "--in-place", "-o", "-"]) == 1
    assert "DML3009" in capsys.readouterr().err
