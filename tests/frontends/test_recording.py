"""Recordings: choosing a graph, contents of inputs, journals, and damaged indexes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dml2onnx
from dml2onnx.cli import main
from dml2onnx.codes import reading, recordings, unreadable
from dml2onnx.diagnostics import Code, UnreadableError
from dml2onnx.frontends import LoadOptions
from tests.refusals import refusal

from .models import REMOVE, edited, input_edge, output_edge

F32 = {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 4]}
ADD = {"Type": "ELEMENT_WISE_ADD", "Desc": {"ATensor": F32, "BTensor": F32, "OutputTensor": F32}}
GRAPH = {
    "InputCount": 2,
    "OutputCount": 1,
    "Nodes": [{"Type": "OPERATOR", "Desc": {"Name": "sum", "Operator": ADD}}],
    "InputEdges": [input_edge(0, 0, 0, Name="x"), input_edge(1, 0, 1, Name="w")],
    "OutputEdges": [output_edge(0, 0, 0, Name="y")],
}
ZEROS = {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 4, "value": 0}}
PROGRAM = {
    "resources": {"a": ZEROS, "b": {**ZEROS, "initialValues": [1, 2, 3, 4]}, "c": ZEROS},
    "dispatchables": {"sum": {"type": "ELEMENT_WISE_ADD", "desc": ADD["Desc"]}},
    "commands": [
        {"type": "dispatch", "dispatchable": "sum", "bindings": {"ATensor": "a", "BTensor": "b", "OutputTensor": "c"}}
    ],
}
W = {"file": "data/w.bin", "offset": 16, "length": 16}
INDEX: dict[str, Any] = {
    "dml2onnx_recording": 1,
    "graphs": [
        {"name": "rejected ADD", "kind": "rejected", "nodes": 1, "file": "operators/1.json", "problem": "A is null"},
        {"name": "net", "kind": "graph", "nodes": 1, "file": "net.json", "contents": {"w": W}},
        {"name": "program", "kind": "program", "nodes": 1, "file": "program.json", "without_contents": ["a", "c"]},
    ],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "recording"
    (folder / "data").mkdir(parents=True)
    (folder / "operators").mkdir()
    (folder / "recording.json").write_text(json.dumps(INDEX))
    (folder / "net.json").write_text(json.dumps(GRAPH))
    (folder / "program.json").write_text(json.dumps(PROGRAM))
    rejected = edited(GRAPH, ("/Nodes/0/Desc/Operator/Desc/ATensor", None))
    (folder / "operators" / "1.json").write_text(json.dumps(rejected))
    np.arange(8, dtype=np.float32).tofile(folder / "data" / "w.bin")
    return folder


def test_the_path_of_the_folder_or_of_its_index(folder: Path) -> None:
    for path in (folder, folder / "recording.json", str(folder)):
        graph = dml2onnx.load(path, graph="net")
        assert graph.name == "net"
        assert graph.sources[0] == (folder / "net.json").resolve()
        assert graph.sources[1] == folder / "recording.json"


def test_contents_are_constants(folder: Path) -> None:
    x = np.ones((1, 1, 1, 4), np.float32)
    graph = dml2onnx.load(folder, graph="net")
    assert [item.name for item in graph.inputs] == ["x"]
    assert dml2onnx.compile(graph).run({"x": x})["y"].tolist() == [[[[5, 6, 7, 8]]]]


def test_contents_are_defaults_of_inputs(folder: Path) -> None:
    graph = dml2onnx.load(folder, LoadOptions(inputs=frozenset({"w"})), graph="net")
    assert [item.name for item in graph.inputs] == ["x", "w"]
    assert graph.inputs[1].default is not None
    frozen = dml2onnx.load(folder, LoadOptions(graph="net"), constants={"x": np.zeros(4, np.float32)})
    assert not frozen.inputs
    assert len(frozen.constants) == 2


def test_inputs_without_contents(folder: Path) -> None:
    graph = dml2onnx.load(folder, graph="program")
    assert [(item.name, item.default is None) for item in graph.inputs] == [("a", True), ("b", False)]
    frozen = dml2onnx.load(folder, LoadOptions(freeze=True), graph="program")
    assert [item.name for item in frozen.inputs] == ["a"]


def indexed(folder: Path, *changes: tuple[str, Any]) -> Path:
    """Changes the index; returns the folder."""
    (folder / "recording.json").write_text(json.dumps(edited(INDEX, *changes)))
    return folder


def _owned(folder: Path) -> None:
    """Makes `a` of the program a tensor that DirectML owns, without contents."""
    program = edited(
        PROGRAM,
        ("/dispatchables/sum/desc/ATensor", {**F32, "Flags": "OWNED_BY_DML"}),
        ("/dispatchables/sum/bindings", {"ATensor": "a"}),
        ("/commands/0/bindings/ATensor", REMOVE),
    )
    (folder / "program.json").write_text(json.dumps(program))


def test_owned_buffers_without_contents(folder: Path) -> None:
    _owned(folder)
    graph = dml2onnx.load(folder, graph="program")
    assert [(item.name, item.default is None) for item in graph.inputs] == [("b", False), ("a", True)]
    assert [(item.code, "a" in item.message) for item in dml2onnx.check(graph)] == [(reading.NO_CONTENTS.id, True)]
    with pytest.raises(dml2onnx.DmlError, match="owned by DirectML"):
        dml2onnx.compile(graph)
    kept = dml2onnx.load(folder, LoadOptions(inputs=frozenset({"a"})), graph="program")
    assert dml2onnx.check(kept) == []


def test_contents_of_owned_buffers_from_the_caller(folder: Path) -> None:
    _owned(folder)
    graph = dml2onnx.load(folder, graph="program", constants={"a": np.array([10, 20, 30, 40], np.float32)})
    assert dml2onnx.check(graph) == []
    result = dml2onnx.compile(graph).run({"b": np.array([[[[1, 2, 3, 4]]]], np.float32)})["c"]
    assert result.reshape(-1).tolist() == [11, 22, 33, 44]


def test_constants_of_graphs_are_constants_of_the_program(folder: Path) -> None:
    indexed(folder, ("/graphs/2/constants", ["b"]))
    assert [item.name for item in dml2onnx.load(folder, graph="program").inputs] == ["a"]
    kept = dml2onnx.load(folder, LoadOptions(inputs=frozenset({"b"})), graph="program")
    assert [item.name for item in kept.inputs] == ["a", "b"]


def test_the_default_is_the_only_graph(folder: Path) -> None:
    assert dml2onnx.load(indexed(folder, ("/graphs/2", REMOVE))).name == "net"


def test_compile_takes_the_name_of_a_graph(folder: Path) -> None:
    _second(folder)
    assert [item.name for item in dml2onnx.compile(folder, graph="net").inputs] == ["x"]
    assert [item.name for item in dml2onnx.compile(str(folder), graph="program").inputs] == ["a", "b"]
    with pytest.raises(UnreadableError, match="one graph"):
        dml2onnx.compile(dml2onnx.load(folder, graph="net"), graph="net")
    with pytest.raises(UnreadableError, match="one graph"):
        dml2onnx.compile(folder / "net.json", graph="net")


def refused(path: Path, graph: str | None = None) -> tuple[str, str]:
    with pytest.raises(UnreadableError) as caught:
        dml2onnx.load(path, graph=graph)
    (finding,) = caught.value.diagnostics
    return finding.code, finding.message


def _second(folder: Path) -> None:
    """Gives the recording another graph."""
    (folder / "other.json").write_text(json.dumps(GRAPH))
    indexed(folder, ("/graphs/-", {"name": "other", "kind": "graph", "nodes": 1, "file": "other.json"}))


def test_the_default_is_the_program_if_there_is_one_other_graph(folder: Path) -> None:
    assert dml2onnx.load(folder).name == "program"
    np.save(folder.parent / "a.npy", np.full((1, 1, 1, 4), 7, np.float32))
    out = folder.parent / "out"
    assert main(["run", str(folder), "--input", f"a={folder.parent / 'a.npy'}", "--output-dir", str(out)]) == 0
    assert np.load(out / "c.npy").reshape(-1).tolist() == [8, 9, 10, 11]


def test_several_graphs_are_listed(folder: Path) -> None:
    _second(folder)
    code, message = refused(folder)
    assert code == recordings.CHOOSE_GRAPH.id
    assert '"net" (graph, 1 node, net.json); "program" (program, 1 node, program.json)' in message
    code, message = refused(folder, "nett")
    assert code == recordings.UNKNOWN_GRAPH.id
    assert 'did you mean "net"?' in message


def test_other_models_have_no_graphs_to_choose(folder: Path) -> None:
    assert refused(folder / "net.json", "net")[0] == recordings.UNKNOWN_GRAPH.id
    assert refused(folder / "program.json", "net")[0] == recordings.UNKNOWN_GRAPH.id
    assert refused(folder / "data")[0] == unreadable.NOT_A_FILE.id


def test_operators_that_the_program_could_not_create(folder: Path) -> None:
    graph = dml2onnx.load(folder, graph="rejected ADD")
    assert graph.findings[0].code == recordings.REFUSED_IN_PROGRAM.id
    assert "A is null" in graph.findings[0].message


NET = "/graphs/1"
W_OFFSET = f"{NET}/contents/w/offset"
DAMAGES: list[tuple[Code, str, object]] = [
    *((recordings.BAD_RECORDING, "/dml2onnx_recording", value) for value in (2, True)),
    *((recordings.BAD_RECORDING, "/graphs", value) for value in ({}, REMOVE, [])),
    (recordings.BAD_RECORDING, NET, 7),
    *((recordings.BAD_RECORDING, f"{NET}/name", value) for value in (REMOVE, 7, "program")),
    (recordings.BAD_RECORDING, f"{NET}/kind", "shader"),
    *((recordings.BAD_RECORDING, f"{NET}/nodes", value) for value in (-1, True)),
    (recordings.BAD_RECORDING, f"{NET}/problem", None),
    (recordings.BAD_RECORDING, f"{NET}/contents", []),
    (recordings.BAD_RECORDING, f"{NET}/contents/w", "data/w.bin"),
    *((recordings.BAD_RECORDING, W_OFFSET, value) for value in (-4, 1 << 70)),
    (recordings.BAD_RECORDING, f"{NET}/contents/w/length", 1.5),
    (recordings.BAD_RECORDING, "/graphs/2/without_contents", [1]),
    (recordings.BAD_RECORDING, "/graphs/2/constants", "b"),
    *(
        (reading.FILE_OUTSIDE, f"{NET}/file", name)
        for name in ("../secret.json", "/etc/passwd", r"\\server\share\net.json")
    ),
    *((reading.FILE_UNREADABLE, f"{NET}/file", name) for name in ("data", "nowhere.json", "net\0.json")),
]


@pytest.mark.parametrize(("code", "place", "value"), DAMAGES)
def test_damaged_indexes(folder: Path, code: Code, place: str, value: object) -> None:
    (folder.parent / "secret.json").write_text(json.dumps(GRAPH))
    assert refused(indexed(folder, (place, value)), "net")[0] == code.id


@pytest.mark.parametrize(
    ("code", "place", "value"),
    [
        (reading.FILE_OUTSIDE, f"{NET}/contents/w/file", "../secret.bin"),
        (reading.FILE_TOO_SHORT, W_OFFSET, 17),
        (recordings.BAD_RECORDING, f"{NET}/contents/w/length", 12),
    ],
)
def test_missing_contents(folder: Path, code: Code, place: str, value: object) -> None:
    (folder.parent / "secret.bin").write_bytes(bytes(32))
    graph = dml2onnx.load(indexed(folder, (place, value)), graph="net")
    assert [item.code for item in graph.findings] == [code.id]
    assert [item.name for item in graph.inputs] == ["x", "w"]


def test_an_index_that_names_itself(folder: Path) -> None:
    graph = dml2onnx.load(indexed(folder, (f"{NET}/file", "recording.json")), graph="net")
    assert {item.code for item in graph.findings} >= {reading.UNKNOWN_KEY.id}


def test_a_link_to_a_file_outside(folder: Path) -> None:
    secret = folder.parent / "secret.json"
    secret.write_text(json.dumps(GRAPH))
    (folder / "net.json").unlink()
    (folder / "net.json").symlink_to(secret)
    assert refused(folder, "net")[0] == reading.FILE_OUTSIDE.id
    options = LoadOptions(allow_paths=(folder.parent,))
    assert dml2onnx.load(folder, options, graph="net").name == "net"


def test_invalid_json(folder: Path) -> None:
    for text in ('{"dml2onnx_recording": 1, "graphs": [', json.dumps(INDEX) + " // comment"):
        (folder / "recording.json").write_text(text)
        assert refused(folder)[0] == unreadable.NOT_JSON.id
    (folder / "recording.json").write_text(json.dumps(INDEX))
    (folder / "net.json").write_text("{")
    assert refused(folder, "net")[0] == unreadable.NOT_JSON.id


# --- Commands ---------------------------------------------------------------------------------------------------------


def test_every_command_takes_a_graph(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = [str(folder), "--graph", "net"]
    assert main(["compile", *chosen]) == 0
    assert (folder / "net.onnx").is_file()
    assert main(["report", *chosen]) == 0
    assert (folder / "net.html").is_file()
    other = folder.parent / "other.json"
    other.write_text((folder / "net.json").read_text())
    both = str(folder.parent / "both.html")
    for compared in (other, folder):
        assert main(["report", *chosen, "--compare", str(compared), "-o", both]) == 0
    assert main(["convert", *chosen]) == 0
    assert (folder / "net.native.json").is_file()
    np.save(folder.parent / "x.npy", np.ones((1, 1, 1, 4), np.float32))
    assert main(["run", *chosen, "--input", f"x={folder.parent / 'x.npy'}"]) == 0
    for command in ("verify", "explain", "check"):
        assert main([command, *chosen]) == 0, capsys.readouterr()
        assert main([command, str(folder), "--graph", "nobody"]) == 2
    _second(folder)
    assert main(["compile", str(folder)]) == 2
    assert "--graph" in capsys.readouterr().err


def test_check_covers_all_graphs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(folder), "--format", "concise"]) == 1
    lines = capsys.readouterr().out.splitlines()
    wrong = str(folder / "operators" / "1.json")
    assert any(f"{recordings.REFUSED_IN_PROGRAM.id}" in line and line.startswith(wrong) for line in lines)
    assert any("error" in line and line.startswith(f"{wrong}:1:") for line in lines)
    assert all(line.startswith(wrong) for line in lines)
    assert main(["check", str(folder.parent), "--format", "concise"]) == 1  # a directory with other models
    assert capsys.readouterr().out.splitlines() == lines
    assert main(["check", str(folder), "--json"]) == 1
    models = json.loads(capsys.readouterr().out)["models"]
    assert [item["model"] for item in models] == [str(folder / item["file"]) for item in INDEX["graphs"]]


def test_check_of_an_empty_recording(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "recording.json").write_text('{"dml2onnx_recording": 1, "graphs": []}')
    assert main(["check", str(folder)]) == 2
    assert recordings.BAD_RECORDING.id in capsys.readouterr().err


@pytest.mark.parametrize(
    ("graph", "place", "value", "name"),
    [
        ("net", f"{NET}/contents/v", W, "v"),
        ("net", f"{NET}/constants", ["W"], "W"),
        ("program", "/graphs/2/constants", ["input"], "input"),
        ("program", "/graphs/2/without_contents", ["a", "d"], "d"),
    ],
)
def test_unknown_names_in_the_index(folder: Path, graph: str, place: str, value: object, name: str) -> None:
    """Ignoring them would turn weights into inputs."""
    (finding,) = dml2onnx.load(indexed(folder, (place, value)), graph=graph).findings
    assert (finding.code, finding.found) == (recordings.BAD_RECORDING.id, f'"{name}"')
    assert ('did you mean "w"?' in finding.message) is (name == "W")


def test_a_missing_index(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "recording.json").unlink()
    code, message = refused(folder)
    assert code == recordings.BAD_RECORDING.id
    assert "has the files of a recording, but no recording.json" in message
    for path in (folder, folder.parent):  # the folder itself, and a directory that contains it
        assert main(["check", str(path), "--format", "concise"]) == 2
        assert capsys.readouterr().out.count("DML0016") == 1
    assert main(["check", str(folder / "net.json")]) == 0
    (folder / "notes.txt").write_text("of somebody")  # the recorder writes only to empty folders
    assert refused(folder)[0] == unreadable.NOT_A_FILE.id


# --- Incomplete recordings --------------------------------------------------------------------------------------------


def test_a_recording_that_was_not_ended(folder: Path) -> None:
    indexed(folder, ("/ended", False))
    found = dml2onnx.load(folder, graph="net").findings
    assert [item.code for item in found] == [recordings.NOT_ENDED.id]
    assert dml2onnx.compile(dml2onnx.load(folder, graph="net")).run({"x": np.zeros((1, 1, 1, 4), np.float32)})
    indexed(folder, ("/ended", True))
    assert dml2onnx.load(folder, graph="net").findings == ()
    indexed(folder, ("/ended", "no"))
    assert refused(folder, "net")[0] == recordings.BAD_RECORDING.id


def test_calls_that_are_not_recorded(folder: Path) -> None:
    missing = ["net is dispatched, which is not recorded"]
    changes = (("/unrecorded", ["an interface"]), (f"{NET}/unrecorded", "Flags is 6"), ("/graphs/2/missing", missing))
    indexed(folder, *changes)
    net, program = dml2onnx.load(folder, graph="net"), dml2onnx.load(folder, graph="program")
    assert [item.code for item in net.findings] == [recordings.NOT_RECORDED.id] * 2
    assert "Flags is 6" in net.findings[0].message
    assert "an interface" in net.findings[1].message
    assert [item.code for item in program.findings] == [recordings.NOT_RECORDED.id, recordings.MISSING_DISPATCH.id]
    with pytest.raises(dml2onnx.DmlError, match="not recorded"):
        dml2onnx.compile(program)


def _dispatch(begin: int, source: str, target: str) -> str:
    """A line of the program's journal: a dispatch into a new buffer."""
    bindings = {"ATensor": source, "BTensor": "b", "OutputTensor": target}
    line = {
        "from": begin,
        "resources": {target: ZEROS},
        "dispatchables": {},
        "commands": [{"type": "dispatch", "dispatchable": "sum", "bindings": bindings}],
        "constants": [],
        "without_contents": [target],
    }
    return json.dumps(line) + "\n"


