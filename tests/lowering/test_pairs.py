"""The QDQ form of quantized operators, in plain and in optimised sessions."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dml2onnx import DmlError, GraphBuilder, compile, verify
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.reference import disagreements, evaluate_results, operator_results
from dml2onnx.reference.promise import promised
from dml2onnx.targets import NAMES, QDQ, QOPERATOR, QUANT_FORMATS
from dml2onnx.targets import target as target_of
from tests.lowering import test_integer_products as products
from tests.lowering import test_pooling_quantized as pooling
from tests.lowering import test_quantization as sums
from tests.lowering.harness import check_form, in_session, make_case, operators

CONVOLUTION, PRODUCT, TO_FLOAT = products.QUANTIZED_CONVOLUTION, products.QUANTIZED, products.TO_FLOAT
BYTES = ["INT8", "UINT8"]
DQ, Q = "DequantizeLinear", "QuantizeLinear"


def contents(op: OperatorDesc, seed: int = 0, *, positive: bool = False) -> dict[str, np.ndarray]:
    """Returns numbers from the whole range of the types, and (``positive``) scales that fill the output's range."""
    found = products.contents(op, seed)
    if op.type in (pooling.NAME, sums.ADD):
        rng = np.random.default_rng(seed)
        for name in list(found):
            if name.endswith("ScaleTensor"):
                low, high = (0, 2) if name.startswith("Output") and op.type == sums.ADD else (-1, 1)
                sign = rng.choice([1, 1, -1], found[name].shape)
                found[name] = (sign * 2 ** rng.uniform(low, high, found[name].shape)).astype(np.float32)
    if positive:
        found |= {name: np.abs(array) for name, array in found.items() if name.endswith("ScaleTensor")}
    return found


def usual_constants(op: OperatorDesc) -> list[str]:
    """Returns the fields that are constants in networks: quantisation parameters and weights."""
    weights = ("FilterTensor", "BTensor", "BiasTensor") if op.type != sums.ADD else ()
    fields = [item.name for item in op.schema.input_fields if op.has(item.name)]
    return [name for name in fields if name.endswith(("ScaleTensor", "ZeroPointTensor")) or name in weights]


def check(op: OperatorDesc, seed: int = 0, constants: list[str] | None = None, **how: Any) -> list[str]:
    """Checks an operator in sessions with and without optimisation; returns the ONNX operators."""
    how = {"target": "onnx", "quant_format": QDQ, **how}
    known = usual_constants(op) if constants is None else constants
    inputs = how.pop("inputs", None) or contents(op, seed, positive=constants is None)
    model = check_form(op, inputs=inputs, constants=known, seed=seed, **how)
    case = make_case(op, inputs=inputs, constants=known, seed=seed)
    found = promised(op, operator_results(op, case.logical), in_floats=model.quant_format == QDQ)
    for optimised in (False, True):
        got = in_session(model, case.memory, optimised=optimised)
        for name, (want,) in found.items():
            desc = op.tensor(name)
            result = got[name].reshape(want.values.shape)
            assert not disagreements(result, want, desc.data_type).any(), f"{op.type} {name}, optimised: {optimised}"
    return operators(model)


