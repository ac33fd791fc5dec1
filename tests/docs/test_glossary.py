"""Tests the glossary: its words are few, explained and in use."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "glossary.md"
MOST_WORDS = 25


def rows() -> list[list[str]]:
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


def test_words_are_few_and_sorted() -> None:
    words = [word for word, *_ in rows()]
    assert 0 < len(words) <= MOST_WORDS
    assert words == sorted(set(words))


def test_every_word_has_a_meaning_and_a_reason() -> None:
    assert all(len(cells) == 3 and all(len(cell) > 15 for cell in cells[1:]) for cells in rows())


def test_every_word_is_in_use() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "dml2onnx").rglob("*.py")]
    texts += [path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md") if path != PAGE]
    used = " ".join(texts).lower()
    assert [word for word, *_ in rows() if not re.search(rf"(\b|_){re.escape(word)}", used)] == []
