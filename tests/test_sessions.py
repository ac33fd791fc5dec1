"""Sessions: weights that stay in their files, and bound memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest

import dml2onnx
from dml2onnx import DmlError, GraphBuilder, compiler
from dml2onnx.compiler import CompiledModel
from dml2onnx.ir.data import ArrayData, Data, FileData
from dml2onnx.ir.mapped import blocks
from dml2onnx.runtime import Weights, weights
from tests.test_writer import gemm, product_with

Array: TypeAlias = "npt.NDArray[Any]"
ROWS, COLUMNS = 48, 32
X = np.linspace(-1, 1, 2 * ROWS, dtype=np.float32).reshape(1, 1, 2, ROWS)
W = np.random.default_rng(5).standard_normal((ROWS, COLUMNS), np.float32)


def product(data: Data, data_type: str = "FLOAT32", strides: list[int] | None = None) -> CompiledModel:
    return product_with(gemm(ROWS, COLUMNS, data_type, strides), data)


def assert_product(model: CompiledModel, x: Array = X, *, times: float = 1, tolerance: float = 1e-5) -> None:
    got: Array = model.session().run({"x": x})["y"].reshape(2, COLUMNS)
    expected: Array = times * (X.reshape(2, ROWS) @ W)
    assert np.abs(got - expected).max() <= tolerance * np.abs(expected).max()


@pytest.fixture
def all_external(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treats all weights as large, and forbids temporary files."""
    monkeypatch.setattr(compiler, "SERIALIZED_UP_TO", 1000)
    monkeypatch.setattr("tempfile.TemporaryDirectory", None)
    monkeypatch.setattr(weights, "LEAST", 1000)


def in_file(path: Path, array: Array, offset: int = 0) -> FileData:
    path.write_bytes(bytes(offset) + array.tobytes())
    return FileData(path, offset, array.nbytes)


SOURCES: dict[str, tuple[Callable[[Path], CompiledModel], int]] = {
    "a file": (lambda path: product(in_file(path, W)), 0),
    "inside of a file": (lambda path: product(in_file(path, W, 4 * 33)), 0),
    "memory": (lambda path: product(ArrayData.of(W)), 1),
    "a file in another order": (lambda path: product(in_file(path, W.T), strides=[1, 1, 1, ROWS]), 1),
    "a file of FLOAT16": (lambda path: product(in_file(path, W.astype(np.float16)), "FLOAT16"), 0),
}


@pytest.mark.usefixtures("all_external")
@pytest.mark.parametrize("source", SOURCES)
def test_weights_are_not_copied(tmp_path: Path, source: str) -> None:
    make, array_count = SOURCES[source]
    model = make(tmp_path / "weights ä.bin")
    found = Weights.of(model.lowered.initializers)
    assert len(found.places) == 1
    assert len(found.arrays) == array_count
    assert found.nbytes >= W.size * 2
    x = X.astype(np.float16) if "FLOAT16" in source else X
    assert_product(model, x, tolerance=2e-2 if "FLOAT16" in source else 1e-5)


