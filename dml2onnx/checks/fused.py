"""Checks fused activations: which ones may be fused, from which level on, and their attributes.

Activations in lists are checked in the same way.

https://learn.microsoft.com/windows/ai/directml/dml-fused-activations
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx import catalog
from dml2onnx.catalog import FeatureLevel, FieldType, OperatorSchema, Rule
from dml2onnx.codes import checking as codes
from dml2onnx.diagnostics import Diagnostic, below, changed
from dml2onnx.ir.operator import OperatorDesc, ScaleBias
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.rules.findings import accepting
from dml2onnx.rules.subject import Subject, UnanswerableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dml2onnx.rules.findings import Check

DOCUMENTATION = "https://learn.microsoft.com/windows/ai/directml/dml-fused-activations"


SCALED_CLIP = "it takes a scale without a bias, or a bias without a scale, and may ignore it"
"""What DirectML does with the ScaleBias of a fused CLIP."""

FUSED_LIKE_OTHERS = "it applies the activation like the fusable ones"
"""What DirectML does with activations that its documentation does not list as fusable."""


def fused_check(
    schema: OperatorSchema, level: FeatureLevel, attributes_of: Callable[[OperatorDesc], tuple[Diagnostic, ...]]
) -> Check | None:
    """Returns the check of an operator's fused activation, or ``None`` if it takes none.

    ``attributes_of`` returns the findings about the attributes of an operator at this level.
    """
    constraint = next((item for item in schema.constraints if item.rule is Rule.FUSED_ACTIVATION), None)
    if constraint is None:
        return None
    name = constraint.attribute
    assert name is not None
    accepted = catalog.fused_activations(schema.name)

    def check(subject: Subject) -> Iterator[Diagnostic]:
        fused = subject.value(name)
        if not isinstance(fused, OperatorDesc):
            return
        since = accepted.get(fused.schema.name)
        if since is None:
            wanted = ", ".join(catalog.operator(item).short_name for item in accepted)
            message = f"{fused.type} cannot be fused into {schema.short_name}."
            found = codes.NOT_FUSABLE.of(name, message, wanted, fused.type, documentation=DOCUMENTATION)
            if fused.schema.name not in catalog.accepted_fusions():
                yield found
                return
            yield accepting(found, FUSED_LIKE_OTHERS, compiled=True)
            since = fused.schema.introduced
        if since > level:
            message = f"Fusing {fused.type} needs feature level {since}; the target is {level}."
            yield codes.FUSION_LEVEL.of(name, message, since, level, str(since), DOCUMENTATION)
        for finding in _inside(fused):
            yield below(finding, name)
        for finding in attributes_of(_as_separate(fused, subject, "OutputTensor")):
            is_of_tensor = fused.schema.fields_by_name[finding.field].is_tensor
            yield below(changed(finding, path="") if is_of_tensor else finding, name)

    return check


def activation_list_check(
    schema: OperatorSchema, level: FeatureLevel, attributes_of: Callable[[OperatorDesc], tuple[Diagnostic, ...]]
) -> Check | None:
    """Returns the check of the level and the attributes of activations in an operator's list, or ``None``.

    Which activations the list may have is up to the operator's own constraints.
    """
    name = next((field.name for field in schema.fields if field.type is FieldType.OPERATOR_ARRAY), None)
    if name is None:
        return None

    def check(subject: Subject) -> Iterator[Diagnostic]:
        entries = subject.value(name)
        for i, entry in enumerate(entries if isinstance(entries, tuple) else ()):
            if not isinstance(entry, OperatorDesc):
                continue
            since = entry.schema.introduced
            if since > level:
                message = f"{entry.type} needs feature level {since}; the target is {level}."
                yield codes.OPERATOR_LEVEL.of(f"{name}/{i}", message, since, level, str(since))
            for finding in attributes_of(_as_separate(entry, subject, "InputTensor")):
                yield below(finding, name, i)

    return check


def _inside(fused: OperatorDesc) -> Iterator[Diagnostic]:
    for field, value in fused.items():
        if field.is_tensor and isinstance(value, (TensorDesc, tuple)):
            message = f"{field.name} of a fused activation is null."
            yield codes.FUSED_TENSORS.of(field.name, message, "null", "a tensor", documentation=DOCUMENTATION)
        elif isinstance(value, ScaleBias) and value != ScaleBias(1.0, 0.0):
            found = f"{{ {value.scale}, {value.bias} }}"
            message = f"A fused {fused.type} has no ScaleBias, or {{ 1, 0 }}; this one is {found}."
            made = codes.FUSED_SCALE_BIAS.of(field.name, message, "{ 1, 0 }", found, documentation=DOCUMENTATION)
            yield accepting(made, SCALED_CLIP) if value.scale == 1 or value.bias == 0 else made


def _as_separate(fused: OperatorDesc, host: Subject, tensor: str) -> OperatorDesc:
    """The activation as a separate operator that runs in place on a tensor like that of its host."""
    try:
        output = host.tensor(tensor)
    except UnanswerableError:
        return fused
    values = tuple([output if field.is_tensor else value for field, value in fused.items()])
    return OperatorDesc(fused.schema, values)
