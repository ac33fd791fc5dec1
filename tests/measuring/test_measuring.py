"""Measuring the speed of models: comparison of results, order of runs, and tables."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dml2onnx
from dml2onnx import GraphBuilder, Providers
from dml2onnx.cli import main
from dml2onnx.codes import running
from dml2onnx.diagnostics import DmlError
from dml2onnx.measuring import MeasuredModel, Measurement, MeasuringPlan, Way, measure, measurement
from dml2onnx.measuring.measurement import difference
from dml2onnx.report.measured import Latency, Measured, main_table, memory_text, other_table, time_text

CPU = Way(Providers("cpu"), "onnx", 1, 0)


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    g = GraphBuilder()
    x = g.input("x", np.float32, [1, 4, 16, 16])
    y = g.convolution(x, np.random.default_rng(0).normal(size=(4, 4, 3, 3)).astype(np.float32), start_padding=1)
    dml2onnx.convert(
        g.build({"y": g.activation_relu(y), "i": g.argmax(y, "UINT32", [1], "INCREASING")}), tmp_path / "model.json"
    )
    return tmp_path / "model.json"


def perf(capsys: Any, *arguments: str) -> dict[str, Any]:
    assert main(["perf", *arguments, "--json"]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


# --- The command ------------------------------------------------------------------------------------------------------


def test_configurations_side_by_side(model: Path, capsys: Any) -> None:
    arguments = ["-O", "0", "-O", "1", "--threads", "1", "--threads", "2", "--target", "cpu", "--runs", "7"]
    answer = perf(capsys, "model.json", *arguments, "--warm-up", "2")
    ways = [(item["optimize"], item["threads"]) for item in answer["measured"]]
    assert ways == [(0, 1), (0, 2), (1, 1), (1, 2)]
    assert answer["warm_up"] == 2
    for item in answer["measured"]:
        latency = item["latency"]
        order = ["minimum", "median", "p90", "p95", "p99", "p999", "maximum"]
        assert [latency[name] for name in order] == sorted(latency[name] for name in order)
        assert item["runs"] == 7
        assert item["throughput"] == pytest.approx(7 / item["seconds"])
        assert item["seconds"] >= 7 * latency["minimum"]
        assert min(item["first_seconds"], item["session_seconds"], item["warm_up_seconds"]) > 0
        assert item["memory"] > item["memory_before"] > 10 << 20
        assert item["providers"] == ["CPUExecutionProvider"]
    first = answer["measured"][0]["latency"]["median"]
    assert answer["measured"][3]["of_first"] == pytest.approx(answer["measured"][3]["latency"]["median"] / first)
    assert answer["logical_processors"] >= 1


def test_seconds_instead_of_runs(model: Path, capsys: Any) -> None:
    (item,) = perf(capsys, "model.json", "--seconds", "0.3")["measured"]
    assert item["runs"] >= 10
    assert item["seconds"] >= 0.3


def test_several_models_and_inputs(model: Path, capsys: Any) -> None:
    g = GraphBuilder()
    x = g.input("x", np.float32, [1, 4, 16, 16])
    dml2onnx.convert(g.build({"y": g.activation_tanh(x)}), "other.json")
    np.save("x.npy", np.ones((1, 4, 16, 16), np.float32))
    answer = perf(capsys, "model.json", "other.json", "--input", "x=x.npy", "--runs", "2")
    assert [item["model"] for item in answer["measured"]] == ["model.json", "other.json"]
    assert "of_first" not in answer["measured"][1]


def test_against_another_model(model: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "250")  # for titles in one line, however long the times are
    dml2onnx.compile("model.json", optimize=0).save("other.onnx")
    assert main(["perf", "model.json", "--against", "other.onnx", "--runs", "3"]) == 0
    out = capsys.readouterr().out
    assert "compiled" in out
    assert "other.onnx" in out
    assert "outputs match" in out
    for title in ("median", "p90", "p99", "runs/s", "memory", "first run", "session", "p95", "p99.9", "min", "max"):
        assert title in out


def test_answers_are_compared_first(model: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is measured if they differ."""
    g = GraphBuilder()
    x = g.input("x", np.float32, [1, 4, 16, 16])
    y = g.convolution(x, np.ones((4, 4, 3, 3), np.float32), start_padding=1)
    dml2onnx.compile(g.build({"y": g.activation_relu(y), "i": g.argmax(y, "UINT32", [1], "INCREASING")})).save(
        "wrong.onnx"
    )
    monkeypatch.setattr(measurement._Worker, "run", lambda *arguments: pytest.fail("measured"))
    assert main(["perf", "model.json", "--against", "wrong.onnx", "--json"]) == 1
    codes = {item["code"] for item in json.loads(capsys.readouterr().out)["diagnostics"]}
    assert codes == {running.ANSWERS_DIFFER.id}


