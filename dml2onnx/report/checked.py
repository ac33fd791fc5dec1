"""The answer of ``check``."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from dml2onnx.diagnostics import Diagnostic, DmlError, UnreadableError, quote, unescape
from dml2onnx.report.form import ALWAYS, Answer, Head, Json, located

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dml2onnx.catalog import FeatureLevel
    from dml2onnx.ir.graph import Graph


@dataclass(frozen=True, slots=True)
class NativeDescriptor:
    """An operator's descriptor in the native format."""

    type: str
    desc: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class NodeAboveLevelRecord:
    """A node that needs a higher feature level than the one that is checked."""

    node: str
    operator: str
    needs: str
    """The first level with it."""
    ships_with: str
    """The first products with that level."""
    reason: str
    instead: str
    """An equivalent chain of operators at the level; empty if none is known."""
    at: str = ""
    """The level of the equivalent: the one that is checked, or else the lowest possible."""
    descriptors: tuple[NativeDescriptor, ...] = ()
    """The equivalent as descriptors, each of which reads the output of the previous one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckAnswer(Answer):
    """The answer of ``check`` for one model."""

    command: Literal["check"] = field(default="check", metadata=ALWAYS)
    model: str
    """The path of the file on the command line."""
    is_readable: bool = True
    """False if the file is not a model; then only the diagnostics have contents."""
    feature_level: str | None
    """The checked level."""
    minimum_feature_level: str | None
    """The lowest level that allows the graph."""
    ships_with: str = ""
    """The first products with that level."""
    directml_nodes: int
    hidden: int = 0
    """The number of findings that ``--select`` and ``--ignore`` drop, which are not counted as errors or warnings."""
    above_level: tuple[NodeAboveLevelRecord, ...] | None = None
    """With ``--suggest``, the nodes above the level, or without a level those that need the highest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckAllAnswer(Head):
    """The answer of ``check`` for several models, or a directory."""

    command: Literal["check"] = field(default="check", metadata=ALWAYS)
    errors: int
    """The number in all models."""
    warnings: int
    """The number in all models."""
    models: tuple[CheckAnswer, ...]


def checked(
    graph: Graph,
    level: FeatureLevel,
    found: Sequence[Diagnostic],
    model: str,
    data: bytes | None = None,
    above_level: tuple[NodeAboveLevelRecord, ...] | None = None,
) -> CheckAnswer:
    """The answer for a graph at a ``level``, with the locations of findings in the file ``model``, or in ``data``."""
    from dml2onnx.checks import minimum_feature_level
    from dml2onnx.frontends.locations import locate

    pointers = _pointers(found)
    places = {}
    if pointers and graph.format != "serialized":
        places = locate(data if data is not None else Path(model).read_bytes(), pointers)
    minimum = minimum_feature_level(graph)
    return CheckAnswer(
        diagnostics=tuple(located(item, model, places) for item in found),
        model=model,
        feature_level=level.name,
        minimum_feature_level=None if minimum is None else minimum.name,
        ships_with="" if minimum is None else minimum.info.ships_with,
        directml_nodes=len(graph.nodes) + graph.unread_nodes,
        above_level=above_level,
    )


def placed_in(path: Path, found: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The findings with their locations in a file, if it is JSON."""
    from dml2onnx.frontends.locations import locate

    pointers = _pointers(found)
    try:
        places = locate(path.read_bytes(), pointers) if pointers and path.suffix == ".json" and path.is_file() else {}
    except (DmlError, OSError, ValueError):  # the findings report it if it matters
        places = {}
    return tuple([located(item, str(path), places) for item in found])


def _pointers(found: Sequence[Diagnostic]) -> dict[str, bool]:
    """The pointers of findings and their other places, and whether each is about the name of a member."""
    pointers = {place.pointer: False for item in found for place in item.places if place.pointer.startswith("/")}
    return pointers | {item.pointer: _is_about_name(item) for item in found if item.pointer.startswith("/")}


def unchecked(model: str, error: DmlError) -> CheckAnswer:
    """The answer for a file that could not be read completely."""
    return CheckAnswer(
        diagnostics=error.diagnostics,
        model=model,
        is_readable=not isinstance(error, UnreadableError),
        feature_level=None,
        minimum_feature_level=None,
        directml_nodes=0,
    )


def _is_about_name(item: Diagnostic) -> bool:
    """Whether a finding is about the name of a member, not its value."""
    return item.found == quote(unescape(item.pointer.rpartition("/")[2]))
