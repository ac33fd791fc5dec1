"""The table of passes: descriptions, examples, the page, and the options ``-O`` and ``--no-pass``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dml2onnx
from dml2onnx.diagnostics import DmlError
from dml2onnx.passes import LAYOUT_PROPAGATION, PASSES, ROUNDING, chosen, propagates_layouts
from tests.passes.examples import EXAMPLES, transposed_twice

NAMES = [item.name for item in PASSES]


def test_every_pass_has_an_example_and_a_description() -> None:
    assert {item.name for item in EXAMPLES} == set(NAMES)
    assert len(set(NAMES)) == len(NAMES)
    short = [item.description for item in PASSES if not item.description.endswith(".") or len(item.description) <= 30]
    assert short == [], "a description must be a sentence of more than 30 characters"


def test_the_page_lists_every_pass() -> None:
    page = (Path(__file__).parents[2] / "docs" / "optimisation.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert rows == [f"| `{item.name}` | {item.description} |" for item in (*PASSES, *ROUNDING)]


def test_levels_and_names() -> None:
    assert chosen() == PASSES
    assert chosen(0) == ()
    assert [item.name for item in chosen(1, NAMES[:1])] == NAMES[1:]
    graph = transposed_twice()
    assert dml2onnx.compile(graph, optimize=0).passes == ()
    assert dml2onnx.compile(graph).passes == tuple(NAMES)
    assert dml2onnx.compile(graph, optimize=0).node_count > dml2onnx.compile(graph).node_count
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    assert propagates_layouts()
    assert not propagates_layouts([LAYOUT_PROPAGATION])
    results = [dml2onnx.run(graph, {"x": x}, optimize=level)["y"] for level in (0, 1)]
    assert results[0].tobytes() == results[1].tobytes()


@pytest.mark.parametrize(
    ("level", "without"), [(3, ()), (-1, ()), ("1", ()), (True, ()), (1, ["sharing"]), (1, "share-moves")]
)
def test_wrong_levels_and_names_are_refused(level: object, without: object) -> None:
    with pytest.raises(DmlError) as caught:
        chosen(level, without)
    assert [item.code for item in caught.value.diagnostics] == ["DML3017"]
