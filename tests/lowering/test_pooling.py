"""All versions of MAX_POOLING, AVERAGE_POOLING and LP_POOLING against the reference."""

from typing import Any

import numpy as np
import pytest

from dml2onnx.compiler import compile_outputs
from dml2onnx.ir.graph import Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.tensor import DataType
from tests.lowering.harness import (
    check_case,
    check_form,
    make_case,
    operator,
    operators,
    random_memory,
    t,
    type_cases,
)
from tests.lowering.pools import DATA_TYPES, check_extremes, maximum, mean, norm, pool


def padded(rank):
    """Sizes, window and options of a pool with strides and padding."""
    options = {"strides": (2, 1, 1)[: rank - 2], "start": (1, 0, 1)[: rank - 2], "end": (1, 1, 0)[: rank - 2]}
    return (2, 3, 4, 5, 3)[:rank], (3, 2, 2)[: rank - 2], options


@pytest.mark.parametrize("name", ["MAX_POOLING", "MAX_POOLING1", "MAX_POOLING2"])
@pytest.mark.parametrize("data_type", DATA_TYPES)
def test_maximum_of_every_data_type_and_rank(name, data_type):
    assert {case.values[1] for case in type_cases(name) if case.values[0] == data_type} == {4, 5}
    for rank in (4, 5):
        sizes, window, options = padded(rank)
        check_extremes(pool(name, sizes, window, data_type=data_type, **options))
        if name == "MAX_POOLING2":
            options |= {"dilations": (1, 3, 1)[: rank - 2]}
            check_extremes(maximum(sizes, window, data_type=data_type, **options))


@pytest.mark.parametrize(
    ("name", "index_type"), [("MAX_POOLING1", "UINT32"), ("MAX_POOLING1", "UINT64"), ("MAX_POOLING2", "UINT64")]
)
@pytest.mark.parametrize("data_type", DATA_TYPES)
def test_indices_of_every_data_type_and_rank(name, index_type, data_type):
    for rank in (4, 5):
        sizes, window, options = padded(rank)
        for extremes in (False, True):
            op = pool(name, sizes, window, data_type=data_type, indices=index_type, **options)
            check_case(op, extremes=extremes)


@pytest.mark.parametrize("name", ["AVERAGE_POOLING", "AVERAGE_POOLING1"])
@pytest.mark.parametrize("include", [False, True])
@pytest.mark.parametrize(("data_type", "rank"), type_cases("AVERAGE_POOLING"))
def test_mean_of_every_data_type_and_rank(name, include, data_type, rank):
    sizes, window, options = padded(rank)
    check_case(pool(name, sizes, window, data_type=data_type, include=include, **options))


@pytest.mark.parametrize("p", [1, 2, 3, 7])
@pytest.mark.parametrize("name", ["LP_POOLING", "LP_POOLING1"])
@pytest.mark.parametrize(("data_type", "rank"), type_cases("LP_POOLING1"))
def test_norm_of_every_data_type_and_rank(name, data_type, rank, p):
    sizes, window, options = padded(rank)
    check_case(pool(name, sizes, window, data_type=data_type, p=p, **options))
    if name == "LP_POOLING1":
        options |= {"dilations": (1, 3, 1)[: rank - 2]}
        for opset in (17, 18, 19):
            check_case(norm(sizes, window, data_type=data_type, p=p, **options), opset=opset)


