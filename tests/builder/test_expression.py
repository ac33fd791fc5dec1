"""Python's operators on expressions agree with numpy."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import dml2onnx
from dml2onnx import DmlError
from dml2onnx.builder import Expression, GraphBuilder
from dml2onnx.codes import building as codes
from dml2onnx.codes import checking
from tests.refusals import refused

Array = npt.NDArray[Any]


def computed(function: Callable[..., Any], *arrays: Array, **builder: Any) -> Array:
    """Builds, checks, compiles and runs a function of expressions."""
    g = GraphBuilder(**builder)
    inputs = [g.input(f"x{i}", str(array.dtype).upper(), array.shape) for i, array in enumerate(arrays)]
    graph = g.build({"y": function(*inputs)})
    assert dml2onnx.check(graph) == []
    result = dml2onnx.compile(graph).run({f"x{i}": array for i, array in enumerate(arrays)})["y"]
    assert isinstance(result, np.ndarray)
    return result


F = np.array([[1.5, -2.25, 3.0], [0.5, 4.0, -7.5]], np.float32)
G = np.array([[2.0, 0.75, -1.5], [3.0, -2.0, 2.5]], np.float32)
POSITIVE = np.abs(F)
I = np.array([[7, -8, 9], [1, -3, 100]], np.int32)  # noqa: E741
J = np.array([[2, 3, -4], [5, 2, 7]], np.int32)
U = np.array([[7, 8, 9], [255, 0, 129]], np.uint8)
V = np.array([[1, 3, 4], [15, 7, 2]], np.uint8)


def same(actual: Array, expected: Array) -> None:
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(actual, expected, rtol=2e-6, atol=1e-6)
    else:
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("function", [operator.add, operator.sub, operator.mul], ids=lambda item: item.__name__)
@pytest.mark.parametrize(("a", "b"), [(F, G), (I, J), (U, V)], ids=["float", "int", "uint8"])
class TestArithmetic:
    def test_expressions(self, function: Callable[..., Any], a: Array, b: Array) -> None:
        same(computed(function, a, b), function(a, b))

    def test_arrays(self, function: Callable[..., Any], a: Array, b: Array) -> None:
        """On both sides; numpy must not iterate over the expression."""
        same(computed(lambda x: function(x, b), a), function(a, b))
        same(computed(lambda x: function(b, x), a), function(b, a))

    def test_numbers(self, function: Callable[..., Any], a: Array, b: Array) -> None:
        for number in (3, np.float32(3), np.int64(3)):
            same(computed(lambda x, n=number: function(x, n), a), function(a, a.dtype.type(3)))
            same(computed(lambda x, n=number: function(n, x), a), function(a.dtype.type(3), a))

    def test_broadcasting(self, function: Callable[..., Any], a: Array, b: Array) -> None:
        same(computed(function, a, b[0]), function(a, b[0]))
        same(computed(function, a[:, :1], b), function(a[:, :1], b))
        same(computed(function, a[0], b[:, :1]), function(a[0], b[:, :1]))


def test_division() -> None:
    same(computed(operator.truediv, F, G), F / G)
    same(computed(lambda x: x / 4, F), F / np.float32(4))
    same(computed(lambda x: 4 / x, F), np.float32(4) / F)
    same(computed(lambda x: G / x, F), G / F)
    same(computed(operator.truediv, I, J), np.trunc(I / J).astype(np.int32))


def test_remainders_have_the_sign_of_the_dividend() -> None:
    same(computed(operator.mod, F, G), np.fmod(F, G))
    same(computed(operator.mod, I, J), np.fmod(I, J))
    same(computed(lambda x: x % 4, I), np.fmod(I, 4).astype(np.int32))
    same(computed(lambda x: 100 % x, J), np.fmod(100, J).astype(np.int32))


def test_powers() -> None:
    same(computed(operator.pow, POSITIVE, G), POSITIVE**G)
    same(computed(lambda x: x**2, F), F**2)
    same(computed(lambda x: x ** np.float32(0.5), POSITIVE), np.sqrt(POSITIVE))
    same(computed(lambda x: 2**x, F), np.float32(2) ** F)


@pytest.mark.parametrize("a", [F, I, F.astype(np.float16)], ids=["float", "int", "half"])
def test_signs(a: Array) -> None:
    same(computed(operator.neg, a), -a)
    same(computed(operator.pos, a), a)
    same(computed(operator.abs, a), np.abs(a))


def test_negation_at_old_feature_levels() -> None:
    """Without NEGATE it is a scale of -1."""
    x = F[None, None]
    same(computed(operator.neg, x, feature_level="2_0"), -x)


COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


@pytest.mark.parametrize("function", COMPARISONS, ids=lambda item: item.__name__)
@pytest.mark.parametrize(("a", "b"), [(F, np.where(G > 0, G, F)), (I, np.where(J > 2, J, I))], ids=["float", "int"])
def test_comparisons(function: Callable[..., Any], a: Array, b: Array) -> None:
    same(computed(function, a, b), function(a, b).astype(np.uint8))
    same(computed(lambda x: function(x, 1), a), function(a, 1).astype(np.uint8))
    same(computed(lambda x: function(1, x), a), function(1, a).astype(np.uint8))
    same(computed(lambda x: function(b, x), a), function(b, a).astype(np.uint8))


BITS = [operator.and_, operator.or_, operator.xor]


@pytest.mark.parametrize("function", BITS, ids=lambda item: item.__name__)
def test_bits(function: Callable[..., Any]) -> None:
    same(computed(function, U, V), function(U, V))
    same(computed(lambda x: function(V, x), U), function(V, U))
    same(computed(lambda x: function(x, 12), U), function(U, np.uint8(12)))
    same(computed(lambda x: function(12, x), U), function(np.uint8(12), U))


def test_shifts() -> None:
    amounts = V % 8
    same(computed(operator.lshift, U, amounts), U << amounts)
    same(computed(operator.rshift, U, amounts), U >> amounts)
    same(computed(lambda x: U << x, amounts), U << amounts)
    same(computed(lambda x: U >> x, amounts), U >> amounts)
    same(computed(operator.invert, U), ~U)


def test_products() -> None:
    a, b = F[None, None], G.T[None, None]
    same(computed(operator.matmul, a, b), a @ b)
    same(computed(lambda x: x @ b, a), a @ b)
    same(computed(lambda x: b @ x, a), b @ a)


class TestSlicing:
    X = np.arange(2 * 5 * 7, dtype=np.float32).reshape(2, 5, 7)

    @pytest.mark.parametrize(
        "index",
        [
            np.s_[0],
            np.s_[-1],
            np.s_[:, 1:4],
            np.s_[..., ::2],
            np.s_[..., ::-1],
            np.s_[:, ::-2, 5:0:-3],
            np.s_[1, ..., -3],
            np.s_[:, -4:-1, -1],
            np.s_[1, 2, 3],
            np.s_[...],
            np.s_[:],
            np.s_[:, 2:100],
            np.s_[:, :, 6:],
        ],
        ids=str,
    )
    def test_as_numpy(self, index: Any) -> None:
        expected = self.X[index]
        same(computed(lambda x: x[index], self.X), np.asarray(expected).reshape(expected.shape or (1,)))

    def test_old_feature_levels(self) -> None:
        """The sizes of SLICE are those of the output, the sizes of SLICE1 those of the window."""
        x = np.arange(2 * 3 * 5 * 7, dtype=np.float32).reshape(2, 3, 5, 7)
        same(computed(lambda e: e[:, 1:, ::2, 1:6:3], x, feature_level="1_0"), x[:, 1:, ::2, 1:6:3])

    def test_refusals(self) -> None:
        g = GraphBuilder()
        x = g.input("x", "FLOAT32", [2, 3])
        index: Any
        for index, message in [
            (np.s_[2], "index 2 is out of bounds for dimension 0 of size 2"),
            (np.s_[0, 0, 0], "3 indices for a tensor of 2 dimensions"),
            (np.s_[1:1], "the slice of dimension 0 is empty"),
            (np.s_[..., ...], "a single ellipsis"),
        ]:
            with pytest.raises(IndexError, match=message.replace("...", "")):
                _ = x[index]

    @pytest.mark.parametrize("index", [1.0, "1", True, np.True_, [0], None], ids=repr)
    def test_other_objects(self, index: Any) -> None:
        """They are not converted to numbers."""
        x = GraphBuilder().input("x", "FLOAT32", [2, 3])
        with pytest.raises(TypeError):
            _ = x[index]


class TestRefusals:
    def expression(self, data_type: str = "FLOAT32") -> Expression:
        return GraphBuilder().input("x", data_type, [2, 3])

    def test_no_broadcast(self) -> None:
        x = self.expression()
        with pytest.raises(DmlError) as caught:
            _ = x + np.zeros((3, 2))
        assert [item.code for item in caught.value.diagnostics] == [codes.NO_BROADCAST.id]
        assert caught.value.diagnostics[0].pointer.startswith("test_expression.py:")

    @pytest.mark.parametrize(
        ("sizes", "other", "has_hint"),
        [((1, 3, 4, 5), (3,), True), ((1, 4, 4, 5), (3,), False), ((1, 3, 4, 5), (3, 2), False), ((3, 3), (2,), False)],
    )
    def test_hint_for_a_number_per_channel(
        self, sizes: tuple[int, ...], other: tuple[int, ...], has_hint: bool
    ) -> None:
        x = GraphBuilder().input("x", "FLOAT32", sizes)
        with pytest.raises(DmlError) as caught:
            _ = x + np.zeros(other, np.float32)
        assert ("for each channel" in str(caught.value)) is has_hint

    @pytest.mark.parametrize("other", [1.5, -1, 300, float("nan"), np.array([0.5, 1, 2])], ids=str)
    def test_inexact_constants(self, other: Any) -> None:
        x = self.expression("UINT8")
        assert refused(lambda: x + other) == [codes.NOT_EXACT.id]

    @pytest.mark.parametrize(
        ("data_type", "other"),
        [
            ("INT64", 2.0**63),
            ("INT64", 2**63),
            ("UINT64", 2.0**64),
            ("UINT64", 2**64),
            ("INT64", -(2**70)),
            ("INT32", np.array([-np.inf], np.float16)),
        ],
    )
    def test_numbers_outside_the_range(self, data_type: str, other: Any) -> None:
        assert refused(lambda: self.expression(data_type) + other) == [codes.NOT_EXACT.id]

    def test_the_limits_of_the_range(self) -> None:
        for data_type, other in [
            ("INT64", -(2.0**63)),
            ("INT64", 2**63 - 1),
            ("UINT64", 2**64 - 1),
            ("UINT64", 2.0**63),
        ]:
            x = self.expression(data_type)
            _ = x + other
            (constant,) = x.builder.build({"y": x}).constants
            assert constant.data.read().view(data_type.lower()).tolist() == [other]

    def test_large_numbers(self) -> None:
        """More than 64 bits, as a scale and as a constant."""
        x = self.expression()
        y = x.builder.build({"y": (x * 10**30) / 10**30 + 1})
        result: Any = dml2onnx.compile(y).run({"x": np.full((2, 3), 2, np.float32)})["y"]
        np.testing.assert_allclose(result, np.full((2, 3), 3, np.float32))

    @pytest.mark.parametrize(
        "other", ["1", None, object(), [1j], 1j, np.complex64(1j)], ids=lambda item: type(item).__name__
    )
    def test_other_objects(self, other: Any) -> None:
        with pytest.raises(TypeError, match="an Expression has no operators with"):
            _ = self.expression() + other

    def test_options_of_numpy_are_not_ignored(self) -> None:
        with pytest.raises(TypeError, match=r"numpy\.add is for arrays"):
            np.add(self.expression(), 1, dtype=np.float64)  # type: ignore[call-overload]  # not an array

    def test_other_data_types(self) -> None:
        x = self.expression()
        y = x.builder.input("y", "INT32", [2, 3])
        with pytest.raises(DmlError) as caught:
            _ = x + y
        assert checking.DIFFERENT_DATA_TYPES.id in {item.code for item in caught.value.diagnostics}

    def test_expressions_have_no_truth_value_and_no_iterator(self) -> None:
        x = self.expression()
        with pytest.raises(TypeError, match="no truth value"):
            bool(x)
        with pytest.raises(TypeError, match="cannot be iterated"):
            iter(x)
        assert {x: 1}[x] == 1


def test_matrix_products_broadcast() -> None:
    a, b = np.random.default_rng(3).random((2, 3, 4, 5), np.float32), np.eye(5, 6, dtype=np.float32)
    g = dml2onnx.GraphBuilder()
    x = g.input("x", "FLOAT32", a.shape)
    graph = g.build({"y": x @ b, "z": a[0, 0] @ g.broadcast(x[:, :, 0:1, :], (2, 3, 5, 5))})
    results: dict[str, Any] = dml2onnx.run(graph, {"x": a})
    np.testing.assert_allclose(results["y"], a @ b, rtol=1e-6)
    np.testing.assert_allclose(results["z"], a[0, 0] @ np.broadcast_to(a[:, :, 0:1, :], (2, 3, 5, 5)), rtol=1e-5)
