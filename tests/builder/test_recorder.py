"""Inputs, constants, views, names, policies, outputs, and refusals."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dml2onnx
from dml2onnx import DmlError, catalog
from dml2onnx.builder import Activation, Expression, GraphBuilder, interleaved_channel
from dml2onnx.builder.recorder import INFERRED
from dml2onnx.codes import building as codes
from dml2onnx.codes import checking
from dml2onnx.diagnostics import Code, Diagnostic, Severity
from dml2onnx.ir.tensor import DataType
from tests.frontends.models import f32, load_model
from tests.refusals import findings


def here() -> str:
    """The caller's line in the form of diagnostics."""
    return f"{Path(__file__).name}:{sys._getframe(1).f_lineno}"


def foreign() -> Expression:
    return GraphBuilder().input("x", "FLOAT32", [1, 2, 3, 4])


@pytest.fixture
def g() -> GraphBuilder:
    return GraphBuilder()


@pytest.fixture
def x(g: GraphBuilder) -> Expression:
    return g.input("x", "FLOAT32", [1, 2, 3, 4])


def with_strides(builder: GraphBuilder, strides: Any) -> GraphBuilder:
    """The builder, with a policy that returns these strides for all outputs."""
    builder.policy = lambda data_type, sizes: strides
    return builder


OUTPUT = {"OutputTensor": INFERRED}

