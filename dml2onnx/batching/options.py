"""The keywords of ``dml2onnx.batch``, and their checked values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from dml2onnx import arguments
from dml2onnx.batching.work import BatchRequest
from dml2onnx.diagnostics import quote
from dml2onnx.options import RunKeywords
from dml2onnx.providers import choice as providers

if TYPE_CHECKING:
    import os

    from dml2onnx.providers.choice import ProviderLike
    from dml2onnx.report.batched import Action


class WorkOptions(RunKeywords, total=False):
    """Options for reading, compiling and verifying each model; the defaults are those of the single commands."""

    max_bytes: int | None
    target: str | None
    freeze: bool
    inputs: Iterable[str]
    constants: Mapping[str, str | os.PathLike[str] | None] | Iterable[str]
    constant_directories: Iterable[str | os.PathLike[str]]
    allow_paths: Iterable[str | os.PathLike[str]]
    external_data: bool | None
    shapes: bool
    ir_version: int | None
    cases: int
    seed: int
    provider: ProviderLike


def batch_request(do: Action, options: WorkOptions) -> BatchRequest:
    """The request with checked options; raises :class:`DmlError` for a wrong value."""
    values: dict[str, Any] = {name: _CHECKED[name](value) for name, value in options.items()}
    if values.get("target") is None:
        values["target"] = arguments.target(values.get("provider", providers.Providers()).target)
    return BatchRequest(do, **values)


def paths(argument: Iterable[object], name: str) -> list[Path]:
    """Converts texts and path-like objects."""
    return [arguments.path_of(item, f"a path in {name}") for item in argument]


def _level(argument: object) -> str | None:
    level = arguments.feature_level(argument)
    return None if level is None else level.name


def _path_names(name: str) -> Callable[[Any], tuple[str, ...]]:
    return lambda argument: tuple(map(str, paths(argument, name)))


def _flag(name: str) -> Callable[[object], bool]:
    return lambda argument: arguments.flag(argument, name)


def _named_files(
    argument: Mapping[str, str | os.PathLike[str] | None] | Iterable[str],
) -> tuple[tuple[str, str | None], ...]:
    """Names of inputs, each with the file of its contents; not arrays, which the journal could not store."""
    if not isinstance(argument, Mapping):
        return tuple((name, None) for name in arguments.names(argument, "constants"))
    return tuple(
        (
            arguments.text(name, "constants", "names of inputs"),
            None if file is None else str(arguments.path_of(file, f"the contents of {quote(name)}")),
        )
        for name, file in argument.items()
    )


_CHECKED: Mapping[str, Callable[[Any], object]] = MappingProxyType(
    {
        "max_bytes": lambda argument: None if argument is None else arguments.whole_number(argument, "max_bytes", 1),
        "feature_level": _level,
        "documented": _flag("documented"),
        "opset": arguments.opset,
        "target": lambda argument: None if argument is None else arguments.target(argument),
        "freeze": _flag("freeze"),
        "inputs": lambda argument: arguments.names(argument, "inputs"),
        "constants": _named_files,
        "constant_directories": _path_names("constant_directories"),
        "allow_paths": _path_names("allow_paths"),
        "external_data": lambda argument: None if argument is None else arguments.flag(argument, "external_data"),
        "shapes": _flag("shapes"),
        "exact": _flag("exact"),
        "optimize": lambda argument: argument,  # BatchRequest checks this one, quant_format and ir_version
        "without_passes": lambda argument: arguments.names(argument, "without_passes"),
        "quant_format": lambda argument: argument,
        "half": _flag("half"),
        "ir_version": lambda argument: argument,
        "cases": lambda argument: arguments.whole_number(argument, "cases", 1),
        "seed": lambda argument: arguments.whole_number(argument, "seed"),
        "provider": providers.chosen,
    }
)
"""The function that checks and converts each option for :class:`BatchRequest`."""
