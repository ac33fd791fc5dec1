"""ROI_ALIGN, ROI_ALIGN1, ROI_ALIGN_GRAD and ROI_POOLING: one result per region."""

from __future__ import annotations

from collections.abc import Iterator

from dml2onnx.diagnostics import Diagnostic
from dml2onnx.ir.operator import Size2D
from dml2onnx.rules.shapes.rules import formula, rule
from dml2onnx.rules.shapes.sizes import Term, Whole, exactly, free, wrong_sizes
from dml2onnx.rules.subject import Subject, UnanswerableError


def _regions(subject: Subject) -> int:
    """The number of regions: ``ROITensor`` is ``{ .., NumROIs, 4 }``."""
    sizes = subject.sizes("ROITensor")
    if len(sizes) < 2:
        raise UnanswerableError
    return sizes[-2]


@formula("roi_align/size-output", "roi_align1/size-output", tensor="OutputTensor", always=False)
def aligned_size(subject: Subject, rank: int) -> Iterator[Term]:
    """``{ NumROIs, ChannelCount, .. }`` with any height and width."""
    return _one_per_region(subject, rank, "InputTensor")


@formula("roi_align_grad/size-input-gradient", tensor="InputGradientTensor")
def gradient_size(subject: Subject, rank: int) -> Iterator[Term]:
    """``{ NumROIs, ChannelCount, .. }`` with the channels of the forward input."""
    image = "InputTensor" if subject.value("InputTensor") is not None else "OutputGradientTensor"
    return _one_per_region(subject, rank, image)


def _one_per_region(subject: Subject, rank: int, image: str) -> Iterator[Term]:
    if rank != 4:
        raise UnanswerableError
    yield exactly(_regions(subject), "the number of regions in ROITensor")
    if subject.optional(image) is not None:
        yield exactly(subject.sizes_of_rank(image, 4)[1], f"{image}.Sizes[1]")
    else:
        yield free()
    yield from (free(), free())


@rule("roi_align/size-roi", "roi_align1/size-roi", "roi_align_grad/size-roi")
def corners_size(subject: Subject) -> Iterator[Diagnostic]:
    """``{ 1.., NumROIs, 4 }``."""
    found = subject.sizes("ROITensor")
    expected = (*(1,) * (len(found) - 2), _regions(subject), 4)
    yield from wrong_sizes("ROITensor", found, expected, "two corners per region")


@rule("roi_align/size-batch-indices", "roi_align1/size-batch-indices", "roi_align_grad/size-batch-indices")
def batch_indices_size(subject: Subject) -> Iterator[Diagnostic]:
    """``{ 1.., NumROIs }``."""
    found = subject.sizes("BatchIndicesTensor")
    expected = (*(1,) * (len(found) - 1), _regions(subject))
    yield from wrong_sizes("BatchIndicesTensor", found, expected, "one batch index per region")


@formula("roi_pooling/size-output", tensor="OutputTensor")
def pooled_size(subject: Subject, rank: int) -> Whole:
    """``{ NumROIs, ChannelCount, PooledSize.Height, PooledSize.Width }``."""
    pooled = subject.value("PooledSize")
    if not isinstance(pooled, Size2D):
        raise UnanswerableError
    expected = (_regions(subject), subject.sizes_of_rank("InputTensor", 4)[1], pooled.height, pooled.width)
    return Whole.of(expected, "regions, channels, PooledSize")


@rule("roi_pooling/size-roi")
def pooled_corners_size(subject: Subject) -> Iterator[Diagnostic]:
    """``{ 1, 1, NumROIs, 5 }``: a batch index and two corners."""
    found = subject.sizes("ROITensor")
    yield from wrong_sizes("ROITensor", found, (1, 1, _regions(subject), 5), "batch index and two corners per region")
