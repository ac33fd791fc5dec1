"""MULTIHEAD_ATTENTION and MULTIHEAD_ATTENTION1: the shapes that the catalogue gives with their fields, and masks.

All tensors but the stacked ones may have leading ones, so sizes are counted from the end (decisions H1 to H16).
"""

from __future__ import annotations

import re
from functools import cache, partial
from typing import TYPE_CHECKING

from dml2onnx.codes import checking as codes
from dml2onnx.diagnostics import Diagnostic
from dml2onnx.ir.tensor import packed_strides
from dml2onnx.rules.shapes import templates
from dml2onnx.rules.shapes.rules import Formula, formula, rule
from dml2onnx.rules.shapes.sizes import Term, Whole, compared_singly, exactly, free, loosely, not_multiple, wrong_size
from dml2onnx.rules.subject import UnanswerableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dml2onnx.catalog import FieldSchema
    from dml2onnx.rules.subject import Subject

_STACKED = {
    "StackedQueryKeyTensor": (2, "query and key"),
    "StackedKeyValueTensor": (2, "key and value"),
    "StackedQueryKeyValueTensor": (3, "query, key and value"),
}
_WITH_QUERIES = ("StackedQueryKeyTensor", "StackedQueryKeyValueTensor")

# What names in the shapes stand for, by the operators' attributes.
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
    """The sizes of a field, in words.

    Present tensors have a shape for each use: without a past, with one, and with ``PastSequenceLengthsTensor``, whose
    last name is theirs alone. The second serves for the first too, the past being of length 0.
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
    """The tensors that are there and have a shape, their sizes without leading ones, and the words for these."""
    for field in subject.schema.tensor_fields:
        tensor = subject.optional(field.name) if subject.is_readable(field.name) else None
        if tensor is not None and field.shape is not None:
            words = _template(subject, field)
            if tensor.rank >= len(words):  # another rank is a matter of the support tables
                yield field, tensor.sizes[tensor.rank - len(words) :], words


def _names(subject: Subject) -> Mapping[str, int]:
    """What each name stands for: the size in the first tensor that says so, with which other tensors are compared."""
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
    """What follows from stacking, whatever other tensors say, and from the past."""
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
    """The sizes of a tensor, the leading ones left to :func:`leading_ones`."""
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
    """Every tensor has the shape of its field, with one value for each name."""
    names = _names(subject)
    for field, sizes, words in _shaped(subject):
        rank = subject.tensor(field.name).rank
        compared = _terms(words, names, rank)
        if field.name in _STACKED:
            compared[-2] = free()  # which is said by the layout of the stack
        if field.name == "QueryTensor" and subject.value("BiasTensor") is None:
            compared[-1] = _query_term(compared[-1], sizes[-1], words[-1], names)
        yield from compared_singly(field.name, subject.sizes(field.name), compared)
        for i, (size, term) in enumerate(zip(sizes, words, strict=True), rank - len(words)):
            yield from _indivisible(f"{field.name}/Sizes/{i}", f"{field.name}.Sizes[{i}]", size, term, names)


def _query_term(term: Term, size: int, words: str, names: Mapping[str, int]) -> Term:
    """DirectML divides the size by the heads and leaves a rest unseen."""
    heads = names.get(words.partition(" * ")[0])
    if heads and term.size is not None and size // heads == term.size // heads:
        return loosely(term, "it ignores the elements behind the last head")
    return term


def _indivisible(path: str, label: str, size: int, term: str, names: Mapping[str, int]) -> Iterator[Diagnostic]:
    """A product with a name that no tensor gives a value, as the known factor leaves a remainder."""
    for head in ("HeadCount", "QueryHeadCount", "KeyValueHeadCount"):
        if term.startswith(f"{head} * ") and "+" not in term and templates.value(term, names) is None:
            yield from not_multiple(path, label, size, names[head], head)


@rule("multihead_attention1/shapes", formulas=_outputs(always=False))
def grouped_shapes(subject: Subject) -> Iterator[Diagnostic]:
    """As MULTIHEAD_ATTENTION, and the query heads share the key and value heads evenly."""
    queries, keys = subject.positive("QueryHeadCount"), subject.positive("KeyValueHeadCount")
    yield from not_multiple("QueryHeadCount", "QueryHeadCount", queries, keys, "KeyValueHeadCount")
    for name in _WITH_QUERIES:
        stack = subject.optional(name) if subject.is_readable(name) else None
        if stack is not None and stack.rank == 5 and queries != keys == stack.sizes[2]:
            yield wrong_size(name, 2, keys, queries, "QueryHeadCount")
    yield from shapes.check(subject)


@rule("multihead_attention1/room-for-the-past")
def past_fits(subject: Subject) -> Iterator[Diagnostic]:
    """The present tensors are as long as what goes into them."""
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
    """Dimension 3 of five stacks query, key and value; another rank is a matter of the support tables."""
    for name, (count, words) in _STACKED.items():
        stack = subject.optional(name) if subject.is_readable(name) else None
        if stack is not None and stack.rank == 5 and stack.sizes[3] != count:
            yield wrong_size(name, 3, stack.sizes[3], count, words)


@rule("multihead_attention/leading-ones", "multihead_attention1/leading-ones")
def leading_ones(subject: Subject) -> Iterator[Diagnostic]:
    """Dimensions in front of those of the shape have size 1."""
    for field, sizes, words in _shaped(subject):
        found = subject.sizes(field.name)
        if any(size != 1 for size in found[: len(found) - len(sizes)]):
            count = len(words)
            message = f"{field.name} has sizes {list(found)}; those in front of its last {count} have to be 1."
            expected = [*(1,) * (len(found) - count), *sizes]
            yield codes.WRONG_SIZE.of(f"{field.name}/Sizes", message, expected, list(found))


@rule("multihead_attention1/lengths-alone")
def lengths_alone(subject: Subject) -> Iterator[Diagnostic]:
    """``PastSequenceLengthsTensor`` stands for a cache that is updated: with it there is no past, bias or mask."""
    if not _has_lengths(subject):
        return
    for name in ("PastKeyTensor", "PastValueTensor", "RelativePositionBiasTensor", "MaskTensor"):
        if subject.value(name) is not None:
            message = f"{name} is given beside PastSequenceLengthsTensor, with which DirectML takes none."
            yield codes.EXACTLY_ONE.of(name, message, "null", "a tensor")


@rule("multihead_attention1/lengths-packed")
def lengths_packed(subject: Subject) -> Iterator[Diagnostic]:
    """``PastSequenceLengthsTensor`` has no strides but those of a packed tensor."""
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
    """``MaskType`` NONE goes with no mask."""
    if subject.text("MaskType") == "NONE" and subject.value("MaskTensor") is not None:
        message = "MaskTensor is given and MaskType is NONE."
        yield codes.EXACTLY_ONE.of("MaskTensor", message, "null", "a tensor")


@rule("multihead_attention/mask", "multihead_attention1/mask")
def mask_given(subject: Subject) -> Iterator[Diagnostic]:
    """Any ``MaskType`` but NONE goes with a mask."""
    kind = subject.text("MaskType")
    if kind != "NONE" and subject.value("MaskTensor") is None:
        message = f"MaskTensor is null and MaskType is {kind}."
        yield codes.REQUIRED_HERE.of("MaskTensor", message, "a tensor, or MaskType NONE", "null")


@formula("multihead_attention/mask-shape", "multihead_attention1/mask-shape", tensor="MaskTensor")
def mask_shape(subject: Subject, rank: int) -> Whole:
    """The sizes that ``MaskType`` names, with any leading ones."""
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
