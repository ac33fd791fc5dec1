"""Output without a terminal is the same as that of rich, which is not imported then."""

from __future__ import annotations

import contextlib
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich import cells, markup
from rich.errors import MarkupError

from dml2onnx.cli.markup import escape, unstyled
from dml2onnx.cli.render import Screen, size
from dml2onnx.cli.terminal import console
from dml2onnx.diagnostics import visible

TEXTS = st.text(st.sampled_from("\\\\[[]]/abz#@A1=: \t\r\nµ×"), max_size=30)
STYLED = st.lists(st.one_of(TEXTS.map(escape), st.sampled_from(["[bold]", "[/]", "[bold red]", "[dim]"])), max_size=8)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


@given(TEXTS)
def test_text_is_escaped_as_by_rich(text: str) -> None:
    assert escape(text) == markup.escape(visible(text))


@given(STYLED.map("".join))
def test_styles_are_left_out_as_by_rich(text: str) -> None:
    try:
        shown = markup.render(text, emoji=False).plain
    except MarkupError:
        return
    assert unstyled(text).translate(dict.fromkeys(map(ord, "\a\b\v\f\r"))) == shown


@given(STYLED.map("".join))
def test_lines_are_those_of_rich(text: str) -> None:
    by_rich, by_us = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(by_rich):
        try:
            console(errors=False).print(text)
        except MarkupError:
            return
    with contextlib.redirect_stdout(by_us):
        Screen(as_json=False, quiet=False).say(text)
    assert by_us.getvalue() == by_rich.getvalue()


CELLS = st.text(st.characters(min_codepoint=32, max_codepoint=0x330, exclude_categories=["Cc"]), max_size=12)
TABLES = st.integers(1, 4).flatmap(
    lambda width: st.tuples(
        st.lists(st.sampled_from(["", "name", ">µs"]), min_size=width, max_size=width),
        st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=4),
    )
)


@given(TABLES)
def test_tables_are_those_of_rich(table: tuple[list[str], list[list[str]]]) -> None:
    columns, rows = table
    if any("\\" in cell for row in rows for cell in row):
        return  # rich doubles some backslashes, and drops others
    screen, by_us = Screen(as_json=False, quiet=False), io.StringIO()
    with contextlib.redirect_stdout(by_us):
        screen.table(columns, rows)
    by_rich = io.StringIO()
    with contextlib.redirect_stdout(by_rich), pytest.MonkeyPatch.context() as patched:
        patched.setattr("dml2onnx.cli.render._laid_out", lambda columns, rows: None)
        screen.table(columns, rows)
    assert by_us.getvalue() == by_rich.getvalue()


def test_characters_are_one_column_wide() -> None:
    assert {cells.cell_len(chr(code)) for code in range(0x300) if chr(code).isprintable()} == {1}


@pytest.mark.parametrize("terminal", [False, True])
def test_colons_are_no_emoji(
    terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
    screen = Screen(as_json=False, quiet=False)
    screen.say("node :bug:")
    screen.table(["node"], [[":bug:"]])
    assert capsys.readouterr().out.count(":bug:") == 2


@pytest.mark.parametrize(
    ("count", "text"),
    [(1023, "1023 bytes"), (1024, "1.0 KiB"), (1536 << 10, "1.5 MiB"), (1 << 30, "1.0 GiB"), (1 << 40, "1024.0 GiB")],
)
def test_byte_counts(count: int, text: str) -> None:
    assert size(count) == text
