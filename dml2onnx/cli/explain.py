"""``dml2onnx explain MODEL``: the ONNX nodes of each DirectML node, with reasons, as far as the model compiles."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dml2onnx.cli.lazily import answers, checks, compiler, ir_graph, passes, report_reasons, resizing
from dml2onnx.cli.models import compile_options, load_model
from dml2onnx.cli.sizes import cells, dimensions, sizes_of_inputs
from dml2onnx.diagnostics import DmlError, quote, raise_errors
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.report.sizes import InputDimension

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable

    from dml2onnx.cli.render import Screen
    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.ir.graph import Graph, Node, Value
    from dml2onnx.onnx_model import Origin
    from dml2onnx.report.answers import ExplainedNode


def explain_model_command(options: argparse.Namespace, screen: Screen) -> int:
    """Says what each node of a model becomes."""
    graph = load_model(options, screen, frozenset(options.input))
    if graph.named_sizes:
        return _explain_sizes(graph, options, screen)
    with screen.counting("compiling") as progress:
        traces, failures = _explained(graph, options, progress)
    descs = {node.name: node.operator for node in graph.nodes}
    known = [
        answers.ExplainedNode(
            item.node,
            item.operator,
            item.operators,
            item.notes or report_reasons.reasons(descs[item.node], item.operators, exact=options.exact),
        )
        for item in traces
    ]
    others = [
        answers.ExplainedNode(node.name, node.operator.type, None, (why,)) for node, why in _left_out(graph, failures)
    ]
    answer = _answer(options, diagnostics=tuple(failures), nodes=(*known, *others))
    if screen.answered(answer):
        return 1 if failures else 0
    rows = [(item.node, item.operator, _became(item), "; ".join(item.notes)) for item in answer.nodes]
    screen.table(["DirectML node", "operator", "ONNX nodes", "why"], rows)
    screen.diagnostics(answer.diagnostics)
    return 1 if failures else 0


def _answer(options: argparse.Namespace, **said: Any) -> answers.ExplainAnswer:
    names = tuple(item.name for item in passes.chosen(options.optimize, options.without_passes))
    return answers.ExplainAnswer(opset=options.opset, target=options.target, half=options.half, passes=names, **said)


def _explain_sizes(graph: Graph, options: argparse.Namespace, screen: Screen) -> int:
    """Says the sizes of every tensor in names, and which sizes of inputs are free, tied or fixed."""
    raise_errors(checks.check(graph))
    with screen.working("looking at sizes"):
        inputs = _sizes_of_inputs(graph)
    sized = resizing.named(graph.without_names(), graph.named_sizes)
    shown = sized.shown
    tensors = [
        answers.SizedTensor(
            node.name,
            node.operator.type,
            name if isinstance(node.operator.get(name), TensorDesc) else f"{name}[{index}]",
            tuple(shown(size) for size in view.sizes),
        )
        for node, found in sized.traced.nodes.items()
        for (name, index), view in found.views.items()
    ]
    answer = _answer(options, diagnostics=(), nodes=(), tensors=tuple(tensors), dimensions=tuple(inputs))
    if screen.answered(answer):
        return 0
    named_rows = [(input_name, i, row.name, *rest) for row in inputs for input_name, i, *rest in (cells(row),)]
    screen.table(["input", ">dimension", "name", ">size", "may be", "because"], named_rows)
    screen.say("")
    rows = [(item.node, item.operator, item.tensor, " × ".join(item.sizes)) for item in answer.tensors]
    screen.table(["DirectML node", "operator", "tensor", "sizes"], rows)
    return 0


def _sizes_of_inputs(graph: Graph) -> list[InputDimension]:
    """Every dimension of the inputs that ``--size`` names, and those of others that follow."""
    written, asked = graph.without_names(), graph.named_sizes
    known = sizes_of_inputs(written)
    sized = resizing.named(written, asked)
    names = {f"{name}[{i}]": str(size) for name, sizes in asked.items() for i, size in enumerate(sizes)}

    def in_names(text: str) -> str:
        for place, name in names.items():
            text = text if name.isdigit() else text.replace(place, name)
        return text

    found = [
        replace(
            row, name=names[f"{row.input}[{row.dimension}]"], follows=in_names(row.follows), reason=in_names(row.reason)
        )
        for row in dimensions(written, {name: known[name] for name in asked})
    ]
    solver = sized.traced.solver
    for name, (_, view) in sized.traced.inputs.items():
        for i, size in enumerate(view.sizes):
            symbol = size.expr.symbol
            if name in asked or symbol is None or solver.resolved(size.expr).number is not None:
                continue
            tie = solver.ties.get(symbol)
            why = ("", "", "") if tie is None else (tie.place.node, tie.place.operator, tie.place.words)
            own = int(size)
            found.append(InputDimension(name, i, own, "follow", own, own, 1, sized.shown(size), *why))
    return found


def _explained(
    graph: Graph, options: argparse.Namespace, progress: Callable[[str], object] | None
) -> tuple[list[Origin], list[Diagnostic]]:
    """What became of the nodes that can be compiled, and what is wrong with the others."""
    failures: list[Diagnostic] = []
    while True:
        try:
            model = compiler.compile_graph(graph, compile_options(options), progress=progress)
            return list(model.traces), failures
        except DmlError as error:
            rest = _without(graph, {item.node for item in error.diagnostics})
            if len(rest.nodes) in (0, len(graph.nodes)):
                raise
            failures += error.diagnostics
            graph = rest


def _without(graph: Graph, names: set[str]) -> Graph:
    """The graph without these nodes and all that read from them; its outputs are what nobody reads any more."""
    nodes = [node for node, why in _followed(graph, names) if not why]
    read = {value for node in nodes for value in node.sources}
    outputs = [
        ir_graph.GraphOutput(write.value.name, write.value, desc)
        for node in nodes
        for _, _, write, desc in node.views_out()
        if write.value not in read
    ]
    return replace(
        graph,
        nodes=tuple(nodes),
        outputs=tuple({output.name: output for output in outputs}.values()),
        results=(),
        effects=(),
        findings=tuple(item for item in graph.findings if item.node not in names),
    )


def _followed(graph: Graph, names: set[str]) -> Iterable[tuple[Node, str]]:
    """Every node, and why it is not compiled when those of these names are not."""
    lost: dict[Value, str] = {}
    for node in graph.sorted_nodes():
        source = next((lost[value] for value in node.sources if value in lost), "")
        why = "see what is said of it" if node.name in names else f"reads from {quote(source)}" if source else ""
        if why:
            lost |= dict.fromkeys(node.targets, node.name)
        yield node, why


def _left_out(graph: Graph, failures: list[Diagnostic]) -> list[tuple[Node, str]]:
    messages = {item.node: item.message for item in reversed(failures)}
    return [(node, messages.get(node.name, why)) for node, why in _followed(graph, set(messages)) if why]


def _became(item: ExplainedNode) -> str:
    """``Conv, Relu``; repeated operators are counted."""
    if item.onnx is None:
        return "(not compiled)"
    counts = Counter(item.onnx)
    return (
        ", ".join(name if n == 1 else f"{n} × {name}" for name, n in counts.items()) or "(nothing: folded or passed on)"
    )
