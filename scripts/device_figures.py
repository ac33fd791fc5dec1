#!/usr/bin/env python3
"""Runs samples and networks on runtimes for small devices, and prints what runs and with which options.

    scripts/device_figures.py onnxruntime=PYTHON tinygrad=PYTHON ... [--write]

Each PYTHON has the runtime of that name: onnxruntime, ort-format, tinygrad, iree or mnn; a name may be repeated for
other versions. ``--write`` updates docs/devices.md. Models are compiled for the target ``onnx``, with one option after
the other until one runs. Results must match ONNX Runtime's within 0.1 % of the largest element.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import _networks
import numpy as np
from _generated import ROOT, with_section

import dml2onnx
from dml2onnx.ir.graph import Graph

PAGE = ROOT / "docs" / "devices.md"
OPTIONS: dict[str, dict[str, Any]] = {
    "": {},
    "--opset 17": {"opset": 17},
    "--quant-format qdq": {"quant_format": "qdq"},
}
"""Compile options, tried in order until one runs."""
CLOSE = 1e-3
"""Tolerance relative to the largest element."""


@dataclass
class Figures:
    """Results of one runtime."""

    name: str
    version: str = ""
    cells: dict[str, str] = field(default_factory=dict)
    refusals: dict[str, str] = field(default_factory=dict)


def graphs() -> Iterator[tuple[str, Graph, dict[str, np.ndarray]]]:
    """Yields the name, the graph and the inputs of each network."""
    for network in _networks.networks():
        yield network.name, network.graph, {name: np.asarray(array) for name, array in network.feeds.items()}
    for name in ("digits", "picture"):
        graph = dml2onnx.load(ROOT / "samples" / name / "model.json")
        rng = np.random.default_rng(0)
        feeds = {port.name: rng.random(port.shape).astype(port.dtype) for port in dml2onnx.compile(graph).inputs}
        yield name, graph, feeds


def figures(name: str, python: str) -> Figures:
    """Runs all models on one runtime."""
    found = Figures(name)
    subjects = list(graphs())
    for option, options in OPTIONS.items():
        wanted = [item for item in subjects if not found.cells.get(item[0], "").startswith("runs")]
        with tempfile.TemporaryDirectory() as place:
            directory = Path(place)
            expected = {
                str(number): _prepared(directory / f"{number}.onnx", *item[1:], options)
                for number, item in enumerate(wanted)
            }
            worker = str(Path(__file__).with_name("_device_worker.py"))
            done = subprocess.run(
                [python, worker, name, place], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True
            )
            answer = json.loads(done.stdout.strip().splitlines()[-1])
            found.version = answer["version"]
            for number, want in expected.items():
                title = wanted[int(number)][0]
                why = answer["refused"].get(number)
                cell = "refused" if why is not None else _cell(directory / f"{number}.out.npz", want)
                if cell == "runs":
                    found.cells[title] = f"runs with `{option}`" if option else "runs"
                    found.refusals.pop(title, None)
                elif title not in found.cells:
                    found.cells[title] = cell
                    found.refusals.update({title: why} if why is not None else {})
    return found


def _prepared(path: Path, graph: Graph, feeds: dict[str, np.ndarray], options: dict[str, Any]) -> dict[str, np.ndarray]:
    """Writes a model and its inputs; returns the expected outputs."""
    model = dml2onnx.compile(graph, **options)
    complete = model.complete({k: v.reshape(-1) for k, v in feeds.items()})
    shaped = {p.onnx_name: np.asarray(complete[p.name]).reshape(p.shape) for p in model.inputs}
    model.save(path, external_data=False)
    np.savez(path.with_suffix(".npz"), **shaped)  # type: ignore[arg-type]  # names are those of inputs
    return model.session().run({p.name: shaped[p.onnx_name] for p in model.inputs})


def _cell(path: Path, want: dict[str, np.ndarray]) -> str:
    """The table cell of a model that ran."""
    with np.load(path) as got:
        far = max(_apart(got[key], value) for key, value in want.items())
    return "runs" if far <= CLOSE else f"differs by {far:.2g}"


def _apart(got: np.ndarray, want: np.ndarray) -> float:
    """The largest difference relative to the largest element; 8-bit numbers may differ by 1."""
    if got.size != want.size:
        return float("inf")
    off = np.abs(got.astype(np.float64).reshape(-1) - want.astype(np.float64).reshape(-1)).max(initial=0)
    if want.dtype.itemsize == 1 and off <= 1:
        return 0.0
    return float(off / max(np.abs(want.astype(np.float64)).max(initial=0), 1e-30))


def table(found: list[Figures]) -> str:
    """A Markdown table with a row for each runtime, and a list of error messages."""
    titles = list(found[0].cells)
    lines = [f"| Runtime | {' | '.join(titles)} |", f"|---|{'---|' * len(titles)}"]
    for item in found:
        lines.append(f"| {item.name} {item.version} | {' | '.join(item.cells[title] for title in titles)} |")
    messages = [
        f"- {item.name} {item.version}, {title}: `{why.replace('`', '')[:160]}`"
        for item in found
        for title, why in item.refusals.items()
    ]
    return (
        "\n".join([*lines, "", *(["Error messages of the refused models:", "", *messages] if messages else [])]) + "\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("runtimes", nargs="+", metavar="NAME=PYTHON")
    parser.add_argument("--write", action="store_true", help="update docs/devices.md")
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
        PAGE.write_text(
            with_section(PAGE.read_text(encoding="utf-8"), "scripts/device_figures.py", text), encoding="utf-8"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
