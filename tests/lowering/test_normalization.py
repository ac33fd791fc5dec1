"""BATCH_NORMALIZATION, MEAN_VARIANCE_NORMALIZATION and LOCAL_RESPONSE_NORMALIZATION against the reference."""

from dataclasses import replace

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dml2onnx
from dml2onnx import catalog
from dml2onnx.checks import check
from dml2onnx.compiler import compile_outputs
from dml2onnx.ir.graph import Read
from dml2onnx.ir.tensor import DataType
from tests.lowering.harness import check_case, make_case, operator, operators, support_cases, t
from tests.lowering.test_convolution import convolution

RELU = operator("ACTIVATION_RELU")
SIZES = (2, 3, 4, 5, 2, 3, 1, 2)
SHAPE = SIZES[:4]
CHANNELS = (1, 3, 1, 1)
PARAMETERS = ("MeanTensor", "VarianceTensor", "ScaleTensor", "BiasTensor")
AFFINE = ("ScaleTensor", "BiasTensor")
VERSIONS = ("MEAN_VARIANCE_NORMALIZATION", "MEAN_VARIANCE_NORMALIZATION1", "MEAN_VARIANCE_NORMALIZATION2")
MOVES = {"Reshape", "Expand"}


# --- descriptors -----------------------------------------------------------------------------------------------------


def batch(sizes=SHAPE, parameters=CHANNELS, *, data_type="FLOAT32", spatial=True, epsilon=1e-5, activation=None, **at):
    """A BATCH_NORMALIZATION; ``parameters`` are the sizes of all four or a list of them, ``at`` strides by field."""
    shapes = parameters if isinstance(parameters, list) else [parameters] * 4
    return operator(
        "BATCH_NORMALIZATION",
        InputTensor=t(data_type, sizes, at.get("InputTensor")),
        **{name: t(data_type, shape, at.get(name)) for name, shape in zip(PARAMETERS, shapes, strict=True)},
        OutputTensor=t(data_type, sizes, at.get("OutputTensor")),
        Spatial=spatial,
        Epsilon=epsilon,
        FusedActivation=activation,
    )


def statistics(op, seed=0):
    """Contents of the parameters of a BATCH_NORMALIZATION, the variance positive."""
    rng = np.random.default_rng(seed)
    arrays = {name: rng.normal(0, 2, op.tensor(name).sizes) for name in PARAMETERS}
    arrays["VarianceTensor"] = np.abs(arrays["VarianceTensor"]) + 0.01
    return {name: array.astype(op.tensor(name).data_type.dtype) for name, array in arrays.items()}


def mvn(
    name=VERSIONS[1],
    sizes=SHAPE,
    axes=(2, 3),
    *,
    scale=None,
    bias=None,
    data_type="FLOAT32",
    mean=True,
    variance=True,
    epsilon=1e-5,
    activation=None,
    **at,
):
    """A MEAN_VARIANCE_NORMALIZATION of any version; ``scale`` and ``bias`` are sizes, ``at`` strides by field."""
    if name == VERSIONS[0]:
        assert axes in ((2, 3), (1, 2, 3))
        fields = {"CrossChannel": len(axes) == 3, "NormalizeVariance": variance}
    elif name == VERSIONS[1]:
        fields = {"AxisCount": len(axes), "Axes": axes, "NormalizeVariance": variance}
    else:
        fields = {"AxisCount": len(axes), "Axes": axes, "UseMean": mean, "UseVariance": variance}
    assert mean or name == VERSIONS[2]
    affine = {"ScaleTensor": scale, "BiasTensor": bias}
    return operator(
        name,
        InputTensor=t(data_type, sizes, at.get("InputTensor")),
        **{key: None if shape is None else t(data_type, shape, at.get(key)) for key, shape in affine.items()},
        OutputTensor=t(data_type, sizes, at.get("OutputTensor")),
        Epsilon=epsilon,
        FusedActivation=activation,
        **fields,
    )


def lrn(sizes=SHAPE, size=3, *, across=True, alpha=0.1, beta=0.75, bias=1.0, data_type="FLOAT32", **at):
    """A LOCAL_RESPONSE_NORMALIZATION; ``at`` gives strides by field."""
    return operator(
        "LOCAL_RESPONSE_NORMALIZATION",
        InputTensor=t(data_type, sizes, at.get("InputTensor")),
        OutputTensor=t(data_type, sizes, at.get("OutputTensor")),
        CrossChannel=across,
        LocalSize=size,
        Alpha=alpha,
        Beta=beta,
        Bias=bias,
    )


def check_batch(op, **options):
    """:func:`check_case` with a positive variance."""
    return check_case(op, inputs={**statistics(op), **options.pop("inputs", {})}, **options)


def computing(model):
    """The operators of a model that do more than move elements."""
    return [item for item in operators(model) if item not in MOVES]


def present(op, names):
    return [name for name in names if op.has(name)]


def optimized(model, tmp_path):
    """The operators that ONNX Runtime makes of a model."""
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "optimized.onnx")
    options.log_severity_level = 3
    onnxruntime.InferenceSession(model.model_proto.SerializeToString(), options, ["CPUExecutionProvider"])
    return [node.op_type for node in onnx.load(options.optimized_model_filepath).graph.node]


def following(sizes, *axes):
    """Sizes that are those of ``sizes`` along some axes, else 1."""
    return tuple(size if axis in axes else 1 for axis, size in enumerate(sizes))


