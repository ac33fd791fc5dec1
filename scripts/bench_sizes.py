"""Cost of named sizes: nodes, compile time and run time, compared with the model of one size.

    python scripts/bench_sizes.py [--repeat 30] [--only NAME] [--check]

Each row has the named sizes of a network, the nodes of the model for one size and of the named model, the ratio of
their compile times, and the ratios of run times at the same size: in a session without known sizes, and in one with
free dimensions overridden. Sessions have one thread, their runs are interleaved, and the fastest run of each counts.
``--check`` fails if a named model has more than 3 more nodes per name, takes more than 4 times as long to compile,
or more than 1.02 times as long to run with known sizes. The last column is a second session of the static model, which
shows the noise of the machine.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import onnxruntime
from _environment import ROOT
from _figures import interleaved
from _networks import networks

import dml2onnx
from dml2onnx.frontends import LoadOptions
from dml2onnx.ir.data import ArrayData
from dml2onnx.ir.graph import Constant, Graph, GraphInput
from dml2onnx.ir.tensor import DataType, TensorDesc

SHARED = ROOT.parent / "shared" / "models"
Sizes = Mapping[str, tuple[int | str, ...]]


@dataclass(frozen=True)
class Case:
    """A network, its named sizes with ranges, and the sizes to run it at."""

    name: str
    graph: Callable[[], Graph]
    sizes: Sizes
    ranges: Mapping[str, tuple[int, int]]
    at: Mapping[str, int]

    def sized(self, at: Mapping[str, int | str]) -> dict[str, tuple[int | str, ...]]:
        """The sizes of the inputs, with names replaced."""
        return {name: tuple(at.get(str(size), size) for size in own) for name, own in self.sizes.items()}


def _frozen(graph: Graph, kept: str) -> Graph:
    """The graph with random constants for all inputs but one."""
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


def _with_lengths(tagger: Graph) -> Graph:
    """The tagger with sequence lengths as an input, since a constant would fix the number of sequences."""
    (lengths,) = (item for item in tagger.constants if item.value.nbytes == 4 * SEQUENCES)
    desc = TensorDesc(DataType.UINT32, (1, 1, 1, SEQUENCES))
    constants = tuple(item for item in tagger.constants if item is not lengths)
    return replace(
        tagger, inputs=(*tagger.inputs, GraphInput("lengths", lengths.value, desc=desc)), constants=constants
    )


SEQUENCES = 8
"""Batch size of the tagger."""


def _recorded(path: Path) -> Graph:
    return _frozen(dml2onnx.load(path), "input0")


def cases() -> Iterator[Case]:
    """Yields the networks of the tests, then those of ``SHARED`` if it exists."""
    known = {item.name: item.graph for item in networks()}
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
    yield Case(
        "LSTM tagger", lambda: _with_lengths(known["tagger (LSTM)"]),
        {"words": (1, 1, "T", "N"), "lengths": (1, 1, 1, "N")}, {"N": (1, 32), "T": (1, 256)}, {"N": 8, "T": 64},
    )  # fmt: skip
    yield Case(
        "quantised convolutions", lambda: known["quantised convolutions"], {"x": ("N", 16, "H", "W")},
        {"N": (1, 8), "H": (8, 256), "W": (8, 256)}, {"N": 1, "H": 64, "W": 64},
    )  # fmt: skip
    if not SHARED.is_dir():
        return
    yield Case(
        "SqueezeNet",
        lambda: dml2onnx.load(SHARED / "squeezenet/model.json", LoadOptions(freeze=True, inputs=frozenset({"data"}))),
        {"data": ("N", 3, "H", "W")}, {"N": (1, 64), "H": (32, 448), "W": (32, 448)}, {"N": 1, "H": 224, "W": 224},
    )  # fmt: skip
    for kind in ("nchw", "nhwc"):
        path = SHARED / f"recorded/superres_{kind}.json"
        yield Case(
            f"super-resolution {kind.upper()}", partial(_recorded, path),
            {"input0": ("N", 3, "H", "W")}, {"N": (1, 4), "H": (8, 540), "W": (8, 960)}, {"N": 1, "H": 135, "W": 240},
        )  # fmt: skip
    yield Case(
        "YOLOv4", partial(_recorded, SHARED / "recorded/yolov4.json"),
        {"input0": ("N", 3, "H", "W")}, {"N": (1, 4)}, {"N": 1, "H": 180, "W": 320},
    )  # fmt: skip


MOST_NODES, MOST_COMPILING, MOST_RUNNING = 3, 4.0, 1.02
"""Limits for a named model: nodes per name, and ratios of compile and run time."""


@dataclass(frozen=True)
class Row:
    """The measurements of a network."""

    name: str
    names: tuple[str, ...]
    static_nodes: int
    named_nodes: int
    compiling: float
    running: float
    overridden: float
    again: float

    def __str__(self) -> str:
        names = ", ".join(self.names)
        nodes = f"{self.static_nodes:6} {self.named_nodes:6}"
        times = f"{self.compiling:9.1f}x {self.running:7.2f}x {self.overridden:7.2f}x {self.again:7.2f}x"
        return f"{self.name:26} {names:10} {nodes} {times}"

    @property
    def misses(self) -> list[str]:
        """Describes the exceeded limits."""
        most = self.static_nodes + MOST_NODES * len(self.names)
        allowed = MOST_RUNNING * max(self.again, 1.0)
        return [
            *([f"{self.named_nodes} nodes, at most {most}"] if self.named_nodes > most else []),
            *([f"{self.compiling:.1f} times to compile"] if self.compiling > MOST_COMPILING else []),
            *([f"{self.overridden:.3f} times to run"] if self.overridden > allowed else []),
        ]


def measured(case: Case, repeat: int) -> Row:
    graph = case.graph()
    fixed = case.sized(case.at)
    dml2onnx.compile(graph, sizes=fixed)  # loads all modules
    times: list[list[float]] = [[], []]
    for _ in range(COMPILED):
        started = time.process_time()
        static = dml2onnx.compile(graph, sizes=fixed)
        between = time.process_time()
        named = dml2onnx.compile(graph, sizes=case.sizes, ranges=case.ranges)
        times[0].append(between - started)
        times[1].append(time.process_time() - between)
    compiling = min(times[1]) / min(times[0])
    sessions = {
        "static": _session(static.serialize()),
        "named": _session(named.serialize()),
        "known": _session(named.serialize(), case.at),
        "again": _session(static.serialize()),
    }
    feeds = _feeds(static)
    turns = interleaved(
        {name: partial(session.run, None, feeds) for name, session in sessions.items()}, least=repeat + 2
    )
    first, *others = (min(times) for times in turns.values())
    names = tuple(dict.fromkeys(size for own in case.sizes.values() for size in own if isinstance(size, str)))
    return Row(case.name, names, static.node_count, named.node_count, compiling, *(other / first for other in others))


COMPILED = 3
"""Number of compilations; the fastest counts."""


def _feeds(model: dml2onnx.CompiledModel) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {
        port.onnx_name: (
            rng.integers(1, 60, port.shape) if port.dtype.kind in "iu" else rng.normal(0, 1, port.shape)
        ).astype(port.dtype)
        for port in model.inputs
    }


def _session(model: bytes, sizes: Mapping[str, int] | None = None) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    for name, size in (sizes or {}).items():
        options.add_free_dimension_override_by_name(name, size)
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=30)
    parser.add_argument("--only", default="")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    titles = f"{'nodes':>6} {'named':>6} {'compiling':>10} {'running':>8} {'known':>8} {'again':>8}"
    print(f"{'network':26} {'names':10} {titles}")
    missed = False
    for case in cases():
        if options.only in case.name:
            row = measured(case, options.repeat)
            print(row, *(row.misses if options.check else ()), flush=True)
            missed = missed or bool(row.misses)
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
