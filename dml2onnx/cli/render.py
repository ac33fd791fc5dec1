"""Output for people (tables, diagnostics, previews) and for tools (JSON)."""

from __future__ import annotations

import itertools
import json
import os
import sys
import time
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, TextIO

from dml2onnx.cli.markup import escape, unstyled
from dml2onnx.diagnostics import Diagnostic, Place, is_said, shortened, visible
from dml2onnx.report.form import Answer, Failure, Head, Json, as_json, number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rich.console import Console

    from dml2onnx.onnx_model import Array

MOST_PORTS = 20
"""Inputs that a text lists, and outputs: a recorded graph may have hundreds of weights among its inputs."""
MOST_SHOWN = 50
"""People stop reading long before; tools get everything."""

LONGEST_MEMBER = 400
"""Characters of what was expected or found; tools get everything."""

LONGEST_CELL = 1000
"""Characters of one cell of a table."""

LONGEST_PLACE = 300
"""Characters of the name of a node, of a pointer, and of the name of a file."""

PIPED_WIDTH = 200
"""Columns of a table that no terminal limits."""

TERMINAL_BY_WORD = ("FORCE_COLOR", "TTY_COMPATIBLE")
"""Variables that make a terminal of what is none, as rich understands them."""

BETWEEN_LINES = 30.0
"""Seconds between two lines that say how far something is, in a log."""

COLOURS = {"error": "bold red", "warning": "bold yellow"}

_NARROW = 0x300
"""Characters below it that can be printed take one column."""


def _laid_out(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str] | None:
    """Lines of a table as rich lays it out, which takes it longer than all else that lists do.

    ``None`` where it would fold something, or has to look up how wide it is.
    """
    texts = [[column.removeprefix(">") for column in columns]] if any(columns) else []
    texts += [[str(cell) for cell in row] for row in rows]
    if not all(cell.isprintable() and (cell.isascii() or ord(max(cell)) < _NARROW) for row in texts for cell in row):
        return None
    widths = [max(map(len, cells)) for cells in zip(*texts, strict=True)]
    if sum(widths) + 2 * len(widths) > PIPED_WIDTH:
        return None
    aligned = [str.rjust if column.startswith(">") else str.ljust for column in columns]
    return [
        "  ".join([align(cell, width) for align, cell, width in zip(aligned, row, widths, strict=True)]).rstrip() + "\n"
        for row in texts
    ]


class Stream:
    """Standard output or standard error, as people read them; rich is asked only where it has something to draw."""

    def __init__(self, *, errors: bool) -> None:
        self._errors = errors

    @property
    def file(self) -> TextIO:
        """What is written to."""
        return sys.stderr if self._errors else sys.stdout

    @cached_property
    def console(self) -> Console:
        """The same for rich."""
        from dml2onnx.cli import terminal  # brings rich, which takes longer than many commands

        return terminal.console(errors=self._errors)

    @property
    def is_terminal(self) -> bool:
        """Whether colours and spinners are seen there."""
        return self._is_for_rich() and self.console.is_terminal

    @property
    def is_interactive(self) -> bool:
        """Whether somebody sees what moves there: a terminal by its nature, not by a wish for colours."""
        return self._is_tty() and self.is_terminal

    def print(self, markup: str) -> None:
        """A line, or several."""
        if not markup.isprintable():
            markup = "\n".join(map(visible, markup.split("\n")))
        if self._is_for_rich():
            self.console.print(markup)
            return
        self.file.write(unstyled(markup) + "\n")
        self.file.flush()

    def _is_for_rich(self) -> bool:
        if any(name in os.environ for name in TERMINAL_BY_WORD):
            return True
        return self._is_tty()

    def _is_tty(self) -> bool:
        isatty = getattr(self.file, "isatty", None)
        try:
            return isatty is not None and isatty()
        except ValueError:  # a stream that is closed
            return False


class Log:
    """Says in a log how far something is, so that whoever waits for it sees that it goes on."""

    def __init__(self, stream: Stream, what: str) -> None:
        self._stream = stream
        self._what = what
        self._said = time.monotonic()

    def say(self, text: str) -> None:
        """A line, if the last one was long ago."""
        now = time.monotonic()
        if now - self._said >= BETWEEN_LINES:
            self._said = now
            self._stream.print(escape(f"{self._what}: {text}"))