# --- forms -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("types", list(itertools.product(BYTES, BYTES, BYTES)))
@pytest.mark.parametrize("channels", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_a_convolution_is_conv_between_quantisations(types, channels, bias):
    op = products.convolution(types[:2], types[2], channels=channels, bias=bias)
    inputs = contents(op, positive=True)
    inputs["FilterZeroPointTensor"] = np.full_like(inputs["FilterZeroPointTensor"], 3)
    weights = [DQ] * (2 if bias else 1)
    assert check(op, inputs=inputs) == [*sorted([DQ, *weights]), "Conv", Q]


@pytest.mark.parametrize("types", list(itertools.product(BYTES, BYTES, BYTES)))
@pytest.mark.parametrize("each", ["", "B"])
@pytest.mark.parametrize("batches", [(), (1, 1), (2, 3)])
def test_a_product_is_matmul_between_quantisations(types, each, batches):
    op = products.matrices(PRODUCT, types[:2], types[2], (*batches, 4, 5, 6), each=each)
    found = [name for name in check(op) if name != "Reshape"]
    if each and np.prod(batches, dtype=int) > 1:
        assert "MatMulInteger" in found, "ONNX Runtime's kernel takes no scales of columns with batches"
    else:
        assert found == [DQ, DQ, "MatMul", Q]


@pytest.mark.parametrize("types", list(itertools.product(BYTES, BYTES)))
@pytest.mark.parametrize("output", ["FLOAT32", "FLOAT16"])
@pytest.mark.parametrize("each", ["", "B"])
def test_a_product_to_float_is_matmul_of_dequantised_numbers(types, output, each):
    op = products.matrices(TO_FLOAT, types, output, (1, 1, 4, 5, 6), each=each)
    found = [name for name in check(op) if name not in ("Reshape", "Cast")]
    assert found == [DQ, DQ, "MatMul", "Add"]


@pytest.mark.parametrize("quant_format", QUANT_FORMATS)
@pytest.mark.parametrize("types", list(itertools.product(BYTES, BYTES)))
def test_means_and_sums_are_quantised_pairs_in_any_format(types, quant_format):
    assert check(pooling.pool(types), quant_format=quant_format) == [DQ, "AveragePool", Q]
    for other in BYTES:
        assert check(sums.add(types[0], types[1], other), quant_format=quant_format) == [DQ, DQ, "Add", Q]


def test_no_qdq_for_parameters_that_kernels_refuse():
    """ONNX Runtime fuses different zero points of filters and scales of rows too, and then fails at run time."""
    convolution = products.convolution(("UINT8", "UINT8"), "UINT8")
    assert "ConvInteger" in check(convolution)
    for name, each in itertools.product((PRODUCT, TO_FLOAT), ("A", "AB")):
        assert "MatMulInteger" in check(
            products.matrices(name, output="UINT8" if name == PRODUCT else "FLOAT32", each=each)
        )
    op = products.matrices(PRODUCT, output="UINT8", each="O")
    assert "MatMulInteger" in check(op)


def test_operators_without_scales_stay_integers():
    assert "ConvInteger" in check(products.convolution(), quant_format=QDQ)
    assert "MatMulInteger" in check(products.matrices(products.INTEGER), quant_format=QDQ)


def has_qdq_kernels(name: str) -> bool:
    return target_of(name, exact=False).has_kernel("DequantizeLinear", {"T1": "int8"})


def test_no_qdq_for_scales_that_are_not_positive():
    op = products.convolution(("UINT8", "UINT8"), "UINT8", channels=False)
    for name, value in itertools.product(("InputScaleTensor", "FilterScaleTensor", "OutputScaleTensor"), (-0.5, 0.0)):
        inputs = contents(op, positive=True) | {name: np.array([value], np.float32)}
        assert "ConvInteger" in check(op, inputs=inputs)


@pytest.mark.parametrize("target", [name for name in NAMES if has_qdq_kernels(name)])
def test_weights_keep_their_type_unless_kernels_saturate(target):
    op = products.convolution(("UINT8", "INT8"), "UINT8", channels=False)
    inputs = contents(op, positive=True)
    model = check_form(op, inputs=inputs, constants=usual_constants(op), target=target, quant_format=QDQ)
    types = {item.dtype.name for item in model.lowered.initializers.values() if item.size > 50}
    assert types == ({"uint8"} if target in ("cpu", "portable") else {"int8"})


# --- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [CONVOLUTION, PRODUCT, TO_FLOAT])
@pytest.mark.parametrize("types", list(itertools.product(BYTES, BYTES)))
@pytest.mark.parametrize("known", [[], ["InputTensor", "InputZeroPointTensor", "ATensor", "AZeroPointTensor"]])
def test_no_sum_saturates_with_weights_of_run_time(kind, types, known):
    """The session option for exact products has no effect then: without VNNI, sums of pairs saturate at 32767."""
    output = "FLOAT32" if kind == TO_FLOAT else "UINT8"
    if kind == CONVOLUTION:
        op = products.convolution(types, output, channels=False)
    else:
        op = products.matrices(kind, types, output, (1, 1, 4, 5, 6), each="")
    inputs = contents(op, positive=True)
    for name, array in inputs.items():
        if array.dtype.itemsize == 1:
            array[...] = np.iinfo(array.dtype).min if "ZeroPoint" in name else np.iinfo(array.dtype).max
    constants = [name for name in known if op.schema.field(name)]
    is_raised = types[1] == "INT8" and (types[0] == "UINT8" or bool(constants))  # results are right anyway with VNNI
    for target in ("onnx", "cpu", "portable"):
        nodes = check(op, inputs=inputs, constants=constants, target=target)
        assert {"Conv", "MatMul"} & set(nodes)
        assert ("Add" in nodes[:2]) == is_raised


@st.composite
def descriptors(draw: st.DrawFn) -> OperatorDesc:
    """Draws any quantised operator."""
    kind = draw(st.sampled_from(["product", "mean", "sum"]))
    if kind == "product":
        op: OperatorDesc = draw(products.descriptors())
        return op
    if kind == "sum":
        sizes = tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=5)))
        a, b, c = (draw(st.sampled_from(BYTES)) for _ in range(3))
        return sums.add(a, b, c, sizes, nulls=draw(st.sampled_from(["", "A", "BC"])))
    window = draw(st.tuples(*[st.integers(1, 3)] * 2))
    small = st.tuples(*[st.integers(0, 2)] * 2)
    dilations, strides = (tuple(n + 1 for n in draw(small)) for _ in range(2))
    start, end = draw(small), draw(small)
    sizes = tuple((k - 1) * d + 1 + draw(st.integers(0, 3)) for k, d in zip(window, dilations, strict=True))
    return pooling.pool(
        draw(st.tuples(*[st.sampled_from(BYTES)] * 2)), (2, 3, *sizes), window, strides=strides, dilations=dilations,
        start=start, end=end, include=draw(st.booleans()), channels=draw(st.sampled_from(["", "I", "O"])),
        nulls=draw(st.sampled_from(["", "I", "O"])), ceil=draw(st.booleans()),
    )  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(
    op=descriptors(),
    opset=st.integers(17, 23),
    constant=st.integers(0, 1023),
    seed=st.integers(0, 99),
    target=st.sampled_from(NAMES),
    quant_format=st.sampled_from(QUANT_FORMATS),
)
def test_lowered_equals_reference(op, opset, constant, seed, target, quant_format):
    fields = [item.name for item in op.schema.input_fields]
    constants = [name for index, name in enumerate(fields) if constant >> index & 1 and op.has(name)]
    check(op, seed, constants, opset=opset, target=target, quant_format=quant_format)


