"""MULTIHEAD_ATTENTION and MULTIHEAD_ATTENTION1 compiled, run, and compared with the reference."""

from itertools import product

import numpy as np
import pytest

from dml2onnx.checks import check as findings_of
from dml2onnx.compiler import compile_outputs
from dml2onnx.ir.graph import Graph, GraphInput, GraphOutput, Node, Value, Write
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.reference import evaluate
from dml2onnx.testing.trial import feeds_of
from tests.lowering.harness import check_case, make_case, operator, operators, t, type_cases

NAMES = ("MULTIHEAD_ATTENTION", "MULTIHEAD_ATTENTION1")
SOURCES = ("separate", "query and key", "key and value", "all")
MASKS = ("KEY_SEQUENCE_LENGTH", "KEY_SEQUENCE_END_START", "KEY_QUERY_SEQUENCE_LENGTH_START_END", "BOOLEAN")
OPTIONAL = ("bias", "position", "past", "present key", "present value")
PRESENT = ("OutputPresentKeyTensor", "OutputPresentValueTensor")


def leading(shape, rank):
    """Leading ones up to a rank."""
    return (1,) * max(0, rank - len(shape)) + shape


def attention(
    name="MULTIHEAD_ATTENTION",
    source="separate",
    *,
    batch=2,
    queries=3,
    keys=4,
    heads=4,
    groups=None,
    size=8,
    value_size=6,
    past=5,
    cache=None,
    given=(),
    mask=None,
    rank=None,
    data_type="FLOAT32",
    layouts=None,
    **attributes,
):
    """A descriptor; ``given`` are names of ``OPTIONAL``, ``cache`` the length of present tensors with past lengths.

    ``rank`` adds leading ones to tensors that have fewer dimensions.
    """
    groups = heads if name == "MULTIHEAD_ATTENTION" or source in {"query and key", "all"} else groups or 2
    if source in {"query and key", "all"}:
        keys = queries
    if source in {"key and value", "all"}:
        value_size = size
    past = past if "past" in given else 0
    total = cache or past + keys
    stacks = {"query and key": 2, "key and value": 2, "all": 3}
    sizes = {
        "QueryTensor": (batch, queries, heads * size) if source in {"separate", "key and value"} else None,
        "KeyTensor": (batch, keys, groups * size) if source == "separate" else None,
        "ValueTensor": (batch, keys, groups * value_size) if source in {"separate", "query and key"} else None,
        "StackedQueryKeyTensor": (batch, queries, heads, 2, size) if source == "query and key" else None,
        "StackedKeyValueTensor": (batch, keys, groups, 2, size) if source == "key and value" else None,
        "StackedQueryKeyValueTensor": (batch, queries, heads, stacks["all"], size) if source == "all" else None,
        "BiasTensor": (heads * size + groups * (size + value_size),) if "bias" in given else None,
        "RelativePositionBiasTensor": (batch, heads, queries, total) if "position" in given else None,
        "PastKeyTensor": (batch, groups, past, size) if past else None,
        "PastValueTensor": (batch, groups, past, value_size) if past else None,
        "OutputTensor": (batch, queries, heads * value_size),
        "OutputPresentKeyTensor": (batch, groups, total, size) if cache or "present key" in given else None,
        "OutputPresentValueTensor": (batch, groups, total, value_size) if cache or "present value" in given else None,
        "MaskTensor": {
            "KEY_SEQUENCE_LENGTH": (1, batch),
            "KEY_SEQUENCE_END_START": (2, batch),
            "KEY_QUERY_SEQUENCE_LENGTH_START_END": (3 * batch + 2,),
            "BOOLEAN": (batch, heads, queries, total),
        }.get(mask),
        "PastSequenceLengthsTensor": (batch,) if cache or "lengths" in given else None,
    }
    integers = {"MaskTensor", "PastSequenceLengthsTensor"}
    tensors = {
        field: t("INT32" if field in integers else data_type, leading(shape, rank or 0), (layouts or {}).get(field))
        for field, shape in sizes.items()
        if shape is not None
    }
    counts = {"QueryHeadCount": heads, "KeyValueHeadCount": groups} if name in NAMES[1:] else {"HeadCount": heads}
    own = {"Scale": 0.3, "MaskFilterValue": -10000.0, "MaskType": mask or "NONE", **counts, **attributes}
    return operator(name, **tensors, **own)


