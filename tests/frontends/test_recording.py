"""Recordings: which graph is meant, what is known of its inputs, and indexes that somebody has changed."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dml2onnx
from dml2onnx.cli import main
from dml2onnx.codes import reading, recordings, unreadable
from dml2onnx.diagnostics import Code, UnreadableError
from dml2onnx.frontends import LoadOptions

F32 = {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 4]}
ADD = {"Type": "ELEMENT_WISE_ADD", "Desc": {"ATensor": F32, "BTensor": F32, "OutputTensor": F32}}
GRAPH = {
    "InputCount": 2,
    "OutputCount": 1,
    "Nodes": [{"Type": "OPERATOR", "Desc": {"Name": "sum", "Operator": ADD}}],
    "InputEdges": [
        {"GraphInputIndex": 0, "ToNodeIndex": 0, "ToNodeInputIndex": 0, "Name": "x"},
        {"GraphInputIndex": 1, "ToNodeIndex": 0, "ToNodeInputIndex": 1, "Name": "w"},
    ],
    "OutputEdges": [{"FromNodeIndex": 0, "FromNodeOutputIndex": 0, "GraphOutputIndex": 0, "Name": "y"}],
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
    rejected: Any = copy.deepcopy(GRAPH)
    rejected["Nodes"][0]["Desc"]["Operator"]["Desc"]["ATensor"] = None
    (folder / "operators" / "1.json").write_text(json.dumps(rejected))
    np.arange(8, dtype=np.float32).tofile(folder / "data" / "w.bin")
    return folder


def test_the_folder_and_its_index_are_the_same(folder: Path) -> None:
    for path in (folder, folder / "recording.json", str(folder)):
        graph = dml2onnx.load(path, graph="net")
        assert graph.name == "net"
        assert graph.sources[0] == (folder / "net.json").resolve()
        assert graph.sources[1] == folder / "recording.json"


def test_contents_are_constants(folder: Path) -> None:
    x = np.ones((1, 1, 1, 4), np.float32)
    graph = dml2onnx.load(folder, graph="net")
    assert [item.name for item in graph.inputs] == ["x"]
    result = dml2onnx.compile(graph).run({"x": x})
    assert result["y"].tolist() == [[[[5, 6, 7, 8]]]]


def test_contents_are_samples_of_what_stays_an_input(folder: Path) -> None:
    graph = dml2onnx.load(folder, LoadOptions(inputs=frozenset({"w"})), graph="net")
    assert [item.name for item in graph.inputs] == ["x", "w"]
    assert graph.inputs[1].default is not None
    frozen = dml2onnx.load(folder, LoadOptions(graph="net"), constants={"x": np.zeros(4, np.float32)})
    assert not frozen.inputs
    assert len(frozen.constants) == 2


def test_buffers_without_contents_have_none(folder: Path) -> None:
    graph = dml2onnx.load(folder, graph="program")
    assert [(item.name, item.default is None) for item in graph.inputs] == [("a", True), ("b", False)]
    frozen = dml2onnx.load(folder, LoadOptions(freeze=True), graph="program")
    assert [item.name for item in frozen.inputs] == ["a"]


def _owned(folder: Path) -> None:
    """Makes `a` of the program a tensor that DirectML owns, whose contents nobody told the recorder."""
    program: dict[str, Any] = copy.deepcopy(PROGRAM)
    program["dispatchables"]["sum"]["desc"]["ATensor"] = {**F32, "Flags": "OWNED_BY_DML"}
    program["dispatchables"]["sum"]["bindings"] = {"ATensor": "a"}
    del program["commands"][0]["bindings"]["ATensor"]
    (folder / "program.json").write_text(json.dumps(program))


def test_owned_buffers_without_contents_are_no_zeros(folder: Path) -> None:
    _owned(folder)
    graph = dml2onnx.load(folder, graph="program")
    assert [(item.name, item.default is None) for item in graph.inputs] == [("b", False), ("a", True)]
    assert [(item.code, "a" in item.message) for item in dml2onnx.check(graph)] == [(reading.NO_CONTENTS.id, True)]
    with pytest.raises(dml2onnx.DmlError, match="owned by DirectML"):
        dml2onnx.compile(graph)
    kept = dml2onnx.load(folder, LoadOptions(inputs=frozenset({"a"})), graph="program")
    assert dml2onnx.check(kept) == []


def test_contents_of_owned_buffers_can_be_given(folder: Path) -> None:
    _owned(folder)
    given = {"a": np.array([10, 20, 30, 40], np.float32)}
    graph = dml2onnx.load(folder, graph="program", constants=given)
    assert dml2onnx.check(graph) == []
    result = dml2onnx.compile(graph).run({"b": np.array([[[[1, 2, 3, 4]]]], np.float32)})["c"]
    assert result.reshape(-1).tolist() == [11, 22, 33, 44]


def test_constants_of_graphs_are_constants_of_the_program(folder: Path) -> None:
    index = copy.deepcopy(INDEX)
    index["graphs"][2]["constants"] = ["b"]
    (folder / "recording.json").write_text(json.dumps(index))
    assert [item.name for item in dml2onnx.load(folder, graph="program").inputs] == ["a"]
    kept = dml2onnx.load(folder, LoadOptions(inputs=frozenset({"b"})), graph="program")
    assert [item.name for item in kept.inputs] == ["a", "b"]


def test_the_only_graph_is_meant(folder: Path) -> None:
    index = copy.deepcopy(INDEX)
    del index["graphs"][2]
    (folder / "recording.json").write_text(json.dumps(index))
    assert dml2onnx.load(folder).name == "net"


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
    index = copy.deepcopy(INDEX)
    index["graphs"].insert(1, {"name": "other", "kind": "graph", "nodes": 1, "file": "other.json"})
    (folder / "other.json").write_text(json.dumps(GRAPH))
    (folder / "recording.json").write_text(json.dumps(index))


def test_the_program_of_a_single_graph_is_meant(folder: Path) -> None:
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


def test_what_the_program_was_refused_is_said(folder: Path) -> None:
    graph = dml2onnx.load(folder, graph="rejected ADD")
    assert graph.findings[0].code == recordings.REFUSED_IN_PROGRAM.id
    assert "A is null" in graph.findings[0].message


def _set(path: tuple[str | int, ...], value: object) -> Callable[[Any], None]:
    def change(index: Any) -> None:
        for key in path[:-1]:
            index = index[key]
        index[path[-1]] = value

    return change


def _without(path: tuple[str | int, ...]) -> Callable[[Any], None]:
    def change(index: Any) -> None:
        for key in path[:-1]:
            index = index[key]
        del index[path[-1]]

    return change


NET = ("graphs", 1)
DAMAGES: dict[str, tuple[Callable[[Any], None], Code]] = {
    "newer": (_set(("dml2onnx_recording",), 2), recordings.BAD_RECORDING),
    "version-true": (_set(("dml2onnx_recording",), True), recordings.BAD_RECORDING),
    "graphs-object": (_set(("graphs",), {}), recordings.BAD_RECORDING),
    "no-graphs": (_without(("graphs",)), recordings.BAD_RECORDING),
    "no-graph": (_set(("graphs",), []), recordings.BAD_RECORDING),
    "graph-number": (_set(NET, 7), recordings.BAD_RECORDING),
    "no-name": (_without((*NET, "name")), recordings.BAD_RECORDING),
    "name-number": (_set((*NET, "name"), 7), recordings.BAD_RECORDING),
    "one-name": (_set((*NET, "name"), "program"), recordings.BAD_RECORDING),
    "kind": (_set((*NET, "kind"), "shader"), recordings.BAD_RECORDING),
    "nodes": (_set((*NET, "nodes"), -1), recordings.BAD_RECORDING),
    "nodes-bool": (_set((*NET, "nodes"), True), recordings.BAD_RECORDING),
    "problem": (_set((*NET, "problem"), None), recordings.BAD_RECORDING),
    "contents": (_set((*NET, "contents"), []), recordings.BAD_RECORDING),
    "part": (_set((*NET, "contents", "w"), "data/w.bin"), recordings.BAD_RECORDING),
    "offset": (_set((*NET, "contents", "w", "offset"), -4), recordings.BAD_RECORDING),
    "huge-offset": (_set((*NET, "contents", "w", "offset"), 1 << 70), recordings.BAD_RECORDING),
    "fraction": (_set((*NET, "contents", "w", "length"), 1.5), recordings.BAD_RECORDING),
    "without": (_set(("graphs", 2, "without_contents"), [1]), recordings.BAD_RECORDING),
    "constants": (_set(("graphs", 2, "constants"), "b"), recordings.BAD_RECORDING),
    "outside": (_set((*NET, "file"), "../secret.json"), reading.FILE_OUTSIDE),
    "absolute": (_set((*NET, "file"), "/etc/passwd"), reading.FILE_OUTSIDE),
    "share": (_set((*NET, "file"), r"\\server\share\net.json"), reading.FILE_OUTSIDE),
    "directory": (_set((*NET, "file"), "data"), reading.FILE_UNREADABLE),
    "nowhere": (_set((*NET, "file"), "nowhere.json"), reading.FILE_UNREADABLE),
    "null-byte": (_set((*NET, "file"), "net\0.json"), reading.FILE_UNREADABLE),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_indexes(folder: Path, name: str) -> None:
    (folder.parent / "secret.json").write_text(json.dumps(GRAPH))
    change, code = DAMAGES[name]
    index = copy.deepcopy(INDEX)
    change(index)
    (folder / "recording.json").write_text(json.dumps(index))
    assert refused(folder, "net")[0] == code.id


INSIDE: dict[str, tuple[Callable[[Any], None], Code]] = {
    "outside": (_set((*NET, "contents", "w", "file"), "../secret.bin"), reading.FILE_OUTSIDE),
    "beyond": (_set((*NET, "contents", "w", "offset"), 17), reading.FILE_TOO_SHORT),
    "short": (_set((*NET, "contents", "w", "length"), 12), recordings.BAD_RECORDING),
}


@pytest.mark.parametrize("name", INSIDE)
def test_contents_that_are_not_there(folder: Path, name: str) -> None:
    (folder.parent / "secret.bin").write_bytes(bytes(32))
    change, code = INSIDE[name]
    index = copy.deepcopy(INDEX)
    change(index)
    (folder / "recording.json").write_text(json.dumps(index))
    graph = dml2onnx.load(folder, graph="net")
    assert [item.code for item in graph.findings] == [code.id]
    assert [item.name for item in graph.inputs] == ["x", "w"]


def test_an_index_that_names_itself(folder: Path) -> None:
    index = copy.deepcopy(INDEX)
    index["graphs"][1]["file"] = "recording.json"
    (folder / "recording.json").write_text(json.dumps(index))
    graph = dml2onnx.load(folder, graph="net")
    assert {item.code for item in graph.findings} >= {reading.UNKNOWN_KEY.id}


def test_a_link_that_leads_outside(folder: Path) -> None:
    secret = folder.parent / "secret.json"
    secret.write_text(json.dumps(GRAPH))
    (folder / "net.json").unlink()
    (folder / "net.json").symlink_to(secret)
    assert refused(folder, "net")[0] == reading.FILE_OUTSIDE.id
    options = LoadOptions(allow_paths=(folder.parent,))
    assert dml2onnx.load(folder, options, graph="net").name == "net"


def test_text_that_is_no_json(folder: Path) -> None:
    (folder / "recording.json").write_text('{"dml2onnx_recording": 1, "graphs": [')
    assert refused(folder)[0] == unreadable.NOT_JSON.id
    (folder / "recording.json").write_text(json.dumps(INDEX) + " // comment")
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


def test_check_looks_at_all_graphs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(folder), "--format", "concise"]) == 1
    lines = capsys.readouterr().out.splitlines()
    wrong = str(folder / "operators" / "1.json")
    assert any(f"{recordings.REFUSED_IN_PROGRAM.id}" in line and line.startswith(wrong) for line in lines)
    assert any("error" in line and line.startswith(f"{wrong}:1:") for line in lines)
    assert all(line.startswith(wrong) for line in lines)
    assert main(["check", str(folder.parent), "--format", "concise"]) == 1  # found among other models, and once
    assert capsys.readouterr().out.splitlines() == lines
    assert main(["check", str(folder), "--json"]) == 1
    models = json.loads(capsys.readouterr().out)["models"]
    assert [item["model"] for item in models] == [str(folder / item["file"]) for item in INDEX["graphs"]]


def test_check_of_an_empty_recording(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "recording.json").write_text('{"dml2onnx_recording": 1, "graphs": []}')
    assert main(["check", str(folder)]) == 2
    assert recordings.BAD_RECORDING.id in capsys.readouterr().err


@pytest.mark.parametrize(
    ("graph", "change", "name"),
    [
        ("net", _set((*NET, "contents", "v"), W), "v"),
        ("net", _set((*NET, "constants"), ["W"]), "W"),
        ("program", _set(("graphs", 2, "constants"), ["input"]), "input"),
        ("program", _set(("graphs", 2, "without_contents"), ["a", "d"]), "d"),
    ],
)
def test_names_that_the_graph_does_not_have(folder: Path, graph: str, change: Callable[[Any], None], name: str) -> None:
    """What is said of them would be lost: weights would become inputs."""
    index = copy.deepcopy(INDEX)
    change(index)
    (folder / "recording.json").write_text(json.dumps(index))
    (finding,) = dml2onnx.load(folder, graph=graph).findings
    assert (finding.code, finding.found) == (recordings.BAD_RECORDING.id, f'"{name}"')
    assert ('did you mean "w"?' in finding.message) is (name == "W")


def test_a_recording_that_has_lost_its_index(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "recording.json").unlink()
    code, message = refused(folder)
    assert code == recordings.BAD_RECORDING.id
    assert "has the files of a recording, but no recording.json" in message
    for asked in (folder, folder.parent):  # by itself, and below a directory that is searched
        assert main(["check", str(asked), "--format", "concise"]) == 2
        assert capsys.readouterr().out.count("DML0016") == 1
    assert main(["check", str(folder / "net.json")]) == 0
    (folder / "notes.txt").write_text("of somebody")  # what the recorder would never have begun with
    assert refused(folder)[0] == unreadable.NOT_A_FILE.id


# --- What is not there ------------------------------------------------------------------------------------------------


def _changed(folder: Path, **members: object) -> None:
    (folder / "recording.json").write_text(json.dumps({**INDEX, **members}))


def test_a_recording_that_was_not_ended_says_so(folder: Path) -> None:
    _changed(folder, ended=False)
    found = dml2onnx.load(folder, graph="net").findings
    assert [item.code for item in found] == [recordings.NOT_ENDED.id]
    assert dml2onnx.compile(dml2onnx.load(folder, graph="net")).run({"x": np.zeros((1, 1, 1, 4), np.float32)})
    _changed(folder, ended=True)
    assert dml2onnx.load(folder, graph="net").findings == ()
    _changed(folder, ended="no")
    assert refused(folder, "net")[0] == recordings.BAD_RECORDING.id


def test_what_is_not_recorded_is_said(folder: Path) -> None:
    graphs = copy.deepcopy(INDEX["graphs"])
    graphs[1]["unrecorded"] = "Flags is 6"
    graphs[2]["missing"] = ["net is dispatched, which is not recorded"]
    _changed(folder, unrecorded=["an interface"], graphs=graphs)
    net, program = dml2onnx.load(folder, graph="net"), dml2onnx.load(folder, graph="program")
    assert [item.code for item in net.findings] == [recordings.NOT_RECORDED.id] * 2
    assert "Flags is 6" in net.findings[0].message
    assert "an interface" in net.findings[1].message
    assert [item.code for item in program.findings] == [recordings.NOT_RECORDED.id, recordings.MISSING_DISPATCH.id]
    with pytest.raises(dml2onnx.DmlError, match="not recorded"):
        dml2onnx.compile(program)


def _dispatch(begin: int, source: str, target: str) -> str:
    """A line of the program's journal: one more dispatch, into a buffer of its own."""
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
    graphs = copy.deepcopy(INDEX["graphs"])
    graphs[2]["journal"] = "program.jsonl"
    _changed(folder, ended=False, journal="recording.3.jsonl", graphs=graphs)
    (folder / "program.jsonl").write_text("".join(lines))


