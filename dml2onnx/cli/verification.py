"""``dml2onnx verify``: shows comparisons with the reference, and errors as fractions of their bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.cli import texts
from dml2onnx.cli.common_options import add_documented, add_model, add_passes, add_providers
from dml2onnx.cli.inputs import InputArguments
from dml2onnx.cli.lazily import named_sizes, verify_options, whole
from dml2onnx.cli.markup import escape
from dml2onnx.cli.models import compile_options, load_model
from dml2onnx.codes.sizing import WRONG_REQUEST
from dml2onnx.diagnostics import DmlError, plural
from dml2onnx.report.verified import verification_answer

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from dml2onnx.cli.render import Screen
    from dml2onnx.report.verified import Compared, Verified, VerifiedNode, VerifyAnswer

EXACT = "FLOAT32"
"""The arithmetic whose bounds need no explanation."""
MOST_ROUNDS = 3
"""The limit for listed rounds without specified elements."""


def verify_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``verify``."""
    add_model(parser)
    add_documented(parser)
    add_passes(parser)
    add_providers(parser)
    parser.add_argument(
        "--cases",
        "--rounds",
        type=texts.at_least(1),
        default=3,
        metavar="N",
        help="number of runs, each with new inputs (default: 3)",
    )
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="contents of an input in every case, as for run (repeatable; default: random and extreme numbers)",
    )
    parser.add_argument(
        "--against",
        type=texts.path,
        metavar="OTHER.onnx|directml",
        help="compare this ONNX model with the graph instead of the compiled one; directml: compare DirectML "
        "itself, too",
    )
    parser.add_argument(
        "--time-limit", type=texts.seconds, metavar="SECONDS", help="stop comparing nodes after this time"
    )
    parser.add_argument("--nodes", action="store_true", help="show the result of each node")
    parser.add_argument(
        "--seed", type=texts.at_least(0), default=0, metavar="N", help="seed of the inputs (default: 0)"
    )


def verify_command(options: argparse.Namespace, screen: Screen) -> int:
    """Compares the compiled model, or another one, with the reference."""
    inputs = InputArguments(options.input, options.max_bytes)
    graph = load_model(options, screen, inputs.names)
    if graph.named_sizes and options.against is not None:
        message = "--against cannot be combined with names for sizes"
        raise DmlError(WRONG_REQUEST.at(message, expected="--against, or names"))
    with screen.counting("verifying") as progress:
        how = verify_options.VerifyOptions(
            compiling=compile_options(options),
            rounds=options.cases,
            seed=options.seed,
            provider=options.provider,
            time_limit=options.time_limit,
            max_bytes=options.max_bytes,
            progress=progress,
        )
        if graph.named_sizes:
            result = named_sizes.verify_sizes(graph, inputs, how)
        else:
            result = whole.verify_with(graph, inputs, how, against=options.against)
    answer = verification_answer(result, str(options.provider), options.seed, options.against)
    if not screen.answered(answer):
        _show(answer, screen, all_nodes=options.nodes)
    return 0 if answer.passed else 1


def _show(answer: VerifyAnswer, screen: Screen, *, all_nodes: bool) -> None:
    _show_comparisons(answer.comparisons, screen)
    if answer.directml:
        screen.say(f"\nDirectML itself, {answer.directml_way}:")
        _show_comparisons(answer.directml, screen)
    if all_nodes:
        _show_nodes(answer, screen)
    if answer.first_to_differ is not None:
        _show_first_wrong(answer.nodes[answer.first_to_differ], screen)
    _show_gaps(answer, screen)
    if answer.computes != EXACT:
        screen.say()
        screen.say(escape(f"allowed for {answer.provider}: {answer.computes}, {answer.bound} ({answer.source})"))
    if not answer.cases.finished and answer.first_to_differ is None:
        screen.say(f"\nno time was left to compare {_subject(answer)} with the reference")
    else:
        agrees = "agree" if answer.directml else "agrees"
        verdict = f"[bold green]{agrees}[/] with" if answer.passed else "[bold red]differs[/] from"
        screen.say(f"\n{_subject(answer)} {verdict} the reference")


def _subject(answer: VerifyAnswer) -> str:
    """The compared models, as the subject of a sentence."""
    if answer.directml:
        return f"{'the' if answer.passed else 'one of the'} compiled model and DirectML itself"
    return "the compiled model" if answer.against is None else escape(answer.against)


def _show_comparisons(comparisons: Sequence[Compared], screen: Screen) -> None:
    rows = [
        (item.output, item.round, item.elements, item.wrong, item.unspecified, _short(item.worst_difference))
        for item in comparisons
    ]
    screen.table(["output", "round", ">elements", ">wrong", ">unspecified", ">largest difference"], rows)


def _show_nodes(answer: VerifyAnswer, screen: Screen) -> None:
    rows = [
        (
            *(item.node, item.operator, item.output, item.elements, item.wrong, item.unspecified),
            *(_short(item.worst_difference), _short(item.worst_relative), _short(item.worst_ulps)),
            "" if item.exact else f"{_short(100 * float(item.worst_of_bound))} % used",
            _bound_text(item),
        )
        for item in answer.nodes
    ]
    columns = ["node", "operator", "output", ">elements", ">wrong", ">unspecified", ">worst", ">relative", ">ULPs"]
    screen.say()
    screen.table([*columns, ">bounds", "source of bounds"], rows)


def _short(value: float | str, digits: int = 3) -> str:
    """A number, which JSON may have as text, with ``digits`` digits."""
    return f"{float(value):.{digits}g}"


def _bound_text(item: Verified) -> str:
    """The source of the bound."""
    if item.exact:
        return "equality"
    if not item.worst_of_bound:
        return "arithmetic and rounding"
    return f"arithmetic {_short(item.bound.arithmetic, 2)}, rounding {_short(item.bound.rounding, 2)}"


def _show_first_wrong(item: VerifiedNode, screen: Screen) -> None:
    first = item.first_wrong
    assert first is not None
    index = ", ".join(map(str, first.index))
    allowed = "it has to be equal" if item.exact else f"at most {_short(first.bound)} off is allowed"
    expected, got = _short(first.expected, 9), _short(first.got, 9)
    screen.say(
        f'\nfirst to differ: node "{escape(item.node)}" ({item.operator}), {item.output}\\[{index}] in round'
        f" {first.round}: expected {expected}, got {got}; {allowed}"
    )


def _show_gaps(answer: VerifyAnswer, screen: Screen) -> None:
    """Lists what was not compared."""
    skipped = [item for item in answer.comparisons if item.is_unspecified]
    if skipped:
        rounds = ", ".join(f"{escape(item.output)} in round {escape(item.round)}" for item in skipped[:MOST_ROUNDS])
        more = f", and {plural(len(skipped) - MOST_ROUNDS, 'more round')}" if len(skipped) > MOST_ROUNDS else ""
        screen.say(f"\nno element is specified, and none was compared, of {rounds}{more}")
    if answer.cases.finished < answer.cases.asked:
        screen.say(f"\nthe time limit ended after {answer.cases.finished} of {answer.cases.asked} rounds")