def fused_activations(name):
    """Every activation that the catalogue lets an operator host, with attributes away from the defaults."""
    attributes = {"Alpha": 0.75, "Beta": 0.25, "Gamma": 1.5, "Steepness": 1.25, "Bias": 0.125, "Threshold": 0.5}
    for full_name in catalog.fused_activations(f"DML_OPERATOR_{name}"):
        schema = catalog.operator(full_name)
        fields = {item.name: attributes[item.name] for item in schema.fields if item.name in attributes}
        yield operator(schema.short_name, **fields)


# --- all operators ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize(("level", "data_type", "rank"), list(support_cases("BATCH_NORMALIZATION")))
def test_batch_normalization_on_every_data_type_and_rank(level, data_type, rank, constant):
    constants = PARAMETERS if constant else ()
    sizes = SIZES[:rank]
    for spatial, parameters in [
        (True, following(sizes, 1)),
        (False, sizes),
        (True, following(sizes)),
        (True, [following(sizes, axis % rank) for axis in range(4)]),
    ]:
        op = batch(sizes, parameters, data_type=data_type, spatial=spatial, activation=RELU)
        assert not check(make_case(op).graph, level), level
        check_batch(op, constants=constants)


@pytest.mark.parametrize("variance", [True, False])
@pytest.mark.parametrize(
    ("name", "level", "data_type", "rank"),
    [pytest.param(name, *case.values, id=case.id) for name in VERSIONS for case in support_cases(name)],
)
def test_mean_variance_normalization_on_every_data_type_and_rank(name, level, data_type, rank, variance):
    sizes = SIZES[:rank]
    several = [(0,), (rank - 1,), tuple(range(1, rank, 2)), tuple(range(rank)), tuple(range(min(2, rank - 1), rank))]
    for axes in [(2, 3), (1, 2, 3)] if name == VERSIONS[0] else several:
        affine = following(sizes, 1)
        op = mvn(name, sizes, axes, scale=affine, bias=affine, data_type=data_type, variance=variance, activation=RELU)
        assert not check(make_case(op).graph, level), level
        check_case(op)
        check_case(op, constants=AFFINE)


@pytest.mark.parametrize("across", [True, False])
@pytest.mark.parametrize(("level", "data_type", "rank"), list(support_cases("LOCAL_RESPONSE_NORMALIZATION")))
def test_local_response_normalization_on_every_data_type_and_rank(level, data_type, rank, across):
    for size in (1, 2, 5):
        op = lrn(SIZES[:rank], size, data_type=data_type, across=across)
        assert not check(make_case(op).graph, level), level
        check_case(op)


@pytest.mark.parametrize("opset", range(17, 24))
@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
def test_every_opset(data_type, opset):
    check_batch(batch(data_type=data_type), opset=opset)
    check_batch(batch(parameters=SHAPE, data_type=data_type), opset=opset)
    for name in VERSIONS:
        check_case(mvn(name, scale=CHANNELS, bias=SHAPE, data_type=data_type), opset=opset)
        check_case(mvn(name, variance=False, data_type=data_type), opset=opset)
    check_case(mvn(axes=(0, 2), data_type=data_type), opset=opset)
    check_case(mvn(sizes=(2, 20, 5, 7), axes=(1,), data_type=data_type), opset=opset)
    check_case(mvn(VERSIONS[2], mean=False, data_type=data_type), opset=opset)
    for across in (True, False):
        check_case(lrn(data_type=data_type, across=across), opset=opset)
        check_case(lrn(data_type=data_type, across=across, beta=0.6), opset=opset)


@pytest.mark.parametrize("opset", [17, 21, 22, 23])
def test_target_dml(opset):
    check_batch(batch(), opset=opset, target="dml")
    check_batch(batch(parameters=SHAPE), opset=opset, target="dml")
    for axes in [(2, 3), (1, 2, 3), (0, 2)]:
        check_case(mvn(axes=axes, scale=CHANNELS, bias=CHANNELS), opset=opset, target="dml")
    check_case(mvn(VERSIONS[2], mean=False), opset=opset, target="dml")
    for size in (2, 3):
        for across in (True, False):
            check_case(lrn(size=size, across=across), opset=opset, target="dml")


@pytest.mark.parametrize(
    ("op", "opset", "expected"),
    [
        (batch(data_type="FLOAT16"), 21, ["BatchNormalization"]),
        (mvn(data_type="FLOAT16"), 21, ["InstanceNormalization"]),
        (lrn(data_type="FLOAT16"), 21, ["LRN"]),
        # without a kernel, in FLOAT32
        (mvn(data_type="FLOAT16", variance=False), 21, ["Cast", "ReduceMean", "Sub", "Cast"]),
        (mvn(VERSIONS[2], data_type="FLOAT16", variance=False, mean=False), 21, ["Cast", "Cast"]),
        (
            mvn(),
            22,
            ["ReduceMean", "Sub", "Mul", "ReduceMean", "Add", "Sqrt", "Reciprocal", "Mul"],
        ),
        (
            batch(parameters=SHAPE, data_type="FLOAT16"),
            21,
            ["Cast", "Cast", "Cast", "Cast", "Cast", "Add", "Sqrt", "Div", "Sub", "Mul", "Add", "Cast"],
        ),
    ],
)
def test_target_dml_has_kernels_for_float16(op, opset, expected):
    graph = make_case(op).graph
    assert computing(compile_outputs(graph, graph.outputs, opset=opset, target="dml")) == expected


