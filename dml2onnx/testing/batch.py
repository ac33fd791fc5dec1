"""Compiles many small graphs into one model, which loads faster than one model for each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dml2onnx.compiler import compile_outputs
from dml2onnx.ir.graph import Graph
from dml2onnx.reference import evaluate_results
from dml2onnx.targets import DEFAULT_OPSET
from dml2onnx.testing.trial import differences, feeds_of_ports, trial

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dml2onnx.compiler import CompiledModel
    from dml2onnx.onnx_model import Array, Port


def trials(cases: Sequence[tuple[Graph, int]], opset: int = DEFAULT_OPSET) -> list[str]:
    """What :func:`~dml2onnx.testing.trial.trial` says of each graph and its seed.

    They are compiled and run as one graph of separate parts, each with the contents that it has alone, and compared
    one by one. Where anything is wrong, all are tried alone; if none of them is wrong then, it is their neighbours
    that they do not bear, and the sentence of each says so.
    """
    together = _together(cases, opset)
    if not any(together):
        return together
    alone = [trial(graph, seed, opset) for graph, seed in cases]
    if any(alone):
        return alone
    return [problem and f"only beside others: {problem}" for problem in together]


def _together(cases: Sequence[tuple[Graph, int]], opset: int) -> list[str]:
    joint = beside([graph for graph, _ in cases])
    try:
        model = compile_outputs(joint, joint.outputs, opset=opset)
        feeds: dict[str, Array] = {}
        for index, (_, seed) in enumerate(cases):
            feeds |= feeds_of_ports(_own(model.inputs, index), seed)
        got = _run(model, feeds)
    except Exception as error:
        return [f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"] * len(cases)
    found = []
    for index, (graph, _) in enumerate(cases):
        prefix = _prefix(index)
        supplied = {item.name: feeds[prefix + item.name] for item in graph.inputs}
        try:
            want = {prefix + name: result for name, result in evaluate_results(graph, supplied).items()}
        except Exception as error:
            found.append(f"{type(error).__name__}: {' '.join(str(error).split())[:300]}")
            continue
        found.append(differences(_own(model.outputs, index), got, want))
    return found


def _run(model: CompiledModel, feeds: dict[str, Array]) -> dict[str, Array]:
    """``model.run(feeds)`` without threads, which take longer to start than anything here does to run."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.serialize(), options, providers=["CPUExecutionProvider"])
    supplied = {port.onnx_name: feeds[port.name] for port in model.inputs}
    results = session.run([port.onnx_name for port in model.outputs], supplied)
    return model.finish(dict(zip([port.name for port in model.outputs], results, strict=True)))


def beside(graphs: Sequence[Graph]) -> Graph:
    """One graph of several that have nothing to do with each other: names get the number of their graph."""
    parts = [(_prefix(index), graph) for index, graph in enumerate(graphs)]
    return Graph(
        tuple(replace(node, name=prefix + node.name) for prefix, graph in parts for node in graph.nodes),
        tuple(replace(item, name=prefix + item.name) for prefix, graph in parts for item in graph.inputs),
        tuple(replace(item, name=prefix + item.name) for prefix, graph in parts for item in graph.outputs),
        tuple(item for graph in graphs for item in graph.constants),
    )


def _prefix(index: int) -> str:
    return f"{index}/"


def _own(ports: Sequence[Port], index: int) -> list[Port]:
    return [port for port in ports if port.name.startswith(_prefix(index))]
