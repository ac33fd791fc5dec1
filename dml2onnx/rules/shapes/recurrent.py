"""RNN, GRU and LSTM: the symbolic shapes of their fields, and their lists of activations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from dml2onnx.codes import checking as codes
from dml2onnx.diagnostics import Diagnostic
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.rules.shapes import templates
from dml2onnx.rules.shapes.rules import Formula, rule
from dml2onnx.rules.shapes.sizes import Term, compared_singly, exactly, free
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
            message = f"ActivationDescs[{i}] is {entry.type}, which is not an activation operator."
            yield codes.NOT_AN_ACTIVATION.of(path, message, "ACTIVATION_*", entry.type)
        elif len(entry.schema.input_fields) > 1:
            message = f"{entry.type} takes two tensors; an activation in a list has one."
            yield codes.NOT_AN_ACTIVATION.of(path, message, "an activation of one tensor", entry.type)
        elif not entry.schema.is_element_wise:
            message = f"{entry.type} works along an axis; activations in a list are element-wise."
            yield codes.NOT_AN_ACTIVATION.of(path, message, "an element-wise activation", entry.type)
        for field, value in entry.items():
            if field.is_tensor and isinstance(value, (TensorDesc, tuple)):
                message = f"{field.name} of an activation in a list has to be null."
                yield codes.NOT_AN_ACTIVATION.of(f"{path}/{field.name}", message, "null", "a tensor")


def _shaped(subject: Subject) -> tuple[list[tuple[str, tuple[int, ...], tuple[str, ...]]], Mapping[str, int]]:
    """The tensors with their sizes and terms, and the values of the names in these terms."""
    known = {"num_directions": 2 if subject.text("Direction") == "BIDIRECTIONAL" else 1}
    shaped: list[tuple[str, tuple[int, ...], tuple[str, ...]]] = []
    for field in subject.schema.tensor_fields:
        tensor = subject.optional(field.name) if subject.is_readable(field.name) else None
        if tensor is not None and field.shape is not None:
            terms = templates.terms(field.shape)
            if len(terms) == tensor.rank:  # support tables check the rank
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

    The first tensor with a term that is just a name determines its value.
    """
    shaped, known = _shaped(subject)
    other = _of_other_gates(subject, shaped, known)
    if other is not None:
        yield other
    for name, sizes, words in shaped:
        if other is None or name not in (other.field, *other.related):
            yield from compared_singly(name, sizes, _terms(words, known))


_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
"""Rows of weights per element of the hidden state."""


def _of_other_gates(
    subject: Subject, shaped: list[tuple[str, tuple[int, ...], tuple[str, ...]]], known: Mapping[str, int]
) -> Diagnostic | None:
    """One diagnostic if all weights have the sizes of another operator of the family."""
    own, hidden = subject.schema.short_name, known.get("hidden_size", 0)
    sizes = {name: found for name, found, _ in shaped if name in _GATED}
    for other, gates in _GATES.items():
        gated = {name: _GATED[name] for name in sizes}
        matches = {name: sizes[name][axis] == times * gates * hidden for name, (axis, times) in gated.items()}
        if other == own or len(matches) < 2 or not all(matches.values()) or not hidden:
            continue
        first, *rest = matches
        names = f"{', '.join([first, *rest[:-1]])} and {rest[-1]}"
        message = (
            f"{names} have the sizes of {other}: {gates} * hidden_size rows. {own} has {_GATES[own]} * hidden_size."
        )
        axis = _GATED[first][0]
        expected, found = _GATES[own] * hidden, gates * hidden
        return codes.WRONG_SIZE.of(f"{first}/Sizes/{axis}", message, expected, found, related=tuple(rest))
    return None


_GATED = {"WeightTensor": (2, 1), "RecurrenceTensor": (2, 1), "BiasTensor": (3, 2)}
"""Tensors with rows per gate: the dimension of the rows, and how often they repeat."""
