"""Output for other programs and limited consoles: JUnit, hooks, logs, ASCII, and narrow tables."""

from __future__ import annotations

import io
import json
from itertools import count
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml  # type: ignore[import-untyped]  # has no types
from rich.console import Console

from dml2onnx.cli import main, plain, render
from dml2onnx.cli.terminal import column_widths, fits, least_widths, stacked, table
from tests.frontends.models import NATIVE
from tests.newcomers.build import text_of
from tests.newcomers.native_convolutions import CONVOLUTIONS
from tests.newcomers.networks import NETWORK

HWIO = next(case.source for case in CONVOLUTIONS if case.name == "convolution: filter in HWIO order, as in TensorFlow")
HOOKS = Path(__file__).parents[2] / ".pre-commit-hooks.yaml"


def test_junit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "right.json").write_text(json.dumps(NATIVE))
    (tmp_path / "wrong.json").write_text(HWIO)
    (tmp_path / "text.json").write_text("{'dml2onnx': 1}")
    assert main(["check", str(tmp_path), "--format", "junit"]) == 2
    root = ElementTree.fromstring(capsys.readouterr().out)
    assert (root.get("tests"), root.get("failures")) == ("3", "2")
    by_name = {str(suite.get("name")).rpartition("/")[2]: suite for suite in root}
    assert by_name["right.json"].find("testcase/failure") is None
    failure = by_name["wrong.json"].find("testcase/failure")
    assert failure is not None
    assert failure.get("type") == "DML1503"
    assert "wrong.json:" in str(failure.text)
    text = by_name["text.json"].find("testcase")
    assert text is not None
    assert text.get("line") == "1"


def test_sarif_has_related_places(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "net.json"
    path.write_text(HWIO)
    main(["check", str(path), "--format", "sarif"])
    [result] = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert result["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == 8


def test_hooks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """pre-commit passes the names of files, some of which are no models."""
    hooks: list[dict[str, Any]] = yaml.safe_load(HOOKS.read_text())
    files = []
    for name, text in (("net.json", text_of(NETWORK)), ("package.json", '{"name": "x"}'), ("weights.bin", "\x01\x02")):
        (tmp_path / name).write_text(text)
        files.append(str(tmp_path / name))
    for hook in hooks:
        command = str(hook["entry"]).split()
        assert command[0] == "dml2onnx"
        assert main([*command[1:], *files]) == 0
        assert main([*command[1:], *files[1:]]) == 0
    capsys.readouterr()
    (tmp_path / "net.json").write_text(text_of(NETWORK).replace('"CROSS_CORRELATION"', '"CROSS_CORELATION"'))
    assert main([*str(hooks[0]["entry"]).split()[1:], *files]) == 1
    assert main([*str(hooks[1]["entry"]).split()[1:], *files]) == 0
    assert (tmp_path / "net.json").read_text() == text_of(NETWORK)


def test_logs_show_progress_now_and_then(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Every 30 seconds, and no spinner even if colours are forced."""
    ticks = count(0, 10)
    monkeypatch.setattr("time.monotonic", lambda: float(next(ticks)))
    monkeypatch.setenv("FORCE_COLOR", "1")
    screen = render.Screen(as_json=True, quiet=False)
    with screen.bar("check", 9) as advance:
        for _ in range(7):
            advance("no findings")
    assert capsys.readouterr().err.count("of 9, no findings") == 2
    with render.Screen(as_json=False, quiet=True).counting("compiling") as progress:
        assert progress is None


def test_characters_that_a_console_lacks() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors=plain.HANDLER)
    stream.write("1 × 3, 5 µs … ☃")
    stream.flush()
    assert stream.buffer.getvalue() == b"1 x 3, 5 us ... ?"


def test_tables_for_narrow_terminals() -> None:
    columns, rows = (
        [">models", "code", "what it is about"],
        [(3, "DML1503", "a size that is not what its formula gives")],
    )
    for kept in (2, 3):
        part = columns[:kept], [row[:kept] for row in rows]
        width = sum(least_widths(*part)) + 2 * (kept - 1)  # two spaces between columns
        assert fits(*part, width)
        assert not fits(*part, width - 1)
    lines = stacked(columns, rows, "", 40)
    assert lines[:2] == ["models: 3\n", "  code: DML1503\n"]
    assert max(map(len, lines)) <= 41


@pytest.mark.parametrize("width", range(87, 125))
def test_no_word_of_a_table_is_broken(width: int) -> None:
    columns = ["what", "provider", "target", ">first run", ">median", ">p90", ">p99", ">runs/s", ">memory"]
    row = ["model.json compiled", "cpu", "onnx", "1.53 ms", "103.4 us", "123.4 us", "199.1 us", "9,876", "123.4 MiB"]
    assert fits(columns, [row], width)
    assert sum(column_widths(columns, [row], width)) + 2 * (len(columns) - 1) <= width
    lines = table(Console(file=io.StringIO()), columns, [row], "", width)
    text = " ".join("".join(lines).split())
    words = [word for cell in [*columns, *row] for word in cell.removeprefix(">").split()]
    assert sorted(text.split()) == sorted(words)
    assert max(len(line.rstrip()) for line in lines) <= width
