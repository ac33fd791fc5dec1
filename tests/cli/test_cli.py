"""The command line: output, files and exit codes, through the installed entry point and in this process."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from dml2onnx import GraphBuilder, convert
from dml2onnx.cli import main
from tests.frontends.models import f32

SCRIPT = Path(sys.executable).with_name("dml2onnx" + (".exe" if os.name == "nt" else ""))

NATIVE: dict[str, Any] = {
    "dml2onnx": 1,
    "name": "small",
    "inputs": {"x": f32(1, 2, 3, 4)},
    "constants": {"w": f32(2, 1, 1, 1, values=[2, 3])},
    "nodes": [
        {
            "name": "scale",
            "type": "CONVOLUTION",
            "desc": {
                "OutputTensor": f32(1, 2, 3, 4),
                "Mode": "CROSS_CORRELATION",
                "Direction": "FORWARD",
                "Strides": [1, 1],
                "Dilations": [1, 1],
                "StartPadding": [0, 0],
                "EndPadding": [0, 0],
                "OutputPadding": [0, 0],
                "GroupCount": 2,
                "FusedActivation": {"Type": "ACTIVATION_RELU"},
            },
            "inputs": {"InputTensor": "x", "FilterTensor": "w"},
            "outputs": {"OutputTensor": "y"},
        }
    ],
    "outputs": ["y"],
}

PROGRAM: dict[str, Any] = {
    "resources": {
        "x": {"initialValuesDataType": "FLOAT32", "initialValues": [1, -2, 3]},
        "y": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 3, "value": 0}},
    },
    "dispatchables": {
        "relu": {
            "type": "ACTIVATION_RELU",
            "desc": {"InputTensor": f32(3), "OutputTensor": f32(3)},
        }
    },
    "commands": [
        {"type": "print", "resource": "x"},
        {"type": "dispatch", "dispatchable": "relu", "bindings": {"InputTensor": "x", "OutputTensor": "y"}},
        {"type": "print", "resource": "y"},
        {"type": "writeFile", "resource": "y", "targetPath": "out/y.npy", "dimensions": [1, 3]},
    ],
}


ENVIRONMENT = {"NO_COLOR": "1", "COLUMNS": "160", "PYTHONIOENCODING": "utf-8"}


def installed(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs the installed command in a process."""
    command = [str(SCRIPT), *map(str, arguments)]
    environment = {**os.environ, **ENVIRONMENT}
    return subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", env=environment, timeout=120, check=False
    )


def dml2onnx(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Like :func:`installed`, but in this process, which is faster."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n") for _ in range(2))
    line = [str(item) for item in arguments]
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        if cwd is not None:
            patch.chdir(cwd)
        code = main(line)
    return subprocess.CompletedProcess(line, code, *(item.detach().getvalue().decode() for item in (out, err)))


@pytest.fixture
def native(tmp_path: Path) -> Path:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(NATIVE))
    return path


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.json"
    path.write_text(json.dumps(PROGRAM))
    return path


def test_the_installed_command_matches_main(native: Path, tmp_path: Path) -> None:
    model, missing = tmp_path / "out.onnx", tmp_path / "missing.json"
    lines: tuple[tuple[object, ...], ...] = (
        ("check", native, "--json"),
        ("compile", native, "-o", native),
        ("compile", missing, "-o", model),
        ("nonsense",),
        ("help", "convert"),
    )
    codes = []
    for line in lines:
        process, here = installed(*line), dml2onnx(*line)
        assert (process.returncode, process.stdout, process.stderr) == (here.returncode, here.stdout, here.stderr)
        codes.append(here.returncode)
    assert codes == [0, 1, 2, 2, 0]


def test_compile_writes_and_describes_a_model(native: Path, tmp_path: Path) -> None:
    result = installed("compile", native, "-o", tmp_path / "out.onnx")
    assert result.returncode == 0, result.stderr
    assert "Conv" in result.stdout
    assert "1 × 2 × 3 × 4" in result.stdout
    model = onnx.load(tmp_path / "out.onnx")
    assert [node.op_type for node in model.graph.node] == ["Conv", "Relu"]
    assert [item.name for item in model.graph.output] == ["y"]