REFUSED: dict[str, tuple[Code, Callable[[Any, Any], Any]]] = {
    "text for a flag": (codes.BAD_FLAG, lambda g, x: g.max_pooling(x, [2, 2], output_indices="no")),
    "no broadcast": (codes.NO_BROADCAST, lambda g, x: g.broadcast(x, [1, 2, 3, 5])),
    "broadcast to fewer": (codes.NO_BROADCAST, lambda g, x: g.broadcast(x, [3, 4])),
    "not inferable": (codes.NOT_INFERABLE, lambda g, x: g.record("CAST", {"InputTensor": x}, {}, OUTPUT)),
    "text for a tensor": (codes.FOREIGN_EXPRESSION, lambda g, x: g.activation_relu("x")),
    "number of no type": (codes.BAD_TENSOR, lambda g, x: g.activation_relu(2.5)),
    "array that does not repeat": (codes.NO_BROADCAST, lambda g, x: g.add(x, np.zeros(3))),
    "None for a tensor of an array": (codes.FOREIGN_EXPRESSION, lambda g, x: g.join([x, None], 1)),
    "another builder's": (codes.FOREIGN_EXPRESSION, lambda g, x: g.add(x, foreign())),
    "list for a filter": (codes.FOREIGN_EXPRESSION, lambda g, x: g.convolution(x, [[1.0]])),
    "text for a resampled": (codes.FOREIGN_EXPRESSION, lambda g, x: g.resample("x", [1, 6], "LINEAR")),
    "text for a split": (codes.FOREIGN_EXPRESSION, lambda g, x: g.split("x", 0, [1, 2])),
    "array for an output": (codes.FOREIGN_EXPRESSION, lambda g, x: g.build({"y": np.zeros(3)})),
    "input twice": (codes.NAME_TAKEN, lambda g, x: g.input("x", "FLOAT32", [1])),
    "no data type": (codes.BAD_TENSOR, lambda g, x: g.input("y", "FLOAT31", [1])),
    "no data type of numpy's": (codes.BAD_TENSOR, lambda g, x: g.constant(np.zeros(3, bool), data_type=complex)),
    "no data type of an output": (codes.BAD_TENSOR, lambda g, x: g.cast(x, "FLOAT31")),
    "size of 0": (codes.BAD_TENSOR, lambda g, x: g.input("y", "FLOAT32", [1, 0])),
    "size of a half": (codes.BAD_TENSOR, lambda g, x: g.input("y", "FLOAT32", [1, 0.5])),
    "too many sizes": (codes.BAD_TENSOR, lambda g, x: g.input("y", "FLOAT32", [1] * 9)),
    "too few strides": (codes.BAD_TENSOR, lambda g, x: g.input("y", "FLOAT32", [2, 3], [1])),
    "negative stride": (codes.BAD_TENSOR, lambda g, x: g.input("y", "FLOAT32", [2, 3], [-3, 1])),
    "too few bytes": (codes.BAD_TENSOR, lambda g, x: g.input("y", "FLOAT32", [2, 3], total_size=20)),
    "too few values": (codes.BAD_TENSOR, lambda g, x: g.constant([1.0, 2.0], sizes=[3])),
    "half an output size": (codes.BAD_TENSOR, lambda g, x: g.fill_value_constant([1.5], "FLOAT32", 0)),
    "a truth value for a size": (codes.BAD_TENSOR, lambda g, x: g.input("y", "FLOAT32", [2, True])),
    "half a byte": (codes.BAD_TENSOR, lambda g, x: g.input("y", "FLOAT32", [2], total_size=16.5)),
    "text for an alignment": (codes.BAD_TENSOR, lambda g, x: g.input("y", "FLOAT32", [2], alignment="4")),
    "None for a data type": (codes.BAD_TENSOR, lambda g, x: g.input("y", None, [2])),
    "half a size of a view": (codes.BAD_TENSOR, lambda g, x: g.reshape(x, [2.5, -1])),
    "half a stride of a policy": (codes.BAD_TENSOR, lambda g, x: with_strides(g, [24, 12, 4.5, 1]).activation_relu(x)),
    "text for strides": (codes.BAD_TENSOR, lambda g, x: with_strides(g, "abcd").activation_relu(x)),
    "an output inside of a buffer": (
        codes.INNER_OUTPUT,
        lambda g, x: g.build({"y": g.reinterpret(x, sizes=[1], offset=4)}),
    ),
    "input without a name": (codes.BAD_NAME, lambda g, x: g.input("", "FLOAT32", [1])),
    "output without a name": (codes.BAD_NAME, lambda g, x: g.build({"": x})),
    "number for an output's name": (codes.BAD_NAME, lambda g, x: g.build({1: x})),
    "half a surrogate pair": (codes.BAD_NAME, lambda g, x: g.activation_relu(x, name="\ud800")),
    "bytes for a constant's name": (codes.BAD_NAME, lambda g, x: g.constant([1.0], name=b"c")),
    "number for a graph's name": (codes.BAD_NAME, lambda g, x: GraphBuilder(3)),  # type: ignore[arg-type]  # no text
    "number for a scope": (codes.BAD_NAME, lambda g, x: g.scope(3).__enter__()),
    "view too large": (codes.VIEW_TOO_LARGE, lambda g, x: g.reinterpret(x, "FLOAT64")),
    "no outputs": (codes.NO_OUTPUTS, lambda g, x: g.build({})),
    "other elements": (codes.DIFFERENT_ELEMENT_COUNTS, lambda g, x: g.reshape(x, [5])),
    "numpy's word for FLOAT64": (codes.BAD_TENSOR, lambda g, x: g.input("y", "float", [1])),
    "Python's float": (codes.BAD_TENSOR, lambda g, x: g.input("y", float, [1])),
    "Python's int": (codes.BAD_TENSOR, lambda g, x: g.constant([1], data_type=int)),
    "numpy's half": (codes.BAD_TENSOR, lambda g, x: g.cast(x, "half")),
    "numpy's byte order": (codes.BAD_TENSOR, lambda g, x: g.cast(x, "<f4")),
    "axis that a join lacks": (checking.OUT_OF_RANGE, lambda g, x: g.join([x, x], 4)),
    "axis that a split lacks": (codes.BAD_TENSOR, lambda g, x: g.split(x, -5, [1, 1])),
    "inexact": (codes.NOT_EXACT, lambda g, x: g.cast(x, "UINT8") + 0.5),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, g: GraphBuilder, x: Expression) -> None:
    code, call = REFUSED[name]
    before = len(g._nodes)
    found = findings(call, g, x)
    assert [item.code for item in found] == [code.id]
    assert found[0].pointer == f"{Path(__file__).name}:{call.__code__.co_firstlineno}"
    assert len(g._nodes) - before == (name == "inexact")  # its cast is valid


