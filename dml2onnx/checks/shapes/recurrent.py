"""RNN, GRU and LSTM: the shapes that the catalogue gives with their fields, and their lists of activations."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from dml2onnx.checks.findings import Finding
from dml2onnx.checks.shapes.rules import rule
from dml2onnx.checks.shapes.sizes import wrong_size
from dml2onnx.codes import checking as codes
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import TensorDesc

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dml2onnx.checks.subject import Subject


@rule("gru/activations", "lstm/activations", "rnn/activations")
def activations(subject: Subject) -> Iterator[Finding]:
    """Every entry of ``ActivationDescs`` is an activation operator whose tensors are null."""
    entries = subject.value("ActivationDescs")
    for i, entry in enumerate(entries if isinstance(entries, tuple) else ()):
        if not isinstance(entry, OperatorDesc):
            continue
        path = f"ActivationDescs/{i}"
        if not entry.type.startswith("ACTIVATION_"):
            message = f"ActivationDescs[{i}] is {entry.type}, which is no activation operator."
            yield Finding(codes.NOT_AN_ACTIVATION, path, message, "ACTIVATION_*", entry.type)
        for field, value in entry.items():
            if field.is_tensor and isinstance(value, (TensorDesc, tuple)):
                message = f"{field.name} of an activation in a list is null."
                yield Finding(codes.NOT_AN_ACTIVATION, f"{path}/{field.name}", message, "null", "a tensor")


@rule("gru/shapes", "lstm/shapes", "rnn/shapes")
def shapes(subject: Subject) -> Iterator[Finding]:
    """Every tensor has the shape of its field, such as ``{ 1, num_directions, 3 * hidden_size, input_size }``.

    A name stands for the size in the first tensor that has it by itself; the other tensors are held against that.
    """
    known = {"num_directions": 2 if subject.text("Direction") == "BIDIRECTIONAL" else 1}
    shaped: list[tuple[str, tuple[int, ...], list[str]]] = []
    for field in subject.schema.tensor_fields:
        tensor = subject.optional(field.name) if subject.is_readable(field.name) else None
        if tensor is not None and field.shape is not None:
            terms = [term.strip() for term in field.shape.strip("{} ").split(",")]
            if len(terms) == tensor.rank:  # another rank is a matter of the support tables
                shaped.append((field.name, tensor.sizes, terms))
                for term, size in zip(terms, tensor.sizes, strict=True):
                    if term.isidentifier():
                        known.setdefault(term, size)
    for name, sizes, terms in shaped:
        for i, (term, size) in enumerate(zip(terms, sizes, strict=True)):
            expected = _product(term, known)
            if expected is not None and size != expected:
                yield wrong_size(name, i, size, expected, term)


def _product(term: str, known: Mapping[str, int]) -> int | None:
    """``3 * hidden_size``; ``None`` while a name in it stands for nothing."""
    factors = [int(factor) if factor.isdigit() else known.get(factor) for factor in term.replace(" ", "").split("*")]
    numbers = [factor for factor in factors if factor is not None]
    return prod(numbers) if len(numbers) == len(factors) else None