class Screen:
    """Standard output for results, standard error for findings and progress."""

    def __init__(self, *, as_json: bool, quiet: bool, aside: bool = False, command: str = "") -> None:
        """``aside`` leaves standard output to what the ``command`` writes there."""
        self.command = command
        self.as_json = as_json
        self.quiet = quiet
        self._has_pointed = False
        """Whether it has been said where more about findings is found; once is enough."""
        self.out = Stream(errors=aside)
        self.err = Stream(errors=True)

    @contextmanager
    def working(self, what: str) -> Iterator[None]:
        """A spinner while something takes long, where somebody is looking."""
        if self.as_json or self.quiet or not self.err.is_interactive:
            yield
        else:
            with self.err.console.status(what):
                yield

    @contextmanager
    def counting(self, what: str) -> Iterator[Callable[[str], object] | None]:
        """As :meth:`working`, with a function that says how far it is: a line now and then where nobody is looking."""
        if self.quiet:
            yield None
        elif self.as_json or not self.err.is_interactive:
            yield Log(self.err, what).say
        else:
            with self.err.console.status(what) as status:
                yield lambda text: status.update(f"{what}: {escape(text)}")

    @contextmanager
    def bar(self, what: str, total: int) -> Iterator[Callable[[str], object]]:
        """A bar with a function that moves it by one and says how it goes; in logs a line now and then."""
        if self.quiet:
            yield lambda text: None
            return
        if self.as_json or not self.err.is_interactive:
            log, steps = Log(self.err, what), itertools.count(1)
            yield lambda text: log.say(f"{next(steps)} of {total}, {text}")
            return
        from dml2onnx.cli import terminal

        with terminal.bar(self.err.console, what, total) as advance:
            yield advance

    def json(self, value: object) -> None:
        """One JSON document on standard output."""
        text = json.dumps(value, indent=2, allow_nan=False)
        # a command wherever it stands in a line of GitHub's logs, and the same text to whoever reads JSON
        self.out.file.write(text.replace("##[", r"\u0023#[") + "\n")

    def answer(self, answer: Head) -> None:
        """What the command says, as JSON."""
        self.json(as_json(answer))

    def answered(self, answer: Head) -> bool:
        """Says it as JSON if that is what was asked for, and whether it was."""
        if self.as_json:
            self.answer(answer)
        return self.as_json

    def say(self, text: str = "") -> None:
        """A line for people; markup is rich's."""
        if not self.quiet and not self.as_json:
            self.out.print(text)

    def note(self, text: str = "") -> None:
        """A line for people that is no part of the answer where that is for programs."""
        if not self.quiet:
            (self.err if self.as_json else self.out).print(text)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[object]], title: str = "") -> None:
        """Rows for people; columns whose title starts with ``>`` are aligned to the right."""
        if self.quiet or self.as_json:
            return
        rows, title = [[shortened(str(cell), LONGEST_CELL) for cell in row] for row in rows], visible(title)
        lines = None if title or self.out.is_terminal or "COLUMNS" in os.environ else _laid_out(columns, rows)
        if lines is None:
            from dml2onnx.cli import terminal

            width = None if "COLUMNS" in os.environ else PIPED_WIDTH
            lines = terminal.table(self.out.console, columns, rows, title, width)
        self.out.file.writelines(lines)

    def diagnostics(self, items: Sequence[Diagnostic], *, asked_for: bool = False) -> None:
        """Findings, each with its place and its remedy; as JSON they are the whole answer.

        They go to standard error unless they are what the command was ``asked_for``.
        """
        if self.as_json:
            self.answer(Answer(command=self.command, diagnostics=tuple(items)))
            return
        wanted = [item for item in items if not self.quiet or item.is_error]
        stream = self.out if asked_for else self.err
        page = ""
        for item in wanted[:MOST_SHOWN]:
            self._diagnostic(item, stream, page)
            page = item.documentation or page
        if len(wanted) > MOST_SHOWN:
            stream.print(f"... and {len(wanted) - MOST_SHOWN} more; --json lists all of them")
        if wanted and not self._has_pointed:
            self._has_pointed = True
            code = next((item.code for item in wanted if item.is_error), wanted[0].code)
            stream.print(f"[dim]for more:[/] dml2onnx explain {code}")

    def _diagnostic(self, item: Diagnostic, stream: Stream, page: str) -> None:
        """What the message says already is not said once more, nor is the ``page`` of the finding before."""
        node = f'node "{shortened(item.node, LONGEST_PLACE)}"' if item.node else ""
        if item.operator:
            node += f" ({item.operator})"
        colour = COLOURS[item.severity]
        where = ", ".join(part for part in (node, shortened(item.pointer, LONGEST_PLACE)) if part)
        head = f"[{colour}]{item.code} {item.severity}[/]"
        stream.print(f"{head}: {escape(where + ': ' if where else '')}{escape(item.message)}")
        if item.line:
            self._excerpt(item, item.file, f"[{colour}]{item.marker}[/]", stream)
        for place in item.places:
            self._second_place(place, item, stream)
        unsaid = [remedy.words for remedy in item.remedies if not is_said(remedy.words, item.message)]
        for position, words in enumerate(unsaid):
            stream.print(f"    [green]{'or' if position else 'help'}:[/] {escape(words, LONGEST_MEMBER)}")
        for label, text in (
            ("expected", "" if is_said(item.expected, item.message) else item.expected),
            ("found", "" if is_said(item.found, item.message) else item.found),
            ("follows from", ", ".join(name for name in item.related if not is_said(name, item.message))),
            ("feature level", f"allowed from {item.since}" if item.since else ""),
            ("page", "" if item.documentation == page else item.documentation),
        ):
            if text:
                stream.print(f"    [dim]{label}:[/] {escape(text, LONGEST_MEMBER)}")

    def _second_place(self, place: Place, item: Diagnostic, stream: Stream) -> None:
        """Another place of a finding, underlined with dashes; where it is not in a text, by its name."""
        if not place.line:
            stream.print(f"    [dim]see:[/] {escape(f'{place.pointer}: {place.message}', LONGEST_MEMBER)}")
            return
        words = f"{place.marker.replace('^', '-')} {shortened(place.message, LONGEST_PLACE)}"
        self._excerpt(place, item.file, f"[blue]{escape(words)}[/]", stream)

    @staticmethod
    def _excerpt(place: Diagnostic | Place, file: str, below: str, stream: Stream) -> None:
        """A line of a text, with what stands below it."""
        margin = " " * len(str(place.line))
        where = f"{shortened(file, LONGEST_PLACE)}:{place.line}:{place.column}"
        stream.print(f"  [dim]{margin}-->[/] {escape(where)}")
        stream.print(f"  [dim]{place.line} |[/] {escape(place.excerpt)}")
        stream.print(f"  [dim]{margin} |[/] {below}")

    def failure(self, text: str) -> None:
        """A failure that is no finding about the model."""
        if self.as_json:
            self.answer(Failure(command=self.command, failure=text))
        else:
            self.err.print(f"[bold red]error[/]: {escape(text)}")


def preview(items: Sequence[Json], count: int) -> str:
    """The first few elements of so many."""
    return f"{', '.join(map(brief, items))}{', ...' if count > len(items) else ''}"


def brief(item: object) -> str:
    """A number as short as it can be said, floats with at most six digits."""
    return f"{item:.6g}" if isinstance(item, float) else str(item)


def shape(sizes: Sequence[int]) -> str:
    """``1 × 3 × 224 × 224``."""
    return " × ".join(map(str, sizes)) or "scalar"


def size(count: int) -> str:
    """Bytes for people."""
    value = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            return f"{count} {unit}" if unit == "bytes" else f"{value:.1f} {unit}"
        value /= 1024
    raise AssertionError


def files_written(files: Sequence[str], sizes: Mapping[str, int]) -> str:
    """The files that a command has written, with the sizes of those that have one."""
    if not files:
        return "to standard output"
    return ", ".join(f"{escape(path)} ({size(sizes[path])})" if path in sizes else escape(path) for path in files)


def plain(array: Array) -> tuple[Json, ...]:
    """Elements in row-major order as JSON has them: infinities and NaN as strings."""
    return tuple(number(item) if isinstance(item, float) else item for item in array.reshape(-1).tolist())
