"""``dml2onnx verify``: what was compared, what differs, and how far everything was from what is allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from dml2onnx.cli import render
from dml2onnx.cli.inputs import GivenInputs
from dml2onnx.cli.models import load_model
from dml2onnx.verification.whole import verify_with

if TYPE_CHECKING:
    import argparse

    from dml2onnx.cli.render import Screen
    from dml2onnx.verification import Comparison, NodeCheck, Verification


def verify_command(options: argparse.Namespace, screen: Screen) -> int:
    """Compares the compiled model, or another one, with the reference."""
    inputs = GivenInputs(options.input)
    graph = load_model(options, screen, inputs.names)
    with screen.counting("verifying") as progress:
        result = verify_with(
            graph,
            inputs,
            rounds=options.cases,
            seed=options.seed,
            provider=options.provider,
            against=options.against,
            time_limit=options.time_limit,
            progress=progress,
        )
    if screen.as_json:
        screen.json(
            {
                "passed": result.passed,
                "cases": {"seed": options.seed, "asked": result.rounds, "finished": result.finished},
                "comparisons": [_comparison_as_json(item) for item in result.comparisons],
                "nodes": [_node_as_json(item) for item in result.nodes],
            }
        )
        return 0 if result.passed else 1
    _show_comparisons(result, screen)
    if options.nodes:
        _show_nodes(result, screen)
    _show_first_wrong(result, screen)
    _show_gaps(result, screen)
    subject = "the compiled model" if options.against is None else escape(str(options.against))
    verdict = "[bold green]agrees[/] with" if result.passed else "[bold red]differs[/] from"
    if not result.finished and result.first_wrong_node is None:
        screen.say(f"\nthere was no time to compare {subject} with the reference")
    else:
        screen.say(f"\n{subject} {verdict} the reference")
    return 0 if result.passed else 1


# --- For tools --------------------------------------------------------------------------------------------------------


def _comparison_as_json(item: Comparison) -> dict[str, object]:
    return {
        "output": item.output,
        "round": item.round,
        "elements": item.elements,
        "wrong": item.wrong,
        "unspecified": item.unspecified,
        "worst_difference": render.finite(item.worst),
        "first_wrong": list(item.first_wrong),
    }


def _node_as_json(item: NodeCheck) -> dict[str, object]:
    return {
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
        "bound": {"arithmetic": render.finite(item.arithmetic), "rounding": render.finite(item.rounding)},
        "first_wrong": None if not item.wrong else _first_wrong(item),
    }


def _first_wrong(item: NodeCheck) -> dict[str, object]:
    return {
        "round": item.round,
        "index": list(item.first_wrong),
        "expected": render.finite(item.expected),
        "got": render.finite(item.got),
        "bound": render.finite(item.bound),
    }


# --- For people -------------------------------------------------------------------------------------------------------


def _show_comparisons(result: Verification, screen: Screen) -> None:
    rows = [
        (item.output, item.round, item.elements, item.wrong, item.unspecified, f"{item.worst:.3g}")
        for item in result.comparisons
    ]
    screen.table(["output", "round", ">elements", ">wrong", ">unspecified", ">largest difference"], rows)


def _show_nodes(result: Verification, screen: Screen) -> None:
    rows = [
        (
            *(item.node, item.operator, item.output, item.elements, item.wrong, item.unspecified),
            *(f"{item.worst:.3g}", f"{item.worst_relative:.3g}", f"{item.worst_ulps:.3g}"),
            "" if item.exact else f"{100 * item.worst_of_bound:.3g} %",
            _bound_text(item),
        )
        for item in result.nodes
    ]
    columns = ["node", "operator", "output", ">elements", ">wrong", ">unspecified", ">worst", ">relative", ">ULPs"]
    screen.say()
    screen.table([*columns, ">of what is allowed", "which is"], rows)


def _bound_text(item: NodeCheck) -> str:
    """Where the bound comes from."""
    if item.exact:
        return "equality"
    if not item.worst_of_bound:
        return "of arithmetic and rounding"
    return f"{item.arithmetic:.2g} of arithmetic, {item.rounding:.2g} of rounding"


def _show_first_wrong(result: Verification, screen: Screen) -> None:
    first = result.first_wrong_node
    if first is not None:
        index = ", ".join(map(str, first.first_wrong))
        allowed = "it has to be equal" if first.exact else f"at most {first.bound:.3g} off is allowed"
        screen.say(
            f'\nfirst to differ: node "{escape(first.node)}" ({first.operator}), {first.output}\\[{index}] in round'
            f" {first.round}: expected {first.expected:.9g}, got {first.got:.9g}; {allowed}"
        )


def _show_gaps(result: Verification, screen: Screen) -> None:
    """What was not compared."""
    silent = [item for item in result.comparisons if item.says_nothing]
    if silent:
        rounds = ", ".join(f"{escape(item.output)} in round {escape(item.round)}" for item in silent)
        screen.say(f"\nnothing is specified of {rounds}: no agreement is claimed there")
    if result.finished < result.rounds:
        screen.say(f"\nthe time was up after {result.finished} of {result.rounds} rounds")
