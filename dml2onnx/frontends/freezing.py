"""Turns graph inputs into constants, with contents from the model or from the caller, for all formats.

Contents from the caller follow the rules of ``run``: arrays in memory order and in the type of the tensor that reads
them, or as many bytes as the tensor has.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dml2onnx.arguments import array, refusal
from dml2onnx.codes import reading as codes
from dml2onnx.diagnostics import UnreadableError, plural
from dml2onnx.frontends.array_files import ContentsFile, RawBytes, convert_contents, read_contents_file
from dml2onnx.frontends.files import lies_below
from dml2onnx.frontends.findings import Findings, listing, quote
from dml2onnx.frontends.names import file_stem
from dml2onnx.frontends.options import InputContents, LoadOptions
from dml2onnx.frontends.unresolved import UNBOUNDED
from dml2onnx.ir.data import ArrayData, Data, MissingData, padded
from dml2onnx.ir.graph import Constant, Graph, GraphInput
from dml2onnx.ir.inputs import in_memory, input_descs, stored_shape
from dml2onnx.ir.tensor import TensorDesc

if TYPE_CHECKING:
    from dml2onnx.arguments import Array

SUFFIXES = (".npy", ".npz", ".bin", ".raw", ".dat", "")
"""Suffixes of files in a directory that are named after an input."""


class _Contents(NamedTuple):
    """The contents of an input from the caller, and their file."""

    supplied: Array | RawBytes
    path: Path | None


def freeze_inputs(graph: Graph, options: LoadOptions) -> Graph:
    """Turns the inputs that the options name into constants, with findings for those that cannot be.

    Constants whose files are missing are treated as inputs, but stay constants unless an option names them.
    """
    _reject_conflicts(options)
    absent = [item for item in graph.constants if isinstance(item.data, MissingData)]
    graph = replace(
        graph,
        inputs=(*graph.inputs, *(GraphInput(item.value.name, item.value) for item in absent)),
        constants=tuple([item for item in graph.constants if not isinstance(item.data, MissingData)]),
    )
    findings = Findings()
    contents: dict[str, _Contents | None] = dict(_read_directories(graph, options, findings))
    for name, supplied in options.contents().items():
        contents[name] = None if supplied is None else _read(name, supplied, options.max_bytes)
    _check_names(graph, options, contents, findings)
    constants: list[Constant] = []
    descs = input_descs(graph.inputs, graph.nodes, (*graph.outputs, *graph.results))
    for item, desc in zip(graph.inputs, descs, strict=True):
        data = _data(item, desc, contents, options, findings)
        if data is not None:
            constants.append(Constant(item.value, data))
    if options.freeze and not constants:
        message = "--freeze has no effect: no input has contents, or --input excepts all that have"
        findings.report(codes.NOTHING_FROZEN, message, expected="an input with contents")
    named = {item.value.name for item in constants} | options.inputs
    constants += [item for item in absent if item.value.name not in named]
    frozen = {item.value for item in constants}
    return replace(
        graph,
        inputs=tuple([item for item in graph.inputs if item.value not in frozen]),
        constants=(*constants, *graph.constants),
        findings=(
            *(item for item in graph.findings if item.code != codes.MISSING_CONTENTS.id or item.node not in named),
            *findings.all(),
        ),
        sources=(*graph.sources, *(item.path for item in contents.values() if item is not None and item.path)),
    )


def _reject_conflicts(options: LoadOptions) -> None:
    """Raises :class:`UnreadableError` for names that are both in ``constants`` and in ``inputs``."""
    problems = [
        codes.UNKNOWN_OPTION_NAME.at(
            f"{quote(name)} is both a constant (--constant, constants) and an input (--input, inputs)",
            expected="one of the two",
            found=quote(name),
        )
        for name in sorted(options.contents().keys() & options.inputs)
    ]
    if problems:
        raise UnreadableError(*problems)


def _check_names(graph: Graph, options: LoadOptions, contents: dict[str, _Contents | None], findings: Findings) -> None:
    """Reports names that the graph does not have, unless the graph has errors."""
    if any(item.is_error for item in graph.findings):
        return
    inputs = {item.name for item in graph.inputs}
    constants = {item.value.name for item in graph.constants}
    expected = listing([quote(name) for name in sorted(inputs)]) or "no name"
    for name in sorted(contents.keys() | options.inputs):
        if name in inputs or (name in constants and name not in options.inputs and contents[name] is None):
            continue
        if name in constants:
            what = "cannot become an input" if name in options.inputs else "has contents already"
            message = f"{quote(name)} is a constant of the model, and {what}"
        else:
            message = f"the model has no input {quote(name)}{findings.did_you_mean(name, inputs)}"
        findings.report(codes.UNKNOWN_OPTION_NAME, message, expected=expected, found=quote(name))


def _data(
    item: GraphInput, desc: TensorDesc, contents: dict[str, _Contents | None], options: LoadOptions, findings: Findings
) -> Data | None:
    """Returns the contents of an input that becomes a constant, or ``None`` if it stays an input."""
    own = contents.get(item.name)
    if own is not None:
        return None if item.value.nbytes >= UNBOUNDED else _convert(item, desc, own.supplied, findings)
    if item.name in contents and item.default is None:
        message = f"{quote(item.name)} cannot become a constant, since the model has no contents for it"
        findings.report(codes.NO_CONTENTS, message, item.source, expected="contents, as in --constant NAME=FILE")
    is_frozen = item.name in contents or (options.freeze and item.name not in options.inputs)
    return item.default if is_frozen else None


def _convert(item: GraphInput, desc: TensorDesc, supplied: Array | RawBytes, findings: Findings) -> Data | None:
    stored, shape = in_memory(desc), stored_shape(desc)
    dtype, count = stored.data_type.dtype, prod(shape)
    name, nbytes = quote(item.name), item.value.nbytes  # a constant, or an input that becomes one
    expected = f"{dtype} {list(shape)}, or {plural(count * dtype.itemsize, 'byte')}"
    if isinstance(supplied, RawBytes):
        if not count * dtype.itemsize <= supplied.content.size <= nbytes:
            found = plural(supplied.content.size, "byte")
            message = f"{supplied.what} has {found}, and {name} takes {count * dtype.itemsize} ({desc})"
            findings.report(codes.CONTENTS_DIFFER, message, item.source, expected=expected, found=found)
            return None
        return padded(ArrayData(supplied.content), nbytes)
    array = convert_contents(supplied, dtype, shape, name)
    if array.dtype != dtype or array.shape not in (shape, (count,)):
        found = f"{array.dtype} {list(array.shape)}"
        message = f"an array of {found} was given for {name}, which is in memory as {dtype} {list(shape)}"
        findings.report(codes.CONTENTS_DIFFER, message, item.source, expected=expected, found=found)
        return None
    return padded(ArrayData.of(array), nbytes)


# --- Sources of contents ----------------------------------------------------------------------------------------------


def _read(name: str, supplied: InputContents, max_bytes: int) -> _Contents:
    if isinstance(supplied, (str, os.PathLike)):
        supplied = ContentsFile.parse(os.fspath(supplied))
    if isinstance(supplied, ContentsFile):
        return _Contents(read_contents_file(name, supplied, max_bytes), supplied.path.resolve())
    if isinstance(supplied, (bytes, bytearray, memoryview)):
        try:
            return _Contents(RawBytes(np.frombuffer(supplied, np.uint8), f"the contents for {quote(name)}"), None)
        except (ValueError, BufferError):
            raise refusal(f"the contents of {quote(name)}", supplied, "contiguous bytes") from None
    return _Contents(array(supplied, f"the constant {quote(name)}"), None)


def _read_directories(graph: Graph, options: LoadOptions, findings: Findings) -> Iterator[tuple[str, _Contents]]:
    """Yields the contents of inputs from files that are named after them."""
    stems = {name: item.name for item in graph.inputs for name in (file_stem(item.name), item.name)}
    sources = {path.resolve() for path in graph.sources}
    for directory in options.constant_directories:
        found: dict[str, Path] = {}
        others: list[str] = []
        for path in _files(directory, options.allow_paths, findings):
            name = next((stems[stem] for stem in _stems(path) if stem in stems), None)
            if name is None:
                if path.suffix.lower() in SUFFIXES and path.resolve() not in sources:
                    others.append(path.name)
            elif name in found:
                message = f"{quote(found[name].name)} and {quote(path.name)} are both named after {quote(name)}"
                findings.report(codes.TWO_FILES, message, expected="one file for each input", found=quote(path.name))
            else:
                found[name] = path
        for name, path in found.items():
            if name not in options.inputs:
                yield name, _read(name, ContentsFile(path), options.max_bytes)
        if others:
            inputs = listing([quote(item.name) for item in graph.inputs]) or "no input"
            verb = "belongs" if len(others) == 1 else "belong"
            message = f"{listing([quote(name) for name in others])} in {quote(str(directory))} {verb} to no input"
            findings.report(codes.UNUSED_FILES, message, expected=f"files named after {inputs}")


def _stems(path: Path) -> Iterator[str]:
    yield path.name
    if path.suffix.lower() in SUFFIXES:
        yield path.stem


def _files(directory: Path, allowed: tuple[Path, ...], findings: Findings) -> list[Path]:
    """Returns the files of a directory, and reports links that lead out of it."""
    try:
        files = sorted(path for path in directory.iterdir() if path.is_file())
        kept = [path for path in files if lies_below(path, (directory, *allowed))]
        for path in sorted(set(files) - set(kept)):
            message = f"{quote(path.name)} leads out of {quote(str(directory))}, to {quote(str(path.resolve()))}"
            expected = "a file in that directory, or --allow-path DIR for another"
            findings.report(codes.FILE_OUTSIDE, message, expected=expected, found=quote(str(path.resolve())))
        return kept
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = f"cannot read the directory {quote(str(directory))}: {reason}"
        raise UnreadableError(codes.FILE_UNREADABLE.at(message, expected="a directory", found=reason)) from None
