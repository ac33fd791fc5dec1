from __future__ import annotations

import numpy as np
import onnx
import pytest
import scipy.special

from dml2onnx.reference import operator_results
from dml2onnx.testing.descriptors import describe
from tests.reference.evaluator import onnx_results


def gemm(a, b, c=None, *, alpha=1.0, beta=0.0, trans_a="NONE", trans_b="NONE", fused=None):
    m = a.shape[-1 if trans_a == "TRANSPOSE" else -2]
    n = b.shape[-2 if trans_b == "TRANSPOSE" else -1]
    op = describe(
        "GEMM",
        ATensor=a,
        BTensor=b,
        CTensor=c,
        OutputTensor=np.zeros((*a.shape[:-2], m, n), a.dtype),
        TransA=trans_a,
        TransB=trans_b,
        Alpha=alpha,
        Beta=beta,
        FusedActivation=fused,
    )
    arrays = {"ATensor": a, "BTensor": b} | ({} if c is None else {"CTensor": c})
    return operator_results(op, arrays)["OutputTensor"][0]


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("trans_a", ["NONE", "TRANSPOSE"])
@pytest.mark.parametrize("trans_b", ["NONE", "TRANSPOSE"])
@pytest.mark.parametrize("leading", [(), (2,), (2, 3)])
def test_is_onnx_gemm(dtype, trans_a, trans_b, leading):
    random = np.random.default_rng(0)
    a, b, c = (random.integers(-8, 9, (*leading, *s)).astype(dtype) for s in ((3, 4), (4, 5), (3, 5)))
    a = np.swapaxes(a, -1, -2).copy() if trans_a == "TRANSPOSE" else a
    b = np.swapaxes(b, -1, -2).copy() if trans_b == "TRANSPOSE" else b
    got = gemm(a, b, c, alpha=0.5, beta=-2.0, trans_a=trans_a, trans_b=trans_b).values
    node = onnx.helper.make_node(
        "Gemm", ["a", "b", "c"], ["y"], alpha=0.5, beta=-2.0, transA=trans_a != "NONE", transB=trans_b != "NONE"
    )
    for index in np.ndindex(*leading):
        feeds = {"a": a[index].astype(np.float64), "b": b[index].astype(np.float64), "c": c[index].astype(np.float64)}
        np.testing.assert_array_equal(got[index], onnx_results(node, feeds)[0])


def test_beta_zero_does_not_look_at_c():
    a, c = np.eye(2, dtype=np.float32), np.array([[np.nan, 1], [np.inf, 2]], np.float32)
    result = gemm(a, a, c)
    np.testing.assert_array_equal(result.values, a)
    np.testing.assert_array_equal(result.unspecified, [[True, False], [True, False]])


@pytest.mark.parametrize(
    ("fused", "axes"),
    [("ACTIVATION_SOFTMAX", (-1,)), ("ACTIVATION_SOFTMAX1", (0,)), ("ACTIVATION_SOFTMAX1", (0, 1))],
)
def test_fused_softmax(fused, axes):
    random = np.random.default_rng(1)
    a, b = random.standard_normal((3, 4)).astype(np.float32), random.standard_normal((4, 5)).astype(np.float32)
    op = describe(fused, **({"Axes": axes} if fused.endswith("1") else {}))
    want = scipy.special.softmax(a.astype(np.float64) @ b.astype(np.float64), axes)
    np.testing.assert_allclose(gemm(a, b, fused=op).values, want, rtol=2**-24)


def test_fused_clip():
    a = np.array([[1, -2], [3, -4]], np.float32)
    op = describe("ELEMENT_WISE_CLIP", Min=-1.0, Max=2.0)
    np.testing.assert_array_equal(gemm(a, np.eye(2, dtype=np.float32), fused=op).values, [[1, -1], [2, -1]])


def test_where_the_order_of_the_sum_matters():
    largest = np.finfo(np.float32).max
    a = np.array([[largest, largest, -largest], [largest, 1, 1]], np.float32)[None, None]
    b = np.ones((1, 1, 3, 1), np.float32)
    assert gemm(a, b).unspecified.reshape(-1).tolist() == [True, False]


@pytest.mark.parametrize(("alpha", "open_"), [(0.5, True), (1.0, False), (2.0, False)])
def test_a_product_that_alpha_brings_back_is_open(alpha: float, open_: bool) -> None:
    a, b = np.full((1, 2), 2e38, np.float32), np.array([[1, 0.5], [1, 0.25]], np.float32)
    marks = gemm(a, b, alpha=alpha).unspecified
    assert np.array_equal([False, False] if marks is None else marks[0], [open_, False])


@pytest.mark.parametrize("terms", [1, 4, 60])
def test_the_bound_is_that_of_a_sum_of_so_many_products(terms: int) -> None:
    """A product is rounded and added; so is what Beta adds, and Alpha is multiplied in (Higham, section 3.1)."""
    one = np.ones((1, 1), np.float32)
    found = gemm(np.ones((1, terms), np.float32), np.ones((terms, 1), np.float32), one, alpha=-2.0, beta=3.0)
    roundings = (terms + 3) * 2.0**-24
    np.testing.assert_allclose(found.error, (2 * terms + 3) * roundings / (1 - roundings), rtol=1e-6)