def test_compile_lists_the_first_of_many_inputs(tmp_path: Path) -> None:
    """The weights of a recorded network would fill the screen."""
    g = GraphBuilder()
    y, *others = (g.input(f"x{i}", "FLOAT32", [4]) for i in range(30))
    for other in others:
        y = y + other
    convert(g.build({"y": y}), tmp_path / "many.json")
    output = dml2onnx("compile", tmp_path / "many.json").stdout
    assert output.count("\ninput ") == 20
    assert "\noutput  y " in output
    assert "\n... and 10 more inputs; --json lists all of them\n" in output


def test_compile_without_shapes(native: Path, tmp_path: Path) -> None:
    """Inputs and outputs always have shapes."""
    for options, count in (((), 1), (("--no-shapes",), 0)):
        dml2onnx("compile", native, "-o", tmp_path / "out.onnx", *options)
        graph = onnx.load(tmp_path / "out.onnx").graph
        assert len(graph.value_info) == count
        assert [size.dim_value for size in graph.output[0].type.tensor_type.shape.dim] == [1, 2, 3, 4]


def test_failed_compilation_leaves_the_old_file(native: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.onnx"
    target.write_bytes(b"old")
    native.write_text(native.read_text().replace("CROSS_CORRELATION", "NONSENSE"))
    assert dml2onnx("compile", native, "-o", target).returncode == 1
    assert target.read_bytes() == b"old"


@pytest.mark.parametrize(
    ("pair", "code", "exit_code"),
    [
        ("x=nowhere.npy", "DML3007", 2),
        ("x", "DML3007", 2),
        ("x={tmp}/model.json", "DML3007", 2),
        ("x={tmp}", "DML3007", 2),
        ("z={tmp}/x.npy", "DML1015", 1),
        ("x={tmp}/double.npy", "DML3005", 1),
        ("x={tmp}/short.npy", "DML3006", 1),
    ],
)
def test_bad_inputs_are_diagnosed(native: Path, tmp_path: Path, pair: str, code: str, exit_code: int) -> None:
    x = np.zeros((1, 2, 3, 4), np.float32)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "double.npy", x.astype(np.float64) + 1e300)
    np.save(tmp_path / "short.npy", x[..., :2])
    result = dml2onnx("run", native, "--input", pair.replace("{tmp}", str(tmp_path)))
    assert result.returncode == exit_code
    assert code in result.stderr
    assert "Traceback" not in result.stderr


def test_run_of_a_program_prints_and_writes(program: Path, tmp_path: Path) -> None:
    result = dml2onnx("run", program, "--output-dir", tmp_path / "results")
    assert result.returncode == 0, result.stderr
    assert result.stdout.index("Resource 'x': 1, -2, 3") < result.stdout.index("Resource 'y': 1, 0, 3")
    np.testing.assert_array_equal(np.load(tmp_path / "results" / "out" / "y.npy"), [[1, 0, 3]])
    np.testing.assert_array_equal(np.load(tmp_path / "results" / "y.npy"), [1, 0, 3])


