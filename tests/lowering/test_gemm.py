"""GEMM against the reference."""

import numpy as np
import pytest

import dml2onnx
from dml2onnx.compiler import compile_outputs
from tests.lowering.harness import check_case, make_case, operator, operators, t

RELU = operator("ACTIVATION_RELU")
SHARED = {2: None, 3: (0, 4, 1), 4: (0, 0, 4, 1)}


def gemm(
    batches=(),
    m=3,
    k=5,
    n=4,
    *,
    data_type="FLOAT32",
    trans_a=False,
    trans_b=False,
    alpha=1.0,
    beta=1.0,
    c=True,
    activation=None,
    layouts=None,
):
    """A descriptor; ``layouts`` has strides by field."""
    layouts = layouts or {}

    def tensor(field, *sizes):
        return t(data_type, (*batches, *sizes), layouts.get(field))

    return operator(
        "GEMM",
        ATensor=tensor("ATensor", *((k, m) if trans_a else (m, k))),
        BTensor=tensor("BTensor", *((n, k) if trans_b else (k, n))),
        CTensor=tensor("CTensor", m, n) if c else None,
        OutputTensor=tensor("OutputTensor", m, n),
        TransA="TRANSPOSE" if trans_a else "NONE",
        TransB="TRANSPOSE" if trans_b else "NONE",
        Alpha=alpha,
        Beta=beta,
        FusedActivation=activation,
    )


def attributes(model, op_type="Gemm"):
    """Returns the attributes of the only ONNX node of a type."""
    (node,) = [item for item in model.model_proto.graph.node if item.op_type == op_type]
    return {item.name: item.i or item.f for item in node.attribute}


class TestOneMatrix:
    """Batches that share B are one Gemm."""

    def test_two_dimensions(self):
        model = check_case(gemm(alpha=0.5, beta=3.0, trans_a=True, trans_b=True))
        assert operators(model) == ["Gemm"]
        assert attributes(model) == {"alpha": 0.5, "beta": 3.0, "transA": 1, "transB": 1}

    def test_default_attributes_are_omitted(self):
        assert attributes(check_case(gemm())) == {}

    def test_relu_follows_gemm_before_the_reshape(self):
        op = gemm((1, 1), activation=RELU, layouts={"CTensor": (0, 0, 0, 1)})
        model = check_case(op, constants=["BTensor", "CTensor"])
        assert operators(model) == ["Reshape", "Gemm", "Relu", "Reshape"]

    def test_a_transposed_layout_of_a_constant_is_folded(self):
        model = check_case(gemm(layouts={"BTensor": (1, 5)}), constants=["BTensor"])
        assert operators(model) == ["Gemm"]
        assert attributes(model) == {}

    @pytest.mark.parametrize("batches", [(2,), (2, 3)])
    def test_batches_that_share_b_are_more_rows(self, batches):
        rank = len(batches) + 2
        layouts = {"BTensor": SHARED[rank], "CTensor": (*[0] * (rank - 1), 1)}
        op = gemm(batches, layouts=layouts, alpha=2.0, beta=0.5)
        assert operators(check_case(op, constants=["BTensor", "CTensor"])) == ["Reshape", "Gemm", "Reshape"]

    def test_a_separate_c_for_every_batch(self):
        op = gemm((2, 3), layouts={"BTensor": SHARED[4]})
        assert operators(check_case(op, constants=["BTensor"])) == ["Reshape", "Reshape", "Gemm", "Reshape"]

    @pytest.mark.parametrize("strides", [(0, 0), (0, 1), (1, 0), (4, 1)], ids=["scalar", "row", "column", "matrix"])
    def test_c_broadcasts_by_itself(self, strides):
        model = check_case(gemm(layouts={"CTensor": strides}, beta=2.0), constants=["BTensor", "CTensor"])
        assert operators(model) == ["Gemm"]
        (c,) = [item for item in model.model_proto.graph.initializer if item.name == "CTensor"]
        sizes = [n if s else 1 for n, s in zip((3, 4), strides, strict=True)]
        assert list(c.dims) == (sizes[1:] if sizes[0] == 1 else sizes)

    def test_beta_0_drops_c(self):
        model = check_case(gemm(beta=0.0), inputs={"CTensor": np.full((3, 4), np.nan)})
        (node,) = model.model_proto.graph.node
        assert len(node.input) == 2

    def test_no_c(self):
        assert operators(check_case(gemm(c=False, beta=7.0))) == ["MatMul"]
        assert operators(check_case(gemm(c=False, beta=7.0, alpha=2.0))) == ["Gemm"]

    def test_alpha_0_keeps_nan_of_infinities(self):
        check_case(gemm(alpha=0.0), inputs={"ATensor": np.where(np.arange(15) % 5, 1.0, np.inf).reshape(3, 5)})

    def test_float16_is_rounded_once_after_the_activation(self):
        model = check_case(gemm(data_type="FLOAT16", activation=RELU), constants=["BTensor", "CTensor"])
        assert operators(model) == ["Cast", "Gemm", "Relu", "Cast"]

    def test_directml_computes_in_float16(self):
        op = gemm(data_type="FLOAT16", activation=RELU)
        graph = make_case(op, constants=["BTensor", "CTensor"]).graph
        assert operators(compile_outputs(graph, graph.outputs, target="dml")) == ["Gemm", "Relu"]


