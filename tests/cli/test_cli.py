"""The command line: what it prints, writes, and answers, through its installed entry point and in this process."""

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

from dml2onnx import GraphBuilder, catalog, convert
from dml2onnx.cli import main

SCRIPT = Path(sys.executable).with_name("dml2onnx" + (".exe" if os.name == "nt" else ""))

NATIVE: dict[str, Any] = {
    "dml2onnx": 1,
    "name": "small",
    "inputs": {"x": {"DataType": "FLOAT32", "Sizes": [1, 2, 3, 4]}},
    "constants": {"w": {"DataType": "FLOAT32", "Sizes": [2, 1, 1, 1], "values": [2, 3]}},
    "nodes": [
        {
            "name": "scale",
            "type": "CONVOLUTION",
            "desc": {
                "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 2, 3, 4]},
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
            "desc": {
                "InputTensor": {"DataType": "FLOAT32", "Sizes": [3]},
                "OutputTensor": {"DataType": "FLOAT32", "Sizes": [3]},
            },
        }
    },
    "commands": [
        {"type": "print", "resource": "x"},
        {"type": "dispatch", "dispatchable": "relu", "bindings": {"InputTensor": "x", "OutputTensor": "y"}},
        {"type": "print", "resource": "y"},
        {"type": "writeFile", "resource": "y", "targetPath": "out/y.npy", "dimensions": [1, 3]},
    ],
}


SURROUNDINGS = {"NO_COLOR": "1", "COLUMNS": "160", "PYTHONIOENCODING": "utf-8"}


def installed(*arguments: object) -> subprocess.CompletedProcess[str]:
    """The command as somebody runs it."""
    command = [str(SCRIPT), *map(str, arguments)]
    environment = {**os.environ, **SURROUNDINGS}
    return subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", env=environment, timeout=120, check=False
    )


def dml2onnx(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """What :func:`installed` gives, in this process, where nothing has to be started and imported."""
    said, complained = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n") for _ in range(2))
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(complained),
    ):
        for name, value in SURROUNDINGS.items():
            patch.setenv(name, value)
        if cwd is not None:
            patch.chdir(cwd)
        line = [str(item) for item in arguments]
        code = main(line)
    texts = [stream.detach().getvalue().decode() for stream in (said, complained)]
    return subprocess.CompletedProcess(line, code, *texts)


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


def test_the_installed_command_does_what_it_does_here(native: Path, tmp_path: Path) -> None:
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


def test_compile_writes_a_model_and_says_what_it_is(native: Path, tmp_path: Path) -> None:
    result = installed("compile", native, "-o", tmp_path / "out.onnx")
    assert result.returncode == 0, result.stderr
    assert "Conv" in result.stdout
    assert "1 × 2 × 3 × 4" in result.stdout
    model = onnx.load(tmp_path / "out.onnx")
    assert [node.op_type for node in model.graph.node] == ["Conv", "Relu"]
    assert [item.name for item in model.graph.output] == ["y"]


def test_compile_lists_the_first_of_many_inputs(tmp_path: Path) -> None:
    """The weights of a recorded network would push what matters off the screen."""
    g = GraphBuilder()
    y, *others = (g.input(f"x{i}", "FLOAT32", [4]) for i in range(30))
    for other in others:
        y = y + other
    convert(g.build({"y": y}), tmp_path / "many.json")
    said = dml2onnx("compile", tmp_path / "many.json").stdout
    assert said.count("\ninput ") == 20
    assert "\noutput  y " in said
    assert "\n... and 10 more inputs; --json lists all of them\n" in said


def test_compile_as_json(native: Path, tmp_path: Path) -> None:
    result = dml2onnx("compile", native, "-o", tmp_path / "out.onnx", "--json", "--opset", 17)
    document = json.loads(result.stdout)
    assert document["onnx_nodes"] == 2
    assert document["opset"] == 17
    assert document["inputs"] == [{"name": "x", "onnx_name": "x", "data_type": "float32", "shape": [1, 2, 3, 4]}]
    assert document["minimum_feature_level"] == "1_0"


def test_compile_without_shapes(native: Path, tmp_path: Path) -> None:
    """Of values inside of the model; inputs and outputs always have theirs."""
    for options, inside in (((), 1), (("--no-shapes",), 0)):
        dml2onnx("compile", native, "-o", tmp_path / "out.onnx", *options)
        graph = onnx.load(tmp_path / "out.onnx").graph
        assert len(graph.value_info) == inside
        assert [size.dim_value for size in graph.output[0].type.tensor_type.shape.dim] == [1, 2, 3, 4]


