from __future__ import annotations

import numpy as np
import pytest

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import allowed_error, disagreements, operator_results
from dml2onnx.test_cases.descriptors import plain


def run(given, shape, *, heads, groups=None, presents=None, **attributes):
    """The results by field; ``presents`` are the sizes of present tensors."""
    dtype = given["QueryTensor"].dtype
    outputs = {name: np.zeros(sizes, dtype) for name, sizes in {"OutputTensor": shape, **(presents or {})}.items()}
    counts = {"HeadCount": heads} if groups is None else {"QueryHeadCount": heads, "KeyValueHeadCount": groups}
    own = {"MaskFilterValue": -10000.0, "MaskType": "NONE", **counts, **attributes}
    name = "MULTIHEAD_ATTENTION" if groups is None else "MULTIHEAD_ATTENTION1"
    op = plain(name, **{key: array for key, array in given.items() if not key.startswith("Output")}, **outputs, **own)
    return {field: result for field, (result,) in operator_results(op, given).items()}


def two_keys(**changes):
    """One head, one query, and values 1 and 3, which have equal weights by default."""
    given = {
        "QueryTensor": np.ones((1, 1, 1), np.float32),
        "KeyTensor": np.zeros((1, 2, 1), np.float32),
        "ValueTensor": np.array([[[1.0], [3.0]]], np.float32),
    }
    arrays_ = {key: value for key, value in changes.items() if isinstance(value, np.ndarray)}
    attributes = {key: value for key, value in changes.items() if key not in arrays_}
    (result,) = run({**given, **arrays_}, (1, 1, 1), heads=1, **attributes).values()
    return result


@pytest.mark.parametrize(("mask", "few"), [([[[[0, 0]]]], True), ([[[[0, 1]]]], False)])
def test_a_fully_masked_row_of_float16_has_few_digits(mask, few):
    """Adding the mask in FLOAT16 loses digits: 1 - 10000 rounds to -10000 (decision H4)."""
    half = {
        "QueryTensor": np.ones((1, 1, 1), np.float16),
        "KeyTensor": np.array([[[0.0], [1.0]]], np.float16),
        "ValueTensor": np.array([[[1.0], [3.0]]], np.float16),
    }
    how = {"MaskType": "BOOLEAN", "MaskTensor": np.array(mask, np.int32), "MaskFilterValue": -10000.0}
    assert (two_keys(**half, **how).error.item() > 0.4) == few


@pytest.mark.parametrize("past", [-1, 2, 2**31 - 1])
def test_invalid_past_lengths_are_unspecified(past):
    given = {
        "QueryTensor": np.ones((2, 1, 1), np.float32),
        "KeyTensor": np.ones((2, 1, 1), np.float32),
        "ValueTensor": np.ones((2, 1, 1), np.float32),
        "PastSequenceLengthsTensor": np.array([1, past], np.int32),
    }
    presents = {"OutputPresentKeyTensor": (2, 1, 2, 1), "OutputPresentValueTensor": (2, 1, 2, 1)}
    for result in run(given, (2, 1, 1), heads=1, groups=1, presents=presents).values():
        assert not result.unspecified[0].any()
        assert result.unspecified[1].all()


@pytest.mark.parametrize(("past", "is_lost"), [(1e5, False), (1e30, True)])
def test_a_masked_score_that_overflows_makes_the_sum_unspecified(past, is_lost):
    """The score is finite in the reference; in FLOAT32 the mask is added to an infinity."""
    given = {
        "QueryTensor": np.full((1, 1, 1), 1e30, np.float32),
        "KeyTensor": np.zeros((1, 1, 1), np.float32),
        "ValueTensor": np.ones((1, 1, 1), np.float32),
        "PastSequenceLengthsTensor": np.array([0], np.int32),
        "OutputPresentKeyTensor": np.full((1, 1, 2, 1), past, np.float32),
        "OutputPresentValueTensor": np.ones((1, 1, 2, 1), np.float32),
    }
    presents = {name: given[name].shape for name in ("OutputPresentKeyTensor", "OutputPresentValueTensor")}
    got = run(given, (1, 1, 1), heads=1, groups=1, presents=presents)["OutputTensor"]
    assert set(got.unspecified.flat) == {is_lost}


@pytest.mark.parametrize("kind", ["KEY_SEQUENCE_LENGTH", "BOOLEAN", None])
@pytest.mark.parametrize("filter_value", [-10000.0, float(np.finfo(np.float32).min), 1e9])
def test_evaluation_in_float32_is_within_the_error(filter_value, kind):
    """With the filter value added after or before the products."""
    random = np.random.default_rng(7)
    batch, heads, queries, keys, size = 2, 3, 4, 9, 16
    q, k, v = (random.standard_normal((batch, heads, n, size)).astype(np.float32) for n in (queries, keys, keys))
    given = {
        name: x.transpose(0, 2, 1, 3).reshape(batch, -1, heads * size)
        for name, x in (("QueryTensor", q), ("KeyTensor", k), ("ValueTensor", v))
    }
    addend = np.zeros((batch, heads, queries, keys), np.float32)
    attributes = {}
    if kind == "BOOLEAN":
        mask = random.integers(0, 2, addend.shape).astype(np.int32)
        mask[0, 0] = 0
        addend = np.where(mask == 0, np.float32(filter_value), addend)
        attributes = {"MaskTensor": mask}
    if kind == "KEY_SEQUENCE_LENGTH":
        attributes = {"MaskTensor": np.array([[3, 0]], np.int32)}
        addend[0, ..., 3:] = np.float32(filter_value)
    got = run(
        {**given, **attributes}, (batch, queries, heads * size), heads=heads,
        Scale=0.25, MaskType=kind or "NONE", MaskFilterValue=filter_value,
    )["OutputTensor"]  # fmt: skip
    for begin in (np.zeros_like(addend), addend):
        scores = begin.copy()
        for i in range(size):
            scores += (q[..., i, None] * np.float32(0.25)) * k[..., None, :, i]
        if begin is not addend:
            scores += addend
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        found = (weights @ v).transpose(0, 2, 1, 3).reshape(got.values.shape)
        assert not disagreements(found, got, DataType.FLOAT32).any()
    if filter_value == -10000.0:
        assert (allowed_error(got, DataType.FLOAT32) < 0.2).all()


def test_boolean_masks_may_contain_other_numbers():
    """``(1 - mask) * MaskFilterValue`` is added (decision H8)."""
    for mask, added in (((2, 0), (-1, 1)), ((1, 1), (0, 0)), ((5, 1), (-4, 0))):
        got = two_keys(MaskType="BOOLEAN", MaskTensor=np.array([[[mask]]], np.int32), MaskFilterValue=2.0)
        by_hand = two_keys(RelativePositionBiasTensor=2 * np.array([[[added]]], np.float32))
        np.testing.assert_allclose(got.values, by_hand.values, rtol=1e-6)
        assert (got.open is not None) == (mask != (1, 1))