@pytest.mark.usefixtures("all_external")
def test_weights_in_several_directories(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        np.save(tmp_path / name / "w.npy", (W if name == "a" else 2 * W).reshape(1, 1, ROWS, COLUMNS))
    g = GraphBuilder()
    x = g.input("x", "FLOAT32", X.shape)
    first = g.gemm(x, g.input("a", "FLOAT32", [1, 1, ROWS, COLUMNS]))
    second = g.gemm(x, g.input("b", "FLOAT32", [1, 1, ROWS, COLUMNS]))
    path = tmp_path / "model.json"
    dml2onnx.convert(g.build({"y": first + second}), path)
    constants = {name: tmp_path / name / "w.npy" for name in ("a", "b")}
    model = dml2onnx.compile(dml2onnx.load(path, dml2onnx.LoadOptions(constants=constants)))
    assert_product(model, times=3)


@pytest.mark.usefixtures("all_external")
def test_replaced_files_are_not_read(tmp_path: Path) -> None:
    """The model was compiled from the old file, which exists as long as it is mapped."""
    path, other = tmp_path / "w.bin", tmp_path / "other.bin"
    model = product(in_file(path, W))
    in_file(other, 5 * W)
    assert len(Weights.of(model.lowered.initializers).arrays) == 0
    other.replace(path)
    assert len(Weights.of(model.lowered.initializers).arrays) == 1
    assert_product(model)
    path.unlink()
    assert_product(model)


@pytest.mark.usefixtures("all_external")
def test_sessions_write_no_files_and_read_no_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ONNX Runtime maps the file itself, and so reads its contents when it loads the model."""
    path = tmp_path / "w.bin"
    model = product(in_file(path, np.zeros_like(W)))
    monkeypatch.setattr("dml2onnx.writer.blocks", only_small)
    assert not model.session().run({"x": X})["y"].any()
    with path.open("r+b") as file:
        file.write(W.tobytes())
    assert_product(model)


def only_small(array: Array) -> Iterator[memoryview]:
    assert array.nbytes < W.nbytes
    return blocks(array)


def summed() -> CompiledModel:
    g = GraphBuilder()
    a, b = g.input("a", "FLOAT32", [2, 3], strides=[1, 2]), g.input("b", "FLOAT32", [2, 3])
    return dml2onnx.compile(g.build({"sum": a + b, "difference": a - b}))


def test_bound_memory_is_read_and_written_at_each_run() -> None:
    a, b = np.arange(6, dtype=np.float32).reshape(3, 2), np.ones((2, 3), np.float32)
    bound = summed().session().bind({"a": a, "b": b})
    assert bound.inputs["a"] is a
    outputs = bound.run()
    assert outputs is bound.outputs
    np.testing.assert_array_equal(outputs["sum"], a.T + b)
    kept = outputs["difference"]
    a[:] = 7
    bound.inputs["b"][0] = 3
    assert bound.run()["difference"] is kept
    np.testing.assert_array_equal(kept, [[4, 4, 4], [6, 6, 6]])


def test_unbound_inputs_are_zeros() -> None:
    bound = summed().session().bind({"b": np.full(6, 2, np.float32)})
    np.testing.assert_array_equal(bound.run()["sum"], np.full((2, 3), 2))
    bound.inputs["a"][...] = [[1, 2], [3, 4], [5, 6]]
    np.testing.assert_array_equal(bound.run()["sum"], [[3, 5, 7], [4, 6, 8]])


def test_bound_inputs_are_checked() -> None:
    with pytest.raises(DmlError) as caught:
        summed().session().bind({"a": np.zeros((6, 1), np.float32), "b": np.zeros(6), "c": np.zeros(1)})
    assert {item.code for item in caught.value.diagnostics} == {"DML3003", "DML3005", "DML3006"}


def stretched() -> CompiledModel:
    """Twice the rows of a sum."""
    g = GraphBuilder(ranges={"N": (1, 8)})
    a, b = g.input("a", "FLOAT32", ["N", 4]), g.input("b", "FLOAT32", ["N", 4])
    return dml2onnx.compile(g.build({"y": g.tile(a + b, [2, 1])}))


def test_bound_inputs_determine_named_sizes() -> None:
    session = stretched().session()
    for count in (3, 8, 1):
        a = np.arange(count * 4, dtype=np.float32).reshape(count, 4)
        bound = session.bind({"a": a})
        bound.inputs["b"][...] = 1
        np.testing.assert_array_equal(bound.run()["y"], np.tile(a + 1, (2, 1)))
    flat = session.bind({"a": a, "b": np.ones(4, np.float32)})
    np.testing.assert_array_equal(flat.run()["y"], np.tile(a + 1, (2, 1)))
    unbound = session.bind()
    assert unbound.run()["y"].shape == (2 * len(unbound.inputs["a"]), 4)


def test_inputs_with_other_values_of_a_name() -> None:
    feeds = {"a": np.zeros((3, 4), np.float32), "b": np.zeros((2, 4), np.float32)}
    with pytest.raises(DmlError, match=r'"b" must have shape \[3, 4\] .*, not \[2, 4\]; N is 3 in "a"$'):
        stretched().session().bind(feeds)


def test_bound_runs_match_sessions() -> None:
    model = dml2onnx.compile(Path(__file__).parent.parent / "samples" / "digits" / "model.json")
    session = model.session()
    feeds = {name: np.asarray(array) for name, array in model.complete(None).items()}
    bound, expected = session.bind(feeds), session.run(feeds)
    for _ in range(2):
        got = bound.run()
        assert got.keys() == expected.keys()
        for name, array in expected.items():
            np.testing.assert_array_equal(got[name], array)
