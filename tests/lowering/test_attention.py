"""MULTIHEAD_ATTENTION and MULTIHEAD_ATTENTION1 against the reference."""

from itertools import product

import numpy as np
import pytest

from dml2onnx.checks import check as findings_of
from dml2onnx.compiler import compile_outputs
from dml2onnx.ir.graph import Graph, GraphInput, GraphOutput, Node, Value, Write
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.reference import evaluate
from dml2onnx.test_cases.trial import feeds_of
from tests.lowering.harness import check_case, make_case, operator, operators, t, type_cases

NAMES = ("MULTIHEAD_ATTENTION", "MULTIHEAD_ATTENTION1")
SOURCES = ("separate", "query and key", "key and value", "all")
MASKS = ("KEY_SEQUENCE_LENGTH", "KEY_SEQUENCE_END_START", "KEY_QUERY_SEQUENCE_LENGTH_START_END", "BOOLEAN")
OPTIONAL = ("bias", "position", "past", "present key", "present value")
PRESENT = ("OutputPresentKeyTensor", "OutputPresentValueTensor")


def leading(shape, rank):
    """Adds leading dimensions of size 1 up to a rank."""
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
    present=(),
    mask=None,
    rank=None,
    data_type="FLOAT32",
    layouts=None,
    **attributes,
):
    """A descriptor; ``present`` has names of ``OPTIONAL``, ``cache`` is the size of present tensors with past lengths.

    ``rank`` is the least number of dimensions of tensors.
    """
    groups = heads if name == "MULTIHEAD_ATTENTION" or source in {"query and key", "all"} else groups or 2
    if source in {"query and key", "all"}:
        keys = queries
    if source in {"key and value", "all"}:
        value_size = size
    past = past if "past" in present else 0
    total = cache or past + keys
    stacks = {"query and key": 2, "key and value": 2, "all": 3}
    sizes = {
        "QueryTensor": (batch, queries, heads * size) if source in {"separate", "key and value"} else None,
        "KeyTensor": (batch, keys, groups * size) if source == "separate" else None,
        "ValueTensor": (batch, keys, groups * value_size) if source in {"separate", "query and key"} else None,
        "StackedQueryKeyTensor": (batch, queries, heads, 2, size) if source == "query and key" else None,
        "StackedKeyValueTensor": (batch, keys, groups, 2, size) if source == "key and value" else None,
        "StackedQueryKeyValueTensor": (batch, queries, heads, stacks["all"], size) if source == "all" else None,
        "BiasTensor": (heads * size + groups * (size + value_size),) if "bias" in present else None,
        "RelativePositionBiasTensor": (batch, heads, queries, total) if "position" in present else None,
        "PastKeyTensor": (batch, groups, past, size) if past else None,
        "PastValueTensor": (batch, groups, past, value_size) if past else None,
        "OutputTensor": (batch, queries, heads * value_size),
        "OutputPresentKeyTensor": (batch, groups, total, size) if cache or "present key" in present else None,
        "OutputPresentValueTensor": (batch, groups, total, value_size) if cache or "present value" in present else None,
        "MaskTensor": {
            "KEY_SEQUENCE_LENGTH": (1, batch),
            "KEY_SEQUENCE_END_START": (2, batch),
            "KEY_QUERY_SEQUENCE_LENGTH_START_END": (3 * batch + 2,),
            "BOOLEAN": (batch, heads, queries, total),
        }.get(mask),
        "PastSequenceLengthsTensor": (batch,) if cache or "lengths" in present else None,
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
    """Random contents with masks and lengths in range; some masks drop all keys."""
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
        # elements that share memory have one value
        values[name] = values[name][tuple(slice(None) if s else slice(1) for s in desc.effective_strides)]
        values[name] = np.broadcast_to(values[name], desc.sizes)
    return values


def new_keys(op):
    """The number of keys that are not from the past."""
    for name in ("KeyTensor", "StackedQueryKeyTensor", "StackedKeyValueTensor", "StackedQueryKeyValueTensor"):
        if op.has(name):
            return op.tensor(name).sizes[-2 if name == "KeyTensor" else -4]
    raise AssertionError


def keys_of(op):
    """The number of keys, including the past."""
    if op.has("PastSequenceLengthsTensor") and op.has(PRESENT[0]):
        return op.tensor(PRESENT[0]).sizes[-2]
    return new_keys(op) + (op.tensor("PastKeyTensor").sizes[-2] if op.has("PastKeyTensor") else 0)


def past_length(op):
    """The largest past length that leaves space for the new keys."""
    return keys_of(op) - new_keys(op)


def check(op, *, constants=(), seed=0, inputs=None, **options):
    present = [name for name in constants if op.schema.field(name) is not None and op.has(name)]
    return check_case(op, inputs={**contents(op, seed), **(inputs or {})}, constants=present, **options)


def kernels(model):
    """The operators but Reshape and Transpose."""
    return [item for item in operators(model) if item not in {"Reshape", "Transpose"}]


SUPPORT = [(name, *case.values) for name in NAMES for case in type_cases(name)]


@pytest.mark.parametrize("opset", [17, 23])
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("name", "data_type", "rank"), SUPPORT)
def test_every_data_type_and_rank(name, data_type, rank, source, opset):
    for present, mask in ((OPTIONAL, "BOOLEAN"), ((), None), (("bias", "present key"), "KEY_SEQUENCE_LENGTH")):
        op = attention(name, source, present=present, mask=mask, rank=rank, data_type=data_type)
        check(op, opset=opset)


