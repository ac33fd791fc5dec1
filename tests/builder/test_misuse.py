"""Arguments that make no sense: a diagnostic for each, whatever the method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dml2onnx.builder import GraphBuilder
from dml2onnx.codes import building as codes
from dml2onnx.diagnostics import DmlError
from tests.builder.calls import arguments, builder_for, generator
from tests.checks.valid import descriptors


class Odd:
    """What no library knows, and what fails when it is looked at."""

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
}
FIRST = {name: found[0] for name, found in descriptors().items()}


def tried(method: Callable[..., object], given: dict[str, Any], odd: str) -> list[str]:
    """What came of giving an odd value for each argument in turn, where that was no diagnostic."""
    stray = []
    for argument in given:
        try:
            method(**{**given, argument: ODD[odd]})
        except DmlError as error:
            stray += [str(item) for item in error.diagnostics if not item.message.isprintable()]
        except Exception as error:
            stray.append(f"{argument}={odd}: {type(error).__name__}: {error}")
    return stray


@pytest.mark.parametrize("name", FIRST)
def test_every_operator(name: str) -> None:
    """One argument after the other is something else."""
    desc = FIRST[name]
    stray = []
    for odd in ODD:
        g = builder_for(desc)
        given = arguments(g, desc, stated=True)
        stray += tried(getattr(g, generator.method_name(desc.schema)), {**given, "name": "node"}, odd)
    assert stray == []


ONES = [1, 1]
BY_HAND: dict[str, dict[str, Any]] = {
    "reshape": {"sizes": [16]},
    "broadcast": {"sizes": [2, 1, 4, 4]},
    "reinterpret": {"data_type": "UINT32", "sizes": [4], "strides": [1]},
    "add": {"fused_activation": "RELU"},
    "pow": {"exponent": 2.0, "scale_bias": None},
    "negate": {},
    "activation_softmax": {"axes": [1]},
    "activation_log_softmax": {"axes": [1]},
    "activation_hardmax": {"axes": [1]},
    "max_pooling": {
        "window_sizes": [2, 2],
        "strides": ONES,
        "start_padding": [0, 0],
        "end_padding": [0, 0],
        "dilations": ONES,
        "output_indices": True,
        "output_sizes": None,
    },
    "average_pooling": {"strides": ONES, "window_sizes": [2, 2], "dilations": ONES},
    "slice": {"input_window_offsets": [0] * 4, "input_window_sizes": [1] * 4, "input_window_strides": [1] * 4},
    "split": {"axis": 2, "output_axis_sizes": [1, 3]},
    "top_k": {"axis": 3, "k": 2, "axis_direction": "DECREASING"},
    "space_to_depth": {"block_size": 2},
    "mean_variance_normalization": {
        "scale": None,
        "bias": None,
        "axes": [2, 3],
        "normalize_variance": True,
        "normalize_mean": True,
        "epsilon": 1e-5,
    },
}


@pytest.mark.parametrize("level", ["1_0", "6_4"])
@pytest.mark.parametrize("method", BY_HAND)
def test_what_is_written_by_hand(method: str, level: str) -> None:
    stray = []
    for odd in ODD:
        g = GraphBuilder(feature_level=level)
        x = g.input("x", "FLOAT32", [1, 1, 4, 4])
        first = {"a": x, "b": x} if method == "add" else {"input": x}
        stray += tried(getattr(g, method), {**first, **BY_HAND[method]}, odd)
    assert stray == []


def test_whole_numbers_of_numpy() -> None:
    """Sizes may be numpy's integers and small arrays of them."""
    g = GraphBuilder()
    x = g.input("x", "FLOAT32", np.array([1, 1, 4, 4]))
    assert g.broadcast(x, np.array([2, 1, 4, 4], np.uint8)).sizes == (2, 1, 4, 4)
    assert g.reshape(x, (np.int64(2), np.int32(-1))).sizes == (2, 8)
    assert [part.sizes[2] for part in g.split(x, np.int64(2), np.array([1, 3]))] == [1, 3]
    assert g.max_pooling(x, np.array([2, 2]), output_indices=np.True_).indices is not None
    with pytest.raises(DmlError, match=codes.BAD_FLAG.id):
        g.max_pooling(x, [2, 2], output_indices="no")
