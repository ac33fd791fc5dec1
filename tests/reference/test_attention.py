from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from dml2onnx.ir.graph import Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import allowed_error, disagreements, evaluate, operator_results
from dml2onnx.testing.descriptors import describe, tensor
from tests.reference.attention_cases import CACHE, CASES, PAST, arrays

ROOT = Path(__file__).resolve().parents[2]


def load_script():
    spec = importlib.util.spec_from_file_location("attention_answers", ROOT / "scripts" / "make_attention_answers.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def run(given, shape, *, heads, groups=None, presents=None, **attributes):
    """The results by field; ``presents`` gives the sizes of present tensors."""
    first = next(iter(given.values()))
    outputs = {"OutputTensor": np.zeros(shape, first.dtype)}
    for name, sizes in (presents or {}).items():
        outputs[name] = np.zeros(sizes, first.dtype)
    counts = {"HeadCount": heads} if groups is None else {"QueryHeadCount": heads, "KeyValueHeadCount": groups}
    own = {"Scale": 1.0, "MaskFilterValue": -10000.0, "MaskType": "NONE", **counts, **attributes}
    name = "MULTIHEAD_ATTENTION" if groups is None else "MULTIHEAD_ATTENTION1"
    op = describe(
        name, **{key: array for key, array in given.items() if not key.startswith("Output")}, **outputs, **own
    )
    return {field: result for field, (result,) in operator_results(op, given).items()}


def attended(name):
    """A case of PyTorch's for DirectML."""
    case, given = CASES[name], arrays(name)
    batch, queries, heads, _ = given["query"].shape
    fields = {
        "QueryTensor": given["query"].reshape(batch, queries, -1),
        "KeyTensor": given["key"].reshape(batch, case.keys, -1),
        "ValueTensor": given["value"].reshape(batch, case.keys, -1),
    }
    scale = case.scale if case.scale is not None else 1 / np.sqrt(case.size)
    attributes, presents = {"Scale": scale, "MaskFilterValue": -1e30}, {}
    if case.mask == "boolean":
        fields["MaskTensor"] = given["mask"].astype(np.int32)
        attributes["MaskType"] = "BOOLEAN"
    if case.mask == "float":
        fields["RelativePositionBiasTensor"] = given["mask"]
    if case.mask == "causal":
        lower = np.tril(np.ones((queries, case.keys), np.int32))
        fields["MaskTensor"] = np.broadcast_to(lower, (batch, heads, queries, case.keys)).copy()
        attributes["MaskType"] = "BOOLEAN"
    if case.mask == "cache":
        fields["PastSequenceLengthsTensor"] = np.array(PAST, np.int32)
        fields["OutputPresentKeyTensor"], fields["OutputPresentValueTensor"] = given["past_key"], given["past_value"]
        presents = {name: fields[name].shape for name in ("OutputPresentKeyTensor", "OutputPresentValueTensor")}
    shape = (batch, queries, heads * case.value_size)
    grouped = case.groups != case.heads
    return run(fields, shape, heads=heads, groups=case.groups if grouped else None, presents=presents, **attributes)


class TestIsPyTorch:
    SCRIPT = load_script()

    def test_the_answers_are_those_of_the_cases(self):
        answers, made_for = self.SCRIPT.kept_answers()
        assert made_for == self.SCRIPT.digest(), "run python scripts/make_attention_answers.py (needs PyTorch)"
        assert answers.keys() == CASES.keys()

    @pytest.mark.parametrize("name", CASES)
    def test_case(self, name):
        answers, _ = self.SCRIPT.kept_answers()
        got = attended(name)["OutputTensor"]
        want = answers[name].reshape(got.values.shape)
        np.testing.assert_allclose(got.values, want, rtol=2**-22, atol=2**-24)
        assert not got.unspecified.any()
        assert (got.error < 1e-3).all()

    def test_a_cache_takes_the_new_keys(self):
        given, got = arrays("grouped cache"), attended("grouped cache")["OutputPresentKeyTensor"]
        new = given["key"].transpose(0, 2, 1, 3)
        for item, past in enumerate(PAST):
            want = given["past_key"][item].copy()
            want[:, past : past + new.shape[2]] = new[item]
            np.testing.assert_array_equal(got.values[item], want)
        assert got.error is None
        assert got.values.shape[2] == CACHE


class TestIsOnnx:
    """ONNX's own reference of Attention, which has the past, presents and masks of 4 dimensions."""

    @pytest.mark.parametrize("position", [False, True])
    def test_past_and_present(self, position):
        random = np.random.default_rng(3)
        sizes = {
            "QueryTensor": (2, 3, 16),
            "KeyTensor": (2, 4, 16),
            "ValueTensor": (2, 4, 6),
            "RelativePositionBiasTensor": (2, 2, 3, 9),
            "PastKeyTensor": (2, 2, 5, 8),
            "PastValueTensor": (2, 2, 5, 3),
        }
        given = {name: random.standard_normal(shape).astype(np.float32) for name, shape in sizes.items()}
        if not position:
            del given["RelativePositionBiasTensor"]
        presents = {"OutputPresentKeyTensor": (2, 2, 9, 8), "OutputPresentValueTensor": (2, 2, 9, 3)}
        got = run(given, (2, 3, 6), heads=2, presents=presents, Scale=0.25)
        names = [name if name in given else "" for name in sizes]
        node = onnx.helper.make_node("Attention", names, list(got), q_num_heads=2, kv_num_heads=2, scale=0.25)
        # FLOAT64, which its schema does not have, as its masks are of another type then
        results = ReferenceEvaluator(node).run(None, given)
        for (field, result), want in zip(got.items(), results, strict=True):
            np.testing.assert_allclose(result.values, want, rtol=2**-18, atol=2**-20, err_msg=field)


def two_keys(**changes):
    """One head and one query, whose softmax has to choose between values 1 and 3: by default each has half a weight."""
    given = {
        "QueryTensor": np.ones((1, 1, 1), np.float32),
        "KeyTensor": np.zeros((1, 2, 1), np.float32),
        "ValueTensor": np.array([[[1.0], [3.0]]], np.float32),
    }
    arrays_ = {key: value for key, value in changes.items() if isinstance(value, np.ndarray)}
    attributes = {key: value for key, value in changes.items() if key not in arrays_}
    (result,) = run({**given, **arrays_}, (1, 1, 1), heads=1, **attributes).values()
    return result


class TestByHand:
    def test_equal_scores(self):
        assert two_keys().values.item() == 2

    @pytest.mark.parametrize(
        ("kind", "mask", "want"),
        [
            ("KEY_SEQUENCE_LENGTH", [[1]], 1),
            ("KEY_SEQUENCE_LENGTH", [[2]], 2),
            ("KEY_SEQUENCE_LENGTH", [[9]], 2),
            ("KEY_SEQUENCE_LENGTH", [[0]], 2),
            ("KEY_SEQUENCE_LENGTH", [[-3]], 2),
            ("KEY_SEQUENCE_END_START", [[2], [1]], 3),
            ("KEY_SEQUENCE_END_START", [[1], [-4]], 1),
            ("KEY_SEQUENCE_END_START", [[1], [1]], 2),
            ("KEY_QUERY_SEQUENCE_LENGTH_START_END", [1, 0, 1, 0, 1], 1),
            ("KEY_QUERY_SEQUENCE_LENGTH_START_END", [1, 0, 1, 1, 2], 3),
            ("KEY_QUERY_SEQUENCE_LENGTH_START_END", [1, 0, 0, 0, 1], 2),
            ("BOOLEAN", [[[[0, 1]]]], 3),
            ("BOOLEAN", [[[[1, 0]]]], 1),
            ("BOOLEAN", [[[[0, 0]]]], 2),
            ("NONE", [[[[0, 1]]]], 2),
        ],
    )
    def test_masks(self, kind, mask, want):
        """A mask that keeps nothing adds the same to all scores [decision H3]."""
        assert two_keys(MaskType=kind, MaskTensor=np.array(mask, np.int32)).values.item() == want

    def test_the_filter_value_is_added(self):
        got = two_keys(MaskType="BOOLEAN", MaskTensor=np.array([[[[1, 0]]]], np.int32), MaskFilterValue=np.log(3.0))
        np.testing.assert_allclose(got.values.item(), 1 * 0.25 + 3 * 0.75, rtol=1e-6)

    def test_a_filter_value_beyond_halves_is_the_lowest_of_them(self):
        mask = {"MaskType": "BOOLEAN", "MaskTensor": np.array([[[[0, 1]]]], np.int32)}
        half = {
            "QueryTensor": np.ones((1, 1, 1), np.float16),
            "KeyTensor": np.array([[[60000.0], [-60000.0]]], np.float16),
            "ValueTensor": np.array([[[1.0], [3.0]]], np.float16),
        }
        # a difference of 120000 against 65504
        assert two_keys(**half, **mask, MaskFilterValue=-1e9).values.item() == 1

    @pytest.mark.parametrize(("mask", "few"), [([[[[0, 0]]]], True), ([[[[0, 1]]]], False)])
    def test_a_row_of_halves_that_is_masked_throughout_has_few_digits(self, mask, few):
        """Graphs add the mask to scores of FLOAT16, which has no 1 beside -10000 [decision H4]."""
        half = {
            "QueryTensor": np.ones((1, 1, 1), np.float16),
            "KeyTensor": np.array([[[0.0], [1.0]]], np.float16),
            "ValueTensor": np.array([[[1.0], [3.0]]], np.float16),
        }
        how = {"MaskType": "BOOLEAN", "MaskTensor": np.array(mask, np.int32), "MaskFilterValue": -10000.0}
        assert (two_keys(**half, **how).error.item() > 0.4) == few

    def test_the_position_bias_is_not_scaled(self):
        position = np.array([[[[0.0, np.log(3.0)]]]], np.float32)
        got = two_keys(RelativePositionBiasTensor=position, Scale=0.125)
        np.testing.assert_allclose(got.values.item(), 2.5, rtol=1e-6)

    @pytest.mark.parametrize(
        ("kind", "mask", "value", "want"),
        [
            ("KEY_SEQUENCE_LENGTH", [[1]], 0.0, 2.0),
            ("KEY_SEQUENCE_END_START", [[1], [0]], 0.0, 2.0),
            ("KEY_SEQUENCE_END_START", [[5], [4]], 0.0, 2.0),
            ("KEY_SEQUENCE_LENGTH", [[0]], float(np.finfo(np.float32).min), 2.5),
            ("KEY_SEQUENCE_END_START", [[1], [1]], float(np.finfo(np.float32).min), 2.5),
            ("KEY_QUERY_SEQUENCE_LENGTH_START_END", [1, 0, 1, 0, 1], 0.0, 2.5),
        ],
    )
    def test_a_key_masked_by_lengths_has_no_position_bias(self, kind, mask, value, want):
        """An empty range masks nothing [decisions H3, H5 and H6]."""
        position = np.array([[[[0.0, np.log(3.0)]]]], np.float32)
        how = {"MaskType": kind, "MaskTensor": np.array(mask, np.int32), "MaskFilterValue": value}
        got = two_keys(RelativePositionBiasTensor=position, **how)
        np.testing.assert_allclose(got.values.item(), want, rtol=1e-6)

    def test_biases_lie_one_after_the_other(self):
        # the query becomes 2; both keys move by 5, which changes no weight; values move by 100
        got = two_keys(BiasTensor=np.array([1.0, 5.0, 100.0], np.float32))
        assert got.values.item() == 102

    def test_heads_of_a_group_are_neighbours(self):
        given = {
            "QueryTensor": np.ones((1, 1, 4), np.float32),
            "KeyTensor": np.ones((1, 1, 2), np.float32),
            "ValueTensor": np.array([[[7.0, 9.0]]], np.float32),
        }
        got = run(given, (1, 1, 4), heads=4, groups=2)["OutputTensor"]
        np.testing.assert_array_equal(got.values, [[[7, 7, 9, 9]]])

    @pytest.mark.parametrize("past", [-1, 2, 2**31 - 1])
    def test_lengths_that_do_not_fit_are_unspecified(self, past):
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
    def test_a_score_beyond_float32_that_is_not_attended_to_leaves_the_sum_open(self, past, is_lost):
        """It is finite in the reference; where it is computed in FLOAT32, what hides it meets an infinity."""
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
        assert got.unspecified.all() == is_lost
        assert got.unspecified.any() == is_lost


STACKS = {
    "StackedQueryKeyTensor": ("QueryTensor", "KeyTensor"),
    "StackedKeyValueTensor": ("KeyTensor", "ValueTensor"),
    "StackedQueryKeyValueTensor": ("QueryTensor", "KeyTensor", "ValueTensor"),
}


@pytest.mark.parametrize("stack", STACKS)
def test_a_stack_is_its_parts(stack):
    random = np.random.default_rng(5)
    names = ("QueryTensor", "KeyTensor", "ValueTensor")
    parts = {name: random.standard_normal((2, 3, 4, 5)).astype(np.float32) for name in names}
    stacked = np.stack([parts[name] for name in STACKS[stack]], 3)
    bias = random.standard_normal(60).astype(np.float32)
    flat = {name: array.reshape(2, 3, 20) for name, array in parts.items()}
    others = {name: array for name, array in flat.items() if name not in STACKS[stack]}
    want = run({**flat, "BiasTensor": bias}, (2, 3, 20), heads=4)["OutputTensor"]
    got = run({stack: stacked, **others, "BiasTensor": bias}, (2, 3, 20), heads=4)["OutputTensor"]
    np.testing.assert_array_equal(got.values, want.values)


@pytest.mark.parametrize("kind", ["KEY_SEQUENCE_LENGTH", "BOOLEAN", None])
@pytest.mark.parametrize("filter_value", [-10000.0, float(np.finfo(np.float32).min), 1e9])
def test_evaluation_in_float32_is_within_the_error(filter_value, kind):
    """In another order of the sums as well, and with the filter value added first."""
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


def test_a_graph_updates_a_cache_in_place():
    """Two tokens one after the other: what the first leaves in its buffer the second begins with."""
    token, cache = np.zeros((1, 1, 2), np.float32), np.zeros((1, 1, 3, 2), np.float32)
    fields = dict.fromkeys(("QueryTensor", "KeyTensor", "ValueTensor", "OutputTensor"), token)
    lengths = np.zeros(1, np.int32)
    op = describe(
        "MULTIHEAD_ATTENTION1", **fields, PastSequenceLengthsTensor=lengths, OutputPresentKeyTensor=cache,
        OutputPresentValueTensor=cache, Scale=0.0, MaskFilterValue=0.0, QueryHeadCount=1, KeyValueHeadCount=1,
        MaskType="NONE",
    )  # fmt: skip
    keys, values, nodes = [Value("keys", 24)], [Value("values", 24)], []
    inputs = [GraphInput("keys", keys[0], desc=tensor(cache)), GraphInput("values", values[0], desc=tensor(cache))]
    for step in range(2):
        x, past, y = Value(f"x{step}", 8), Value(f"past{step}", 4), Value(f"y{step}", 8)
        keys.append(Value(f"keys{step}", 24))
        values.append(Value(f"values{step}", 24))
        inputs += [GraphInput(x.name, x, desc=tensor(token)), GraphInput(past.name, past, desc=tensor(lengths))]
        reads = {name: (Read(x),) for name in ("QueryTensor", "KeyTensor", "ValueTensor")}
        writes = {
            "OutputTensor": (Write(y),),
            "OutputPresentKeyTensor": (Write(keys[-1], base=keys[-2]),),
            "OutputPresentValueTensor": (Write(values[-1], base=values[-2]),),
        }
        nodes.append(Node(f"step{step}", op, {**reads, "PastSequenceLengthsTensor": (Read(past),)}, writes))
    outputs = (GraphOutput("y", y, tensor(token)), GraphOutput("cache", values[-1], tensor(cache)))
    given = {
        "keys": cache,
        "values": np.array([[[[3, 6], [0, 0], [0, 0]]]], np.float32),
        "x0": np.array([[[6, 0]]], np.float32),
        "x1": np.array([[[9, 9]]], np.float32),
        "past0": np.array([1], np.int32),
        "past1": np.array([2], np.int32),
    }
    got: dict[str, Any] = evaluate(Graph(tuple(nodes), tuple(inputs), outputs), given)
    np.testing.assert_array_equal(got["cache"], [[[[3, 6], [6, 0], [9, 9]]]])
    np.testing.assert_allclose(got["y"], [[[6, 5]]])


def test_numbers_of_a_boolean_mask_count():
    """``(1 - mask) * MaskFilterValue`` is added (decision H8)."""
    for mask, added in (((2, 0), (-1, 1)), ((1, 1), (0, 0)), ((5, 1), (-4, 0))):
        got = two_keys(MaskType="BOOLEAN", MaskTensor=np.array([[[mask]]], np.int32), MaskFilterValue=2.0)
        by_hand = two_keys(RelativePositionBiasTensor=2 * np.array([[[added]]], np.float32))
        np.testing.assert_allclose(got.values, by_hand.values, rtol=1e-6)
        assert (got.open is not None) == (mask != (1, 1))
