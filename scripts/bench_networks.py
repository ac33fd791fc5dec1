"""How long whole networks run: compiled, as ONNX written by hand, and in PyTorch, each on one thread.

    python scripts/bench_networks.py [--only decoder] [--opset 23] [--recorded DIR] [--squeezenet FILE] [--json FILE]

Compiled by default and with ``--target cpu``. All take turns, one run each, so that whatever else the machine does is
shared; ratios are those of the fastest runs. PyTorch is left out where it is not installed. ``--recorded`` adds
the super-resolution network and yolov4, of which the directory has recordings, ``--squeezenet`` a program. Before
anything is measured the answers are compared.
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
"""Time spent on each network."""
LEAST_ROUNDS = 30
MOST = 1.02
"""What is promised: so much of the time of ONNX that is written by hand."""
MOST_TUNED = 1.0
"""The same of models for the CPU provider, where a kernel of it is slow."""


class Output(Protocol):
    """What both ONNX Runtime and PyTorch give."""

    def numpy(self) -> Array: ...


Run = Callable[[], Mapping[str, Output]]


def in_session(model: bytes, feeds: Mapping[str, Array]) -> Run:
    """A function that runs a model once on ONNX Runtime, inputs and outputs bound.

    Sessions ask for exact products of bytes, as those of dml2onnx do. Without VNNI, ONNX Runtime otherwise adds
    products of UINT8 and INT8 in 16 bits, which is faster and gives wrong numbers.
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
    """The same in PyTorch, if it is installed and the network is drawn there."""
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
    """Raises ``AssertionError`` where the answers are not those of the model by hand."""
    wanted = in_session(network.by_hand.SerializeToString(), network.feeds)()
    for who, given in results.items():
        if who == "by hand":
            continue
        for name, want in wanted.items():
            expected = np.asarray(want.numpy(), np.float64).reshape(-1)
            got = np.asarray(given[name].numpy(), np.float64).reshape(-1)
            apart = float(np.abs(got - expected).max() / max(float(np.abs(expected).max()), 1e-30))
            assert apart <= network.tolerance, f"{network.name}, {name}: {who} is {apart} away"


def measure(network: Network, opset: int, seconds: float = SECONDS) -> tuple[dict[str, float], int]:
    """Milliseconds of the fastest run of each side, and the number of nodes of the compiled model."""
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
    """The networks whose names have ``only``, those recorded in a directory and SqueezeNet's program among them."""
    yield from (network for network in networks() if only in network.name)
    if directory is not None:
        yield from recorded(directory, only)
    if program is not None and only in "SqueezeNet":
        yield squeezenet(program)


def figures_of(network: Network, times: Mapping[str, float], nodes: int) -> list[Figure]:
    """The default model and the one for the CPU provider beside the one by hand."""
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
    parser.add_argument("--only", metavar="TEXT", default="", help="networks whose names have it")
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
