"""``dml2onnx ops`` and ``dml2onnx explain CODE``: answers that need no model, and few imports."""

from __future__ import annotations

import base64
import re
import sys
from os.path import exists
from typing import TYPE_CHECKING

from dml2onnx import catalog
from dml2onnx.cli.common_options import add_common, add_form, add_freeze, add_model
from dml2onnx.cli.examples import Demonstration, Example, demonstrations, examples, text_of, undemonstrated
from dml2onnx.cli.markup import escape, escape_lines
from dml2onnx.codes import all_codes
from dml2onnx.codes.results import HResult, hresult_of
from dml2onnx.diagnostics import quote, shortened
from dml2onnx.report.lookups import CodeAnswer, CodeDemonstration, CodeExample, Operator, OperatorsAnswer, ResultAnswer

if TYPE_CHECKING:
    import argparse

    from dml2onnx.cli.render import Screen


def explain_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command line of ``explain`` may have."""
    add_model(parser)
    add_freeze(parser)
    add_form(parser)
    parser.set_defaults(feature_level=None, documented=False, range=[])


def explain_command(options: argparse.Namespace, screen: Screen) -> int:
    """Explains a code, an operator, an HRESULT, or what each node of a model becomes."""
    if not exists(options.model):
        if (found := hresult_of(options.model)) is not None:
            return _explain_result(found, screen)
        if re.fullmatch(r"\w+", options.model):
            return _explain_name(options.model, screen)
    from dml2onnx.cli.explain import explain_model_command  # brings the compiler

    return explain_model_command(options, screen)


def _explain_result(found: HResult, screen: Screen) -> int:
    number = f"0x{found.number:08X}"
    answer = ResultAnswer(
        name=found.name, hresult=number, text=found.text, explanation=found.explanation, steps=found.steps
    )
    if screen.answered(answer):
        return 0
    screen.say(f"[bold]{found.name}[/] {number}: [bold]{escape(found.text)}[/]\n")
    screen.say(escape_lines(found.explanation))
    screen.say("\n[bold]how to find the cause[/]")
    for step in found.steps:
        screen.say(f"- {escape(step)}")
    return 0


def _explain_name(given: str, screen: Screen) -> int:
    """A code or an operator, neither of which is the name of a file."""
    name = given.upper()
    if re.fullmatch(r"(DML)?\d{4}", name):
        return _explain_code(f"DML{name[-4:]}", screen)
    from dml2onnx.cli.operators import explain_operator

    try:
        schema = catalog.operator(name)
    except catalog.UnknownOperatorError as error:
        from dml2onnx.catalog.likeness import nearest, question
        from dml2onnx.codes.results import HRESULTS

        instead = str(error).partition("; ")[2] or question(nearest(name, [item.name for item in HRESULTS], 0.85))
        said = f"; {instead.removeprefix('; ')}" if instead else ""
        screen.failure(f"{quote(shortened(given))} is no file, no code and no operator{said}")
        return 2
    return explain_operator(schema, screen)


def _explain_code(code: str, screen: Screen) -> int:
    found = all_codes().get(code)
    if found is None:
        screen.failure(f"there is no code {code}; codes run from {min(all_codes())} to {max(all_codes())}")
        return 2
    example, demonstration = examples().get(code), demonstrations().get(code)
    needs = undemonstrated().get(code)
    if screen.as_json:
        screen.answer(
            CodeAnswer(
                code=found.id,
                severity=found.severity.value,
                title=found.summary,
                explanation=found.explanation,
                example=None if example is None else _record(example),
                demonstration=None if demonstration is None else _demonstration(demonstration),
                needs=needs or "",
                documentation="" if example is None else example.page,
            )
        )
        return 0
    screen.say(f"[bold]{found.id}[/] {found.severity.value}: [bold]{escape(found.summary)}[/]\n")
    screen.say(escape_lines(found.explanation))
    if example is not None:
        wrong, right = example.lines()
        screen.say("\n[bold]wrong[/]")
        screen.say(escape_lines(text_of(example.wrong_model)))
        screen.say(f"\nat {escape(example.pointer)}: [red]{escape(wrong)}[/]")
        screen.say(f"[bold]corrected[/]: [green]{escape(right)}[/]")
        if example.page:
            screen.say(f"page: {escape(example.page)}")
    if demonstration is not None:
        _show_demonstration(demonstration, screen)
    if needs is not None:
        screen.say(f"\n[bold]what gives it[/]\n{escape_lines(needs)}")
    return 0


def _show_demonstration(item: Demonstration, screen: Screen) -> None:
    prompt = "" if item.is_program else "$ "
    for title, lines in (("wrong", item.wrong), ("corrected", item.corrected)):
        screen.say(f"\n[bold]{title}[/]")
        screen.say(escape_lines("\n".join(prompt + line for line in lines)))
    for name, text in item.listed():
        screen.say(f"\n[bold]{escape(name)}[/]\n{escape_lines(text)}")


def _demonstration(item: Demonstration) -> CodeDemonstration:
    files = {name: base64.b64encode(data).decode() for name, data in item.files.items()}
    return CodeDemonstration("python" if item.is_program else "commands", item.wrong, item.corrected, files)


def _record(example: Example) -> CodeExample:
    return CodeExample(example.pointer, example.wrong_model, example.right_model)


def schema_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command line of ``schema`` may have."""
    add_common(parser)
    parser.add_argument(
        "subject",
        nargs="?",
        choices=("graph", "report", "journal"),
        default="graph",
        help="graph: the native format, for editors (default); report: the output of --json; journal: a line of "
        "the journal of batch",
    )