def test_iterators_of_numbers(g: GraphBuilder, x: Expression) -> None:
    assert g.input("y", "FLOAT32", (size for size in [2, 3]), iter([6, 1])).strides == (6, 1)  # type: ignore[arg-type]
    assert g.reshape(x, (size for size in [6, 4])).sizes == (6, 4)  # type: ignore[arg-type]
    assert g.reinterpret(x, sizes=(size for size in [24])).sizes == (24,)  # type: ignore[arg-type]


def test_every_code_is_reached() -> None:
    every_code = {value for value in vars(codes).values() if isinstance(value, Code)}
    assert {code.id for code in every_code - {code for code, _ in REFUSED.values()}} == set()
    for code in every_code:
        assert code.id.startswith("DML18")
        assert code.explanation.endswith(".")
    assert len({code.id for code in every_code}) == len(every_code)


TEXTS: list[tuple[Callable[[Any, Any], Any], dict[str, str]]] = [
    (
        lambda g, x: g.padding(x, "REFLECT", 0.0, [0] * 4, [0] * 4),
        {"message": 'did you mean "REFLECTION"', "operator": "PADDING", "field": "PaddingMode"},
    ),
    (lambda g, x: g.max_pooling(x, [2, 2], strides="2"), {"field": "Strides"}),
    (lambda g, x: g.max_pooling(x, 2.5), {"field": "WindowSize"}),
    (lambda g, x: g.activation_elu(x, "1"), {"field": "Alpha"}),
    (lambda g, x: g.add(x, x, Activation("RELUU")), {"message": 'did you mean "ACTIVATION_RELU"'}),
    (lambda g, x: g.add(x, x, Activation("ELU", Alfa=1)), {"message": "Alpha"}),
    (lambda g, x: with_strides(g, (1,)).exp(x), {"field": "OutputTensor"}),
    (lambda g, x: g.average_pooling(x, [1, 1], [9, 1]), {"operator": "AVERAGE_POOLING1"}),
    (lambda g, x: g.activation_relu(None), {"field": "InputTensor"}),
]


@pytest.mark.parametrize(("call", "texts"), TEXTS)
def test_texts(call: Callable[[Any, Any], Any], texts: dict[str, str], g: GraphBuilder, x: Expression) -> None:
    found = findings(call, g, x)
    assert any(all(text in getattr(item, name) for name, text in texts.items()) for item in found), found
    assert {item.pointer for item in found} == {f"{Path(__file__).name}:{call.__code__.co_firstlineno}"}
    assert codes.NOT_INFERABLE.id not in {item.code for item in found}


class TestErrorsOfOperators:
    def test_same_as_in_files(self, g: GraphBuilder, x: Expression, tmp_path: Path) -> None:
        """The same diagnostics as for a file, except for the line."""
        y = g.input("y", "INT32", [1, 2, 3, 5])
        line, found = here(), findings(lambda: g.add(x, y, name="sum"))
        node = {
            "name": "sum",
            "type": "ELEMENT_WISE_ADD",
            "desc": {"OutputTensor": f32(1, 2, 3, 4)},
            "inputs": {"ATensor": "x", "BTensor": "y"},
            "outputs": {"OutputTensor": "z"},
        }
        inputs = {"x": f32(1, 2, 3, 4), "y": {"DataType": "INT32", "Sizes": [1, 2, 3, 5]}}
        model = {"dml2onnx": 1, "inputs": inputs, "nodes": [node], "outputs": ["z"]}
        expected = dml2onnx.check(load_model(tmp_path, model))
        assert len(expected) >= 2
        assert [item.pointer for item in found] == [line] * len(found)

        def content(item: Diagnostic) -> tuple[str, ...]:
            return (item.code, item.node, item.operator, item.field, item.message, item.expected, item.found)

        assert [content(item) for item in found] == [content(item) for item in expected]

    def test_nothing_is_recorded(self, g: GraphBuilder, x: Expression) -> None:
        findings(g.gather, x, x, 0, 1)
        findings(g.activation_relu, None)
        findings(g.padding, x, "EDGES", 0.0, [0] * 4, [0] * 4)
        y = g.activation_relu(x)
        assert [node.name for node in g.build(y).nodes] == ["activation_relu"]
        assert y.value.name == "activation_relu"

    def test_sizes_of_0(self, g: GraphBuilder) -> None:
        for sizes in ([1, 0], [1, -2]):
            found = findings(g.fill_value_constant, sizes, "FLOAT32", 0)
            assert {item.field for item in found} == {"OutputTensor"}
            assert {item.code for item in found}.isdisjoint({codes.BAD_TENSOR.id})


