"""Diagnostics about descriptors, and their locations in nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from dml2onnx.catalog import FeatureLevel
from dml2onnx.codes import checking as codes
from dml2onnx.codes.compiling import NOT_COMPILED_AS_ACCEPTED
from dml2onnx.diagnostics import Code, Diagnostic, changed, placed, with_code
from dml2onnx.ir.graph import Node
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.rules.subject import Subject


def at_node(item: Diagnostic, node: Node) -> Diagnostic:
    """Relocates a diagnostic about a descriptor to its node."""
    schema = node.operator.schema
    is_about_type = item.code is codes.OPERATOR_LEVEL and not item.path
    place = operator_place(node.source) if is_about_type else pointer(node.source, item.path)
    related = tuple([path for path in item.related if not _is_absent(node.operator, path)])
    item = changed(item, related=related)
    return placed(item, place, node=node.name, operator=schema.short_name, documentation=schema.doc)


def read_from(item: Diagnostic, fields: Iterable[str]) -> Diagnostic:
    """Sets the related fields to those that the rule has read, unless a nested rule has set them."""
    return item if item.related else changed(item, related=tuple([name for name in fields if name != item.field]))


def accepting(item: Diagnostic, does: str, *, compiled: bool = False) -> Diagnostic:
    """Marks a violation that DirectML accepts; ``does`` describes what it does then."""
    return item if item.accepted else changed(item, accepted=does, compiled=compiled)


def as_observed(item: Diagnostic) -> Diagnostic:
    """Turns a diagnostic into a warning if DirectML accepts the violation."""
    if not item.accepted:
        return item
    documented = item.message.replace(" has to be ", " should be ").replace(" have to be ", " should be ")
    message = f"{documented.rstrip('.')}. DirectML accepts this: {item.accepted}."
    return with_code(item, accepted_code(item.code), message)


def lifted_by(item: Diagnostic, since: FeatureLevel, level: FeatureLevel) -> Diagnostic:
    """Adds that feature level ``since`` lifts the restriction to a diagnostic for the older ``level``."""
    words = f"{item.message.rstrip('.')}, before feature level {since}; the target is {level}."
    return changed(item, since=str(since), message=words)


_OF_VALUES = frozenset(
    {
        codes.ARRAY_LENGTH,
        codes.NOT_FINITE,
        codes.OUT_OF_RANGE,
        codes.NOT_EQUAL,
        codes.ZERO_ATTRIBUTE,
        codes.REPEATED_ENTRY,
        codes.OUT_OF_WINDOW,
        codes.SCALAR_TYPE,
    }
)
_OF_TYPES = frozenset({codes.DIFFERENT_DATA_TYPES, codes.WRONG_DATA_TYPE, codes.DATA_TYPE_UNSUPPORTED})

_OF_FUSIONS = frozenset({codes.NOT_FUSABLE, codes.FUSED_SCALE_BIAS})


def accepted_code(code: str) -> Code:
    """The warning that replaces the error ``code`` if DirectML accepts what the documentation forbids."""
    if code in _OF_VALUES:
        return codes.ACCEPTED_VALUE
    if code in _OF_TYPES:
        return codes.ACCEPTED_TYPE
    return codes.ACCEPTED_FUSION if code in _OF_FUSIONS else codes.ACCEPTED_SIZES


def _is_absent(desc: OperatorDesc, path: str) -> bool:
    """Whether a path leads to an absent optional tensor."""
    position = desc.schema.index.get(path.partition("/")[0])
    return position is not None and desc.schema.fields[position].is_tensor and desc.values[position] is None


def not_compiled(item: Diagnostic) -> Diagnostic:
    """Turns a warning about accepted input into an error, since dml2onnx cannot reproduce DirectML's behavior."""
    return with_code(item, NOT_COMPILED_AS_ACCEPTED, f"{item.message} dml2onnx does not compile it.")


def pointer(source: str, path: str) -> str:
    """The location of ``path`` in a node: a JSON pointer, or the unchanged call site."""
    return f"{source}/{path}" if path and source.startswith("/") else source


def operator_place(source: str) -> str:
    """The location of a node's operator type, next to its descriptor."""
    above, _, last = source.rpartition("/")
    return f"{above}/{'type' if last == 'desc' else 'Type'}" if last in ("desc", "Desc") and above else source


def name_place(source: str) -> str:
    """The location of a node's name if it is next to the descriptor, else the descriptor."""
    above, _, last = source.rpartition("/")
    return f"{above}/name" if last == "desc" and above else source


Check: TypeAlias = "Callable[[Subject], Iterable[Diagnostic]]"
"""A rule: yields the errors of a descriptor. May raise :class:`~dml2onnx.rules.subject.UnanswerableError`."""
