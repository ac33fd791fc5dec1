"""Every public function with an odd value for each argument: a finding or a result."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dml2onnx
from dml2onnx import arguments
from dml2onnx.diagnostics import DmlError
from dml2onnx.frontends import LoadOptions
from tests.cli.test_cli import NATIVE
from tests.refusals import refusal


class Hostile:
    """Raises an error from every method."""

    def __array__(self, *arguments: object, **options: object) -> np.ndarray:
        raise RuntimeError("no array")

    def __fspath__(self) -> str:
        raise RuntimeError("no path")

    def __index__(self) -> int:
        raise RuntimeError("no number")

    def __iter__(self) -> Iterator[object]:
        raise RuntimeError("no items")

    def __len__(self) -> int:
        raise RuntimeError("no length")

    def __repr__(self) -> str:
        raise RuntimeError("no text")

    __str__ = __repr__


class Liar:
    """Claims to be an array, a path and a number, and is none."""

    __array_interface__ = "nonsense"
    dtype = "nonsense"
    shape = None

    def __fspath__(self) -> object:
        return 5

    def __index__(self) -> object:
        return "5"


def recursive() -> list[object]:
    items: list[object] = []
    items.append(items)
    return items


ODD: dict[str, Any] = {
    "none": None,
    "true": True,
    "zero": 0,
    "minus": -1,
    "huge": 10**30,
    "float": 2.5,
    "nan": float("nan"),
    "complex": 1 + 2j,
    "decimal": Decimal("1.5"),
    "text": "nonsense",
    "empty text": "",
    "digits": "21",
    "nul": "a\0b",
    "surrogate": "\ud800",
    "long text": "x" * 5000,
    "bytes": b"bytes",
    "list": [1, 2],
    "empty list": [],
    "ragged": [[1, 2], [3]],
    "recursive": recursive(),
    "names": ["x", 5],
    "tuple": (1,),
    "set": {"x"},
    "dict": {"x": [[1, 2], [3]]},
    "dict of odd": {5: 5},
    "dict of masked": {"x": np.ma.masked_array(np.ones(24, np.float32), mask=[True] * 24)},
    "dict of complex": {"x": np.ones(24, np.complex64)},
    "dict of hostile": {"x": Hostile()},
    "array": np.arange(3),
    "object array": np.array([None, "x"], object),
    "text array": np.array(["x"]),
    "complex array": np.array([1j]),
    "structured": np.zeros(2, [("a", "<f4")]),
    "dates": np.array(["2020-01-01"], "datetime64[D]"),
    "masked": np.ma.masked_array([1.0, 2.0], mask=[True, False]),
    "scalar": np.float32(3),
    "hostile": Hostile(),
    "liar": Liar(),
    "type": int,
    "module": np,
    "function": len,
    "path": Path("nonsense"),
    "generator": (n for n in range(3)),
    "options": LoadOptions(),
    "ellipsis": ...,
}


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "native.json"
    path.write_text(json.dumps(NATIVE))
    return path


def calls(path: Path) -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """Returns functions with valid arguments."""
    graph = dml2onnx.load(path)
    model = dml2onnx.compile(graph)
    x = {"x": np.zeros((1, 2, 3, 4), np.float32)}
    session = model.session()

    def builder(**options: Any) -> object:
        return dml2onnx.GraphBuilder(**options)

    def constant(**options: Any) -> object:
        return dml2onnx.GraphBuilder().constant(**options)

    def entry(**options: Any) -> object:
        return dml2onnx.GraphBuilder().input(**options)

    kinds = {"data_type": "FLOAT32", "sizes": [3], "strides": [1]}
    level = {"feature_level": "5_0"}
    form = {"opset": 21, "target": "cpu", "shapes": True}
    return {
        "load": (dml2onnx.load, {"path": path, "options": LoadOptions()}),
        "check": (dml2onnx.check, {"model": graph, **level}),
        "minimum_feature_level": (dml2onnx.minimum_feature_level, {"model": graph}),
        "compile": (dml2onnx.compile, {"model": graph, "outputs": ["y"], **form, **level}),
        "run": (dml2onnx.run, {"model": graph, "inputs": x, "provider": "cpu"}),
        "verify": (
            dml2onnx.verify,
            {
                "model": graph,
                "inputs": x,
                "rounds": 1,
                "seed": 0,
                "provider": "cpu",
                "opset": 21,
                "against": None,
                "time_limit": 60.0,
                "progress": None,
            },
        ),
        "convert": (dml2onnx.convert, {"model": graph, "path": path.parent / "out.json", "format": "native"}),
        "save": (model.save, {"path": path.parent / "out.onnx", "external_data": False}),
        "session": (model.session, {"provider": "cpu", "profile": False}),
        "model.run": (model.run, {"inputs": x, "provider": "cpu"}),
        "session.run": (session.run, {"inputs": x}),
        "GraphBuilder": (builder, {"name": "g", "policy": lambda data_type, sizes: None, **level}),
        "constant": (constant, {"values": [1, 2, 3], "name": "c", **kinds}),
        "input": (entry, {"name": "i", **kinds, "owned_by_dml": False, "total_size": 12, "alignment": 0}),
    }


NAMES = [
    "load", "check", "minimum_feature_level", "compile", "run", "verify", "convert", "save", "session", "model.run",
    "session.run", "GraphBuilder", "constant", "input",
]  # fmt: skip


@pytest.mark.filterwarnings("error", "ignore::ResourceWarning")
@pytest.mark.parametrize("name", NAMES)
def test_odd_arguments(native: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Only findings are raised, each a sentence of reasonable length; valid arguments work."""
    monkeypatch.chdir(native.parent)
    table = calls(native)
    assert list(table) == NAMES
    function, right = table[name]
    function(**right)
    refused = 0
    for argument in right:
        for label, odd in ODD.items():
            try:
                # the first would run all rounds, the second would call the type
                if (argument, label) not in {("rounds", "huge"), ("progress", "type")}:
                    function(**{**right, argument: odd})
            except DmlError as error:
                refused += 1
                sentences = [item.message for item in error.diagnostics]
            except Exception as error:
                pytest.fail(f"{name}({argument}={label}): {type(error).__name__}: {str(error)[:200]}")
            else:
                continue
            for sentence in sentences:
                assert 0 < len(sentence) < 700, (name, argument, label, sentence)
                assert sentence.isprintable(), (name, argument, label, sentence)
    assert refused > 5 * len(right)


