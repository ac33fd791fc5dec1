"""Compiles, runs and compares one graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dml2onnx.compiler import CompiledModel, compile_outputs
from dml2onnx.ir.graph import Graph
from dml2onnx.onnx_model import Array, OnnxPort
from dml2onnx.reference import Result, disagreements, evaluate_results
from dml2onnx.targets import DEFAULT_OPSET, DEFAULT_TARGET, EXACT_TARGET
from dml2onnx.verification.contents import random_array
from dml2onnx.verification.indices import within

EXTREME_EVERY = 4
"""Every fourth seed has extreme contents."""


def feeds_of(model: CompiledModel, seed: int) -> dict[str, Array]:
    """Random contents of all inputs."""
    return feeds_of_ports(model.inputs, seed)


def feeds_of_ports(ports: Sequence[OnnxPort], seed: int) -> dict[str, Array]:
    """Random contents of some inputs."""
    random = np.random.default_rng(seed)
    extremes = seed % EXTREME_EVERY == EXTREME_EVERY - 1
    return {port.name: random_array(port, random, extremes=extremes) for port in ports}


def trial(graph: Graph, seed: int, opset: int = DEFAULT_OPSET, *, exact: bool = True) -> str:
    """The problem with the results of a valid graph's model; ``""`` if there is none.

    An ``exact`` model must match everything that the reference specifies. The default one must match what it promises,
    with indices in range, and may accumulate FLOAT16 in FLOAT16.
    """
    target = EXACT_TARGET if exact else DEFAULT_TARGET
    try:
        model = compile_outputs(graph, graph.outputs, opset=opset, target=target, exact=exact)
        feeds = feeds_of(model, seed) if exact else within(graph, feeds_of(model, seed))
        got = model.run(feeds)
        want = evaluate_results(graph, feeds, exact=exact)
    except Exception as error:
        return sentence(error)
    return differences(model.outputs, got, want, half_accumulation=not exact)


def sentence(error: Exception) -> str:
    """An exception in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def differences(
    ports: Sequence[OnnxPort], got: Mapping[str, Array], want: Mapping[str, Result], *, half_accumulation: bool = False
) -> str:
    """The first mismatch of an output; ``""`` if all match."""
    for port in ports:
        wrong = disagreements(got[port.name], want[port.name], port.desc.data_type, half_accumulation)
        if wrong.any():
            at = tuple(int(axis[0]) for axis in np.nonzero(wrong))
            expected = want[port.name].values[at]
            return f"{port.name}{list(at)} is {got[port.name][at]}, not {expected} ({wrong.sum()} of {wrong.size})"
    return ""
