"""Writing a graph and what lies beside it, without a loss to what is there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dml2onnx.codes.exporting import BESIDE_OUTPUT
from dml2onnx.codes.running import OUTPUT_UNWRITABLE
from dml2onnx.diagnostics import DmlError, quote
from dml2onnx.exporters.native_contents import Sidecar
from dml2onnx.files import check_target, put
from dml2onnx.ir.data import stream

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dml2onnx.files import Target
    from dml2onnx.ir.data import Data


def write_files(target: Target, contents: bytes, beside: Mapping[str, Data]) -> list[Path]:
    """Writes a file and those beside it by their names; returns all of them, the file first.

    Those beside it replace others only when the file does.
    """
    if not isinstance(target, Path):
        if beside:
            message = "large constants go to files beside the one that is written, and this output has no name"
            raise DmlError(OUTPUT_UNWRITABLE.at(message, expected="a regular file"))
        return put(target, [contents])
    check_target(target)
    others = {target.with_name(name): data for name, data in beside.items()}
    present = [other for other in others if other.exists()]
    if present and not target.exists():
        raise DmlError(
            *(
                BESIDE_OUTPUT.at(
                    f"{quote(str(other))} is there already, and {quote(str(target))} is not", found=str(other)
                )
                for other in sorted(present)
            )
        )
    parts = {other: data.stream() if isinstance(data, Sidecar) else stream(data) for other, data in others.items()}
    return put(target, [contents], parts)
