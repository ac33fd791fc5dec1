"""Models of many gibibytes: time of every command relative to ``cp`` of the same bytes, and peak memory.

    python scripts/bench_size.py [--gib 8] [--directory DIR] [--repeat 2] [--formats native] [--json FILE]

The model is a chain of products with weights of 256 MiB, each in a file. Every command runs in a new process; its time
is relative to a ``cp`` of the weights shortly before, its peak memory to their size. The fastest of several runs
counts. Reads come from the file cache, and writes are flushed before the next command starts. This needs three times
the model's size on disk.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from _figures import Figure, add_option, report

MIB = 1 << 20
ROWS = 1 << 13
"""Rows and columns of a weight of 256 MiB."""
PART = 1 << 6
"""Number of random rows; a weight repeats them, slightly larger each time."""
FORMATS = ("native", "dml_graph", "serialized", "dxdispatch")
MOST_TIME, MOST_MIB = 1.3, 300
"""Limits for ``compile``: time relative to ``cp``, and resident memory."""
MOST_RUN = 1.2
"""Limit for ``run``: memory relative to the weights."""

BUILDER = f"""
import sys
import numpy as np
import dml2onnx
g = dml2onnx.GraphBuilder()
y = g.input("x", "FLOAT32", [1, 1, 1, {ROWS}])
for file in sys.argv[2:]:
    y = g.gemm(y, g.constant(np.memmap(file, np.float32, "r", shape=(1, 1, {ROWS}, {ROWS}))))
dml2onnx.compile(g.build({{"y": y}})).save(sys.argv[1])
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """Time and memory of a process."""

    seconds: float
    processor: float
    """User and system time in seconds."""
    mebibytes: float
    """Peak resident memory, including mapped files."""


def cost(command: Sequence[str], directory: Path) -> Cost:
    """Runs a command; exits with its output if it fails."""
    os.sync()
    with tempfile.TemporaryFile() as output:
        started = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=directory, stdout=output, stderr=output, env=os.environ | {"OMP_NUM_THREADS": "1"}
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            output.seek(0)
            sys.exit(f"{' '.join(command)}: {output.read().decode(errors='replace')[-2000:]}")
    return Cost(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / (MIB if sys.platform == "darwin" else 1024))