@pytest.mark.parametrize("opset", [21, 23])
@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
@pytest.mark.parametrize("name", NAMES)
def test_optional_tensors(name, data_type, opset):
    for flags in product([False, True], repeat=len(OPTIONAL)):
        chosen = [item for item, flag in zip(OPTIONAL, flags, strict=True) if flag]
        model = check(attention(name, present=chosen, data_type=data_type), opset=opset)
        assert len(model.model_proto.graph.output) == 1 + flags[3] + flags[4]


class TestMasks:
    @pytest.mark.parametrize("opset", [21, 23])
    @pytest.mark.parametrize("constants", [(), ("MaskTensor",)])
    @pytest.mark.parametrize("rank", [None, 5])
    @pytest.mark.parametrize("mask", MASKS)
    @pytest.mark.parametrize("name", NAMES)
    def test_each_type(self, name, mask, rank, constants, opset):
        for present in ((), ("past", "position")):
            op = attention(name, mask=mask, rank=rank, present=present)
            check(op, constants=constants, seed=len(present), opset=opset)

    @pytest.mark.parametrize("opset", [21, 23])
    @pytest.mark.parametrize("strides", [(12, 0, 4, 1), (0, 0, 4, 1), (4, 0, 0, 1), (0, 12, 4, 1), (0, 0, 0, 0)])
    @pytest.mark.parametrize("name", NAMES)
    def test_broadcast_by_strides(self, name, strides, opset):
        for mask, field in (("BOOLEAN", "MaskTensor"), (None, "RelativePositionBiasTensor")):
            op = attention(name, mask=mask, present=() if mask else ("position",), layouts={field: strides})
            check(op, opset=opset)

    @pytest.mark.parametrize("opset", [21, 23])
    @pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
    @pytest.mark.parametrize("value", [-10000.0, 0.0, 2.5, -3e4, -1e9, -3.4028234663852886e38, 1e9])
    def test_filter_values(self, value, data_type, opset):
        for mask in ("BOOLEAN", "KEY_SEQUENCE_END_START"):
            check(attention(mask=mask, data_type=data_type, MaskFilterValue=value), opset=opset)

    @pytest.mark.parametrize("opset", [21, 23])
    @pytest.mark.parametrize("value", [-10.0, -10000.0, -3.4028234663852886e38])
    def test_masked_rows_keep_the_softmax_of_their_scores(self, value, opset):
        op = attention(mask="BOOLEAN", MaskFilterValue=value)
        for exact in (True, False):
            inputs = {"MaskTensor": np.zeros(op.tensor("MaskTensor").sizes, np.int32)}
            check(op, inputs=inputs, opset=opset, exact=exact)

    def test_a_constant_mask_of_all_keys_is_dropped(self):
        op = attention(mask="KEY_SEQUENCE_LENGTH")
        model = check(op, inputs={"MaskTensor": np.array([[4, 9]], np.int32)}, constants=["MaskTensor"])
        assert "Add" not in operators(model)

    def test_a_mask_of_type_none_is_ignored(self):
        op = attention(mask="BOOLEAN", MaskType="NONE")
        assert "Add" not in operators(check(op))


