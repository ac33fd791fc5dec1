"""Converts changes of a descriptor to remedies: their text, and edits of a file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dml2onnx.checks.trials import FOLLOWING, LENGTHS
from dml2onnx.diagnostics import Edit, Remedy, quote
from dml2onnx.ir.operator import Scalar
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.rules.findings import pointer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from dml2onnx.checks.candidates import Change
    from dml2onnx.checks.other_ends import Resized
    from dml2onnx.checks.trials import CandidateTrial
    from dml2onnx.diagnostics import Member
    from dml2onnx.ir.graph import Node

_PARAMETERS = {"WindowSize": "window_sizes"}
"""Arguments of the builder with other names than their fields."""
_CERTAIN = (0, 3)
"""Kinds of candidates that are inferred from the rest of the node; the others are guesses at conventions."""


def remedies_of(
    node: Node,
    best: Sequence[CandidateTrial],
    refusing: Callable[[Sequence[Change]], Node | None],
    *,
    in_python: bool,
) -> tuple[Remedy, ...]:
    """Returns the trials as remedies; those with which a reader of an output would be invalid come last."""
    remedies, last = [], []
    for trial in best:
        reader = refusing([*trial.candidate.changes, *trial.further])
        changes = [item for item in trial.candidate.changes if not _is_implied(item)]
        is_of_arrays = all(change.field in FOLLOWING for change in changes)
        shown = changes if in_python or is_of_arrays else _merged(changes)
        further = () if in_python else trial.further
        parts = [_in_words(node, change, in_python=in_python) for change in (*shown, *further)]
        words = (" and " if is_of_arrays else ", and ").join(parts)
        edits: list[Edit] = []
        copied = any(change.is_copied for change in trial.candidate.changes)
        for change in (*trial.candidate.changes, *trial.further) if not copied else ():
            edits += edits_of(node, change)
        if reader is not None:
            last.append(Remedy(f"{words}; then {quote(reader.name)}, which reads it, has to change as well"))
        else:
            remedies.append(Remedy(words, tuple(edits), is_certain=trial.candidate.kind in _CERTAIN))
    return (*remedies, *last)


def _is_implied(change: Change) -> bool:
    """Whether a change is implied by another one: the length of an array, a scalar in another type."""
    return change.field in LENGTHS or isinstance(change.value, Scalar)


def _merged(changes: Sequence[Change]) -> list[Change]:
    """The changes, with equal ones of several fields merged."""
    if len(changes) < 2 or len({change.words for change in changes}) > 1:
        return list(changes)
    return [changes[0]._replace(field=", ".join(change.path for change in changes), position=None)]


def _in_words(node: Node, change: Change, *, in_python: bool) -> str:
    view = change.value
    if not in_python or _differs_in_memory(node, change):
        return f"{change.path} {change.words}"
    if not isinstance(view, TensorDesc):
        name = _PARAMETERS.get(change.field) or re.sub(r"(?<=[a-z])(?=[A-Z])", "_", change.field).lower()
        return f"{name}={list(view) if isinstance(view, tuple) else view!r}"
    strides = "" if view.strides is None else f", strides={list(view.strides)}"
    call = f"reinterpret(..., sizes={list(view.sizes)}{strides})"
    if change.permutation:
        return f"{change.path} {change.words}; {call}, or numpy's transpose {change.permutation}"
    return f"{change.path} {change.words}: {call}"


def _differs_in_memory(node: Node, change: Change) -> bool:
    """Whether a tensor has more or less memory than the one that it replaces: a view of it would drop elements."""
    old, new = node.operator.find(change.field), change.value
    if isinstance(old, tuple) and change.position is not None:
        old = old[change.position]
    return isinstance(old, TensorDesc) and isinstance(new, TensorDesc) and new.extent != old.extent


def resized_remedy(resized: Resized) -> Remedy:
    """Returns the remedy that replaces a tensor by the description of its other end."""
    edits = [edit for change in resized.changes for edit in edits_of(resized.node, change)]
    return Remedy(resized.words, tuple(edits))


def edits_of(node: Node, change: Change) -> Iterator[Edit]:
    """Yields a change as edits of the native format."""
    place = pointer(node.source, change.path)
    value, old = change.value, node.operator.get(change.field)
    if value is None:  # the binding has to go as well, which is no edit of the descriptor
        return
    if isinstance(value, Scalar):
        yield Edit(place, value.value, where_given=True)
        return
    if not isinstance(value, TensorDesc):
        yield Edit(place, as_member(value), where_given=change.field in FOLLOWING - {"EndPadding"})
        return
    if change.position is not None and isinstance(old, tuple):  # arrays are replaced as a whole
        whole = [value if index == change.position else item for index, item in enumerate(old)]
        yield Edit(
            pointer(node.source, change.field), [_tensor(item) for item in whole if isinstance(item, TensorDesc)]
        )
        return
    is_output = change.field in {item.name for item in node.operator.schema.output_fields}
    yield Edit(place, _tensor(value), where_given=is_output)


def _tensor(desc: TensorDesc) -> dict[str, Member]:
    members: dict[str, Member] = {"DataType": desc.data_type.name, "Sizes": list(desc.sizes)}
    if desc.strides is not None:
        members["Strides"] = list(desc.strides)
    if desc.owned_by_dml:
        members["Flags"] = "OWNED_BY_DML"
    if desc.alignment:
        members["GuaranteedBaseOffsetAlignment"] = desc.alignment
    return members


def as_member(value: object) -> Member:
    """Returns an attribute as JSON."""
    if isinstance(value, tuple):
        return [as_member(item) for item in value]
    assert isinstance(value, (bool, int, float, str))
    return value