def test_a_page_with_the_figures(model: Path, capsys: Any) -> None:
    assert perf(capsys, "model.json", "--runs", "2", "--report", "out.html")["files"] == ["out.html"]
    text = Path("out.html").read_text("utf-8")
    assert '<details class="perf" open><summary>Performance</summary>' in text
    assert "<th>provider</th>" in text
    assert '<th class="number">p99</th>' in text
    assert main(["report", "model.json"]) == 0
    assert "<details" not in Path("model.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nowhere.json"], 2, "DML0001"),
        ([], 2, "required: MODEL"),
        (["model.json", "--provider", "gpu"], 1, "DML3001"),
        (["model.json", "--target", "gpu"], 2, "invalid choice"),
        (["model.json", "-O", "3"], 2, "invalid choice"),
        (["model.json", "--threads", "-1"], 2, "is less than 0"),
        (["model.json", "--runs", "0"], 2, "is less than 1"),
        (["model.json", "--seconds", "0"], 2, "not a number of seconds above 0"),
        (["model.json", "--against", "nowhere.onnx"], 2, "DML3018"),
        (["model.json", "--input", "z=x.npy"], 2, "DML3007"),
        (["model.json", "--report", "model.json"], 1, "DML3012"),
    ],
)
def test_invalid_command_lines(arguments: list[str], code: int, message: str, model: Path, capsys: Any) -> None:
    before = model.read_bytes()
    assert main(["perf", *arguments]) == code
    assert message in capsys.readouterr().err
    assert model.read_bytes() == before


# --- The measurement --------------------------------------------------------------------------------------------------


class FakeWorker:
    """Records the order of calls to workers."""

    order: list[tuple[str, float, int, int]]

    def __init__(self, subject: MeasuredModel) -> None:
        self._subject = subject

    def __enter__(self) -> FakeWorker:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def open(self, item: Measurement, place: Path) -> dict[str, Any]:
        return {"y": np.asarray(self._subject.feeds["y"])}

    def run(self, seconds: float, least: int, most: int) -> dict[str, Any]:
        self.order.append((self._subject.file, seconds, least, most))
        return {"times": [0.001] * least, "busy": 0.002, "wall": 0.001 * least}

    def call(self, command: Mapping[str, object]) -> dict[str, Any]:
        return {"memory": 1 << 20}


def subject(file: str, answer: Any, way: Way = CPU) -> MeasuredModel:
    return MeasuredModel("model", file, way, Path(file), {"y": np.asarray(answer)}, dict, 1)


def test_subjects_take_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    FakeWorker.order = []
    monkeypatch.setattr(measurement, "_Worker", FakeWorker)
    subjects = [subject(name, [1.0]) for name in "abc"]
    measured = measure(subjects, MeasuringPlan(3.0, least=12, rounds=4, warm_up=5), tmp_path)
    order = FakeWorker.order
    assert order[:3] == [(name, 0.0, 5, 5) for name in "abc"]
    assert "".join(name for name, *_ in order[3:]) == "abcbcacababc"
    assert {(seconds, least) for _, seconds, least, _ in order[3:]} == {(0.75, 3)}
    assert [len(item.times) for item in measured] == [12, 12, 12]
    assert [len(item.warm_up) for item in measured] == [5, 5, 5]