def layered(*, weights: str = "INT8", activations: str = "UINT8", dynamic: bool = False) -> Any:
    """A chain of a convolution, a maximum, a sum, a mean and a product."""
    rng = np.random.default_rng(1)
    g = GraphBuilder()

    def number(value: Any, kind: str = "FLOAT32") -> Any:
        return g.constant(np.full((1, 1, 1, 1), value, kind.lower()))

    zero = number(3, activations)
    low = np.iinfo(weights.lower()).min
    x = g.input("x", activations, (1, 4, 12, 12))
    scale: Any = number(0.02)
    if dynamic:
        source = g.dynamic_quantize_linear(g.input("f", "FLOAT32", (1, 4, 12, 12)), activations, activations)
        x, scale, zero = source.output, source.scale, source.zero_point
    f = g.constant(rng.integers(low, low + 256, (6, 4, 3, 3)).astype(weights.lower()))
    each = g.constant(rng.uniform(0.001, 0.002, (1, 6, 1, 1)).astype(np.float32))
    bias = g.constant(rng.integers(-900, 900, (1, 6, 1, 1)).astype(np.int32))
    middle = g.constant(np.full((1, 6, 1, 1), low + 128, weights.lower()))
    y = g.quantized_linear_convolution(
        x, scale, zero, f, each, middle, bias, number(0.05), number(3, activations), activations, start_padding=[1, 1],
        end_padding=[1, 1],
    )  # fmt: skip
    y = g.max_pooling0(y, [2, 2], strides=[2, 2])
    y = g.quantized_linear_add(
        y, number(0.05), y, number(0.05), number(0.08), activations, a_zero_point=number(3, activations),
        b_zero_point=number(3, activations), output_zero_point=number(7, activations),
    )  # fmt: skip
    y = g.quantized_linear_average_pooling(
        y, number(0.08), number(0.06), [2, 2], False, number(7, activations), number(5, activations), [2, 2],
    )  # fmt: skip
    y = g.reinterpret(y, sizes=[1, 1, 6, 9])
    b = g.constant(rng.integers(low, low + 256, (1, 1, 9, 5)).astype(weights.lower()))
    return g.build({"y": g.quantized_linear_matrix_multiply(
        y, number(0.06), b, number(0.01), number(0.3), activations, number(5, activations), number(low + 128, weights),
        number(1, activations),
    )})  # fmt: skip


