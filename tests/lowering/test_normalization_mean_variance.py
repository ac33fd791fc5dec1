"""All versions of MEAN_VARIANCE_NORMALIZATION against the reference."""

import numpy as np
import pytest

from tests.lowering.harness import check_case, left_by_optimiser, operators
from tests.lowering.normalizations import AFFINE, CHANNELS, SHAPE, VERSIONS, computing, following, mvn, present

ALL_AXES = [(), (0,), (1,), (2,), (3,), (0, 1), (1, 3), (2, 3), (3, 2), (0, 2, 3), (1, 2, 3), (0, 1, 2, 3)]
MEANS = ["ReduceMean", "ReduceMean"]
PARTS = [None, *(following(SHAPE, *axes) for axes in [(), (0,), (1,), (3,), (1, 2), (0, 1), (2, 3), (0, 1, 2, 3)])]


class TestMeanVarianceNormalization:
    """The three versions of MEAN_VARIANCE_NORMALIZATION."""

    @pytest.mark.parametrize("axes", ALL_AXES)
    @pytest.mark.parametrize(("mean", "variance"), [(True, True), (True, False), (False, True), (False, False)])
    def test_any_axes_with_any_scale_and_bias(self, axes, mean, variance):
        for number, scale in enumerate(PARTS):
            for bias in (None, PARTS[number], PARTS[-number]):
                check_case(mvn(VERSIONS[2], axes=axes, mean=mean, variance=variance, scale=scale, bias=bias))
        check_case(mvn(VERSIONS[2], axes=axes, mean=mean, variance=variance, scale=CHANNELS), constants=AFFINE[:1])

    @pytest.mark.parametrize("axes", [(2, 3), (1, 2, 3)])
    @pytest.mark.parametrize("variance", [True, False])
    def test_version_0_is_version_1_with_two_sets_of_axes(self, axes, variance):
        for scale, bias in [(None, None), (CHANNELS, None), (None, CHANNELS), (SHAPE, CHANNELS)]:
            models = [
                check_case(mvn(name, axes=axes, variance=variance, scale=scale, bias=bias), seed=1) for name in VERSIONS
            ]
            x = {
                port.name: np.random.default_rng(0).normal(1, 2, np.prod(port.shape)).astype(np.float32)
                for port in models[0].inputs
            }
            results = [model.run(x)["OutputTensor"] for model in models]
            assert np.array_equal(results[0], results[1])
            assert np.array_equal(results[0], results[2])

    @pytest.mark.parametrize(
        ("fields", "expected"),
        [
            ({}, ["InstanceNormalization"]),
            ({"scale": CHANNELS, "bias": CHANNELS}, ["InstanceNormalization"]),
            ({"scale": CHANNELS}, ["InstanceNormalization"]),
            ({"bias": CHANNELS}, ["InstanceNormalization"]),
            ({"axes": (1, 2, 3)}, ["InstanceNormalization"]),
            ({"axes": (3,), "scale": following(SHAPE, 0, 1, 2)}, ["InstanceNormalization"]),
            ({"axes": (0, 1, 2, 3)}, ["InstanceNormalization"]),
            ({"sizes": (6, 5), "axes": (1,)}, ["InstanceNormalization"]),
            ({"sizes": (6, 1, 5, 1), "axes": (2,)}, ["InstanceNormalization"]),
            ({"scale": SHAPE, "bias": CHANNELS}, ["InstanceNormalization", "Mul", "Add"]),
            ({"scale": CHANNELS, "bias": SHAPE}, ["InstanceNormalization", "Add"]),
            ({"scale": following(SHAPE, 3), "axes": (3,)}, ["InstanceNormalization", "Mul"]),
            ({"variance": False}, ["ReduceMean", "Sub"]),
            ({"variance": False, "scale": CHANNELS, "bias": CHANNELS}, ["ReduceMean", "Sub", "Mul", "Add"]),
            ({"mean": False, "variance": False}, ["Identity"]),
            ({"mean": False, "variance": False, "scale": CHANNELS, "bias": CHANNELS}, ["Mul", "Add"]),
            ({"mean": False}, ["Mul", "ReduceMean", "Add", "Sqrt", "Reciprocal", "Mul"]),
            ({"mean": False, "scale": CHANNELS}, ["Mul", "ReduceMean", "Add", "Sqrt", "Reciprocal", "Mul", "Mul"]),
            ({"axes": (0, 2)}, [*MEANS, "Sub", "Mul", *MEANS, "Add", "Sqrt", "Reciprocal", "Mul"]),
            ({"sizes": (2, 9, 4, 5), "axes": (1,), "variance": False}, ["MatMul", "Div", "Sub"]),
            ({"sizes": (2, 4099, 4, 5), "axes": (1,), "variance": False}, ["ReduceMean", "Sub"]),
        ],
    )
    def test_forms(self, fields, expected):
        op = mvn(VERSIONS[2], **fields)
        assert computing(check_case(op, constants=present(op, AFFINE))) == expected
        assert computing(check_case(op)) == expected

    def test_images_are_not_reshaped(self):
        op = mvn(scale=CHANNELS, bias=CHANNELS)
        model = check_case(op, constants=AFFINE)
        assert operators(model) == ["InstanceNormalization"]
        assert sorted(model.lowered.initializers) == sorted(AFFINE)
        assert operators(check_case(mvn())) == ["InstanceNormalization"]

    def test_factors_of_1_and_terms_of_0_are_dropped(self):
        known = {"ScaleTensor": np.ones(SHAPE), "BiasTensor": np.zeros(SHAPE)}
        op = mvn(scale=SHAPE, bias=SHAPE, variance=False)
        assert operators(check_case(op, inputs=known, constants=AFFINE)) == ["ReduceMean", "Sub"]

    @pytest.mark.parametrize("axes", [(3,), (2, 3), (1,), (0,), (1, 2, 3)])
    @pytest.mark.parametrize("offset", [100.0, 1e4])
    def test_a_large_mean_costs_only_its_own_rounding(self, axes, offset, tmp_path):
        """The mean of squares minus the square of the mean would lose the digits of the variance."""
        sizes = (24, 20, 8, 9)
        x = (offset + np.random.default_rng(0).normal(0, 0.5, sizes)).astype(np.float32)
        op = mvn(sizes=sizes, axes=axes, epsilon=1e-6)
        model = check_case(op, inputs={"InputTensor": x})
        got = model.run({"InputTensor": x.reshape(-1)})["OutputTensor"].astype(np.float64)
        np.testing.assert_allclose(got.std(axes), 1, atol=3e-3)
        assert "LayerNormalization" not in {item.op_type for item in left_by_optimiser(model, tmp_path).node}

    @pytest.mark.parametrize("version", VERSIONS[1:])
    def test_no_axes_leave_the_bias(self, version):
        for variance in (True, False):
            op = mvn(version, axes=(), variance=variance, scale=CHANNELS, bias=CHANNELS)
            model = check_case(op, extremes=True)
            memory = {port.name: np.full(np.prod(port.shape), 3, np.float32) for port in model.inputs}
            assert (model.run(memory)["OutputTensor"] == 3).all()

    @pytest.mark.parametrize("epsilon", [0.0, 1e-5, 2.0, -0.5, 1e30, 3e38])
    @pytest.mark.parametrize("axes", [(), (1,), (2, 3)])
    def test_epsilon(self, axes, epsilon):
        for mean in (True, False):
            check_case(mvn(VERSIONS[2], axes=axes, mean=mean, epsilon=epsilon, scale=CHANNELS))

    @pytest.mark.parametrize("axes", [(1,), (2, 3), (0, 1, 2, 3)])
    @pytest.mark.parametrize("mean", [True, False])
    @pytest.mark.parametrize("epsilon", [0.0, 1e-5])
    def test_equal_elements(self, axes, mean, epsilon):
        for number in (0.0, 1.0, -2.5, 0.1, 1e-30, 1e30):
            op = mvn(VERSIONS[2], axes=axes, mean=mean, epsilon=epsilon, bias=CHANNELS)
            check_case(op, inputs={"InputTensor": np.full(SHAPE, number)})

    def test_matrix_products_do_not_spread_infinities(self):
        x = np.random.default_rng(0).normal(0, 1, (2, 9, 4, 5))
        x[0, 3, 1, 2], x[1, 5, 0, 0] = np.inf, np.nan
        model = check_case(mvn(sizes=x.shape, axes=(1,)), inputs={"InputTensor": x})
        assert "MatMul" in operators(model)
        got = model.run({"InputTensor": x.astype(np.float32).reshape(-1)})["OutputTensor"]
        assert np.isnan(got).sum() == 18

    def test_parameters_of_zero_stride_are_not_expanded(self):
        op = mvn(scale=SHAPE, bias=SHAPE, **dict.fromkeys(AFFINE, (0, 1, 0, 0)))
        assert operators(check_case(op, constants=AFFINE)) == ["InstanceNormalization"]

    def test_broadcast_elements_are_computed_once(self):
        model = check_case(mvn(axes=(2, 3), InputTensor=(0, 20, 5, 1)))
        assert operators(model)[-2:] == ["InstanceNormalization", "Expand"]