def contents(op, seed=0, scale=1.0):
    """Ordinary numbers, masks that keep something and some that do not, and lengths that fit."""
    random = np.random.default_rng(seed)
    values = {}
    for field in (*op.schema.input_fields, *op.schema.output_fields):
        if not op.has(field.name) or (field in op.schema.output_fields and not op.updates(field.name)):
            continue
        desc = op.tensor(field.name)
        values[field.name] = random.normal(0, scale, desc.sizes).astype(desc.data_type.dtype)
        if field.name == "MaskTensor":
            total = keys_of(op)
            low, high = (-1, 3) if op.enum("MaskType") == "BOOLEAN" else (-2, total + 3)
            values[field.name] = random.integers(low, high, desc.sizes).astype(np.int32)
        if field.name == "PastSequenceLengthsTensor":
            values[field.name] = random.integers(0, past_length(op) + 1, desc.sizes).astype(np.int32)
    for name, desc in ((name, op.tensor(name)) for name in values if not op.tensor(name).is_packed):
        # where elements share memory they have one value
        values[name] = values[name][tuple(slice(None) if s else slice(1) for s in desc.effective_strides)]
        values[name] = np.broadcast_to(values[name], desc.sizes)
    return values


def new_keys(op):
    """How many keys there are besides the past."""
    for name in ("KeyTensor", "StackedQueryKeyTensor", "StackedKeyValueTensor", "StackedQueryKeyValueTensor"):
        if op.has(name):
            return op.tensor(name).sizes[-2 if name == "KeyTensor" else -4]
    raise AssertionError


def keys_of(op):
    """How many keys the queries see."""
    if op.has("PastSequenceLengthsTensor") and op.has(PRESENT[0]):
        return op.tensor(PRESENT[0]).sizes[-2]
    return new_keys(op) + (op.tensor("PastKeyTensor").sizes[-2] if op.has("PastKeyTensor") else 0)


def past_length(op):
    """The largest past length behind which the new keys fit."""
    return keys_of(op) - new_keys(op)


def check(op, *, constants=(), seed=0, inputs=None, **options):
    """Compiles, runs and compares."""
    present = [name for name in constants if op.schema.field(name) is not None and op.has(name)]
    return check_case(op, inputs={**contents(op, seed), **(inputs or {})}, constants=present, **options)


def kernels(model):
    """The operators that compute."""
    return [item for item in operators(model) if item not in {"Reshape", "Transpose"}]


SUPPORT = [(name, *case.values) for name in NAMES for case in type_cases(name)]


@pytest.mark.parametrize("opset", [17, 23])
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("name", "data_type", "rank"), SUPPORT)
def test_every_data_type_and_rank(name, data_type, rank, source, opset):
    for given_, mask in ((OPTIONAL, "BOOLEAN"), ((), None), (("bias", "present key"), "KEY_SEQUENCE_LENGTH")):
        op = attention(name, source, given=given_, mask=mask, rank=rank, data_type=data_type)
        check(op, opset=opset)


class TestOptionalTensors:
    @pytest.mark.parametrize("opset", [21, 23])
    @pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
    @pytest.mark.parametrize("name", NAMES)
    def test_every_choice(self, name, data_type, opset):
        for flags in product([False, True], repeat=len(OPTIONAL)):
            chosen = [item for item, flag in zip(OPTIONAL, flags, strict=True) if flag]
            model = check(attention(name, given=chosen, data_type=data_type), opset=opset)
            assert len(model.model_proto.graph.output) == 1 + flags[3] + flags[4]


