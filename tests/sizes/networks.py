"""Networks whose inputs may have other sizes, all of them of the batch at least."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

import dml2onnx
from dml2onnx.frontends import LoadOptions
from dml2onnx.ir.data import ArrayData
from dml2onnx.ir.graph import Constant, Graph
from dml2onnx.ir.tensor import DataType
from tests.conftest import shared_directory
from tests.networks.test_transformer import block

ROOT = Path(__file__).parents[2]
MODELS = Path(__file__).parents[1] / "data" / "models"
SHARED = (shared_directory() or Path("shared")) / "models"

sys.path.insert(0, str(ROOT / "scripts"))


@dataclass(frozen=True)
class Case:
    """A network, the input that has a batch, and where the batch is: in which dimension of inputs and outputs."""

    name: str
    graph: Callable[[], Graph]
    sizes: Mapping[str, tuple[int, ...]]
    """Those of one item, at which it is small enough for a test."""


@cache
def _bench() -> dict[str, Graph]:
    import _networks  # type: ignore[import-not-found]  # of scripts

    return {item.name: item.graph for item in _networks.networks()}


def frozen(graph: Graph, kept: str) -> Graph:
    """The graph with random weights in the place of all inputs but one."""
    rng = np.random.default_rng(0)
    constants = []
    for item in graph.inputs:
        if item.name != kept:
            assert item.desc is not None
            dtype = item.desc.data_type.dtype
            array = (rng.standard_normal(item.value.nbytes // dtype.itemsize) * 0.05).astype(dtype)
            constants.append(Constant(item.value, ArrayData.of(array)))
    inputs = tuple(item for item in graph.inputs if item.name == kept)
    return replace(graph, inputs=inputs, constants=(*graph.constants, *constants))


def picture() -> Graph:
    """The sample that sharpens a picture."""
    return dml2onnx.load(ROOT / "samples/picture/model.json")


def digits() -> Graph:
    """The sample that reads digits."""
    return dml2onnx.load(ROOT / "samples/digits/model.json")


def transformer() -> Graph:
    """A block whose rows are batch and sequence."""
    return block(DataType.FLOAT32, 2, 3)


CASES = (
    Case("picture", picture, {"picture": (1, 3, 32, 40)}),
    Case("digits", digits, {"images": (1, 1, 8, 8)}),
    Case("transformer", transformer, {"x": (1, 1, 3, 32), "past keys": (1, 4, 2, 8), "past values": (1, 4, 2, 8)}),
    Case("quantised", lambda: _bench()["quantised convolutions"], {"x": (1, 16, 16, 24)}),
    Case(
        "decoder",
        lambda: _bench()["decoder, one token behind 255"],
        {"x": (1, 1, 1, 256)} | {f"l{i}_past_{kind}": (1, 8, 5, 32) for i in range(4) for kind in ("keys", "values")},
    ),
)


def squeezenet() -> Graph:
    """SqueezeNet, which has weights of its own."""
    return dml2onnx.load(SHARED / "squeezenet/model.json", LoadOptions(freeze=True, inputs=frozenset({"data"})))


def recorded(name: str) -> Graph:
    """A recorded network, with random weights."""
    return frozen(dml2onnx.load(SHARED / f"recorded/{name}.json"), "input0")


SHARED_CASES = (
    Case("squeezenet", squeezenet, {"data": (1, 3, 64, 80)}),
    Case("superres_nchw", lambda: recorded("superres_nchw"), {"input0": (1, 3, 12, 16)}),
    Case("superres_nhwc", lambda: recorded("superres_nhwc"), {"input0": (1, 3, 12, 16)}),
    Case("yolov4", lambda: recorded("yolov4"), {"input0": (1, 3, 36, 64)}),
)
