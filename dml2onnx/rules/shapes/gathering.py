"""GATHER, SCATTER and their relatives, ONE_HOT, NONZERO_COORDINATES: data sizes and index sizes."""

from __future__ import annotations

from collections.abc import Iterator

from dml2onnx.codes import checking as codes
from dml2onnx.diagnostics import Diagnostic, plural
from dml2onnx.rules.constraints import effective_rank
from dml2onnx.rules.findings import accepting
from dml2onnx.rules.shapes.rules import formula, rule
from dml2onnx.rules.shapes.sizes import Term, Whole, exactly, extended, wrong_size, wrong_sizes
from dml2onnx.rules.subject import Subject, UnanswerableError


@formula("gather/size-output", tensor="OutputTensor")
def gathered_size(subject: Subject, rank: int) -> Whole:
    """The input's sizes with those of the index in place of the axis, right-aligned."""
    gathered = _gathered(subject, rank)
    gathered = gathered[len(gathered) - rank :]  # gathered_rank reports excess dimensions
    return Whole.of(gathered, f"the index's in place of axis {subject.axis('Axis', len(subject.sizes('InputTensor')))}")


def _gathered(subject: Subject, rank: int) -> tuple[int, ...]:
    """The sizes of the gathered elements, in ``rank`` or more dimensions."""
    sizes, indices = subject.sizes("InputTensor"), subject.sizes("IndicesTensor")
    axis, count = subject.axis("Axis", len(sizes)), subject.uint("IndexDimensions")
    if not 0 <= count <= len(indices):
        raise UnanswerableError
    return extended((*sizes[:axis], *indices[len(indices) - count :], *sizes[axis + 1 :]), rank)


@rule("gather/output-rank")
def gathered_rank(subject: Subject) -> Iterator[Diagnostic]:
    """The output has enough dimensions."""
    rank = max(effective_rank(subject.sizes("InputTensor")), 1)
    output = subject.tensor("OutputTensor").rank
    # an axis among the leading ones keeps those after it
    needed = max(rank + subject.uint("IndexDimensions") - 1, len(_gathered(subject, output)))
    if needed > output:
        message = f"The gathered elements need {needed} dimensions; OutputTensor has {output}."
        yield codes.WRONG_DIMENSION_COUNT.of("OutputTensor/Sizes", message, f"at least {needed}", output)


@rule("gather/indices-leading-ones")
def leading_ones(subject: Subject) -> Iterator[Diagnostic]:
    """Sizes of the index before its ``IndexDimensions`` are 1.

    DirectML also accepts the first sizes of the input before the axis, ignoring leading ones of both.
    """
    indices, count = subject.sizes("IndicesTensor"), subject.uint("IndexDimensions")
    if count > len(indices):
        return
    lead, sizes = indices[: len(indices) - count], subject.sizes("InputTensor")
    batch = lead[len(lead) - effective_rank(lead) :]
    first = sizes[len(sizes) - effective_rank(sizes) :][: len(batch)]
    is_accepted = batch == first and len(batch) <= subject.axis("Axis", len(sizes))
    for i, size in enumerate(lead):
        if size != 1:
            finding = wrong_size("IndicesTensor", i, size, 1, why=f"since IndexDimensions is {count}")
            if is_accepted:
                finding = accepting(finding, "whether each row has its own indices depends on the device")
            yield finding


@rule("gather_elements/size-indices", "scatter/size-indices")
def indices_along_axis(subject: Subject) -> Iterator[Diagnostic]:
    """The index has the input's sizes except along the axis, where that of SCATTER may be smaller."""
    sizes = subject.sizes("InputTensor")
    axis, scatters = subject.axis("Axis", len(sizes)), subject.desc.type == "SCATTER"
    for i, found in enumerate(subject.sizes_of_rank("IndicesTensor", len(sizes))):
        if i != axis and found != sizes[i]:
            yield wrong_size("IndicesTensor", i, found, sizes[i], f"InputTensor.Sizes[{i}]")
        elif scatters and found > sizes[i]:
            yield wrong_size("IndicesTensor", i, found, f"at most {sizes[i]}", f"InputTensor.Sizes[{i}]")


@rule("one_hot/size-indices")
def one_hot_indices(subject: Subject) -> Iterator[Diagnostic]:
    """One index per sequence along the axis."""
    output = subject.sizes("OutputTensor")
    axis = subject.axis("Axis", len(output))
    expected = (*output[:axis], 1, *output[axis + 1 :])
    found = subject.sizes_of_rank("IndicesTensor", len(output))
    yield from wrong_sizes("IndicesTensor", found, expected, f"one index per sequence along axis {axis}")


@formula("nonzero_coordinates/size-output-coordinates", tensor="OutputCoordinatesTensor", rank=2)
def coordinates_size(subject: Subject, rank: int) -> Whole:
    """``{ 1.., M, N }``: M coordinates, one per input element, of N numbers."""
    tensor = subject.tensor("InputTensor")
    if rank < 2:
        raise UnanswerableError
    fewest = effective_rank(tensor.sizes)
    words = f"one row per input element, of {fewest} to {tensor.rank} numbers"
    front = [exactly(size, words) for size in (*(1,) * (rank - 2), tensor.element_count)]
    return Whole((*front, Term(tensor.rank, words, words, fewest, tensor.rank)), words)