@pytest.mark.parametrize(
    ("wanted", "got", "is_right"),
    [
        (np.array([1, 1000], np.float32), np.array([1.5, 1000], np.float32), True),
        (np.array([1, 1000], np.float32), np.array([3, 1000], np.float32), False),
        (np.array([1, 10], np.float16), np.array([1.2, 10], np.float16), True),
        (np.array([np.nan, np.inf, 1], np.float32), np.array([0, 0, 1], np.float32), True),
        (np.array([1, 2], np.float32), np.array([np.nan, 2], np.float32), False),
        (np.array([0, 0], np.float32), np.array([0, 1e-9], np.float32), False),
        (np.array([10, 20], np.uint8), np.array([11, 20], np.uint8), True),
        (np.array([10, 20], np.uint8), np.array([12, 20], np.uint8), False),
        (np.array([10, 20], np.int32), np.array([11, 20], np.int32), False),
        (np.array([], np.int64), np.array([], np.int64), True),
    ],
)
def test_answers(wanted: Any, got: Any, is_right: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    FakeWorker.order = []
    monkeypatch.setattr(measurement, "_Worker", FakeWorker)
    subjects = [subject("a", wanted), subject("b", got)]
    if is_right:
        assert len(measure(subjects, MeasuringPlan(0.0, 1, 1, 1, 0), tmp_path)) == 2
        return
    with pytest.raises(DmlError) as caught:
        measure(subjects, MeasuringPlan(0.0, 1, 1, 1, 0), tmp_path)
    assert [item.code for item in caught.value.diagnostics] == [running.ANSWERS_DIFFER.id]
    assert FakeWorker.order == []


def test_differences() -> None:
    assert difference(np.array([0, 0], np.float32), np.array([0, 0], np.float32)) == 0
    assert difference(np.array([0, 0], np.float32), np.array([0, 1], np.float32)) == math.inf
    assert difference(np.array([2, -4], np.float32), np.array([2, -3], np.float32)) == 0.25


def test_a_worker_that_dies(model: Path, tmp_path: Path) -> None:
    """The exit code is reported, for crashes such as of a driver."""
    broken = subject("broken.onnx", [1.0])
    (tmp_path / "broken.onnx").write_bytes(b"nothing")
    with pytest.raises(DmlError) as caught:
        measure([broken], MeasuringPlan(0.0, 1, 1, 1, 0), tmp_path)
    assert [item.code for item in caught.value.diagnostics] == [running.RUNTIME_FAILURE.id]
    worker = measurement._Worker(broken)
    with worker:
        worker._process.kill()
        with pytest.raises(DmlError, match="ended with exit code"):
            worker.run(0.0, 1, 1)


# --- Tables -----------------------------------------------------------------------------------------------------------


def test_tables_omit_equal_columns() -> None:
    latency = Latency(*(0.001 * (k + 1) for k in range(9)))
    items = [Measured("m", provider="cpu", optimize=level, latency=latency, throughput=3) for level in (0, 1)]
    assert main_table(items)[0][:2] == ["provider", "-O"]
    assert main_table(items)[1][1][:3] == ["cpu", "1", "0.00 us"]
    titles, rows = other_table(items)
    assert [len(row) for row in rows] == [len(titles)] * 2
    assert rows[1][:2] == ["cpu", "1"]


def test_numbers() -> None:
    assert [time_text(value) for value in (1.5, 0.0123, 0.00000789, 120)] == ["1.50 s", "12.3 ms", "7.89 us", "120 s"]
    assert (memory_text(0), memory_text(5 << 30)) == ("-", "5,120 MiB")
