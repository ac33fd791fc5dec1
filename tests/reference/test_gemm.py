from __future__ import annotations

import numpy as np
import pytest

from tests.reference.numbers import marks, result_of


def gemm(a, b, c=None, **values):
    return result_of("GEMM", (*a.shape[:-1], b.shape[-1]), ATensor=a, BTensor=b, CTensor=c, **values)


def test_beta_zero_skips_c():
    a, c = np.eye(2, dtype=np.float32), np.array([[np.nan, 1], [np.inf, 2]], np.float32)
    found = gemm(a, a, c, Beta=0.0)
    np.testing.assert_array_equal(found.values, a)
    np.testing.assert_array_equal(found.unspecified, [[True, False], [True, False]])


def test_order_dependent_sums_are_unspecified():
    largest = np.finfo(np.float32).max
    a = np.array([[largest, largest, -largest], [largest, 1, 1]], np.float32)[None, None]
    b = np.ones((1, 1, 3, 1), np.float32)
    assert gemm(a, b).unspecified.reshape(-1).tolist() == [True, False]


@pytest.mark.parametrize(("alpha", "open_"), [(0.5, True), (1.0, False), (2.0, False)])
def test_overflow_before_a_small_alpha_is_unspecified(alpha: float, open_: bool) -> None:
    a, b = np.full((1, 2), 2e38, np.float32), np.array([[1, 0.5], [1, 0.25]], np.float32)
    assert marks(gemm(a, b, Alpha=alpha)) == [open_, False]


@pytest.mark.parametrize("terms", [1, 4, 60])
def test_error_bound(terms: int) -> None:
    """The bound of a sum with ``terms`` products, the addend of Beta, and the multiplication by Alpha (Higham, 3.1)."""
    one = np.ones((1, 1), np.float32)
    found = gemm(np.ones((1, terms), np.float32), np.ones((terms, 1), np.float32), one, Alpha=-2.0, Beta=3.0)
    roundings = (terms + 3) * 2.0**-24
    np.testing.assert_allclose(found.error, (2 * terms + 3) * roundings / (1 - roundings), rtol=1e-6)
