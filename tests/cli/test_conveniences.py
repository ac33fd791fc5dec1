"""Conveniences: default names of files, conversion of arrays, and options in any order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import dml2onnx
from dml2onnx.builder import GraphBuilder
from dml2onnx.cli import main
from tests.cli.test_cli import NATIVE, PROGRAM
from tests.frontends.models import one_node

X = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
Y = X * np.array([2, 3], np.float32).reshape(1, 2, 1, 1)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("model.json").write_text(json.dumps(NATIVE))
    Path("program.json").write_text(json.dumps(PROGRAM))
    np.save("x.npy", X)
    return tmp_path


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """Runs a command that must succeed, and returns its JSON."""
    capsys.readouterr()
    assert main([*arguments, "--json"]) == 0, capsys.readouterr()
    return json.loads(capsys.readouterr().out)


# --- Default names of files -------------------------------------------------------------------------------------------


def test_a_model_is_compiled_beside_its_source(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = Path("model.json").read_bytes()
    for _ in range(2):  # the second one replaces our own file
        assert answer(capsys, "compile", "model.json")["files"] == ["model.onnx"]
    onnx.checker.check_model("model.onnx")
    assert Path("model.json").read_bytes() == source


def test_foreign_models_are_not_overwritten(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("model.onnx").write_bytes(b"precious")
    assert main(["compile", "model.json"]) == 1
    assert "DML3009" in capsys.readouterr().err
    assert Path("model.onnx").read_bytes() == b"precious"
    Path("other.onnx").write_text(json.dumps(NATIVE))
    assert main(["compile", "other.onnx"]) == 1
    assert json.loads(Path("other.onnx").read_text()) == NATIVE


def test_a_conversion_is_written_beside_its_source(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, "convert", "program.json")["files"] == ["program.native.json"]
    assert answer(capsys, "convert", "model.json", "--format", "dml_graph")["files"][0] == "model.dml_graph.json"
    assert answer(capsys, "convert", "model.json", "--format", "serialized")["files"][0] == "model.bin"


def test_conversions_overwrite_nothing_by_default(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "program.json"]) == 0
    assert main(["convert", "program.json"]) == 1
    assert main(["convert", "model.json"]) == 2
    error = capsys.readouterr().err
    assert "already exists" in error
    assert "is already native" in error
    assert main(["convert", "model.json", "--format", "python"]) == 0
    assert main(["convert", "model.json", "--format", "python"]) == 1
    assert [item.name for item in Path().glob("model*.py")] == ["model.py"]  # Python could not import model.python.py


@pytest.mark.parametrize("name", ["victim.onnx", "victim.py", "victim.npy", "victim.png"])
def test_conversions_do_not_overwrite_other_files(here: Path, name: str) -> None:
    Path(name).write_text("precious")
    assert main(["convert", "program.json", "-o", name, "--format", "native"]) == 2
    assert Path(name).read_text() == "precious"


@pytest.mark.parametrize("output", [".", "", "..", "/"])
@pytest.mark.parametrize("command", ["compile", "convert"])
def test_paths_that_are_no_files(here: Path, capsys: pytest.CaptureFixture[str], command: str, output: str) -> None:
    assert main([command, "program.json", "-o", output]) == (1 if command == "compile" and output else 2)
    assert "Traceback" not in capsys.readouterr().err


def test_data_of_a_replaced_model_is_removed(here: Path) -> None:
    model = json.loads(Path("model.json").read_text())
    model["constants"]["w"] = {"DataType": "FLOAT32", "Sizes": [2, 1, 32, 32], "fill": 1}
    model["nodes"][0]["desc"]["OutputTensor"]["Sizes"] = [1, 2, 1, 1]
    model["inputs"]["x"]["Sizes"] = [1, 2, 32, 32]
    Path("large.json").write_text(json.dumps(model))
    assert main(["compile", "large.json", "-o", "out.onnx", "--external-data", "--quiet"]) == 0
    assert Path("out.onnx.data").exists()
    assert main(["compile", "large.json", "-o", "out.onnx", "--quiet"]) == 0
    assert not Path("out.onnx.data").exists()


# --- Options ----------------------------------------------------------------------------------------------------------


def test_options_in_any_order(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json", "--opset", "17", "compile", "model.json", "-o", "a.onnx"]) == 0
    assert json.loads(capsys.readouterr().out)["opset"] == 17
    assert main(["compile", "-o", "b.onnx", "--opset", "17", "model.json", "--json"]) == 0
    assert Path("a.onnx").read_bytes() == Path("b.onnx").read_bytes()
    assert main(["--quiet", "check", "model.json"]) == 0


# --- Inputs of run ----------------------------------------------------------------------------------------------------


def values(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    (output,) = answer(capsys, "run", "model.json", *arguments)["outputs"]
    assert (output["name"], output["data_type"], output["shape"]) == ("y", "float32", [1, 2, 3, 4])
    return np.float32(output["values"]).reshape(X.shape)


@pytest.mark.parametrize("array", [X.astype(np.float64), X.astype(np.float16), X.reshape(-1)], ids=["f8", "f2", "flat"])
def test_floats_are_converted(here: Path, capsys: pytest.CaptureFixture[str], array: np.ndarray) -> None:
    np.save("other.npy", array)
    np.testing.assert_array_equal(values(capsys, "--input", "x=other.npy"), Y)


def test_an_archive_of_arrays(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez("one.npz", whatever=X)
    np.savez_compressed("several.npz", x=X, z=X + 1)
    np.savez("exact.npz", x=X)
    for argument in ("x=one.npz", "x=several.npz", "exact.npz"):
        np.testing.assert_array_equal(values(capsys, "--input", argument), Y)
    assert main(["run", "model.json", "--input", "several.npz"]) == 1  # there is no input z
    np.savez("wrong.npz", a=X, b=X)
    assert main(["run", "model.json", "--input", "x=wrong.npz"]) == 2
    assert "its arrays are: a, b" in capsys.readouterr().err
    Path("broken.npz").write_bytes(Path("one.npz").read_bytes()[:200])
    assert main(["run", "model.json", "--input", "x=broken.npz"]) == 2
    assert main(["run", "model.json", "--input", "broken.npz"]) == 2
    assert main(["run", "model.json", "--input", "nowhere.npz"]) == 2


def test_raw_bytes(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("x.raw").write_bytes(X.tobytes())
    np.testing.assert_array_equal(values(capsys, "--input", "x=x.raw"), Y)
    Path("x.raw").write_bytes(X.tobytes()[:-4])
    assert main(["run", "model.json", "--input", "x=x.raw"]) == 2
    assert "has 92 bytes, and the input" in capsys.readouterr().err


def test_integers_in_range_are_converted(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tensor = {"DataType": "INT8", "Sizes": [3]}
    model = one_node("ELEMENT_WISE_IDENTITY", {"OutputTensor": tensor}, tensor)
    Path("int.json").write_text(json.dumps(model))
    np.save("ints.npy", np.array([-128, 0, 127]))
    assert answer(capsys, "run", "int.json", "--input", "x=ints.npy")["outputs"][0]["values"] == [-128, 0, 127]
    np.save("ints.npy", np.array([-128, 0, 128]))
    assert main(["run", "int.json", "--input", "x=ints.npy"]) == 1
    np.save("ints.npy", np.array([1.0, 2.0, 3.0]))
    assert main(["run", "int.json", "--input", "x=ints.npy"]) == 1


@pytest.mark.parametrize(
    ("x", "y", "size"), [((1, 4), (1, 7), "y=1,7"), ((1, 1, 7), (1, 7), "y=1,7"), ((1, 1, 7), (1, 3), None)]
)
def test_a_model_for_the_sizes_of_the_arrays(
    here: Path, capsys: pytest.CaptureFixture[str], x: tuple[int, ...], y: tuple[int, ...], size: str | None
) -> None:
    """Only arrays with as many dimensions as their input, and another shape."""
    g = GraphBuilder()
    inputs = [g.input("x", np.float32, [1, 4]), g.input("y", np.float32, [1, 3])]
    dml2onnx.convert(g.build({"z": g.join(inputs, 1)}), "model.json")
    for name, shape in (("x", x), ("y", y)):
        np.save(f"{name}.npy", np.zeros(shape, np.float32))
    assert main(["run", "model.json", "--input", "x=x.npy", "--input", "y=y.npy", "--json"]) == 1
    for item in json.loads(capsys.readouterr().out)["diagnostics"]:
        assert item.get("remedies") == ([{"words": f"--size {size}"}] if size else None)


def test_run_has_the_options_of_compile(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = answer(capsys, "run", "program.json")["outputs"]
    for options in ("--freeze", "--constant x", "--opset 17", "--target dml", "--freeze --input x"):
        assert answer(capsys, "run", "program.json", *options.split())["outputs"] == expected, options
    np.save("z.npy", np.array([-1, 5, -1], np.float32))
    kept = answer(capsys, "run", "program.json", "--freeze", "--input", "x=z.npy")["outputs"]
    assert kept[-1]["values"] == [0, 5, 0]
    assert main(["run", "model.json", "--feature-level", "9_9", "--input", "x=x.npy"]) == 2
    model = json.loads(Path("model.json").read_text())
    model["nodes"][0]["type"] = "ACTIVATION_GELU"
    model["nodes"][0]["desc"] = {"OutputTensor": model["inputs"]["x"]}
    model["nodes"][0]["inputs"] = {"InputTensor": "x"}
    Path("late.json").write_text(json.dumps(model))
    assert main(["run", "late.json", "--feature-level", "4_0", "--input", "x=x.npy"]) == 1
    assert "DML1601" in capsys.readouterr().err


def test_verify_accepts_the_inputs_of_run(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save("double.npy", X.astype(np.float64))
    Path("x.raw").write_bytes(X.tobytes())
    for file in ("double.npy", "x.raw"):
        assert answer(capsys, "verify", "model.json", "--input", f"x={file}")["passed"]


# --- Files that programs write ----------------------------------------------------------------------------------------


def test_one_failed_file_does_not_prevent_others(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = json.loads(Path("program.json").read_text())
    write = program["commands"][-1]
    program["commands"] += [{**write, "targetPath": "../outside.npy"}, {**write, "targetPath": "late.npy"}]
    Path("program.json").write_text(json.dumps(program))
    assert main(["run", "program.json", "--output-dir", "results"]) == 1
    output = capsys.readouterr()
    assert "DML3010" in output.err
    assert "wrote 3 files" in output.out.replace("\n", " ")
    assert {path.name for path in Path("results").rglob("*.npy")} == {"y.npy", "late.npy"}
    assert main(["run", "program.json", "--output-dir", "results", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert [item["code"] for item in document["diagnostics"]] == ["DML3010"]
    assert len(document["files"]) == 3


def test_backslashes_separate_directories(here: Path) -> None:
    program = Path("program.json").read_text().replace("out/y.npy", "out\\\\deep\\\\y.npy")
    Path("program.json").write_text(program)
    assert main(["run", "program.json", "--output-dir", "results", "--quiet"]) == 0
    assert np.load("results/out/deep/y.npy").shape == (1, 3)


def test_a_picture_may_be_smaller_than_its_buffer(here: Path) -> None:
    """As in Microsoft's own image_io.json, whose grey picture is in a buffer for three channels.

    https://github.com/microsoft/DirectML/blob/master/DxDispatch/models/image_io.json
    """
    image = pytest.importorskip("PIL.Image")
    program = json.loads(Path("program.json").read_text())
    program["resources"]["x"]["initialValues"] = [0, 0.5, 1]
    program["resources"]["y"]["initialValues"] = {"valueCount": 9, "value": 0}
    program["commands"][-1] |= {"targetPath": "y.png", "dimensions": [1, 1, 1, 3]}
    Path("program.json").write_text(json.dumps(program))
    assert main(["run", "program.json", "--output-dir", "results", "--quiet"]) == 0
    with image.open("results/y.png") as picture:
        assert (picture.size, list(picture.tobytes())) == ((3, 1), [0, 127, 255])