def schema_command(options: argparse.Namespace, screen: Screen) -> int:
    """Prints a JSON Schema: that of the native format, for editors, or of what ``--json`` writes."""
    sys.stdout.write((catalog.schemas_directory() / f"{options.subject}.schema.json").read_text(encoding="utf-8"))
    return 0


SHELLS = ("bash", "zsh", "fish", "powershell", "tcsh")
"""What shtab writes scripts for."""


def completion_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command line of ``completion`` may have."""
    add_common(parser)
    parser.add_argument("shell", choices=SHELLS, help="your shell")


def completion_command(options: argparse.Namespace, screen: Screen) -> int:
    """Prints a script by which a shell completes commands and options."""
    try:
        import shtab
    except ImportError:
        screen.failure('completing needs shtab: pip install "dml2onnx[completion]"')
        return 1
    from dml2onnx.cli.parser import make_parser

    sys.stdout.write(shtab.complete(make_parser(), options.shell) + "\n")
    return 0


def _called_so(name: str) -> str:
    """The operator that is called so elsewhere, as a question."""
    from dml2onnx.catalog.familiar import meant_operator  # brings the reader of operators

    meant = meant_operator(name)
    return f"; did you mean {meant}?" if meant else ""


def ops_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command line of ``ops`` may have."""
    add_common(parser)
    parser.add_argument(
        "pattern", nargs="?", default="", metavar="TEXT", help="list only operators whose name contains this"
    )


def ops_command(options: argparse.Namespace, screen: Screen) -> int:
    """Lists the operators of DirectML."""
    wanted = options.pattern.upper().removeprefix("DML_OPERATOR_")
    answer = OperatorsAnswer(
        operators=tuple(
            Operator(*item) for item in catalog.operator_index() if wanted in item.name.removeprefix("DML_OPERATOR_")
        )
    )
    if screen.answered(answer):
        return 0
    if not answer.operators:
        screen.failure(f"no operator has {quote(wanted)} in its name{_called_so(options.pattern)}")
        return 2
    screen.table(
        ["operator", "from level", "compiles"],
        [
            (item.operator.removeprefix("DML_OPERATOR_"), item.introduced, "yes" if item.lowered else "no")
            for item in answer.operators
        ],
    )
    compiled = sum(item.lowered for item in answer.operators)
    screen.say(f"\n{compiled} of {len(answer.operators)} operators compile")
    return 0
