"""``dml2onnx pydirectml``: runs a program written for PyDirectML as it is, and keeps the models that it computes."""

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
from dml2onnx.cli.process import reader_has_gone
from dml2onnx.cli.render import files_written
from dml2onnx.cli.wrong_use import WrongUseError
from dml2onnx.codes.reading import NOTHING_FROZEN
from dml2onnx.codes.running import (
    NOTHING_COMPUTED,
    OUTPUT_UNWRITABLE,
    PROGRAM_UNREADABLE,
    UNKNOWN_INPUT,
)
from dml2onnx.diagnostics import DmlError, UnreadableError, plural, quote, raise_errors, shortened
from dml2onnx.files import check_target, is_special, spare

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import CodeType

    from dml2onnx.cli.render import Screen
    from dml2onnx.onnx_model import Port
    from dml2onnx.pydirectml.settings import Computed, InputSlot

PACKAGE = Path(__file__).resolve().parent.parent


def pydirectml_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command line of ``pydirectml`` may have."""
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
    rest.required = False  # of nothing that is missing is that to be said
    parser.set_defaults(json=False)


def pydirectml_command(options: argparse.Namespace, screen: Screen) -> int:
    """Runs the program and returns its exit code."""
    program = Path(options.program)
    code = _read(program)
    installed.require_providers(options.provider)
    keeper = _Keeper(options.save, options.freeze, frozenset(options.input))
    if options.save is not None:
        _check_output(options.save, program)
    active = settings.Settings(
        name=program.stem,
        provider=options.provider,
        feature_level=options.feature_level,
        freezes=keeper.freezes,
        compiled=keeper.keep if options.save is not None else None,
    )
    with settings.use(active):
        exit_code = _run(code, program, options.arguments)
    sys.stdout.flush()
    keeper.summarise(screen)
    if exit_code == 0:
        keeper.require_all()
    return exit_code


def _read(program: Path) -> CodeType | SyntaxError:
    """The compiled program; a mistake in its syntax is reported like everything else that it raises."""
    try:
        source = program.read_bytes()
    except OSError as error:
        message = f"the program {quote(str(program))} cannot be read: {error.strerror or error}"
        raise UnreadableError(PROGRAM_UNREADABLE.at(message, found=str(program))) from None
    if program.suffix == ".ipynb":
        message = f"{quote(str(program))} is a Jupyter notebook; jupyter nbconvert --to script writes its program"
        raise UnreadableError(PROGRAM_UNREADABLE.at(message, expected="a .py file", found=str(program)))
    try:
        return compile(source, str(program), "exec", dont_inherit=True)
    except SyntaxError as error:
        return error
    except ValueError as error:
        message = f"the program {quote(str(program))} is no Python: {error}"
        raise UnreadableError(PROGRAM_UNREADABLE.at(message, found=str(program))) from None


def _check_output(output: Path, program: Path) -> None:
    """What is wrong with ``--save`` is said before the program runs."""
    check_target(output)
    spare([output], [program])
    if output.suffix.lower() not in (ONNX_SUFFIX, NATIVE_SUFFIX) and not is_special(output):
        message = f"{quote(str(output))} ends neither in {ONNX_SUFFIX} nor in {NATIVE_SUFFIX}, which say what to write"
        raise WrongUseError(OUTPUT_UNWRITABLE.at(message, expected="OUT.onnx or OUT.json", found=str(output)))


# --- Running --------------------------------------------------------------------------------------------------------


def _run(code: CodeType | SyntaxError, program: Path, arguments: Sequence[str]) -> int:
    """Runs the program as ``__main__`` and returns the exit code that Python would give it."""
    with _as_main(program, arguments) as main:
        try:
            if isinstance(code, SyntaxError):
                raise code
            exec(code, main.__dict__)
        except SystemExit as end:
            return _exit_code(end)
        except KeyboardInterrupt:
            _print_trimmed()
            return INTERRUPTED
        except BaseException as error:
            if isinstance(error, BrokenPipeError) and reader_has_gone():
                raise
            _print_trimmed()
            return 1
    return 0


@contextmanager
def _as_main(program: Path, arguments: Sequence[str]) -> Iterator[ModuleType]:
    """Python's own surroundings of a script: ``__main__``, ``sys.argv``, the script's directory first on the path."""
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


def _exit_code(end: SystemExit) -> int:
    if end.code is None:
        return 0
    if isinstance(end.code, int):
        return end.code
    sys.stderr.write(f"{end.code}\n")
    return 1


def _print_trimmed() -> None:
    """The traceback of what the program raised, without our frames: it ends in the program's (or a library's) line."""
    sys.stdout.flush()
    found = traceback.TracebackException(*sys.exc_info())
    _trim(found, set())
    sys.stderr.write("".join(found.format()))


def _trim(found: traceback.TracebackException, seen: set[int]) -> None:
    if id(found) in seen:
        return
    seen.add(id(found))
    kept = [frame for frame in found.stack if not _is_ours(frame.filename)]
    found.stack = traceback.StackSummary.from_list(kept)
    for other in (found.__cause__, found.__context__, *(found.exceptions or ())):
        if other is not None:
            _trim(other, seen)


def _is_ours(filename: str) -> bool:
    return Path(filename).is_absolute() and Path(filename).resolve().is_relative_to(PACKAGE)


# --- Keeping --------------------------------------------------------------------------------------------------------


ONNX_SUFFIX = ".onnx"
NATIVE_SUFFIX = ".json"
"""What ``--save`` ends in where the DirectML graph is to be kept, and not the ONNX model."""


@dataclass(frozen=True, slots=True)
class _Kept:
    files: Sequence[Path]
    computed: Computed


@dataclass(slots=True)
class _Keeper:
    """Saves every model that is computed: the first as OUT.onnx, later ones as OUT-2.onnx, OUT-3.onnx, ...

    As ``.json`` it is the graph in the native format, for all other commands, with large weights in a file beside it.
    """

    output: Path | None
    freeze: bool
    inputs: frozenset[str]
    kept: list[_Kept] = field(default_factory=list)
    waiting: list[Computed] = field(default_factory=list)

    def freezes(self, slot: InputSlot) -> bool:
        """Weights become constants, with ``--freeze`` everything does; what ``--input`` names stays an input."""
        return (self.freeze or slot.owned_by_dml) and slot.name not in self.inputs

    def keep(self, computed: Computed) -> None:
        """Writes a model, and those that wait, as soon as there are all inputs that ``--input`` names."""
        assert self.output is not None
        self.waiting.append(computed)
        if not self.inputs <= self._known():
            return
        for item in self.waiting:
            number = len(self.kept) + 1
            one_place = number == 1 or is_special(self.output)
            path = self.output if one_place else self.output.with_stem(f"{self.output.stem}-{number}")
            is_native = path.suffix.lower() == NATIVE_SUFFIX
            files = exporters.export(item.graph, path, "native") if is_native else item.model.save(path)
            self.kept.append(_Kept(files, item))
        self.waiting.clear()

    def _known(self) -> set[str]:
        """Names of the inputs of all models so far."""
        models = [*(item.computed for item in self.kept), *self.waiting]
        known = {slot.name for item in models for slot in item.frozen}
        return known | {port.name for item in models for port in item.model.inputs}

    def summarise(self, screen: Screen) -> None:
        """What was written, on standard error: standard output is the program's."""
        if screen.quiet:
            return
        for kept in self.kept:
            item = kept.computed
            is_native = kept.files[0].suffix.lower() == NATIVE_SUFFIX if kept.files else False
            count, of = (len(item.graph.nodes), "DirectML") if is_native else (item.model.node_count, "ONNX")
            files = files_written([*map(str, kept.files)], answers.sizes_of(kept.files))
            screen.err.print(f"[bold green]wrote[/] {files}: {plural(count, f'{of} node')}")
            for kind, ports in (("inputs", item.model.inputs), ("outputs", item.model.outputs)):
                screen.err.print(f"    {kind}: {escape(_listed(ports))}")
            for why, owned in (("OWNED_BY_DML", True), ("--freeze", False)):
                names = [slot.name for slot in item.frozen if slot.owned_by_dml is owned]
                if names:
                    screen.err.print(f"    constants, as the program bound them ({why}): {escape(', '.join(names))}")
        if self.freeze and self.kept and all(slot.owned_by_dml for item in self.kept for slot in item.computed.frozen):
            message = "--freeze has no effect: every input is owned by DirectML, or --input excepts it"
            screen.diagnostics([NOTHING_FROZEN.at(message, expected="an input")])

    def require_all(self) -> None:
        """Raises when there is nothing to save, or ``--input`` named what no model has."""
        if self.output is None:
            return
        if not self.kept and not self.waiting:
            message = f"the program computed nothing, so {quote(str(self.output))} was not written"
            raise DmlError(NOTHING_COMPUTED.at(message, expected="a call of Device.compute"))
        known = self._known()
        listed = ", ".join(sorted(known)) or "none"
        raise_errors(
            UNKNOWN_INPUT.at(
                f"no model has an input {quote(name)}; there are: {shortened(listed)}", expected=listed, found=name
            )
            for name in sorted(self.inputs - known)
        )


def _listed(ports: Sequence[Port]) -> str:
    return ", ".join(f"{port.name} {port.dtype} {list(port.shape)}" for port in ports) or "none"