class TestMasks:
    @pytest.mark.parametrize("opset", [21, 23])
    @pytest.mark.parametrize("constants", [(), ("MaskTensor",)])
    @pytest.mark.parametrize("rank", [None, 5])
    @pytest.mark.parametrize("mask", MASKS)
    @pytest.mark.parametrize("name", NAMES)
    def test_each_type(self, name, mask, rank, constants, opset):
        for given_ in ((), ("past", "position")):
            op = attention(name, mask=mask, rank=rank, given=given_)
            check(op, constants=constants, seed=len(given_), opset=opset)

    @pytest.mark.parametrize("opset", [21, 23])
    @pytest.mark.parametrize("strides", [(12, 0, 4, 1), (0, 0, 4, 1), (4, 0, 0, 1), (0, 12, 4, 1), (0, 0, 0, 0)])
    @pytest.mark.parametrize("name", NAMES)
    def test_broadcast_by_strides(self, name, strides, opset):
        for mask, field in (("BOOLEAN", "MaskTensor"), (None, "RelativePositionBiasTensor")):
            op = attention(name, mask=mask, given=() if mask else ("position",), layouts={field: strides})
            check(op, opset=opset)

    @pytest.mark.parametrize("opset", [21, 23])
    @pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
    @pytest.mark.parametrize("value", [-10000.0, 0.0, 2.5, -3e4, -1e9, -3.4028234663852886e38, 1e9])
    def test_filter_values(self, value, data_type, opset):
        for mask in ("BOOLEAN", "KEY_SEQUENCE_END_START"):
            check(attention(mask=mask, data_type=data_type, MaskFilterValue=value), opset=opset)

    @pytest.mark.parametrize("opset", [21, 23])
    @pytest.mark.parametrize("value", [-10.0, -10000.0, -3.4028234663852886e38])
    def test_rows_without_a_key(self, value, opset):
        """They keep the softmax of their raw scores."""
        op = attention(mask="BOOLEAN", MaskFilterValue=value)
        for exact in (True, False):
            inputs = {"MaskTensor": np.zeros(op.tensor("MaskTensor").sizes, np.int32)}
            check(op, inputs=inputs, opset=opset, exact=exact)

    def test_a_constant_mask_that_keeps_all_is_left_out(self):
        op = attention(mask="KEY_SEQUENCE_LENGTH")
        model = check(op, inputs={"MaskTensor": np.array([[4, 9]], np.int32)}, constants=["MaskTensor"])
        assert "Add" not in operators(model)

    def test_a_mask_without_a_type_is_none(self):
        op = attention(mask="BOOLEAN", MaskType="NONE")
        assert "Add" not in operators(check(op))


