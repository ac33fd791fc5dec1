"""Tests the page that runs models in a browser: results, errors, and recovery."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.runtimes import browser
from tests.runtimes.difference import Difference, floats

ROW = floats(-1, 2)
RELU = "(float[2] x) => (float[2] y) { y = Relu (x) }"


def example(model: str, *inputs: np.ndarray) -> tuple[bytes, dict[str, np.ndarray]]:
    return Difference("", "", "", model, inputs, ()).example()


@pytest.fixture(scope="module")
def page() -> Iterator[browser.Page]:
    try:
        found = browser.Page(browser.BACKENDS["webnn"])
    except RuntimeError as error:
        pytest.skip(str(error))
    yield found
    found.close()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint16", "int32", "int64", "uint64"])
def test_numbers_go_there_and_back(page: browser.Page, dtype: str) -> None:
    kind = {"float16": "float16", "float32": "float", "float64": "double"}.get(dtype, dtype)
    array = np.array([1, 7, 100], dtype)
    (found,), _ = page.run(*example(f"({kind}[3] x) => ({kind}[3] y) {{ y = Identity (x) }}", array))
    np.testing.assert_array_equal(found, array, strict=True)


def test_scalars_have_no_dimensions(page: browser.Page) -> None:
    (found,), _ = page.run(*example("(float x) => (float y) { y = Relu (x) }", floats(3, shape=())))
    assert found.shape == ()


def test_where_nodes_ran(page: browser.Page) -> None:
    _, places = page.run(*example(RELU, ROW))
    assert places == {"WebNNExecutionProvider": {"Relu": 1}}
    left = example("(double[2] x) => (double[2] y) { y = Relu (x) }", ROW.astype(np.float64))
    assert page.run(*left)[1] == {"CPUExecutionProvider": {"Relu": 1}}


def test_what_webnn_does_not_build_is_an_answer(page: browser.Page) -> None:
    """ONNX Runtime would hang; the next model gets a new browser."""
    model = "(float[2] x, int32[2] i) => (float[2] y) { y = GatherElements (x, i) }"
    with pytest.raises(RuntimeError, match="only supports constant indices"):
        page.run(*example(model, ROW, np.array([1, 0], np.int32)))
    (found,), _ = page.run(*example(RELU, ROW))
    np.testing.assert_array_equal(found, floats(0, 2))


def test_a_browser_that_does_not_answer_is_replaced(page: browser.Page) -> None:
    page._patience = 0
    with pytest.raises(RuntimeError, match="no answer within 0 s"):
        page.run(*example(RELU, ROW))
    page._patience = browser.PATIENCE
    (found,), _ = page.run(*example(RELU, ROW))
    np.testing.assert_array_equal(found, floats(0, 2))


def test_without_onnx_runtime_or_a_browser(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(browser, "DIRECTORY", tmp_path)
    with pytest.raises(RuntimeError, match=r"no ONNX Runtime Web: python scripts/_web\.py"):
        browser.Page(browser.BACKENDS["web"])
    monkeypatch.setattr(browser, "SYSTEM", ())
    with pytest.raises(RuntimeError, match=r"no Chromium: python scripts/_web\.py"):
        browser.executable(tmp_path)