@pytest.mark.parametrize("axes", [(1,), (2, 3)])
@pytest.mark.parametrize("opset", [21, 22])
def test_target_dml_squares_no_float16(axes, opset):
    """300 squared is infinite in FLOAT16, and 1e-5 hardly more than 0; these nodes take FLOAT32."""
    for mean in (True, False):
        op = mvn(VERSIONS[2], axes=axes, mean=mean, data_type="FLOAT16")
        graph = make_case(op).graph
        nodes = operators(compile_outputs(graph, graph.outputs, opset=opset, target="dml"))
        assert "InstanceNormalization" in nodes or nodes[0] == "Cast"


def test_float16_is_rounded_once_behind_the_activation():
    op = batch(data_type="FLOAT16", activation=RELU)
    assert computing(check_batch(op, constants=PARAMETERS)) == ["Cast", "BatchNormalization", "Relu", "Cast"]
    op = mvn(data_type="FLOAT16", activation=RELU)
    assert computing(check_case(op)) == ["Cast", "InstanceNormalization", "Relu", "Cast"]


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
@pytest.mark.parametrize("name", ["BATCH_NORMALIZATION", *VERSIONS])
def test_fused_activations(name, data_type):
    activations = list(fused_activations(name))
    assert len(activations) == 17
    for activation in activations:
        if name == "BATCH_NORMALIZATION":
            check_batch(batch(data_type=data_type, activation=activation))
        else:
            check_case(mvn(name, data_type=data_type, scale=CHANNELS, activation=activation))
            check_case(mvn(name, data_type=data_type, variance=False, activation=activation))


# --- given statistics ------------------------------------------------------------------------------------------------


