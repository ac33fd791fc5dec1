"""Run times of whole networks: compiled, as handwritten ONNX, and in PyTorch, on one thread.

    python scripts/bench_networks.py [--only decoder] [--opset 23] [--recorded DIR] [--squeezenet FILE] [--json FILE]

Networks are compiled with default options and with ``--target cpu``. Single runs are interleaved; ratios compare the
fastest runs. PyTorch is skipped if it is not installed. ``--recorded`` adds recordings of the super-resolution network
and yolov4, ``--squeezenet`` a DxDispatch program. Results are compared first.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import onnxruntime
from _figures import Figure, add_option, interleaved, report
from _networks import OPSET, Array, Network, networks
from _recorded import recorded, squeezenet

import dml2onnx

SECONDS = 6.0
"""Measuring time for each network."""
LEAST_ROUNDS = 30
MOST = 1.02
"""Limit on the time relative to handwritten ONNX."""
MOST_TUNED = 1.0
"""The same for models for the CPU provider, if one of its kernels is slow."""


class Output(Protocol):
    """The common interface of OrtValue and torch.Tensor."""

    def numpy(self) -> Array: ...


Run = Callable[[], Mapping[str, Output]]


def in_session(model: bytes, feeds: Mapping[str, Array]) -> Run:
    """Returns a function that runs a model once on ONNX Runtime with bound inputs and outputs.

    Sessions enable exact 8-bit products, as dml2onnx does. Without VNNI, ONNX Runtime otherwise accumulates products of
    UINT8 and INT8 in 16 bits, which is faster but wrong.
    """
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.x64quantprecision", "1")
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, ["CPUExecutionProvider"])
    binding = session.io_binding()
    for item in session.get_inputs():
        value = onnxruntime.OrtValue.ortvalue_from_numpy(feeds[item.name].reshape(item.shape))
        binding.bind_ortvalue_input(item.name, value)
    for item in session.get_outputs():
        binding.bind_output(item.name)
    names = [item.name for item in session.get_outputs()]

    def run() -> Mapping[str, Output]:
        session.run_with_iobinding(binding)
        return dict(zip(names, binding.get_outputs(), strict=True))

    return run


def in_torch(network: Network) -> Run | None:
    """The same in PyTorch, or None if it is not installed or the network has no PyTorch version."""
    if network.eager is None or importlib.util.find_spec("torch") is None:
        return None
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    w, fed = ({k: torch.from_numpy(v) for k, v in arrays.items()} for arrays in (network.weights, network.feeds))
    inner = network.eager(torch, w, fed)

    def run() -> Mapping[str, Output]:
        with torch.no_grad():
            return inner()

    return run


def compare(network: Network, results: Mapping[str, Mapping[str, Any]]) -> None:
    """Raises ``AssertionError`` if results differ from those of the handwritten model."""
    wanted = in_session(network.by_hand.SerializeToString(), network.feeds)()
    for who, outputs in results.items():
        if who == "by hand":
            continue
        for name, want in wanted.items():
            expected = np.asarray(want.numpy(), np.float64).reshape(-1)
            got = np.asarray(outputs[name].numpy(), np.float64).reshape(-1)
            apart = float(np.abs(got - expected).max() / max(float(np.abs(expected).max()), 1e-30))
            assert apart <= network.tolerance, f"{network.name}, {name}: {who} differs by {apart}"


def measure(network: Network, opset: int, seconds: float = SECONDS) -> tuple[dict[str, float], int]:
    """The fastest run of each side in milliseconds, and the number of nodes of the compiled model."""
    model = dml2onnx.compile(network.graph, opset=opset)
    tuned = dml2onnx.compile(network.graph, opset=opset, target="cpu")
    assert all(port.name == port.onnx_name for port in (*model.inputs, *model.outputs))
    sides: dict[str, Run] = {
        "compiled": in_session(model.serialize(), network.feeds),
        "cpu": in_session(tuned.serialize(), network.feeds),
        "by hand": in_session(network.by_hand.SerializeToString(), network.feeds),
    }
    eager = in_torch(network)
    if eager is not None:
        sides["PyTorch"] = eager
    compare(network, {who: run() for who, run in sides.items()})
    times = interleaved(sides, seconds, LEAST_ROUNDS)
    return {who: 1e3 * min(each) for who, each in times.items()}, model.node_count


def chosen(only: str, directory: Path | None, program: Path | None = None) -> Iterator[Network]:
    """Yields the networks whose names contain ``only``, including recordings and SqueezeNet's program."""
    yield from (network for network in networks() if only in network.name)
    if directory is not None:
        yield from recorded(directory, only)
    if program is not None and only in "SqueezeNet":
        yield squeezenet(program)


def figures_of(network: Network, times: Mapping[str, float], nodes: int) -> list[Figure]:
    """The default model and the one for the CPU provider, relative to handwritten ONNX."""
    reason = network.reason or f"{nodes} nodes, {len(network.by_hand.graph.node)} by hand"
    unit, by_hand = "times ONNX by hand", times["by hand"]
    return [
        Figure(network.name, times["compiled"] / by_hand, unit, MOST, reason=reason),
        Figure(
            f"{network.name}, --target cpu", times["cpu"] / by_hand, f"{unit}, for the CPU provider",
            MOST_TUNED if network.slow else None, reason=network.slow,
        ),
    ]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description="Measures whole networks against ONNX by hand and PyTorch.")
    parser.add_argument("--only", metavar="TEXT", default="", help="only networks whose names contain this text")
    parser.add_argument("--opset", type=int, default=OPSET, help="of the compiled model (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for each network (default: %(default)s)")
    parser.add_argument("--recorded", type=Path, metavar="DIRECTORY", help="recordings of C++ programs")
    parser.add_argument("--squeezenet", type=Path, metavar="MODEL.json", help="a DxDispatch program of SqueezeNet")
    add_option(parser)
    options = parser.parse_args()
    print(f"{'network':<34}{'nodes':>7}{'hand':>6}{'by hand ms':>12}{'compiled':>10}{'for cpu':>9}{'PyTorch':>9}")
    figures = []
    for network in chosen(options.only, options.recorded, options.squeezenet):
        times, nodes = measure(network, options.opset, options.seconds)
        figures += figures_of(network, times, nodes)
        ratios = "".join(
            f"{times[who] / times['by hand']:{width}.2f}"
            for who, width in (("compiled", 10), ("cpu", 9), ("PyTorch", 9))
            if who in times
        )
        counts = f"{nodes:>7}{len(network.by_hand.graph.node):>6}"
        print(f"{network.name:<34}{counts}{times['by hand']:12.3f}{ratios}", flush=True)
    return report(figures, options.json)


if __name__ == "__main__":
    sys.exit(main())
