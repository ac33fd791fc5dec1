"""Compile time (parse, check, lower and write) for graphs of 1,000, 10,000 and 100,000 nodes.

    python scripts/bench_compile.py [--sizes 1000 10000] [--formats native program] [--repeat 3] [--json FILE]
    python scripts/bench_compile.py --sizes 100000 1000000 --repeat 1     scaling; needs 6 GiB of memory
    python scripts/bench_compile.py --sizes 10000 --profile               the hottest functions

The graph resembles image networks: convolutions with fused RELU, pooling, padding, joins, sums, activations and
resampling, with varying sizes and attributes, so that little of it repeats. It is read in the native format and, at one
size, as a DxDispatch program and as a serialized graph. Every measurement is the first compilation in a fresh process;
the best of several processes counts. The baseline builds the same ONNX model (nodes, subgraphs, attributes, names,
shapes, initializers) with ``onnx.helper`` and writes it, without and with the metadata that maps ONNX nodes to DirectML
nodes. Times are processor times of one thread.

The baseline takes three times the memory, so it is built for at most 100,000 nodes; for larger sizes it is extrapolated
by the number of ONNX nodes, and marked with ``~``.

The targets follow the table, with a profile for each missed one.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import json
import pstats
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import onnx
from _figures import Figure, add_option, report
from onnx import helper

import dml2onnx
from dml2onnx.compiler import compile_outputs
from dml2onnx.ir.graph import Graph
from dml2onnx.lowering import lowerings

SIZES = (1_000, 10_000, 100_000)
FORMATS = {"native": "native", "program": "dxdispatch", "serialized": "serialized"}
"""Our names of formats and those of ``convert``."""
COMPARED_SIZE = 10_000
"""The size that is measured in all formats."""
FLOOR_SIZE = 100_000
"""The largest size for which the baseline is built."""
FLOORS = ("helper", "full")
"""The baselines without and with metadata."""
MOST_OF_FLOOR = 3.0
"""Limit on the time relative to the baseline with metadata, for 10,000 nodes in each format."""
MOST_UNEVEN = 1.25
"""Limit on the ratio of the largest to the smallest time per node."""
STAGES = ("parse", "check", "lower", "write")
CHANNELS = (4, 8, 12, 16)
FILTER_SIZES = (1, 3, 5)
BLOCKS_PER_INPUT = 64
RESAMPLED = 0.2
"""Probability that the image size changes before a block; a new size makes all later descriptors distinct."""

Json: TypeAlias = dict[str, object]
Numbers: TypeAlias = dict[str, float]
Seconds: TypeAlias = dict[str, float]


class Network:
    """A graph in the native format, with a chain of blocks for each input."""

    def __init__(self, nodes: int, seed: int = 1) -> None:
        self.random = np.random.default_rng(seed)
        self.limit = nodes
        self.nodes: list[Json] = []
        self.inputs: Json = {}
        self.constants: Json = {}
        self.outputs: list[str] = []
        self._add_weights()
        while len(self.nodes) < nodes:
            self._chain()

    def document(self) -> Json:
        return {
            "dml2onnx": 1,
            "name": "bench",
            "inputs": self.inputs,
            "constants": self.constants,
            "nodes": self.nodes,
            "outputs": self.outputs,
        }

    def _add_weights(self) -> None:
        """Adds filters of every combination of channels and sizes, in one file, which all convolutions share."""
        offset = 0
        for i in CHANNELS:
            for o in CHANNELS:
                for size in FILTER_SIZES:
                    self.constants[f"w{o}_{i}_{size}"] = {
                        **_tensor(o, i, size, size),
                        "file": "weights.bin",
                        "offset": offset,
                    }
                    offset += 4 * o * i * size * size
        for o in CHANNELS:
            self.constants[f"b{o}"] = {**_tensor(1, o, 1, 1), "file": "weights.bin", "offset": offset}
            offset += 4 * o
        self.weight_bytes = offset

    def _chain(self) -> None:
        name = f"x{len(self.inputs)}"
        sizes: tuple[int, ...] = (1, 8, 32, 32)
        self.inputs[name] = _tensor(*sizes)
        for _ in range(BLOCKS_PER_INPUT):
            if len(self.nodes) >= self.limit:
                break
            if self.random.random() < RESAMPLED:
                name, sizes = self._resample(name, sizes)
            # repeat a block up to three times, as networks do
            block = self.random.integers(3)
            for _ in range(self.random.integers(1, 4)):
                name, sizes = (self._residual, self._branches, self._pooled)[block](name, sizes)
        self.outputs.append(name)

    def _add(self, kind: str, inputs: Json, sizes: tuple[int, ...], **fields: object) -> str:
        name = f"{kind.lower()}_{len(self.nodes)}"
        desc = {"OutputTensor": _tensor(*sizes), **fields}
        node: Json = {"name": name, "type": kind, "desc": desc, "inputs": inputs, "outputs": {"OutputTensor": name}}
        self.nodes.append(node)
        return name

    def _resample(self, x: str, sizes: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
        height, width = (int(size) for size in self.random.integers(12, 65, 2))
        new = (1, sizes[1], height, width)
        name = self._add(
            "RESAMPLE1",
            {"InputTensor": x},
            new,
            InterpolationMode="LINEAR" if self.random.integers(2) else "NEAREST_NEIGHBOR",
            Scales=[b / a for a, b in zip(sizes, new, strict=True)],
            InputPixelOffsets=[0.5] * 4,
            OutputPixelOffsets=[-0.5] * 4,
        )
        return name, new

    def _convolution(self, x: str, sizes: tuple[int, ...], channels: int, size: int, fused: bool = True) -> str:
        pad = [size // 2] * 2
        return self._add(
            "CONVOLUTION",
            {
                "InputTensor": x,
                "FilterTensor": f"w{channels}_{sizes[1]}_{size}",
                "BiasTensor": f"b{channels}",
            },
            (1, channels, *sizes[2:]),
            Mode="CROSS_CORRELATION",
            Direction="FORWARD",
            Strides=[1, 1],
            Dilations=[1, 1],
            StartPadding=pad,
            EndPadding=pad,
            OutputPadding=[0, 0],
            GroupCount=1,
            FusedActivation={"type": "ACTIVATION_RELU"} if fused else None,
        )

    def _residual(self, x: str, sizes: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
        inner = int(self.random.choice(CHANNELS))
        h = self._convolution(x, sizes, inner, 3)
        h = self._convolution(h, (1, inner, *sizes[2:]), sizes[1], 3, fused=False)
        h = self._add("ELEMENT_WISE_ADD", {"ATensor": h, "BTensor": x}, sizes)
        kind, fields = self._activation()
        return self._add(kind, {"InputTensor": h}, sizes, **fields), sizes

    def _activation(self) -> tuple[str, Numbers]:
        alpha = round(float(self.random.random()), 2)
        kinds: tuple[tuple[str, Numbers], ...] = (
            ("ACTIVATION_RELU", {}),
            ("ACTIVATION_SIGMOID", {}),
            ("ACTIVATION_TANH", {}),
            ("ACTIVATION_LEAKY_RELU", {"Alpha": alpha}),
            ("ACTIVATION_ELU", {"Alpha": alpha}),
        )
        return kinds[self.random.integers(len(kinds))]

    def _branches(self, x: str, sizes: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
        one = self._convolution(x, sizes, 4, 1)
        three = self._convolution(x, sizes, 4, 3)
        five = self._convolution(x, sizes, 8, 5)
        joined = (1, 16, *sizes[2:])
        name = self._add("JOIN", {"InputTensors": [one, three, five]}, joined, Axis=1)
        return self._convolution(name, joined, sizes[1], 1), sizes

    def _pooled(self, x: str, sizes: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
        start, end = (int(size) for size in self.random.integers(1, 3, 2))
        padded = (*sizes[:2], sizes[2] + start + end, sizes[3] + start + end)
        mode = ("REFLECTION", "EDGE", "CONSTANT")[self.random.integers(3)]
        name = self._add(
            "PADDING",
            {"InputTensor": x},
            padded,
            PaddingMode=mode,
            PaddingValue=0,
            StartPadding=[0, 0, start, start],
            EndPadding=[0, 0, end, end],
        )
        window = {"Strides": [1, 1], "WindowSize": [start + end + 1] * 2, "StartPadding": [0, 0], "EndPadding": [0, 0]}
        largest = self._add("MAX_POOLING", {"InputTensor": name}, sizes, **window)
        mean = self._add("AVERAGE_POOLING", {"InputTensor": name}, sizes, **window, IncludePadding=False)
        return self._add("ELEMENT_WISE_ADD", {"ATensor": largest, "BTensor": mean}, sizes), sizes


def _tensor(*sizes: int) -> Json:
    return {"DataType": "FLOAT32", "Sizes": list(sizes)}


def write_model(nodes: int, directory: Path) -> Path:
    """Writes the network and its weights into ``directory``."""
    network = Network(nodes)
    path = directory / f"bench{nodes}.json"
    path.write_text(json.dumps(network.document()), encoding="utf-8")
    weights = np.random.default_rng(2).standard_normal(network.weight_bytes // 4).astype("<f4")
    (directory / "weights.bin").write_bytes(weights.tobytes())
    return path


def in_format(model: Path, form: str) -> Path:
    """Converts a native model to another format, in a new directory next to it."""
    if form == "native":
        return model
    path = model.with_name(f"{model.stem}-{form}") / f"{model.stem}.{'bin' if form == 'serialized' else 'json'}"
    path.parent.mkdir(exist_ok=True)
    dml2onnx.convert(model, path, format=FORMATS[form])
    return path


def pipeline(path: Path, output: Path) -> tuple[Seconds, Graph]:
    """Compiles once; returns the seconds of each stage and the graph."""
    times = [time.process_time()]
    graph = dml2onnx.load(path)
    times.append(time.process_time())
    findings = dml2onnx.check(graph)
    times.append(time.process_time())
    assert not any(item.is_error for item in findings), findings[0]
    model = compile_outputs(graph, graph.outputs)
    times.append(time.process_time())
    model.save(output)
    times.append(time.process_time())
    return {stage: end - start for stage, start, end in zip(STAGES, times, times[1:], strict=False)}, graph


class _Values(NamedTuple):
    """The arguments of ``onnx.helper`` for a graph, as plain values; subgraphs in attributes too."""

    name: str
    nodes: list[tuple[str, list[str], list[str], str, str | None, dict[str, Any]]]
    properties: list[dict[str, str]]
    named: list[list[tuple[str, int, list[int]]]]
    tensors: list[tuple[str, int, list[int], bytes]]


def _values(graph: onnx.GraphProto) -> _Values:
    def attribute(item: onnx.AttributeProto) -> object:
        value = helper.get_attribute_value(item)
        return _values(value) if isinstance(value, onnx.GraphProto) else value

    def named(several: Iterable[onnx.ValueInfoProto]) -> list[tuple[str, int, list[int]]]:
        types = ((item.name, item.type.tensor_type) for item in several)
        return [(name, of.elem_type, [dimension.dim_value for dimension in of.shape.dim]) for name, of in types]

    nodes = [
        (
            node.op_type,
            list(node.input),
            list(node.output),
            node.name,
            node.doc_string or None,
            {item.name: attribute(item) for item in node.attribute},
        )
        for node in graph.node
    ]
    return _Values(
        graph.name,
        nodes,
        [{item.key: item.value for item in node.metadata_props} for node in graph.node],
        [named(several) for several in (graph.input, graph.output, graph.value_info)],
        [(item.name, item.data_type, list(item.dims), item.raw_data) for item in graph.initializer],
    )


def _build_graph(values: _Values, metadata: bool) -> onnx.GraphProto:
    nodes = []
    for kind, reads, writes, name, doc, items in values.nodes:
        attributes = {
            key: _build_graph(value, metadata) if isinstance(value, _Values) else value for key, value in items.items()
        }
        nodes.append(helper.make_node(kind, reads, writes, name=name, doc_string=doc, **attributes))
    if metadata:
        for node, properties in zip(nodes, values.properties, strict=True):
            helper.set_metadata_props(node, properties)
    inputs, outputs, inner = ([helper.make_tensor_value_info(*item) for item in several] for several in values.named)
    initializers = [helper.make_tensor(*tensor, raw=True) for tensor in values.tensors]
    return helper.make_graph(nodes, values.name, inputs, outputs, initializers, value_info=inner)


def with_helper(model: onnx.ModelProto, output: Path, metadata: bool) -> Callable[[], None]:
    """Returns a function that builds and writes the same model with ``onnx.helper`` from plain values."""
    values = _values(model.graph)

    def build() -> None:
        opsets = [helper.make_opsetid("", 21)]
        built = helper.make_model(_build_graph(values, metadata), opset_imports=opsets, ir_version=10)
        output.write_bytes(built.SerializeToString())

    return build


def measure(path: Path, form: str, *, floor: bool = True) -> Numbers:
    """Measures one process, in seconds and MiB, after a compilation that loads all modules."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        lowerings()
        pipeline(in_format(write_model(12, directory), form), directory / "warm.onnx")
        before = _peak_memory()
        seconds, graph = pipeline(path, directory / "model.onnx")
        peak = _peak_memory()
        distinct = len({node.operator for node in graph.nodes})
        result = {**seconds, "nodes": len(graph.nodes), "distinct": distinct, "peak": peak, "growth": peak - before}
        del graph
        model = onnx.load(directory / "model.onnx")
        result["onnx_nodes"] = len(model.graph.node)
        if floor:
            for name, metadata in zip(FLOORS, (False, True), strict=True):
                result[name] = _time(with_helper(model, directory / "helper.onnx", metadata=metadata))
    return result


