"""What is said of kernels is so: the smallest graph that shows each fact, and the lowerings that ask for it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import NodeProto, helper

import dml2onnx
from dml2onnx.targets import NAMES, Quirk, target
from tests.runtimes.differences import DIFFERENCES

ROOM = Path(dml2onnx.__file__).parent
VERSION = tuple(int(part) for part in onnxruntime.__version__.split(".")[:2])

SLOW = {
    Quirk.DEPTH_TO_SPACE_SLOWER_THAN_TRANSPOSE,
    Quirk.FUNCTIONS_NUMBER_BY_NUMBER,
    Quirk.GATHER_ELEMENT_BY_ELEMENT,
    Quirk.LP_POOL_ELEMENT_BY_ELEMENT,
    Quirk.MAX_POOL_IS_FAST_IN_FLOAT,
    Quirk.QUANTIZES_LONG_RUNS,
    Quirk.REDUCES_ROWS_ONLY,
}
"""Facts about time, which no test can hold; ``scripts/bench_ops.py`` has the operators."""

ELSEWHERE = {
    Quirk.FLOAT_HAS_THE_BITS_OF_FLOAT16,
    *(item.explains for item in DIFFERENCES if isinstance(item.explains, Quirk)),
} - target("cpu").quirks
"""Facts about other runtimes than ONNX Runtime's CPU provider, which is the one that is installed here.
``tests/runtimes/differences.py`` has the smallest models that show them."""

TARGETS = {"qnn": "qnn-npu"}
"""Of runtimes, those that are not called as their targets."""

SOMEWHERE = {Quirk.PAIRS_OF_BYTES_SATURATE}
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
    Quirk.FLOAT16_COMPUTED_IN_FLOAT: Shown(
        [node("Mul", "x0 x0 square"), node("Div", "square x0 y")],
        [np.array([256], np.float16)],
        np.array([INF], np.float16),
    ),
    Quirk.WHERE_LOSES_MINUS_ZERO: Shown(
        [node("Where", "x0 x1 x2 y")], [np.array([True]), floats(-0.0), floats(1)], floats(-0.0)
    ),
    Quirk.ERF_LOSES_NAN: Shown(
        [node("Erf", "x0 y")], [floats(*[NAN] * 16)], floats(*[NAN] * 16), versions=((1, 24), (1, 25))
    ),
    Quirk.SIGMOID_HAS_ABSOLUTE_ERROR: Shown([node("Sigmoid", "x0 y")], [floats(-20)], floats(2.0611537e-9), 1e-3),
    Quirk.RECURRENT_GATES_LOSE_DIGITS: Shown(
        [node("RNN", "x0 x1 x2 y", hidden_size=1)],
        [floats(1e-5, shape=(1, 1, 1)), ONE_WEIGHT, ONE_WEIGHT],
        floats(1e-5, shape=(1, 1, 1, 1)),
        1e-3,
    ),
    Quirk.INTEGERS_REDUCED_IN_DOUBLE: Shown(
        [node("ReduceProd", "x0 y")],
        [np.array([2**31 - 1, 2], np.int32)],
        np.array([-2], np.int32),
        versions=((1, 25), (9, 0)),
    ),
    Quirk.TOP_K_LOSES_ITS_WAY_AT_NAN: Shown(
        [helper.make_node("TopK", ["x0", "x1"], ["y", "places"])],
        [floats(NAN, 1, NAN, 3, 2, NAN, -1, 0), np.array([3])],
        floats(3, 2, 1),
    ),
    Quirk.BATCH_NORMALIZATION_FOLDS_THE_MEAN: Shown(
        [node("BatchNormalization", "x0 x1 x2 x3 x4 y", epsilon=0.0)],
        [LARGE, floats(0.1), floats(0), floats(4096.25), floats(0.7)],
        (np.float64(0.1) * (LARGE - 4096.25) / np.sqrt(0.7)).astype(np.float32),
        1e-5,
    ),
    Quirk.LRN_SUBTRACTS_WHAT_IT_ADDED: Shown(
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
    assert set(Quirk) == SLOW | SHOWN.keys() | ELSEWHERE | SOMEWHERE
    assert not SLOW & SHOWN.keys()
    for item in DIFFERENCES:
        name = TARGETS.get(item.runtime, item.runtime)
        assert not isinstance(item.explains, Quirk) or target(name).has(item.explains), item.title


@pytest.mark.parametrize("quirk", SHOWN, ids=lambda quirk: quirk.name)
def test_facts(quirk: Quirk) -> None:
    """What has been mended in ONNX Runtime is no fact any more."""
    shown = SHOWN[quirk]
    with np.errstate(all="ignore"):
        got = answer(shown)
        close = np.allclose(got, shown.exact, shown.digits, 0, equal_nan=True)
    same = close and np.array_equal(np.signbit(got[got == 0]), np.signbit(shown.exact[shown.exact == 0]))
    first, behind = shown.versions
    assert same == (not first <= VERSION < behind), f"{got} beside {shown.exact}"


def test_every_fact_is_asked_for() -> None:
    """By lowerings, passes, and where they get types from, each by its name; none asks which target it is."""
    asked = set()
    for path in [*(ROOM / "lowering").rglob("*.py"), *(ROOM / "passes").glob("*.py"), ROOM / "targets" / "__init__.py"]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for item in ast.walk(tree):
            if isinstance(item, ast.Attribute) and isinstance(item.value, ast.Name) and item.value.id == "Quirk":
                asked.add(Quirk[item.attr])
            compared = [item.left, *item.comparators] if isinstance(item, ast.Compare) else []
            names = [part for part in compared if isinstance(part, ast.Constant) and part.value in NAMES]
            assert not names, f"{path.name}:{item.lineno}"  # type: ignore[attr-defined]  # comparisons have lines
    assert asked == set(Quirk)


def test_targets_differ() -> None:
    # its kernels are the operators themselves that are lowered here, but for what ONNX Runtime makes of several
    assert target("dml").quirks == {
        Quirk.BYTES_CONVERTED_SATURATE,
        Quirk.SCALES_OF_ROWS_ARE_FUSED,
        Quirk.GEMM_WANTS_C,
        Quirk.QUANTIZES_ALONG_THE_LAST_AXIS,
        Quirk.LINES_HAVE_NO_OUTPUT_PADDING,
        Quirk.GATHER_ND_GIVES_NO_SCALAR,
        Quirk.DIMENSIONS_END_AT_8,
        Quirk.QUANTIZES_FOUR_DIMENSIONS,
    }
    assert target("cpu").quirks >= SLOW | SHOWN.keys()
    assert all(quirk in target("cpu").quirks or quirk in ELSEWHERE for quirk in Quirk)


def test_what_is_portable() -> None:
    """It has the quirks of all, and a kernel only where all have one."""
    others = [target(name) for name in NAMES if name not in ("portable", "qnn-npu")]
    assert target("portable").quirks == frozenset[Quirk]().union(*(item.quirks for item in others))
    for name in ("float", "double", "int8", "int64"):
        everywhere = all(item.has_kernel("Add", 21, {"T": name}) for item in others)
        assert target("portable").has_kernel("Add", 21, {"T": name}) is everywhere