class TestNames:
    def test_scopes(self, g: GraphBuilder, x: Expression) -> None:
        with g.scope("block"):
            y = g.activation_relu(x)
            with g.scope("inner"):
                y = g.activation_relu(y, name="out")
                weight = g.constant([1.0], name="weight")
            y = g.activation_relu(y)
        z = g.activation_relu(y)
        graph = g.build({"z": z})
        assert [node.name for node in graph.nodes] == [
            "block_activation_relu",
            "block_inner_out",
            "block_activation_relu_2",
            "activation_relu",
        ]
        assert weight.value.name == "block_inner_weight"

    def test_a_scope_ends_with_an_error(self, g: GraphBuilder, x: Expression) -> None:
        with pytest.raises(RuntimeError), g.scope("block"):
            raise RuntimeError
        assert g.build(g.activation_relu(x)).nodes[0].name == "activation_relu"

    def test_outputs(self, g: GraphBuilder, x: Expression) -> None:
        y = g.activation_relu(x, name="y")
        z = g.exp(x)
        assert [item.name for item in g.build({"a": y, "b": z}).outputs] == ["a", "b"]
        assert [item.name for item in g.build([y, z, y]).outputs] == ["y", "element_wise_exp", "y_2"]
        assert [item.name for item in g.build(y).outputs] == ["y"]

    def test_graph(self) -> None:
        g = GraphBuilder("net", feature_level="5_0")
        graph = g.build(g.exp(g.input("x", np.float16, [4])))
        assert (graph.name, graph.feature_level) == ("net", "5_0")


class TestGraphs:
    def test_several_outputs_and_dead_operators(self, g: GraphBuilder, x: Expression) -> None:
        g.exp(x)
        unused = g.input("unused", "FLOAT32", [2])
        graph = g.build({"y": x * 2, "z": x[..., 0], "same": x * 2})
        found = [(item.code, item.node) for item in dml2onnx.check(graph)]
        assert found == [("DML1220", ""), ("DML1216", "element_wise_exp")]
        assert len(graph.nodes) == 4
        model = dml2onnx.compile(graph)
        assert "Exp" not in {node.op_type for node in model.model_proto.graph.node}
        data = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
        results = model.run({"x": data, "unused": np.zeros(unused.sizes, np.float32)})
        np.testing.assert_array_equal(results["y"], data * 2)
        np.testing.assert_array_equal(results["same"], data * 2)
        np.testing.assert_array_equal(results["z"], data[..., 0])

    def test_build_twice(self, g: GraphBuilder, x: Expression) -> None:
        first = g.build({"y": x + 1})
        second = g.build({"y": (x + 1) * 3})
        assert (len(first.nodes), len(second.nodes)) == (1, 3)
        data = np.ones((1, 2, 3, 4), np.float32)
        assert dml2onnx.compile(first).run({"x": data})["y"].max() == 2
        assert dml2onnx.compile(second).run({"x": data})["y"].max() == 6

    def test_constants(self, g: GraphBuilder) -> None:
        packed = g.constant([1, 2, 3, 4, 5], data_type="UINT4")
        assert (packed.sizes, packed.value.nbytes) == ((5,), 4)
        strided = g.constant(np.array([1, 2, 3], np.float32), sizes=[2, 3], strides=[0, 1])
        number = g.constant(2.5, data_type="FLOAT16")
        assert number.sizes == (1,)
        array = np.array([4], np.float32)
        copied = g.constant(array)
        array[0] = 5
        graph = g.build({"a": g.exp(strided * 0), "b": g.identity(strided), "c": g.identity(copied)})
        results = dml2onnx.compile(graph).run({})
        np.testing.assert_array_equal(results["b"], [[1, 2, 3]] * 2)
        np.testing.assert_array_equal(results["a"], np.ones((2, 3)))
        assert results["c"][0] == 4

    def test_views(self, g: GraphBuilder) -> None:
        x = g.input("x", "FLOAT32", [2, 3])
        transposed = g.reinterpret(x, sizes=[3, 2], strides=[1, 3])
        bits = g.reinterpret(x, "UINT32")
        repeated = g.broadcast(g.input("row", "FLOAT32", [3]), [2, 3])
        assert repeated.strides == (0, 1)
        graph = g.build({"t": g.identity(transposed), "b": g.identity(bits), "r": x + repeated})
        assert dml2onnx.check(graph) == []
        data, row = np.array([[1, 2, 3], [4, 5, 6]], np.float32), np.array([10, 20, 30], np.float32)
        results = dml2onnx.compile(graph).run({"x": data, "row": row})
        np.testing.assert_array_equal(results["t"], data.T)
        np.testing.assert_array_equal(results["b"], data.view(np.uint32))
        np.testing.assert_array_equal(results["r"], data + row)