class TestForm:
    def test_products_and_a_softmax(self):
        model = check(attention())
        assert kernels(model) == ["MatMul", "Mul", "Softmax", "MatMul"]
        assert operators(model).count("Transpose") == 4

    def test_one_token_needs_no_transposition_but_that_of_the_joined_keys(self):
        op = attention(queries=1, keys=1, given=("past", "present key", "present value"))
        model = check(op)
        assert kernels(model) == ["Concat", "Concat", "MatMul", "Mul", "Softmax", "MatMul"]
        assert operators(model).count("Transpose") == 1

    def test_constant_keys_and_values_are_laid_out_when_compiling(self):
        model = check(attention(given=("bias",)), constants=["KeyTensor", "ValueTensor", "BiasTensor"])
        assert kernels(model) == ["Add", "MatMul", "Mul", "Softmax", "MatMul"]
        assert operators(model).count("Transpose") == 2

    def test_a_scale_of_1_is_left_out(self):
        assert kernels(check(attention(Scale=1.0))) == ["MatMul", "Softmax", "MatMul"]

    def test_what_shares_a_head_is_one_matrix(self):
        model = check(attention("MULTIHEAD_ATTENTION1", heads=6, groups=2))
        assert kernels(model) == ["MatMul", "Mul", "Softmax", "MatMul"]

    def test_halves_are_joined_as_such(self):
        op = attention(data_type="FLOAT16", given=("past", "present key", "present value"))
        model = check(op)
        joins = [item for item in model.model_proto.graph.node if item.op_type == "Concat"]
        assert {item.output[0] for item in joins} == set(PRESENT)

    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.parametrize("given_", [(), ("past", "present key", "present value"), ("present value",), ("bias",)])
    def test_attention_from_opset_23_on(self, name, given_):
        found = kernels(check(attention(name, given=given_), opset=23))
        assert [item for item in found if item not in {"Split", "Add"}] == ["Attention"]

    def test_attention_with_a_mask(self):
        found = kernels(check(attention(mask="KEY_SEQUENCE_LENGTH"), opset=23, exact=False))
        assert found == ["Less", "LessOrEqual", "Or", "Where", "Expand", "Attention"]

    @pytest.mark.parametrize(
        ("op", "reason"),
        [
            (attention(Scale=0.0), "Attention needs a positive Scale: MatMul and Softmax replace it"),
            (attention(Scale=-0.5), "Attention needs a positive Scale: MatMul and Softmax replace it"),
            (
                attention("MULTIHEAD_ATTENTION1", mask="BOOLEAN"),
                "Attention with grouped heads has one mask for all heads: MatMul and Softmax replace it",
            ),
            (
                attention(given=("position",)),
                "Attention may take the addend of the scores for a mask: MatMul and Softmax replace it",
            ),
            (
                attention(mask="KEY_SEQUENCE_LENGTH"),
                "Attention may take the addend of the scores for a mask: MatMul and Softmax replace it",
            ),
        ],
    )
    def test_where_attention_is_something_else(self, op, reason):
        model = check(op, opset=23)
        assert "Attention" not in operators(model)
        assert reason in model.lowered.traces[0].notes

    @pytest.mark.parametrize("source", ["separate", "key and value"])
    def test_halves_of_heads_that_share_keys(self, source):
        """ONNX Runtime 1.24 reads beyond them."""
        op = attention("MULTIHEAD_ATTENTION1", source, data_type="FLOAT16")
        assert "Attention" not in operators(check(op, opset=23, exact=False))
        past = attention("MULTIHEAD_ATTENTION1", source, data_type="FLOAT16", given=("past",))
        assert "Attention" in operators(check(past, opset=23, exact=False))

    def test_a_constant_position_bias_is_no_mask(self):
        op = attention(given=("position",))
        assert "Attention" in operators(check(op, opset=23, constants=["RelativePositionBiasTensor"]))
        grouped = attention("MULTIHEAD_ATTENTION1", given=("position",))
        assert "Attention" not in operators(check(grouped, opset=23, constants=["RelativePositionBiasTensor"]))
        lowest = np.full(op.tensor("RelativePositionBiasTensor").sizes, np.finfo(np.float32).min)
        model = check(
            op, opset=23, inputs={"RelativePositionBiasTensor": lowest}, constants=["RelativePositionBiasTensor"]
        )
        assert "Attention" not in operators(model)

    def test_directml_computes_in_halves(self):
        graph = make_case(attention(data_type="FLOAT16", given=OPTIONAL)).graph
        assert "Cast" not in operators(compile_outputs(graph, graph.outputs, target="dml", opset=21))


class TestLengths:
    """PastSequenceLengthsTensor: what present tensors hold is the past."""

    @pytest.mark.parametrize("opset", [17, 23])
    @pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
    @pytest.mark.parametrize("queries", [1, 3])
    def test_present_tensors_hold_the_past(self, queries, data_type, opset):
        for seed, extra in enumerate(((), ("bias",))):
            sizes = {"queries": queries, "keys": queries, "cache": 9}
            op = attention("MULTIHEAD_ATTENTION1", **sizes, given=extra, data_type=data_type)
            check(op, seed=seed, opset=opset)

    def test_nobody_can_tell_what_they_hold(self):
        op = attention("MULTIHEAD_ATTENTION1", keys=3, cache=9)
        given_ = {name: value for name, value in contents(op).items() if name not in PRESENT}
        check_case(op, inputs=given_)

    def test_the_new_keys_fill_the_cache(self):
        check(attention("MULTIHEAD_ATTENTION1", keys=3, cache=3))

    def test_a_length_that_does_not_fit_is_no_crash(self):
        op = attention("MULTIHEAD_ATTENTION1", keys=3, cache=9, batch=4)
        for lengths in ([6, 7, 100, -1], [-(2**31), 2**31 - 1, 0, 6]):
            check(op, inputs={"PastSequenceLengthsTensor": np.array(lengths, np.int32)})

    def test_constant_lengths(self):
        check(attention("MULTIHEAD_ATTENTION1", keys=3, cache=9), constants=["PastSequenceLengthsTensor"])

    @pytest.mark.parametrize("source", SOURCES)
    def test_stacks(self, source):
        check(attention("MULTIHEAD_ATTENTION1", source, keys=3, cache=9, given=("bias",)))

    def test_a_cache_is_an_input_in_its_own_shape(self):
        model = check(attention("MULTIHEAD_ATTENTION1", keys=3, cache=9))
        shapes = {port.name: port.shape for port in model.inputs}
        assert shapes["OutputPresentKeyTensor before"] == (2, 2, 9, 8)

    def test_a_token_is_scattered_into_the_cache(self):
        model = check(attention("MULTIHEAD_ATTENTION1", queries=1, keys=1, cache=9))
        assert operators(model).count("ScatterND") == 2
        assert operators(model).count("Transpose") == 1


