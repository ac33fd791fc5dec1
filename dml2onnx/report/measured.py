"""The answer of ``perf``, and its panel in a report."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from dml2onnx.report.form import ALWAYS, Answer

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Latency:
    """How long runs took, in seconds, of those that count."""

    mean: float
    deviation: float
    """The standard deviation."""
    minimum: float
    median: float
    p90: float
    """90 of 100 runs took no longer."""
    p95: float
    p99: float
    p999: float
    maximum: float


@dataclass(frozen=True, slots=True)
class Measured:
    """One model on one provider, made and run in one way."""

    model: str
    against: str = ""
    """The ONNX model that was measured in the place of the compiled one."""
    provider: str = ""
    providers: tuple[str, ...] = ()
    """ONNX Runtime's names of those in the session, in order."""
    target: str = ""
    """Of the compiled model."""
    optimize: int | None = None
    threads: int = 0
    """Of the session; 0 is ONNX Runtime's own choice."""
    nodes: int = 0
    """ONNX nodes of the compiled model."""
    session_seconds: float = 0.0
    """What opening the session took."""
    first_seconds: float = 0.0
    """The first run."""
    warm_up_seconds: float = 0.0
    """The mean of the runs before those that count."""
    runs: int = 0
    seconds: float = 0.0
    """All runs that count together."""
    latency: Latency | None = None
    throughput: float = 0.0
    """Runs per second."""
    processors: float = 0.0
    """How many were busy on average."""
    memory: int = 0
    """Bytes that the process had at most; 0 where the system does not say."""
    memory_before: int = 0
    """The same before the model was loaded: Python, numpy and ONNX Runtime."""
    difference: float | str = 0.0
    """Of the answers from those of the first way of the same model, as a share of the largest number."""
    of_first: float = 1.0
    """The median as a multiple of that of the first way of the same model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PerfAnswer(Answer):
    """What ``perf`` says of models that took turns."""

    command: Literal["perf"] = field(default="perf", metadata=ALWAYS)
    measured: tuple[Measured, ...]
    rounds: int
    """Turns that each had."""
    warm_up: int
    """Runs of each before those that count."""
    processor: str
    """What the machine computes with."""
    logical_processors: int
    load: float | None = None
    """Of the machine before: processes that wanted to run, in the last minute."""
    onnxruntime: str
    """The version."""
    files: tuple[str, ...] = ()
    """The report that was written."""


# --- Tables -----------------------------------------------------------------------------------------------------------

Rows = tuple[list[str], list[list[str]]]
"""Titles, those of numbers starting with ``>``, and the rows below them."""


def main_table(measured: Sequence[Measured]) -> Rows:
    """What people look for: how long it takes, how much goes through, what it costs."""
    reported, titles = _ways(measured)
    columns = [*titles, ">first run", ">median", ">p90", ">p99", ">runs/s", ">memory", ">of the first"]
    rows = []
    for item, way in zip(measured, reported, strict=True):
        latency = item.latency
        assert latency is not None
        times = [time_text(value) for value in (item.first_seconds, latency.median, latency.p90, latency.p99)]
        rows.append([*way, *times, _short(item.throughput), memory_text(item.memory), f"{item.of_first:.2f} x"])
    return columns, rows


def other_table(measured: Sequence[Measured]) -> Rows:
    """The rest of what winml perf and onnxruntime_perf_test show."""
    reported, titles = _ways(measured)
    times = ["session", "warm-up", "mean", "deviation", "min", "p95", "p99.9", "max"]
    columns = [*titles, *(f">{name}" for name in times), ">runs", ">processors", ">memory before", ">difference"]
    rows = []
    for item, way in zip(measured, reported, strict=True):
        latency = item.latency
        assert latency is not None
        seconds = (
            *(item.session_seconds, item.warm_up_seconds, latency.mean, latency.deviation),
            *(latency.minimum, latency.p95, latency.p999, latency.maximum),
        )
        apart = f"{float(item.difference):.1g}"
        last = [str(item.runs), f"{item.processors:.1f}", memory_text(item.memory_before), apart]
        rows.append([*way, *map(time_text, seconds), *last])
    return columns, rows


def _ways(measured: Sequence[Measured]) -> tuple[list[list[str]], list[str]]:
    """What tells each from the others: columns in which all are alike are left out, but for the provider."""
    every = {
        "model": [item.model for item in measured],
        "what": [item.against or "compiled" for item in measured],
        "provider": [item.provider for item in measured],
        "target": [item.target or "-" for item in measured],
        "-O": ["-" if item.optimize is None else str(item.optimize) for item in measured],
        "threads": [str(item.threads or "-") for item in measured],
    }
    names = [name for name, texts in every.items() if name == "provider" or len(set(texts)) > 1]
    return [[every[name][row] for name in names] for row in range(len(measured))], names


def time_text(seconds: float) -> str:
    """Three digits with a unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{_short(seconds / size)} {unit}"
    return f"{_short(seconds / 1e-6)} us"


def memory_text(count: int) -> str:
    """Whole MiB."""
    return f"{round(count / (1 << 20)):,} MiB" if count else "-"


def _short(value: float) -> str:
    """Three digits, or all of those before the point."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"


# --- The panel --------------------------------------------------------------------------------------------------------


def panel(answer: PerfAnswer) -> str:
    """The figures as a part of a page."""
    tables = "\n".join(_table(rows) for rows in (main_table(answer.measured), other_table(answer.measured)))
    summary = "<summary>How fast</summary>"
    return f'<details class="perf" open>{summary}\n<p>{html.escape(conditions(answer))}</p>\n{tables}\n</details>'


def conditions(answer: PerfAnswer) -> str:
    """Under which figures were made."""
    load = "" if answer.load is None else f", load {answer.load:.1f}"
    return (
        f"{answer.processor}, {answer.logical_processors} processors{load}, ONNX Runtime {answer.onnxruntime};"
        f" {answer.warm_up} runs to warm up, then {answer.rounds} rounds in turns; answers agree"
    )


def _table(rows: Rows) -> str:
    titles, cells = rows
    classes = [' class="number"' if title.startswith(">") else "" for title in titles]
    head = "".join(
        f"<th{kind}>{html.escape(title.removeprefix('>'))}</th>" for title, kind in zip(titles, classes, strict=True)
    )
    body = "\n".join(f"<tr>{_cells(row, classes)}</tr>" for row in cells)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>'


def _cells(row: Sequence[str], classes: Sequence[str]) -> str:
    return "".join(f"<td{kind}>{html.escape(cell)}</td>" for cell, kind in zip(row, classes, strict=True))