class TestBatchNormalization:
    """BATCH_NORMALIZATION is BatchNormalization where it can be."""

    def test_constants_by_channel_are_one_node(self):
        for sizes in [(2, 3, 4), SHAPE, (2, 3, 4, 5, 2)]:
            model = check_batch(batch(sizes, following(sizes, 1)), constants=PARAMETERS)
            assert operators(model) == ["BatchNormalization"]
            assert sorted(model.lowered.initializers) == sorted(PARAMETERS)

    @pytest.mark.parametrize("axes", [(), (0,), (0, 1), (1, 2), (2,), (0, 1, 2)])
    def test_parameters_along_other_axes_are_one_node_between_reshapes(self, axes):
        model = check_batch(batch(parameters=following(SHAPE, *axes)), constants=PARAMETERS)
        assert computing(model) == ["BatchNormalization"]

    @pytest.mark.parametrize("axes", [(3,), (1, 3), (0, 1, 2, 3)])
    def test_parameters_along_the_last_axis_are_a_mul_and_an_add(self, axes):
        model = check_batch(batch(parameters=following(SHAPE, *axes)), constants=PARAMETERS)
        assert operators(model) == ["Mul", "Add"]

    def test_each_parameter_has_sizes_of_its_own(self):
        shapes = [following(SHAPE, axis) for axis in range(4)]
        for turned in range(4):
            op = batch(parameters=shapes[turned:] + shapes[:turned])
            assert operators(check_batch(op, constants=PARAMETERS)) == ["Mul", "Add"]
            check_batch(op)
        op = batch(parameters=[CHANNELS, following(SHAPE), following(SHAPE, 2), following(SHAPE, 1, 2)])
        assert computing(check_batch(op, constants=PARAMETERS)) == ["BatchNormalization"]
        check_batch(op)

    @pytest.mark.parametrize("constant", [c for n in range(4) for c in [PARAMETERS[:n], PARAMETERS[n:]]])
    @pytest.mark.parametrize("parameters", [CHANNELS, following(SHAPE, 3), SHAPE])
    def test_some_constants(self, parameters, constant):
        check_batch(batch(parameters=parameters), constants=constant)

    def test_a_mean_that_is_not_known_is_subtracted_first(self):
        assert computing(check_batch(batch())) == ["Sub", "BatchNormalization"]
        assert computing(check_batch(batch(parameters=SHAPE))) == ["Add", "Sqrt", "Div", "Sub", "Mul", "Add"]

    def test_a_mean_of_0_costs_nothing(self):
        zero = {"MeanTensor": np.zeros(CHANNELS)}
        assert computing(check_batch(batch(), inputs=zero, constants=["MeanTensor"])) == ["BatchNormalization"]
        op = batch(parameters=SHAPE)
        zero = {"MeanTensor": np.zeros(SHAPE)}
        assert computing(check_batch(op, inputs=zero, constants=["MeanTensor"])) == ["Add", "Sqrt", "Div", "Mul", "Add"]

    def test_factors_of_1_and_terms_of_0_are_left_out(self):
        sizes = following(SHAPE, 3)
        numbers = dict(zip(PARAMETERS, (0, 4, 2, 0), strict=True))
        known = {name: np.full(sizes, number) for name, number in numbers.items()}
        op = batch(parameters=sizes, epsilon=0)
        assert computing(check_batch(op, inputs=known, constants=PARAMETERS)) == ["Identity"]

    @pytest.mark.parametrize("parameters", [CHANNELS, following(SHAPE, 3)])
    @pytest.mark.parametrize("constant", [True, False])
    @pytest.mark.parametrize("offset", [300.0, 1e5])
    def test_a_large_mean_costs_no_digits(self, parameters, constant, offset):
        """To a few units in the last place, which a factor and a term would not give."""
        op = batch(parameters=parameters, epsilon=1e-6)
        rng = np.random.default_rng(0)
        arrays = {
            "InputTensor": (offset + rng.normal(0, 0.5, SHAPE)).astype(np.float32),
            "MeanTensor": np.full(parameters, offset, np.float32),
            "VarianceTensor": np.full(parameters, 0.25, np.float32),
            "ScaleTensor": np.full(parameters, 1.5, np.float32),
            "BiasTensor": np.full(parameters, 0.25, np.float32),
        }
        model = check_case(op, inputs=arrays, constants=PARAMETERS if constant else ())
        assert "Sub" in operators(model)
        x, mean, variance, scale, bias = (array.astype(np.float64) for array in arrays.values())
        want = scale * ((x - mean) / np.sqrt(variance + np.float32(1e-6))) + bias
        got = model.run({port.name: arrays[port.name].reshape(-1) for port in model.inputs})["OutputTensor"]
        np.testing.assert_allclose(got, want, rtol=0, atol=2**-21)

    def test_a_small_mean_costs_few_digits(self):
        op = batch(epsilon=1e-5)
        arrays = statistics(op) | {"MeanTensor": np.full(CHANNELS, 0.5, np.float32)}
        x = np.random.default_rng(0).normal(0, 2, SHAPE).astype(np.float32)
        model = check_case(op, inputs={**arrays, "InputTensor": x}, constants=PARAMETERS)
        assert operators(model) == ["BatchNormalization"]

    def test_why_the_mean_is_subtracted(self):
        notes = [note for trace in check_batch(batch()).lowered.traces for note in trace.notes]
        assert any("digits" in note for note in notes)

    @pytest.mark.parametrize("constant", [True, False])
    @pytest.mark.parametrize("parameters", [CHANNELS, SHAPE])
    def test_no_variance_and_no_epsilon(self, parameters, constant):
        """Numbers divided by 0 are infinite, and 0 is not a number."""
        op = batch(parameters=parameters, epsilon=0.0)
        x = np.arange(-60.0, 60).reshape(SHAPE)
        arrays = {"InputTensor": x, "VarianceTensor": np.zeros(parameters), "MeanTensor": np.zeros(parameters)}
        model = check_batch(op, inputs=arrays, constants=PARAMETERS if constant else ())
        feeds = {**statistics(op), **arrays}
        got = model.run({port.name: feeds[port.name].astype(np.float32).reshape(-1) for port in model.inputs})
        assert np.isinf(got["OutputTensor"]).sum() == x.size - 1
        assert np.isnan(got["OutputTensor"]).sum() == 1

    @pytest.mark.parametrize("epsilon", [0.0, 1e-5, 0.5, -0.25, 1e30, 3e38])
    @pytest.mark.parametrize("parameters", [CHANNELS, SHAPE])
    @pytest.mark.parametrize("constant", [True, False])
    def test_epsilon_and_negative_variances(self, parameters, epsilon, constant):
        op = batch(parameters=parameters, epsilon=epsilon)
        check_case(op, constants=PARAMETERS if constant else (), seed=3)

    @pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
    @pytest.mark.parametrize("parameters", [CHANNELS, SHAPE])
    @pytest.mark.parametrize("constant", [(), PARAMETERS, PARAMETERS[:2], PARAMETERS[2:]])
    def test_special_numbers(self, data_type, parameters, constant):
        dtype = DataType[data_type].dtype
        limits = np.finfo(dtype)
        special = [np.inf, -np.inf, np.nan, 0.0, -0.0, 1.0, limits.max, limits.tiny, limits.smallest_subnormal]
        op = batch(parameters=parameters, data_type=data_type)
        for seed in range(8):
            rng = np.random.default_rng(seed)
            arrays = {"InputTensor": rng.choice(special, SHAPE), **statistics(op, seed)}
            if seed:
                name = PARAMETERS[seed % 4]
                arrays[name] = rng.choice(np.abs(special) if name == "VarianceTensor" else special, parameters)
            check_case(op, inputs=arrays, constants=constant)

    def test_layouts(self):
        nhwc = (60, 1, 15, 3)
        for at in [
            {"InputTensor": nhwc, "OutputTensor": nhwc},
            {"InputTensor": (0, 20, 5, 1)},
            {"InputTensor": (60, 0, 0, 1)},
            {"InputTensor": (0, 0, 0, 0)},
            {"OutputTensor": (200, 50, 10, 2)},
        ]:
            for parameters in (CHANNELS, SHAPE):
                for constants in ((), PARAMETERS):
                    check_batch(batch(parameters=parameters, **at), constants=constants)

    def test_parameters_of_zero_stride_are_not_repeated(self):
        at = dict.fromkeys(PARAMETERS, (0, 1, 0, 0))
        assert computing(check_batch(batch(parameters=SHAPE, **at), constants=PARAMETERS)) == ["BatchNormalization"]
        assert computing(check_batch(batch(parameters=SHAPE, **at))) == ["Sub", "BatchNormalization"]

    def test_a_conv_before_it_takes_it_in(self, tmp_path):
        """BatchNormalization and Relu are gone when ONNX Runtime has optimised the model."""
        conv = make_case(convolution((1, 3, 8, 8), (4, 3, 3, 3), bias=False), constants=["FilterTensor"])
        op = batch((1, 4, 6, 6), (1, 4, 1, 1), activation=RELU)
        norm = make_case(op, inputs=statistics(op), constants=PARAMETERS)
        (first,), (second,) = conv.graph.nodes, norm.graph.nodes
        between = Read(first.writes["OutputTensor"][0].value)
        graph = replace(
            conv.graph,
            nodes=(
                replace(first, name="conv"),
                replace(second, name="norm", reads={**second.reads, "InputTensor": (between,)}),
            ),
            outputs=norm.graph.outputs,
            constants=(*conv.graph.constants, *norm.graph.constants),
        )
        model = compile_outputs(graph, graph.outputs)
        assert operators(model) == ["Conv", "BatchNormalization", "Relu"]
        assert len(set(optimized(model, tmp_path)) - {"ReorderInput", "ReorderOutput"}) == 1
        assert dml2onnx.verify(graph).passed


