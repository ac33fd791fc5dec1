"""``dml2onnx pydirectml``: runs an unchanged PyDirectML program, and saves the models that it computes."""

from __future__ import annotations

import argparse
import sys
import traceback
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from dml2onnx.cli import texts
from dml2onnx.cli.common_options import add_providers
from dml2onnx.cli.exit_codes import INTERRUPTED
from dml2onnx.cli.lazily import answers, exporters, installed, pydirectml, settings
from dml2onnx.cli.markup import escape
from dml2onnx.cli.process import is_stdout_broken
from dml2onnx.cli.render import files_written
from dml2onnx.cli.wrong_use import WrongUseError
from dml2onnx.codes.reading import NOTHING_FROZEN
from dml2onnx.codes.running import NOTHING_COMPUTED, OUTPUT_UNWRITABLE, PROGRAM_UNREADABLE, UNKNOWN_INPUT
from dml2onnx.diagnostics import DmlError, UnreadableError, plural, quote, raise_errors, shortened
from dml2onnx.files import check_target, is_special, spare

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import CodeType

    from dml2onnx.cli.render import Screen
    from dml2onnx.onnx_model import OnnxPort
    from dml2onnx.pydirectml.settings import Computed, InputSlot

PACKAGE = Path(__file__).resolve().parent.parent
ONNX_SUFFIX = ".onnx"
NATIVE_SUFFIX = ".json"


def pydirectml_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``pydirectml``."""
    parser.add_argument(
        "--save",
        type=texts.path,
        metavar="OUT.onnx|OUT.json",
        help="save the model that the program computes, as ONNX or as a native graph for other commands; further "
        "models go to OUT-2.onnx, ...",
    )
    parser.add_argument(
        "--freeze", action="store_true", help="turn all inputs into constants, not only those owned by DirectML"
    )
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME",
        help="keep this input an input: input0, input1, ... (repeatable)",
    )
    parser.add_argument(
        "--feature-level",
        type=texts.feature_level,
        metavar="LEVEL",
        help="check operators against this level, such as 3_0 (default: the latest)",
    )
    add_providers(parser)
    parser.add_argument("--quiet", "-q", action="store_true", help="print errors only")
    parser.add_argument("program", metavar="PROGRAM.py", help="a program with: import pydirectml")
    rest = parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGS", help="arguments of the program")
    rest.required = False  # else argparse lists it as missing if PROGRAM.py is missing
    parser.set_defaults(json=False)


def pydirectml_command(options: argparse.Namespace, screen: Screen) -> int:
    """Runs the program and returns its exit code."""
    program = Path(options.program)
    code = _read(program)
    installed.require_providers(options.provider)
    saver = _Saver(options.save, options.freeze, frozenset(options.input))
    if options.save is not None:
        _check_output(options.save, program)
    program_settings = settings.Settings(
        name=program.stem,
        provider=options.provider,
        feature_level=options.feature_level,
        freezes=saver.freezes,
        compiled=saver.save if options.save is not None else None,
    )
    with settings.use(program_settings):
        exit_code = _run(code, program, options.arguments)
    sys.stdout.flush()
    saver.summarise(screen)
    if exit_code == 0:
        saver.require_all()
    return exit_code


def _read(program: Path) -> CodeType | SyntaxError:
    """The compiled program, or its syntax error, which is reported like an exception of the program."""
    try:
        source = program.read_bytes()
    except OSError as error:
        message = f"the program {quote(str(program))} cannot be read: {error.strerror or error}"
        raise UnreadableError(PROGRAM_UNREADABLE.at(message, found=str(program))) from None
    if program.suffix == ".ipynb":
        message = f"{quote(str(program))} is a Jupyter notebook; jupyter nbconvert --to script converts it"
        raise UnreadableError(PROGRAM_UNREADABLE.at(message, expected="a .py file", found=str(program)))
    try:
        return compile(source, str(program), "exec", dont_inherit=True)
    except SyntaxError as error:
        return error
    except ValueError as error:
        message = f"the program {quote(str(program))} is not Python: {error}"
        raise UnreadableError(PROGRAM_UNREADABLE.at(message, found=str(program))) from None


def _check_output(output: Path, program: Path) -> None:
    """Checks ``--save`` before the program runs."""
    check_target(output)
    spare([output], [program])
    if output.suffix.lower() not in (ONNX_SUFFIX, NATIVE_SUFFIX) and not is_special(output):
        message = (
            f"the suffix of {quote(str(output))} decides what to write, and is not {ONNX_SUFFIX} or {NATIVE_SUFFIX}"
        )
        raise WrongUseError(OUTPUT_UNWRITABLE.at(message, expected="OUT.onnx or OUT.json", found=str(output)))


# --- Running --------------------------------------------------------------------------------------------------------


def _run(code: CodeType | SyntaxError, program: Path, arguments: Sequence[str]) -> int:
    """Runs the program as ``__main__`` and returns the exit code that Python would return."""
    with _as_main(program, arguments) as main:
        try:
            if isinstance(code, SyntaxError):
                raise code
            exec(code, main.__dict__)
        except SystemExit as end:
            if end.code is not None and not isinstance(end.code, int):
                sys.stderr.write(f"{end.code}\n")
                return 1
            return end.code or 0
        except KeyboardInterrupt:
            _print_traceback()
            return INTERRUPTED
        except BaseException as error:
            if isinstance(error, BrokenPipeError) and is_stdout_broken():
                raise
            _print_traceback()
            return 1
    return 0


@contextmanager
def _as_main(program: Path, arguments: Sequence[str]) -> Iterator[ModuleType]:
    """Sets up what Python does for a script: ``__main__``, ``sys.argv``, the script's directory first on the path."""
    main = ModuleType("__main__")
    main.__dict__.update(__file__=str(program), __builtins__=__builtins__, __cached__=None)
    before = sys.modules["__main__"], sys.argv, sys.path[:], sys.modules.get("pydirectml")
    sys.modules["__main__"] = main
    sys.modules["pydirectml"] = pydirectml
    sys.argv = [str(program), *arguments]
    sys.path[0:1] = [str(program.resolve().parent)]
    try:
        yield main
    finally:
        sys.modules["__main__"], sys.argv, sys.path[:] = before[:3]
        if before[3] is None:
            del sys.modules["pydirectml"]
        else:
            sys.modules["pydirectml"] = before[3]


