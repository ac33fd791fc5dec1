"""``dml2onnx explain MODEL``: the ONNX nodes of each DirectML node that compiles, with reasons."""

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
    """Shows the ONNX nodes of each node of a model."""
    graph = load_model(options, screen, frozenset(options.input))
    if graph.named_sizes:
        return _explain_sizes(graph, options, screen)
    with screen.counting("compiling") as progress:
        traces, failures = _explained(graph, options, progress)
    descs = {node.name: node.operator for node in graph.nodes}
    compiled = [
        answers.ExplainedNode(
            item.node,
            item.operator,
            item.operators,
            item.notes or report_reasons.reasons(descs[item.node], item.operators, exact=options.exact),
        )
        for item in traces
    ]
    skipped = [
        answers.ExplainedNode(node.name, node.operator.type, None, (why,)) for node, why in _skipped(graph, failures)
    ]
    answer = _answer(options, diagnostics=tuple(failures), nodes=(*compiled, *skipped))
    if not screen.answered(answer):
        rows = [(item.node, item.operator, _onnx_nodes(item), "; ".join(item.notes)) for item in answer.nodes]
        screen.table(["DirectML node", "operator", "ONNX nodes", "why"], rows)
        screen.diagnostics(answer.diagnostics)
    return 1 if failures else 0


def _answer(options: argparse.Namespace, **members: Any) -> answers.ExplainAnswer:
    names = tuple(item.name for item in passes.chosen(options.optimize, options.without_passes))
    return answers.ExplainAnswer(opset=options.opset, target=options.target, half=options.half, passes=names, **members)


def _explain_sizes(graph: Graph, options: argparse.Namespace, screen: Screen) -> int:
    """Shows the sizes of every tensor in terms of names, and which input sizes are free, tied or fixed."""
    raise_errors(checks.check(graph))
    with screen.working("analyzing sizes"):
        inputs = _named_dimensions(graph)
    sized = resizing.named(graph.without_names(), graph.named_sizes)
    tensors = [
        answers.SizedTensor(
            node.name,
            node.operator.type,
            name if isinstance(node.operator.get(name), TensorDesc) else f"{name}[{index}]",
            tuple(map(sized.shown, view.sizes)),
        )
        for node, found in sized.traced.nodes.items()
        for (name, index), view in found.views.items()
    ]
    answer = _answer(options, diagnostics=(), nodes=(), tensors=tuple(tensors), dimensions=tuple(inputs))
    if screen.answered(answer):
        return 0
    named_rows = [(input_name, i, row.name, *rest) for row in inputs for input_name, i, *rest in (cells(row),)]
    screen.table(["input", ">dimension", "name", ">size", "may be", "because"], named_rows)
    screen.say()
    rows = [(item.node, item.operator, item.tensor, " × ".join(item.sizes)) for item in answer.tensors]
    screen.table(["DirectML node", "operator", "tensor", "sizes"], rows)
    return 0


def _named_dimensions(graph: Graph) -> list[InputDimension]:
    """The dimensions of the inputs in ``--size``, and those of other inputs that follow from them."""
    plain, named = graph.without_names(), graph.named_sizes
    sizes_by_input = sizes_of_inputs(plain)
    sized = resizing.named(plain, named)
    names = {f"{name}[{i}]": str(size) for name, sizes in named.items() for i, size in enumerate(sizes)}

    def in_names(text: str) -> str:
        for dimension, name in names.items():
            text = text if name.isdigit() else text.replace(dimension, name)
        return text

    found = [
        replace(
            row, name=names[f"{row.input}[{row.dimension}]"], follows=in_names(row.follows), reason=in_names(row.reason)
        )
        for row in dimensions(plain, {name: sizes_by_input[name] for name in named})
    ]
    solver = sized.traced.solver
    for name, (_, view) in sized.traced.inputs.items():
        for i, size in enumerate(view.sizes):
            symbol = size.expr.symbol
            if name in named or symbol is None or solver.resolved(size.expr).number is not None:
                continue
            tie = solver.ties.get(symbol)
            why = ("", "", "") if tie is None else (tie.place.node, tie.place.operator, tie.place.words)
            number = int(size)
            found.append(InputDimension(name, i, number, "follow", number, number, 1, sized.shown(size), *why))
    return found


def _explained(
    graph: Graph, options: argparse.Namespace, progress: Callable[[str], object] | None
) -> tuple[list[Origin], list[Diagnostic]]:
    """The ONNX nodes of the DirectML nodes that compile, and the errors of the others."""
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
    """The graph without these nodes and all nodes after them; its outputs are the values without readers."""
    nodes = [node for node, why in _with_reasons(graph, names) if not why]
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


def _with_reasons(graph: Graph, names: set[str]) -> Iterable[tuple[Node, str]]:
    """Yields every node with the reason why it does not compile if those in ``names`` do not, or ``""``."""
    lost: dict[Value, str] = {}
    for node in graph.sorted_nodes():
        source = next((lost[value] for value in node.sources if value in lost), "")
        why = "see its finding" if node.name in names else f"reads from {quote(source)}" if source else ""
        if why:
            lost |= dict.fromkeys(node.targets, node.name)
        yield node, why


def _skipped(graph: Graph, failures: list[Diagnostic]) -> list[tuple[Node, str]]:
    messages = {item.node: item.message for item in reversed(failures)}
    return [(node, messages.get(node.name, why)) for node, why in _with_reasons(graph, set(messages)) if why]


def _onnx_nodes(item: ExplainedNode) -> str:
    """``Conv, 2 × Relu``."""
    if item.onnx is None:
        return "(not compiled)"
    counts = [name if n == 1 else f"{n} × {name}" for name, n in Counter(item.onnx).items()]
    return ", ".join(counts) or "(none: folded or forwarded)"
