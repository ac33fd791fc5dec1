"""Findings about a descriptor, before they are attached to nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from dml2onnx.codes import checking as codes
from dml2onnx.codes.compiling import NOT_COMPILED_AS_ACCEPTED, NOT_LOWERED
from dml2onnx.diagnostics import Severity

if TYPE_CHECKING:
    from dml2onnx.catalog import FeatureLevel, OperatorSchema
    from dml2onnx.diagnostics import Code, Diagnostic
    from dml2onnx.ir.graph import Node
    from dml2onnx.ir.operator import OperatorDesc
    from dml2onnx.rules.subject import Subject


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with a descriptor, of whichever node: equal ones are judged once. A node makes it a diagnostic.

    ``path`` leads from the operator's descriptor to the place, in the words of a JSON pointer without the first
    slash: ``"InputTensor/Sizes/2"``. ``documentation`` is the operator's own page when it is empty.
    """

    code: Code
    path: str
    message: str
    expected: object = ""
    found: object = ""
    since: str = ""
    documentation: str = ""
    is_structural: bool = False
    """Whether it is about how the node fits into the graph, and not about its descriptor alone."""
    accepted: str = ""
    """What DirectML does with it, where only the documentation forbids it; empty where DirectML refuses."""
    compiled: bool = False
    """Whether a compiled model does what ``accepted`` says."""
    related: tuple[str, ...] = ()
    """The other fields that the rule has read, as paths: a size that is wrong may be that of an axis that is."""
    alike: tuple[str, ...] = ()
    """The other fields of which the same is to be said, and is not: what they are follows from this one."""

    @property
    def is_error(self) -> bool:
        """Errors stop a compilation, warnings do not."""
        return self.code.severity is Severity.ERROR

    @property
    def is_about_type(self) -> bool:
        """Whether it is about which operator it is, and not about a field of that."""
        return self.code is codes.OPERATOR_LEVEL and not self.path

    @property
    def field(self) -> str:
        """The field of the operator, the first step of the path."""
        return self.path.partition("/")[0]

    def below(self, prefix: str) -> Finding:
        """The same about a part of something larger."""
        related = tuple(f"{prefix}/{path}" for path in self.related)
        return replace(self, path=f"{prefix}/{self.path}" if self.path else prefix, related=related)

    def read_from(self, fields: Iterable[str]) -> Finding:
        """The same of a rule that has read these fields, unless a rule of a part has said what it read."""
        return self if self.related else replace(self, related=tuple(name for name in fields if name != self.field))

    def accepting(self, does: str, *, compiled: bool = False) -> Finding:
        """The same of a rule that DirectML does not enforce: it takes such a descriptor, and ``does`` that."""
        return self if self.accepted else replace(self, accepted=does, compiled=compiled)

    def as_observed(self) -> Finding:
        """What is said where DirectML itself is the judge: a warning about what it accepts, an error of the rest."""
        if not self.accepted:
            return self
        message = f"{self.message.rstrip('.')}. DirectML accepts this: {self.accepted}."
        return replace(self, code=accepted_code(self.code), message=message)

    def lifted_by(self, since: FeatureLevel, level: FeatureLevel) -> Finding:
        """The same, said of a restriction that ends with feature level ``since`` when asked for an older one."""
        words = f"{self.message.rstrip('.')}, before feature level {since}; the target is {level}."
        return replace(self, since=str(since), message=words)

    def at(self, node: Node) -> Diagnostic:
        """The finding at a node."""
        schema = node.operator.schema
        return self.code.at(
            self.message,
            node=node.name,
            operator=schema.short_name,
            field=self.field,
            pointer=operator_place(node.source) if self.is_about_type else pointer(node.source, self.path),
            expected=self.expected,
            found=self.found,
            since=self.since,
            documentation=self.documentation or schema.doc,
            related=tuple(path for path in self.related if not _is_absent(node.operator, path)),
        )


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


def accepted_code(code: Code) -> Code:
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


def not_lowered(schema: OperatorSchema) -> Finding:
    """That an operator, however right, cannot be compiled."""
    expected = "one of the operators that dml2onnx ops marks as compiled"
    return Finding(NOT_LOWERED, "", f"{schema.short_name} cannot be compiled yet", expected)


def not_compiled(finding: Finding) -> Finding:
    """That what DirectML does with something undocumented is not what a compiled model would do."""
    message = f"{finding.message} dml2onnx does not compile it."
    return replace(finding, code=NOT_COMPILED_AS_ACCEPTED, message=message)


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


Check: TypeAlias = "Callable[[Subject], Iterable[Finding]]"
"""A rule: what is wrong with a descriptor. May raise :class:`~dml2onnx.rules.subject.UnanswerableError`."""