class TestMaximumForms:
    def test_one_max_pool(self):
        op = maximum((1, 2, 7, 7), (3, 3), strides=(2, 2), start=(1, 1), end=(1, 1))
        assert operators(check_form(op)) == ["MaxPool"]

    @pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
    @pytest.mark.parametrize("indices", [None, "UINT32"])
    def test_inputs_from_a_relu_need_no_guard(self, data_type, indices):
        """The maximum with 0 leaves neither -inf nor NaN."""
        pooled = maximum((1, 2, 7, 7), (3, 3), data_type=data_type, indices=indices)
        desc = t(data_type, (1, 2, 7, 7))
        first = operator("ACTIVATION_RELU", InputTensor=desc, OutputTensor=desc)
        x, y = Value("x", 196 * 4), Value("y", 196 * 4)
        outputs = {field: Value(field, 2 * 25 * 8) for field in pooled.schema.index if field.startswith("Output")}
        outputs = {field: value for field, value in outputs.items() if pooled.has(field)}
        nodes = (
            Node("relu", first, {"InputTensor": (Read(x),)}, {"OutputTensor": (Write(y),)}),
            Node("pool", pooled, {"InputTensor": (Read(y),)}, {name: (Write(v),) for name, v in outputs.items()}),
        )
        ends = tuple(GraphOutput(name, value, pooled.tensor(name)) for name, value in outputs.items())
        model = compile_outputs(Graph(nodes, (GraphInput("x", x, desc=desc),), ends), ends)
        assert {"MaxPool", "Relu"} <= set(operators(model)) <= {"Cast", "IsNaN", "Where", "Equal", "MaxPool", "Relu"}

    @pytest.mark.parametrize("data_type", ["FLOAT16", "INT8", "UINT8", "INT16", "UINT16"])
    def test_narrow_types_use_the_float_kernel(self, data_type):
        op = maximum((1, 2, 7, 7), (3, 3), strides=(2, 2), start=(1, 1), end=(1, 1), data_type=data_type)
        assert operators(check_form(op)) == ["Cast", "MaxPool", "Cast"]

    def test_a_rounded_up_size_becomes_padding_at_the_end(self):
        model = check_form(maximum((1, 1, 6, 6), (3, 3), strides=(2, 2), ceil=True))
        node = model.model_proto.graph.node[0]
        attributes = {item.name: list(item.ints) for item in node.attribute}
        expected = {"dilations": [1, 1], "kernel_shape": [3, 3], "strides": [2, 2], "pads": [0, 0, 1, 1]}
        assert attributes == expected

    def test_padding_that_no_window_reaches_is_dropped(self):
        model = check_form(maximum((1, 1, 5, 5), (2, 2), strides=(3, 3), end=(1, 2)))
        node = model.model_proto.graph.node[0]
        assert {item.name: list(item.ints) for item in node.attribute}["pads"] == [0, 0, 0, 0]

    @pytest.mark.parametrize("data_type", ["INT8", "UINT8", "INT16", "UINT16"])
    def test_padding_as_large_as_the_window(self, data_type):
        op = maximum((1, 2, 3, 3), (2, 2), start=(2, 0), end=(3, 1), data_type=data_type)
        model = check_form(op)
        assert [name for name in operators(model) if name not in {"Cast", "Reshape"}] == ["Pad", "MaxPool"]

    @pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
    def test_exact_maxima_ignore_nan_and_start_from_the_lowest_number(self, data_type):
        op = maximum((1, 2, 3, 3), (2, 2), data_type=data_type)
        found = [item for item in operators(check_extremes(op)) if item != "Cast"]
        assert found == ["IsNaN", "Where", "Clip", "MaxPool"]

    def test_padding_as_large_as_a_window_that_reaches_beyond_it(self):
        op = maximum((1, 2, 5, 5), (2, 2), start=(2, 0), dilations=(4, 1))
        assert operators(check_form(op)) == ["Pad", "MaxPool"]

    @pytest.mark.parametrize("data_type", ["INT32", "UINT32", "UINT64", "INT64"])
    def test_wide_integers_are_compared_in_slices(self, data_type):
        op = maximum((1, 2, 6, 6), (2, 2), strides=(2, 2), data_type=data_type)
        largest = ["Greater", "Where"] if data_type == "INT64" else ["Max"]
        assert operators(check_form(op)) == ["Slice", "Slice", *largest] * 2

    @pytest.mark.parametrize("size", [5, 7, 9, 16, 31])
    def test_long_windows_take_logarithmically_many_nodes(self, size):
        op = maximum((1, 1, 2, 40), (1, size), strides=(1, 2), end=(0, 3), data_type="UINT64")
        assert operators(check_form(op)).count("Max") <= (size - 1).bit_length()

    @pytest.mark.parametrize(
        ("data_type", "form"),
        [
            ("INT32", ["ReduceMax"]),
            ("UINT32", ["Cast", "ReduceMax", "Cast"]),
            ("INT16", ["Cast", "MaxPool", "Cast"]),
            ("INT64", ["Reshape", "ArgMax", "GatherElements", "Reshape"]),
        ],
    )
    def test_one_window_over_everything_is_a_reduction(self, data_type, form):
        op = maximum((2, 3, 4, 5), (4, 6), end=(0, 1), data_type=data_type)
        assert operators(check_form(op)) == form

    @pytest.mark.parametrize("data_type", DATA_TYPES)
    def test_windows_of_one_element_only_move(self, data_type):
        op = maximum((2, 2, 5, 5), (1, 1), strides=(2, 3), dilations=(2, 7), data_type=data_type)
        assert operators(check_form(op)) == ["Slice"]

    @pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16", "INT8", "UINT16"])
    def test_dilations(self, data_type):
        op = maximum((1, 1, 7, 7), (2, 3), dilations=(2, 1), data_type=data_type)
        casts = [] if data_type == "FLOAT32" else ["Cast"]
        assert operators(check_form(op)) == [*casts, "MaxPool", *casts]

    def test_kernels_of_the_directml_provider(self):
        for data_type in ("FLOAT32", "FLOAT16", "INT8", "UINT8"):
            case = make_case(maximum((1, 2, 7, 7), (3, 3), dilations=(2, 1), data_type=data_type, indices="UINT32"))
            model = compile_outputs(case.graph, case.graph.outputs, target="dml", exact=False)
            assert operators(model) == ["MaxPool", "Cast"]


