"""Replacements of operators without kernels: bit for bit equal, and used only where the kernel is missing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dml2onnx import legalise, targets
from dml2onnx.compiler import compile_outputs
from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.windows import Window
from dml2onnx.ir.operator import ScaleBias
from dml2onnx.legalise.quirks.convolutions import in_padding, without
from dml2onnx.onnx_model import BOOL, FLOAT
from dml2onnx.test_cases import descriptors
from dml2onnx.test_cases.single_node import single_node
from tests.emitter.models import model_of

INT32 = np.dtype(np.int32)
NAN, INF = np.nan, np.inf
NUMBERS = np.array([-INF, -2, -0.0, 0, 1.5, INF, NAN], np.float32)
PAIRS = [array.ravel() for array in np.meshgrid(NUMBERS, NUMBERS)]
BOOLS = [np.array([False, False, True, True]), np.array([False, True, False, True])]
WHOLE = [np.array([-(2**31), -1, 0, 7, 2**31 - 1], np.int32), np.array([5, -1, 3, -(2**31), 0], np.int32)]

CASES: dict[str, tuple[Callable[..., Tensor], list[np.ndarray]]] = {
    "Min": (lambda e, a, b: e.Min(a, b), PAIRS),
    "Max": (lambda e, a, b: e.Max(a, b), PAIRS),
    "Min with a constant": (lambda e, a: e.Min(a, e.constant(0.5, FLOAT)), [NUMBERS]),
    "Max of three": (lambda e, a, b: e.Max(a, e.constant(1, FLOAT), b), PAIRS),
    "Min of integers": (lambda e, a, b: e.Min(a, b), WHOLE),
    "Clip of integers": (lambda e, a, b: e.Add(e.Clip(a, -3, 5), b), WHOLE),
    "Sign": (lambda e, a: e.Sign(a), [NUMBERS]),
    "Sign of integers": (lambda e, a, b: e.Add(e.Sign(a), e.Sign(b)), WHOLE),
    "IsNaN": (lambda e, a: e.IsNaN(a), [NUMBERS]),
    "Or": (lambda e, a, b: e.Or(a, b), BOOLS),
    "Xor": (lambda e, a, b: e.Xor(a, b), BOOLS),
}


def run(target: str, make: Callable[..., Tensor], arrays: list[np.ndarray]) -> tuple[np.ndarray, list[str]]:
    """Runs the form for a target on ONNX Runtime's CPU provider; returns the result and the operators."""
    e = legalise.emitter(targets.target(target))
    e.begin("node", "OPERATOR")
    inputs = [Tensor(f"x{number}", array.dtype, array.shape) for number, array in enumerate(arrays)]
    model = model_of(e, inputs, [make(e, *inputs)])
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    feeds = {item.name: array for item, array in zip(inputs, arrays, strict=True)}
    return np.asarray(session.run(None, feeds)[0]), [node.op_type for node in model.graph.node]


@pytest.mark.parametrize("name", CASES)
def test_replacements_are_exact(name: str) -> None:
    make, arrays = CASES[name]
    expected, operators = run("cpu", make, arrays)
    result, replacements = run("webgpu", make, arrays)
    missing = name.split()[0]
    assert missing in operators
    assert missing not in replacements
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("name", CASES)
def test_targets_with_the_kernel_keep_it(name: str) -> None:
    make, arrays = CASES[name]
    assert name.split()[0] in run("openvino", make, arrays)[1]


@pytest.mark.parametrize("name", CASES)
def test_portable_replacements_are_exact(name: str) -> None:
    """The portable target lacks many kernels and has all quirks at once."""
    make, arrays = CASES[name]
    np.testing.assert_array_equal(run("portable", make, arrays)[0], run("cpu", make, arrays)[0])


@st.composite
def windows(draw: st.DrawFn) -> tuple[Window, tuple[int, ...]]:
    """Windows over one or two axes, with paddings up to several windows wide."""
    axes = draw(st.integers(1, 2))

    def numbers(least: int, most: int) -> tuple[int, ...]:
        return tuple(draw(st.lists(st.integers(least, most), min_size=axes, max_size=axes)))

    window = Window(numbers(1, 3), numbers(1, 4), numbers(1, 2), numbers(0, 9), numbers(0, 9))
    sizes = tuple(draw(st.integers(max(1, window.extent(i) - window.start[i] - window.end[i]), 8)) for i in range(axes))
    return window, sizes


@given(windows(), st.booleans())
def test_convolution_windows_in_padding(drawn: tuple[Window, tuple[int, ...]], biased: bool) -> None:
    window, sizes = drawn
    random = np.random.default_rng(1)
    arrays = [random.integers(-9, 9, shape).astype(np.float32) for shape in ((1, 2, *sizes), (2, 2, *window.shape), 2)]

    def make(e: Emitter, *inputs: Tensor) -> Tensor:
        x, w, *b = inputs
        return e.Conv(x, w, b[0] if b else None, window)

    arrays = arrays if biased else arrays[:2]
    np.testing.assert_array_equal(run("openvino", make, arrays)[0], run("cpu", make, arrays)[0])
    for axis, size in enumerate(sizes):
        before, after = in_padding(window, axis, size)
        starts = np.arange(window.output_size(axis, size)) * window.strides[axis] - window.start[axis]
        ends = starts + window.extent(axis)
        # a window after a stride over all elements belongs to neither side
        assert before in ((ends <= 0).sum(), window.start[axis] // window.strides[axis])
        assert after == (starts >= size).sum()
        if before + after < len(starts):
            assert in_padding(without(window, axis, size, before, after), axis, size)[1] == 0


def test_resize_before_axes_of_size_one_is_kept() -> None:
    """Kernels for the last two axes suffice, since the axis after this one has a single element."""
    column = np.arange(6, dtype=np.float32).reshape(1, 2, 3, 1)

    def make(e: Emitter, x: Tensor) -> Tensor:
        how = {"mode": "linear", "coordinate_transformation_mode": "half_pixel"}
        return e.Resize(x, None, (1.0, 1.0, 2.0, 1.0), **how)

    found, operators = run("openvino", make, [column])
    assert operators.count("Resize") == 1
    assert "Gather" not in operators
    np.testing.assert_allclose(found, run("cpu", make, [column])[0], rtol=1e-6)


@pytest.mark.parametrize("target", ["cpu", "webgpu"])
def test_constants_are_folded(target: str) -> None:
    e = legalise.emitter(targets.target(target))
    e.begin("node", "OPERATOR")
    assert e.Max(e.constant(1, FLOAT), e.constant(2, FLOAT)).constant == 2
    assert e.Or(e.constant(False, BOOL), e.constant(True, BOOL)).constant
    assert e.Sign(e.constant(-3, INT32)).constant == -1
    assert not e.emitted


@pytest.mark.parametrize("target", targets.NAMES)
@pytest.mark.parametrize("data_type", ["FLOAT64", "FLOAT32"])
def test_no_target_computes_in_a_narrower_type(target: str, data_type: str) -> None:
    x = descriptors.sized(2, 3, type=data_type)
    graph = single_node(descriptors.unary("ELEMENT_WISE_IDENTITY", x, ScaleBias=ScaleBias(2.0, 3.0)))
    model = compile_outputs(graph, graph.outputs, target=target)
    inner = {value.dtype for node in model.lowered.nodes for value in node.outputs if value is not None}
    assert inner == {x.data_type.dtype}
