"""``dml2onnx sizes``: lists the dimensions of inputs that may have other sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from dml2onnx.cli.common_options import add_freeze, add_model
from dml2onnx.cli.lazily import checks, graph_inputs, resizing, size_freedom
from dml2onnx.cli.models import load_model
from dml2onnx.codes.sizing import WRONG_REQUEST
from dml2onnx.diagnostics import DmlError, quote, raise_errors, shortened
from dml2onnx.report.sizes import InputDimension, SizesAnswer

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from dml2onnx.cli.render import Screen
    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.ir.graph import Graph
    from dml2onnx.sizes.freedom import Dimension

MOST = 8
"""The limit for inputs without ``--of``: later ones are mostly weights."""


def sizes_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``sizes``."""
    add_model(parser)
    add_freeze(parser)
    parser.add_argument(
        "--of",
        action="append",
        default=[],
        metavar="NAME",
        help=f"input to list (repeatable; default: the first {MOST})",
    )


def sizes_command(options: argparse.Namespace, screen: Screen) -> int:
    """Lists which sizes are free, tied or fixed, and the nodes that tie or fix them."""
    graph = load_model(options, screen, frozenset(options.input))
    raise_errors(checks.check(graph))
    known = sizes_of_inputs(graph)
    chosen = options.of or list(known)[:MOST]
    for name in chosen:
        if name not in known:
            listed = shortened(", ".join(known)) or "none"
            message = f"the graph has no input {quote(name)}; it has: {listed}"
            raise DmlError(WRONG_REQUEST.at(message, expected=listed, found=name))
    with screen.working("analyzing sizes"):
        rows = dimensions(graph, {name: known[name] for name in chosen})
    answer = SizesAnswer(dimensions=tuple(rows), inputs_left_out=len(known) - len(chosen))
    if screen.answered(answer):
        return 0
    screen.table(["input", ">dimension", ">size", "may be", "because"], [cells(row) for row in answer.dimensions])
    if answer.inputs_left_out:
        screen.say(f"\n{answer.inputs_left_out} more inputs; --of NAME lists one")
    return 0


def sizes_of_inputs(graph: Graph) -> dict[str, tuple[int, ...]]:
    """The sizes of all inputs by name."""
    ends = (*graph.outputs, *graph.results, *(item.output for item in graph.effects))
    descs = graph_inputs.input_descs(graph.inputs, graph.sorted_nodes(), ends)
    return {item.name: desc.sizes for item, desc in zip(graph.inputs, descs, strict=True)}


def dimensions(graph: Graph, inputs: Mapping[str, tuple[int, ...]]) -> list[InputDimension]:
    """Describes every dimension of the inputs, whose sizes are given."""
    level = checks.level_of(graph, None)

    def first_error(other: Graph) -> Diagnostic | None:
        return next((item for item in checks.check(other, level, remedies=False) if item.is_error), None)

    is_valid = resizing.judge(graph)
    return [
        _row(name, i, item)
        for name, sizes in inputs.items()
        for i, item in enumerate(size_freedom.freedom(graph, name, sizes, is_valid, first_error))
    ]


def _row(name: str, i: int, item: Dimension) -> InputDimension:
    may: Literal["vary", "follow", "stay"] = "vary"
    if item.is_fixed:
        may = "follow" if item.follows else "stay"
    limits = (item.first, item.last, item.step)
    return InputDimension(name, i, item.size, may, *limits, item.follows, item.node, item.operator, item.reason)


def cells(row: InputDimension) -> tuple[object, ...]:
    """The table row of a dimension."""
    reason = f"{row.operator} {quote(row.node)}: {row.reason}" if row.node else row.reason
    return row.input, row.dimension, row.size, _may_be(row), reason


def _may_be(row: InputDimension) -> str:
    """``free from 32 on in steps of 8``, ``free up to 512``, ``tied: 2*picture[2]``, ``fixed``."""
    if row.may != "vary":
        return f"tied: {row.follows}" if row.may == "follow" else "fixed"
    text = "free"
    if row.last is None:
        text += "" if row.first == 1 else f" from {row.first} on"
    else:
        text += f" up to {row.last}" if row.first == 1 else f" from {row.first} to {row.last}"
    return text + {0: ", not all", 1: ""}.get(row.step, f" in steps of {row.step}")
