"""LOCAL_RESPONSE_NORMALIZATION and LP_NORMALIZATION against the reference."""

import numpy as np
import pytest

from dml2onnx.ir.tensor import DataType
from tests.lowering.harness import check_case, operators
from tests.lowering.normalizations import SHAPE, computing, lp, lrn


class TestLocalResponseNormalization:
    """LOCAL_RESPONSE_NORMALIZATION over channels and over the image."""

    @pytest.mark.parametrize("across", [True, False])
    @pytest.mark.parametrize("size", [*range(1, 12), 50, (1 << 32) - 1])
    def test_sizes(self, across, size):
        for sizes in [(2, 7, 5, 6), (1, 1, 1, 1), (1, 2, 1, 9), (2, 3, 8, 1)]:
            check_case(lrn(sizes, size, across=across, alpha=min(0.1 * size, 3e38)))

    @pytest.mark.parametrize("across", [True, False])
    @pytest.mark.parametrize("beta", [0.75, 0.5, 0.25, 1.0, 0.0, -0.5, 2.0, 0.6, 3.25, -2.0])
    @pytest.mark.parametrize("alpha", [1e-4, 0.0, 2.5, -0.01, 3e38])
    @pytest.mark.parametrize("bias", [1.0, 0.0, 2.5, -4.0])
    def test_attributes(self, across, beta, alpha, bias):
        check_case(lrn(across=across, alpha=alpha, beta=beta, bias=bias))

    def test_forms(self):
        assert computing(check_case(lrn(size=3))) == [
            "Mul", "Pad", "Slice", "Slice", "Add", "Slice", "Add", "Mul", "Add", "Sqrt", "Sqrt", "Mul", "Div",
        ]  # fmt: skip
        assert computing(check_case(lrn(across=False))) == [
            "Mul", "AveragePool", "Mul", "Mul", "Add", "Sqrt", "Sqrt", "Mul", "Div",
        ]  # fmt: skip
        for beta, expected in [(1.0, ["Div"]), (0.5, ["Sqrt", "Div"]), (0.25, ["Sqrt", "Sqrt", "Div"])]:
            assert computing(check_case(lrn(across=False, beta=beta)))[5:] == expected
        assert computing(check_case(lrn(across=False, beta=0.6)))[5:] == ["Pow", "Div"]
        assert computing(check_case(lrn(across=False, bias=0.0, beta=0.5)))[4:] == ["Sqrt", "Div"]

    def test_a_power_of_nan_is_nan_even_with_beta_0(self):
        """DirectML computes powers by a logarithm [decision E18]."""
        x = np.where(np.arange(24) % 7, 1.0, np.nan).reshape(1, 2, 3, 4)
        check_case(lrn(x.shape, 2, across=False, beta=0.0), inputs={"InputTensor": x})

    def test_long_windows_take_few_nodes(self):
        assert len(operators(check_case(lrn((1, 200, 2, 3), 101)))) < 50

    @pytest.mark.parametrize("size", [2, 3, 5])
    @pytest.mark.parametrize("fields", [{}, {"alpha": 0.0}, {"alpha": -1.0}, {"beta": 0.0}, {"beta": -1.0}])
    def test_lrn_for_directml(self, size, fields):
        """Models for DirectML must run on the CPU provider too."""
        has_lrn = "LRN" in operators(check_case(lrn(size=size, **fields), target="dml"))
        assert has_lrn == (size % 2 == 1 and not fields)


class TestLpNormalization:
    """LP_NORMALIZATION along any axis."""

    @pytest.mark.parametrize(("p", "before", "behind"), [(1, "Abs", ["Mul"]), (2, "Mul", [])])
    def test_forms(self, p, before, behind):
        for axis in (1, 3):
            assert computing(check_case(lp(axis=axis, p=p))) == [before, "ReduceSum", *behind, "Add", "Sqrt", "Div"]
        large = check_case(lp((1, 40, 25, 25), axis=1, p=p))
        assert computing(large) == [before, "MatMul", *behind, "Add", "Sqrt", "Div"]
        nothing = [before, "ReduceSum", *([] if p == 1 else ["Sqrt"]), "Div"]
        assert computing(check_case(lp(axis=3, p=p, epsilon=0.0))) == nothing

    @pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
    @pytest.mark.parametrize("axis", [0, 1, 3])
    @pytest.mark.parametrize("p", [1, 2])
    @pytest.mark.parametrize("epsilon", [1e-5, 0.0, -0.5, 3.0])
    def test_zeros_stay_zero_if_epsilon_is_positive(self, data_type, axis, p, epsilon):
        op = lp(axis=axis, p=p, epsilon=epsilon, data_type=data_type)
        slices = tuple(1 if i == axis else size for i, size in enumerate(SHAPE))
        x = np.random.default_rng(0).integers(0, 2, slices) * np.ones(SHAPE, DataType[data_type].dtype)
        x = x.astype(DataType[data_type].dtype)
        got = check_case(op, inputs={"InputTensor": x}).run({"InputTensor": x.reshape(-1)})["OutputTensor"]
        assert (x == 0).any()
        zeros = got[np.broadcast_to((x == 0).all(axis=axis, keepdims=True), SHAPE)]
        assert (zeros == 0).all() if epsilon > 0 else np.isnan(zeros).all()

    @pytest.mark.parametrize("p", [1, 2])
    def test_float16_squares_do_not_overflow(self, p):
        x = np.full((2, 300), 300, np.float16)
        for target in ("cpu", "dml"):
            model = check_case(lp((2, 300), 1, p=p, data_type="FLOAT16"), inputs={"InputTensor": x}, target=target)
            y: np.ndarray = model.run({"InputTensor": x.reshape(-1)})["OutputTensor"]
            np.testing.assert_allclose(y, 1 / 300 ** (1 / p), rtol=2e-3)
