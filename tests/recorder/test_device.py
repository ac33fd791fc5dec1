"""The recording device: `programs/` check the rules of COM and calls of a real device, tests the recordings.

One program does everything except threads, with sanitizers if the compiler has them; each test runs a part of it.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest

import dml2onnx
from dml2onnx.codes import reading, recordings
from tests.recorder import compilers, stand_in
from tests.recorder.compilers import Compiler

Floats: TypeAlias = "npt.NDArray[np.float32]"

# the program passes invalid enumerators
OPTIONS = ("-fno-rtti", "-fno-sanitize=enum")


def _build(compiler: Compiler, directory: Path, sanitizers: tuple[str, ...], main: str) -> Path:
    """Compiles a test program with the sanitizers that the compiler supports."""
    include = stand_in.write(directory)
    stand_in.write_iids(directory)
    program = directory / "main"
    source = compilers.ROOT / "tests" / "recorder" / "programs" / main
    compiler.program(source, include, program, *compilers.sanitizers(compiler, directory, sanitizers), *OPTIONS)
    return program


@pytest.fixture(scope="session")
def program(compiler: Compiler, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _build(compiler, tmp_path_factory.mktemp("device"), compilers.MEMORY, "main.cpp")


def run(program: Path, what: str, folder: Path, code: int = 0) -> str:
    """Runs a part of the program, which records to the folder; returns its output."""
    command = (str(program), what, str(folder))
    done = subprocess.run(command, input="", capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == code, f"{what}: {done.stdout}{done.stderr}"
    return done.stdout


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("what", ["objects", "nulls", "features", "forwarding", "failures", "passing"])
def test_rules_of_com(program: Path, tmp_path: Path, what: str) -> None:
    assert run(program, what, tmp_path / "recording").endswith("done\n")


def test_threads_share_a_device(compiler: Compiler, tmp_path: Path) -> None:
    threads, folder = _build(compiler, tmp_path, compilers.THREADS, "threads.cpp"), tmp_path / "recording"
    run(threads, "threads", folder)
    index = read(folder / "recording.json")
    graphs = [item for item in index["graphs"] if item["kind"] == "graph"]
    assert len(graphs) == 4 * 12
    assert len({item["file"] for item in index["graphs"]}) == len(index["graphs"])
    for item in index["graphs"]:
        read(folder / item["file"])
    assert len(read(folder / "program.json")["commands"]) == 4 * 12 * 3


def test_problems_are_printed_and_recorded(program: Path, tmp_path: Path) -> None:
    output = run(program, "nulls", tmp_path / "recording")
    assert "problem: GEMM: ATensor is null\n" in output
    assert "problem: graph3: Nodes[0].Desc is null\n" in output
    index = read(tmp_path / "recording" / "recording.json")
    rejected = {item["name"]: item["problem"] for item in index["graphs"] if item["kind"] == "rejected"}
    assert rejected["rejected GEMM"] == "Desc is null"
    assert rejected["rejected GEMM_2"] == "ATensor is null"
    assert rejected["rejected operator"].startswith("the descriptor is null")
    graphs = {item["name"]: item.get("problem") for item in index["graphs"] if item["kind"] == "graph"}
    assert graphs == {"graph1": "the graph is null", "graph2": "Nodes is null", "graph3": "Nodes[0].Desc is null"}


def test_refusals_of_the_real_device_are_recorded(program: Path, tmp_path: Path) -> None:
    run(program, "failures", tmp_path / "recording")
    index = read(tmp_path / "recording" / "recording.json")
    problems = [item["problem"] for item in index["graphs"] if "problem" in item]
    assert problems == ["the real device answers 887A0005"] * 3


def test_names_of_buffers_of_a_real_device(program: Path, tmp_path: Path) -> None:
    run(program, "buffers", tmp_path / "recording")
    commands = read(tmp_path / "recording" / "program.json")["commands"]
    names = [item["bindings"]["InputTensor"] for item in commands]
    assert names == ["first", "first", "buffer1", "buffer1", "third", "third"]
    assert {item["bindings"]["OutputTensor"] for item in commands} == {"output"}


def test_folders_with_other_files_are_not_changed(program: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "thesis.txt").write_text("all of it")
    assert "holds other things than a recording" in run(program, "objects", folder, code=1)
    assert [path.name for path in folder.iterdir()] == ["thesis.txt"]


def test_an_earlier_recording_is_replaced(program: Path, tmp_path: Path) -> None:
    folder = tmp_path / "recording"
    run(program, "program", folder)
    assert len(list((folder / "operators").iterdir())) == 6
    (folder / "notes.txt").write_text("mine")
    run(program, "crash", folder, code=3)
    assert len(list((folder / "operators").iterdir())) == 2
    assert (folder / "notes.txt").read_text() == "mine"
    assert [item["name"] for item in read(folder / "recording.json")["graphs"]] == ["scale", "last", "program"]


# --- Recordings, run --------------------------------------------------------------------------------------------------


def ramp(count: int, step: float, *shape: int) -> Floats:
    """Multiples of a step, as in `networks.h`."""
    return (np.arange(1, count + 1, dtype=np.float32) * np.float32(step)).reshape(shape or (count,))


def compiled(folder: Path, graph: str, *findings: str) -> dml2onnx.CompiledModel:
    """Compiles a graph of a recording that has exactly these findings."""
    loaded = dml2onnx.load(folder, graph=graph)
    assert [item.code for item in dml2onnx.check(loaded)] == list(findings)
    return dml2onnx.compile(loaded)


def test_a_network_with_constants(program: Path, tmp_path: Path) -> None:
    run(program, "mlp", tmp_path / "mlp")
    model = compiled(tmp_path / "mlp", "mlp")
    assert [item.name for item in model.inputs] == ["x"]
    x = np.array([[[[1, -2, 0.5], [-1, 3, 2]]]], np.float32)
    hidden = np.maximum(x @ ramp(12, 0.125, 3, 4) + ramp(8, 0.5, 1, 1, 2, 4), 0)
    second = ramp(8, -0.25, 4, 2)
    expected = np.concatenate([hidden @ second, (hidden + ramp(8, 0.5, 2, 4)) @ second], 3)
    result: np.ndarray = model.run({"x": x})["y"]
    np.testing.assert_allclose(result, expected, rtol=1e-6)
    nodes = dml2onnx.load(tmp_path / "mlp").nodes
    assert [item.name for item in nodes][:2] == ["layer 1", "hidden"]


def test_a_program_over_shared_buffers(program: Path, tmp_path: Path) -> None:
    folder = tmp_path / "program"
    run(program, "program", folder)
    model = compiled(folder, "program")
    assert [item.name for item in model.inputs] == ["input"]
    assert [item.name for item in model.outputs] == ["result"]
    x = np.array([[1, 0, -3, 2], [-1, -2, 0, 1]], np.float32)
    work = (x @ ramp(16, 0.0625, 4, 4)) * 2 + 1
    low, shift = work[1], ramp(4, 10)
    total = low + shift
    expected = np.stack([np.maximum(total, 0), total + low])
    result: np.ndarray = model.run({"input": x.reshape(-1)})["result"]
    np.testing.assert_allclose(result.reshape(2, 4), expected, rtol=1e-6)
    gemm = compiled(folder, "gemm")  # its initialization recorded the matrix
    assert [item.name for item in gemm.inputs] == ["ATensor"]
    found = gemm.run({"ATensor": x.reshape(1, 1, 2, 4)})["OutputTensor"]
    np.testing.assert_allclose(found[0, 0], x @ ramp(16, 0.0625, 4, 4), rtol=1e-6)


def test_outputs_that_are_read_twice_and_overwritten(program: Path, tmp_path: Path) -> None:
    run(program, "outputs", tmp_path / "outputs")
    graph = dml2onnx.load(tmp_path / "outputs", graph="program")
    x = np.array([1, -2, 3, 4], np.float32)
    results = dml2onnx.compile(graph, outputs=["two", "three", "one", "buffer1"]).run({"x": x.reshape(1, 1, 1, 4)})
    for name, factor in {"two": 2, "three": 6, "one": 6, "buffer1": 9}.items():
        assert results[name].reshape(-1).tolist() == (x * factor).tolist(), name


def test_an_operator_with_two_sets_of_weights(program: Path, tmp_path: Path) -> None:
    run(program, "weights", tmp_path / "weights")
    model = compiled(tmp_path / "weights", "program")
    assert [item.name for item in model.inputs] == ["x"]
    x = np.array([[[[1, 2, -1, 3]]]], np.float32)
    results = model.run({"x": x})
    expected = (x @ ramp(16, 1, 4, 4)).reshape(-1)
    assert results["first"].reshape(-1).tolist() == expected.tolist()
    assert results["second"].reshape(-1).tolist() == (-expected).tolist()


def test_unknown_weights(program: Path, tmp_path: Path) -> None:
    folder = tmp_path / "unknown"
    run(program, "unknown", folder)
    graph = dml2onnx.load(folder, graph="program")
    assert {item.name: item.default for item in graph.inputs} == {"x": None, "never": None, "late": None}
    assert [item.code for item in dml2onnx.check(graph)] == [reading.NO_CONTENTS.id] * 2
    with pytest.raises(dml2onnx.DmlError, match="owned by DirectML"):
        dml2onnx.compile(graph)
    one, two = ramp(16, 0.5, 1, 1, 4, 4), ramp(16, 1, 1, 1, 4, 4)
    complete = dml2onnx.load(folder, graph="program", constants={"never": one, "late": two})
    assert dml2onnx.check(complete) == []
    x = np.array([[[[1, 2, -1, 3]]]], np.float32)
    result = dml2onnx.compile(complete).run({"x": x})["z"]
    np.testing.assert_allclose(result.reshape(-1), (x @ one @ two).reshape(-1), rtol=1e-6)


FORMS: dict[str, tuple[tuple[int, ...], tuple[int, ...] | None]] = {
    "one dimension": ((5,), None),
    "eight dimensions": ((1, 2) * 4, None),
    "packed strides": ((2, 3), None),
    "permuted": ((2, 3), (1, 2)),
    "broadcast": ((2, 3), (0, 1)),
    "gaps": ((2, 3), (8, 2)),
    "owned": ((2, 3), None),
    "rounded up": ((3,), None),
    "padded": ((2, 3), None),
    "aligned": ((2, 3), None),
}


def test_every_form_of_tensor(program: Path, tmp_path: Path) -> None:
    folder = tmp_path / "forms"
    run(program, "forms", folder)
    for name, (sizes, strides) in FORMS.items():
        graph = dml2onnx.load(folder, graph=name)
        (desc,) = graph.nodes[0].operator.tensors("InputTensor")
        assert (desc.sizes, desc.strides) == (sizes, strides), name
        assert desc.owned_by_dml == (name == "owned")
        assert desc.alignment == (256 if name == "aligned" else 0)
        assert desc.total_bytes == {"padded": 64, "rounded up": 4}.get(name, desc.total_bytes)
        assert dml2onnx.check(graph) == []
    (written,) = dml2onnx.load(folder, graph="gaps written").nodes[0].operator.tensors("OutputTensor")
    assert (written.strides, written.total_bytes) == ((1, 4), 40)
    permuted = compiled(folder, "permuted").run({"InputTensor": np.arange(6.0, dtype="f4")})
    assert permuted["OutputTensor"].tolist() == [[0, 2, 4], [1, 3, 5]]
    graph = dml2onnx.load(folder, graph="program")
    types = {node.name: node.operator.tensors("InputTensor")[0].data_type.name for node in graph.nodes}
    assert {name: name for name in types} == types
    assert len(types) == 13
    # DirectML has no identity of 4-bit types
    assert [item for item in dml2onnx.check(graph) if item.node not in ("UINT4", "INT4")] == []


def test_names(program: Path, tmp_path: Path) -> None:
    folder = tmp_path / "names"
    output = run(program, "names", folder)
    index = read(folder / "recording.json")
    assert [(item["name"], item["file"]) for item in index["graphs"]] == [
        ("hooked/graph", "hooked_graph.json"),
        ("CON", "_CON.json"),
        ("naïve 😀", "na__ve_____.json"),
        ("con_2", "con_2.json"),
        ("program", "program.json"),
    ]
    assert sorted(path.name for path in folder.glob("*.json")) == sorted(
        ["recording.json", *(item["file"] for item in index["graphs"])]
    )
    assert len(list((folder / "data").iterdir())) == 4
    for item in index["graphs"]:
        dml2onnx.load(folder, graph=item["name"])
    assert not dml2onnx.load(folder, graph="CON").inputs
    program_ = dml2onnx.load(folder, graph="program")
    assert [item.name for item in program_.inputs] == ["hooked buffer", 'another "buffer"']
    assert [item.default for item in program_.inputs] == [None, None]
    # The first of two buffers that were given a name keeps it, whichever was used first.
    commands = read(folder / "program.json")["commands"]
    assert [item["bindings"]["OutputTensor"] for item in commands] == ["result_2", "result"]
    problem = "a buffer is called result already; the one that is given the name again is recorded as result_2"
    assert f"problem: {problem}" in output


def test_a_crash_leaves_a_recording(program: Path, tmp_path: Path) -> None:
    folder = tmp_path / "crash"
    run(program, "crash", folder, code=3)
    assert not list(folder.rglob("*.part"))
    x = np.array([1, 2, 3, 4], np.float32)
    model = compiled(folder, "program", recordings.NOT_ENDED.id)
    assert model.run({"buffer1": x.reshape(1, 1, 1, 4)})["buffer2"].reshape(-1).tolist() == [3, 6, 9, 12]
    assert len(list((folder / "operators").iterdir())) == 2
    assert dml2onnx.load(folder / "operators" / "0001.ELEMENT_WISE_IDENTITY.json").findings == ()


def test_the_limit_of_dispatches(program: Path, tmp_path: Path) -> None:
    folder = tmp_path / "frames"
    assert run(program, "frames", folder).count("no further ones will be") == 1
    assert read(folder / "recording.json")["graphs"][-1]["nodes"] == 100
    x = np.zeros((1, 1, 1, 4), np.float32)
    model = compiled(folder, "program", recordings.NOT_RECORDED.id)
    assert model.run({"buffer1": x})["buffer1"].reshape(-1).tolist() == [100] * 4


JOURNAL = 16
"""Graphs in a journal, at most."""


@pytest.mark.parametrize("last", [0, 1, 15, 16, 17, *range(30, 60)])
def test_no_crash_loses_a_dispatch(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: int) -> None:
    monkeypatch.setenv("LAST_STEP", str(last))
    folder = tmp_path / "long"
    run(program, "long crash", folder, code=3)
    x = np.zeros((1, 1, 1, 4), np.float32)
    model = compiled(folder, "program", recordings.NOT_ENDED.id)
    (result,) = model.run({"buffer1": x}).values()
    assert result.reshape(-1).tolist() == [last + 1] * 4
    names = {path.stem for path in folder.glob("step_*.json")}
    assert len(names) == last + 1
    for number in {0, *range(max(0, last - JOURNAL), last + 1)}:  # earlier graphs are no longer in a journal
        assert len(dml2onnx.load(folder, graph=f"step {number}").nodes) == 1


def test_weights_and_names_after_a_crash(program: Path, tmp_path: Path) -> None:
    folder = tmp_path / "long"
    run(program, "long crash", folder, code=3)
    x = np.array([[[[1, 2, 3, 4]]]], np.float32)
    model = compiled(folder, "renamed", recordings.NOT_ENDED.id)
    result = model.run({"ATensor": x})["OutputTensor"]
    np.testing.assert_allclose(result[0, 0], x[0, 0] @ ramp(16, 1, 4, 4), rtol=1e-6)
    (whole,) = compiled(folder, "program", recordings.NOT_ENDED.id).run({"buffer1": x}).values()
    np.testing.assert_allclose(whole[0, 0], (x[0, 0] + 60) @ ramp(16, 1, 4, 4), rtol=1e-6)


def test_a_complete_recording_has_no_journal(program: Path, tmp_path: Path) -> None:
    run(program, "program", tmp_path / "recording")
    assert read(tmp_path / "recording" / "recording.json")["ended"] is True
    assert not list((tmp_path / "recording").rglob("*.jsonl"))


def test_each_device_of_a_program_has_a_folder(program: Path, tmp_path: Path) -> None:
    (tmp_path / "recording_2").mkdir()
    (tmp_path / "recording_2" / "thesis.txt").write_text("all of it")
    output = run(program, "folders", tmp_path / "recording")
    assert output.count("this program has recorded to the folder, so that this device records to") == 3
    counts = {path.name: len(list((path / "operators").glob("*"))) for path in tmp_path.glob("recording*")}
    assert counts == {"recording": 1, "recording_2": 0, "recording_3": 0, "recording_4": 1, "recording_5": 1}


def test_concurrent_programs_have_different_folders(program: Path, tmp_path: Path) -> None:
    """A folder becomes free when its program ends or crashes."""

    def counts() -> dict[str, int]:
        return {path.name: len(list((path / "operators").glob("*"))) for path in tmp_path.glob("recording*")}

    def started() -> subprocess.Popen[str]:
        command = [str(program), "waiting", str(tmp_path / "recording")]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        while process.stdout.readline() != "records\n":
            assert process.poll() is None
        return process

    first, second = started(), started()
    run(program, "waiting", tmp_path / "recording")
    assert counts() == {"recording": 1, "recording_2": 1, "recording_3": 2}
    first.communicate("x", timeout=60)
    run(program, "waiting", tmp_path / "recording")
    assert counts() == {"recording": 2, "recording_2": 1, "recording_3": 2}
    second.communicate("\n", timeout=60)
    assert counts() == {"recording": 2, "recording_2": 2, "recording_3": 2}


# --- With a real device -----------------------------------------------------------------------------------------------


def test_calls_that_the_real_device_accepts_but_cannot_be_recorded(program: Path, tmp_path: Path) -> None:
    folder = tmp_path / "passing"
    run(program, "passing", folder)
    index = read(folder / "recording.json")
    assert not [item for item in index["graphs"] if "problem" in item]
    notes = {item["name"]: item.get("unrecorded", "") for item in index["graphs"]}
    expected = {
        "ACTIVATION_RELU": "",
        "ACTIVATION_RELU_2": "10 elements, of which 9 are recorded",
        "ACTIVATION_RELU_3": "Flags is 6",
        "ACTIVATION_RELU_4": "DataType is 99",
        "ACTIVATION_RELU_5": "InputTensor is null",
        "PADDING": "PaddingMode is 77",
        "operator": "Type is 5000",
        "operator_3": "was made by another device",
        "graph1": "was made by another device",
    }
    for name, text in expected.items():
        assert text in notes[name]
        assert bool(text) == bool(notes[name])
    assert any("95c22a63-716d-4838-ad7d-ab06de5e4017" in note for note in index["unrecorded"])
    found: list[str] = [item.code for item in dml2onnx.load(folder, graph="program").findings]
    assert found.count(recordings.MISSING_DISPATCH.id) == len(index["graphs"][-1]["missing"]) > 10
    good = dml2onnx.load(folder, graph="ACTIVATION_RELU")
    assert {item.code for item in good.findings} == {recordings.NOT_RECORDED.id}
    assert dml2onnx.compile(good)


def test_weights_in_memory_of_the_cpu_are_read(program: Path, tmp_path: Path) -> None:
    folder = tmp_path / "readback"
    assert "the CPU cannot read the weights in gpu weights" in run(program, "readback", folder)
    graph = dml2onnx.load(folder, graph="program", constants={"gpu weights": ramp(16, 2, 1, 1, 4, 4)})
    assert [item.name for item in graph.inputs] == ["x"]
    x = np.array([[[[1, 2, -1, 3]]]], np.float32)
    results = dml2onnx.compile(graph).run({"x": x})
    expected = (x @ ramp(16, 1, 4, 4)).reshape(-1)
    for name, factor in {"first": 1, "second": -1, "third": 2}.items():
        assert results[name].reshape(-1).tolist() == (expected * factor).tolist(), name
    incomplete = dml2onnx.load(folder, graph="program")
    assert [item.code for item in dml2onnx.check(incomplete)] == [reading.NO_CONTENTS.id]
