"""MAX_UNPOOLING, MAX_POOLING_GRAD and AVERAGE_POOLING_GRAD against the reference."""

from math import prod
from typing import Any

import numpy as np
import pytest

from dml2onnx.ir.tensor import DataType
from dml2onnx.onnx_model import peak
from tests.lowering.harness import check_case, check_form, operator, operators, t, type_cases
from tests.lowering.pools import spelt_out, windows_of

GRADIENTS = ("MAX_POOLING_GRAD", "AVERAGE_POOLING_GRAD")
SIZES = (2, 3, 4, 5, 3)
WINDOW = (3, 2, 2)


def gradient(
    name,
    sizes,
    window,
    *,
    strides=None,
    start=None,
    end=None,
    dilations=None,
    ceil=False,
    include=False,
    data_type="FLOAT32",
):
    """A gradient for an input of ``sizes``; ``ceil`` rounds the number of windows up."""
    strides, dilations, start, end = spelt_out(window, strides, dilations, start, end)
    windows = windows_of(sizes, window, strides, dilations, start, end, ceil=ceil)
    shapes = {"InputTensor": sizes, "InputGradientTensor": windows, "OutputGradientTensor": sizes}
    if name == "AVERAGE_POOLING_GRAD":
        assert set(dilations) == {1}
        del shapes["InputTensor"]
        fields = {"IncludePadding": include}
    else:
        fields = {"Dilations": tuple(dilations)}
    return operator(
        name,
        **{field: t(data_type, shape) for field, shape in shapes.items()},
        Strides=tuple(strides),
        WindowSize=tuple(window),
        StartPadding=tuple(start),
        EndPadding=tuple(end),
        **fields,
    )


def maximum(sizes, window, **options):
    return gradient("MAX_POOLING_GRAD", sizes, window, **options)


def mean(sizes, window, **options):
    return gradient("AVERAGE_POOLING_GRAD", sizes, window, **options)


def unpooling(sizes, output, *, data_type="FLOAT32"):
    tensors = {"InputTensor": t(data_type, sizes), "IndicesTensor": t("UINT32", sizes)}
    return operator("MAX_UNPOOLING", **tensors, OutputTensor=t(data_type, output))


