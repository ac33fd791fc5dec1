"""Commands that need no model and few imports: ``ops``, ``schema``, ``completion``, and ``explain CODE``."""

from __future__ import annotations

import base64
import re
import sys
from os.path import exists
from typing import TYPE_CHECKING

from dml2onnx import catalog
from dml2onnx.cli.common_options import add_common, add_compiling, add_freeze, add_model
from dml2onnx.cli.examples import Demonstration, demonstrations, examples, text_of, undemonstrated
from dml2onnx.cli.lazily import targets
from dml2onnx.cli.markup import escape, escape_lines
from dml2onnx.codes import all_codes
from dml2onnx.codes.results import HResult, hresult_of
from dml2onnx.diagnostics import quote, shortened
from dml2onnx.report.lookups import CodeAnswer, CodeDemonstration, CodeExample, Operator, OperatorsAnswer, ResultAnswer

if TYPE_CHECKING:
    import argparse

    from dml2onnx.cli.render import Screen


def explain_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``explain``."""
    add_model(parser)
    add_freeze(parser)
    add_compiling(parser, targets.DEFAULT_TARGET)
    parser.set_defaults(feature_level=None, documented=False, range=[])


def explain_command(options: argparse.Namespace, screen: Screen) -> int:
    """Explains a code, an operator, an HRESULT, or the ONNX nodes of a model."""
    if not exists(options.model):
        if (found := hresult_of(options.model)) is not None:
            return _explain_result(found, screen)
        if re.fullmatch(r"\w+", options.model):
            return _explain_name(options.model, screen)
    from dml2onnx.cli.explain import explain_model_command  # imports the compiler

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


def _explain_name(text: str, screen: Screen) -> int:
    """Explains a code or an operator."""
    name = text.upper()
    if re.fullmatch(r"(DML)?\d{4}", name):
        return _explain_code(f"DML{name[-4:]}", screen)
    from dml2onnx.cli.operators import explain_operator

    try:
        schema = catalog.operator(name)
    except catalog.UnknownOperatorError as error:
        from dml2onnx.catalog.likeness import nearest, question
        from dml2onnx.codes.results import HRESULTS

        hint = str(error).partition("; ")[2] or question(nearest(name, [item.name for item in HRESULTS], 0.85))
        hint = f"; {hint.removeprefix('; ')}" if hint else ""
        screen.failure(f"{quote(shortened(text))} is not a file, a code, or an operator{hint}")
        return 2
    return explain_operator(schema, screen)


def _explain_code(code: str, screen: Screen) -> int:
    found = all_codes().get(code)
    if found is None:
        screen.failure(f"there is no code {code}; codes run from {min(all_codes())} to {max(all_codes())}")
        return 2
    example, demonstration = examples().get(code), demonstrations().get(code)
    answer = CodeAnswer(
        code=found.id,
        severity=found.severity.value,
        title=found.summary,
        explanation=found.explanation,
        example=None if example is None else CodeExample(example.pointer, example.wrong_model, example.right_model),
        demonstration=None if demonstration is None else _demonstration(demonstration),
        needs=undemonstrated().get(code, ""),
        documentation="" if example is None else example.page,
    )
    if screen.answered(answer):
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
    if answer.needs:
        screen.say(f"\n[bold]when it occurs[/]\n{escape_lines(answer.needs)}")
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


def schema_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``schema``."""
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
    """Prints the JSON Schema of the native format, of ``--json``, or of the journal."""
    sys.stdout.write((catalog.schemas_directory() / f"{options.subject}.schema.json").read_text(encoding="utf-8"))
    return 0


SHELLS = ("bash", "zsh", "fish", "powershell", "tcsh")
"""The shells that shtab supports."""


def completion_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``completion``."""
    add_common(parser)
    parser.add_argument("shell", choices=SHELLS, help="your shell")


def completion_command(options: argparse.Namespace, screen: Screen) -> int:
    """Prints a script that makes a shell complete commands and options."""
    try:
        import shtab
    except ImportError:
        screen.failure('completion needs shtab: pip install "dml2onnx[completion]"')
        return 1
    from dml2onnx.cli.parser import make_parser

    sys.stdout.write(shtab.complete(make_parser(), options.shell) + "\n")
    return 0


def ops_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``ops``."""
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
        from dml2onnx.catalog.familiar import meant_operator  # reads the catalog

        meant = meant_operator(options.pattern)
        question = f"; did you mean {meant}?" if meant else ""
        screen.failure(f"no operator has {quote(wanted)} in its name{question}")
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
