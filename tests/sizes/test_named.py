"""One model for all sizes computes what the model for each size does."""

from __future__ import annotations

import pickle
from collections.abc import Mapping

import numpy as np
import onnxruntime
import pytest

import dml2onnx
from dml2onnx.builder.expression import Expression
from dml2onnx.diagnostics import DmlError
from dml2onnx.ir.graph import Graph
from dml2onnx.ir.operator import Size2D
from dml2onnx.onnx_model import NamedSize
from tests.sizes.networks import digits, picture
from tests.sizes.programs import STEPS, Program
from tests.sizes.test_networks import _feeds


def _compare(
    graph: Graph, sizes: Mapping[str, tuple[int | str, ...]], values: Mapping[str, int], model: dml2onnx.CompiledModel
) -> None:
    fixed = {
        name: tuple(values[size] if isinstance(size, str) else size for size in own) for name, own in sizes.items()
    }
    static = dml2onnx.compile(graph, sizes=fixed)
    feeds = _feeds(dml2onnx.resize(graph, fixed))
    found, wanted = model.run(feeds), static.run(feeds)
    for name, array in wanted.items():
        assert found[name].shape == array.shape
        np.testing.assert_array_equal(found[name], array, err_msg=name)


def test_an_image_of_any_size() -> None:
    sizes = {"picture": ("N", 3, "H", "W")}
    model = dml2onnx.compile(picture(), sizes=sizes, ranges={"N": (1, 4), "H": (16, 240), "W": (16, 240)})
    (shape,) = [port.shape for port in model.outputs]
    assert list(map(str, shape)) == ["N", "3", "4*H", "4*W"]
    stated = model.model_proto.graph.input[0].type.tensor_type.shape.dim
    assert [dim.dim_param or dim.dim_value for dim in stated] == ["N", 3, "H", "W"]
    for values in ({"N": 1, "H": 24, "W": 32}, {"N": 3, "H": 40, "W": 16}):
        _compare(picture(), sizes, values, model)


@pytest.mark.parametrize("step", range(len(STEPS)), ids=[step.__name__.strip("_") for step in STEPS])
def test_every_step_of_a_program(step: int) -> None:
    program = Program(((step, (1, 1, 1)),))
    sizes = {"x": ("N", 3, "H", "W")}
    ranges = {"N": (1, 6), "H": (4, 16), "W": (4, 16)}
    model = dml2onnx.compile(program.at(2, 6, 8), sizes=sizes, ranges=ranges)
    for n, h, w in ((1, 4, 16), (3, 8, 6)):
        _compare(program.at(2, 6, 8), sizes, {"N": n, "H": h, "W": w}, model)


def test_sizes_fixed_by_weights_are_refused_with_the_node() -> None:
    with pytest.raises(DmlError) as caught:
        dml2onnx.compile(digits(), sizes={"images": ("N", 1, "H", 8)}, ranges={"H": (8, 32)})
    (finding,) = caught.value.diagnostics
    assert (finding.code, finding.node) == ("DML2104", "classify")


def test_names_with_few_sizes_are_distinguished() -> None:
    """Some sizes are constant over the range: floor(H/4) is 2 at 8, 9, 10 and 11."""
    sizes = {"images": ("N", 1, "H", "W")}
    model = dml2onnx.compile(digits(), sizes=sizes, ranges={"N": (1, 3), "H": (8, 11), "W": (8, 11)})
    assert [str(size) for size in model.inputs[0].shape] == ["N", "1", "H", "W"]
    for n, h, w in ((1, 8, 11), (3, 10, 9)):
        _compare(digits(), sizes, {"N": n, "H": h, "W": w}, model)


def test_a_range_may_be_one_size() -> None:
    model = dml2onnx.compile(digits(), sizes={"images": ("N", 1, 8, 8)}, ranges={"N": (4, 4)})
    assert model.ranges == {"N": (4, 4)}


def test_names_with_two_sizes_are_distinguished() -> None:
    g = dml2onnx.GraphBuilder(ranges=dict.fromkeys("ABCD", (1, 2)))
    x = g.input("x", np.float32, ["A", "B", "C", "D"])
    graph = g.build({"y": g.activation_relu(x), "z": g.reduce(x, "SUM", [0, 1])})
    model = dml2onnx.compile(graph)
    assert [str(size) for size in model.outputs[1].shape] == ["1", "1", "C", "D"]
    _compare(graph, {"x": ("A", "B", "C", "D")}, {"A": 2, "B": 1, "C": 2, "D": 1}, model)