# --- Tuples of indices ----------------------------------------------------------------------------------------------


def _batches(subject: Subject) -> int:
    """The number of batch dimensions, which have no coordinates in tuples: those of GATHER_ND1."""
    return subject.uint("BatchDimensionCount") if "BatchDimensionCount" in subject.index else 0


def _relevant(subject: Subject) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Input and index sizes without their filler dimensions."""
    sizes, indices = subject.sizes("InputTensor"), subject.sizes("IndicesTensor")
    count, index_count = subject.positive("InputDimensionCount"), subject.positive("IndicesDimensionCount")
    if count > len(sizes) or index_count > len(indices):
        raise UnanswerableError
    return sizes[len(sizes) - count :], indices[len(indices) - index_count :]


def _tuples(subject: Subject, rank: int) -> Whole:
    """``{ 1.., index sizes without the last, input sizes after the tuple's dimensions }``."""
    sizes, indices = _relevant(subject)
    first = _batches(subject) + indices[-1]
    if first > len(sizes):
        raise UnanswerableError
    return Whole.of(
        extended((*indices[:-1], *sizes[first:]), rank), "index sizes, then the input sizes that a tuple does not index"
    )


gathered_tuples_size = formula("gather_nd/size-output", "gather_nd1/size-output", tensor="OutputTensor")(_tuples)
updates_size = formula("scatter_nd/size-updates", tensor="UpdatesTensor")(_tuples)


@rule("gather_nd/tuple-dimensions", "gather_nd1/tuple-dimensions", "scatter_nd/tuple-dimensions")
def tuple_dimensions(subject: Subject) -> Iterator[Diagnostic]:
    """The output or updates have at least as many dimensions as the counts imply, even of size 1."""
    sizes, indices = _relevant(subject)
    name = "UpdatesTensor" if "UpdatesTensor" in subject.index else "OutputTensor"
    fewest = len(indices) - 1 + max(len(sizes) - indices[-1] - _batches(subject), 0)
    found = subject.tensor(name).rank
    if found < fewest:
        message = f"{name} has {plural(found, 'dimension')}; by the dimension counts it has to have at least {fewest}."
        yield codes.WRONG_DIMENSION_COUNT.of(f"{name}/Sizes", message, f"at least {fewest}", found)


@rule("gather_nd/filler-ones", "gather_nd1/filler-ones", "scatter_nd/filler-ones")
def filler_ones(subject: Subject) -> Iterator[Diagnostic]:
    """Sizes before the counted dimensions are 1."""
    for tensor, name in (("InputTensor", "InputDimensionCount"), ("IndicesTensor", "IndicesDimensionCount")):
        sizes, count = subject.sizes(tensor), subject.positive(name)
        for i, size in enumerate(sizes[: max(len(sizes) - count, 0)]):
            if size != 1:
                yield wrong_size(tensor, i, size, 1, why=f"since {name} is {count}")


@rule("gather_nd/tuple-length", "gather_nd1/tuple-length", "scatter_nd/tuple-length")
def tuple_length(subject: Subject) -> Iterator[Diagnostic]:
    """A tuple has at most as many coordinates as the input has dimensions after the batch dimensions."""
    batches, (sizes, indices) = _batches(subject), _relevant(subject)
    if batches + indices[-1] > len(sizes):
        last = subject.tensor("IndicesTensor").rank - 1
        words = "InputDimensionCount" if batches == 0 else "InputDimensionCount - BatchDimensionCount"
        yield wrong_size("IndicesTensor", last, indices[-1], f"at most {max(len(sizes) - batches, 0)}", words)


@rule("scatter_nd/indices-strides")
def indices_strides(subject: Subject) -> Iterator[Diagnostic]:
    """Strides of 0 do not repeat tuples of indices."""
    tensor = subject.tensor("IndicesTensor")
    for i, (size, stride) in enumerate(zip(tensor.sizes, tensor.strides or (1,) * tensor.rank, strict=False)):
        if size > 1 and stride == 0:
            message = f"IndicesTensor.Strides[{i}] is 0 and Sizes[{i}] is {size}; a stride may not repeat indices."
            yield codes.REPEATED_INDICES.of(f"IndicesTensor/Strides/{i}", message, "at least 1", 0)


@rule("gather_nd1/batch-sizes")
def batch_sizes(subject: Subject) -> Iterator[Diagnostic]:
    """Input and index have the same batch sizes."""
    sizes, indices = _relevant(subject)
    batches = subject.uint("BatchDimensionCount")
    filler = subject.tensor("IndicesTensor").rank - len(indices)
    for i, (wanted, found) in enumerate(zip(sizes[:batches], indices[:batches], strict=False)):
        if wanted != found:
            yield wrong_size("IndicesTensor", filler + i, found, wanted, "the batch size of InputTensor")