class TestPolicies:
    def network(self, g: GraphBuilder) -> Expression:
        weights = np.random.default_rng(1).random((6, 3, 3, 3), np.float32)
        x = g.input("x", "FLOAT32", [1, 3, 9, 8])
        y = g.convolution(x, g.constant(weights), strides=[2, 1], start_padding=[1, 1])
        y = g.activation_relu(y - 3) + np.arange(6).reshape(6, 1, 1)
        y = g.max_pooling(y, [2, 2]).values
        return g.join([y, y[:, ::-1]], 1)

    def test_interleaved_channels_do_not_change_results(self) -> None:
        data = np.random.default_rng(2).random((1, 3, 9, 8), np.float32)
        plain, interleaved = GraphBuilder(), GraphBuilder(policy=interleaved_channel)
        y, z = self.network(plain), self.network(interleaved)
        assert y.sizes == z.sizes == (1, 12, 3, 6)
        assert z.strides == (12 * 18, 1, 12 * 6, 12)
        graph = interleaved.build({"y": interleaved.reshape(z, z.sizes)})
        assert dml2onnx.check(graph) == []
        result: Any = dml2onnx.compile(graph).run({"x": data})["y"]
        expected: Any = dml2onnx.compile(plain.build({"y": y})).run({"x": data})["y"]
        np.testing.assert_allclose(result, expected, rtol=1e-6)

    @pytest.mark.parametrize(
        ("sizes", "strides"),
        [
            ((5,), (1,)),
            ((2, 5), (5, 1)),
            ((2, 5, 3), (15, 1, 5)),
            ((2, 5, 3, 4), (60, 1, 20, 5)),
            ((2, 5, 3, 4, 6), (360, 1, 120, 30, 5)),
        ],
        ids=str,
    )
    def test_strides(self, sizes: tuple[int, ...], strides: tuple[int, ...]) -> None:
        assert interleaved_channel(DataType.FLOAT32, sizes) == strides

    def test_temporary_and_custom_policies(self, g: GraphBuilder, x: Expression) -> None:
        with g.tensor_policy(lambda data_type, sizes: (32, 16, 5, 1)):
            padded = g.exp(x)
        assert padded.strides == (32, 16, 5, 1)
        assert g.exp(x).strides is None
        graph = g.build({"y": g.identity(padded)})
        data = np.random.default_rng(3).random((1, 2, 3, 4), np.float32)
        result: Any = dml2onnx.compile(graph).run({"x": data})["y"]
        np.testing.assert_allclose(result, np.exp(data), rtol=1e-6)


