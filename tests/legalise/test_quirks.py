"""What is said of kernels is so: the smallest graph that shows each quirk, and what its rules are asked with."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import NodeProto, helper

import dml2onnx
from dml2onnx.emitter import Emitter
from dml2onnx.legalise import EVERYWHERE, Kind, quirk, quirks, rules_of
from dml2onnx.targets import NAMES, target
from tests.runtimes.differences import DIFFERENCES

ROOM = Path(dml2onnx.__file__).parent
VERSION = tuple(int(part) for part in onnxruntime.__version__.split(".")[:2])

EVERY = {*EVERYWHERE}.union(*(target(name).quirks for name in NAMES))
SLOW = {name for name in EVERY if quirk(name).kind is Kind.SPEED}
"""Facts about time, which no test can hold; ``scripts/bench_ops.py`` has the operators."""

ELSEWHERE = {
    "FLOAT_HAS_THE_BITS_OF_FLOAT16",
    *(item.explains for item in DIFFERENCES if isinstance(item.explains, str)),
} - set(target("cpu").quirks)
"""Facts about other runtimes than ONNX Runtime's CPU provider, which is the one that is installed here.
``tests/runtimes/differences.py`` has the smallest models that show them."""

TARGETS = {"qnn": "qnn-npu"}
"""Of runtimes, those that are not called as their targets."""

SOMEWHERE = {"PAIRS_OF_BYTES_SATURATE"}
"""Facts about some processors; models ask for them (``tests/passes/test_signed_weights.py``)."""


@dataclass(frozen=True)
class Shown:
    """Nodes from ``x0``, ``x1``, .. to ``y`` on the CPU provider, and what ONNX says that they give."""

    nodes: Sequence[NodeProto]
    inputs: Sequence[np.ndarray]
    exact: np.ndarray
    digits: float = 0.0
    """The relative error that would do."""
    versions: tuple[tuple[int, int], tuple[int, int]] = field(default=((1, 24), (9, 0)))
    """The first that answers otherwise, and the first that does not any more."""


def node(op: str, names: str, **attributes: Any) -> NodeProto:
    *inputs, output = names.split(" ")
    return helper.make_node(op, [name.strip("_") for name in inputs], [output], **attributes)


def floats(*values: float, shape: Sequence[int] = (-1,)) -> np.ndarray:
    return np.array(values, np.float32).reshape(shape)


NAN, INF = np.nan, np.inf
ONE_WEIGHT = floats(1, shape=(1, 1, 1))
LARGE = floats(4096, 4097, shape=(1, 1, 2))

SHOWN = {
    "FLOAT16_COMPUTED_IN_FLOAT": Shown(
        [node("Mul", "x0 x0 square"), node("Div", "square x0 y")],
        [np.array([256], np.float16)],
        np.array([INF], np.float16),
    ),
    "WHERE_LOSES_MINUS_ZERO": Shown(
        [node("Where", "x0 x1 x2 y")], [np.array([True]), floats(-0.0), floats(1)], floats(-0.0)
    ),
    "ERF_LOSES_NAN": Shown(
        [node("Erf", "x0 y")], [floats(*[NAN] * 16)], floats(*[NAN] * 16), versions=((1, 24), (1, 25))
    ),
    "SIGMOID_HAS_ABSOLUTE_ERROR": Shown([node("Sigmoid", "x0 y")], [floats(-20)], floats(2.0611537e-9), 1e-3),
    "KEEPS_SUBNORMALS": Shown([node("Sign", "x0 y")], [floats(1e-45)], floats(0)),
    "RECURRENT_GATES_DIFFER": Shown(
        [node("RNN", "x0 x1 x2 y", hidden_size=1)],
        [floats(1e-5, NAN, shape=(1, 2, 1)), ONE_WEIGHT, ONE_WEIGHT],
        floats(1e-5, -1, shape=(1, 1, 2, 1)),
        1e-3,
    ),
    "INTEGERS_REDUCED_IN_DOUBLE": Shown(
        [node("ReduceProd", "x0 y")],
        [np.array([2**31 - 1, 2], np.int32)],
        np.array([-2], np.int32),
        versions=((1, 25), (9, 0)),
    ),
    "INT64_COMPARED_BY_HALVES": Shown(
        [node("Max", "x0 x1 y")], [np.array([2**31] * 16), np.array([1] * 16)], np.array([2**31] * 16)
    ),
    "AVERAGE_POOL_COUNTS_PADDING_WRONGLY": Shown(
        [node("AveragePool", "x0 y", kernel_shape=[2], pads=[0, 1], count_include_pad=1)],
        [floats(1, 3, shape=(1, 1, 2))],
        floats(2, 1.5, shape=(1, 1, 2)),
        versions=((1, 24), (1, 25)),
    ),
    "TOP_K_LOSES_ITS_WAY_AT_NAN": Shown(
        [helper.make_node("TopK", ["x0", "x1"], ["y", "places"])],
        [floats(NAN, 1, NAN, 3, 2, NAN, -1, 0), np.array([3])],
        floats(3, 2, 1),
    ),
    "BATCH_NORMALIZATION_FOLDS_THE_MEAN": Shown(
        [node("BatchNormalization", "x0 x1 x2 x3 x4 y", epsilon=0.0)],
        [LARGE, floats(0.1), floats(0), floats(4096.25), floats(0.7)],
        (np.float64(0.1) * (LARGE - 4096.25) / np.sqrt(0.7)).astype(np.float32),
        1e-5,
    ),
    "LRN_SUBTRACTS_WHAT_IT_ADDED": Shown(
        [node("LRN", "x0 y", size=3, alpha=1.0, beta=1.0, bias=1.0)],
        [floats(INF, 1, 1, 1, shape=(1, 4, 1, 1))],
        floats(NAN, 0, 0.6, 0.6, shape=(1, 4, 1, 1)),
        1e-6,
    ),
}


def answer(shown: Shown) -> np.ndarray:
    """What the installed ONNX Runtime gives."""
    feeds = {f"x{i}": array for i, array in enumerate(shown.inputs)}
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in feeds.items()
    ]
    element_type = helper.np_dtype_to_tensor_dtype(shown.exact.dtype)
    output = helper.make_tensor_value_info("y", element_type, shown.exact.shape)
    graph = helper.make_graph(shown.nodes, "shown", inputs, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, feeds)[0])


def test_every_fact_is_shown() -> None:
    assert SLOW | SHOWN.keys() | ELSEWHERE | SOMEWHERE == EVERY
    assert not SLOW & SHOWN.keys()
    for item in DIFFERENCES:
        name = TARGETS.get(item.runtime, item.runtime)
        assert not isinstance(item.explains, str) or item.explains in target(name).quirks, item.title


def test_every_quirk_has_a_module_that_a_target_names() -> None:
    modules = {path.stem.upper() for path in Path(quirks.__file__).parent.glob("*.py")} - {"__INIT__"}
    assert modules == EVERY
    for name in modules:
        reason = import_module(f"dml2onnx.legalise.quirks.{name.lower()}").__doc__ or ""
        assert len(reason.splitlines()[0]) > 20, name
        assert quirk(name).rules or name in SOMEWHERE, name


@pytest.mark.parametrize("name", NAMES)
def test_rules_are_given_what_their_operators_are_given(name: str) -> None:
    """Each names an operator of the emitter that asks its rules, and has its parameters."""
    for operator, rules in rules_of(target(name)).items():
        method = getattr(Emitter, operator)
        wanted = inspect.signature(method.__wrapped__).parameters
        for rule in rules:
            found = inspect.signature(rule).parameters
            kinds = {item.kind for item in found.values()}
            if not kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}:
                assert list(found)[1:] == list(wanted)[1:], f"{operator}: {rule.__module__}"


@pytest.mark.parametrize("name", SHOWN)
def test_facts(name: str) -> None:
    """What has been mended in ONNX Runtime is no fact any more."""
    shown = SHOWN[name]
    with np.errstate(all="ignore"):
        got = answer(shown)
        close = np.allclose(got, shown.exact, shown.digits, 0, equal_nan=True)
    same = close and np.array_equal(np.signbit(got[got == 0]), np.signbit(shown.exact[shown.exact == 0]))
    first, behind = shown.versions
    assert same == (not first <= VERSION < behind), f"{got} beside {shown.exact}"


def test_nobody_asks_which_target_it_is() -> None:
    rooms = [path for name in ("emitter", "legalise", "lowering", "passes") for path in (ROOM / name).rglob("*.py")]
    for path in rooms:
        for item in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            compared = [item.left, *item.comparators] if isinstance(item, ast.Compare) else []
            names = [part for part in compared if isinstance(part, ast.Constant) and part.value in NAMES]
            assert not names, f"{path.name}:{item.lineno}"  # type: ignore[attr-defined]  # comparisons have lines


def test_targets_differ() -> None:
    # its kernels are the operators themselves that are lowered here, but for what ONNX Runtime makes of several
    assert set(target("dml").quirks) == {
        "BYTES_CONVERTED_SATURATE",
        "SCALES_OF_ROWS_ARE_FUSED",
        "GEMM_WANTS_C",
        "QUANTIZES_ALONG_THE_LAST_AXIS",
        "LINES_HAVE_NO_OUTPUT_PADDING",
        "QUANTIZES_FOUR_DIMENSIONS",
    }
    assert {*target("cpu").quirks, *EVERYWHERE} >= SLOW | SHOWN.keys()
    assert {*target("cpu").quirks, *EVERYWHERE} | ELSEWHERE == EVERY


def test_what_is_portable() -> None:
    """It has the quirks of all, and a kernel only where all have one."""
    others = [target(name) for name in ("onnx", "cpu", "dml", "openvino", "webgpu")]
    assert set(target("portable").quirks) == set().union(*(item.quirks for item in others))
    for name in ("float", "double", "int8", "int64"):
        everywhere = all(item.has_kernel("Add", 21, {"T": name}) for item in others)
        assert target("portable").has_kernel("Add", 21, {"T": name}) is everywhere
