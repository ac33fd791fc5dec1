"""``dml2onnx check``: places, formats, several models, and exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from io import BytesIO, TextIOWrapper
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import jsonschema
import pytest

from dml2onnx.cli import main
from tests.frontends.models import DX, NATIVE, REMOVE, edited, f32, one_node
from tests.frontends.partitions import PARTITION, write
from tests.newcomers.build import text_of
from tests.newcomers.networks import NETWORK

BROKEN = Path(__file__).parents[2] / "samples" / "broken" / "model.json"


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three models: a valid one, one with a warning, one with an error on its third line; and another JSON file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "right.json").write_text(json.dumps(NATIVE))
    (tmp_path / "odd.json").write_text(json.dumps(edited(DX, ("/command", []))))
    (tmp_path / "deeper").mkdir()
    wrong = json.dumps(edited(NATIVE, ("/nodes/1/desc/Axis", "x")), indent=1).replace('"dml2onnx"', '\n\n"dml2onnx"')
    (tmp_path / "deeper" / "wrong.json").write_text(wrong)
    (tmp_path / "package.json").write_text('{"name": "no model"}')
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(["check", *arguments])
    return code, capsys.readouterr().out


def test_full(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = run(capsys, str(BROKEN))
    assert code == 1
    assert (
        f'    --> {BROKEN}:16:24\n  16 |         "PaddingMode": "REFLECT",\n     |                        ^^^^^^^^^\n'
        in text
    )
    assert "checked at feature level 3_0" in text
    assert "\x1b" not in text


def test_text_shows_fifty_findings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nodes = [{"type": "NONE", "name": f"n{number}", "inputs": {}, "outputs": {}} for number in range(53)]
    model = tmp_path / "many.json"
    model.write_text(json.dumps({"dml2onnx": 1, "inputs": {}, "nodes": nodes, "outputs": []}))
    _, text = run(capsys, str(model))
    hidden = len(json.loads(run(capsys, str(model), "--json")[1])["diagnostics"]) - 50
    assert hidden > 0
    assert f"... and {hidden} more; --json lists all of them\n" in text


def test_text_repeats_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    _, text = run(capsys, str(BROKEN))
    pages = [line for line in text.splitlines() if line.startswith("    page:")]
    assert pages
    assert all(first != second for first, second in pairwise(pages))
    for finding in text.split("\nDML"):
        message = finding.splitlines()[0]
        found = [line.removeprefix("    found: ") for line in finding.splitlines() if line.startswith("    found: ")]
        assert not any(words.strip('"') in message for words in found)


def test_concise(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = run(capsys, "deeper/wrong.json", "--format", "concise")
    assert code == 1
    lines = (models / "deeper" / "wrong.json").read_text().splitlines()
    line = next(index for index, line in enumerate(lines, 1) if '"Axis"' in line)
    column = lines[line - 1].index('"x"') + 1
    assert text == (
        f'deeper/wrong.json:{line}:{column}: error DML1105: node "join": Axis is "x", '
        "not a whole number from 0 to 4294967295\n"
    )


@pytest.mark.parametrize("form", ["concise", "github"])
@pytest.mark.parametrize(
    ("place", "value", "others"),
    [
        ("/nodes/1/desc/OutputTensor/Sizes", [9], "InputTensors, Axis"),
        ("/nodes/1/desc/OutputTensor/Strides", [1, 1], "OutputTensor/Sizes"),
    ],
)
def test_one_line_names_the_fields_that_a_finding_follows_from(
    models: Path, capsys: pytest.CaptureFixture[str], form: str, place: str, value: object, others: str
) -> None:
    """Those that the message does not name: for rules of descriptors, and for rules of readers."""
    (models / "size.json").write_text(json.dumps(edited(NATIVE, (place, value))))
    _, text = run(capsys, "size.json", "--format", form)
    first = text.splitlines()[0]
    _, answer = run(capsys, "size.json", "--json")
    assert json.loads(answer)["diagnostics"][0]["related"] == others.split(", ")
    unsaid = [name for name in others.split(", ") if name not in first.partition(" (follows from ")[0]]
    assert unsaid
    assert f" (follows from {', '.join(unsaid)})" in first


def test_github(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (models / "a,b%.json").write_text(json.dumps(edited(NATIVE, ("/nodes/1/desc/Axis", "50%\n"))))
    _, text = run(capsys, "a,b%.json", "--format", "github")
    assert text.startswith("::error file=a%2Cb%25.json,line=1,col=")
    assert "title=DML1105::node " in text
    assert '"50%25\\u000a"' in text
    assert text.count("\n") == 1


def test_json(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = run(capsys, "deeper/wrong.json", "--json")
    one = json.loads(text)
    assert code == 1
    assert one["diagnostics"][0]["file"] == "deeper/wrong.json"
    assert {"line", "column", "pointer"} <= one["diagnostics"][0].keys()
    assert (one["feature_level"], one["directml_nodes"]) == ("5_0", 3)
    _, text = run(capsys, "right.json", "deeper/wrong.json", "--format", "json")
    assert [item["model"] for item in json.loads(text)["models"]] == ["right.json", "deeper/wrong.json"]


def test_nodes_of_unknown_types_count_as_nodes(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (models / "unknown.json").write_text(json.dumps(edited(NATIVE, ("/nodes/1/type", "UNKNOWN"))))
    assert "in 3 nodes" in run(capsys, "unknown.json")[1]


def test_sarif(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Has the members that SARIF 2.1.0 requires, and those that GitHub shows."""
    code, text = run(capsys, ".", "--format", "sarif")
    log = json.loads(text)
    assert code == 1
    assert (log["version"], log["$schema"]) == ("2.1.0", "https://json.schemastore.org/sarif-2.1.0.json")
    (one,) = log["runs"]
    driver = one["tool"]["driver"]
    assert driver["name"] == "dml2onnx"
    assert len({rule["id"] for rule in driver["rules"]}) == len(driver["rules"])
    for rule in driver["rules"]:
        assert rule["shortDescription"]["text"]
        assert rule["defaultConfiguration"]["level"] in ("error", "warning")
    assert len(one["results"]) == 2
    for result in one["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning")
        assert result["message"]["text"]
        (location,) = result["locations"]
        uri = location["physicalLocation"]["artifactLocation"]["uri"]
        assert (models / uri).exists()
        region = location["physicalLocation"]["region"]
        assert 1 <= region["startColumn"] < region["endColumn"]
        assert region["startLine"] >= 1


