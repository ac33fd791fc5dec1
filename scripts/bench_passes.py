"""Effect of passes: networks at each optimization level, with single passes disabled, and written by hand.

    python scripts/bench_passes.py [--only quantised] [--seconds 6] [--json FILE]

Runs of all models of a network are interleaved; times are medians. Results are compared first: those of ``-O0`` and
``-O1`` bit by bit, those of ``-O2`` and of the handwritten network within its tolerance. The row of a pass shows the
time without it.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterator

import numpy as np
import onnx
from _figures import Figure, add_option, interleaved, report
from _networks import OPSET, Array, Network, networks, parsed
from bench_networks import Run, compare, in_session

import dml2onnx
from dml2onnx.builder import GraphBuilder, ScaleBias
from dml2onnx.passes import chosen

LEVELS = (0, 1, 2)
LIMIT = 1.02
"""Limit on the time relative to the model without passes."""


def _image_network() -> Network:
    """Convolutions as converters produce them, with separate nodes for padding, scale and normalisation."""
    rng = np.random.default_rng(41)
    channels, pixels = (3, 32, 64), 96
    weights: dict[str, Array] = {}
    for i in (1, 2):
        shape = (channels[i], channels[i - 1], 3, 3)
        weights[f"f{i}"] = rng.normal(0, 0.2, shape).astype(np.float32)
        for part in ("mean", "variance", "scale", "bias"):
            weights[f"{part}{i}"] = rng.uniform(0.5, 1.5, channels[i]).astype(np.float32)
    feeds: dict[str, Array] = {"x": rng.uniform(0, 255, (1, 3, pixels, pixels)).astype(np.float32)}
    g = GraphBuilder()
    x = g.identity(g.input("x", "FLOAT32", feeds["x"].shape), scale_bias=ScaleBias(1 / 128, -1))
    for i in (1, 2):
        margin = (0, 0, 1, 1)
        x = g.convolution(g.padding(x, "CONSTANT", 0, margin, margin), g.constant(weights[f"f{i}"]))
        parts = [
            g.constant(weights[f"{part}{i}"].reshape(1, -1, 1, 1)) for part in ("mean", "variance", "scale", "bias")
        ]
        mean, variance, scale, bias = parts
        x = g.activation_relu(g.batch_normalization(x, mean, variance, scale, bias, True, 1e-5))
        x = g.max_pooling0(g.padding(x, "CONSTANT", 0, margin, margin), [3, 3], [2, 2])
    side = pixels // 4
    text = f"""net (float[1,3,{pixels},{pixels}] x) => (float[1,{channels[2]},{side},{side}] y) {{
        m = Mul (x, factor)
        a = Add (m, term)
        c1 = Conv <pads = [1, 1, 1, 1]> (a, f1)
        b1 = BatchNormalization <epsilon = 1e-5> (c1, scale1, bias1, mean1, variance1)
        r1 = Relu (b1)
        p1 = MaxPool <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]> (r1)
        c2 = Conv <pads = [1, 1, 1, 1]> (p1, f2)
        b2 = BatchNormalization <epsilon = 1e-5> (c2, scale2, bias2, mean2, variance2)
        r2 = Relu (b2)
        y = MaxPool <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]> (r2)
    }}"""
    extra: dict[str, Array] = {"factor": np.array(1 / 128, np.float32), "term": np.array(-1, np.float32)}
    return Network(
        "images, margins and scales apart", g.build({"y": x}), parsed(text, {**weights, **extra}), feeds, weights, None
    )


def rows() -> Iterator[Network]:
    """The networks of ``bench_networks.py`` and the unfused image network."""
    yield _image_network()
    yield from networks()


def models(network: Network) -> dict[str, bytes]:
    """The network at each level, and without each pass that changes it."""
    compiled = {f"-O{level}": _compiled(network, level) for level in LEVELS}
    for item in chosen(2):
        level = 1 if item in chosen(1) else 2
        without = _compiled(network, level, [item.name])
        if without != compiled[f"-O{level}"]:
            compiled[f"-O{level} --no-pass {item.name}"] = without
    return compiled


def _compiled(network: Network, level: int, without: list[str] | None = None) -> bytes:
    return dml2onnx.compile(network.graph, opset=OPSET, optimize=level, without_passes=without or []).serialize()


def require_same_bits(one: Run, other: Run) -> None:
    """Raises ``AssertionError`` if ``-O1`` changes any bit."""
    first, second = one(), other()
    for name, value in first.items():
        assert value.numpy().tobytes() == second[name].numpy().tobytes(), f"{name} is not the same with -O1"


def measure(sides: dict[str, Run], seconds: float) -> dict[str, float]:
    """The median time of each, in milliseconds."""
    times = interleaved(sides, seconds)
    return {who: 1e3 * statistics.median(each) for who, each in times.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description="Measures the effect of the passes of each level.")
    parser.add_argument("--only", metavar="TEXT", default="", help="only networks whose names contain this text")
    parser.add_argument("--seconds", type=float, default=6.0, help="spent on each network (default: %(default)s)")
    add_option(parser)
    options = parser.parse_args()
    figures = []
    print(f"{'network':<52}{'nodes':>7}{'ms':>9}{'of hand':>9}")
    for network in rows():
        if options.only not in network.name:
            continue
        compiled = models(network)
        sides = {who: in_session(model, network.feeds) for who, model in compiled.items()}
        sides["by hand"] = in_session(network.by_hand.SerializeToString(), network.feeds)
        compare(network, {who: run() for who, run in sides.items()})
        require_same_bits(sides["-O0"], sides["-O1"])
        times = measure(sides, options.seconds)
        print(network.name)
        for who, spent in times.items():
            proto = network.by_hand if who == "by hand" else onnx.ModelProto.FromString(compiled[who])
            ratio = spent / times["by hand"]
            print(f"    {who:<48}{len(proto.graph.node):>7}{spent:9.3f}{ratio:9.2f}", flush=True)
        gain = times["-O1"] / times["-O0"]
        counts = [len(onnx.ModelProto.FromString(compiled[level]).graph.node) for level in ("-O1", "-O0")]
        reason = "{} nodes, {} with -O0".format(*counts)
        figures.append(Figure(f"{network.name}, -O1", gain, "times -O0", LIMIT, reason=reason))
    return report(figures, options.json)


if __name__ == "__main__":
    sys.exit(main())