def test_types_of_a_users_program(tmp_path: Path) -> None:
    """A type checker accepts a valid program and finds the mistakes of another."""
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np\n"
        "import dml2onnx\n"
        "from dml2onnx.builder import Activation, Expression\n"
        "g = dml2onnx.GraphBuilder(feature_level='5_0')\n"
        "x = g.input('x', np.float32, [1, 3, 8, 8])\n"
        "w = g.constant(np.ones((4, 3, 3, 3)), data_type='FLOAT32')\n"
        "y: Expression = g.convolution(x, w, fused_activation=Activation('RELU'))\n"
        "p = g.max_pooling(2 - y * 2, [2, 2], strides=[2, 2], output_indices=True)\n"
        "assert p.indices is not None\n"
        "graph: dml2onnx.Graph = g.build({'p': p.values[0, ::-1] >= 0, 'i': p.indices})\n"
        "dml2onnx.compile(graph).save('model.onnx')\n"
    )
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "import dml2onnx\n"
        "g = dml2onnx.GraphBuilder()\n"
        "x = g.input('x', 'FLOAT32', [1, 3, 8, 8])\n"
        "g.padding(x, 'REFLECT', 0.0, [0], [0])\n"
        "g.activation_relu('x')\n"
    )
    mypy = [sys.executable, "-m", "mypy", "--strict", "--python-version", "3.11", str(program), str(wrong)]
    done = subprocess.run(mypy, capture_output=True, text=True)
    lines = [line.split(" error: ")[0].rpartition("/")[2] for line in done.stdout.splitlines() if " error: " in line]
    assert lines == ["wrong.py:4:", "wrong.py:5:"], done.stdout + done.stderr


# --- Conveniences -------------------------------------------------------------------------------------------------


def test_activations_by_name() -> None:
    """A name with DirectMLX's default attributes, or an Activation with attributes in either spelling."""
    g = GraphBuilder()
    a = g.input("a", "FLOAT32", [1, 1, 2, 2])
    objects = (Activation("LEAKY_RELU", alpha=0.01), Activation("LEAKY_RELU", Alpha=0.01))
    for item in ("LEAKY_RELU", "ACTIVATION_LEAKY_RELU", *objects):
        g.gemm(a, a, fused_activation=item)
    fused = {node.operator.activation() for node in g.build(a + 0).nodes if node.operator.type == "GEMM"}
    assert len(fused) == 1
    with pytest.raises(DmlError, match="did you mean"):
        g.gemm(a, a, fused_activation="LEAKY_RELUS")


def test_constants_are_rounded_to_floats() -> None:
    g = GraphBuilder()
    (raw,) = [item.data.read(0, 4) for item in g.build(g.constant([1e10, 0.1], data_type="FLOAT16")).constants]
    assert raw.view(np.float16).tolist() == [np.inf, float(np.float16(0.1))]


def test_attributes_of_activations_in_snake_case() -> None:
    swish = Activation("SWISH", sigmoid_input_scale=2.0)
    clip = Activation("ELEMENT_WISE_CLIP", scale_bias=(1.0, 0.0), min=0.0, max=1.0)
    assert list(swish.attributes) == ["SigmoidInputScale"]
    assert list(clip.attributes) == ["ScaleBias", "Min", "Max"]
    for schema in map(catalog.operator, catalog.operator_names()):
        for field in schema.attribute_fields:
            python = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", field.name).lower()
            assert Activation(schema.short_name, **{python: 7}).attributes.get(field.name) == 7


def test_warnings_are_stored_in_the_graph() -> None:
    g = GraphBuilder()
    outputs = [
        g.fill_value_sequence([4], "UINT8", 10, -2),
        g.fill_value_constant([2], "FLOAT16", 70000),
        g.input("f", "FLOAT32", [2]) + 1e300,
    ]
    graph = g.build({f"y{index}": item for index, item in enumerate(outputs)})
    assert len(graph.findings) == 2
    assert {item.severity for item in graph.findings} == {Severity.WARNING}
    assert all("test_recorder.py" in item.pointer for item in graph.findings)
    assert dml2onnx.check(graph) == list(graph.findings)
    model = dml2onnx.compile(graph)
    assert model.warnings == graph.findings
    results = model.run({"f": np.zeros(2, np.float32)})
    assert [results[f"y{index}"].tolist() for index in range(3)] == [[10, 8, 6, 4], [np.inf] * 2, [np.inf] * 2]
    with pytest.raises(DmlError):
        g.fill_value_constant([2], "FLOAT16", "70000")  # type: ignore[arg-type]  # the mistake
    assert len(g.build(outputs[0]).findings) == 2