def test_quiet_says_nothing(native: Path, tmp_path: Path) -> None:
    result = dml2onnx("compile", native, "-o", tmp_path / "out.onnx", "--quiet")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_check_of_a_clean_model(native: Path) -> None:
    result = dml2onnx("check", native)
    assert result.returncode == 0
    assert "no errors" in result.stdout
    assert "feature level 1_0" in result.stdout


def test_check_finds_everything_at_once(native: Path) -> None:
    broken = json.loads(native.read_text())
    desc = broken["nodes"][0]["desc"]
    desc["Mode"] = "CROSS"
    desc["GroupCounts"] = desc.pop("GroupCount")
    desc["OutputTensor"]["Sizes"] = [1, 2, 3, 5]
    native.write_text(json.dumps(broken))
    result = dml2onnx("check", native, "--json")
    assert result.returncode == 1
    findings = json.loads(result.stdout)["diagnostics"]
    assert {item["field"] for item in findings} >= {"Mode", "GroupCounts", "OutputTensor"}
    assert all(item["pointer"].startswith("/nodes/0/desc") for item in findings)
    text = dml2onnx("check", native)
    assert text.returncode == 1
    assert "CROSS_CORRELATION" in text.stdout
    assert text.stderr == ""


def test_check_against_a_feature_level(native: Path) -> None:
    model = json.loads(native.read_text())
    model["nodes"][0]["desc"]["FusedActivation"] = {"Type": "ACTIVATION_GELU"}
    native.write_text(json.dumps(model))
    assert dml2onnx("check", native).returncode == 0
    result = dml2onnx("check", native, "--feature-level", "5_0")
    assert result.returncode == 1
    assert "5_1" in result.stdout


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"{", id="truncated"),
        pytest.param(b"[1, 2]", id="no-object"),
        pytest.param(b'{"a": 1}', id="unknown-format"),
        pytest.param(b"\xff\xfe\x00", id="not-utf8"),
        pytest.param(b'{"a":' * 10000 + b"1" + b"}" * 10000, id="deep"),
        pytest.param(None, id="missing"),
    ],
)
def test_unreadable_input_is_code_2(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "model.json"
    if content is not None:
        path.write_bytes(content)
    result = dml2onnx("check", path)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    assert "DML0" in result.stderr


def test_failed_compilation_leaves_the_old_file(native: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.onnx"
    target.write_bytes(b"old")
    native.write_text(native.read_text().replace("CROSS_CORRELATION", "NONSENSE"))
    assert dml2onnx("compile", native, "-o", target).returncode == 1
    assert target.read_bytes() == b"old"


def test_run_with_an_input(native: Path, tmp_path: Path) -> None:
    x = np.linspace(-1, 1, 24, dtype=np.float32).reshape(1, 2, 3, 4)
    np.save(tmp_path / "x.npy", x)
    result = dml2onnx("run", native, "--input", f"x={tmp_path / 'x.npy'}", "--output-dir", tmp_path / "out")
    assert result.returncode == 0, result.stderr
    want = np.maximum(x * np.array([2, 3], np.float32).reshape(1, 2, 1, 1), 0)
    np.testing.assert_array_equal(np.load(tmp_path / "out" / "y.npy"), want)


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


def test_files_of_a_program_stay_below_the_output_directory(program: Path, tmp_path: Path) -> None:
    program.write_text(program.read_text().replace("out/y.npy", "../../escaped.npy"))
    result = dml2onnx("run", program, "--output-dir", tmp_path / "a" / "b")
    assert result.returncode == 1
    assert "DML3010" in result.stderr
    assert not (tmp_path / "escaped.npy").exists()


def test_frozen_resources_are_constants(program: Path, tmp_path: Path) -> None:
    assert dml2onnx("compile", program, "-o", tmp_path / "free.onnx").returncode == 0
    assert dml2onnx("compile", program, "-o", tmp_path / "frozen.onnx", "--freeze").returncode == 0
    assert [item.name for item in onnx.load(tmp_path / "free.onnx").graph.input] == ["x"]
    assert [item.name for item in onnx.load(tmp_path / "frozen.onnx").graph.input] == []


def test_verify(native: Path) -> None:
    result = dml2onnx("verify", native, "--json", "--rounds", 3)
    document = json.loads(result.stdout)
    assert result.returncode == 0
    assert document["passed"]
    assert len(document["comparisons"]) == 3


def test_explain_a_model(native: Path) -> None:
    result = dml2onnx("explain", native)
    assert result.returncode == 0
    assert "Conv, Relu" in result.stdout


def test_explain_a_code() -> None:
    result = dml2onnx("explain", "DML3002")
    assert result.returncode == 0
    assert "onnxruntime-directml" in result.stdout
    assert dml2onnx("explain", "DML9999").returncode == 2


def test_ops_lists_all_operators() -> None:
    everything = json.loads(dml2onnx("ops", "--json").stdout)["operators"]
    assert len(everything) == len(catalog.operator_names())
    assert {item["operator"] for item in everything if item["lowered"]} >= {"DML_OPERATOR_JOIN", "DML_OPERATOR_GEMM"}
    assert "PADDING1" in dml2onnx("ops", "padding").stdout


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
    ("arguments", "said"),
    [
        (["recorder", "-o", "-"], "not to standard output"),
        (["check", "x.json", "--format", "sarif", "--json"], "--json and --format sarif say two things"),
    ],
    ids=lambda item: " ".join(item) if isinstance(item, list) else "",
)
def test_what_cannot_be_meant(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert said in capsys.readouterr().err
    assert not [*tmp_path.iterdir()]


def test_the_model_is_not_overwritten(native: Path, tmp_path: Path) -> None:
    before = native.read_bytes()
    result = dml2onnx("compile", native, "-o", native)
    assert result.returncode == 1
    assert "DML3012" in result.stderr
    assert native.read_bytes() == before


def test_weights_are_not_overwritten(native: Path, tmp_path: Path) -> None:
    model = json.loads(native.read_text())
    (tmp_path / "w.bin").write_bytes(np.array([2, 3], np.float32).tobytes())
    model["constants"]["w"] = {"DataType": "FLOAT32", "Sizes": [2, 1, 1, 1], "file": "w.bin"}
    native.write_text(json.dumps(model))
    assert dml2onnx("compile", native, "-o", tmp_path / "w.bin").returncode == 1
    assert (tmp_path / "w.bin").stat().st_size == 8


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX shells")
def test_a_reader_that_leaves_is_no_traceback(native: Path) -> None:
    command = f'"{SCRIPT}" ops | head -1; echo "codes ${{PIPESTATUS[0]}}"'
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert "Traceback" not in result.stderr
    assert "codes 141" in result.stdout or "codes 0" in result.stdout


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


def test_output_survives_any_console(native: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [str(SCRIPT), "compile", str(native), "-o", str(native.with_suffix(".onnx"))]
    result = subprocess.run(command, capture_output=True, env=environment, timeout=60, check=False)
    assert result.returncode == 0, result.stderr


def test_what_cannot_be_compiled_is_named(
    native: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("dml2onnx.lowering.driver.lowering", lambda schema: None)
    assert main(["compile", str(native), "-o", str(native.with_suffix(".onnx"))]) == 1
    message = capsys.readouterr().err
    assert "DML2001" in message
    assert "CONVOLUTION" in message


def test_files_of_the_program_win(program: Path, tmp_path: Path) -> None:
    """A writeFile command to the name that an output would get decides how the file is written."""
    program.write_text(program.read_text().replace("out/y.npy", "y.npy"))
    assert dml2onnx("run", program, "--output-dir", tmp_path / "results").returncode == 0
    assert np.load(tmp_path / "results" / "y.npy").shape == (1, 3)


@pytest.mark.skipif(os.name == "nt", reason="named pipes as POSIX has them")
def test_a_file_of_the_program_that_is_a_pipe_nobody_reads(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It stands in the way of no other file, and of the end neither."""
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


def test_convert_by_the_suffix(native: Path, tmp_path: Path) -> None:
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
    """What is printed of an input, and what becomes a constant, is what the options say."""
    for options, section in (([], "inputs"), (["--freeze"], "constants"), (["--constant", "x"], "constants")):
        assert dml2onnx("convert", program, "-o", tmp_path / "native.json", *options).returncode == 0
        assert list(json.loads((tmp_path / "native.json").read_text())[section]) == ["x"]
    assert dml2onnx("convert", program, "-o", tmp_path / "n.json", "--freeze", "--input", "x").returncode == 0
    assert list(json.loads((tmp_path / "n.json").read_text())["inputs"]) == ["x"]


def test_convert_says_why_not(program: Path, native: Path, tmp_path: Path) -> None:
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
