"""Rules for every tensor descriptor, independent of the operator.

https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_buffer_tensor_desc
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from dml2onnx.codes import checking as codes
from dml2onnx.diagnostics import Diagnostic
from dml2onnx.ir.tensor import MAX_DIMENSIONS, MAX_ELEMENTS, packed_strides
from dml2onnx.rules.findings import accepting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dml2onnx.diagnostics import Code
    from dml2onnx.ir.tensor import TensorDesc

DOCUMENTATION = "https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_buffer_tensor_desc"


@lru_cache(maxsize=1 << 14)
def tensor_findings(tensor: TensorDesc, is_output: bool) -> tuple[Diagnostic, ...]:
    """Returns the findings about a tensor descriptor; paths start inside it (``"Sizes/2"``)."""
    return (*_own(tensor), *(_as_output(tensor) if is_output else ()))


def is_measurable(tensor: TensorDesc) -> bool:
    """Whether the rank, sizes and strides are valid, so that the memory of the tensor is known."""
    return not any(finding.code in SHAPELESS for finding in tensor_findings(tensor, False))


MINIMUM_ALIGNMENT = 16
"""``DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT``, in bytes."""

SHAPELESS = (codes.DIMENSION_COUNT_LIMIT, codes.ZERO_SIZE, codes.TOO_MANY_ELEMENTS, codes.STRIDE_COUNT)


def strides_in_elements(tensor: TensorDesc) -> tuple[int, ...] | None:
    """Returns the packed strides if the strides equal them in bytes, for three or more sizes above 1.

    Two such sizes may be one plane of an image with interleaved channels.
    """
    strides, sizes = tensor.strides, tensor.sizes
    if strides is None or tensor.data_type.bits <= 8 or len(strides) != len(sizes) or sum(n > 1 for n in sizes) < 3:
        return None
    packed, nbytes = packed_strides(sizes), tensor.data_type.itemsize
    is_alike = all(n == 1 or s == p * nbytes for n, s, p in zip(sizes, strides, packed, strict=True))
    return packed if is_alike else None


def _finding(code: Code, path: str, message: str, expected: object = "", found: object = "") -> Diagnostic:
    return code.of(path, message, expected, found, documentation=DOCUMENTATION)


def _own(tensor: TensorDesc) -> Iterator[Diagnostic]:
    shape = list(_shape(tensor))
    yield from shape
    if not shape:
        yield from _total_size(tensor)
    yield from _alignment(tensor)


def _shape(tensor: TensorDesc) -> Iterator[Diagnostic]:
    rank = tensor.rank
    if not 1 <= rank <= MAX_DIMENSIONS:
        message = f"A tensor has 1 to {MAX_DIMENSIONS} dimensions; this one has {rank}."
        yield _finding(codes.DIMENSION_COUNT_LIMIT, "Sizes", message, f"1 to {MAX_DIMENSIONS}", rank)
    for i, size in enumerate(tensor.sizes):
        if size < 1:
            yield _finding(
                codes.ZERO_SIZE, f"Sizes/{i}", f"Sizes[{i}] is {size}; every size is at least 1.", "at least 1", size
            )
    if tensor.strides is not None and len(tensor.strides) != rank:
        message = f"{len(tensor.strides)} strides for {rank} dimensions."
        yield _finding(codes.STRIDE_COUNT, "Strides", message, rank, len(tensor.strides))
    elif tensor.element_count > MAX_ELEMENTS:
        message = f"Sizes {list(tensor.sizes)} make {tensor.element_count} elements; the limit is {MAX_ELEMENTS}."
        yield _finding(codes.TOO_MANY_ELEMENTS, "Sizes", message, MAX_ELEMENTS, tensor.element_count)
    elif tensor.extent > MAX_ELEMENTS:
        message = f"Strides reach over {tensor.extent} elements of memory; the limit is {MAX_ELEMENTS}."
        yield _finding(codes.TOO_MANY_ELEMENTS, "Strides", message, MAX_ELEMENTS, tensor.extent)
    elif _in_whole_words(tensor) > MAX_ELEMENTS:
        message = f"{tensor.extent} elements fill words of 4 bytes that hold {_in_whole_words(tensor)}; the limit is "
        yield _finding(codes.TOO_MANY_ELEMENTS, "Sizes", f"{message}{MAX_ELEMENTS}.", MAX_ELEMENTS, tensor.extent)


def _in_whole_words(tensor: TensorDesc) -> int:
    """The number of elements in the 4-byte words that the tensor occupies, which is what DirectML counts."""
    per_word = max(32 // tensor.data_type.bits, 1)
    return -(-tensor.extent // per_word) * per_word


def _packed_in_order(sizes: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
    """Packed strides that keep the order of the dimensions in memory, if the strides have one."""
    if strides == packed_strides((sizes[0], *sizes[2:], *sizes[1:2])):  # they are listed as N, H, W, C
        return (strides[0], strides[-1], *strides[1:-1])
    if len(set(strides)) < len(strides) or 0 in strides:
        return packed_strides(sizes)
    found, step = dict[int, int](), 1
    for axis in sorted(range(len(sizes)), key=lambda axis: strides[axis]):
        found[axis] = step
        step *= sizes[axis]
    return tuple([found[axis] for axis in range(len(sizes))])


def _total_size(tensor: TensorDesc) -> Iterator[Diagnostic]:
    if tensor.total_size and tensor.total_size < tensor.minimum_bytes:
        is_count = tensor.total_size in (tensor.element_count, tensor.extent)
        message = f"{tensor} needs {tensor.minimum_bytes} bytes; TotalTensorSizeInBytes is {tensor.total_size}"
        if is_count:
            message += ", which is the number of elements."
        else:
            is_unrounded = tensor.total_size == -(-tensor.extent * tensor.data_type.bits // 8)
            message += ", which is no multiple of 4." if is_unrounded else "."
        yield _finding(
            codes.TOTAL_SIZE_TOO_SMALL,
            "TotalTensorSizeInBytes",
            message,
            tensor.minimum_bytes,
            tensor.total_size,
        )
    elif tensor.total_size * 8 // tensor.data_type.bits > MAX_ELEMENTS:
        limit = MAX_ELEMENTS * tensor.data_type.bits // 8 // 4 * 4
        message = f"TotalTensorSizeInBytes {tensor.total_size} allows for more than {MAX_ELEMENTS} elements."
        yield _finding(codes.TOO_MANY_ELEMENTS, "TotalTensorSizeInBytes", message, limit, tensor.total_size)


def _alignment(tensor: TensorDesc) -> Iterator[Diagnostic]:
    alignment = tensor.alignment
    if alignment and (alignment < MINIMUM_ALIGNMENT or alignment & (alignment - 1)):
        expected = f"0 or a power of two of at least {MINIMUM_ALIGNMENT}"
        message = f"GuaranteedBaseOffsetAlignment is {alignment}; it has to be {expected}."
        yield _finding(codes.BAD_ALIGNMENT, "GuaranteedBaseOffsetAlignment", message, expected, alignment)


def _as_output(tensor: TensorDesc) -> Iterator[Diagnostic]:
    if tensor.owned_by_dml:
        message = "An output cannot carry DML_TENSOR_FLAG_OWNED_BY_DML."
        yield _finding(codes.OWNED_OUTPUT, "Flags", message, "NONE", "OWNED_BY_DML")
    if tensor.strides is not None and is_measurable(tensor) and tensor.is_overlapping:
        message = f"Strides {list(tensor.strides)} let several of the {list(tensor.sizes)} elements share memory."
        expected = list(_packed_in_order(tensor.sizes, tensor.strides))
        finding = _finding(codes.OVERLAPPING_OUTPUT, "Strides", message, expected, list(tensor.strides))
        yield accepting(finding, "which of them stays is undefined") if _may_race(tensor) else finding


def _may_race(tensor: TensorDesc) -> bool:
    """Whether DirectML accepts this output whose elements overlap, which its check does not detect [decision G15]."""
    strides = [stride for size, stride in zip(tensor.sizes, tensor.effective_strides, strict=True) if size > 1]
    return len({0, *strides}) == len(strides) + 1 and tensor.element_count <= tensor.extent
