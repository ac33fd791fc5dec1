"""ONNX Runtime merges two Casts even without optimisation; which merges change numbers."""

from __future__ import annotations

from itertools import product

import numpy as np
import onnxruntime
import pytest
from onnx import NodeProto, ValueInfoProto, helper

from dml2onnx.builder import GraphBuilder
from dml2onnx.compiler import compile
from dml2onnx.onnx_model import ELEMENT_TYPES
from dml2onnx.optimizer_barriers import BARRIERS, table
from dml2onnx.optimizer_barriers.arithmetic import is_merged_wrongly

TYPES = [dtype for dtype in ELEMENT_TYPES if dtype.kind in "biuf"]
TRIPLES = [item for item in product(TYPES, repeat=3) if item[1] not in (item[0], item[2])]
NUMBERS = [0, 0.3, -0.3, 1.7, 5, -7, 100.4, 255.9, 127.2, 3.5, -3.5, 90, 33.3, np.nextafter(4, 0, dtype=np.float32)]
LARGE = [65504, 2049.5, 100000.7, 1e-30, 16777217.0]
DOUBLY_ROUNDED = [1 + 2**-11 + 2**-40, 3 + 2**-10 + 2**-38, 1 + 2**-24 + 2**-50]
NEAR_MIDPOINTS = [2**60 + 2**36 + 1, 2**59 + 2**35 + 1, 2**62 + 2**38 + 3]
"""Integers next to the midpoint of two FLOAT32 numbers; as FLOAT64 they are the midpoint."""


def numbers(dtype: np.dtype) -> np.ndarray:
    if dtype.kind == "b":
        return np.array([True, False])
    if dtype.kind == "f":
        more = LARGE if dtype.itemsize > 2 else []
        return np.array([*NUMBERS, *more, *(DOUBLY_ROUNDED if dtype.itemsize == 8 else [])], dtype)
    limits = np.iinfo(dtype.name)
    drawn = np.random.default_rng(0).integers(limits.min, limits.max, 32, dtype.name, endpoint=True)
    ends = [0, 1, limits.max, limits.min, limits.max - 1, limits.max // 2 + 3]
    return np.concatenate([np.array(ends + (NEAR_MIDPOINTS if dtype.itemsize == 8 else []), dtype), drawn])


def run(nodes: list[NodeProto], feeds: dict[str, np.ndarray], outputs: dict[str, np.dtype]) -> list[np.ndarray]:
    def described(name: str, dtype: np.dtype) -> ValueInfoProto:
        return helper.make_tensor_value_info(name, ELEMENT_TYPES[dtype][0], None)

    inputs = [described(name, array.dtype) for name, array in feeds.items()]
    graph = helper.make_graph(nodes, "casts", inputs, [described(*item) for item in outputs.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    return session.run(list(outputs), feeds)


def cast(source: str, result: str, dtype: np.dtype) -> NodeProto:
    return helper.make_node("Cast", [source], [result], to=ELEMENT_TYPES[dtype][0])


def test_table_of_wrong_merges() -> None:
    """Compares two Casts in one session and in two; numbers that no integer can represent are ignored."""
    feeds = {f"x{i}": numbers(first) for i, (first, _, _) in enumerate(TRIPLES)}
    firsts = [cast(f"x{i}", f"m{i}", middle) for i, (_, middle, _) in enumerate(TRIPLES)]
    lasts = [cast(f"m{i}", f"y{i}", last) for i, (_, _, last) in enumerate(TRIPLES)]
    between = run(firsts, feeds, {f"m{i}": middle for i, (_, middle, _) in enumerate(TRIPLES)})
    outputs = {f"y{i}": last for i, (_, _, last) in enumerate(TRIPLES)}
    wanted = run(lasts, {f"m{i}": array for i, array in enumerate(between)}, outputs)
    wrong = set()
    for triple, middle, want, found in zip(
        TRIPLES, between, wanted, run([*firsts, *lasts], feeds, outputs), strict=True
    ):
        is_defined = np.ones(middle.shape, np.bool_)
        if middle.dtype.kind == "f" and want.dtype.kind in "iu":
            limits = np.iinfo(want.dtype.name)
            is_defined = (middle.astype(np.float64) > limits.min - 1) & (middle.astype(np.float64) < limits.max)
        if not np.array_equal(want[is_defined], found[is_defined], equal_nan=want.dtype.kind == "f"):
            wrong.add(triple)
    names = {tuple(map(str, item)) for item in wrong}
    assert {("float32", "float16", "uint8"), ("int64", "float64", "float32")} <= names
    assert [item for item in wrong if not is_merged_wrongly(*item)] == []


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("level", [0, 1])
def test_a_barrier_keeps_the_rounding_of_the_first_cast(
    level: int, exact: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number below 4 becomes 4 in FLOAT16, but 3 if it is truncated directly."""
    g = GraphBuilder()
    graph = g.build({"y": g.cast(g.cast(g.input("x", "FLOAT32", (1, 1, 1, 2)), "FLOAT16"), "UINT8")})
    feeds = {"x": np.array([np.nextafter(np.float32(4), np.float32(0)), 2.5], np.float32)}
    assert compile(graph, exact=exact, optimize=level).run(feeds)["y"].reshape(-1).tolist() == [4, 2]
    if not exact:  # exact models have a Clip between the Casts
        monkeypatch.setattr(table, "BARRIERS", tuple(item for item in BARRIERS if item.name != "casts"))
        assert compile(graph, optimize=level).run(feeds)["y"].reshape(-1).tolist() == [3, 2]