def test_names_are_limited_to_their_range() -> None:
    model = dml2onnx.compile(digits(), sizes={"images": ("N", 1, 8, 8)}, ranges={"N": (1, 9)})
    model.run({"images": np.zeros((9, 1, 8, 8), np.float32)})
    with pytest.raises(DmlError, match=r"shape \[N, 1, 8, 8\] .*; N=1\.\.9$"):
        model.run({"images": np.zeros((10, 1, 8, 8), np.float32)})
    assert model.metadata["dml2onnx_sizes"] == "N=1..9"


def _halved_and_doubled(g: dml2onnx.GraphBuilder, x: Expression) -> dml2onnx.Graph:
    """A join of a tensor with one that has the same height only if that is even."""
    small = g.max_pooling(x, [2, 1], [2, 1])[0]
    return g.build({"y": g.join([x, g.upsample_2d(small, Size2D(1, 2), "NEAREST_NEIGHBOR")], 1)})


def test_sizes_that_the_graph_cannot_have_are_refused() -> None:
    g = dml2onnx.GraphBuilder(ranges={"N": (1, 4), "H": (2, 20)})
    graph = _halved_and_doubled(g, g.input("x", np.float32, ["N", 3, "H", 4]))
    model = dml2onnx.compile(graph)
    assert model.metadata["dml2onnx_sizes"] == "N=1..4, H=2..20 in steps of 2"
    session = model.session()
    even, odd = ({"x": np.zeros((1, 3, height, 4), np.float32)} for height in (10, 11))
    for run in (
        model.run,
        session.run,
        lambda feeds: session.bind(feeds).run(),
        lambda feeds: dml2onnx.run(graph, feeds),
    ):
        assert run(even)["y"].shape == (1, 6, 10, 4)
        with pytest.raises(DmlError) as caught:
            run(odd)
        (finding,) = caught.value.diagnostics
        assert (finding.code, finding.node) == ("DML2104", "join")
        assert finding.message.startswith("2*floor(H/2) is 10, and has to be 11, H: ")
        assert finding.message.endswith("; H=2..20 in steps of 2")
    with pytest.raises(DmlError, match=r"; H=2\.\.20 in steps of 2$"):
        model.run({"x": np.zeros((1, 3, 22, 4), np.float32)})


def test_every_refused_size_is_named() -> None:
    """Also multiples of multiples: the second SPACE_TO_DEPTH reads half of the height."""
    g = dml2onnx.GraphBuilder(ranges={"H": (8, 64), "W": (8, 64)})
    x = g.input("x", np.float32, [1, 4, "H", "W"])
    model = dml2onnx.compile(g.build({"y": g.space_to_depth(g.space_to_depth(x, 2), 2)}))
    assert model.metadata["dml2onnx_sizes"] == "H=8..64 in steps of 4, W=8..64 in steps of 4"
    assert model.run({"x": np.zeros((1, 4, 12, 8), np.float32)})["y"].shape == (1, 64, 3, 2)
    with pytest.raises(DmlError) as caught:
        model.run({"x": np.zeros((1, 4, 14, 14), np.float32)})
    assert [item.message.partition(":")[0] for item in caught.value.diagnostics] == [
        f"floor({name}/2) is 7, which is not a multiple of 2" for name in "HW"
    ]