class TestMaximumValues:
    @pytest.mark.parametrize("data_type", ["INT64", "UINT64"])
    def test_long_integers_beyond_double(self, data_type):
        x = np.array([(1 << 53) + 1, 1 << 53, (1 << 62) + 1, 1 << 62], DataType[data_type].dtype)
        for indices in (None, "UINT64"):
            op = maximum((1, 1, 2, 2), (1, 2), data_type=data_type, indices=indices)
            check_case(op, inputs={"InputTensor": x})

    @pytest.mark.parametrize(
        ("data_type", "indices"), [("FLOAT16", None), ("FLOAT16", "UINT32"), ("FLOAT32", "UINT32")]
    )
    @pytest.mark.parametrize("dilation", [1, 2])
    def test_windows_of_the_lowest_values_alone(self, data_type, indices, dilation):
        dtype: np.dtype[Any] = DataType[data_type].dtype
        x = np.full((2, 1, 6, 6), -np.inf)
        x[0, :, 3:, 3:] = np.finfo(dtype).min
        op = maximum((2, 1, 6, 6), (2, 3), dilations=(dilation, 1), data_type=data_type, indices=indices)
        check_case(op, inputs={"InputTensor": x})

    @pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
    @pytest.mark.parametrize("indices", [None, "UINT32"])
    @pytest.mark.parametrize(
        ("sizes", "window", "geometry"),
        [
            ((1, 1, 1, 8), (1, 3), {}),
            ((1, 1, 8, 8), (3, 3), {}),
            ((1, 3, 32, 32), (3, 3), {"strides": (2, 2), "start": (1, 1), "end": (1, 1)}),
            ((2, 1, 9, 7), (2, 2), {"dilations": (2, 3)}),
            ((1, 2, 8, 8), (8, 8), {}),
            ((1, 1, 5, 4, 6), (2, 2, 3), {"start": (0, 1, 0), "end": (1, 0, 2)}),
            ((1, 1, 6, 6), (2, 2), {"start": (3, 0), "end": (0, 4)}),
        ],
    )
    def test_windows_of_special_numbers(self, sizes, window, geometry, indices, data_type):
        """The maximum of only NaN or -inf is the lowest number, in every kernel."""
        op = maximum(sizes, window, **geometry, data_type=data_type, indices=indices)
        rng = np.random.default_rng(0)
        x = rng.normal(0, 2, sizes)
        check_case(op, inputs={"InputTensor": x})
        dtype: np.dtype[Any] = DataType[data_type].dtype
        for low in (-np.inf, np.nan, np.finfo(dtype).min):
            check_case(op, inputs={"InputTensor": np.full(sizes, low)})
            half = np.where(np.arange(sizes[-1]) < sizes[-1] // 2, low, x)
            check_case(op, inputs={"InputTensor": half})
            check_case(op, inputs={"InputTensor": np.where(rng.random(sizes) < 0.9, low, x)})
        mixed = {"InputTensor": rng.choice([np.nan, -np.inf, np.inf, 1], sizes)}
        check_case(op, inputs=mixed)
        check_case(op, inputs=mixed, constants=["InputTensor"])

    @pytest.mark.parametrize("data_type", DATA_TYPES)
    @pytest.mark.parametrize("start", [0, 1, 2])
    def test_the_first_of_equal_elements_wins(self, data_type, start):
        dtype: np.dtype[Any] = DataType[data_type].dtype
        lowest = -np.inf if dtype.kind == "f" else np.iinfo(dtype).min
        op = maximum((2, 2, 3, 4), (2, 2), start=(start, 0), end=(1, 0), data_type=data_type, indices="UINT32")
        for value in (lowest, 0, 1):
            check_case(op, inputs={"InputTensor": np.full((2, 2, 3, 4), value, dtype)})

    @pytest.mark.parametrize("data_type", DATA_TYPES)
    @pytest.mark.parametrize("indices", [None, "UINT32"])
    def test_a_window_in_the_padding_gives_the_lowest_value(self, data_type, indices):
        op = maximum((1, 2, 2, 2), (2, 2), start=(3, 0), end=(0, 4), data_type=data_type, indices=indices)
        check_extremes(op)


class TestMeanForms:
    @pytest.mark.parametrize("include", [False, True])
    def test_one_average_pool(self, include):
        op = mean((1, 2, 7, 7), (3, 3), include=include, strides=(2, 2), start=(1, 1), end=(1, 1))
        model = check_case(op)
        assert operators(model) == ["AveragePool"]
        attributes = {item.name for item in model.model_proto.graph.node[0].attribute}
        assert ("count_include_pad" in attributes) is include

    def test_no_count_include_pad_without_padding(self):
        model = check_case(mean((1, 2, 6, 6), (2, 2), include=True, strides=(2, 2)))
        assert {item.name for item in model.model_proto.graph.node[0].attribute} == {"kernel_shape", "pads", "strides"}

    @pytest.mark.parametrize("include", [False, True])
    def test_float16_is_rounded_once(self, include):
        op = mean((1, 2, 7, 7), (3, 3), include=include, start=(1, 1), end=(1, 1), data_type="FLOAT16")
        assert operators(check_case(op)) == ["Cast", "AveragePool", "Cast"]

    def test_windows_over_the_padded_end_divide_by_the_whole_window(self):
        op = mean((1, 1, 6, 6), (3, 3), include=True, strides=(2, 2), ceil=True)
        model = check_case(op, inputs={"InputTensor": np.ones((1, 1, 6, 6))})
        assert operators(model) == ["AveragePool", "Mul"]
        y = model.run({"InputTensor": np.ones(36, np.float32)})["OutputTensor"]
        np.testing.assert_allclose(y[0, 0, -1], [2 / 3, 2 / 3, 4 / 9], rtol=1e-6)

    def test_windows_over_the_padded_end_divide_by_the_elements_inside(self):
        op = mean((1, 1, 6, 6), (3, 3), include=False, strides=(2, 2), ceil=True)
        model = check_case(op)
        assert operators(model) == ["AveragePool"]

    def test_uneven_padding(self):
        op = mean((1, 1, 5, 5), (2, 3), include=True, start=(1, 0), end=(0, 2))
        assert operators(check_case(op)) == ["AveragePool", "Mul"]

    def test_padding_as_large_as_the_window(self):
        for include, form in ((True, []), (False, ["Mul"])):
            op = mean((2, 3, 3, 3), (2, 2), include=include, start=(2, 0), end=(3, 1))
            assert operators(check_case(op)) == ["Reshape", "Conv", "Reshape", *form]

    @pytest.mark.parametrize("include", [False, True])
    def test_dilations(self, include):
        op = mean((2, 2, 7, 7), (2, 3), include=include, dilations=(2, 1), start=(1, 1), end=(1, 1))
        assert operators(check_case(op)) == ["AveragePool"]
        form = operators(check_case(op, opset=18))
        assert form == ["Reshape", "Conv", "Reshape"] + ["Mul"] * (not include)

    @pytest.mark.parametrize("include", [False, True])
    @pytest.mark.parametrize("opset", [18, 19])
    def test_dilated_windows_may_miss_the_input(self, include, opset):
        op = mean((1, 2, 1, 3), (2, 2), include=include, start=(1, 1), end=(1, 1), dilations=(2, 1))
        check_case(op, opset=opset)

    @pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
    def test_windows_of_one_element_only_move(self, data_type):
        op = mean((2, 2, 5, 5), (1, 1), include=True, strides=(2, 3), dilations=(2, 7), data_type=data_type)
        assert operators(check_extremes(op)) == ["Slice"]


def powers(model):
    """The operators of a model without those that only move or convert."""
    return [name for name in operators(model) if name not in {"Cast", "Reshape"}]


class TestNorm:
    @pytest.mark.parametrize(
        ("p", "before", "behind"), [(1, ["Abs"], []), (2, ["Mul"], ["Sqrt"]), (3, ["Abs", "Pow"], ["Pow"])]
    )
    @pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
    def test_forms(self, p, before, behind, data_type):
        for options, form in (
            ({"strides": (2, 2)}, ["AveragePool", "Mul"]),
            ({"start": (1, 0), "end": (0, 1)}, ["AveragePool", "Mul"]),
            ({"start": (2, 0), "end": (3, 1)}, ["Conv"]),
            ({"dilations": (2, 1)}, ["AveragePool", "Mul"]),
        ):
            op = norm((2, 3, 6, 6), (2, 2), p=p, data_type=data_type, **options)
            assert powers(check_case(op)) == [*before, *form, *behind]
        op = norm((2, 3, 6, 6), (2, 2), p=p, data_type=data_type, dilations=(2, 1))
        assert powers(check_case(op, opset=18)) == [*before, "Conv", *behind]

    def test_documented_formula(self):
        x = np.array([[3, -4], [0, 12]], np.float32).reshape(1, 1, 2, 2)
        for p, want in ((1, 19), (2, 13), (3, 1819 ** (1 / 3))):
            op = norm((1, 1, 2, 2), (2, 2), p=p)
            got: np.ndarray = check_case(op, inputs={"InputTensor": x}).run({"InputTensor": x})["OutputTensor"]
            np.testing.assert_allclose(got, [[[[want]]]], rtol=1e-6)

    @pytest.mark.parametrize("p", [1, 2, 3])
    @pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
    def test_windows_of_one_element_are_magnitudes(self, p, data_type):
        op = norm((2, 2, 5, 5), (1, 1), p=p, strides=(2, 3), dilations=(2, 7), data_type=data_type)
        x = random_memory(op.tensor("InputTensor"), np.random.default_rng(0), extremes=True)
        model = check_case(op, inputs={"InputTensor": x})
        assert powers(model) == ["Slice", "Abs"]
        want = np.abs(x.reshape(2, 2, 5, 5)[:, :, ::2, ::3])
        np.testing.assert_array_equal(model.run({"InputTensor": x})["OutputTensor"], want)

    @pytest.mark.parametrize("p", [1, 2, 3, 8])
    def test_windows_over_the_padded_end_and_in_padding_alone(self, p):
        for options in (
            {"strides": (2, 2), "ceil": True},
            {"start": (3, 0), "end": (0, 4)},
            {"start": (1, 1), "end": (1, 1), "dilations": (2, 1)},
        ):
            check_case(norm((2, 2, 5, 5), (2, 2), p=p, **options))
        op = norm((1, 2, 1, 3), (2, 2), p=p, start=(1, 1), end=(1, 1), dilations=(2, 1))
        x = random_memory(op.tensor("InputTensor"), np.random.default_rng(0))
        for opset in (17, 19):
            got = check_case(op, inputs={"InputTensor": x}, opset=opset).run({"InputTensor": x})["OutputTensor"]
            assert not got.any()  # the middle row is between the two of each window

    @pytest.mark.parametrize("p", [1, 2, 3, 40, 1 << 30])
    @pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
    def test_special_numbers(self, p, data_type):
        for options in ({}, {"start": (1, 1)}, {"start": (2, 3)}, {"dilations": (2, 1)}):
            op = norm((2, 2, 4, 6), (2, 2), p=p, data_type=data_type, **options)
            check_case(op, extremes=True)
            check_case(op, inputs={"InputTensor": np.zeros(op.tensor("InputTensor").sizes)})

    @pytest.mark.parametrize("p", [2, 5])
    def test_float16_powers_do_not_overflow(self, p):
        op = norm((1, 1, 2, 2), (2, 2), p=p, data_type="FLOAT16")
        x = np.full((1, 1, 2, 2), 2000, np.float16)
        got = check_case(op, inputs={"InputTensor": x}).run({"InputTensor": x})["OutputTensor"]
        np.testing.assert_allclose(got.astype(np.float64), 2000 * 4 ** (1 / p), rtol=1e-3)

    @pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
    def test_directml_has_the_operator_itself(self, data_type):
        def form(opset, **options):
            case = make_case(norm((1, 2, 7, 7), (3, 3), p=3, data_type=data_type, **options))
            return powers(compile_outputs(case.graph, case.graph.outputs, target="dml", opset=opset))

        assert form(17) == form(21) == form(18, dilations=(2, 1)) == ["LpPool"]
        for other in (form(17, dilations=(2, 1)), form(17, start=(3, 0)), form(22)):
            assert other[:2] == ["Abs", "Pow"]

    @pytest.mark.parametrize("opset", [17, 18, 21])
    def test_one_lp_pool_runs_the_same_on_the_cpu(self, opset):
        """The form for DirectML, on the only provider that is here."""
        op = norm((1, 2, 7, 7), (3, 3), p=3, start=(1, 0), end=(1, 2), strides=(2, 1))
        assert operators(check_case(op, target="dml", opset=opset)) == ["LpPool"]


MODES = [
    pytest.param("MAX_POOLING2", {}, id="max"),
    pytest.param("MAX_POOLING2", {"indices": "UINT32"}, id="max-indices"),
    pytest.param("AVERAGE_POOLING1", {"include": False}, id="average"),
    pytest.param("AVERAGE_POOLING1", {"include": True}, id="average-with-padding"),
    pytest.param("LP_POOLING1", {"p": 2}, id="norm"),
    pytest.param("LP_POOLING1", {"p": 3}, id="norm-3"),
]


@pytest.mark.parametrize("opset", [17, 18, 19, 21, 23])
@pytest.mark.parametrize(("name", "mode"), MODES)
@pytest.mark.parametrize("margin", [1, 2])
@pytest.mark.parametrize("cast", [False, True])
def test_zeros_padded_before_a_pool_stay_in_it(opset, name, mode, margin, cast):
    """ONNX Runtime would make a preceding Pad (and Cast) part of the pool, where zeros are not compared."""
    source = t("INT32" if cast else "FLOAT32", (1, 1, 3, 3))
    padded = t(source.data_type.name, (1, 1, 3 + 2 * margin, 3 + 2 * margin))
    op = pool(name, padded.sizes, (2, 2), **mode)
    padding = operator(
        "PADDING", InputTensor=source, OutputTensor=padded, PaddingMode="CONSTANT", PaddingValue=0.0,
        StartPadding=(0, 0, margin, margin), EndPadding=(0, 0, margin, margin),
    )  # fmt: skip
    x, y = Value("x", source.minimum_bytes), Value("y", op.tensor("OutputTensor").minimum_bytes)
    between = [Value("padded", padded.minimum_bytes)]
    nodes = [Node("pad", padding, {"InputTensor": (Read(x),)}, {"OutputTensor": (Write(between[0]),)}, "/nodes/0")]
    if cast:
        converted = t("FLOAT32", padded.sizes)
        between.append(Value("converted", converted.minimum_bytes))
        operation = operator("CAST", InputTensor=padded, OutputTensor=converted)
        reads, writes = {"InputTensor": (Read(between[0]),)}, {"OutputTensor": (Write(between[1]),)}
        nodes.append(Node("cast", operation, reads, writes, "/nodes/1"))
    writes = {"OutputTensor": (Write(y),)}
    if "indices" in mode:
        writes["OutputIndicesTensor"] = (Write(Value("indices", op.tensor("OutputIndicesTensor").minimum_bytes)),)
    nodes.append(Node("pool", op, {"InputTensor": (Read(between[-1]),)}, writes, "/nodes/2"))
    outputs = (GraphOutput("y", y, op.tensor("OutputTensor")),)
    graph = Graph(tuple(nodes), (GraphInput("x", x, desc=source),), outputs, ())
    values = -np.arange(1, 10).reshape(1, 1, 3, 3).astype(source.data_type.dtype)
    got: np.ndarray = compile_outputs(graph, outputs, opset=opset).run({"x": values})["y"]
    zeros = np.pad(values, [(0, 0), (0, 0), (margin, margin), (margin, margin)])
    windows = np.lib.stride_tricks.sliding_window_view(zeros, (2, 2), (2, 3))
    p = mode.get("p", 1)
    norms = (np.abs(windows) ** p).sum((-1, -2)) ** (1 / p)
    want = {"MAX_POOLING2": windows.max((-1, -2)), "LP_POOLING1": norms}.get(name, windows.mean((-1, -2)))
    np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("stride", [2, 3])
def test_windows_larger_than_the_input(stride):
    """The only window of the rounded-up division extends beyond the input."""
    shape = {"strides": (stride, stride), "ceil": True}
    for sizes, window in (((1, 2, 3, 3), (4, 4)), ((2, 1, 3, 2), (4, 3))):
        check_case(maximum(sizes, window, **shape))
        check_case(maximum(sizes, window, indices="UINT32", **shape))
        check_case(norm(sizes, window, p=2, **shape))
        for include in (False, True):
            check_case(mean(sizes, window, include=include, **shape))
