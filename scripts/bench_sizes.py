"""What names for sizes cost: nodes, time to compile, and time to run, beside the model of one size.

    python scripts/bench_sizes.py [--repeat 20] [--only NAME]

For each network there is a row: the sizes that have names, the nodes of the model for one size and of the one for all,
how many times as long that takes to compile, and how many times as long a run takes at the same size, in a session that
has run at that size before.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from _networks import networks

import dml2onnx
from dml2onnx.frontends import LoadOptions
from dml2onnx.ir.data import ArrayData
from dml2onnx.ir.graph import Constant

if TYPE_CHECKING:
    from dml2onnx.ir.graph import Graph

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared" / "models"
Sizes = Mapping[str, tuple[int | str, ...]]


@dataclass(frozen=True)
class Case:
    """A network and the names of its sizes, with ranges, and the sizes at which it is run."""

    name: str
    graph: Callable[[], Graph]
    sizes: Sizes
    ranges: Mapping[str, tuple[int, int]]
    at: Mapping[str, int]


def _frozen(graph: Graph, kept: str) -> Graph:
    """With random weights in the place of all inputs but one."""
    rng = np.random.default_rng(0)
    constants = [
        Constant(item.value, ArrayData.of((rng.normal(0, 0.05, item.value.nbytes // width)).astype(dtype)))
        for item in graph.inputs
        if item.name != kept and item.desc is not None
        for dtype in (item.desc.data_type.dtype,)
        for width in (dtype.itemsize,)
    ]
    inputs = tuple(item for item in graph.inputs if item.name == kept)
    return replace(graph, inputs=inputs, constants=(*graph.constants, *constants))


def _recorded(path: Path) -> Graph:
    return _frozen(dml2onnx.load(path), "input0")


def cases() -> Iterator[Case]:
    """The networks of the tests, those that are beside the project last."""
    known = {item.name: item.graph for item in networks()}
    batch = {"N": (1, 64)}
    yield Case(
        "samples/picture", lambda: dml2onnx.load(ROOT / "samples/picture/model.json"),
        {"picture": ("N", 3, "H", "W")}, {"N": (1, 8), "H": (16, 480), "W": (16, 640)}, {"N": 1, "H": 120, "W": 160},
    )  # fmt: skip
    yield Case(
        "samples/digits", lambda: dml2onnx.load(ROOT / "samples/digits/model.json"),
        {"images": ("N", 1, 8, 8)}, {"N": (1, 1024)}, {"N": 360},
    )  # fmt: skip
    block = known["transformer block, 64 behind 64"]
    yield Case(
        "transformer block", lambda: block, {"x": ("N", 1, "L", 256), "l0_past_keys": ("N", 8, "P", 32)},
        {"N": (1, 8), "L": (1, 128), "P": (1, 128)}, {"N": 1, "L": 64, "P": 64},
    )  # fmt: skip
    decoder = known["decoder, one token behind 255"]
    past = {f"l{i}_past_{kind}": ("N", 8, "P", 32) for i in range(4) for kind in ("keys", "values")}
    yield Case(
        "decoder", lambda: decoder, {"x": ("N", 1, 1, 256), **past}, {"N": (1, 8), "P": (1, 512)}, {"N": 1, "P": 255}
    )
    yield Case("LSTM tagger", lambda: known["tagger (LSTM)"], {"words": (1, 1, "T", 8)}, {"T": (1, 256)}, {"T": 64})
    yield Case(
        "quantised convolutions", lambda: known["quantised convolutions"], {"x": ("N", 16, "H", "W")},
        {"N": (1, 8), "H": (8, 256), "W": (8, 256)}, {"N": 1, "H": 64, "W": 64},
    )  # fmt: skip
    if not SHARED.is_dir():
        return
    yield Case(
        "SqueezeNet",
        lambda: dml2onnx.load(SHARED / "squeezenet/model.json", LoadOptions(freeze=True, inputs=frozenset({"data"}))),
        {"data": ("N", 3, 224, 224)}, batch, {"N": 1},
    )  # fmt: skip
    for kind in ("nchw", "nhwc"):
        path = SHARED / f"recorded/superres_{kind}.json"
        yield Case(
            f"super-resolution {kind.upper()}", partial(_recorded, path),
            {"input0": ("N", 3, "H", "W")}, {"N": (1, 4), "H": (8, 540), "W": (8, 960)}, {"N": 1, "H": 135, "W": 240},
        )  # fmt: skip
    yield Case(
        "YOLOv4", partial(_recorded, SHARED / "recorded/yolov4.json"),
        {"input0": ("N", 3, 180, 320)}, {"N": (1, 4)}, {"N": 1},
    )  # fmt: skip


def measured(case: Case, repeat: int) -> tuple[str, int, int, float, float]:
    """A row of the table."""
    graph = case.graph()
    fixed = {name: tuple(case.at.get(str(size), size) for size in own) for name, own in case.sizes.items()}
    dml2onnx.compile(graph, sizes=fixed)  # which brings all modules
    started = time.process_time()
    static = dml2onnx.compile(graph, sizes=fixed)
    between = time.process_time()
    named = dml2onnx.compile(graph, sizes=case.sizes, ranges=case.ranges)
    ended = time.process_time()
    rng = np.random.default_rng(0)
    feeds = {
        port.name: (rng.integers(0, 100, port.shape) if port.dtype.kind in "iu" else rng.normal(0, 1, port.shape))
        .astype(port.dtype)
        for port in static.inputs
    }  # fmt: skip
    sessions = [model.session() for model in (static, named)]
    times: list[list[float]] = [[], []]
    for _ in range(repeat + 2):  # in turns, so that both see the same machine
        for session, found in zip(sessions, times, strict=True):
            begun = time.perf_counter()
            session.run(feeds)
            found.append(time.perf_counter() - begun)
    slower = min(times[1][2:]) / min(times[0][2:])
    names = ", ".join(dict.fromkeys(str(size) for own in case.sizes.values() for size in own if isinstance(size, str)))
    return names, static.node_count, named.node_count, (ended - between) / (between - started), slower


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    print(f"{'network':26} {'names':10} {'nodes':>6} {'named':>6} {'compiling':>10} {'running':>8}")
    for case in cases():
        if options.only in case.name:
            names, before, after, compiling, running = measured(case, options.repeat)
            print(f"{case.name:26} {names:10} {before:6} {after:6} {compiling:9.1f}x {running:7.2f}x", flush=True)


if __name__ == "__main__":
    main()
