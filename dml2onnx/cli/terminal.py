"""Output for terminals with rich: colours, tables that fit, spinners and progress bars."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from rich.console import Console

from dml2onnx.cli.markup import escape
from dml2onnx.diagnostics import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


class _Console(Console):
    """Raises BrokenPipeError, where rich would end the process with exit code 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console(*, errors: bool) -> Console:
    """A console for standard output or standard error, without emoji codes."""
    return _Console(stderr=errors, highlight=False, soft_wrap=True, emoji=False)


def least_widths(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> list[int]:
    """The minimum width of each column: that of its longest word, up to LONGEST_WORD."""
    widths = []
    for number, column in enumerate(columns):
        words = [word for row in rows for word in str(row[number]).split()]
        longest = max((len(word) for word in [*words, *column.removeprefix(">").split()]), default=0)
        widths.append(min(longest, LONGEST_WORD))
    return widths


def column_widths(columns: Sequence[str], rows: Sequence[Sequence[object]], width: int) -> list[int]:
    """The widths of the columns of a table that :func:`fits`: as much as each needs, or a fair share of ``width``.

    Each is at least as wide as its longest word. rich would shrink the widest ones, and break their words.
    """
    least = least_widths(columns, rows)
    full = [
        max(len(column.removeprefix(">")), *(len(str(row[number])) for row in rows), 0)
        for number, column in enumerate(columns)
    ]
    found, left = list(least), width - 2 * (len(columns) - 1)
    order = sorted(range(len(columns)), key=lambda number: full[number])
    for position, number in enumerate(order):
        others = order[position + 1 :]
        share = min(left // (len(others) + 1), left - sum(least[other] for other in others))
        found[number] = max(least[number], min(full[number], share))
        left -= found[number]
    return found


def fits(columns: Sequence[str], rows: Sequence[Sequence[object]], width: int) -> bool:
    """Whether the minimum widths of the columns fit into ``width``."""
    return sum(least_widths(columns, rows)) + 2 * (len(columns) - 1) <= width


def stacked(columns: Sequence[str], rows: Sequence[Sequence[object]], title: str, width: int) -> list[str]:
    """The lines of a table whose columns do not fit: a line for each cell."""
    import textwrap

    lines = [f"{title}\n"] if title else []
    for row in rows:
        for number, (column, cell) in enumerate(zip(columns, row, strict=True)):
            text = f"{column.removeprefix('>')}: {cell}" if column.removeprefix(">") else str(cell)
            if str(cell):
                indent = "  " if number else ""
                wrapped = textwrap.wrap(text, max(width, 20), initial_indent=indent, subsequent_indent="    ")
                lines += [f"{visible(line)}\n" for line in wrapped]  # a wrapped line may start like a log command
    return lines


LONGEST_WORD = 24
"""Characters of a word that widen a column; longer words are folded."""


@contextmanager
def bar(where: Console, what: str, total: int) -> Iterator[Callable[[str], object]]:
    """Yields a function that advances a progress bar by one and sets its text."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[how]}", markup=False),
    )
    with Progress(*columns, console=where) as progress:
        task = progress.add_task(what, total=total, how="")
        yield lambda text: progress.update(task, advance=1, how=text)


def table(
    where: Console, columns: Sequence[str], rows: Sequence[Sequence[object]], title: str, width: int | None
) -> list[str]:
    """Prints a table on a terminal; elsewhere returns its lines, which fit into ``width`` or rich's default width.

    Columns whose title starts with ``>`` are right-aligned.
    """
    from rich.table import Table

    available = (where.width if where.is_terminal else width) or Console(width=width).width
    if not fits(columns, rows, available):
        lines = stacked(columns, rows, title, available)
        if where.is_terminal:
            where.file.writelines(lines)
            return []
        return lines
    drawn = Table(
        title=title or None,
        title_justify="left",
        box=None,
        pad_edge=False,
        header_style="bold",
        show_header=any(columns),
    )
    for column, characters in zip(columns, column_widths(columns, rows, available), strict=True):
        side: Literal["left", "right"] = "right" if column.startswith(">") else "left"
        drawn.add_column(column.removeprefix(">"), justify=side, overflow="fold", width=characters)
    for row in rows:
        drawn.add_row(*(escape(str(cell)) for cell in row))
    if where.is_terminal:
        _Console(stderr=where.stderr, highlight=False, emoji=False).print(drawn)
        return []
    page = Console(highlight=False, emoji=False, width=width)
    with page.capture() as captured:
        page.print(drawn)
    return [visible(line.rstrip()) + "\n" for line in captured.get().splitlines()]