def make_model(directory: Path, count: int) -> list[Path]:
    """Writes ``model.json``, its weights, and its input ``x.bin``; returns the files of the weights."""
    # in small parts: the peak memory of a process is inherited by its children
    rows = np.random.default_rng(1).standard_normal((PART, ROWS), np.float32) / np.float32(ROWS) ** 0.5
    files = [directory / f"w{index}.bin" for index in range(count)]
    for index, path in enumerate(files):
        with path.open("wb") as file:
            for part in range(ROWS // PART):
                file.write((rows * np.float32(1 + index / count + part / ROWS)).tobytes())
    row = {"DataType": "FLOAT32", "Sizes": [1, 1, 1, ROWS]}
    nodes = [
        {
            "name": f"product{index}",
            "type": "GEMM",
            "desc": {"OutputTensor": row, "TransA": "NONE", "TransB": "NONE", "Alpha": 1.0, "Beta": 0.0},
            "inputs": {"ATensor": f"y{index - 1}" if index else "x", "BTensor": f"w{index}"},
            "outputs": {"OutputTensor": f"y{index}"},
        }
        for index in range(count)
    ]
    weight = {"DataType": "FLOAT32", "Sizes": [1, 1, ROWS, ROWS]}
    constants = {f"w{index}": {**weight, "file": file.name} for index, file in enumerate(files)}
    model = {"dml2onnx": 1, "inputs": {"x": row}, "constants": constants, "nodes": nodes, "outputs": [f"y{count - 1}"]}
    (directory / "model.json").write_text(json.dumps(model), encoding="utf-8")
    (directory / "x.bin").write_bytes(np.ones(ROWS, np.float32).tobytes())
    return files


class Bench:
    """Measures and prints the rows of the table."""

    def __init__(self, directory: Path, count: int, repeat: int) -> None:
        self.directory = directory
        self.repeat = repeat
        self.files = make_model(directory, count)
        self.mebibytes = sum(file.stat().st_size for file in self.files) / MIB
        self.size = f"{self.mebibytes / 1024:.3g} GiB"
        self.figures: list[Figure] = []
        self.copies = Cost(0, 0, 0)

    def fresh(self, name: str) -> Path:
        """Returns a new empty directory."""
        path = self.directory / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
        return path

    def copy(self) -> None:
        """Measures ``cp``, the baseline of the following rows; the speed of disks varies over time."""
        runs = [cost(["cp", *map(str, self.files), str(self.fresh("out"))], self.directory) for _ in range(self.repeat)]
        self.copies = min(runs, key=lambda run: run.seconds)
        print(f"{'cp':<34}{self.copies.seconds:>8.1f} s{1:>8.2f}{self.copies.mebibytes:>10.0f} MiB", flush=True)

    def row(self, title: str, command: Sequence[str], *, kept: str = "", time: float = 0, mib: float = 0) -> None:
        """Measures a command, which writes into ``kept`` or else ``out``, and records figures for the given limits."""
        runs = []
        for _ in range(self.repeat):
            self.fresh(kept or "out")
            runs.append(cost(command, self.directory))
        if not kept:
            self.fresh("out")
        least = Cost(
            min(run.seconds for run in runs),
            min(run.processor for run in runs),
            max(run.mebibytes for run in runs),
        )
        ratio, share = least.seconds / self.copies.seconds, least.mebibytes / self.mebibytes
        if time:
            reason = f"processor time is {least.processor:.1f} s, that of cp {self.copies.processor:.1f} s"
            self.figures.append(Figure(title, ratio, f"times the time of `cp` of {self.size}", time, reason=reason))
        if mib:
            self.figures.append(Figure(title, least.mebibytes, f"MiB of memory for {self.size}", mib))
        print(f"{title:<34}{least.seconds:>8.1f} s{ratio:>8.2f}{least.mebibytes:>10.0f} MiB{share:>8.2f}", flush=True)

    def commands(self, model: str, form: str) -> None:
        """Measures all commands on the model in one format."""
        tool = [sys.executable, "-m", "dml2onnx"]
        self.copy()
        self.row(f"check {form}", [*tool, "check", model], mib=MOST_MIB)
        self.row(f"compile {form}", [*tool, "compile", model, "-o", "out/out.onnx"], time=MOST_TIME, mib=MOST_MIB)
        inputs = [] if form == "dxdispatch" else ["--input", "x=x.bin"]  # programs have initial contents
        self.row(f"run {form}", [*tool, "run", model, *inputs], mib=MOST_RUN * self.mebibytes + MOST_MIB)


def main() -> int:
    parser = argparse.ArgumentParser(description="Measures models with gibibytes of weights against cp.")
    parser.add_argument("--gib", type=float, default=8, help="size of the weights (default: %(default)s)")
    parser.add_argument("--directory", type=Path, default=Path(), help="a place with space (default: the current one)")
    parser.add_argument("--repeat", type=int, default=2, help="runs of each command (default: %(default)s)")
    parser.add_argument("--formats", nargs="*", default=FORMATS, choices=FORMATS, help="besides the native one's files")
    add_option(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.directory) as name:
        bench = Bench(Path(name).resolve(), max(1, round(options.gib * 4)), options.repeat)
        print(f"{bench.size} of weights, {platform.machine()}, {os.cpu_count()} cores, read from the cache")
        print(f"{'':<34}{'time':>10}{'of cp':>8}{'memory':>14}{'of all':>8}")
        tool = [sys.executable, "-m", "dml2onnx"]
        bench.commands("model.json", "files")
        bench.row("explain files", [*tool, "explain", "model.json"], mib=MOST_MIB)
        bench.row("report files", [*tool, "report", "model.json", "-o", "out/out.html"], mib=MOST_MIB)
        bench.copy()
        code = [sys.executable, "-c", BUILDER, "out/out.onnx", *map(str, bench.files)]
        bench.row("build of mapped arrays, compile", code, time=MOST_TIME, mib=MOST_MIB)
        for form in options.formats:
            target = f"made/made.{'bin' if form == 'serialized' else 'json'}"
            command = [*tool, "convert", "model.json", "-o", target, "--format", form]
            bench.copy()
            bench.row(f"convert to {form}", command, kept="made", mib=MOST_MIB)
            bench.commands(target, form)
            shutil.rmtree(bench.directory / "made")
    return report(bench.figures, options.json)


if __name__ == "__main__":
    sys.exit(main())
