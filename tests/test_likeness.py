"""Suggestions for misspelt names: prefixes win over similarity, and ties are all suggested."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dml2onnx.builder import GraphBuilder
from dml2onnx.catalog import enum_schema
from dml2onnx.catalog.likeness import MOST, SHORTEST_BEGINNING, nearest, question
from dml2onnx.diagnostics import DmlError

NAMES = st.lists(st.text("abcAB_12", min_size=1, max_size=12), unique_by=str.lower, max_size=8)


def likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one.lower(), other.lower()).ratio()


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("NEAREST", ["LINEAR", "NEAREST_NEIGHBOR"], ["NEAREST_NEIGHBOR"]),
        ("nearest", ["LINEAR", "NEAREST_NEIGHBOR"], ["NEAREST_NEIGHBOR"]),
        ("act2", ["a2", "c2"], ["c2", "a2"]),
        ("relu1", ["relu2", "relu3"], ["relu3", "relu2"]),
        ("Stride", ["Strides", "StridesOfAll", "Side"], ["Strides"]),
        ("in", ["InputTensor"], []),
        ("weights", ["bias"], []),
        ("x", [], []),
    ],
)
def test_nearest_names(name: str, known: list[str], meant: list[str]) -> None:
    assert sorted(nearest(name, known)) == sorted(meant)


@given(st.text("abcAB_12", max_size=12), NAMES)
def test_no_other_name_is_more_similar(name: str, known: list[str]) -> None:
    found = nearest(name, known)
    assert len(found) <= MOST
    assert set(found) <= set(known)
    begun = [item for item in known if item.lower().startswith(name.lower())]
    if len(name) >= SHORTEST_BEGINNING and begun:
        assert set(found) <= set(begun)
        known = begun
    for item in found:
        assert all(likeness(item, name) >= likeness(other, name) for other in known)
    if found and len(found) < MOST:
        assert sum(likeness(item, name) == likeness(found[0], name) for item in known) == len(found)


def test_the_beginning_of_every_enumerator_finds_it() -> None:
    """Its first word, if no other enumerator starts with it."""
    for name in ("DML_INTERPOLATION_MODE", "DML_PADDING_MODE", "DML_REDUCE_FUNCTION", "DML_ROUNDING_MODE"):
        names = list(enum_schema(name).values)
        for whole in names:
            word = whole.partition("_")[0]
            others = [item for item in names if item.startswith(word)]
            if len(word) >= SHORTEST_BEGINNING and others == [whole]:
                assert nearest(word, names) == (whole,)


def test_prefixes_win_over_similarity() -> None:
    g = GraphBuilder()
    with pytest.raises(DmlError, match='did you mean "NEAREST_NEIGHBOR"') as raised:
        g.resample(g.input("x", "FLOAT32", (1, 1, 2, 2)), (1, 1, 4, 4), "NEAREST")  # type: ignore[arg-type]
    assert "LINEAR" not in raised.value.diagnostics[0].message


def test_ties_are_all_named() -> None:
    assert question(nearest("act2", ["a2", "c2"])) == "; did you mean a2 or c2?"