def test_profile(program: Path) -> None:
    result = dml2onnx("run", program, "--profile")
    assert result.returncode == 0
    assert "Relu" in result.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["compile"],
        ["--json"],
        ["--quiet", "nonsense"],
        ["nonsense"],
        ["compile", "x.json", "-o", "y.onnx", "--opset", "banana"],
        ["compile", "x.json", "-o", "y.onnx", "--opset", "99"],
        ["check", "x.json", "--feature-level", "9_9"],
        ["verify", "x.json", "--seed", "-1"],
        ["verify", "x.json", "--rounds", "0"],
    ],
)
def test_usage_errors_are_code_2(arguments: list[str]) -> None:
    result = dml2onnx(*arguments)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    assert "usage:" in result.stderr


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("recorder -o -", "not standard output"),
        ("check x.json --format sarif --json", "--json and --format sarif conflict"),
    ],
)
def test_conflicting_options(
    line: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(line.split()) == 2
    assert message in capsys.readouterr().err
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("name", ["victim.json", "VICTIM.PY", "new.npy"])
def test_models_do_not_replace_sources(native: Path, tmp_path: Path, name: str) -> None:
    victim = tmp_path / "victim.json"
    victim.write_text("precious")
    result = dml2onnx("compile", native, "-o", tmp_path / name)
    assert result.returncode == 2
    assert "DML3009" in result.stderr
    assert "OUT.onnx" in result.stderr
    assert victim.read_text() == "precious"
    assert not (tmp_path / "new.npy").exists()


def test_files_of_the_program_win(program: Path, tmp_path: Path) -> None:
    """A writeFile command to the name of an output determines the format of the file."""
    program.write_text(program.read_text().replace("out/y.npy", "y.npy"))
    assert dml2onnx("run", program, "--output-dir", tmp_path / "results").returncode == 0
    assert np.load(tmp_path / "results" / "y.npy").shape == (1, 3)


@pytest.mark.skipif(os.name == "nt", reason="named pipes as POSIX has them")
def test_a_pipe_that_nobody_reads(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It prevents neither other files nor the end of the command."""
    monkeypatch.setattr("dml2onnx.files.READER_SECONDS", 0.1)
    program.write_text(program.read_text().replace("out/y.npy", "pipe"))
    (tmp_path / "results").mkdir()
    os.mkfifo(tmp_path / "results" / "pipe")
    assert main(["run", str(program), "--output-dir", str(tmp_path / "results")]) == 1
    assert "DML3009" in capsys.readouterr().err
    assert sorted(path.name for path in (tmp_path / "results").glob("*.npy")) == ["y.npy"]


def test_help_is_a_command() -> None:
    assert dml2onnx("help").stdout == dml2onnx("--help").stdout
    assert dml2onnx("help", "convert").stdout == dml2onnx("convert", "--help").stdout


def test_version() -> None:
    assert installed("--version").stdout.startswith("dml2onnx ")


def test_convert_to_the_native_format_and_back(program: Path, tmp_path: Path) -> None:
    result = dml2onnx("convert", program, "-o", tmp_path / "native.json")
    assert (result.returncode, result.stderr) == (0, "")
    assert "wrote" in result.stdout
    document = json.loads((tmp_path / "native.json").read_text())
    assert document["dml2onnx"] == 1
    assert [command["type"] for command in document["commands"]] == ["print", "print", "writeFile"]
    assert dml2onnx("run", tmp_path / "native.json").stdout == dml2onnx("run", program).stdout


def test_convert_chooses_the_format_by_the_suffix(native: Path, tmp_path: Path) -> None:
    result = dml2onnx("convert", native, "-o", tmp_path / "graph.bin", "--json")
    document = json.loads(result.stdout)
    assert [document[name] for name in ("source", "directml_nodes", "diagnostics")] == ["native", 1, []]
    assert document["files"] == [str(tmp_path / "graph.bin"), str(tmp_path / "w.bin")]
    assert dml2onnx("convert", tmp_path / "graph.bin", "-o", tmp_path / "back.json").returncode == 0
    back = json.loads((tmp_path / "back.json").read_text())
    assert back["nodes"][0]["desc"]["FusedActivation"] == {"type": "ACTIVATION_RELU"}
    result = dml2onnx("convert", native, "-o", tmp_path / "graph.json", "--format", "dml_graph", "--quiet")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert json.loads((tmp_path / "graph.json").read_text())["NodeCount"] == 2


def test_convert_with_frozen_resources(program: Path, tmp_path: Path) -> None:
    """Options select which resources become inputs and constants."""
    for options, section in (([], "inputs"), (["--freeze"], "constants"), (["--constant", "x"], "constants")):
        assert dml2onnx("convert", program, "-o", tmp_path / "native.json", *options).returncode == 0
        assert list(json.loads((tmp_path / "native.json").read_text())[section]) == ["x"]
    assert dml2onnx("convert", program, "-o", tmp_path / "n.json", "--freeze", "--input", "x").returncode == 0
    assert list(json.loads((tmp_path / "n.json").read_text())["inputs"]) == ["x"]


def test_refused_conversions(program: Path, native: Path, tmp_path: Path) -> None:
    result = dml2onnx("convert", program, "-o", tmp_path / "graph.json", "--format", "dml_graph")
    assert result.returncode == 0
    assert "DML1917" in result.stderr
    assert dml2onnx("convert", program, "-o", tmp_path / "graph.txt").returncode == 2
    assert dml2onnx("convert", program, "-o", tmp_path / "graph.json", "--format", "onnx").returncode == 2
    before = native.read_bytes()
    result = dml2onnx("convert", native, "-o", native)
    assert result.returncode == 1
    assert "DML3012" in result.stderr
    assert native.read_bytes() == before
