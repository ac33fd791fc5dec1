"""``dml2onnx reduce``: finds the smallest graph for which a command still fails."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dml2onnx.cli import texts
from dml2onnx.cli.common_options import add_freeze, add_model
from dml2onnx.cli.exit_codes import INTERRUPTED
from dml2onnx.cli.lazily import answers, exporters, reducing
from dml2onnx.cli.models import STANDARD_INPUT, load_model, model_file
from dml2onnx.cli.render import files_written
from dml2onnx.cli.wrong_use import WrongUseError
from dml2onnx.codes.running import NOT_OF_INTEREST, OUTPUT_UNWRITABLE
from dml2onnx.diagnostics import DmlError, plural, quote, raise_errors
from dml2onnx.files import check_target, spare

if TYPE_CHECKING:
    import argparse

    from dml2onnx.cli.render import Screen
    from dml2onnx.ir.graph import Graph
    from dml2onnx.reducing import Progress
    from dml2onnx.report.answers import ReduceAnswer

PLACE = "{}"
"""What stands in a command for the path of the graph."""
NOT_FOUND = (126, 127)
"""What a shell ends with that does not find a command, or may not run it."""


@dataclass
class Interestingness:
    """The test of a graph: a command of the shell, and what it has to end with."""

    command: str
    timeout: float
    directory: Path
    name: str
    wanted: int = 0
    tests: int = 0
    seen: dict[bytes, bool] = field(default_factory=dict)
    """By the text of a graph, for passes come by the same one again."""

    def __call__(self, graph: Graph) -> bool:
        """Whether the command ends as it is to."""
        path = self._written(graph)
        text = path.read_bytes()
        known = self.seen.get(text)
        if known is None or path.with_name(f"{path.name}.data").exists():
            known = self.seen[text] = self.exit_code(path) == self.wanted
        return known

    def first(self, graph: Graph) -> int | None:
        """The exit code for the whole graph; ``None`` where it takes too long."""
        return self.exit_code(self._written(graph))

    def _written(self, graph: Graph) -> Path:
        path = self.directory / self.name
        for old in self.directory.iterdir():
            old.unlink()
        exporters.export(graph, path, "native")
        return path

    def exit_code(self, path: Path) -> int | None:
        """What the command ends with; ``None`` where it takes too long."""
        self.tests += 1
        quoted = subprocess.list2cmdline([str(path)]) if os.name == "nt" else shlex.quote(str(path))
        command = self.command.replace(PLACE, quoted) if PLACE in self.command else f"{self.command} {quoted}"
        nowhere = subprocess.DEVNULL
        process = subprocess.Popen(
            command, shell=True, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True
        )
        try:
            return process.wait(self.timeout)
        except subprocess.TimeoutExpired:
            return None
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends a command with all that it has started."""
    if process.poll() is None:
        with suppress(OSError):
            if sys.platform == "win32":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def reduce_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command line of ``reduce`` may have."""
    add_model(parser)
    add_freeze(parser)
    test = parser.add_mutually_exclusive_group(required=True)
    test.add_argument(
        "--while",
        dest="failing",
        metavar="COMMAND",
        help="keep graphs for which this command fails with the same exit code as for MODEL; the shell runs it "
        "with the path of the graph (native JSON) for {}, or at its end",
    )
    test.add_argument(
        "--interesting",
        metavar="COMMAND",
        help="keep graphs for which this command exits with 0, as in C-Reduce",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=texts.path,
        metavar="OUT.json",
        help="file to write whenever a smaller graph is found (default: a new one beside MODEL)",
    )
    parser.add_argument(
        "--timeout",
        type=texts.seconds,
        default=300.0,
        metavar="SECONDS",
        help="time limit for the command; a graph that exceeds it is not kept (default: 300, as in C-Reduce)",
    )


def reduce_command(options: argparse.Namespace, screen: Screen) -> int:
    """Makes a graph as small as a command allows."""
    start = time.monotonic()
    graph = load_model(options, screen, frozenset(options.input))
    raise_errors(item for item in graph.findings)
    output = _output(options, graph)
    check_target(output)
    spare([output, output.with_name(f"{output.name}.data")], graph.sources)
    finished = True
    best = graph
    with tempfile.TemporaryDirectory(prefix="dml2onnx-reduce-") as directory:
        name = f"{Path(options.model).stem if options.model != STANDARD_INPUT else 'graph'}.json"
        command = options.failing if options.interesting is None else options.interesting
        test = Interestingness(command, options.timeout, Path(directory), name)
        test.wanted = _wanted(test, graph, is_failure=options.interesting is None)
        exporters.export(graph, output, "native")
        with screen.counting("reducing") as said:

            def tell(progress: Progress) -> None:
                nonlocal best
                best = progress.graph
                exporters.export(best, output, "native")
                if said is not None:
                    said(f"{plural(len(best.nodes), 'node')}, {plural(test.tests, 'test', 'no')}")

            try:
                reducing.reduced(graph, test, tell)
            except KeyboardInterrupt:
                finished = False
    answer = answers.ReduceAnswer(
        files=tuple(map(str, _written(output))),
        file_bytes=answers.sizes_of(_written(output)),
        exit_code=test.wanted,
        directml_nodes=len(best.nodes),
        directml_nodes_before=len(graph.nodes),
        tests=test.tests,
        seconds=time.monotonic() - start,
        finished=finished,
    )
    _say(answer, screen)
    return 0 if finished else INTERRUPTED


def _wanted(test: Interestingness, graph: Graph, *, is_failure: bool) -> int:
    """The exit code that makes a graph interesting; DML3038 where it is not that of the whole one."""
    code = test.first(graph)
    if code in NOT_FOUND:
        message = f"the shell does not find the command {quote(test.command)}, or may not run it: it ends with {code}"
        raise WrongUseError(NOT_OF_INTEREST.at(message, expected="a command that is found", found=f"exit code {code}"))
    if code is not None and (code != 0) == is_failure:
        return code
    found = f"no end within {test.timeout:g} s" if code is None else f"exit code {code}"
    expected = "an exit code other than 0" if is_failure else "exit code 0"
    what = "does not end in time" if code is None else f"ends with exit code {code}"
    message = f"the command {what} for the whole graph, so there is nothing to look for"
    raise DmlError(NOT_OF_INTEREST.at(message, expected=expected, found=found))


def _output(options: argparse.Namespace, graph: Graph) -> Path:
    """The file to write; without -o a new one beside the model."""
    if options.output is not None:
        named: Path = options.output
        if named.suffix.lower() != ".json":
            message = f"{quote(named.name)} is no name of a native graph"
            raise WrongUseError(OUTPUT_UNWRITABLE.at(message, expected="OUT.json", found=str(named)))
        return named
    path = model_file(options, graph).with_suffix(".reduced.json")
    if path.exists():
        message = f"{quote(str(path))} is there already; say with -o which file to write"
        raise DmlError(OUTPUT_UNWRITABLE.at(message, expected="-o OUT.json", found=str(path)))
    return path


def _written(output: Path) -> list[Path]:
    """The graph, and the file of its contents where there is one that it names."""
    beside = output.with_name(f"{output.name}.data")
    named = beside.exists() and f'"{beside.name}"' in output.read_text(encoding="utf-8")
    if beside.exists() and not named:
        beside.unlink()  # of a larger graph
    return [output, beside] if named else [output]


def _say(answer: ReduceAnswer, screen: Screen) -> None:
    if screen.answered(answer):
        return
    if not answer.finished:
        screen.say("[bold yellow]interrupted[/]: the smallest graph so far")
    screen.say(
        f"{plural(answer.directml_nodes_before, 'node')} → {plural(answer.directml_nodes, 'node')}, exit code"
        f" {answer.exit_code}, {plural(answer.tests, 'test', 'no')} in {answer.seconds:.1f} s"
    )
    screen.say(f"[bold green]wrote[/] {files_written(answer.files, answer.file_bytes)}")
