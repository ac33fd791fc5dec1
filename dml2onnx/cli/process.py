"""A command as a process: streams (closed ones, too), interruptions, and the exit code."""

from __future__ import annotations

import _thread
import os
import signal
import sys
import time
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from dml2onnx.cli import plain
from dml2onnx.cli.exit_codes import BROKEN_PIPE, FINDINGS, INTERRUPTED, UNREADABLE

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence
    from types import FrameType

    from dml2onnx.cli.render import Screen
    from dml2onnx.diagnostics import Diagnostic, DmlError

PATIENCE = 2.0
"""Seconds that an interruption waits for imports."""


def perform(arguments: Sequence[str] | None) -> int:
    """Runs one command and returns its exit code."""
    _open_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=plain.HANDLER)  # consoles of other languages lack × and µ
    with _interruptions() as interruption:
        try:
            code = _with_packages(sys.argv[1:] if arguments is None else arguments)
            sys.stdout.flush()
            sys.stderr.flush()
        except BrokenPipeError:
            # whoever read our output has gone; Python would complain once more when it closes the streams
            _discard_output()
            code = BROKEN_PIPE
        except OSError as error:
            with suppress(OSError):
                sys.stderr.write(f"error: cannot write the output: {error.strerror}\n")
            _discard_output()
            code = FINDINGS
        except BaseException:
            if not interruption.asked_for:
                raise
            code = INTERRUPTED  # a library that was interrupted may have made something else of it
        return INTERRUPTED if interruption.asked_for else code


def _with_packages(arguments: Sequence[str]) -> int:
    """Runs one command; a package that is missing, as after ``pip install --no-deps``, is no bug of ours."""
    try:
        return _command_line(arguments)
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if name in ("", "dml2onnx"):
            raise
        sys.stderr.write(f"error: the package {name} is not installed here: pip install {name}\n")
        return FINDINGS


def _command_line(arguments: Sequence[str]) -> int:
    from dml2onnx.cli.parser import parsed

    try:
        options = parsed(arguments)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    from dml2onnx.cli.render import Screen

    output = getattr(options, "output", None)
    aside = hasattr(output, "write")
    screen = Screen(as_json=options.json, quiet=options.quiet, aside=aside, command=options.command)
    return _perform(options, screen)


def _perform(options: argparse.Namespace, screen: Screen) -> int:
    from dml2onnx.diagnostics import DmlError, InternalError, UnreadableError

    try:
        code: int = _command(options.command)(options, screen)
    except UnreadableError as error:
        screen.diagnostics(_placed(error, options))
        return UNREADABLE
    except DmlError as error:
        from dml2onnx.cli.wrong_use import is_wrong_use

        screen.diagnostics(_placed(error, options))
        return UNREADABLE if is_wrong_use(error) else FINDINGS
    except InternalError as error:
        screen.failure(str(error))
        return FINDINGS
    except MemoryError:
        screen.failure("not enough memory for this model")
        return FINDINGS
    except KeyboardInterrupt:
        screen.failure("interrupted")
        return INTERRUPTED
    return code


def _placed(error: DmlError, options: argparse.Namespace) -> Sequence[Diagnostic]:
    """The findings, with their places in the text of the model that the command was about."""
    from dml2onnx.report.checked import placed_in

    name = getattr(options, "model", None)
    return placed_in(Path(name), error.diagnostics) if isinstance(name, str) and name else error.diagnostics


def _command(name: str) -> Callable[[argparse.Namespace, Screen], int]:
    from dml2onnx.cli.commands import module_of

    command: Callable[[argparse.Namespace, Screen], int] = getattr(module_of(name), f"{name}_command")
    return command


# --- Streams --------------------------------------------------------------------------------------------------------


def _open_streams() -> None:
    """What was closed by whoever started us swallows what we say, as Python's own print does.

    The descriptors are taken, so that no file which is opened later is mistaken for them.
    """
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(descriptor)
        except OSError:
            empty = os.open(os.devnull, os.O_RDONLY)
            if empty != descriptor:
                os.dup2(empty, descriptor)
                os.close(empty)
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r+", encoding="utf-8"))  # noqa: SIM115  # for as long as we live


def reader_has_gone() -> bool:
    """Whether standard output is a pipe that nobody reads from any more."""
    import select

    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(1, 0)
    return any(events & select.POLLERR for _, events in poll.poll(0))


def _discard_output() -> None:
    """Sends what is still in the buffers of the streams nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            with suppress(OSError):
                os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


# --- Interruptions --------------------------------------------------------------------------------------------------


class _Interruption:
    """Handles the signal: raises KeyboardInterrupt, but not in the midst of an import.

    Libraries take an exception there for a failure of theirs, swallow it, or write it to standard error.
    """

    def __init__(self) -> None:
        self.asked_for = False
        self._latest = 0.0

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if not self.asked_for:
            self.asked_for = True
            self._latest = time.monotonic() + PATIENCE
        if _importing(frame) and time.monotonic() < self._latest:
            _thread.start_new_thread(_ask_again, ())
        else:
            raise KeyboardInterrupt


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if "importlib._bootstrap" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


def _ask_again() -> None:
    time.sleep(0.01)
    _thread.interrupt_main()


@contextmanager
def _interruptions() -> Iterator[_Interruption]:
    """Interruptions are ours while a command runs; what comes afterwards comes too late.

    Whoever starts a command in the background with the signal ignored, as shells do, means that.
    """
    interruption = _Interruption()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield interruption
        return
    try:
        before = signal.signal(signal.SIGINT, interruption)
    except ValueError:  # only the main thread has signals
        yield interruption
        return
    try:
        yield interruption
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN if before is signal.default_int_handler else before)