# --- the input's own statistics --------------------------------------------------------------------------------------

ALL_AXES = [(), (0,), (1,), (2,), (3,), (0, 1), (1, 3), (2, 3), (3, 2), (0, 2, 3), (1, 2, 3), (0, 1, 2, 3)]
PARTS = [None, *(following(SHAPE, *axes) for axes in [(), (0,), (1,), (3,), (1, 2), (0, 1), (2, 3), (0, 1, 2, 3)])]


class TestMeanVarianceNormalization:
    """The three versions of MEAN_VARIANCE_NORMALIZATION."""

    @pytest.mark.parametrize("axes", ALL_AXES)
    @pytest.mark.parametrize(("mean", "variance"), [(True, True), (True, False), (False, True), (False, False)])
    def test_any_axes_with_any_scale_and_bias(self, axes, mean, variance):
        for number, scale in enumerate(PARTS):
            for bias in (None, PARTS[number], PARTS[-number]):
                check_case(mvn(VERSIONS[2], axes=axes, mean=mean, variance=variance, scale=scale, bias=bias))
        check_case(mvn(VERSIONS[2], axes=axes, mean=mean, variance=variance, scale=CHANNELS), constants=AFFINE[:1])

    @pytest.mark.parametrize("axes", [(2, 3), (1, 2, 3)])
    @pytest.mark.parametrize("variance", [True, False])
    def test_version_0_is_version_1_with_two_sets_of_axes(self, axes, variance):
        for scale, bias in [(None, None), (CHANNELS, None), (None, CHANNELS), (SHAPE, CHANNELS)]:
            models = [
                check_case(mvn(name, axes=axes, variance=variance, scale=scale, bias=bias), seed=1) for name in VERSIONS
            ]
            x = {
                port.name: np.random.default_rng(0).normal(1, 2, np.prod(port.shape)).astype(np.float32)
                for port in models[0].inputs
            }
            results = [model.run(x)["OutputTensor"] for model in models]
            assert np.array_equal(results[0], results[1])
            assert np.array_equal(results[0], results[2])

    @pytest.mark.parametrize(
        ("fields", "expected"),
        [
            ({}, ["InstanceNormalization"]),
            ({"scale": CHANNELS, "bias": CHANNELS}, ["InstanceNormalization"]),
            ({"scale": CHANNELS}, ["InstanceNormalization"]),
            ({"bias": CHANNELS}, ["InstanceNormalization"]),
            ({"axes": (1, 2, 3)}, ["InstanceNormalization"]),
            ({"axes": (3,), "scale": following(SHAPE, 0, 1, 2)}, ["InstanceNormalization"]),
            ({"axes": (0, 1, 2, 3)}, ["InstanceNormalization"]),
            ({"sizes": (6, 5), "axes": (1,)}, ["InstanceNormalization"]),
            ({"sizes": (6, 1, 5, 1), "axes": (2,)}, ["InstanceNormalization"]),
            ({"scale": SHAPE, "bias": CHANNELS}, ["InstanceNormalization", "Mul", "Add"]),
            ({"scale": CHANNELS, "bias": SHAPE}, ["InstanceNormalization", "Add"]),
            ({"scale": following(SHAPE, 3), "axes": (3,)}, ["InstanceNormalization", "Mul"]),
            ({"variance": False}, ["ReduceMean", "Sub"]),
            ({"variance": False, "scale": CHANNELS, "bias": CHANNELS}, ["ReduceMean", "Sub", "Mul", "Add"]),
            ({"mean": False, "variance": False}, ["Identity"]),
            ({"mean": False, "variance": False, "scale": CHANNELS, "bias": CHANNELS}, ["Mul", "Add"]),
            ({"mean": False}, ["Mul", "ReduceMean", "Add", "Sqrt", "Reciprocal", "Mul"]),
            ({"mean": False, "scale": CHANNELS}, ["Mul", "ReduceMean", "Add", "Sqrt", "Reciprocal", "Mul", "Mul"]),
            (
                {"axes": (0, 2)},
                [
                    "ReduceMean",
                    "ReduceMean",
                    "Sub",
                    "Mul",
                    "ReduceMean",
                    "ReduceMean",
                    "Add",
                    "Sqrt",
                    "Reciprocal",
                    "Mul",
                ],
            ),
            ({"sizes": (2, 9, 4, 5), "axes": (1,), "variance": False}, ["MatMul", "Div", "Sub"]),
            ({"sizes": (2, 4099, 4, 5), "axes": (1,), "variance": False}, ["ReduceMean", "Sub"]),
        ],
    )
    def test_forms(self, fields, expected):
        op = mvn(VERSIONS[2], **fields)
        assert computing(check_case(op, constants=present(op, AFFINE))) == expected
        assert computing(check_case(op)) == expected

    def test_images_stay_as_they_are(self):
        op = mvn(scale=CHANNELS, bias=CHANNELS)
        model = check_case(op, constants=AFFINE)
        assert operators(model) == ["InstanceNormalization"]
        assert sorted(model.lowered.initializers) == sorted(AFFINE)
        assert operators(check_case(mvn())) == ["InstanceNormalization"]

    @pytest.mark.parametrize(
        ("scale", "factors"), [(CHANNELS, ["InputTensor", "Mul"]), (SHAPE, ["Mul", "ScaleTensor"])]
    )
    def test_the_smaller_one_is_divided_by_the_deviation(self, scale, factors):
        """The scale, or where that follows the axes, the input."""
        nodes = check_case(mvn(VERSIONS[2], mean=False, scale=scale)).lowered.proto.node
        makers = {output: node.op_type for node in nodes for output in node.output}
        assert [makers.get(name, name) for name in nodes[-1].input] == factors

    def test_factors_of_1_and_terms_of_0_are_left_out(self):
        known = {"ScaleTensor": np.ones(SHAPE), "BiasTensor": np.zeros(SHAPE)}
        op = mvn(scale=SHAPE, bias=SHAPE, variance=False)
        assert operators(check_case(op, inputs=known, constants=AFFINE)) == ["ReduceMean", "Sub"]

    @pytest.mark.parametrize("axes", [(3,), (2, 3), (1,), (0,), (1, 2, 3)])
    @pytest.mark.parametrize("offset", [100.0, 1e4])
    def test_a_large_mean_costs_only_its_own_rounding(self, axes, offset, tmp_path):
        """The variance keeps its digits: the mean of the squares less the square of the mean would not."""
        sizes = (24, 20, 8, 9)
        x = (offset + np.random.default_rng(0).normal(0, 0.5, sizes)).astype(np.float32)
        op = mvn(sizes=sizes, axes=axes, epsilon=1e-6)
        model = check_case(op, inputs={"InputTensor": x})
        got = model.run({"InputTensor": x.reshape(-1)})["OutputTensor"].astype(np.float64)
        np.testing.assert_allclose(got.std(axes), 1, atol=3e-3)
        assert "LayerNormalization" not in optimized(model, tmp_path)

    @pytest.mark.parametrize("version", VERSIONS[1:])
    def test_no_axes_leave_the_bias(self, version):
        for variance in (True, False):
            op = mvn(version, axes=(), variance=variance, scale=CHANNELS, bias=CHANNELS)
            model = check_case(op, extremes=True)
            memory = {port.name: np.full(np.prod(port.shape), 3, np.float32) for port in model.inputs}
            assert (model.run(memory)["OutputTensor"] == 3).all()

    @pytest.mark.parametrize("epsilon", [0.0, 1e-5, 2.0, -0.5, 1e30, 3e38])
    @pytest.mark.parametrize("axes", [(), (1,), (2, 3)])
    def test_epsilon(self, axes, epsilon):
        for mean in (True, False):
            check_case(mvn(VERSIONS[2], axes=axes, mean=mean, epsilon=epsilon, scale=CHANNELS))

    @pytest.mark.parametrize("axes", [(1,), (2, 3), (0, 1, 2, 3)])
    @pytest.mark.parametrize("mean", [True, False])
    @pytest.mark.parametrize("epsilon", [0.0, 1e-5])
    def test_equal_elements(self, axes, mean, epsilon):
        for number in (0.0, 1.0, -2.5, 0.1, 1e-30, 1e30):
            op = mvn(VERSIONS[2], axes=axes, mean=mean, epsilon=epsilon, bias=CHANNELS)
            check_case(op, inputs={"InputTensor": np.full(SHAPE, number)})

    @pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
    @pytest.mark.parametrize("axes", [(), (1,), (3,), (2, 3)])
    @pytest.mark.parametrize(("mean", "variance"), [(True, True), (True, False), (False, True), (False, False)])
    def test_special_numbers(self, data_type, axes, mean, variance):
        limits = np.finfo(DataType[data_type].dtype)
        special = [np.inf, -np.inf, np.nan, limits.max, limits.min, 0.0, -0.0, limits.tiny, limits.smallest_subnormal]
        op = mvn(
            VERSIONS[2], axes=axes, data_type=data_type, mean=mean, variance=variance, scale=CHANNELS, bias=CHANNELS
        )
        for seed, number in enumerate(special):
            rng = np.random.default_rng(seed)
            x = rng.normal(0, 1, SHAPE)
            x[0, 1, 2, 3] = number
            check_case(op, inputs={"InputTensor": x})
            check_case(op, inputs={"InputTensor": rng.choice(special, SHAPE)})
            for name in AFFINE:
                check_case(op, inputs={name: np.array([1.0, number, -1.0]).reshape(CHANNELS)}, constants=[name])

    def test_matrix_products_do_not_spread_infinities(self):
        x = np.random.default_rng(0).normal(0, 1, (2, 9, 4, 5))
        x[0, 3, 1, 2], x[1, 5, 0, 0] = np.inf, np.nan
        model = check_case(mvn(sizes=x.shape, axes=(1,)), inputs={"InputTensor": x})
        assert "MatMul" in operators(model)
        got = model.run({"InputTensor": x.astype(np.float32).reshape(-1)})["OutputTensor"]
        assert np.isnan(got).sum() == 18

    @pytest.mark.parametrize("axes", [(2, 3), (1,), (0,), (0, 3)])
    @pytest.mark.parametrize("strides", [(60, 1, 15, 3), (0, 20, 5, 1), (60, 0, 5, 1), (60, 20, 0, 1), (0, 0, 0, 0)])
    def test_layouts(self, axes, strides):
        for mean, variance in [(True, True), (True, False), (False, True)]:
            at = {"InputTensor": strides}
            for scale in (None, CHANNELS, SHAPE):
                check_case(mvn(VERSIONS[2], axes=axes, mean=mean, variance=variance, scale=scale, bias=scale, **at))
        check_case(mvn(axes=axes, scale=SHAPE, **dict.fromkeys(AFFINE, (0, 1, 0, 0)), OutputTensor=(200, 50, 10, 2)))

    def test_parameters_of_zero_stride_are_not_repeated(self):
        op = mvn(scale=SHAPE, bias=SHAPE, **dict.fromkeys(AFFINE, (0, 1, 0, 0)))
        assert operators(check_case(op, constants=AFFINE)) == ["InstanceNormalization"]

    def test_what_only_repeats_is_computed_once(self):
        model = check_case(mvn(axes=(2, 3), InputTensor=(0, 20, 5, 1)))
        assert operators(model)[-2:] == ["InstanceNormalization", "Expand"]