class TestForm:
    def test_products_and_a_softmax(self):
        model = check(attention())
        assert kernels(model) == ["MatMul", "Mul", "Softmax", "MatMul"]
        assert operators(model).count("Transpose") == 4

    def test_one_token_transposes_joined_keys_only(self):
        op = attention(queries=1, keys=1, present=("past", "present key", "present value"))
        model = check(op)
        assert kernels(model) == ["Concat", "Concat", "MatMul", "Mul", "Softmax", "MatMul"]
        assert operators(model).count("Transpose") == 1

    def test_constant_keys_and_values_are_transposed_when_compiling(self):
        model = check(attention(present=("bias",)), constants=["KeyTensor", "ValueTensor", "BiasTensor"])
        assert kernels(model) == ["Add", "MatMul", "Mul", "Softmax", "MatMul"]
        assert operators(model).count("Transpose") == 2

    def test_a_scale_of_1_is_dropped(self):
        assert kernels(check(attention(Scale=1.0))) == ["MatMul", "Softmax", "MatMul"]

    def test_grouped_heads_take_one_matrix_product(self):
        model = check(attention("MULTIHEAD_ATTENTION1", heads=6, groups=2))
        assert kernels(model) == ["MatMul", "Mul", "Softmax", "MatMul"]

    def test_float16_keys_are_joined_in_float16(self):
        op = attention(data_type="FLOAT16", present=("past", "present key", "present value"))
        model = check(op)
        joins = [item for item in model.model_proto.graph.node if item.op_type == "Concat"]
        assert {item.output[0] for item in joins} == set(PRESENT)

    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.parametrize("present", [(), ("past", "present key", "present value"), ("present value",), ("bias",)])
    def test_attention_from_opset_23_on(self, name, present):
        found = kernels(check(attention(name, present=present), opset=23))
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
                attention(present=("position",)),
                "Attention may treat the addend of the scores as a mask: MatMul and Softmax replace it",
            ),
            (
                attention(mask="KEY_SEQUENCE_LENGTH"),
                "Attention may treat the addend of the scores as a mask: MatMul and Softmax replace it",
            ),
        ],
    )
    def test_operators_that_attention_cannot_express(self, op, reason):
        model = check(op, opset=23)
        assert "Attention" not in operators(model)
        assert reason in model.lowered.traces[0].notes

    @pytest.mark.parametrize("source", ["separate", "key and value"])
    def test_float16_with_grouped_heads(self, source):
        """ONNX Runtime 1.24 reads out of bounds."""
        op = attention("MULTIHEAD_ATTENTION1", source, data_type="FLOAT16")
        assert "Attention" not in operators(check(op, opset=23, exact=False))
        past = attention("MULTIHEAD_ATTENTION1", source, data_type="FLOAT16", present=("past",))
        assert "Attention" in operators(check(past, opset=23, exact=False))

    def test_a_constant_position_bias_is_not_a_mask(self):
        op = attention(present=("position",))
        assert "Attention" in operators(check(op, opset=23, constants=["RelativePositionBiasTensor"]))
        grouped = attention("MULTIHEAD_ATTENTION1", present=("position",))
        assert "Attention" not in operators(check(grouped, opset=23, constants=["RelativePositionBiasTensor"]))
        lowest = np.full(op.tensor("RelativePositionBiasTensor").sizes, np.finfo(np.float32).min)
        model = check(
            op, opset=23, inputs={"RelativePositionBiasTensor": lowest}, constants=["RelativePositionBiasTensor"]
        )
        assert "Attention" not in operators(model)

    def test_directml_computes_in_float16(self):
        graph = make_case(attention(data_type="FLOAT16", present=OPTIONAL)).graph
        assert "Cast" not in operators(compile_outputs(graph, graph.outputs, target="dml", opset=21))


