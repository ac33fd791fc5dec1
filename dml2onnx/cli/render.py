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
"""The limit for listed inputs, and for outputs: a recorded graph may have hundreds of weights among its inputs."""
MOST_SHOWN = 50
"""The limit for printed findings; JSON has all of them."""
LONGEST_MEMBER = 400
"""Characters of an expected or found value; JSON has all of it."""
LONGEST_CELL = 1000
"""Characters of a table cell."""
LONGEST_PLACE = 300
"""Characters of a node's name, a pointer, and a file's name."""
PIPED_WIDTH = 200
"""Columns of a table outside of a terminal."""
FORCE_TERMINAL = ("FORCE_COLOR", "TTY_COMPATIBLE")
"""Environment variables that make rich treat any output as a terminal."""
LOG_INTERVAL = 30.0
"""Seconds between two progress messages in a log."""
COLOURS = {"error": "bold red", "warning": "bold yellow"}
_NARROW = 0x300
"""Printable characters below it are one column wide."""


def _laid_out(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str] | None:
    """The lines of a table as rich would format it, without the slow import of rich.

    ``None`` if a cell would have to be folded, or contains characters that may be wide.
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
    """Standard output or standard error; rich is used on terminals only."""

    def __init__(self, *, errors: bool) -> None:
        self._errors = errors

    @property
    def file(self) -> TextIO:
        """The stream of this process; tests replace it."""
        return sys.stderr if self._errors else sys.stdout

    @cached_property
    def console(self) -> Console:
        """A rich console for the stream."""
        from dml2onnx.cli import terminal  # imports rich, which takes longer than many commands

        return terminal.console(errors=self._errors)

    @property
    def is_terminal(self) -> bool:
        """Whether the stream shows colours and spinners."""
        return self._uses_rich() and self.console.is_terminal

    @property
    def is_interactive(self) -> bool:
        """Whether the stream is a real terminal, not only because of FORCE_COLOR."""
        return self._is_tty() and self.is_terminal

    def print(self, markup: str) -> None:
        """Prints one or more lines."""
        if not markup.isprintable():
            markup = "\n".join(map(visible, markup.split("\n")))
        if self._uses_rich():
            self.console.print(markup)
            return
        self.file.write(unstyled(markup) + "\n")
        self.file.flush()

    def _uses_rich(self) -> bool:
        return any(name in os.environ for name in FORCE_TERMINAL) or self._is_tty()

    def _is_tty(self) -> bool:
        isatty = getattr(self.file, "isatty", None)
        try:
            return isatty is not None and isatty()
        except ValueError:  # a closed stream
            return False


class Log:
    """Progress messages for a log, at most one per LOG_INTERVAL."""

    def __init__(self, stream: Stream, title: str) -> None:
        self._stream = stream
        self._title = title
        self._printed = time.monotonic()

    def say(self, text: str) -> None:
        """Prints a message unless the last one is too recent."""
        now = time.monotonic()
        if now - self._printed >= LOG_INTERVAL:
            self._printed = now
            self._stream.print(escape(f"{self._title}: {text}"))


class Screen:
    """Standard output for results, standard error for findings and progress."""

    def __init__(self, *, as_json: bool, quiet: bool, is_stdout_taken: bool = False, command: str = "") -> None:
        """``is_stdout_taken`` sends results to standard error, because ``command`` writes a file to standard output."""
        self.command = command
        self.as_json = as_json
        self.quiet = quiet
        self._has_hinted = False
        """Whether the hint at ``explain`` has been printed."""
        self.out = Stream(errors=is_stdout_taken)
        self.err = Stream(errors=True)

    @contextmanager
    def working(self, title: str) -> Iterator[None]:
        """Shows a spinner on an interactive terminal."""
        if self.as_json or self.quiet or not self.err.is_interactive:
            yield
        else:
            with self.err.console.status(title):
                yield

    @contextmanager
    def counting(self, title: str) -> Iterator[Callable[[str], object] | None]:
        """Like :meth:`working`, and yields a function that shows progress, in logs as occasional lines."""
        if self.quiet:
            yield None
        elif self.as_json or not self.err.is_interactive:
            yield Log(self.err, title).say
        else:
            with self.err.console.status(title) as status:
                yield lambda text: status.update(f"{title}: {escape(text)}")

    @contextmanager
    def bar(self, title: str, total: int) -> Iterator[Callable[[str], object]]:
        """Yields a function that advances a progress bar by one and sets its text; in logs it prints lines."""
        if self.quiet:
            yield lambda text: None
            return
        if self.as_json or not self.err.is_interactive:
            log, steps = Log(self.err, title), itertools.count(1)
            yield lambda text: log.say(f"{next(steps)} of {total}, {text}")
            return
        from dml2onnx.cli import terminal

        with terminal.bar(self.err.console, title, total) as advance:
            yield advance

    def json(self, value: object) -> None:
        """Prints a JSON document on standard output."""
        text = json.dumps(value, indent=2, allow_nan=False)
        # GitHub executes ##[...] anywhere in a log line; the escape is the same text in JSON
        self.out.file.write(text.replace("##[", r"\u0023#[") + "\n")

    def answer(self, answer: Head) -> None:
        """Prints the command's answer as JSON."""
        self.json(as_json(answer))

    def answered(self, answer: Head) -> bool:
        """Prints the answer if JSON is wanted, and returns whether it is."""
        if self.as_json:
            self.answer(answer)
        return self.as_json

    def say(self, text: str = "") -> None:
        """Prints a line of rich markup unless JSON is wanted."""
        if not self.quiet and not self.as_json:
            self.out.print(text)

    def note(self, text: str = "") -> None:
        """Prints a line of rich markup, on standard error if standard output is JSON."""
        if not self.quiet:
            (self.err if self.as_json else self.out).print(text)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[object]], title: str = "") -> None:
        """Prints a table; columns whose title starts with ``>`` are right-aligned."""
        if self.quiet or self.as_json:
            return
        rows, title = [[shortened(str(cell), LONGEST_CELL) for cell in row] for row in rows], visible(title)
        lines = None if title or self.out.is_terminal or "COLUMNS" in os.environ else _laid_out(columns, rows)
        if lines is None:
            from dml2onnx.cli import terminal

            width = None if "COLUMNS" in os.environ else PIPED_WIDTH
            lines = terminal.table(self.out.console, columns, rows, title, width)
        self.out.file.writelines(lines)

    def diagnostics(self, items: Sequence[Diagnostic], *, are_results: bool = False) -> None:
        """Prints findings with their places and remedies; as JSON they are the whole answer.

        They go to standard error unless they ``are_results`` of the command.
        """
        if self.as_json:
            self.answer(Answer(command=self.command, diagnostics=tuple(items)))
            return
        shown = [item for item in items if not self.quiet or item.is_error]
        stream = self.out if are_results else self.err
        page = ""
        for item in shown[:MOST_SHOWN]:
            self._diagnostic(item, stream, page)
            page = item.documentation or page
        if len(shown) > MOST_SHOWN:
            stream.print(f"... and {len(shown) - MOST_SHOWN} more; --json lists all of them")
        if shown and not self._has_hinted:
            self._has_hinted = True
            code = next((item.code for item in shown if item.is_error), shown[0].code)
            stream.print(f"[dim]for more:[/] dml2onnx explain {code}")

    def _diagnostic(self, item: Diagnostic, stream: Stream, page: str) -> None:
        """Prints a finding without repeating parts of its message, or the ``page`` of the previous finding."""
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
        """Prints another place of a finding, underlined with dashes, or its pointer if it has no line."""
        if not place.line:
            stream.print(f"    [dim]see:[/] {escape(f'{place.pointer}: {place.message}', LONGEST_MEMBER)}")
            return
        words = f"{place.marker.replace('^', '-')} {shortened(place.message, LONGEST_PLACE)}"
        self._excerpt(place, item.file, f"[blue]{escape(words)}[/]", stream)

    @staticmethod
    def _excerpt(place: Diagnostic | Place, file: str, below: str, stream: Stream) -> None:
        """Prints a line of the file, and ``below`` under it."""
        margin = " " * len(str(place.line))
        where = f"{shortened(file, LONGEST_PLACE)}:{place.line}:{place.column}"
        stream.print(f"  [dim]{margin}-->[/] {escape(where)}")
        stream.print(f"  [dim]{place.line} |[/] {escape(place.excerpt)}")
        stream.print(f"  [dim]{margin} |[/] {below}")

    def failure(self, text: str) -> None:
        """Prints a failure that is not a finding about the model."""
        if self.as_json:
            self.answer(Failure(command=self.command, failure=text))
        else:
            self.err.print(f"[bold red]error[/]: {escape(text)}")


def preview(items: Sequence[Json], count: int) -> str:
    """The first elements of an array with ``count`` elements."""
    return f"{', '.join(map(brief, items))}{', ...' if count > len(items) else ''}"


def brief(item: object) -> str:
    """An element with at most six digits."""
    return f"{item:.6g}" if isinstance(item, float) else str(item)


def shape(sizes: Sequence[int]) -> str:
    """``1 × 3 × 224 × 224``."""
    return " × ".join(map(str, sizes)) or "scalar"


def size(count: int) -> str:
    """A number of bytes, such as ``1.5 MiB``."""
    value = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            return f"{count} {unit}" if unit == "bytes" else f"{value:.1f} {unit}"
        value /= 1024
    raise AssertionError


def files_written(files: Sequence[str], sizes: Mapping[str, int]) -> str:
    """The written files with their sizes, where known."""
    if not files:
        return "to standard output"
    return ", ".join(f"{escape(path)} ({size(sizes[path])})" if path in sizes else escape(path) for path in files)


def plain(array: Array) -> tuple[Json, ...]:
    """The elements in row-major order for JSON: infinities and NaN are strings."""
    return tuple(number(item) if isinstance(item, float) else item for item in array.reshape(-1).tolist())
