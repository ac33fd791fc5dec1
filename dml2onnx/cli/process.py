"""Runs a command as a process: streams, which may be closed, interrupts, and the exit code."""

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
"""Seconds that an interrupt waits for an import to finish."""


def perform(arguments: Sequence[str] | None) -> int:
    """Runs one command and returns its exit code."""
    _open_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=plain.HANDLER)  # some code pages lack × and µ
    with _interrupts() as interrupt:
        try:
            code = _with_packages(sys.argv[1:] if arguments is None else arguments)
            sys.stdout.flush()
            sys.stderr.flush()
        except BrokenPipeError:
            _discard_output()  # else Python prints another error when it closes the streams
            code = BROKEN_PIPE
        except OSError as error:
            with suppress(OSError):
                sys.stderr.write(f"error: cannot write the output: {error.strerror}\n")
            _discard_output()
            code = FINDINGS
        except BaseException:
            if not interrupt.is_requested:
                raise  # else a library may have turned the KeyboardInterrupt into another exception
            code = INTERRUPTED
        return INTERRUPTED if interrupt.is_requested else code


def _with_packages(arguments: Sequence[str]) -> int:
    """Runs one command; reports a missing package, as after ``pip install --no-deps``, without a traceback."""
    try:
        return _command_line(arguments)
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if name in ("", "dml2onnx"):
            raise
        sys.stderr.write(f"error: the package {name} is not installed: pip install {name}\n")
        return FINDINGS


def _command_line(arguments: Sequence[str]) -> int:
    from dml2onnx.cli.parser import parsed

    try:
        options = parsed(arguments)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    from dml2onnx.cli.render import Screen

    writes_to_stdout = hasattr(getattr(options, "output", None), "write")
    screen = Screen(
        as_json=options.json, quiet=options.quiet, is_stdout_taken=writes_to_stdout, command=options.command
    )
    return _perform(options, screen)


def _perform(options: argparse.Namespace, screen: Screen) -> int:
    from dml2onnx.cli.commands import module_of
    from dml2onnx.diagnostics import DmlError, InternalError, UnreadableError

    try:
        command: Callable[[argparse.Namespace, Screen], int]
        command = getattr(module_of(options.command), f"{options.command}_command")
        return command(options, screen)
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


def _placed(error: DmlError, options: argparse.Namespace) -> Sequence[Diagnostic]:
    """The findings, with their places in the text of the model."""
    from dml2onnx.report.checked import placed_in

    name = getattr(options, "model", None)
    return placed_in(Path(name), error.diagnostics) if isinstance(name, str) and name else error.diagnostics


# --- Streams --------------------------------------------------------------------------------------------------------


def _open_streams() -> None:
    """Replaces closed standard streams by the null device, which reserves their descriptors.

    Otherwise a file that is opened later would get the descriptor of a standard stream.
    """
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(descriptor)
        except OSError:
            null = os.open(os.devnull, os.O_RDONLY)
            if null != descriptor:
                os.dup2(null, descriptor)
                os.close(null)
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r+", encoding="utf-8"))  # noqa: SIM115  # open until the process ends


def is_stdout_broken() -> bool:
    """Whether standard output is a pipe whose reader has closed it."""
    import select

    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(1, 0)
    return any(events & select.POLLERR for _, events in poll.poll(0))


def _discard_output() -> None:
    """Redirects streams that cannot be flushed to the null device."""
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            with suppress(OSError):
                os.dup2(null, stream.fileno())
    os.close(null)


# --- Interrupts -----------------------------------------------------------------------------------------------------


class _Interrupt:
    """A signal handler that raises KeyboardInterrupt, but not during an import.

    Libraries mistake an exception during an import for a missing dependency, swallow it, or print it.
    """

    def __init__(self) -> None:
        self.is_requested = False
        self._deadline = 0.0

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if not self.is_requested:
            self.is_requested = True
            self._deadline = time.monotonic() + PATIENCE
        if _is_importing(frame) and time.monotonic() < self._deadline:
            _thread.start_new_thread(_interrupt_again, ())
        else:
            raise KeyboardInterrupt


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if "importlib._bootstrap" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


def _interrupt_again() -> None:
    time.sleep(0.01)
    _thread.interrupt_main()


@contextmanager
def _interrupts() -> Iterator[_Interrupt]:
    """Handles SIGINT while a command runs, and ignores it afterwards."""
    interrupt = _Interrupt()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as shells start background jobs
        yield interrupt
        return
    try:
        before = signal.signal(signal.SIGINT, interrupt)
    except ValueError:  # not in the main thread
        yield interrupt
        return
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN if before is signal.default_int_handler else before)
