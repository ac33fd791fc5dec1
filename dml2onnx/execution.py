"""Running a graph once: compile, run, and carry out what a program prints and writes to files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.codes.running import OUTPUT_OUTSIDE, OUTPUT_UNWRITABLE
from dml2onnx.compiler import compile_outputs, require_clean
from dml2onnx.diagnostics import DmlError
from dml2onnx.frontends import load
from dml2onnx.ir.graph import Graph, GraphOutput
from dml2onnx.writer import replace_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from dml2onnx.compiler import CompiledModel
    from dml2onnx.ir.graph import Effect
    from dml2onnx.lowering.emitter.core import Array
    from dml2onnx.runtime import NodeTime


@dataclass(frozen=True, slots=True)
class Execution:
    """What one run gave: the final contents of every buffer written, and what each effect showed, in order."""

    results: dict[str, Array]
    shown: tuple[tuple[Effect, Array], ...]
    times: tuple[NodeTime, ...]
    model: CompiledModel


def run(
    model: Graph | str | os.PathLike[str],
    inputs: Mapping[str, npt.ArrayLike] | None = None,
    provider: str = "cpu",
) -> dict[str, Array]:
    """Compiles and runs a graph, or the model file at a path, and returns its outputs by name.

    ``inputs`` are arrays in memory order; what is left out takes the sample contents that came with the model, so a
    DxDispatch program runs on its own initial values. Of such a program every resource that it wrote is returned.
    Each array has the shape of the tensor that wrote it last. Raises :class:`DmlError` with every finding.
    """
    graph = model if isinstance(model, Graph) else load(model)
    return execute(graph, inputs or {}, provider).results


def execute(
    graph: Graph, inputs: Mapping[str, npt.ArrayLike], provider: str = "cpu", *, profile: bool = False
) -> Execution:
    """As :func:`run`, with the effects of the program and, when asked for, what every ONNX node cost."""
    results = list(graph.results or graph.outputs)
    names = {output.value: output.name for output in results}
    extra: list[GraphOutput] = []
    for index, effect in enumerate(graph.effects):
        if effect.output.value not in names:
            names[effect.output.value] = f"{effect.output.name}@{index}"
            extra.append(GraphOutput(names[effect.output.value], effect.output.value, effect.output.desc))
    warnings = require_clean(graph)
    compiled = compile_outputs(graph, [*results, *extra], target=provider, warnings=warnings)
    session = compiled.session(provider, profile=profile)
    memory = session.run(compiled.complete(inputs))
    finished = compiled.finish(memory)
    shown = tuple((effect, _bytes_as(effect, memory[names[effect.output.value]])) for effect in graph.effects)
    kept = {output.name: finished[output.name] for output in results}
    return Execution(kept, shown, tuple(session.end_profile()) if profile else (), compiled)


def _bytes_as(effect: Effect, memory: Array) -> Array:
    """A buffer's bytes as the effect's tensor: the flat contents in the resource's own data type.

    4-bit elements stay as they lie in memory, two to a byte, since files get the buffer's bytes.
    """
    desc = effect.output.desc
    raw = np.ascontiguousarray(memory).reshape(-1).view(np.uint8)
    wanted = desc.data_type.bytes_for(desc.extent)
    if raw.size < wanted:
        raw = np.concatenate([raw, np.zeros(wanted - raw.size, np.uint8)])
    return raw[:wanted].view(np.uint8 if desc.data_type.is_packed_nibbles else desc.data_type.dtype)


def write_effect(effect: Effect, array: Array, directory: Path) -> Path:
    """Carries out a ``writeFile`` command below ``directory`` and returns the file.

    ``.npy`` files have the shape of the command's ``dimensions``, pictures need them as N, C, H, W, every other file is
    the buffer's bytes. A path that leaves the directory is refused (DML3010).
    """
    root = directory.resolve()
    path = (root / effect.path).resolve()
    if not path.is_relative_to(root):
        message = f"{effect.path} lies outside of {root}"
        raise DmlError(OUTPUT_OUTSIDE.at(message, found=effect.path, expected=f"a path below {root}"))
    dimensions = effect.dimensions or array.shape
    if int(np.prod(dimensions)) != array.size:
        message = f"{effect.path}: {array.size} elements cannot be written with dimensions {list(dimensions)}"
        raise DmlError(OUTPUT_UNWRITABLE.at(message, expected=list(dimensions), found=array.size))
    shaped = array.reshape(dimensions)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DmlError(OUTPUT_UNWRITABLE.at(f"cannot make {path.parent}: {error.strerror}")) from None
    match path.suffix.lower():
        case ".npy":
            save_npy(path, shaped)
        case ".png" | ".jpg" | ".jpeg":
            content = _picture(shaped, path.suffix.lower())
            replace_file(path, lambda file: file.write(content))
        case _:
            replace_file(path, lambda file: file.write(np.ascontiguousarray(array).tobytes()))
    return path


def save_npy(path: Path, array: Array) -> None:
    """One array as a ``.npy`` file, in place only when complete."""
    replace_file(path, lambda file: np.save(file, array, allow_pickle=False))


def _picture(array: Array, suffix: str) -> bytes:
    """N, C, H, W with 1, 3 or 4 channels, values from 0 to 1 scaled to 255 by truncation."""
    try:
        from PIL import Image
    except ImportError:
        message = "writing pictures needs Pillow: pip install dml2onnx[images]"
        raise DmlError(OUTPUT_UNWRITABLE.at(message)) from None
    if array.ndim != 4 or array.shape[0] != 1 or array.shape[1] not in (1, 3, 4):
        message = f"a picture needs dimensions 1, C, H, W with 1, 3 or 4 channels, not {list(array.shape)}"
        raise DmlError(OUTPUT_UNWRITABLE.at(message, found=list(array.shape)))
    scaled = (np.clip(np.nan_to_num(array[0].astype(np.float64)), 0, 1) * 255).astype(np.uint8)
    pixels = scaled[0] if len(scaled) == 1 else scaled.transpose(1, 2, 0)
    content = BytesIO()
    picture = Image.fromarray(pixels)
    if suffix == ".png":
        picture.save(content, "PNG")
    else:
        picture.convert("RGB").save(content, "JPEG")
    return content.getvalue()