def _time(build: Callable[[], None]) -> float:
    """The shorter of two times."""
    times = []
    for _ in range(2):
        gc.collect()
        started = time.process_time()
        build()
        times.append(time.process_time() - started)
    return min(times)


def _peak_memory() -> float:
    """The peak memory so far in MiB, or 0 if the system does not report it."""
    try:
        import resource
    except ImportError:
        return 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "linux" else 1 << 20)


def best_of(path: Path, form: str, repeat: int, *, floor: bool = True) -> Numbers:
    """The fastest measurement, with the fastest times of the baselines."""
    command = [sys.executable, str(Path(__file__).resolve()), "--measure", str(path), "--formats", form]
    command += [] if floor else ["--no-floor"]
    results: list[Numbers] = [
        json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout) for _ in range(repeat)
    ]
    best = min(results, key=_total)
    return {**best, **{name: min(result[name] for result in results) for name in FLOORS if name in best}}


def _total(result: Numbers) -> float:
    return sum(result[stage] for stage in STAGES)


def measurements(
    sizes: list[int], repeat: int, formats: Iterable[str], compared: int, floor_size: int
) -> Iterator[tuple[str, int, Numbers]]:
    """Yields format, size and measurement of each row; baselines beyond ``floor_size`` nodes are extrapolated."""
    reference: Numbers | None = None
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        for form, size in [(form, size) for form in formats for size in sizes if form == "native" or size == compared]:
            result = best_of(in_format(write_model(size, directory), form), form, repeat, floor=size <= floor_size)
            if size == floor_size:
                reference = result
            if size > floor_size:
                reference = reference or best_of(write_model(floor_size, directory), "native", 1)
                scale = result["onnx_nodes"] / reference["onnx_nodes"]
                result = {**result, **{floor: scale * reference[floor] for floor in FLOORS}}
            yield form, size, result


