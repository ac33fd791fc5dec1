"""Writing a graph and what lies beside it, without a loss to what is there."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from dml2onnx.codes.exporting import BESIDE_OUTPUT
from dml2onnx.codes.running import OUTPUT_IS_SOURCE
from dml2onnx.diagnostics import DmlError
from dml2onnx.ir.data import PaddedData
from dml2onnx.writer import check_target, replace_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import BinaryIO

    from dml2onnx.ir.data import Data
    from dml2onnx.ir.graph import Graph

CHUNK = 1 << 24


def spare_sources(targets: Iterable[Path], graph: Graph, model: Path | None = None) -> None:
    """Refuses to replace the model or a file that it names (DML3012)."""
    sources = set() if model is None else {model}
    for data in (*(item.data for item in graph.constants), *(item.default for item in graph.inputs)):
        while isinstance(data, PaddedData):
            data = data.head
        path = getattr(data, "path", None)
        if isinstance(path, Path):
            sources.add(path)
    for target in targets:
        if target.exists() and any(source.exists() and source.samefile(target) for source in sources):
            message = f"{target} is what the model is read from; choose another file to write"
            raise DmlError(OUTPUT_IS_SOURCE.at(message, found=str(target)))


def write_files(path: Path, contents: bytes, beside: Mapping[str, Data]) -> list[Path]:
    """Writes a file and those beside it by their names; returns all of them, the file first.

    Each is complete when it gets its name, ``path`` last. Those beside it replace others only when ``path`` does.
    """
    check_target(path)
    others = {path.with_name(name): data for name, data in beside.items()}
    present = {other for other in others if other.exists()}
    if present and not path.exists():
        raise DmlError(
            *(
                BESIDE_OUTPUT.at(f"{other} is there already, and {path} is not", found=str(other))
                for other in sorted(present)
            )
        )
    written: list[Path] = []
    try:
        for other, data in others.items():
            _replace(other, data)
            written.append(other)
        replace_file(path, lambda file: file.write(contents))
    except DmlError:
        for other in written:
            if other not in present:
                with suppress(OSError):
                    other.unlink()
        raise
    return [path, *written]


def _replace(path: Path, data: Data) -> None:
    def write(file: BinaryIO) -> None:
        for start in range(0, data.nbytes, CHUNK):
            file.write(data.read(start, min(CHUNK, data.nbytes - start)).data)

    replace_file(path, write)