def _journal(folder: Path, *lines: str) -> None:
    indexed(folder, ("/ended", False), ("/journal", "recording.3.jsonl"), ("/graphs/2/journal", "program.jsonl"))
    (folder / "program.jsonl").write_text("".join(lines))


@pytest.mark.parametrize("tail", ["", '{"from": 3, "resour'])
def test_the_journal_continues_the_program(folder: Path, tail: str) -> None:
    stale = _dispatch(0, "a", "z")
    _journal(folder, stale, _dispatch(1, "c", "d"), _dispatch(2, "d", "e"), tail)
    graph = dml2onnx.load(folder, graph="program")
    assert [item.name for item in graph.inputs] == ["a", "b"]
    inputs = {"a": np.ones((1, 1, 1, 4), np.float32), "b": np.array([[[[1, 2, 3, 4]]]], np.float32)}
    results = dml2onnx.compile(graph).run(inputs)
    assert {name: array.reshape(-1).tolist() for name, array in results.items()} == {"e": [4, 7, 10, 13]}


def test_a_journal_may_end_at_any_byte(folder: Path) -> None:
    whole = _dispatch(1, "c", "d") + _dispatch(2, "d", "e")
    for end in range(len(whole) + 1):
        _journal(folder, whole[:end])
        graph = dml2onnx.load(folder, graph="program")
        assert len(graph.nodes) == 1 + whole[:end].count("\n")
        assert [item.code for item in graph.findings] == [recordings.NOT_ENDED.id]


