"""REDUCE, ARGMIN, ARGMAX, TOP_K: sizes along the axes."""

from __future__ import annotations

from collections.abc import Iterator

from dml2onnx.rules.shapes.rules import formula
from dml2onnx.rules.shapes.sizes import Term, exactly
from dml2onnx.rules.subject import Subject


@formula("argmax/size-output", "argmin/size-output", "reduce/size-output", tensor="OutputTensor")
def reduced_size(subject: Subject, rank: int) -> Iterator[Term]:
    """Reduced axes have size 1, the others the input's."""
    sizes, axes = subject.sizes_of_rank("InputTensor", rank), subject.numbers("Axes")
    for i, size in enumerate(sizes):
        if i in axes:
            yield exactly(1, f"one element, as dimension {i} is reduced")
        else:
            yield exactly(size, f"InputTensor.Sizes[{i}]")


def _top_k(subject: Subject, rank: int) -> Iterator[Term]:
    """K elements along the axis."""
    sizes, k = subject.sizes_of_rank("InputTensor", rank), subject.uint("K")
    axis = subject.axis("Axis", rank)
    for i, size in enumerate(sizes):
        yield exactly(k, "K") if i == axis else exactly(size, f"InputTensor.Sizes[{i}]")


top_values_size = formula("top_k/size-output-value", "top_k1/size-output-value", tensor="OutputValueTensor")(_top_k)
top_indices_size = formula("top_k/size-output-index", "top_k1/size-output-index", tensor="OutputIndexTensor")(_top_k)