def test_functions_accept_paths_and_graphs(native: Path) -> None:
    graph = dml2onnx.load(native)
    for model in (graph, native, str(native)):
        assert dml2onnx.check(model) == []
        assert dml2onnx.minimum_feature_level(model) == dml2onnx.minimum_feature_level(graph)
        assert dml2onnx.compile(model).node_count == 2
        assert dml2onnx.verify(model, rounds=1).passed
        assert set(dml2onnx.run(model, {"x": np.zeros(24, np.float32)})) == {"y"}
        assert dml2onnx.convert(model, native.with_name("copy.json")) == [native.with_name("copy.json")]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: dml2onnx.check(5), "the model is 5, not a Graph, such as load or GraphBuilder.build gives"),  # type: ignore[arg-type]
        (lambda: arguments.opset("21"), 'opset is the text "21", not a whole number'),
        (lambda: arguments.feature_level(5), 'feature_level is 5, not a feature level such as "4_0"'),
        (lambda: arguments.names("y", "outputs"), 'outputs is the text "y", not a list of names'),
        (lambda: arguments.whole_number(-1, "seed"), "seed is -1, not a whole number from 0 on"),
        (lambda: arguments.array([[1, 2], [3]], "values"), "values is a list, not an array of numbers"),
        (lambda: arguments.array([1j], "values"), "values is an array of complex numbers, not of real numbers"),
        (lambda: arguments.arrays(np.ones(3)), "inputs is an array, not arrays by name, as a dictionary"),
    ],
)
def test_sentences(call: Callable[[], object], sentence: str) -> None:
    item = refusal(call)
    assert item.message.startswith(sentence)
    assert item.code == "DML3017"
