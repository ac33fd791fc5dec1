"""The public API with wrong arguments: proper errors, and none from inside the package."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import dml2onnx
from dml2onnx import Activation, DmlError, FeatureLevel, GraphBuilder, LoadOptions, Providers
from dml2onnx.catalog import UnknownOperatorError
from dml2onnx.diagnostics import UnreadableError
from dml2onnx.options import DEFAULTS, CompileKeywords, CompileOptions, ModelKeywords
from dml2onnx.targets import DEFAULT_OPSET, IR_VERSIONS

JUNK: tuple[Any, ...] = (
    None, True, 3, -1, 2.5, float("nan"), 1 << 70, "", "x",
    "RELU", "\udcff", b"x", (), (1,), ("x",), [], [None], [[]], {},
    {1: 2}, {"x": 3}, {"x": None}, {"x": [None]},
    set(), object(), int, len, np.float32(2), np.zeros(2), np.zeros(0, object),
)  # fmt: skip
DEFECTS = (AttributeError, IndexError, KeyError, AssertionError, RecursionError, UnboundLocalError, NotImplementedError)


def relu() -> dml2onnx.Graph:
    g = GraphBuilder()
    return g.build({"y": g.activation_relu(g.input("x", "FLOAT32", [2]))})


GRAPH = relu()
MODEL = dml2onnx.compile(GRAPH)
SESSION = MODEL.session()


def subjects() -> Iterator[tuple[str, Callable[[], Callable[..., object]]]]:
    """Yields names of callables that test_arguments.py does not try, with factories that make new ones."""
    for kind in (Activation, FeatureLevel, GraphBuilder, LoadOptions, Providers):
        yield kind.__name__, lambda kind=kind: kind  # type: ignore[misc]
    yield "FeatureLevel.parse", lambda: FeatureLevel.parse
    yield "Providers.of_texts", lambda: Providers.of_texts
    yield "LoadOptions.with_graph", lambda: LoadOptions().with_graph
    yield "LoadOptions.with_constants", lambda: LoadOptions().with_constants
    for name in ("finish", "complete", "run", "session"):
        yield f"CompiledModel.{name}", lambda name=name: getattr(MODEL, name)  # type: ignore[misc]
    for name in ("run", "bind"):
        yield f"Session.{name}", lambda name=name: getattr(SESSION, name)  # type: ignore[misc]
    for name in ("record", "input", "constant", "build", "broadcast", "reinterpret", "gemm", "split", "gru", "join"):
        yield f"GraphBuilder.{name}", lambda name=name: getattr(GraphBuilder(), name)  # type: ignore[misc]


SUBJECTS = dict(subjects())


def calls(function: Callable[..., object]) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Yields each piece of junk as the first argument, as the second after a valid one, and for each keyword."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    needed = [item for item in parameters if item.default is item.empty and item.kind <= item.POSITIONAL_OR_KEYWORD]
    yield (), {}
    for junk in JUNK:
        yield (junk,), {}
        yield (junk,) * max(1, len(needed)), {}
        for item in parameters:
            if item.kind in (item.KEYWORD_ONLY, item.POSITIONAL_OR_KEYWORD) and item not in needed:
                yield (GRAPH,) * len(needed), {item.name: junk}
        if len(needed) > 1:
            yield (GRAPH, *(junk,) * (len(needed) - 1)), {}
            yield ("x", *(junk,) * (len(needed) - 1)), {}


@pytest.mark.parametrize("name", SUBJECTS)
def test_junk_is_refused(name: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments, named in calls(SUBJECTS[name]()):
        try:
            SUBJECTS[name]()(*arguments, **named)
        except UnknownOperatorError:  # a LookupError by its documentation
            pass
        except DEFECTS as error:
            pytest.fail(f"{name}(*{arguments!r}, **{named!r}): {type(error).__name__} {error}")
        except (DmlError, TypeError, ValueError, OSError):
            pass


@pytest.mark.parametrize("kind", [DmlError, UnreadableError])
def test_an_error_has_diagnostics(kind: type[DmlError]) -> None:
    with pytest.raises(TypeError, match="diagnostic"):
        kind()
    with pytest.raises(TypeError, match="diagnostic"):
        kind("what went wrong")  # type: ignore[arg-type]


def test_activations_refuse_other_types() -> None:
    with pytest.raises(DmlError, match="DML3017 error: the type of an activation is 2"):
        Activation(2)  # type: ignore[arg-type]


@pytest.mark.parametrize("options", [[3], [None], 3, None, [b"x=1"], [["x=1"]]])
def test_options_of_providers_are_texts(options: Any) -> None:
    with pytest.raises(DmlError, match="DML3017"):
        Providers.of_texts(["cpu"], options)


@pytest.mark.parametrize("member", ["inputs", "attributes", "outputs"])
@pytest.mark.parametrize("junk", [3, None, "x", [1], {3: None}])
def test_a_record_takes_dictionaries(member: str, junk: Any) -> None:
    g = GraphBuilder()
    valid: dict[str, Any] = {"inputs": {"InputTensor": g.input("x", "FLOAT32", [2])}, "attributes": {}, "outputs": {}}
    with pytest.raises(DmlError):
        g.record("ACTIVATION_RELU", **{**valid, member: junk})


def test_missing_results_are_named() -> None:
    with pytest.raises(DmlError, match='"y"'):
        MODEL.finish({})


@pytest.mark.parametrize("name", ["compile", "run", "verify", "batch"])
def test_help_lists_every_keyword(name: str) -> None:
    """Signatures list the keywords with their defaults, and take no others."""
    function = getattr(dml2onnx, name)
    parameters = inspect.signature(function).parameters
    assert not [item for item in parameters.values() if item.kind is item.VAR_KEYWORD]
    defaults: dict[str, object] = {**DEFAULTS}
    for keyword in ModelKeywords.__annotations__:
        assert parameters[keyword].default == defaults[keyword]
        assert isinstance(parameters[keyword].annotation, str)
    with pytest.raises(TypeError, match=rf"{name}\(\) got an unexpected keyword argument 'optimise'"):
        function(GRAPH, optimise=1)


def test_defaults_of_keywords_are_those_of_the_options() -> None:
    assert CompileOptions.of() == CompileOptions(ir_version=IR_VERSIONS[DEFAULT_OPSET])
    assert DEFAULTS.keys() == CompileKeywords.__annotations__.keys()


def test_unknown_attributes_list_the_known_ones() -> None:
    with pytest.raises(AttributeError, match=r"'dml2onnx' has no attribute 'complie'; it has .*compile") as caught:
        dml2onnx.complie  # noqa: B018  # access fails
    assert (caught.value.name, caught.value.obj) == ("complie", dml2onnx)  # for Python's own suggestion


def test_dir_lists_lazy_imports() -> None:
    assert {*dml2onnx.__all__, "__version__"} <= set(dir(dml2onnx))
