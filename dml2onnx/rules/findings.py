"""Diagnostics about a descriptor, and how they get their places at nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeAlias

from dml2onnx.codes import checking as codes
from dml2onnx.codes.compiling import NOT_COMPILED_AS_ACCEPTED
from dml2onnx.diagnostics import changed, placed, with_code

if TYPE_CHECKING:
    from dml2onnx.catalog import FeatureLevel
    from dml2onnx.diagnostics import Code, Diagnostic
    from dml2onnx.ir.graph import Node
    from dml2onnx.ir.operator import OperatorDesc
    from dml2onnx.rules.subject import Subject


def at_node(item: Diagnostic, node: Node) -> Diagnostic:
    """A diagnostic about a descriptor at a node that has it."""
    schema = node.operator.schema
    is_about_type = item.code is codes.OPERATOR_LEVEL and not item.path
    place = operator_place(node.source) if is_about_type else pointer(node.source, item.path)
    related = tuple([path for path in item.related if not _is_absent(node.operator, path)])
    item = changed(item, related=related)
    return placed(item, place, node=node.name, operator=schema.short_name, documentation=schema.doc)


def read_from(item: Diagnostic, fields: Iterable[str]) -> Diagnostic:
    """The same of a rule that has read these fields, unless a rule of a part has said what it read."""
    return item if item.related else changed(item, related=tuple([name for name in fields if name != item.field]))


def accepting(item: Diagnostic, does: str, *, compiled: bool = False) -> Diagnostic:
    """The same of a rule that DirectML does not enforce: it takes such a descriptor, and ``does`` that."""
    return item if item.accepted else changed(item, accepted=does, compiled=compiled)


def as_observed(item: Diagnostic) -> Diagnostic:
    """What is said where DirectML itself is the judge: a warning about what it accepts, an error of the rest."""
    if not item.accepted:
        return item
    documented = item.message.replace(" has to be ", " should be ").replace(" have to be ", " should be ")
    message = f"{documented.rstrip('.')}. DirectML accepts this: {item.accepted}."
    return with_code(item, accepted_code(item.code), message)


def lifted_by(item: Diagnostic, since: FeatureLevel, level: FeatureLevel) -> Diagnostic:
    """The same, said of a restriction that ends with feature level ``since`` when asked for an older one."""
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
    """The warning that stands for the error ``code`` where DirectML accepts what the documentation forbids."""
    if code in _OF_VALUES:
        return codes.ACCEPTED_VALUE
    if code in _OF_TYPES:
        return codes.ACCEPTED_TYPE
    return codes.ACCEPTED_FUSION if code in _OF_FUSIONS else codes.ACCEPTED_SIZES


def _is_absent(desc: OperatorDesc, path: str) -> bool:
    """Whether a path leads to an optional tensor that is left out: nothing follows from its sizes or its type."""
    position = desc.schema.index.get(path.partition("/")[0])
    return position is not None and desc.schema.fields[position].is_tensor and desc.values[position] is None


def not_compiled(item: Diagnostic) -> Diagnostic:
    """That what DirectML does with something undocumented is not what a compiled model would do."""
    return with_code(item, NOT_COMPILED_AS_ACCEPTED, f"{item.message} dml2onnx does not compile it.")


def pointer(source: str, path: str) -> str:
    """Where ``path`` stands below a node: a JSON pointer, or the call site as it is."""
    return f"{source}/{path}" if path and source.startswith("/") else source


def operator_place(source: str) -> str:
    """Where the operator of a node is named, beside its descriptor."""
    above, _, last = source.rpartition("/")
    return f"{above}/{'type' if last == 'desc' else 'Type'}" if last in ("desc", "Desc") and above else source


def name_place(source: str) -> str:
    """Where a node is named, where that is beside its descriptor; else the descriptor."""
    above, _, last = source.rpartition("/")
    return f"{above}/name" if last == "desc" and above else source


Check: TypeAlias = "Callable[[Subject], Iterable[Diagnostic]]"
"""A rule: what is wrong with a descriptor. May raise :class:`~dml2onnx.rules.subject.UnanswerableError`."""
