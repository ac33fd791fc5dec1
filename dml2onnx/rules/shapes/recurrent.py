"""RNN, GRU and LSTM: the shapes that the catalogue gives with their fields, and their lists of activations."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from dml2onnx.codes import checking as codes
from dml2onnx.diagnostics import Diagnostic
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.rules.shapes import templates
from dml2onnx.rules.shapes.rules import Formula, rule
from dml2onnx.rules.shapes.sizes import compared_singly, exactly, free

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dml2onnx.rules.shapes.sizes import Term
    from dml2onnx.rules.subject import Subject


@rule("gru/activations", "lstm/activations", "rnn/activations")
def activations(subject: Subject) -> Iterator[Diagnostic]:
    """Every entry of ``ActivationDescs`` is an activation operator, of one tensor, whose tensors are null."""
    entries = subject.value("ActivationDescs")
    for i, entry in enumerate(entries if isinstance(entries, tuple) else ()):
        if not isinstance(entry, OperatorDesc):
            continue
        path = f"ActivationDescs/{i}"
        if not entry.type.startswith("ACTIVATION_"):
            message = f"ActivationDescs[{i}] is {entry.type}, which is no activation operator."
            yield codes.NOT_AN_ACTIVATION.of(path, message, "ACTIVATION_*", entry.type)
        elif len(entry.schema.input_fields) > 1:
            message = f"{entry.type} computes from two tensors, of which a list has only one to give."
            yield codes.NOT_AN_ACTIVATION.of(path, message, "an activation of one tensor", entry.type)
        elif not entry.schema.is_element_wise:
            message = f"{entry.type} works along an axis; a list has activations of single elements."
            yield codes.NOT_AN_ACTIVATION.of(path, message, "an activation of single elements", entry.type)
        for field, value in entry.items():
            if field.is_tensor and isinstance(value, (TensorDesc, tuple)):
                message = f"{field.name} of an activation in a list is null."
                yield codes.NOT_AN_ACTIVATION.of(f"{path}/{field.name}", message, "null", "a tensor")


def _shaped(subject: Subject) -> tuple[list[tuple[str, tuple[int, ...], tuple[str, ...]]], Mapping[str, int]]:
    """The tensors with their sizes and the words for these, and what the names in these words stand for."""
    known = {"num_directions": 2 if subject.text("Direction") == "BIDIRECTIONAL" else 1}
    shaped: list[tuple[str, tuple[int, ...], tuple[str, ...]]] = []
    for field in subject.schema.tensor_fields:
        tensor = subject.optional(field.name) if subject.is_readable(field.name) else None
        if tensor is not None and field.shape is not None:
            terms = templates.terms(field.shape)
            if len(terms) == tensor.rank:  # another rank is a matter of the support tables
                shaped.append((field.name, tensor.sizes, terms))
                for term, size in zip(terms, tensor.sizes, strict=True):
                    if term.isidentifier():
                        known.setdefault(term, size)
    return shaped, known


def _terms(words: tuple[str, ...], known: Mapping[str, int]) -> Iterator[Term]:
    for word in words:
        size = templates.value(word, known)
        yield free() if size is None else exactly(size, word)


def _output(name: str, subject: Subject, rank: int) -> Iterator[Term]:
    shape = subject.schema.fields_by_name[name].shape
    assert shape is not None, name
    return _terms(templates.terms(shape), _shaped(subject)[1])


_OUTPUTS = ("OutputSequenceTensor", "OutputSingleTensor", "OutputCellSingleTensor")


@rule(
    "gru/shapes",
    "lstm/shapes",
    "rnn/shapes",
    formulas={name: Formula(partial(_output, name), rank=4) for name in _OUTPUTS},
)
def shapes(subject: Subject) -> Iterator[Diagnostic]:
    """Every tensor has the shape of its field, such as ``{ 1, num_directions, 3 * hidden_size, input_size }``.

    A name stands for the size in the first tensor that has it by itself; the other tensors are compared with it.
    """
    shaped, known = _shaped(subject)
    other = _of_other_gates(subject, shaped, known)
    if other is not None:
        yield other
    for name, sizes, words in shaped:
        if other is None or name not in (other.field, *other.related):
            yield from compared_singly(name, sizes, _terms(words, known))


_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
"""Rows of weights that the operators have for each element of the hidden state."""


def _of_other_gates(
    subject: Subject, shaped: list[tuple[str, tuple[int, ...], tuple[str, ...]]], known: Mapping[str, int]
) -> Diagnostic | None:
    """What is wrong if all weights are those of another operator of the family: one finding."""
    own, hidden = subject.schema.short_name, known.get("hidden_size", 0)
    sizes = {name: found for name, found, _ in shaped if name in _GATED}
    for other, gates in _GATES.items():
        gated = {name: _GATED[name] for name in sizes}
        alike = {name: sizes[name][axis] == times * gates * hidden for name, (axis, times) in gated.items()}
        if other == own or len(alike) < 2 or not all(alike.values()) or not hidden:
            continue
        first, *rest = alike
        names = f"{', '.join([first, *rest[:-1]])} and {rest[-1]}"
        message = f"{names} are those of {other}: {gates} * hidden_size rows. {own} has {_GATES[own]} * hidden_size."
        axis = _GATED[first][0]
        expected, found = _GATES[own] * hidden, gates * hidden
        return codes.WRONG_SIZE.of(f"{first}/Sizes/{axis}", message, expected, found, related=tuple(rest))
    return None


_GATED = {"WeightTensor": (2, 1), "RecurrenceTensor": (2, 1), "BiasTensor": (3, 2)}
"""The tensors with rows for each gate: along which dimension, and how many times."""
