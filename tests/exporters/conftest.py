"""Assertions of helpers say what differs, too; and graphs that several files of tests convert."""

from __future__ import annotations

from pathlib import Path

import pytest

from dml2onnx.ir.graph import Graph

pytest.register_assert_rewrite("tests.exporters.same")


@pytest.fixture(scope="session")
def published(corpus: Path, is_exhaustive: bool) -> list[Graph]:
    """The published test vectors, as many as have all that any of them has."""
    from .same import with_all_forms

    models = sorted(corpus.glob("*/model.json"))
    assert len(models) == 2748
    return with_all_forms(models, is_exhaustive)