class TestLayouts:
    def test_a_stack_in_another_order_in_memory(self):
        """(batch, length, 3, heads, size), as PyTorch's packed projections lie."""
        op = attention(source="all", layouts={"StackedQueryKeyValueTensor": (288, 96, 8, 32, 1)})
        check(op)

    @pytest.mark.parametrize("opset", [21, 23])
    @pytest.mark.parametrize(
        "sizes",
        [
            {"batch": 1, "queries": 1, "keys": 1, "heads": 1, "size": 1, "value_size": 1},
            {"batch": 1, "queries": 70, "keys": 33, "heads": 2, "size": 65, "value_size": 17},
            {"batch": 5, "queries": 1, "keys": 40, "heads": 8, "size": 16, "value_size": 1},
        ],
    )
    def test_sizes(self, sizes, opset):
        for name in NAMES:
            check(attention(name, groups=1, given=("past",), **sizes), opset=opset)


@pytest.mark.parametrize("opset", [21, 23])
@pytest.mark.parametrize("scale", [0.0, 0.3, -0.3, 1e30])
@pytest.mark.parametrize("name", NAMES)
def test_extreme_values(name, scale, opset):
    for seed in range(4):
        op = attention(name, given=("bias", "position", "past") if seed % 2 else (), mask="BOOLEAN", Scale=scale)
        check_case(op, extremes=True, seed=seed, opset=opset)


def test_a_cache_behind_another_output_of_its_node():
    """The value that it is made from is made by the same node; what it updates is what is there before that."""
    op = attention("MULTIHEAD_ATTENTION1", keys=3, cache=9)
    given = make_case(op, inputs=contents(op)).graph
    (only,) = given.nodes
    first, cache = (op.tensor(field).total_bytes for field in ("OutputTensor", "OutputPresentValueTensor"))
    memory, half, whole = (Value(name, first + cache) for name in ("memory", "half", "whole"))
    writes = {**only.writes, "OutputTensor": (Write(half, 0, memory),)}
    writes["OutputPresentValueTensor"] = (Write(whole, first, half),)
    seen = TensorDesc(DataType.UINT8, (first + cache,))
    graph = Graph(
        (Node(only.name, op, only.reads, writes),),
        (*given.inputs, GraphInput("memory", memory, None, seen)),
        (GraphOutput("whole", whole, seen),),
    )
    assert {item.code for item in findings_of(graph)} == {"DML1220"}  # its own cache is read by nobody
    compiled = compile_outputs(graph, graph.outputs)
    feeds = feeds_of(compiled, 0)
    feeds["PastSequenceLengthsTensor"] = np.zeros_like(feeds["PastSequenceLengthsTensor"])
    feeds["memory"] = np.random.default_rng(0).normal(size=(first + cache) // 4).astype(np.float32).view(np.uint8)
    got, want = compiled.run(feeds)["whole"], evaluate(graph, feeds)["whole"]
    # past the keys the cache is what it was, bit for bit
    np.testing.assert_array_equal(got[-4:], feeds["memory"][-4:])
    np.testing.assert_allclose(got.view(np.float32), want.view(np.float32), rtol=1e-5, atol=1e-6)
