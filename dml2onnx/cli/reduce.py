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
    from dml2onnx.reducing import SearchState
    from dml2onnx.report.answers import ReduceAnswer

PLACEHOLDER = "{}"
"""The path of the graph in a command."""
NOT_FOUND = (126, 127)
"""The exit codes of a shell for a command that it cannot find or run."""


@dataclass
class Interestingness:
    """The test of a graph: a shell command, and its expected exit code."""

    command: str
    timeout: float
    directory: Path
    name: str
    expected: int = 0
    tests: int = 0
    results: dict[bytes, bool] = field(default_factory=dict)
    """A cache by the text of a graph, because passes produce the same graph repeatedly."""

    def __call__(self, graph: Graph) -> bool:
        """Whether the command ends with the expected exit code."""
        path = self._written(graph)
        text = path.read_bytes()
        result = self.results.get(text)
        if result is None or path.with_name(f"{path.name}.data").exists():
            result = self.results[text] = self._exit_code(path) == self.expected
        return result

    def first(self, graph: Graph) -> int | None:
        """The exit code for the whole graph, or ``None`` after a timeout."""
        return self._exit_code(self._written(graph))

    def _written(self, graph: Graph) -> Path:
        path = self.directory / self.name
        for old in self.directory.iterdir():
            old.unlink()
        exporters.export(graph, path, "native")
        return path

    def _exit_code(self, path: Path) -> int | None:
        self.tests += 1
        quoted = subprocess.list2cmdline([str(path)]) if os.name == "nt" else shlex.quote(str(path))
        has_path = PLACEHOLDER in self.command
        command = self.command.replace(PLACEHOLDER, quoted) if has_path else f"{self.command} {quoted}"
        null = subprocess.DEVNULL
        process = subprocess.Popen(command, shell=True, stdin=null, stdout=null, stderr=null, start_new_session=True)
        try:
            return process.wait(self.timeout)
        except subprocess.TimeoutExpired:
            return None
        finally:
            _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kills a command and its child processes if it still runs."""
    if process.poll() is None:
        with suppress(OSError):
            if sys.platform == "win32":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def reduce_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``reduce``."""
    add_model(parser)
    add_freeze(parser)
    test = parser.add_mutually_exclusive_group(required=True)
    test.add_argument(
        "--while",
        dest="failing",
        metavar="COMMAND",
        help="keep graphs for which this shell command fails with the same exit code as for MODEL; {} in it, or its "
        "end, is the path of the graph (native JSON)",
    )
    test.add_argument(
        "--interesting",
        metavar="COMMAND",
        help="keep graphs for which this shell command exits with 0, as in C-Reduce",
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
        help="time limit for the command; graphs that exceed it are dropped (default: 300, as in C-Reduce)",
    )


def reduce_command(options: argparse.Namespace, screen: Screen) -> int:
    """Writes the smallest graph for which a command still fails."""
    start = time.monotonic()
    graph = load_model(options, screen, frozenset(options.input))
    raise_errors(graph.findings)
    output = _output(options, graph)
    check_target(output)
    spare([output, output.with_name(f"{output.name}.data")], graph.sources)
    finished = True
    best = graph
    with tempfile.TemporaryDirectory(prefix="dml2onnx-reduce-") as directory:
        name = f"{Path(options.model).stem if options.model != STANDARD_INPUT else 'graph'}.json"
        command = options.failing if options.interesting is None else options.interesting
        test = Interestingness(command, options.timeout, Path(directory), name)
        test.expected = _expected_exit_code(test, graph, is_failure=options.interesting is None)
        exporters.export(graph, output, "native")
        with screen.counting("reducing") as show:

            def save(progress: SearchState) -> None:
                nonlocal best
                best = progress.graph
                exporters.export(best, output, "native")
                if show is not None:
                    show(f"{plural(len(best.nodes), 'node')}, {plural(test.tests, 'test', 'no')}")

            try:
                reducing.reduced(graph, test, save)
            except KeyboardInterrupt:
                finished = False
    files = _files(output)
    answer = answers.ReduceAnswer(
        files=tuple(map(str, files)),
        file_bytes=answers.sizes_of(files),
        exit_code=test.expected,
        directml_nodes=len(best.nodes),
        directml_nodes_before=len(graph.nodes),
        tests=test.tests,
        seconds=time.monotonic() - start,
        finished=finished,
    )
    _show(answer, screen)
    return 0 if finished else INTERRUPTED


def _expected_exit_code(test: Interestingness, graph: Graph, *, is_failure: bool) -> int:
    """The exit code of interesting graphs; raises DML3038 if the whole graph is not interesting."""
    code = test.first(graph)
    if code in NOT_FOUND:
        message = f"the shell cannot find or run the command {quote(test.command)}: exit code {code}"
        raise WrongUseError(NOT_OF_INTEREST.at(message, expected="a command that runs", found=f"exit code {code}"))
    if code is not None and (code != 0) == is_failure:
        return code
    found = f"timeout after {test.timeout:g} s" if code is None else f"exit code {code}"
    expected = "an exit code other than 0" if is_failure else "exit code 0"
    result = "times out" if code is None else f"ends with exit code {code}"
    message = f"the command {result} for the whole graph, so there is no failure to reduce"
    raise DmlError(NOT_OF_INTEREST.at(message, expected=expected, found=found))


def _output(options: argparse.Namespace, graph: Graph) -> Path:
    """The file to write; without -o a new one beside the model."""
    if options.output is not None:
        path: Path = options.output
        if path.suffix.lower() != ".json":
            message = f"{quote(path.name)} does not name a native graph"
            raise WrongUseError(OUTPUT_UNWRITABLE.at(message, expected="OUT.json", found=str(path)))
        return path
    path = model_file(options, graph).with_suffix(".reduced.json")
    if path.exists():
        message = f"{quote(str(path))} already exists; choose the file to write with -o"
        raise DmlError(OUTPUT_UNWRITABLE.at(message, expected="-o OUT.json", found=str(path)))
    return path


def _files(output: Path) -> list[Path]:
    """The file of the graph, and that of its weights if it refers to one."""
    data = output.with_name(f"{output.name}.data")
    is_used = data.exists() and f'"{data.name}"' in output.read_text(encoding="utf-8")
    if data.exists() and not is_used:
        data.unlink()  # from a larger graph
    return [output, data] if is_used else [output]


def _show(answer: ReduceAnswer, screen: Screen) -> None:
    if screen.answered(answer):
        return
    if not answer.finished:
        screen.say("[bold yellow]interrupted[/]: the smallest graph so far")
    screen.say(
        f"{plural(answer.directml_nodes_before, 'node')} → {plural(answer.directml_nodes, 'node')}, exit code"
        f" {answer.exit_code}, {plural(answer.tests, 'test', 'no')} in {answer.seconds:.1f} s"
    )
    screen.say(f"[bold green]wrote[/] {files_written(answer.files, answer.file_bytes)}")