# --- neighbours ------------------------------------------------------------------------------------------------------


class TestLocalResponseNormalization:
    """LOCAL_RESPONSE_NORMALIZATION over channels and over the image."""

    @pytest.mark.parametrize("across", [True, False])
    @pytest.mark.parametrize("size", [*range(1, 12), 50, (1 << 32) - 1])
    def test_sizes(self, across, size):
        for sizes in [(2, 7, 5, 6), (1, 1, 1, 1), (1, 2, 1, 9), (2, 3, 8, 1)]:
            check_case(lrn(sizes, size, across=across, alpha=min(0.1 * size, 3e38)))

    @pytest.mark.parametrize("across", [True, False])
    @pytest.mark.parametrize("beta", [0.75, 0.5, 0.25, 1.0, 0.0, -0.5, 2.0, 0.6, 3.25, -2.0])
    @pytest.mark.parametrize("alpha", [1e-4, 0.0, 2.5, -0.01, 3e38])
    @pytest.mark.parametrize("bias", [1.0, 0.0, 2.5, -4.0])
    def test_attributes(self, across, beta, alpha, bias):
        check_case(lrn(across=across, alpha=alpha, beta=beta, bias=bias))

    @pytest.mark.parametrize("across", [True, False])
    def test_an_even_window_reaches_further_behind(self, across):
        axis = 1 if across else 2
        x = np.zeros((1, 6, 6, 1) if not across else (1, 6, 1, 1), np.float32)
        np.moveaxis(x, axis, 0)[2] = 1
        ones = np.full_like(x, 1e-3)
        op = lrn(x.shape, 4, across=across, alpha=4.0, beta=1.0, bias=1.0)
        model = check_case(op, inputs={"InputTensor": np.maximum(x, ones)})
        got = model.run({"InputTensor": np.maximum(x, ones).reshape(-1)})["OutputTensor"]
        # elements 0 to 3 see element 2: one before them at most, two behind
        near = np.moveaxis(got, axis, 0).reshape(6, -1)[:, 0]
        halved = near < np.array([0.6e-3, 0.6e-3, 0.6, 0.6e-3, 0.6e-3, 0.6e-3])
        assert halved.tolist() == [True, True, True, True, False, False]

    def test_forms(self):
        assert computing(check_case(lrn(size=3))) == [
            "Mul", "Pad", "Slice", "Slice", "Add", "Slice", "Add", "Mul", "Add", "Sqrt", "Sqrt", "Mul", "Div",
        ]  # fmt: skip
        assert computing(check_case(lrn(across=False))) == [
            "Mul", "AveragePool", "AveragePool", "Mul", "Mul", "Add", "Sqrt", "Sqrt", "Mul", "Div",
        ]  # fmt: skip
        for beta, expected in [(1.0, ["Div"]), (0.5, ["Sqrt", "Div"]), (0.25, ["Sqrt", "Sqrt", "Div"])]:
            assert computing(check_case(lrn(across=False, beta=beta)))[6:] == expected
        assert computing(check_case(lrn(across=False, beta=0.6)))[6:] == ["Pow", "Div"]
        assert computing(check_case(lrn(across=False, bias=0.0, beta=0.5)))[5:] == ["Sqrt", "Div"]

    def test_long_windows_take_few_nodes(self):
        assert len(operators(check_case(lrn((1, 200, 2, 3), 101)))) < 50

    @pytest.mark.parametrize("size", [2, 3, 5])
    @pytest.mark.parametrize("fields", [{}, {"alpha": 0.0}, {"alpha": -1.0}, {"beta": 0.0}, {"beta": -1.0}])
    def test_lrn_where_directml_has_the_kernel_and_the_cpu_takes_it_too(self, size, fields):
        """Models for DirectML run on the CPU as well."""
        has_lrn = "LRN" in operators(check_case(lrn(size=size, **fields), target="dml"))
        assert has_lrn == (size % 2 == 1 and not fields)

    @pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
    @pytest.mark.parametrize("across", [True, False])
    @pytest.mark.parametrize("size", [2, 3, 5])
    def test_special_numbers(self, data_type, across, size):
        """An infinity is seen in its own windows only."""
        limits = np.finfo(DataType[data_type].dtype)
        special = [np.inf, -np.inf, np.nan, limits.max, limits.min, 0.0, -0.0, limits.tiny, limits.smallest_subnormal]
        sizes = (2, 7, 6, 5)
        for seed, number in enumerate(special):
            for beta, bias in [(0.75, 1.0), (0.6, 0.0), (0.5, 0.0), (1.0, -1.0)]:
                x = np.random.default_rng(seed).normal(0, 1, sizes)
                x[1, 2, 3, 4] = number
                check_case(
                    lrn(sizes, size, across=across, data_type=data_type, beta=beta, bias=bias),
                    inputs={"InputTensor": x},
                )

    @pytest.mark.parametrize("across", [True, False])
    @pytest.mark.parametrize("strides", [(60, 1, 15, 3), (0, 20, 5, 1), (60, 0, 5, 1), (60, 20, 0, 1), (0, 0, 0, 0)])
    def test_layouts(self, across, strides):
        check_case(lrn(across=across, InputTensor=strides))
        check_case(lrn(across=across, OutputTensor=(200, 50, 10, 2)))

    def test_a_constant_input(self):
        for across in (True, False):
            check_case(lrn(across=across), constants=["InputTensor"])


