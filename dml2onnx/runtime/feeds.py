"""What a model is fed with: checked before ONNX Runtime sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dml2onnx import arguments
from dml2onnx.codes.running import INPUT_SHAPE, INPUT_TYPE, MISSING_INPUT, UNKNOWN_INPUT
from dml2onnx.diagnostics import Diagnostic, DmlError, quote, shortened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from dml2onnx.model import Array, Port


def check_inputs(ports: Sequence[Port], given: Mapping[str, npt.ArrayLike]) -> dict[str, Array]:
    """ONNX feeds; all that is wrong with names, types and shapes is reported at once.

    An array has the shape of the buffer in memory order, or is flat.
    """
    arrays = arguments.arrays(given)
    findings: list[Diagnostic] = []
    feeds: dict[str, Array] = {}
    names = shortened(", ".join(port.name for port in ports)) or "none"
    known = {port.name for port in ports}
    for name in arrays:
        if name not in known:
            message = f"the model has no input {quote(name)}; its inputs are: {names}"
            findings.append(UNKNOWN_INPUT.at(message, expected=names, found=name))
    for port in ports:
        if port.name not in arrays:
            expected = f"{port.dtype} {list(port.shape)}"
            findings.append(MISSING_INPUT.at(f"nothing was given for input {quote(port.name)}", expected=expected))
            continue
        array = arrays[port.name]
        if array.dtype != port.dtype:
            message = f"input {quote(port.name)} must be {port.dtype}, not {array.dtype}"
            findings.append(INPUT_TYPE.at(message, expected=port.dtype, found=array.dtype))
        elif array.shape != port.shape and array.shape != (int(np.prod(port.shape)),):
            wanted = f"shape {list(port.shape)} (or be flat)"
            message = f"input {quote(port.name)} must have {wanted}, not {list(array.shape)}"
            findings.append(INPUT_SHAPE.at(message, expected=list(port.shape), found=list(array.shape)))
        else:
            feeds[port.onnx_name] = np.ascontiguousarray(array).reshape(port.shape)
    if findings:
        raise DmlError(*findings)
    return feeds