def test_journals_with_gaps_are_refused(folder: Path) -> None:
    _journal(folder, _dispatch(2, "c", "d"))
    finding = refusal(dml2onnx.load, folder, graph="program")
    assert (finding.code, finding.expected) == (recordings.BAD_RECORDING.id, "the next command")
    assert finding.message.endswith(".from is 2, after 1 command")
    _journal(folder, "{}\n")
    assert refused(folder, "program")[0] == recordings.BAD_RECORDING.id
    _journal(folder, "no JSON\n")
    assert refused(folder, "program")[0] == unreadable.NOT_JSON.id
    assert main(["check", str(folder)]) == 2


def test_the_journal_of_the_index_has_new_graphs_and_new_names(folder: Path) -> None:
    _journal(folder)
    renamed = {"name": "renamed", "kind": "graph", "nodes": 1, "file": "renamed.json", "contents": {"w": W}}
    new = {"name": "new", "kind": "graph", "nodes": 1, "file": "new.json"}
    lines = [{"number": 1, "graph": renamed}, {"number": 2, "graph": new}]
    (folder / "recording.3.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"number"')
    (folder / "net.json").rename(folder / "renamed.json")
    (folder / "new.json").write_text(json.dumps(GRAPH))
    assert [item.name for item in dml2onnx.load(folder, graph="renamed").inputs] == ["x"]
    assert [item.name for item in dml2onnx.load(folder, graph="new").inputs] == ["x", "w"]
    assert dml2onnx.load(folder, graph="program").nodes
    (folder / "recording.3.jsonl").write_text(json.dumps({"number": 3, "graph": new}) + "\n")
    assert refused(folder, "net")[0] == recordings.BAD_RECORDING.id


def test_journals_outside_the_folder_are_refused(folder: Path) -> None:
    (folder.parent / "outside.jsonl").write_text("{}\n")
    indexed(folder, ("/journal", "../outside.jsonl"))
    assert refused(folder, "net")[0] == reading.FILE_OUTSIDE.id