def check_unpooling(op, *, beyond=0, constants=()):
    """Checks with random indices, many of them equal and ``beyond`` of them out of range."""
    rng = np.random.default_rng(0)
    dtype, count = op.tensor("IndicesTensor").data_type.dtype, prod(op.tensor("OutputTensor").sizes)
    indices = rng.integers(0, count, op.tensor("IndicesTensor").extent).astype(dtype)
    outside = [count, np.iinfo(dtype).max, np.iinfo(dtype).max // 2 + 1, 1 << 31]
    for place in rng.permutation(len(indices))[:beyond]:
        indices[place] = outside[place % len(outside)]
    return check_case(op, inputs={"IndicesTensor": indices}, constants=constants)


def node_types(model):
    """The operators of a model but Cast and Reshape."""
    return [name for name in operators(model) if name not in {"Cast", "Reshape"}]


@pytest.mark.parametrize("name", GRADIENTS)
@pytest.mark.parametrize(("data_type", "rank"), type_cases(GRADIENTS[0], "OutputGradientTensor"))
def test_gradients_of_every_data_type_and_rank(name, data_type, rank):
    sizes, window = SIZES[:rank], WINDOW[: rank - 2]
    options = {"strides": (2, 1, 1)[: rank - 2], "start": (1, 0, 1)[: rank - 2], "end": (1, 1, 0)[: rank - 2]}
    variants = [{"include": True}, {}] if name == GRADIENTS[1] else [{"dilations": (1, 3, 1)[: rank - 2]}, {}]
    for variant in variants:
        check_case(gradient(name, sizes, window, data_type=data_type, **options, **variant))


# --- MAX_UNPOOLING ---------------------------------------------------------------------------------------------------


class TestMaxUnpooling:
    @pytest.mark.parametrize("opset", [17, 21, 22, 26])
    @pytest.mark.parametrize(
        ("sizes", "output"),
        [
            ((2, 3, 2, 2), (2, 3, 4, 4)),
            ((1, 2, 3, 2), (1, 2, 7, 5)),
            ((1, 1, 1, 4), (1, 1, 2, 4)),
            ((2, 2, 3, 3), (2, 2, 3, 3)),
            ((2, 2, 3, 2), (2, 2, 2, 6)),
            ((2, 2, 1, 2), (1, 4, 3, 2)),
        ],
    )
    @pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16", "INT32"])
    def test_max_unpool_by_default(self, sizes, output, opset, data_type):
        """MaxUnpool takes floats, and needs an output with as many planes that are not smaller."""
        op = unpooling(sizes, output, data_type=data_type)
        indices = np.random.default_rng(1).permutation(prod(output))[: prod(sizes)].astype(np.uint32)
        model = check_form(op, inputs={"IndicesTensor": indices}, opset=opset, target="onnx")
        fits = sizes[:2] == output[:2] and all(small <= large for small, large in zip(sizes, output, strict=True))
        is_one = fits and data_type != "INT32"
        assert ("MaxUnpool" in node_types(model), "ScatterElements" in node_types(model)) == (is_one, not is_one)
        assert not is_one or len(node_types(model)) == 1

    def test_indices_beyond_the_output_are_ignored(self):
        op = unpooling((1, 1, 1, 4), (1, 1, 2, 2))
        inputs: dict[str, np.ndarray] = {
            "InputTensor": np.array([1, 2, 3, 4], np.float32),
            "IndicesTensor": np.array([2, 4, 0, (1 << 32) - 1], np.uint32),
        }
        got = check_case(op, inputs=inputs).run(inputs)["OutputTensor"]
        assert got.reshape(-1).tolist() == [3, 0, 1, 0]

    def test_the_last_of_equal_indices_wins(self):
        op = unpooling((1, 1, 1, 4), (1, 1, 2, 2), data_type="INT8")
        inputs: dict[str, np.ndarray] = {
            "InputTensor": np.array([1, 2, 3, 4], np.int8),
            "IndicesTensor": np.array([2, 1, 2, 2], np.uint32),
        }
        got = check_case(op, inputs=inputs).run(inputs)["OutputTensor"]
        assert got.reshape(-1).tolist() == [0, 2, 4, 0]

    def test_known_indices_need_no_guard(self):
        op = unpooling((1, 1, 2, 2), (1, 1, 3, 3))
        assert node_types(check_unpooling(op, constants=["IndicesTensor"])) == ["ScatterElements"]
        guarded = ["ScatterElements", "Slice"]
        assert node_types(check_unpooling(op, constants=["IndicesTensor"], beyond=2)) == guarded


# --- gradients -------------------------------------------------------------------------------------------------------

GEOMETRIES = [
    {"strides": (2, 2), "ceil": True},
    {"strides": (3, 4)},
    {"start": (1, 1), "end": (1, 1)},
    {"start": (2, 0), "end": (3, 1)},
    {"start": (3, 0), "end": (0, 4), "strides": (2, 3)},
    {"strides": (4, 1), "start": (0, 1)},
]
"""Windows that extend beyond the end, skip elements, overlap, and are in the padding."""


@pytest.mark.parametrize("options", GEOMETRIES)
@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
def test_geometries(options, data_type):
    sizes = (2, 2, 6, 7)
    for include in (False, True):
        check_case(mean(sizes, (2, 2), include=include, data_type=data_type, **options))
        check_case(mean(sizes, (1, 3), include=include, data_type=data_type, **options))
    for dilations in ((1, 1), (2, 3)):
        check_case(maximum(sizes, (2, 2), dilations=dilations, data_type=data_type, **options))


@pytest.mark.parametrize("exact", [True, False])
def test_dilated_windows_around_the_first_element(exact):
    """They contain no element, but their gradient is added to the first one."""
    for sizes, dilations, start in (((2, 2, 1, 1), (2, 2), (1, 1)), ((1, 2, 3, 2), (1, 3), (1, 2))):
        op = maximum(sizes, (2, 2), dilations=dilations, start=start, end=start)
        model = check_case(op, exact=exact)
        gradients = np.ones(op.tensor("InputGradientTensor").element_count, np.float32)
        feeds = {"InputTensor": np.ones(prod(sizes), np.float32), "InputGradientTensor": gradients}
        first, *others = model.run(feeds)["OutputGradientTensor"].reshape(sizes[0] * sizes[1], -1)[:, 0]
        assert all(first > other for other in others)


class TestMaxPoolingGrad:
    def test_forms(self):
        op = maximum((1, 2, 7, 7), (3, 3), strides=(2, 2), start=(1, 1))
        assert node_types(check_form(op)) == ["MaxPool", "ScatterElements"]
        assert node_types(check_case(op)) == ["IsNaN", "Where", "Clip", "MaxPool", "ScatterElements"]
        form = node_types(check_form(maximum((1, 2, 3, 3), (2, 2), start=(3, 0))))
        assert (form.count("ArgMax"), form[-2:]) == (1, ["Where", "ScatterElements"])

    def test_the_first_of_equal_elements_gets_the_gradient(self):
        x = np.array([[5, 5, 1], [5, 2, 2]], np.float32).reshape(1, 1, 2, 3)
        op = maximum((1, 1, 2, 3), (2, 2))
        inputs: dict[str, np.ndarray] = {"InputTensor": x, "InputGradientTensor": np.array([10, 1], np.float32)}
        got = check_case(op, inputs=inputs).run(inputs)["OutputGradientTensor"]
        assert got.reshape(-1).tolist() == [10, 1, 0, 0, 0, 0]

    @pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
    @pytest.mark.parametrize("start", [0, 1, 2])
    def test_windows_of_equal_elements(self, data_type, start):
        dtype: np.dtype[Any] = DataType[data_type].dtype
        for value in (-np.inf, np.nan, np.inf, np.finfo(dtype).min, 0):
            x = np.full((2, 2, 4, 5), value, dtype)
            for dilations in ((1, 1), (2, 1)):
                op = maximum(x.shape, (2, 2), start=(start, 0), dilations=dilations, data_type=data_type)
                check_case(op, inputs={"InputTensor": x})

    def test_windows_of_nan(self):
        """Their first element gets the gradient."""
        x = np.full((1, 1, 2, 3), np.nan, np.float32)
        inputs: dict[str, np.ndarray] = {"InputTensor": x, "InputGradientTensor": np.array([10, 1], np.float32)}
        for start in (0, 2):
            op = maximum(x.shape, (2, 2), start=(start, 0))
            count = op.tensor("InputGradientTensor").sizes[2]
            inputs["InputGradientTensor"] = np.arange(1, 2 * count + 1, dtype=np.float32)
            got = check_case(op, inputs=inputs).run(inputs)["OutputGradientTensor"].reshape(-1).tolist()
            # three rows of windows: in the padding, over the first row only, over both rows
            assert got == ([1, 2, 0, 0, 0, 0] if start == 0 else [3 + 5, 4 + 6, 0, 0, 0, 0])

    def test_an_infinite_gradient_of_padding_is_dropped(self):
        op = maximum((1, 1, 2, 2), (1, 2), start=(1, 0))
        inputs: dict[str, np.ndarray] = {
            "InputTensor": np.array([1, 2, 3, 4], np.float32),
            "InputGradientTensor": np.array([np.inf, 5, 6], np.float32),
        }
        got = check_case(op, inputs=inputs).run(inputs)["OutputGradientTensor"]
        assert got.reshape(-1).tolist() == [0, 5, 0, 6]


class TestAveragePoolingGrad:
    def test_forms(self):
        assert node_types(check_case(mean((1, 2, 7, 7), (3, 3), strides=(2, 2)))) == ["ConvTranspose"]
        padded = {"strides": (2, 2), "start": (1, 1), "end": (1, 1)}
        assert node_types(check_case(mean((1, 2, 7, 7), (3, 3), include=True, **padded))) == ["ConvTranspose", "Slice"]
        assert node_types(check_case(mean((1, 2, 7, 7), (3, 3), **padded))) == ["Div", "ConvTranspose", "Slice"]
        # some elements are in no window
        assert node_types(check_case(mean((1, 2, 7, 7), (2, 2), strides=(3, 4)))) == ["ConvTranspose", "Pad"]

    def test_divisors(self):
        """A window over one element and padding gives it the whole gradient, or half."""
        inputs = {"InputGradientTensor": np.ones(3, np.float32)}
        for include, want in ((True, [1, 1]), (False, [1.5, 1.5])):
            op = mean((1, 1, 1, 2), (1, 2), start=(0, 1), end=(0, 1), include=include)
            got = check_case(op, inputs=inputs).run(inputs)["OutputGradientTensor"]
            assert got.reshape(-1).tolist() == want


@pytest.mark.parametrize(
    "options",
    [
        {"strides": (1 << 29, 1), "ceil": True},
        {"strides": (1 << 29, 1 << 28), "start": (1, 0), "end": (1 << 29, 0), "ceil": True},
        {"strides": (3, 1), "start": (5, 0), "end": (5, 3)},
        {"strides": (1, 1), "start": (5, 5), "end": (0, 4)},
        {"strides": (8, 1), "start": (5, 0), "end": (4, 0)},
    ],
)
@pytest.mark.parametrize("include", [False, True])
def test_windows_in_the_padding_need_no_memory(options: dict[str, Any], include: bool) -> None:
    """The gap between them and the input depends on strides and padding, and can be huge."""
    model = check_case(mean((1, 2, 3, 4), (2, 2), include=include, **options))
    assert peak(model.lowered).nbytes < 10_000