def measured_table(
    sizes: list[int],
    repeat: int,
    formats: Iterable[str] = FORMATS,
    compared: int = COMPARED_SIZE,
    floor_size: int = FLOOR_SIZE,
) -> list[Figure]:
    """Measures, prints a table, and returns the figures that have targets."""
    columns = ["format", "nodes", "distinct", "ONNX nodes", *STAGES, "total", "µs/node"]
    columns += ["helper", "ratio", "+metadata", "ratio", "peak", "growth"]
    print("seconds of processor time, the best of several fresh processes; memory in MiB")
    print("".join(f"{column:>11}" for column in columns), flush=True)
    per_node: dict[int, float] = {}
    figures: list[Figure] = []
    for form, size, result in measurements(sizes, repeat, formats, compared, floor_size):
        total = _total(result)
        cells = [form, *(f"{int(result[name])}" for name in ("nodes", "distinct", "onnx_nodes"))]
        cells += [f"{result[stage]:.3f}" for stage in STAGES]
        cells += [f"{total:.3f}", f"{1e6 * total / result['nodes']:.1f}"]
        for name in FLOORS:
            cells += [f"{'~' if size > floor_size else ''}{result[name]:.3f}", f"{total / result[name]:.2f}"]
        cells += [f"{result['peak']:.0f}", f"{result['growth']:.0f}"]
        print("".join(f"{cell:>11}" for cell in cells), flush=True)
        if form == "native":
            per_node[size] = total / result["nodes"]
        if size == compared:
            parts = ", ".join(f"{stage} {result[stage] / result['full']:.2f}" for stage in STAGES)
            what, unit = f"{form}, {compared:,} nodes", "times `onnx.helper` with metadata"
            figures.append(Figure(what, total / result["full"], unit, MOST_OF_FLOOR, reason=f"in parts: {parts}"))
    if len(per_node) > 1:
        uneven = max(per_node.values()) / min(per_node.values())
        times = ", ".join(f"{1e6 * spent:.0f} µs for {size:,}" for size, spent in per_node.items())
        what = f"time per node from {min(per_node):,} to {max(per_node):,} nodes"
        figures.append(Figure(what, uneven, "times the fastest", MOST_UNEVEN, reason=times))
    return figures


