"""UPSAMPLE_2D; the output sizes of RESAMPLE and its gradients are free."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.checks.shapes.rules import rule
from dml2onnx.checks.shapes.sizes import wrong_sizes
from dml2onnx.checks.subject import UnanswerableError
from dml2onnx.ir.operator import Size2D

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dml2onnx.checks.findings import Finding
    from dml2onnx.checks.subject import Subject


@rule("upsample_2d/size-output")
def upsampled_size(subject: Subject) -> Iterator[Finding]:
    """The last two sizes grow by the whole-number factors of ``ScaleSize``."""
    sizes, scale = subject.sizes("InputTensor"), subject.value("ScaleSize")
    if not isinstance(scale, Size2D) or len(sizes) < 2:
        raise UnanswerableError
    expected = (*sizes[:-2], sizes[-2] * scale.height, sizes[-1] * scale.width)
    yield from wrong_sizes("OutputTensor", subject.sizes("OutputTensor"), expected, "the input's, scaled by ScaleSize")
