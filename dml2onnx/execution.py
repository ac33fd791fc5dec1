"""Compiles and runs a graph once, and carries out the print and write commands of its program."""

from __future__ import annotations

import os
from dataclasses import dataclass
from io import BytesIO
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx import arguments
from dml2onnx.codes.running import OUTPUT_OUTSIDE, OUTPUT_UNWRITABLE
from dml2onnx.compiler import CompiledModel, at_sizes, at_values, compile_named, compile_outputs, require_clean
from dml2onnx.diagnostics import Diagnostic, DmlError, plural, quote
from dml2onnx.files import check_target, make_directory, put, spare
from dml2onnx.frontends import graph_of
from dml2onnx.ir.graph import Effect, Graph, GraphOutput, Value
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.onnx_model import Array, OnnxPort
from dml2onnx.options import CompileOptions, RunKeywords, takes
from dml2onnx.providers.choice import ProviderLike, chosen
from dml2onnx.providers.installed import require_providers
from dml2onnx.runtime import NodeAssignment, NodeTime, assignments, fell_back
from dml2onnx.runtime.feeds import named_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Unpack

    import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Execution:
    """The result of one run: the final contents of every buffer written, and the array of each effect, in order."""

    results: dict[str, Array]
    outputs: tuple[GraphOutput, ...]
    """The outputs of ``results``, in the same order."""
    shown: tuple[tuple[Effect, Array], ...]
    times: tuple[NodeTime, ...]
    assignment: tuple[NodeAssignment, ...]
    """Where each ONNX node ran, if requested."""
    fell_back: tuple[Diagnostic, ...]
    """If requested as well: a finding (DML3023) for each node that ran on none of the requested providers."""
    warnings: tuple[Diagnostic, ...]
    """Warnings of the session; the model has its own."""
    model: CompiledModel


@takes(RunKeywords)
def run(
    model: Graph | str | os.PathLike[str],
    inputs: Mapping[str, npt.ArrayLike] | None = None,
    provider: ProviderLike = "cpu",
    *,
    sizes: Mapping[str, Sequence[int | str]] | None = None,
    ranges: Mapping[str, tuple[int, int]] | None = None,
    target: str | None = None,
    max_bytes: int | None = None,
    **keywords: Unpack[RunKeywords],
) -> dict[str, Array]:
    """Compiles and runs a graph, or the model file at a path, and returns its outputs by name.

    ``inputs`` are arrays in memory order, flat, or in the Sizes of their tensors, if that is another shape. Missing
    inputs get the sample contents of the model, so a DxDispatch program runs on its own initial values. For such a
    program the result has every resource that it wrote. Each output has the shape of the last tensor written to it, or
    is flat if that is not the whole resource.

    ``sizes`` are other sizes of inputs, and ``ranges`` those of names among them, as for :func:`compile`; the arrays
    determine the sizes of names. ``target`` is by default that of the provider. ``opset``, ``feature_level``,
    ``documented``, ``exact``, ``optimize``, ``without_passes``, ``quant_format`` and ``half`` are as for
    :func:`compile`, ``provider`` and ``max_bytes`` as for :meth:`CompiledModel.session`. Raises :class:`DmlError` with
    every finding.
    """
    providers = require_providers(provider)
    options = CompileOptions.of(**keywords, target=providers.target if target is None else target)
    supplied = arguments.arrays(inputs)
    return execute(at_sizes(graph_of(model), sizes, ranges), supplied, providers, options, max_bytes=max_bytes).results


def execute(
    graph: Graph,
    inputs: Mapping[str, npt.ArrayLike] | Callable[[Sequence[OnnxPort]], Mapping[str, npt.ArrayLike]],
    provider: ProviderLike = "cpu",
    options: CompileOptions | None = None,
    *,
    profile: bool = False,
    assignment: bool = False,
    max_bytes: int | None = None,
    progress: Callable[[str], object] | None = None,
) -> Execution:
    """As :func:`run`, with the effects of the program and, on request, the time and provider of every ONNX node.

    ``inputs`` may also be a function that makes them for the ports of the compiled model. ``progress`` is called with a
    line about each step.
    """
    tell = progress or (lambda text: None)
    providers = chosen(provider)
    how = CompileOptions(target=providers.target) if options is None else options

    def compiling(text: str) -> None:
        tell(f"compiling, {text}")

    if graph.named_sizes:
        compiled = compile_named(graph, _wanted, how, compiling)
    else:
        warnings = require_clean(graph, how.feature_level, documented=how.documented)
        compiled = compile_outputs(graph, _wanted(graph), how, warnings=warnings, progress=compiling)
    tell(f"loading {plural(compiled.node_count, 'ONNX node')}")
    session = compiled.session(providers, profile=profile or assignment, max_bytes=max_bytes)
    supplied = inputs(compiled.inputs) if callable(inputs) else inputs
    tell(f"running {plural(compiled.node_count, 'ONNX node')}")
    feeds = compiled.complete(supplied)
    memory = session.run(feeds)
    finished = compiled.finish(memory)
    if graph.effects and graph.named_sizes:
        graph = at_values(graph, named_values(compiled.inputs, arguments.arrays(feeds)))
    results = list(graph.results or graph.outputs)
    names = {output.value: output.name for output in _wanted(graph)}
    shown = tuple((effect, _bytes_as(effect, memory[names[effect.output.value]])) for effect in graph.effects)
    kept = {output.name: finished[output.name] for output in results}
    times = tuple(session.end_profile()) if profile or assignment else ()
    found = assignments(compiled.lowered, session.assigned(), times) if assignment else ()
    back = fell_back(found, providers, session.providers)
    kept_times = times if profile else ()
    return Execution(kept, tuple(results), shown, kept_times, found, back, session.warnings, compiled)


