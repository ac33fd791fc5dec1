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
    """The times of measured runs, in seconds."""

    mean: float
    deviation: float
    """The standard deviation."""
    minimum: float
    median: float
    p90: float
    """The 90th percentile."""
    p95: float
    p99: float
    p999: float
    maximum: float


@dataclass(frozen=True, slots=True)
class Measured:
    """The measurement of a model with one provider and one set of options."""

    model: str
    against: str = ""
    """The ONNX model that was measured instead of the compiled one."""
    provider: str = ""
    providers: tuple[str, ...] = ()
    """ONNX Runtime's names of the providers of the session, in order."""
    target: str = ""
    """The target of the compiled model."""
    optimize: int | None = None
    threads: int = 0
    """The threads of the session; 0 is ONNX Runtime's default."""
    nodes: int = 0
    """The number of ONNX nodes of the compiled model."""
    session_seconds: float = 0.0
    """The time to open the session."""
    first_seconds: float = 0.0
    """The time of the first run."""
    warm_up_seconds: float = 0.0
    """The mean time of the warm-up runs."""
    runs: int = 0
    seconds: float = 0.0
    """The time of all measured runs together."""
    latency: Latency | None = None
    throughput: float = 0.0
    """Runs per second."""
    processors: float = 0.0
    """The average number of busy processors."""
    memory: int = 0
    """The peak memory of the process in bytes; 0 if unknown."""
    memory_before: int = 0
    """The same before the model was loaded: Python, numpy and ONNX Runtime."""
    difference: float | str = 0.0
    """The largest difference from the outputs of the first measurement, relative to the largest element."""
    of_first: float = 1.0
    """The median relative to that of the first measurement of the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PerfAnswer(Answer):
    """The answer of ``perf``."""

    command: Literal["perf"] = field(default="perf", metadata=ALWAYS)
    measured: tuple[Measured, ...]
    rounds: int
    """The number of turns of each."""
    warm_up: int
    """The number of warm-up runs of each."""
    processor: str
    """The name of the processor."""
    logical_processors: int
    load: float | None = None
    """The average number of runnable processes in the minute before."""
    onnxruntime: str
    """The version."""
    files: tuple[str, ...] = ()
    """The written report."""


# --- Tables -----------------------------------------------------------------------------------------------------------

Rows = tuple[list[str], list[list[str]]]
"""Titles, which start with ``>`` for right-aligned columns, and rows."""


def main_table(measured: Sequence[Measured]) -> Rows:
    """The most important figures: latency, throughput, and memory."""
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
    """The other figures of winml perf and onnxruntime_perf_test."""
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
        last = [
            str(item.runs),
            f"{item.processors:.1f}",
            memory_text(item.memory_before),
            f"{float(item.difference):.1g}",
        ]
        rows.append([*way, *map(time_text, seconds), *last])
    return columns, rows


def _ways(measured: Sequence[Measured]) -> tuple[list[list[str]], list[str]]:
    """The first columns: the provider, and options in which the measurements differ."""
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
    """A time with three digits and a unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{_short(seconds / size)} {unit}"
    return f"{_short(seconds / 1e-6)} us"


def memory_text(count: int) -> str:
    """A number of bytes in MiB."""
    return f"{round(count / (1 << 20)):,} MiB" if count else "-"


def _short(value: float) -> str:
    """A number with three digits, or all digits before the point."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"


# --- The panel --------------------------------------------------------------------------------------------------------


def panel(answer: PerfAnswer) -> str:
    """The figures as a part of a page."""
    tables = "\n".join(map(_table, (main_table(answer.measured), other_table(answer.measured))))
    summary = "<summary>Performance</summary>"
    return f'<details class="perf" open>{summary}\n<p>{html.escape(conditions(answer))}</p>\n{tables}\n</details>'


def conditions(answer: PerfAnswer) -> str:
    """The conditions of the measurements."""
    load = "" if answer.load is None else f", load {answer.load:.1f}"
    return (
        f"{answer.processor}, {answer.logical_processors} processors{load}, ONNX Runtime {answer.onnxruntime};"
        f" {answer.warm_up} warm-up runs, then {answer.rounds} alternating rounds; outputs match"
    )


def _table(rows: Rows) -> str:
    titles, cells = rows
    classes = [' class="number"' if title.startswith(">") else "" for title in titles]

    def row(tag: str, texts: Sequence[str]) -> str:
        marked = (f"<{tag}{kind}>{html.escape(text)}</{tag}>" for text, kind in zip(texts, classes, strict=True))
        return f"<tr>{''.join(marked)}</tr>"

    head = row("th", [title.removeprefix(">") for title in titles])
    body = "\n".join(row("td", texts) for texts in cells)
    return f'<div class="wide"><table><thead>{head}</thead>\n<tbody>{body}</tbody></table></div>'
