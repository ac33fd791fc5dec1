"""Compiles many small graphs into one model, which loads faster than one model each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dml2onnx.compiler import CompiledModel, compile_outputs
from dml2onnx.ir.graph import Graph
from dml2onnx.onnx_model import Array, OnnxPort
from dml2onnx.reference import evaluate_results
from dml2onnx.targets import DEFAULT_OPSET
from dml2onnx.test_cases.trial import differences, feeds_of_ports, sentence, trial


def trials(cases: Sequence[tuple[Graph, int]], opset: int = DEFAULT_OPSET) -> list[str]:
    """The result of :func:`~dml2onnx.test_cases.trial.trial` for each graph and its seed.

    The graphs are compiled and run as independent parts of one graph. After a failure each runs alone; if none fails
    then, their problems say that they only fail together.
    """
    together = _together(cases, opset)
    if not any(together):
        return together
    alone = [trial(graph, seed, opset) for graph, seed in cases]
    if any(alone):
        return alone
    return [problem and f"only together with others: {problem}" for problem in together]


def _together(cases: Sequence[tuple[Graph, int]], opset: int) -> list[str]:
    joint = beside([graph for graph, _ in cases])
    try:
        model = compile_outputs(joint, joint.outputs, opset=opset)
        feeds: dict[str, Array] = {}
        for index, (_, seed) in enumerate(cases):
            feeds |= feeds_of_ports(_own(model.inputs, index), seed)
        got = _run(model, feeds)
    except Exception as error:
        return [sentence(error)] * len(cases)
    found = []
    for index, (graph, _) in enumerate(cases):
        prefix = _prefix(index)
        supplied = {item.name: feeds[prefix + item.name] for item in graph.inputs}
        try:
            want = {prefix + name: result for name, result in evaluate_results(graph, supplied).items()}
        except Exception as error:
            found.append(sentence(error))
            continue
        found.append(differences(_own(model.outputs, index), got, want))
    return found


def _run(model: CompiledModel, feeds: dict[str, Array]) -> dict[str, Array]:
    """``model.run(feeds)`` without threads, which take longer to start than small models to run."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.serialize(), options, providers=["CPUExecutionProvider"])
    supplied = {port.onnx_name: feeds[port.name] for port in model.inputs}
    results = session.run([port.onnx_name for port in model.outputs], supplied)
    return model.finish(dict(zip([port.name for port in model.outputs], results, strict=True)))


def beside(graphs: Sequence[Graph]) -> Graph:
    """Several independent graphs as one; names get the number of their graph as a prefix."""
    parts = [(_prefix(index), graph) for index, graph in enumerate(graphs)]
    return Graph(
        tuple(replace(node, name=prefix + node.name) for prefix, graph in parts for node in graph.nodes),
        tuple(replace(item, name=prefix + item.name) for prefix, graph in parts for item in graph.inputs),
        tuple(replace(item, name=prefix + item.name) for prefix, graph in parts for item in graph.outputs),
        tuple(item for graph in graphs for item in graph.constants),
    )


def _prefix(index: int) -> str:
    return f"{index}/"


def _own(ports: Sequence[OnnxPort], index: int) -> list[OnnxPort]:
    return [port for port in ports if port.name.startswith(_prefix(index))]