def _wanted(graph: Graph) -> list[GraphOutput]:
    """The outputs of the model of a run: its results, and buffers that only effects show."""
    results = list(graph.results or graph.outputs)
    return [*results, *_whole_buffers(graph, results)]


def _whole_buffers(graph: Graph, results: Sequence[GraphOutput]) -> list[GraphOutput]:
    """An output for every value of which effects show more than ``results`` do, as long as the longest effect."""
    widest: dict[Value, int] = {}
    for effect in graph.effects:
        value = effect.output.value
        widest[value] = max(effect.output.desc.reach, widest.get(value, 0))
    for output in results:
        # a tensor that fills its buffer may end within the buffer's last 4 bytes
        if output.value in widest and -(-output.desc.reach // 4) >= -(-widest[output.value] // 4):
            del widest[output.value]
    names = {output.name for output in results}
    types = {write.value: desc.data_type for node in graph.nodes for _, _, write, desc in node.views_out()}
    extra: list[GraphOutput] = []
    for index, effect in enumerate(graph.effects):
        value = effect.output.value
        if value in widest:
            name = f"{effect.output.name}@{index}"
            while name in names:
                name += "'"
            # in the data type of its last writer, so that the model needs no Cast
            extra.append(GraphOutput(name, value, _row(types.get(value), effect.output.desc, widest.pop(value))))
    return extra


def _row(written: DataType | None, shown: TensorDesc, nbytes: int) -> TensorDesc:
    for data_type in (written, shown.data_type):
        if data_type is not None and nbytes * 8 % data_type.bits == 0:
            return TensorDesc(data_type, (nbytes * 8 // data_type.bits,))
    return TensorDesc(DataType.UINT8, (nbytes,))


def _bytes_as(effect: Effect, memory: Array) -> Array:
    """A buffer's bytes as the effect's tensor: flat, in the data type of the resource.

    4-bit elements stay packed, two to a byte, since files get the buffer's bytes.
    """
    desc = effect.output.desc
    raw = np.ascontiguousarray(memory).reshape(-1).view(np.uint8)
    wanted = desc.reach
    if raw.size < wanted:  # the size is rounded up to 4 bytes
        raw = np.concatenate([raw, np.zeros(wanted - raw.size, np.uint8)])
    return raw[:wanted].view(np.uint8 if desc.data_type.is_packed_nibbles else desc.data_type.dtype)


def write_effect(effect: Effect, array: Array, directory: Path, sources: Iterable[Path] = ()) -> Path:
    """Carries out a ``writeFile`` command below ``directory`` and returns the file.

    ``.npy`` files have the shape of the command's ``dimensions``, which may omit the end of the buffer. Pictures need
    dimensions N, C, H, W. Any other file gets the buffer's bytes. A path outside the directory is refused (DML3010),
    and so is one of ``sources`` (DML3012).
    """
    path = effect_path(effect, directory)
    dimensions = effect.dimensions or array.shape
    if prod(dimensions) > array.size:
        message = f"{quote(effect.path)}: {array.size} elements cannot be written with dimensions {list(dimensions)}"
        raise DmlError(OUTPUT_UNWRITABLE.at(message, expected=list(dimensions), found=array.size))
    shaped = array[: prod(dimensions)].reshape(dimensions)
    make_directory(path.parent)
    check_target(path)
    spare([path], sources)
    match path.suffix.lower():
        case ".npy":
            save_npy(path, shaped)
        case ".png" | ".jpg":
            put(path, [_picture(shaped, path.suffix.lower())])
        case _:
            put(path, [np.ascontiguousarray(array).tobytes()])
    return path


def effect_path(effect: Effect, directory: Path) -> Path:
    """The file of a ``writeFile`` command. DxDispatch runs on Windows, so a backslash separates names."""
    try:
        root = directory.resolve()
        path = (root / effect.path.replace("\\", "/")).resolve()
    except (OSError, ValueError, RuntimeError) as error:
        message = f"{quote(effect.path)} is no path: {getattr(error, 'strerror', None) or error}"
        raise DmlError(OUTPUT_UNWRITABLE.at(message, found=quote(effect.path))) from None
    if not path.is_relative_to(root):
        message = f"{quote(effect.path)} lies outside of {quote(str(root))}"
        raise DmlError(OUTPUT_OUTSIDE.at(message, found=quote(effect.path), expected=f"a path below {root}"))
    return path


def save_npy(path: Path, array: Array) -> None:
    """Writes an array to a ``.npy`` file, atomically."""
    header = BytesIO()
    ordered = np.asarray(array, order="C")
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(ordered))
    put(path, [header.getvalue(), ordered.tobytes()])


def _picture(array: Array, suffix: str) -> bytes:
    """An encoded picture from N, C, H, W with 1, 3 or 4 channels; values 0 to 1 are scaled to 255 and truncated."""
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
