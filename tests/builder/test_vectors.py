"""Every descriptor of the published test vectors, built through the method of its operator.

A descriptor that the checks refuse is refused by the method, for the same reasons.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dml2onnx
from dml2onnx import DmlError
from dml2onnx.catalog import LATEST
from dml2onnx.checks.operators import findings_of
from dml2onnx.diagnostics import Severity
from dml2onnx.ir.operator import OperatorDesc
from tests.builder.calls import as_read, builder_for, call, recorded

CHUNKS = 8


def descriptors(corpus: Path, chunk: int) -> list[OperatorDesc]:
    """Different descriptors of one part of the cases."""
    files = sorted(corpus.glob("*/case.json"))[chunk::CHUNKS]
    assert json.loads(files[0].read_text())["operators"]
    graphs = (dml2onnx.load(file.parent / "model.json") for file in files)
    return list(dict.fromkeys(node.operator for graph in graphs for node in graph.nodes))


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_vectors(corpus: Path, chunk: int) -> None:
    failures = []
    found = descriptors(corpus, chunk)
    for desc in found:
        g = builder_for(desc)
        wrong = {item.code for item in findings_of(desc, LATEST) if item.severity is Severity.ERROR}
        try:
            made = recorded(g, call(g, desc))
        except DmlError as error:
            refused = {item.code for item in error.diagnostics}
            if refused != wrong:
                failures.append(f"{desc.type}: {error}")
            continue
        except Exception as error:  # a failure of one descriptor must not hide the others
            failures.append(f"{desc.type}: {type(error).__name__}: {error}")
            continue
        assert not wrong, desc
        wanted = as_read(desc)
        failures += [
            f"{desc.type}.{field.name}: {made.get(field.name)} instead of {value}"
            for field, value in wanted.items()
            if made.get(field.name) != value
        ]
    assert len(found) > 100
    assert not failures, f"{len(failures)} of {len(found)}\n" + "\n".join(failures)
