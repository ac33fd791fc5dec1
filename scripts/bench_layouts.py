"""Run times of networks in packed and in NHWC memory, compared with handwritten ONNX, on one thread.

    python scripts/bench_layouts.py [--squeezenet MODEL.json] [--seconds 6] [--json FILE]

Runs of a network's variants are interleaved in random order; ratios compare the first deciles of the times. Results
are compared first. ``--squeezenet`` adds a packed DxDispatch program with one input picture, also with NHWC strides.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from _figures import Figure, add_option, interleaved, report
from _layouts import networks
from _networks import Array, Network
from bench_networks import Run, in_session

import dml2onnx
from dml2onnx.ir.graph import Graph, Node, Value
from dml2onnx.ir.operator import FieldValue, OperatorDesc
from dml2onnx.ir.tensor import TensorDesc

MOST_BY_HAND = 1.02
"""Limit on the time relative to handwritten ONNX."""
MOST_PACKED = 1.10
"""Limit on the time relative to the packed network."""


def in_nhwc(graph: Graph) -> Graph:
    """The graph with NHWC strides for everything but constants."""
    constants = {item.value for item in graph.constants}
    nodes = tuple(replace(node, operator=_with_strides(node, constants)) for node in graph.nodes)
    outputs = tuple(replace(item, desc=_interleaved(item.desc)) for item in graph.outputs)
    inputs = tuple(
        replace(item, default=None, desc=None if item.desc is None else _interleaved(item.desc))
        for item in graph.inputs
    )
    return replace(graph, nodes=nodes, inputs=inputs, outputs=outputs, results=(), effects=())


def _with_strides(node: Node, constants: set[Value]) -> OperatorDesc:
    op, changed = node.operator, dict[str, FieldValue]()
    values = {name: [item.value for item in items] for name, items in node.reads.items()}
    values |= {name: [item.value for item in items] for name, items in node.writes.items()}
    for name, seen in values.items():
        pairs = zip(seen, op.tensors(name), strict=True)
        descs = tuple(desc if value in constants else _interleaved(desc) for value, desc in pairs)
        changed[name] = descs[0] if isinstance(op.get(name), TensorDesc) else descs
    return OperatorDesc(op.schema, tuple(changed.get(item.name, value) for item, value in op.items()))


def _interleaved(desc: TensorDesc) -> TensorDesc:
    if desc.rank != 4 or desc.strides is not None:
        return desc
    _, c, h, w = desc.sizes
    return replace(desc, strides=(c * h * w, 1, w * c, c))


def squeezenet(path: str) -> dict[str, tuple[Run, int]]:
    """The program packed and in NHWC, each with its number of ONNX nodes."""
    packed = replace(dml2onnx.load(path), results=(), effects=())
    found = {}
    for memory, graph in (("packed", packed), ("NHWC", in_nhwc(packed))):
        model = dml2onnx.compile(graph)
        (port,) = model.inputs
        picture = np.random.default_rng(0).normal(size=port.desc.sizes).astype(port.dtype)
        fed = picture if memory == "packed" else picture.transpose(0, 2, 3, 1)
        feeds = {port.onnx_name: np.ascontiguousarray(fed).reshape(port.shape)}
        found[f"SqueezeNet, {memory}"] = (in_session(model.serialize(), feeds), model.node_count)
    return found


def sides_of(several: list[Network]) -> dict[str, tuple[Run, int]]:
    """Each network compiled and by hand, each with its number of ONNX nodes."""
    found = {}
    for network in several:
        model = dml2onnx.compile(network.graph)
        found[network.name] = (in_session(model.serialize(), network.feeds), model.node_count)
        by_hand = in_session(network.by_hand.SerializeToString(), network.feeds)
        found[f"{network.name}, by hand"] = (by_hand, len(network.by_hand.graph.node))
    return found


def require_equal(sides: Mapping[str, tuple[Run, int]]) -> None:
    """Raises ``AssertionError`` if results differ."""
    want: Array | None = None
    for name, (run, _) in sides.items():
        (value,) = run().values()
        got = np.asarray(value.numpy(), np.float64)  # an OrtValue
        if got.ndim == 4 and "NHWC" in name and got.size != max(got.shape):
            got = got.transpose(0, 3, 1, 2)
        got = got.reshape(-1)
        want = got if want is None else want
        apart = float(np.abs(got - want).max() / np.abs(want).max())
        assert apart <= 1e-4, f"{name} differs by {apart}"


def measure(sides: Mapping[str, tuple[Run, int]], seconds: float) -> dict[str, float]:
    """The first decile of the times of each, in milliseconds."""
    require_equal(sides)
    times = interleaved({name: run for name, (run, _) in sides.items()}, seconds)
    return {name: 1e3 * float(np.quantile(each, 0.1)) for name, each in times.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description="Measures networks in packed memory and in NHWC.")
    parser.add_argument("--squeezenet", metavar="MODEL.json", help="a DxDispatch program of SqueezeNet")
    parser.add_argument("--seconds", type=float, default=6.0, help="for each network (default: %(default)s)")
    add_option(parser)
    options = parser.parse_args()
    print(f"{'network':<24}{'nodes':>7}{'hand':>6}{'ms':>9}{'by hand':>9}{'ratio':>7}{'to packed':>11}")
    groups = [sides_of(several) for several in networks()]
    if options.squeezenet:
        groups.append(squeezenet(options.squeezenet))
    figures = []
    for sides in groups:
        times = measure(sides, options.seconds)
        packed = next(iter(times.values()))
        for name, (_, nodes) in sides.items():
            if name.endswith("by hand"):
                continue
            text, hand = f"{name:<24}{nodes:>7}", f"{name}, by hand"
            ratio = times[name] / times[hand] if hand in times else 0.0
            if hand in times:
                reason = f"{nodes} nodes, {sides[hand][1]} by hand"
                figures.append(Figure(name, ratio, "times ONNX by hand", MOST_BY_HAND, reason=reason))
            if times[name] != packed:
                reason = f"{nodes} nodes, {next(iter(sides.values()))[1]} packed"
                figures.append(Figure(name, times[name] / packed, "times packed", MOST_PACKED, reason=reason))
            text += f"{sides[hand][1]:>6}" if hand in times else f"{'':>6}"
            text += f"{times[name]:9.3f}"
            text += f"{times[hand]:9.3f}{ratio:7.2f}" if hand in times else f"{'':>16}"
            print(f"{text}{times[name] / packed:11.2f}", flush=True)
    return report(figures, options.json)


if __name__ == "__main__":
    sys.exit(main())