def test_irregular_sizes() -> None:
    """Windows of 3 and of 2 elements in steps of 3 are equally many unless the remainder is 2."""
    g = dml2onnx.GraphBuilder(ranges={"H": (3, 16)})
    x = g.input("x", np.float32, [1, 1, "H", 6])
    thirds = [g.max_pooling(x, [size, 1], [3, 1])[0] for size in (3, 2)]
    model = dml2onnx.compile(g.build({"y": g.join(thirds, 1)}))
    assert model.metadata["dml2onnx_sizes"] == "H=3..16, if floor((H + 1)/3) is floor(H/3)"
    for height in range(3, 17):
        feeds = {"x": np.zeros((1, 1, height, 6), np.float32)}
        if height % 3 < 2:
            assert model.run(feeds)["y"].shape == (1, 2, height // 3, 6)
            continue
        with pytest.raises(DmlError, match=r"DML2104 .*; H=3\.\.16$"):
            model.run(feeds)


def test_conditions_of_several_names() -> None:
    g = dml2onnx.GraphBuilder(ranges={"N": (2, 8), "H": (5, 8)})
    x = g.input("x", np.float32, ["N", 1, "H", 6])
    n, _, h, w = x.sizes
    model = dml2onnx.compile(_halved_and_doubled(g, g.activation_identity(g.reinterpret(x, sizes=[1, 1, n * h, w]))))
    assert model.metadata["dml2onnx_sizes"] == "N=2..8, H=5..8, if 2*floor(N*H/2) is N*H"
    assert model.run({"x": np.zeros((4, 1, 5, 6), np.float32)})["y"].shape == (1, 2, 20, 6)
    with pytest.raises(DmlError, match=r"is 14, and has to be 15, N\*H: .*; N=2\.\.8, H=5\.\.8$"):
        model.run({"x": np.zeros((3, 1, 5, 6), np.float32)})


def test_conditions_of_a_name_with_a_single_size() -> None:
    g = dml2onnx.GraphBuilder(ranges={"N": (3, 3), "H": (2, 8)})
    x = g.input("x", np.float32, ["N", 1, "H", 6])
    n, _, h, w = x.sizes
    model = dml2onnx.compile(_halved_and_doubled(g, g.activation_identity(g.reinterpret(x, sizes=[1, 1, n * h, w]))))
    assert model.run({"x": np.zeros((3, 1, 4, 6), np.float32)})["y"].shape == (1, 2, 12, 6)
    with pytest.raises(DmlError, match=r"is 14, and has to be 15, N\*H: .*; N=3\.\.3, H=2\.\.8"):
        model.run({"x": np.zeros((3, 1, 5, 6), np.float32)})


def test_sizes_of_a_pickled_model() -> None:
    sizes = {"picture": ("N", 3, "H", "W")}
    model = dml2onnx.compile(picture(), sizes=sizes, ranges={"N": (1, 4), "H": (16, 240), "W": (16, 240)})
    (shape,) = [port.shape for port in pickle.loads(pickle.dumps(model.outputs))]
    values = {"N": 3, "H": 40, "W": 16}
    assert [size.at(values) if isinstance(size, NamedSize) else size for size in shape] == [3, 3, 160, 64]


def test_dimensions_fixed_by_the_session() -> None:
    model = dml2onnx.compile(digits(), sizes={"images": ("N", 1, 8, 8)}, ranges={"N": (1, 9)})
    images = np.random.default_rng(0).random((4, 1, 8, 8), np.float32)
    options = onnxruntime.SessionOptions()
    options.add_free_dimension_override_by_name("N", 4)
    session = onnxruntime.InferenceSession(model.serialize(), options, providers=["CPUExecutionProvider"])
    (wanted,) = model.run({"images": images}).values()
    (found,) = session.run(None, {"images": images})
    np.testing.assert_array_equal(found, wanted)


def test_verify_begins_with_the_ends_of_ranges() -> None:
    found = dml2onnx.verify(digits(), sizes={"images": ("N", 1, 8, 8)}, ranges={"N": (1, 9)}, rounds=3)
    assert found.passed
    rounds = list(dict.fromkeys(item.round for item in found.comparisons))
    assert rounds[:2] == ["at N=1", "at N=9"]
    assert len(rounds) == 3


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
def test_pooling_over_whole_images_has_one_form(data_type: str) -> None:
    g = dml2onnx.GraphBuilder()
    x = g.input("x", data_type, ["N", 8, "H", "W"])
    graph = g.build({"y": g.average_pooling(x, None, x.sizes[2:]), "z": g.lp_pooling(x, x.sizes[2:], p=3)})
    model = dml2onnx.compile(graph)
    assert {"GlobalAveragePool", "GlobalLpPool"} <= {node.op_type for node in model.lowered.nodes}
    for n, h, w in ((1, 13, 13), (2, 5, 7), (3, 1, 30), (1, 1, 2)):  # of one element the static model has Abs
        _compare(graph, {"x": ("N", 8, "H", "W")}, {"N": n, "H": h, "W": w}, model)


def test_weights_repeated_along_a_batch() -> None:
    g = dml2onnx.GraphBuilder()
    x = g.input("x", "FLOAT32", ["N", 1, 4, 6])
    weights = np.random.default_rng(1).normal(0, 1, (1, 1, 6, 3)).astype(np.float32)
    graph = g.build({"y": g.gemm(x, g.broadcast(g.constant(weights), ["N", 1, 6, 3]))})
    model = dml2onnx.compile(graph, ranges={"N": (1, 9)})
    assert [array.size for array in model.lowered.initializers.values() if array.dtype == np.float32] == [18]
    for n in (1, 5, 9):
        _compare(graph, {"x": ("N", 1, 4, 6)}, {"N": n}, model)
