"""Turns inputs into constants, with contents from the model or from the caller, for all formats.

A graph is read as it is, and then settled. Contents that are given fit an input as those for ``run`` do: arrays in
memory order and in the type of the tensor that reads them, bytes as many as the tensor has.
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
from dml2onnx.frontends.array_files import ContentsFile, RawBytes, fitted, read_contents_file
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
"""What files of a directory may have behind the name of the input whose contents they are."""


class _Contents(NamedTuple):
    """What was given for an input, and the file that it is from."""

    supplied: Array | RawBytes
    path: Path | None


def settled(graph: Graph, options: LoadOptions) -> Graph:
    """The graph with those inputs turned into constants that the options say; its findings tell what cannot be.

    Constants whose files are not there count as inputs, and stay what they are where no option names them.
    """
    _refuse_both(options)
    absent = [item for item in graph.constants if isinstance(item.data, MissingData)]
    graph = replace(
        graph,
        inputs=(*graph.inputs, *(GraphInput(item.value.name, item.value) for item in absent)),
        constants=tuple([item for item in graph.constants if not isinstance(item.data, MissingData)]),
    )
    findings = Findings()
    contents: dict[str, _Contents | None] = dict(_of_directories(graph, options, findings))
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
        findings.say(codes.NOTHING_FROZEN, message, expected="an input with contents")
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


def _refuse_both(options: LoadOptions) -> None:
    """:class:`UnreadableError` for inputs that are named as constants and as inputs; a directory names nothing."""
    problems = [
        codes.UNKNOWN_OPTION_NAME.at(
            f"{quote(name)} is asked to be a constant (--constant, constants) and to stay an input (--input, inputs)",
            expected="one of the two",
            found=quote(name),
        )
        for name in sorted(options.contents().keys() & options.inputs)
    ]
    if problems:
        raise UnreadableError(*problems)


def _check_names(graph: Graph, options: LoadOptions, contents: dict[str, _Contents | None], findings: Findings) -> None:
    """Findings about names that the graph does not have; none about graphs that could not be read completely."""
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
        findings.say(codes.UNKNOWN_OPTION_NAME, message, expected=expected, found=quote(name))


def _data(
    item: GraphInput,
    desc: TensorDesc,
    contents: dict[str, _Contents | None],
    options: LoadOptions,
    findings: Findings,
) -> Data | None:
    """The bytes of an input that is to be a constant; ``None`` for one that stays, or has to."""
    own = contents.get(item.name)
    if own is not None:
        return None if item.value.nbytes >= UNBOUNDED else _fitted(item, desc, own.supplied, findings)
    if item.name in contents and item.default is None:
        message = f"{quote(item.name)} cannot become a constant, since the model gives no contents for it"
        findings.say(codes.NO_CONTENTS, message, item.source, expected="contents, as in --constant NAME=FILE")
    wanted = item.name in contents or (options.freeze and item.name not in options.inputs)
    return item.default if wanted else None


def _fitted(item: GraphInput, desc: TensorDesc, supplied: Array | RawBytes, findings: Findings) -> Data | None:
    stored, shape = in_memory(desc), stored_shape(desc)
    dtype, count = stored.data_type.dtype, prod(shape)
    name, nbytes = quote(item.name), item.value.nbytes  # a constant, or an input that becomes one
    wanted = f"{dtype} {list(shape)}, or {plural(count * dtype.itemsize, 'byte')}"
    if isinstance(supplied, RawBytes):
        if not count * dtype.itemsize <= supplied.content.size <= nbytes:
            found = plural(supplied.content.size, "byte")
            message = f"{supplied.what} has {found}, and {name} takes {count * dtype.itemsize} ({desc})"
            findings.say(codes.CONTENTS_DIFFER, message, item.source, expected=wanted, found=found)
            return None
        return padded(ArrayData(supplied.content), nbytes)
    array = fitted(supplied, dtype, shape, name)
    if array.dtype != dtype or array.shape not in (shape, (count,)):
        found = f"{array.dtype} {list(array.shape)}"
        message = f"an array of {found} was given for {name}, which lies in memory as {dtype} {list(shape)}"
        findings.say(codes.CONTENTS_DIFFER, message, item.source, expected=wanted, found=found)
        return None
    return padded(ArrayData.of(array), nbytes)


# --- Where contents come from -----------------------------------------------------------------------------------------


def _read(name: str, supplied: InputContents, most: int) -> _Contents:
    if isinstance(supplied, (str, os.PathLike)):
        supplied = ContentsFile.named(os.fspath(supplied))
    if isinstance(supplied, ContentsFile):
        return _Contents(read_contents_file(name, supplied, most), supplied.path.resolve())
    if isinstance(supplied, (bytes, bytearray, memoryview)):
        try:
            return _Contents(RawBytes(np.frombuffer(supplied, np.uint8), f"what was given for {quote(name)}"), None)
        except (ValueError, BufferError):
            raise refusal(f"the contents of {quote(name)}", supplied, "contiguous bytes") from None
    return _Contents(array(supplied, f"the constant {quote(name)}"), None)


def _of_directories(graph: Graph, options: LoadOptions, findings: Findings) -> Iterator[tuple[str, _Contents]]:
    """The contents of inputs in files that are named after them."""
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
                findings.say(codes.TWO_FILES, message, expected="one file for each input", found=quote(path.name))
            else:
                found[name] = path
        for name, path in found.items():
            if name not in options.inputs:
                yield name, _read(name, ContentsFile(path), options.max_bytes)
        if others:
            inputs = listing([quote(item.name) for item in graph.inputs]) or "no input"
            verb = "belongs" if len(others) == 1 else "belong"
            message = f"{listing([quote(name) for name in others])} in {quote(str(directory))} {verb} to no input"
            findings.say(codes.UNUSED_FILES, message, expected=f"files named after {inputs}")


def _stems(path: Path) -> Iterator[str]:
    yield path.name
    if path.suffix.lower() in SUFFIXES:
        yield path.stem


def _files(directory: Path, allowed: tuple[Path, ...], findings: Findings) -> list[Path]:
    """The files of a directory; findings about those that lead out of it, as a link may."""
    try:
        files = sorted(path for path in directory.iterdir() if path.is_file())
        kept = [path for path in files if lies_below(path, (directory, *allowed))]
        for path in sorted(set(files) - set(kept)):
            message = f"{quote(path.name)} leads out of {quote(str(directory))}, to {quote(str(path.resolve()))}"
            expected = "a file in that directory, or --allow-path DIR for another"
            findings.say(codes.FILE_OUTSIDE, message, expected=expected, found=quote(str(path.resolve())))
        return kept
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = f"cannot read the directory {quote(str(directory))}: {reason}"
        raise UnreadableError(codes.FILE_UNREADABLE.at(message, expected="a directory", found=reason)) from None
