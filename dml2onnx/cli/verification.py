"""What ``dml2onnx verify`` says of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from dml2onnx.cli import render

if TYPE_CHECKING:
    from dml2onnx.cli.render import Screen
    from dml2onnx.verification import NodeCheck, Verification


def nodes_as_json(result: Verification) -> list[dict[str, object]]:
    """Every output of every node."""
    return [
        {
            "node": item.node,
            "operator": item.operator,
            "output": item.output,
            "elements": item.elements,
            "unspecified": item.unspecified,
            "wrong": item.wrong,
            "worst_difference": render.finite(item.worst),
            "worst_relative": render.finite(item.worst_relative),
            "worst_ulps": render.finite(item.worst_ulps),
            "worst_of_bound": render.finite(item.worst_of_bound),
            "exact": item.exact,
            "first_wrong": None if not item.wrong else _first_wrong(item),
        }
        for item in result.nodes
    ]


def _first_wrong(item: NodeCheck) -> dict[str, object]:
    return {
        "round": item.round,
        "index": list(item.first_wrong),
        "expected": render.finite(item.expected),
        "got": render.finite(item.got),
        "bound": render.finite(item.bound),
    }


def show_nodes(result: Verification, screen: Screen, *, all_nodes: bool) -> None:
    """A table of all nodes where asked for, and the first that is wrong in any case."""
    if all_nodes:
        rows = [
            (
                *(item.node, item.operator, item.output, item.elements, item.wrong, item.unspecified),
                *(f"{item.worst:.3g}", f"{item.worst_relative:.3g}", f"{item.worst_ulps:.3g}"),
                "equality" if item.exact else f"{100 * item.worst_of_bound:.3g} %",
            )
            for item in result.nodes
        ]
        columns = ["node", "operator", "output", ">elements", ">wrong", ">unspecified", ">worst", ">relative", ">ULPs"]
        screen.say()
        screen.table([*columns, ">of what is allowed"], rows)
    first = result.first_wrong_node
    if first is not None:
        index = ", ".join(map(str, first.first_wrong))
        allowed = "it has to be equal" if first.exact else f"at most {first.bound:.3g} off is allowed"
        screen.say(
            f'\nfirst to differ: node "{escape(first.node)}" ({first.operator}), {first.output}\\[{index}] in round'
            f" {first.round}: expected {first.expected:.9g}, got {first.got:.9g}; {allowed}"
        )
