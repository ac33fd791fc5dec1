"""Overhead per call of ``Session.run`` and of a bound session over raw ``InferenceSession.run``.

    python scripts/bench_sessions.py [--inputs 1 4 16] [--json FILE]

The model adds small inputs, so nearly all of its time is call overhead. Rounds of the three are interleaved; the figure
is the smallest of many rounds, in microseconds per call.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import onnxruntime
from _figures import Figure, add_option, report

import dml2onnx
from dml2onnx.runtime import open_session

CALLS, ROUNDS = 1000, 15
LIMIT = 5.0
"""Limit on the overhead of ``Session.run``, in microseconds per input."""


def model(count: int) -> dml2onnx.CompiledModel:
    """The sum of ``count`` inputs of 64 elements."""
    g = dml2onnx.GraphBuilder()
    inputs = [g.input(f"x{index}", "FLOAT32", [1, 1, 8, 8]) for index in range(count)]
    total = inputs[0]
    for item in inputs[1:]:
        total = g.add(total, item)
    return dml2onnx.compile(g.build({"y": g.activation_relu(total)}))


def microseconds(calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The shortest time of each call."""
    least = dict.fromkeys(calls, float("inf"))
    for _ in range(ROUNDS):
        for name, call in calls.items():
            started = time.perf_counter()
            for _ in range(CALLS):
                call()
            least[name] = min(least[name], 1e6 * (time.perf_counter() - started) / CALLS)
    return least


def main() -> int:
    parser = argparse.ArgumentParser(description="Measures calls of sessions against those of ONNX Runtime.")
    parser.add_argument("--inputs", type=int, nargs="*", default=[1, 4, 16], help="of the model (default: %(default)s)")
    add_option(parser)
    options = parser.parse_args()
    print(f"ONNX Runtime {onnxruntime.__version__}, microseconds for one call")
    print(f"{'inputs':>6}{'raw':>9}{'session':>9}{'each':>7}{'bound':>9}")
    figures = []
    for count in options.inputs:
        compiled = model(count)
        feeds = {f"x{index}": np.ones((1, 1, 8, 8), np.float32) for index in range(count)}
        raw, session = open_session(compiled.serialize()), compiled.session()
        bound = session.bind(feeds)
        calls: dict[str, Callable[[], object]] = {
            "raw": partial(raw.run, None, feeds),
            "session": partial(session.run, feeds),
            "bound": bound.run,
        }
        found = microseconds(calls)
        each = (found["session"] - found["raw"]) / count
        what = f"a call with {count} {'input' if count == 1 else 'inputs'}, for each"
        reason = f"ONNX Runtime's own call takes {found['raw']:.0f}"
        figures.append(Figure(what, each, "microseconds beyond ONNX Runtime's", LIMIT, reason=reason))
        share = found["bound"] / found["raw"]
        figures.append(Figure("the same bound", share, "times ONNX Runtime's call", 1.0))
        print(f"{count:>6}{found['raw']:>9.1f}{found['session']:>9.1f}{each:>7.1f}{found['bound']:>9.1f}", flush=True)
    return report(figures, options.json)


if __name__ == "__main__":
    sys.exit(main())
