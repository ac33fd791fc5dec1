"""MULTIHEAD_ATTENTION and MULTIHEAD_ATTENTION1: the symbolic shapes of their fields, and masks.

All but the stacked tensors may have leading ones, so sizes are counted from the end (decisions H1 to H16).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, partial

from dml2onnx.catalog import FieldSchema
from dml2onnx.codes import checking as codes
from dml2onnx.diagnostics import Diagnostic
from dml2onnx.ir.tensor import packed_strides
from dml2onnx.rules.shapes import templates
from dml2onnx.rules.shapes.rules import Formula, formula, rule
from dml2onnx.rules.shapes.sizes import Term, Whole, compared_singly, exactly, free, loosely, not_multiple, wrong_size
from dml2onnx.rules.subject import Subject, UnanswerableError

_STACKED = {
    "StackedQueryKeyTensor": (2, "query and key"),
    "StackedKeyValueTensor": (2, "key and value"),
    "StackedQueryKeyValueTensor": (3, "query, key and value"),
}
_WITH_QUERIES = ("StackedQueryKeyTensor", "StackedQueryKeyValueTensor")

# The names in shapes, expressed by attributes of the operators.
_MEANINGS = {
    "HeadCount": {
        "headCount": "HeadCount",
        "hiddenSize": "HeadCount * headSize",
        "valueHiddenSize": "HeadCount * valueHeadSize",
    },
    "QueryHeadCount": {"headCount": "KeyValueHeadCount", "hiddenSize": "QueryHeadCount * headSize"},
}


# --- Names ----------------------------------------------------------------------------------------------------------


def _template(subject: Subject, field: FieldSchema) -> tuple[str, ...]:
    """The terms of a field's shape.

    Tensors of the present have a shape for each use: without a past, with one, and with ``PastSequenceLengthsTensor``.
    The second also covers the first, with a past of length 0.
    """
    shapes = (field.shape or "").split(" or ")
    used = shapes[-1] if _has_lengths(subject) else shapes[min(1, len(shapes) - 1)]
    return _in_attributes(used, "HeadCount" if "HeadCount" in subject.index else "QueryHeadCount")


@cache
def _in_attributes(shape: str, heads: str) -> tuple[str, ...]:
    meanings = _MEANINGS[heads]
    return tuple(re.sub(r"\w+", lambda name: meanings.get(name[0], name[0]), term) for term in templates.terms(shape))


def _has_lengths(subject: Subject) -> bool:
    return "PastSequenceLengthsTensor" in subject.index and subject.value("PastSequenceLengthsTensor") is not None


def _shaped(subject: Subject) -> Iterator[tuple[FieldSchema, tuple[int, ...], tuple[str, ...]]]:
    """The present tensors that have a shape, their sizes without leading ones, and the terms of the shape."""
    for field in subject.schema.tensor_fields:
        tensor = subject.optional(field.name) if subject.is_readable(field.name) else None
        if tensor is not None and field.shape is not None:
            words = _template(subject, field)
            if tensor.rank >= len(words):  # support tables check the rank
                yield field, tensor.sizes[tensor.rank - len(words) :], words


def _names(subject: Subject) -> Mapping[str, int]:
    """The value of each name, from the first tensor that determines it."""
    heads = [name for name in ("HeadCount", "QueryHeadCount", "KeyValueHeadCount") if name in subject.index]
    names = {name: subject.positive(name) for name in heads}
    shaped = [(field.name, sizes, words) for field, sizes, words in _shaped(subject)]
    outputs = {field.name for field in subject.schema.output_fields} | {"RelativePositionBiasTensor"}
    presents = {"OutputPresentKeyTensor", "OutputPresentValueTensor"} if _has_lengths(subject) else set()
    for _, sizes, words in (item for item in shaped if item[0] not in outputs - presents):
        _learn(names, sizes, words)
    _derive(subject, names)
    for _, sizes, words in (item for item in shaped if item[0] in outputs - presents):
        _learn(names, sizes, words)
    return names


def _learn(names: dict[str, int], sizes: tuple[int, ...], words: tuple[str, ...]) -> None:
    for size, term in zip(sizes, words, strict=True):
        found = templates.solved(term, size, names)
        if found is not None:
            names.setdefault(*found)


def _derive(subject: Subject, names: dict[str, int]) -> None:
    """Adds names that follow from stacking, which overrides other tensors, and from the past."""
    stacks = [name for name in _STACKED if subject.value(name) is not None]
    for stack in stacks:
        if stack in _WITH_QUERIES and "sequenceLength" in names:
            names["keyValueSequenceLength"] = names["sequenceLength"]
        if stack != "StackedQueryKeyTensor" and "headSize" in names:
            names["valueHeadSize"] = names["headSize"]
    if "maxLength" in names:
        names.setdefault("totalSequenceLength", names["maxLength"])
    if subject.value("PastKeyTensor") is None and subject.value("PastValueTensor") is None:
        names.setdefault("pastSequenceLength", 0)
    total = templates.value("pastSequenceLength + keyValueSequenceLength", names)
    if total is not None:
        names.setdefault("totalSequenceLength", total)


# --- Rules ----------------------------------------------------------------------------------------------------------


def _terms(words: tuple[str, ...], names: Mapping[str, int], rank: int) -> list[Term]:
    """The sizes of a tensor; :func:`leading_ones` checks leading ones."""
    if rank < len(words):
        raise UnanswerableError
    sizes = [templates.value(term, names) for term in words]
    natural = [free() if size is None else exactly(size, term) for size, term in zip(sizes, words, strict=True)]
    return [free(1)] * (rank - len(words)) + natural


def _output(name: str, subject: Subject, rank: int) -> list[Term]:
    return _terms(_template(subject, subject.schema.fields_by_name[name]), _names(subject), rank)


def _present(name: str, *, always: bool) -> Formula:
    return Formula(partial(_output, name), rank=4, always=always)


def _outputs(*, always: bool) -> Mapping[str, Formula]:
    return {
        "OutputTensor": Formula(
            partial(_output, "OutputTensor"), rank=3, like=("QueryTensor", "KeyTensor", "ValueTensor")
        ),
        "OutputPresentKeyTensor": _present("OutputPresentKeyTensor", always=always),
        "OutputPresentValueTensor": _present("OutputPresentValueTensor", always=always),
    }


@rule("multihead_attention/shapes", formulas=_outputs(always=True))
def shapes(subject: Subject) -> Iterator[Diagnostic]:
    """Every tensor has the shape of its field, with one value per name."""
    names = _names(subject)
    for field, sizes, words in _shaped(subject):
        rank = subject.tensor(field.name).rank
        compared = _terms(words, names, rank)
        if field.name in _STACKED:
            compared[-2] = free()  # checked by stacked_layout
        if field.name == "QueryTensor" and subject.value("BiasTensor") is None:
            compared[-1] = _query_term(compared[-1], sizes[-1], words[-1], names)
        yield from compared_singly(field.name, subject.sizes(field.name), compared)
        for i, (size, term) in enumerate(zip(sizes, words, strict=True), rank - len(words)):
            yield from _indivisible(f"{field.name}/Sizes/{i}", f"{field.name}.Sizes[{i}]", size, term, names)


def _query_term(term: Term, size: int, words: str, names: Mapping[str, int]) -> Term:
    """DirectML divides the size by the heads and ignores the remainder."""
    heads = names.get(words.partition(" * ")[0])
    if heads and term.size is not None and size // heads == term.size // heads:
        return loosely(term, "it ignores the elements behind the last head")
    return term


def _indivisible(path: str, label: str, size: int, term: str, names: Mapping[str, int]) -> Iterator[Diagnostic]:
    """A product with an unknown name, since the size is not a multiple of the known factor."""
    for head in ("HeadCount", "QueryHeadCount", "KeyValueHeadCount"):
        if term.startswith(f"{head} * ") and "+" not in term and templates.value(term, names) is None:
            yield from not_multiple(path, label, size, names[head], head)


@rule("multihead_attention1/shapes", formulas=_outputs(always=False))
def grouped_shapes(subject: Subject) -> Iterator[Diagnostic]:
    """As MULTIHEAD_ATTENTION; in addition, the query heads are a multiple of the key and value heads."""
    queries, keys = subject.positive("QueryHeadCount"), subject.positive("KeyValueHeadCount")
    yield from not_multiple("QueryHeadCount", "QueryHeadCount", queries, keys, "KeyValueHeadCount")
    for name in _WITH_QUERIES:
        stack = subject.optional(name) if subject.is_readable(name) else None
        if stack is not None and stack.rank == 5 and queries != keys == stack.sizes[2]:
            yield wrong_size(name, 2, keys, queries, "QueryHeadCount")
    yield from shapes.check(subject)


@rule("multihead_attention1/room-for-the-past")
def past_fits(subject: Subject) -> Iterator[Diagnostic]:
    """The present tensors have room for the past and the new elements."""
    names = _names(subject)
    if "maxLength" not in names:
        return
    for name in ("pastSequenceLength", "keyValueSequenceLength"):
        if names.get(name, 0) > names["maxLength"]:
            tensor = next(
                item for item in ("OutputPresentKeyTensor", "OutputPresentValueTensor") if subject.optional(item)
            )
            axis = subject.tensor(tensor).rank - 2
            yield wrong_size(tensor, axis, names["maxLength"], f"at least {names[name]}", name)


@rule("multihead_attention/stacked-layout", "multihead_attention1/stacked-layout")
def stacked_layout(subject: Subject) -> Iterator[Diagnostic]:
    """Dimension 3 of five stacks query, key and value; support tables check the rank."""
    for name, (count, words) in _STACKED.items():
        stack = subject.optional(name) if subject.is_readable(name) else None
        if stack is not None and stack.rank == 5 and stack.sizes[3] != count:
            yield wrong_size(name, 3, stack.sizes[3], count, words)


@rule("multihead_attention/leading-ones", "multihead_attention1/leading-ones")
def leading_ones(subject: Subject) -> Iterator[Diagnostic]:
    """Dimensions before those of the shape have size 1."""
    for field, sizes, words in _shaped(subject):
        found = subject.sizes(field.name)
        if any(size != 1 for size in found[: len(found) - len(sizes)]):
            count = len(words)
            message = f"{field.name} has sizes {list(found)}; those before the last {count} have to be 1."
            expected = [*(1,) * (len(found) - count), *sizes]
            yield codes.WRONG_SIZE.of(f"{field.name}/Sizes", message, expected, list(found))


@rule("multihead_attention1/lengths-alone")
def lengths_alone(subject: Subject) -> Iterator[Diagnostic]:
    """With ``PastSequenceLengthsTensor``, which updates a cache, there is no past, bias or mask."""
    if not _has_lengths(subject):
        return
    for name in ("PastKeyTensor", "PastValueTensor", "RelativePositionBiasTensor", "MaskTensor"):
        if subject.value(name) is not None:
            message = f"{name} is not allowed with PastSequenceLengthsTensor."
            yield codes.EXACTLY_ONE.of(name, message, "null", "a tensor")


@rule("multihead_attention1/lengths-packed")
def lengths_packed(subject: Subject) -> Iterator[Diagnostic]:
    """``PastSequenceLengthsTensor`` is packed."""
    tensor = subject.optional("PastSequenceLengthsTensor")
    if tensor is None or tensor.strides is None:
        return
    packed = packed_strides(tensor.sizes)
    steps = zip(tensor.sizes, tensor.strides, packed, strict=False)
    if any(size > 1 and stride != wanted for size, stride, wanted in steps):
        message = f"PastSequenceLengthsTensor has strides {list(tensor.strides)}; it has to be packed."
        yield codes.NOT_PACKED.of("PastSequenceLengthsTensor/Strides", message, list(packed), list(tensor.strides))


# --- Masks ----------------------------------------------------------------------------------------------------------


@rule("multihead_attention/no-mask", "multihead_attention1/no-mask")
def no_mask(subject: Subject) -> Iterator[Diagnostic]:
    """``MaskType`` NONE means no mask."""
    if subject.text("MaskType") == "NONE" and subject.value("MaskTensor") is not None:
        message = "MaskTensor is present with MaskType NONE."
        yield codes.EXACTLY_ONE.of("MaskTensor", message, "null", "a tensor")


@rule("multihead_attention/mask", "multihead_attention1/mask")
def mask_given(subject: Subject) -> Iterator[Diagnostic]:
    """Any other ``MaskType`` than NONE requires a mask."""
    kind = subject.text("MaskType")
    if kind != "NONE" and subject.value("MaskTensor") is None:
        message = f"MaskTensor is null with MaskType {kind}."
        yield codes.REQUIRED_HERE.of("MaskTensor", message, "a tensor, or MaskType NONE", "null")


@formula("multihead_attention/mask-shape", "multihead_attention1/mask-shape", tensor="MaskTensor")
def mask_shape(subject: Subject, rank: int) -> Whole:
    """The sizes of the ``MaskType``, after any leading ones."""
    heads = "HeadCount" if "HeadCount" in subject.index else "QueryHeadCount"
    kind = subject.text("MaskType")
    words = {
        "KEY_SEQUENCE_LENGTH": ("1", "batchSize"),
        "KEY_SEQUENCE_END_START": ("2", "batchSize"),
        "KEY_QUERY_SEQUENCE_LENGTH_START_END": ("3 * batchSize + 2",),
        "BOOLEAN": ("batchSize", heads, "sequenceLength", "totalSequenceLength"),
    }.get(kind)
    if words is None:
        raise UnanswerableError
    text = f"{{ {', '.join(words)} }} for {kind}"
    leading = max(rank - len(words), 0)
    natural = _terms(words, _names(subject), len(words))
    return Whole((*(exactly(1, "1") for _ in range(leading)), *natural), text)
