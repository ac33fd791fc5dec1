"""UPSAMPLE_2D; RESAMPLE and its gradients allow any output sizes."""

from __future__ import annotations

from dml2onnx.ir.operator import Size2D
from dml2onnx.rules.shapes.rules import formula
from dml2onnx.rules.shapes.sizes import Whole
from dml2onnx.rules.subject import Subject, UnanswerableError


@formula("upsample_2d/size-output", tensor="OutputTensor")
def upsampled_size(subject: Subject, rank: int) -> Whole:
    """The last two sizes are multiplied by ``ScaleSize``."""
    sizes, scale = subject.sizes("InputTensor"), subject.value("ScaleSize")
    if not isinstance(scale, Size2D) or len(sizes) < 2:
        raise UnanswerableError
    expected = (*sizes[:-2], sizes[-2] * scale.height, sizes[-1] * scale.width)
    return Whole.of(expected, "the input's, scaled by ScaleSize")