def _print_traceback() -> None:
    """Prints the traceback of the current exception without the frames of dml2onnx."""
    sys.stdout.flush()
    exception = traceback.TracebackException(*sys.exc_info())
    _trim(exception, set())
    sys.stderr.write("".join(exception.format()))


def _trim(exception: traceback.TracebackException, seen: set[int]) -> None:
    if id(exception) in seen:
        return
    seen.add(id(exception))
    frames = [frame for frame in exception.stack if not _is_ours(frame.filename)]
    exception.stack = traceback.StackSummary.from_list(frames)
    for other in (exception.__cause__, exception.__context__, *(exception.exceptions or ())):
        if other is not None:
            _trim(other, seen)


def _is_ours(filename: str) -> bool:
    return Path(filename).is_absolute() and Path(filename).resolve().is_relative_to(PACKAGE)


# --- Saving ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Saver:
    """Saves every computed model: the first as OUT.onnx, later ones as OUT-2.onnx, OUT-3.onnx, ...

    A ``.json`` file is the graph in the native format, with large weights in a file beside it.
    """

    output: Path | None
    freeze: bool
    inputs: frozenset[str]
    saved: list[tuple[Sequence[Path], Computed]] = field(default_factory=list)
    pending: list[Computed] = field(default_factory=list)

    @property
    def is_native(self) -> bool:
        """Whether graphs are saved instead of models."""
        return self.output is not None and self.output.suffix.lower() == NATIVE_SUFFIX

    def freezes(self, slot: InputSlot) -> bool:
        """Whether an input becomes a constant: weights, and all others with ``--freeze``, unless in ``--input``."""
        return (self.freeze or slot.owned_by_dml) and slot.name not in self.inputs

    def save(self, computed: Computed) -> None:
        """Writes the pending models once they have all inputs that ``--input`` names."""
        assert self.output is not None
        self.pending.append(computed)
        if not self.inputs <= self._input_names():
            return
        for item in self.pending:
            number = len(self.saved) + 1
            is_first = number == 1 or is_special(self.output)
            path = self.output if is_first else self.output.with_stem(f"{self.output.stem}-{number}")
            files = exporters.export(item.graph, path, "native") if self.is_native else item.model.save(path)
            self.saved.append((files, item))
        self.pending.clear()

    def _input_names(self) -> set[str]:
        """The names of the inputs of all models so far, frozen ones too."""
        models = [*(item for _, item in self.saved), *self.pending]
        frozen = {slot.name for item in models for slot in item.frozen}
        return frozen | {port.name for item in models for port in item.model.inputs}

    def summarise(self, screen: Screen) -> None:
        """Lists the written files on standard error, because standard output is the program's."""
        if screen.quiet:
            return
        for paths, item in self.saved:
            native, onnx = (len(item.graph.nodes), "DirectML"), (item.model.node_count, "ONNX")
            count, kind = native if self.is_native else onnx
            files = files_written([*map(str, paths)], answers.sizes_of(paths))
            screen.err.print(f"[bold green]wrote[/] {files}: {plural(count, f'{kind} node')}")
            for kind, ports in (("inputs", item.model.inputs), ("outputs", item.model.outputs)):
                screen.err.print(f"    {kind}: {escape(_listed(ports))}")
            for why, owned in (("OWNED_BY_DML", True), ("--freeze", False)):
                names = [slot.name for slot in item.frozen if slot.owned_by_dml is owned]
                if names:
                    screen.err.print(f"    constants, as the program bound them ({why}): {escape(', '.join(names))}")
        if self.freeze and self.saved and all(slot.owned_by_dml for _, item in self.saved for slot in item.frozen):
            message = "--freeze has no effect: every input is owned by DirectML or listed in --input"
            screen.diagnostics([NOTHING_FROZEN.at(message, expected="an input")])

    def require_all(self) -> None:
        """Raises if there is nothing to save, or no model has an input that ``--input`` names."""
        if self.output is None:
            return
        if not self.saved and not self.pending:
            message = f"the program computed nothing, so {quote(str(self.output))} was not written"
            raise DmlError(NOTHING_COMPUTED.at(message, expected="a call of Device.compute"))
        known = self._input_names()
        listed = ", ".join(sorted(known)) or "none"
        raise_errors(
            UNKNOWN_INPUT.at(
                f"no model has an input {quote(name)}; there are: {shortened(listed)}", expected=listed, found=name
            )
            for name in sorted(self.inputs - known)
        )


def _listed(ports: Sequence[OnnxPort]) -> str:
    return ", ".join(f"{port.name} {port.dtype} {list(port.shape)}" for port in ports) or "none"
