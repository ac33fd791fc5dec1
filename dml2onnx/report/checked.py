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
class Descriptor:
    """An operator's descriptor, as the native format has it."""

    type: str
    desc: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class NodeAboveLevel:
    """A node that needs a higher feature level than the one in question."""

    node: str
    operator: str
    needs: str
    """The first level that has it."""
    ships_with: str
    """The products that first have that level."""
    reason: str
    instead: str
    """An equivalent at the level, of one operator or several in a row; empty if none is known."""
    at: str = ""
    """The level of the equivalent: the one in question, or else the lowest that has it."""
    descriptors: tuple[Descriptor, ...] = ()
    """The equivalent as descriptors, each of which reads the output of the one before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckAnswer(Answer):
    """What ``check`` says of one model."""

    command: Literal["check"] = field(default="check", metadata=ALWAYS)
    model: str
    """The file, as it was named."""
    is_readable: bool = True
    """Whether the model could be read; then all but the diagnostics is known."""
    feature_level: str | None
    """The level that was checked."""
    minimum_feature_level: str | None
    """The lowest level that admits the graph."""
    ships_with: str = ""
    """The products that first have that level."""
    directml_nodes: int
    hidden: int = 0
    """Findings that are left out, as ``--select`` and ``--ignore`` ask; errors among them do not count as errors."""
    above_level: tuple[NodeAboveLevel, ...] | None = None
    """With ``--suggest``, the nodes that the level does not have; without a level those that need the highest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckAllAnswer(Head):
    """What ``check`` says of several models, or of a directory."""

    command: Literal["check"] = field(default="check", metadata=ALWAYS)
    errors: int
    """Of all models."""
    warnings: int
    """Of all models."""
    models: tuple[CheckAnswer, ...]


def checked(
    graph: Graph,
    level: FeatureLevel,
    found: Sequence[Diagnostic],
    model: str,
    data: bytes | None = None,
    above_level: tuple[NodeAboveLevel, ...] | None = None,
) -> CheckAnswer:
    """What was ``found`` in a graph at a ``level``, with the places in the text of the file called ``model``.

    ``data`` is that text where it is in no file.
    """
    from dml2onnx.checks import minimum_feature_level
    from dml2onnx.frontends.locations import locate

    wanted = _pointers(found)
    places = {}
    if wanted and graph.format != "serialized":
        places = locate(data if data is not None else Path(model).read_bytes(), wanted)
    minimum = minimum_feature_level(graph)
    return CheckAnswer(
        diagnostics=tuple(located(item, model, places) for item in found),
        model=model,
        feature_level=level.name,
        minimum_feature_level=None if minimum is None else minimum.name,
        ships_with="" if minimum is None else minimum.info.ships_with,
        directml_nodes=len(graph.nodes),
        above_level=above_level,
    )


def placed_in(path: Path, found: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The findings with their places in a file, if that is a text which has them."""
    from dml2onnx.frontends.locations import locate

    wanted = _pointers(found)
    try:
        places = locate(path.read_bytes(), wanted) if wanted and path.suffix == ".json" and path.is_file() else {}
    except (DmlError, OSError, ValueError):  # which the findings say, if it matters
        places = {}
    return tuple([located(item, str(path), places) for item in found])


def _pointers(found: Sequence[Diagnostic]) -> dict[str, bool]:
    """What findings and their other places point to, and whether that is the name of a member."""
    wanted = {place.pointer: False for item in found for place in item.places if place.pointer.startswith("/")}
    return wanted | {item.pointer: _is_about_name(item) for item in found if item.pointer.startswith("/")}


def unchecked(model: str, error: DmlError) -> CheckAnswer:
    """What can be said of a file that could not be read, or not be read to its end."""
    return CheckAnswer(
        diagnostics=error.diagnostics,
        model=model,
        is_readable=not isinstance(error, UnreadableError),
        feature_level=None,
        minimum_feature_level=None,
        directml_nodes=0,
    )


def _is_about_name(item: Diagnostic) -> bool:
    """Whether a finding is about the name of a member and not about its value."""
    return item.found == quote(unescape(item.pointer.rpartition("/")[2]))