class TestLengths:
    """With PastSequenceLengthsTensor, present tensors initially hold the past."""

    @pytest.mark.parametrize("opset", [17, 23])
    @pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
    @pytest.mark.parametrize("queries", [1, 3])
    def test_present_tensors_hold_the_past(self, queries, data_type, opset):
        for seed, extra in enumerate(((), ("bias",))):
            sizes = {"queries": queries, "keys": queries, "cache": 9}
            op = attention("MULTIHEAD_ATTENTION1", **sizes, present=extra, data_type=data_type)
            check(op, seed=seed, opset=opset)

    def test_unknown_previous_contents(self):
        op = attention("MULTIHEAD_ATTENTION1", keys=3, cache=9)
        check_case(op, inputs={name: value for name, value in contents(op).items() if name not in PRESENT})

    def test_the_new_keys_fill_the_cache(self):
        check(attention("MULTIHEAD_ATTENTION1", keys=3, cache=3))

    def test_lengths_out_of_range(self):
        op = attention("MULTIHEAD_ATTENTION1", keys=3, cache=9, batch=4)
        for lengths in ([6, 7, 100, -1], [-(2**31), 2**31 - 1, 0, 6]):
            check(op, inputs={"PastSequenceLengthsTensor": np.array(lengths, np.int32)})

    def test_constant_lengths(self):
        check(attention("MULTIHEAD_ATTENTION1", keys=3, cache=9), constants=["PastSequenceLengthsTensor"])

    @pytest.mark.parametrize("source", SOURCES)
    def test_stacks(self, source):
        check(attention("MULTIHEAD_ATTENTION1", source, keys=3, cache=9, present=("bias",)))

    def test_a_cache_is_an_input_in_its_own_shape(self):
        model = check(attention("MULTIHEAD_ATTENTION1", keys=3, cache=9))
        shapes = {port.name: port.shape for port in model.inputs}
        assert shapes["OutputPresentKeyTensor before"] == (2, 2, 9, 8)

    def test_a_token_is_scattered_into_the_cache(self):
        model = check(attention("MULTIHEAD_ATTENTION1", queries=1, keys=1, cache=9))
        assert operators(model).count("ScatterND") == 2
        assert operators(model).count("Transpose") == 1


class TestLayouts:
    def test_a_stack_in_another_layout(self):
        """(batch, length, 3, heads, size), the layout of PyTorch's packed projections."""
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
            check(attention(name, groups=1, present=("past",), **sizes), opset=opset)


@pytest.mark.parametrize("opset", [21, 23])
@pytest.mark.parametrize("scale", [0.0, 0.3, -0.3, 1e30])
@pytest.mark.parametrize("name", NAMES)
def test_extreme_values(name, scale, opset):
    for seed in range(4):
        op = attention(name, present=("bias", "position", "past") if seed % 2 else (), mask="BOOLEAN", Scale=scale)
        check_case(op, extremes=True, seed=seed, opset=opset)


def test_a_cache_in_the_buffer_of_another_output():
    """Both outputs are written to one buffer: the cache's previous contents are from before the node."""
    op = attention("MULTIHEAD_ATTENTION1", keys=3, cache=9)
    original = make_case(op, inputs=contents(op)).graph
    (only,) = original.nodes
    first, cache = (op.tensor(field).total_bytes for field in ("OutputTensor", "OutputPresentValueTensor"))
    memory, half, whole = (Value(name, first + cache) for name in ("memory", "half", "whole"))
    writes = {**only.writes, "OutputTensor": (Write(half, 0, memory),)}
    writes["OutputPresentValueTensor"] = (Write(whole, first, half),)
    seen = TensorDesc(DataType.UINT8, (first + cache,))
    graph = Graph(
        (Node(only.name, op, only.reads, writes),),
        (*original.inputs, GraphInput("memory", memory, None, seen)),
        (GraphOutput("whole", whole, seen),),
    )
    assert {item.code for item in findings_of(graph)} == {"DML1220"}  # the original cache is unused
    compiled = compile_outputs(graph, graph.outputs)
    feeds = feeds_of(compiled, 0)
    feeds["PastSequenceLengthsTensor"] = np.zeros_like(feeds["PastSequenceLengthsTensor"])
    feeds["memory"] = np.random.default_rng(0).normal(size=(first + cache) // 4).astype(np.float32).view(np.uint8)
    got, want = compiled.run(feeds)["whole"], evaluate(graph, feeds)["whole"]
    # the cache keeps its bits after the new keys
    np.testing.assert_array_equal(got[-4:], feeds["memory"][-4:])
    np.testing.assert_allclose(got.view(np.float32), want.view(np.float32), rtol=1e-5, atol=1e-6)
