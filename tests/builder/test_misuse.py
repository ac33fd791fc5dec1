"""Invalid arguments of every method cause diagnostics."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dml2onnx.builder import GraphBuilder, interleaved_channel
from dml2onnx.builder.directmlx import DirectMLX
from dml2onnx.builder.recorder import Recorder
from dml2onnx.codes import building as codes
from dml2onnx.diagnostics import DmlError
from dml2onnx.test_cases.valid import descriptors
from tests.builder.calls import arguments, builder_for, generator


class Odd:
    """An object of an unknown class whose methods fail."""

    def __array__(self, *_: object, **__: object) -> Any:
        raise RuntimeError("not today")

    def __len__(self) -> int:
        raise RuntimeError("nor this")


ODD: dict[str, Any] = {
    "none": None,
    "text": "x",
    "bytes": b"x",
    "ragged": [[1, 2], [3]],
    "array": np.arange(4.0),
    "matrix": np.eye(2),
    "nothing": [],
    "object": object(),
    "odd": Odd(),
    "nan": float("nan"),
    "minus": -1,
    "huge": 10**400,
    "mapping": {"a": 1},
    "complex": 1j,
    "builder": GraphBuilder(),
    "number in an array": np.array(2),
    "long": range(10**12),
    "longer": range(10**20),
    "endless": itertools.count(1),
    "nested": [range(10**12)],
    "long text": "x" * 10**5,
}
FIRST = {name: found[0] for name, found in descriptors().items()}


def problems(method: Callable[..., object], options: dict[str, Any], odd: str) -> list[str]:
    """Replaces one argument after the other by an odd value; returns exceptions that are not diagnostics."""
    found = []
    for argument in options:
        try:
            method(**{**options, argument: ODD[odd]})
        except DmlError as error:
            found += [str(item) for item in error.diagnostics if not item.message.isprintable()]
        except Exception as error:
            found.append(f"{argument}={odd}: {type(error).__name__}: {error}")
    return found


@pytest.mark.parametrize("name", FIRST)
def test_every_operator(name: str, is_exhaustive: bool) -> None:
    """Tries each odd value if exhaustive, otherwise a third of them, in turn."""
    desc = FIRST[name]
    for odd in list(ODD) if is_exhaustive else list(ODD)[list(FIRST).index(name) % 3 :: 3]:
        g = builder_for(desc)
        options = {**arguments(g, desc, stated=True), "name": "node"}
        assert problems(getattr(g, generator.method_name(desc.schema)), options, odd) == []


ONES = [1, 1]
INNER = {"record", "refusal"}
"""Methods for other methods, not for callers."""
WRITTEN = sorted(name for of in (DirectMLX, Recorder) for name in vars(of) if name[0] != "_" and name not in INNER)


def of_regions(g: GraphBuilder) -> dict[str, dict[str, Any]]:
    """Arguments of ``roi_align`` and ``roi_align_grad``."""
    regions = {
        "roi": g.input("rows", "FLOAT32", [3, 4]),
        "batch_indices": g.input("items", "UINT32", [3]),
        "reduction_function": "AVERAGE",
        "interpolation_mode": "LINEAR",
        "spatial_scale_x": 1.0,
        "spatial_scale_y": 1.0,
        "input_pixel_offset": 0.5,
        "output_pixel_offset": 0.0,
        "minimum_samples_per_output": 1,
        "maximum_samples_per_output": 2,
        "align_regions_to_corners": False,
    }
    forward = {**regions, "out_of_bounds_input_value": 0.0, "output_height": 2, "output_width": 2}
    backward = {
        **regions,
        "input_gradient": g.input("gradient", "FLOAT32", [3, 1, 2, 2]),
        "batch_size": 1,
        "image_height": 4,
        "image_width": 4,
        "compute_output_gradient": True,
        "compute_output_roi_gradient": True,
    }
    return {"roi_align": forward, "roi_align_grad": backward}


def of_operators(g: GraphBuilder) -> dict[str, dict[str, Any]]:
    """Arguments besides the input, for each method that chooses an operator."""
    indices = g.input("indices", "UINT32", [1, 1, 2, 4])
    return {
        **of_regions(g),
        "activation_hardmax": {"axes": [1]},
        "activation_log_softmax": {"axes": [1]},
        "activation_softmax": {"axes": [1]},
        "average_pooling": {"strides": ONES, "window_sizes": [2, 2], "dilations": ONES},
        "broadcast": {"sizes": [2, 1, 4, 4]},
        "depth_to_space": {"block_size": 1, "order": "DEPTH_COLUMN_ROW"},
        "gather_nd": {
            "indices": indices,
            "input_dimension_count": 4,
            "indices_dimension_count": 4,
            "batch_dimension_count": 0,
        },
        "max_pooling": {
            "window_sizes": [2, 2],
            "strides": ONES,
            "start_padding": [0, 0],
            "end_padding": [0, 0],
            "dilations": ONES,
            "output_indices": True,
            "output_sizes": None,
        },
        "mean_variance_normalization": {
            "scale": None,
            "bias": None,
            "axes": [2, 3],
            "normalize_variance": True,
            "normalize_mean": True,
            "epsilon": 1e-5,
        },
        "negate": {},
        "pow": {"exponent": 2.0, "scale_bias": None},
        "reinterpret": {"data_type": "UINT32", "sizes": [4], "strides": [1]},
        "resample": {
            "output_sizes": [1, 1, 8, 8],
            "mode": "LINEAR",
            "rounding_direction": "INCREASING",
            "scales": [1.0, 1.0, 2.0, 2.0],
            "input_pixel_offsets": [0.5] * 4,
            "output_pixel_offsets": [-0.5] * 4,
            "antialiased": False,
        },
        "reshape": {"sizes": [16]},
        "slice": {"input_window_offsets": [0] * 4, "input_window_sizes": [1] * 4, "input_window_strides": [1] * 4},
        "space_to_depth": {"block_size": 2, "order": "DEPTH_COLUMN_ROW"},
        "split": {"axis": 2, "output_axis_sizes": [1, 3]},
        "top_k": {"axis": 3, "k": 2, "axis_direction": "DECREASING"},
    }


def by_hand(g: GraphBuilder) -> dict[str, dict[str, Any]]:
    """Arguments of each method that is not generated."""
    x = g.input("x", "FLOAT32", [1, 1, 4, 4])
    return {name: {"input": x, **rest} for name, rest in of_operators(g).items()} | {
        "add": {"a": x, "b": x, "fused_activation": "RELU"},
        "buffer": {"name": "b", "nbytes": 64, "contents": np.ones(16, np.float32)},
        "output_layout": {
            "strides": ONES,
            "into": x,
            "offset": 0,
            "owned_by_dml": False,
            "total_size": 0,
            "alignment": 0,
            "buffer_bytes": 0,
            "field": "OutputTensor",
            "index": 0,
        },
        "build": {"outputs": x, "results": x},
        "constant": {"values": [1, 2], "data_type": "INT32", "sizes": [2], "strides": [1], "name": "weights"},
        "input": {
            "name": "more",
            "data_type": "FLOAT32",
            "sizes": [2, 2],
            "strides": [2, 1],
            "owned_by_dml": False,
            "total_size": 16,
            "alignment": 0,
        },
        "one_hot": {
            "indices": g.input("where", "UINT32", [1]),
            "values": g.input("values", "FLOAT32", [2]),
            "output_length": 3,
            "axis": 0,
        },
        "scope": {"name": "inner"},
        "tensor_policy": {"policy": interleaved_channel},
    }


def entered(method: Callable[..., Any]) -> Callable[..., object]:
    """A function that enters the context of a method."""

    def call(**options: Any) -> object:
        with method(**options) as inside:
            return inside

    return call


@pytest.mark.parametrize("level", ["1_0", "6_4"])
@pytest.mark.parametrize("method", WRITTEN)
def test_methods_written_by_hand(method: str, level: str) -> None:
    g = GraphBuilder(feature_level=level)
    options = by_hand(g)[method]
    function = getattr(g, method)
    function = entered(function) if method in ("output_layout", "scope", "tensor_policy") else function
    assert [problem for odd in ODD for problem in problems(function, options, odd)] == []


def test_the_arguments_are_valid_without_odd_values() -> None:
    for method in WRITTEN:
        g = GraphBuilder()
        getattr(g, method)(**by_hand(g)[method])


def test_integers_of_numpy() -> None:
    g: Any = GraphBuilder()
    x = g.input("x", "FLOAT32", np.array([1, 1, 4, 4]))
    assert g.broadcast(x, np.array([2, 1, 4, 4], np.uint8)).sizes == (2, 1, 4, 4)
    assert g.reshape(x, (np.int64(2), np.int32(-1))).sizes == (2, 8)
    assert [part.sizes[2] for part in g.split(x, np.int64(2), np.array([1, 3]))] == [1, 3]
    assert g.max_pooling(x, np.array([2, 2]), output_indices=np.True_).indices is not None
    with pytest.raises(DmlError, match=codes.BAD_FLAG.id):
        g.max_pooling(x, [2, 2], output_indices="no")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("relu", "GraphBuilder has no relu; did you mean activation_relu?"),
        ("matmul", "GraphBuilder has no matmul; did you mean gemm?"),
        ("where", "GraphBuilder has no where; did you mean if_?"),
        ("nonzero", "GraphBuilder has no nonzero; did you mean non_zero_coordinates?"),
        ("layer_norm", "GraphBuilder has no layer_norm; did you mean mean_variance_normalization?"),
        ("transpose", "GraphBuilder has no transpose; did you mean reinterpret?"),
        ("reshap", "GraphBuilder has no reshap; did you mean reshape?"),
        ("frobnicate", "GraphBuilder has no frobnicate"),
        ("_private", "GraphBuilder has no _private"),
    ],
)
def test_unknown_methods(name: str, message: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(GraphBuilder(), name)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("reshape", "an Expression has no reshape; GraphBuilder has reshape(expression, ...)"),
        ("astype", "an Expression has no astype; GraphBuilder has cast(expression, ...)"),
        ("T", "an Expression has no T; GraphBuilder has reinterpret(expression, ...)"),
        ("mean", 'an Expression has no mean; GraphBuilder has reduce(expression, "AVERAGE", axes)'),
        ("dtype", "an Expression has no dtype; did you mean data_type?"),
        ("frobnicate", "an Expression has no frobnicate"),
        ("__array_interface__", "an Expression has no __array_interface__"),
    ],
)
def test_unknown_members_of_expressions(name: str, message: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(GraphBuilder().input("x", "FLOAT32", [2, 3]), name)
    assert str(caught.value) == message
