"""GEMM and the integer matrix products: sizes that have to match."""

from __future__ import annotations

from collections.abc import Iterator

from dml2onnx.codes import checking as codes
from dml2onnx.diagnostics import Diagnostic
from dml2onnx.rules.shapes.rules import WordedRule, formula, rule
from dml2onnx.rules.shapes.sizes import Whole, extended, wrong_sizes
from dml2onnx.rules.subject import Subject, UnanswerableError


def _operands(subject: Subject) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Sizes of A and B after transposition: {.., M, K} and {.., K, N}."""
    a, b = subject.sizes("ATensor"), subject.sizes("BTensor")
    if "TransA" not in subject.index:  # integer products add leading ones to the smaller operand
        rank = max(len(a), len(b))
        a, b = extended(a, rank), extended(b, rank)
    if len(a) != len(b) or len(a) < 2:
        raise UnanswerableError
    if "TransA" in subject.index:
        a = _transformed(a, subject.text("TransA"))
        b = _transformed(b, subject.text("TransB"))
    return a, b


def _transformed(sizes: tuple[int, ...], transform: str) -> tuple[int, ...]:
    return (*sizes[:-2], sizes[-1], sizes[-2]) if transform == "TRANSPOSE" else sizes


@formula(
    "gemm/size-output",
    "matrix_multiply_integer/size-output",
    "matrix_multiply_integer_to_float/size-output",
    "quantized_linear_matrix_multiply/size-output",
    tensor="OutputTensor",
)
def output_size(subject: Subject, rank: int) -> Whole:
    """``{ BatchCount, ChannelCount, M, N }`` with M from A and N from B after transposition."""
    a, b = _operands(subject)
    product = (*a[:-1], b[-1])
    if len(product) != rank and "TransA" in subject.index:
        raise UnanswerableError
    return Whole.of(extended(product, rank), "M from ATensor and N from BTensor")


@rule(
    "gemm/matrix-sizes",
    "matrix_multiply_integer/matrix-sizes",
    "matrix_multiply_integer_to_float/matrix-sizes",
    "quantized_linear_matrix_multiply/matrix-sizes",
)
def matrix_sizes(subject: Subject) -> Iterator[Diagnostic]:
    """A and B have the same batch and channel sizes (zero strides broadcast) and the same K."""
    a, b = _operands(subject)
    if a[:-2] != b[:-2]:
        message = (
            f"BTensor has batch sizes {list(b[:-2])} and ATensor has {list(a[:-2])}; they need the same, with strides "
            "of 0 to repeat a matrix."
        )
        yield codes.DIFFERENT_SIZES.of("BTensor/Sizes", message, list(a[:-2]), list(b[:-2]))
    if a[-1] != b[-2]:
        message = f"ATensor has rows of K = {a[-1]} elements and BTensor has columns of {b[-2]}."
        yield codes.DIFFERENT_SIZES.of("BTensor/Sizes", message, f"K = {a[-1]}", f"K = {b[-2]}")


def _along(field: str, stem: str, *operators: str, rows: bool) -> WordedRule:
    """``field`` has one element, or one per row (M) or column (N)."""

    def check(subject: Subject) -> Iterator[Diagnostic]:
        tensor = subject.optional(field)
        if tensor is None or tensor.element_count == 1:
            return
        a, b = _operands(subject)
        count = a[-2] if rows else b[-1]
        shape = (count, 1) if rows else (1, count)
        expected = extended(shape, tensor.rank)
        words = f"a single element, or one per {'row' if rows else 'column'}"
        yield from wrong_sizes(field, tensor.sizes, expected, words)

    return rule(*(f"{operator}/{stem}" for operator in operators))(check)


_INTEGER, _TO_FLOAT = "matrix_multiply_integer", "matrix_multiply_integer_to_float"
_QUANTIZED = "quantized_linear_matrix_multiply"

a_zero_point = _along("AZeroPointTensor", "size-a-zero-point", _INTEGER, _TO_FLOAT, _QUANTIZED, rows=True)
b_zero_point = _along("BZeroPointTensor", "size-b-zero-point", _INTEGER, _TO_FLOAT, _QUANTIZED, rows=False)
a_scale = _along("AScaleTensor", "size-a-scale", _TO_FLOAT, _QUANTIZED, rows=True)
b_scale = _along("BScaleTensor", "size-b-scale", _TO_FLOAT, _QUANTIZED, rows=False)
output_scale = _along("OutputScaleTensor", "size-output-scale", _QUANTIZED, rows=True)
output_zero_point = _along("OutputZeroPointTensor", "size-output-zero-point", _QUANTIZED, rows=True)