class TestBatches:
    """Batches with different B are a MatMul."""

    def test_plain(self):
        assert operators(check_case(gemm((2, 3), c=False))) == ["MatMul"]

    def test_all_parts(self):
        op = gemm((2, 3), trans_a=True, trans_b=True, alpha=0.5, beta=3.0, activation=RELU)
        expected = ["Transpose", "Transpose", "MatMul", "Mul", "Mul", "Add", "Relu"]
        assert operators(check_case(op)) == expected

    def test_constants_are_transposed_and_scaled_when_compiling(self):
        op = gemm((2,), trans_b=True, beta=3.0)
        assert operators(check_case(op, constants=["BTensor", "CTensor"])) == ["MatMul", "Add"]

    def test_a_shared_a_is_not_expanded(self):
        op = gemm((2, 3), c=False, layouts={"ATensor": (0, 0, 5, 1)})
        model = check_case(op)
        assert "Expand" not in operators(model)
        assert operators(model)[-1] == "MatMul"

    def test_each_operand_broadcasts_another_dimension(self):
        op = gemm((2, 3), layouts={"ATensor": (15, 0, 5, 1), "BTensor": (0, 20, 4, 1), "CTensor": (0, 0, 0, 1)})
        model = check_case(op)
        assert "Expand" not in operators(model)
        assert "MatMul" in operators(model)

    def test_shared_b_of_a_transposed_a_is_a_matrix(self):
        op = gemm((2,), trans_a=True, c=False, layouts={"BTensor": SHARED[3]})
        model = check_case(op, constants=["BTensor"])
        assert operators(model) == ["Transpose", "MatMul"]
        (b,) = model.model_proto.graph.initializer
        assert list(b.dims) == [5, 4]

    def test_c_shared_by_batches_that_share_b(self):
        op = gemm((2,), layouts={"BTensor": SHARED[3], "CTensor": (0, 4, 1)})
        assert operators(check_case(op, constants=["BTensor", "CTensor"])) == ["MatMul", "Add"]

    def test_equal_batches_are_computed_once(self):
        op = gemm((2,), layouts={"ATensor": (0, 5, 1), "BTensor": SHARED[3], "CTensor": (0, 4, 1)})
        assert operators(check_case(op, constants=["BTensor", "CTensor"]))[-1] == "Expand"

    def test_c_with_other_batches_than_a(self):
        layouts = {"ATensor": (0, 15, 5, 1), "BTensor": SHARED[4], "CTensor": (12, 0, 4, 1)}
        assert "MatMul" in operators(check_case(gemm((2, 2), layouts=layouts)))

    @pytest.mark.parametrize("field", ["ATensor", "BTensor"])
    @pytest.mark.parametrize("batches", [(), (2,)])
    def test_matrices_with_repeated_rows_or_columns(self, field, batches):
        packed = {"ATensor": (5, 1), "BTensor": (4, 1)}[field]
        for strides in ((0, 1), (packed[0], 0), (0, 0)):
            check_case(gemm(batches, layouts={field: (*[20] * len(batches), *strides)}))


@pytest.mark.parametrize("axes", [(3,), (2,), (0,), (1, 3), (0, 1, 2, 3)])
@pytest.mark.parametrize("shared", [True, False])
def test_softmax1_along_any_axes(axes, shared):
    activation = operator("ACTIVATION_SOFTMAX1", Axes=axes)
    layouts = {"ATensor": (0, 15, 5, 1), "BTensor": (0, 0, 4, 1) if shared else (0, 20, 4, 1)}
    check_case(gemm((2, 3), activation=activation, layouts=layouts, c=False))


@pytest.mark.parametrize(("target", "inputs"), [("cpu", 2), ("dml", 3), ("portable", 3)])
def test_directml_gets_a_gemm_with_c(target, inputs):
    """The provider fuses Gemm with an activation only if Gemm has three inputs."""
    op = gemm(c=False, alpha=2.0, activation=operator("ACTIVATION_ELU", Alpha=1.0))
    nodes = check_case(op, target=target).lowered.nodes
    (product,) = (node for node in nodes if node.op_type == "Gemm")
    assert len(product.inputs) == inputs


def test_a_constant_row_is_a_vector_for_a_single_row_too() -> None:
    """As for many rows, and as ONNX documents a bias."""
    graph = dml2onnx.GraphBuilder()
    a = graph.input("a", "FLOAT32", (1, 1, 1, 4))
    b, c = (graph.constant(np.ones(sizes, np.float32)) for sizes in ((1, 1, 4, 3), (1, 1, 1, 3)))
    model = dml2onnx.compile(graph.build({"y": graph.gemm(a, b, c)}))
    (node,) = [item for item in model.lowered.nodes if item.op_type == "Gemm"]
    assert node.inputs[2] is not None
    assert node.inputs[2].shape == (3,)
    assert model.run({"a": np.ones((1, 1, 1, 4), np.float32)})["y"].tolist() == [[[[5, 5, 5]]]]