# --- generated descriptors -------------------------------------------------------------------------------------------


@st.composite
def shapes(draw, low, high):
    """Sizes, and functions that draw strides and the sizes of a parameter."""
    rank = draw(st.integers(low, high))
    sizes = tuple(draw(st.lists(st.integers(1, 5), min_size=rank, max_size=rank)))

    def strides(of, *, repeats):
        if draw(st.booleans()):
            return None
        result, step = [0] * len(of), 1
        for axis in draw(st.permutations(range(len(of)))):
            if not repeats or draw(st.integers(0, 3)):
                result[axis] = step
                step *= of[axis]
        return tuple(result)

    def parameter():
        return tuple(size if draw(st.booleans()) else 1 for size in sizes)

    return sizes, strides, parameter


@st.composite
def descriptors(draw):
    """Any valid descriptor of small sizes."""
    name = draw(st.sampled_from(["BATCH_NORMALIZATION", *VERSIONS, "LOCAL_RESPONSE_NORMALIZATION"]))
    flat = name in (VERSIONS[0], "LOCAL_RESPONSE_NORMALIZATION")
    sizes, strides, parameter = draw(shapes(4, 4) if flat else shapes(1, 6))
    options = {
        "data_type": draw(st.sampled_from(["FLOAT32", "FLOAT16"])),
        "InputTensor": strides(sizes, repeats=True),
        "OutputTensor": strides(sizes, repeats=False),
    }
    if name == "LOCAL_RESPONSE_NORMALIZATION":
        return lrn(sizes, draw(st.integers(1, 9)), across=draw(st.booleans()),
                   beta=draw(st.sampled_from([0.75, 0.5, 1.0, 0.3])), **options)  # fmt: skip
    options["activation"] = draw(st.sampled_from([None, RELU, operator("ACTIVATION_LINEAR", Alpha=2.0, Beta=-1.0)]))
    options["epsilon"] = draw(st.sampled_from([1e-5, 0.1, 0.0]))
    if name == "BATCH_NORMALIZATION":
        parameters = [parameter() for _ in PARAMETERS]
        options |= {field: strides(shape, repeats=True) for field, shape in zip(PARAMETERS, parameters, strict=True)}
        return batch(sizes, parameters, spatial=draw(st.booleans()), **options)
    scale, bias = (parameter() if draw(st.booleans()) else None for _ in AFFINE)
    for field, shape in zip(AFFINE, (scale, bias), strict=True):
        options[field] = None if shape is None else strides(shape, repeats=True)
    if name == VERSIONS[0]:
        axes = draw(st.sampled_from([(2, 3), (1, 2, 3)]))
    else:
        axes = tuple(draw(st.lists(st.integers(0, len(sizes) - 1), unique=True)))
    mean = name != VERSIONS[2] or draw(st.booleans())
    return mvn(name, sizes, axes, scale=scale, bias=bias, mean=mean, variance=draw(st.booleans()), **options)


@settings(max_examples=400, deadline=None)
@given(
    op=descriptors(),
    opset=st.integers(17, 23),
    known=st.sets(st.sampled_from(["InputTensor", *PARAMETERS])),
    extremes=st.booleans(),
    seed=st.integers(0, 99),
)
def test_lowered_equals_reference(op, opset, known, extremes, seed):
    assert not check(make_case(op).graph)
    constants = [name for name in known if name in op.schema.fields_by_name and op.has(name)]
    check_case(op, opset=opset, constants=constants, extremes=extremes, seed=seed)