SARIF = json.loads((Path(__file__).parents[1] / "data" / "sarif-2.1.0.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "arguments",
    [["."], ["right.json"], ["nowhere.json"], [str(BROKEN)], ["wr ong #1.json", "{absolute}"], ["-"]],
    ids=["directory", "nothing found", "unreadable", "errors", "odd names", "standard input"],
)
def test_sarif_matches_the_schema_of_the_standard(
    models: Path, arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = (models / "deeper" / "wrong.json").read_text(encoding="utf-8")
    (models / "wr ong #1.json").write_text(wrong, encoding="utf-8")
    stream = TextIOWrapper(BytesIO(wrong.encode()))
    monkeypatch.setattr("sys.stdin", stream)
    absolute = str(models / "deeper" / "wrong.json")
    _, text = run(capsys, *(item.format(absolute=absolute) for item in arguments), "--format", "sarif")
    log = json.loads(text)
    jsonschema.Draft4Validator(SARIF).validate(log)
    for result in log["runs"][0]["results"]:
        (location,) = result["locations"]
        uri = location["physicalLocation"]["artifactLocation"]["uri"]
        assert not set(uri) & set(' #<>"\\'), uri
        if "nowhere" not in uri and "stdin" not in uri:
            assert Path(url2pathname(urlsplit(uri).path)).exists()


def test_the_schema_of_sarif_is_pinned_and_strict() -> None:
    script = Path(__file__).parents[2] / "scripts" / "fetch_sarif_schema.py"
    assert subprocess.run([sys.executable, script, "--check"], check=False).returncode == 0
    jsonschema.Draft4Validator.check_schema(SARIF)
    logs: list[dict[str, Any]] = [
        {"version": "2.1.0"},
        {"version": "2.1.0", "runs": [{"tool": {"driver": {}}}]},
        {"runs": []},
    ]
    for log in logs:
        assert not jsonschema.Draft4Validator(SARIF).is_valid(log)


def test_directories(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Files that are no models are skipped in directories, but not if they are named."""
    write(models, PARTITION)
    code, text = run(capsys, ".")
    assert code == 1
    assert [line.split(":")[0] for line in text.splitlines() if "checked at" in line] == [
        "Partition_0.bin",
        "deeper/wrong.json",
        "odd.json",
        "right.json",
    ]
    assert main(["check", "package.json"]) == 2
    capsys.readouterr()


def test_warnings_as_errors(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "odd.json")[0] == 0
    assert run(capsys, "odd.json", "--warnings-as-errors")[0] == 1
    assert run(capsys, "right.json", "--warnings-as-errors")[0] == 0


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ([], {"DML1108", "DML1101", "DML1008", "DML1701", "DML1602"}),
        (["--select", "DML16", "--select", "DML1701"], {"DML1602", "DML1701"}),
        (["--ignore", "dml11"], {"DML1008", "DML1701", "DML1602"}),
        (["--select", "DML1", "--ignore", "DML1602"], {"DML1108", "DML1101", "DML1008", "DML1701"}),
        (["--select", "1501"], set()),
    ],
)
def test_select_and_ignore(options: list[str], found: set[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, text = run(capsys, str(BROKEN), "--json", *options)
    assert {item["code"] for item in json.loads(text)["diagnostics"]} == found
    assert code == (1 if found else 0)


@pytest.mark.parametrize(
    ("options", "level"),
    [
        (["--directml", "1.8"], "5_0"),
        (["--directml", "1.14.2"], "6_2"),
        (["--directml", "1.15"], "6_4"),
        (["--windows", "10-22H2"], "2_0"),
        (["--windows", "11-21h2"], "4_0"),
        (["--windows", "11-24H2"], "6_2"),
        (["--windows", "11-25H2"], "6_2"),
        (["--feature-level", "4_1"], "4_1"),
    ],
)
def test_levels_by_version_of_directml_or_windows(
    options: list[str], level: str, models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, text = run(capsys, "right.json", "--json", *options)
    assert json.loads(text)["feature_level"] == level


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--directml", "new"], '"new" is no version of DirectML'),
        (["--directml", "0.9"], "the first version of DirectML is 1.0.0"),
        (["--directml", "1.99"], '"1.99" is not a known version of DirectML; the versions are: 1.0, 1.1, 1.2'),
        (["--windows", "95"], '"95" is not a known release of Windows; the releases are: 10-1903'),
        (["--windows", "10-22H2", "--feature-level", "2_0"], "not allowed with"),
    ],
)
def test_unknown_levels(options: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "x.json", *options]) == 2
    assert words in capsys.readouterr().err


WINDOWS = {"Strides": [2, 2], "WindowSize": [2, 2], "StartPadding": [0, 0], "EndPadding": [0, 0]}
POOL = one_node(
    "MAX_POOLING2", {"OutputTensor": f32(1, 1, 2, 2), **WINDOWS, "Dilations": [1, 1]}, f32(1, 1, 4, 4), name="pool"
)
DILATED = edited(POOL, ("/nodes/0/desc/Dilations", [1, 2]), ("/nodes/0/desc/OutputTensor/Sizes", [1, 1, 2, 1]))


@pytest.mark.parametrize(
    ("model", "level", "instead"),
    [
        (POOL, "2_0", "MAX_POOLING1"),
        (POOL, "1_0", "MAX_POOLING"),
        (DILATED, "1_0", ""),
    ],
)
def test_nodes_above_the_level(
    model: dict[str, Any], level: str, instead: str, models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (models / "pool.json").write_text(json.dumps(model))
    code, text = run(capsys, "pool.json", "--json", "--suggest", "--feature-level", level)
    (above,) = json.loads(text)["above_level"]
    assert code == 1
    assert (above["node"], above["needs"], above["instead"]) == ("pool", "2_1", instead)
    if instead:
        older = edited(model, ("/nodes/0/type", instead), ("/nodes/0/desc/Dilations", REMOVE))
        (models / "older.json").write_text(json.dumps(older))
        assert run(capsys, "older.json", "--feature-level", level)[0] == 0
    _, text = run(capsys, "pool.json", "--suggest", "--feature-level", level)
    assert "needs feature level" in text
    assert "2_1 (Windows 11 21H2" in text


def test_suggestions_without_a_level(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Shows the node that needs the highest level, and an equivalent operator of the lowest level."""
    (models / "pool.json").write_text(json.dumps(POOL))
    code, text = run(capsys, "pool.json", "--json", "--suggest")
    (above,) = json.loads(text)["above_level"]
    assert code == 0
    assert (above["node"], above["needs"], above["instead"], above["at"]) == ("pool", "2_1", "MAX_POOLING", "1_0")
    _, text = run(capsys, "pool.json", "--suggest")
    assert "MAX_POOLING (1_0)" in text


def test_valid_graphs_have_no_nodes_above_the_level(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, text = run(capsys, "right.json", "--json", "--suggest", "--feature-level", "5_0")
    assert json.loads(text)["above_level"] == []
    assert "above_level" not in json.loads(run(capsys, "right.json", "--json")[1])


# --- What DirectML accepts against its documentation ----------------------------------------------------------------


@pytest.fixture
def undocumented(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A model whose pooling has another size than its windows give."""
    monkeypatch.chdir(tmp_path)
    desc = {"OutputTensor": f32(1, 1, 5, 4), **WINDOWS, "Strides": [3, 2]}
    Path("model.json").write_text(json.dumps(one_node("MAX_POOLING", desc, f32(1, 1, 8, 8), name="pool")))
    return "model.json"


def test_undocumented_sizes_are_a_warning(undocumented: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, text = run(capsys, undocumented)
    assert (status, "DML1751 warning" in text, "DirectML accepts this" in text) == (0, True, True)
    status, text = run(capsys, undocumented, "--documented")
    assert (status, "DML1503 error" in text, "DirectML accepts this" in text) == (1, True, False)


@pytest.mark.parametrize("command", ["compile", "run", "verify"])
def test_undocumented_strides_are_not_compiled(
    undocumented: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    model = json.loads(Path(undocumented).read_text())
    model["nodes"][0]["desc"]["Strides"] = [0, 2]
    Path(undocumented).write_text(json.dumps(model))
    assert main([command, undocumented]) == 1
    assert "DML2010" in "".join(capsys.readouterr())
    assert main([command, undocumented, "--documented"]) == 1
    assert "DML2010" not in "".join(capsys.readouterr())


def test_undocumented_sizes_are_compiled(undocumented: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", undocumented]) == 0
    assert main(["compile", undocumented]) == 0
    assert main(["compile", undocumented, "--documented"]) == 1
    assert "DML1503" in "".join(capsys.readouterr())


def test_diff_shows_the_fix_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also with ``--fix``, as in ruff and black; ``--fix`` alone writes."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "net.json"
    wrong = text_of(NETWORK).replace("WindowSize", "WindowsSize")
    path.write_text(wrong)
    for options in (("--diff",), ("--fix", "--diff"), ("--diff", "--fix")):
        code, text = run(capsys, *options, "net.json")
        assert code == 1
        assert '\n-        "WindowsSize": [2, 2],\n+        "WindowSize": [2, 2],\n' in text
        assert "--fix would fix 1 finding" in text
        assert path.read_text() == wrong
    code, text = run(capsys, "--fix", "net.json")
    assert code == 0
    assert "fixed 1 finding" in text
    assert path.read_text() == text_of(NETWORK)


def _one_node(kind: str, sizes: list[int], data_type: str, **desc: object) -> str:
    """A graph of one operator with the input ``x``."""
    output = {"DataType": data_type, "Sizes": sizes}
    return json.dumps(one_node(kind, {"OutputTensor": output, **desc}, f32(1, 2, 3, 4)))


@pytest.mark.parametrize(
    ("kind", "sizes", "wrong", "right"),
    [
        ("REDUCE", [1, 2, 3, 1], {"Function": "SUM", "Axis": 3}, {"Function": "SUM", "Axes": [3]}),
        ("REDUCE", [1, 2, 3, 1], {"Function": "SUM", "Axis": [3]}, {"Function": "SUM", "Axes": [3]}),
        (
            "CUMULATIVE_SUMMATION",
            [1, 2, 3, 4],
            {"Axes": [3], "AxisDirection": "INCREASING", "HasExclusiveSum": False},
            {"Axis": 3, "AxisDirection": "INCREASING", "HasExclusiveSum": False},
        ),
    ],
)
def test_renamed_fields_convert_their_values(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    kind: str,
    sizes: list[int],
    wrong: dict[str, object],
    right: dict[str, object],
) -> None:
    """A number for an array of one, and vice versa: the graph is valid after ``--fix``."""
    path = tmp_path / "net.json"
    path.write_text(_one_node(kind, sizes, "FLOAT32", **wrong))
    code, text = run(capsys, "--fix", str(path))
    assert code == 0, text
    assert json.loads(path.read_text()) == json.loads(_one_node(kind, sizes, "FLOAT32", **right))


@pytest.mark.parametrize("name", ["DataType", "dtype", "To", "TargetDataType"])
def test_data_types_beside_the_tensors_belong_to_the_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """CAST has no field for it; without the member the graph is valid."""
    path = tmp_path / "net.json"
    path.write_text(_one_node("CAST", [1, 2, 3, 4], "FLOAT16", **{name: "FLOAT16"}))
    code, text = run(capsys, str(path))
    assert code == 1
    assert "a member of tensor descriptors: write it in OutputTensor" in text
    assert 'help: "OutputTensor": {"DataType": "FLOAT16"}' in text
    path.write_text(_one_node("CAST", [1, 2, 3, 4], "FLOAT16"))
    assert run(capsys, str(path))[0] == 0