def profile(size: int, form: str, lines: int = 40) -> None:
    """Prints the hottest functions of a compilation."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        lowerings()
        pipeline(in_format(write_model(12, directory), form), directory / "warm.onnx")
        path = in_format(write_model(size, directory), form)
        profiler = cProfile.Profile()
        profiler.runcall(pipeline, path, directory / "model.onnx")
        pstats.Stats(profiler).sort_stats("tottime").print_stats(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description="Measures compile time.")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), metavar="N", help="numbers of nodes")
    parser.add_argument(
        "--formats", choices=list(FORMATS), nargs="+", default=list(FORMATS), help=f"others: {COMPARED_SIZE} nodes only"
    )
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="processes per size (default: 3)")
    parser.add_argument("--profile", action="store_true", help="show the hottest functions instead")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--no-floor", action="store_true", help=argparse.SUPPRESS)
    add_option(parser)
    options = parser.parse_args()
    if options.measure is not None:
        print(json.dumps(measure(options.measure, options.formats[0], floor=not options.no_floor)))
    elif options.profile:
        for size in options.sizes:
            profile(size, options.formats[0])
    else:
        figures = measured_table(options.sizes, options.repeat, options.formats)
        code = report(figures, options.json)
        for form in options.formats:
            if any(item.what.startswith(form) and not item.is_met for item in figures):
                print(f"\nprofile of {form} with {COMPARED_SIZE:,} nodes:")
                profile(COMPARED_SIZE, form, 20)
        return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