@pytest.mark.parametrize("tail", ["", '{"from": 3, "resour'])
def test_the_journal_of_a_program_goes_on_where_it_ends(folder: Path, tail: str) -> None:
    stale = _dispatch(0, "a", "z")
    _journal(folder, stale, _dispatch(1, "c", "d"), _dispatch(2, "d", "e"), tail)
    graph = dml2onnx.load(folder, graph="program")
    assert [item.name for item in graph.inputs] == ["a", "b"]
    given = {"a": np.ones((1, 1, 1, 4), np.float32), "b": np.array([[[[1, 2, 3, 4]]]], np.float32)}
    results = dml2onnx.compile(graph).run(given)
    assert {name: found.reshape(-1).tolist() for name, found in results.items()} == {"e": [4, 7, 10, 13]}


def test_a_journal_may_end_at_any_byte(folder: Path) -> None:
    lines = [_dispatch(1, "c", "d"), _dispatch(2, "d", "e")]
    whole = "".join(lines)
    for end in range(len(whole) + 1):
        _journal(folder, whole[:end])
        graph = dml2onnx.load(folder, graph="program")
        assert len(graph.nodes) == 1 + whole[:end].count("\n")
        assert [item.code for item in graph.findings] == [recordings.NOT_ENDED.id]


def test_a_journal_that_leaves_something_out_is_refused(folder: Path) -> None:
    _journal(folder, _dispatch(2, "c", "d"))
    with pytest.raises(UnreadableError) as caught:
        dml2onnx.load(folder, graph="program")
    (finding,) = caught.value.diagnostics
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


def test_journals_lie_beside_their_index(folder: Path) -> None:
    (folder.parent / "outside.jsonl").write_text("{}\n")
    _changed(folder, journal="../outside.jsonl")
    assert refused(folder, "net")[0] == reading.FILE_OUTSIDE.id
