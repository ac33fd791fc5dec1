#!/usr/bin/env python3
"""Runs samples and networks on runtimes for small devices, and prints what runs, what does not, and with which options.

    scripts/device_figures.py onnxruntime=PYTHON tinygrad=PYTHON ... [--write]

Each PYTHON has the runtime of that name: onnxruntime, ort-format, tinygrad, iree or mnn; one name may stand for several
versions. ``--write`` puts the tables into docs/devices.md. Models are compiled for the target ``onnx`` with opset 21
and, where that is refused, with opset 17; both have to answer as ONNX Runtime does here, within a thousandth of the
largest.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import _networks  # noqa: E402

import dml2onnx  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dml2onnx.ir.graph import Graph

PAGE = ROOT / "docs" / "devices.md"
BEGIN, END = "<!-- made by scripts/device_figures.py -->\n", "<!-- end -->\n"
OPSETS = (21, 17)
CLOSE = 1e-3
"""How far answers may be apart, relative to the largest."""


@dataclass
class Figures:
    """What one runtime made of the models."""

    name: str
    version: str = ""
    cells: dict[str, str] = field(default_factory=dict)
    refusals: dict[str, str] = field(default_factory=dict)


def graphs() -> Iterator[tuple[str, Graph, dict[str, np.ndarray]]]:
    """Networks with what is fed to them."""
    for network in _networks.networks():
        yield network.name, network.graph, {name: np.asarray(array) for name, array in network.feeds.items()}
    for name in ("digits", "picture"):
        graph = dml2onnx.load(ROOT / "samples" / name / "model.json")
        rng = np.random.default_rng(0)
        made = {port.name: rng.random(port.shape).astype(port.dtype) for port in dml2onnx.compile(graph).inputs}
        yield name, graph, made


def figures(name: str, python: str) -> Figures:
    """All models on one runtime."""
    found = Figures(name)
    subjects = list(graphs())
    for opset in OPSETS:
        with tempfile.TemporaryDirectory() as directory:
            wants = {}
            for number, (title, graph, feeds) in enumerate(subjects):
                if title in found.cells and not found.cells[title].startswith("refused"):
                    continue
                model = dml2onnx.compile(graph, opset=opset)
                given = model.complete({k: v.reshape(-1) for k, v in feeds.items()})
                shaped = {p.onnx_name: np.asarray(given[p.name]).reshape(p.shape) for p in model.inputs}
                model.save(Path(directory, f"{number}.onnx"), external_data=False)
                np.savez(Path(directory, f"{number}.npz"), **shaped)  # type: ignore[arg-type]  # names are those of inputs
                session = model.session()
                wants[title] = (number, session.run({p.name: shaped[p.onnx_name] for p in model.inputs}))
            worker = str(Path(__file__).with_name("_device_worker.py"))
            command = [python, worker, name, directory]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
            answer = json.loads(done.stdout.strip().splitlines()[-1])
            found.version = answer["version"]
            for title, (number, want) in wants.items():
                why = answer["refused"].get(str(number))
                if why is not None:
                    found.cells[title] = "refused"
                    found.refusals[title] = why
                    continue
                with np.load(Path(directory, f"{number}.out.npz")) as got:
                    far = max(_apart(got[key], value) for key, value in want.items())
                cell = "runs" if far <= CLOSE else f"differs by {far:.2g}"
                found.cells[title] = cell if opset == OPSETS[0] else f"{cell} with `--opset {opset}`"
                found.refusals.pop(title, None)
    return found


def _apart(got: np.ndarray, want: np.ndarray) -> float:
    """The largest difference, relative to the largest element; of numbers of 8 bits, a step is none."""
    if got.size != want.size:
        return float("inf")
    off = np.abs(got.astype(np.float64).reshape(-1) - want.astype(np.float64).reshape(-1)).max(initial=0)
    if want.dtype.itemsize == 1 and off <= 1:
        return 0.0
    return float(off / max(np.abs(want.astype(np.float64)).max(initial=0), 1e-30))


def table(found: list[Figures]) -> str:
    """Markdown: a row for each runtime, and what was said of what is refused."""
    titles = list(found[0].cells)
    lines = [f"| Runtime | {' | '.join(titles)} |", f"|---|{'---|' * len(titles)}"]
    for item in found:
        lines.append(f"| {item.name} {item.version} | {' | '.join(item.cells[title] for title in titles)} |")
    said = [
        f"- {item.name} {item.version}, {title}: `{why.replace('`', '')[:160]}`"
        for item in found
        for title, why in item.refusals.items()
    ]
    return "\n".join([*lines, "", *(["What is said of those that are refused:", "", *said] if said else [])]) + "\n"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("runtimes", nargs="+", metavar="NAME=PYTHON")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/devices.md")
    options = parser.parse_args()
    found = []
    for text in options.runtimes:
        name, _, python = text.partition("=")
        found.append(figures(name, python))
        print(found[-1].name, found[-1].version, found[-1].cells, file=sys.stderr, flush=True)
    date = datetime.datetime.now(tz=datetime.UTC).date()
    text = f"dml2onnx {dml2onnx.__version__}, {platform.system()} {platform.machine()}, {date}:\n\n{table(found)}"
    print(text)
    if options.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(before + BEGIN + "\n" + text + "\n" + END + rest.partition(END)[2], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