@pytest.mark.parametrize("target", NAMES)
@pytest.mark.parametrize("quant_format", QUANT_FORMATS)
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize(("activations", "weights"), list(itertools.product(BYTES, BYTES)))
def test_chains(target, quant_format, dynamic, activations, weights):
    graph = layered(weights=weights, activations=activations, dynamic=dynamic)
    model = compile(graph, target=target, quant_format=quant_format)
    feeds = {
        "x": np.random.default_rng(0).integers(0, 100, (1, 4, 12, 12)).astype(activations.lower()),
        "f": np.random.default_rng(0).normal(0, 1, (1, 4, 12, 12)).astype(np.float32),
    }
    used = {port.name: feeds[port.name] for port in model.inputs}
    want = evaluate_results(graph, used, exact=False, in_floats=quant_format == QDQ)["y"]
    for optimised in (False, True):
        got = in_session(model, used, optimised=optimised)["y"].reshape(want.values.shape)
        assert not disagreements(got, want, model.outputs[0].desc.data_type).any()


# --- the option ------------------------------------------------------------------------------------------------------


def test_targets_choose_a_format():
    graph = layered()
    found = {name: compile(graph, target=name).quant_format for name in NAMES}
    floats = {"openvino", "webgpu", "webnn", "portable", "qnn-npu"}
    assert {name for name, form in found.items() if form == QDQ} == floats
    assert {name for name, form in found.items() if form == QOPERATOR} == {*NAMES} - floats


def test_an_exact_model_has_integers():
    graph = layered()
    for target in NAMES:
        assert compile(graph, target=target, exact=True).quant_format == QOPERATOR
    with pytest.raises(DmlError, match="integers alone are exact"):
        compile(graph, exact=True, quant_format=QDQ)
    with pytest.raises(DmlError, match="qdq or qoperator"):
        compile(graph, quant_format="int8")


@pytest.mark.parametrize("quant_format", QUANT_FORMATS)
def test_verify_passes(quant_format):
    assert verify(layered(), quant_format=quant_format, rounds=3).passed


@pytest.mark.parametrize("target", ["onnx", "openvino", "webgpu"])
def test_max_pool_is_quantised(target):
    """A Cast would break the chain that accelerators recognise."""
    found = operators(compile(layered(), target=target, quant_format=QDQ))
    at = found.index("MaxPool")
    if target != "onnx":
        assert [found[at - 1], found[at + 1]] == [DQ, Q]
    assert not {"Cast", "Round", "MatMulInteger", "ConvInteger"} & set(found)
    # WebGPU has no AveragePool; the optimiser would round the FLOAT weights of the Conv that replaces it
    assert "Flatten" not in found or target == "webgpu"
