"""Changes of a descriptor as remedies: in the words of the file or of the program, and as edits of a file."""

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
    from dml2onnx.checks.trials import Trial
    from dml2onnx.diagnostics import Member
    from dml2onnx.ir.graph import Node

_PARAMETERS = {"WindowSize": "window_sizes"}
"""Arguments of the builder that are not called as their fields are."""
_CERTAIN = (0, 3)
"""Kinds of candidates that follow from the rest of a node; the others are conventions that may have been followed."""


def remedies_of(
    node: Node,
    best: Sequence[Trial],
    refusing: Callable[[Sequence[Change]], Node | None],
    *,
    editable: bool,
    in_python: bool,
) -> tuple[Remedy, ...]:
    """What would do, last what those who read an output could not read."""
    made, last = [], []
    for trial in best:
        reader = refusing([*trial.candidate.changes, *trial.further])
        changes = [item for item in trial.candidate.changes if not _goes_along(item)]
        is_of_arrays = all(change.field in FOLLOWING for change in changes)
        said = changes if in_python or is_of_arrays else _alike(changes)
        parts = [_in_words(node, change, in_python=in_python) for change in said]
        words = (" and " if is_of_arrays else ", and ").join(parts)
        edits: list[Edit] = []
        copied = any(change.is_copied for change in trial.candidate.changes)
        for change in (*trial.candidate.changes, *trial.further) if editable and not copied else ():
            edits += edits_of(node, change)
        if reader is not None:
            last.append(Remedy(f"{words}; then {quote(reader.name)}, which reads it, has to change as well"))
        else:
            made.append(Remedy(words, tuple(edits), is_certain=trial.candidate.kind in _CERTAIN))
    return (*made, *last)


def _goes_along(change: Change) -> bool:
    """Whether a change is no news: the length of an array, a number as another type."""
    return change.field in LENGTHS or isinstance(change.value, Scalar)


def _alike(changes: Sequence[Change]) -> list[Change]:
    """The changes, those of several fields to one and the same as one."""
    if len(changes) < 2 or len({change.words for change in changes}) > 1:
        return list(changes)
    return [changes[0]._replace(field=", ".join(change.path for change in changes), position=None)]


def _in_words(node: Node, change: Change, *, in_python: bool) -> str:
    view = change.value
    if not in_python or _has_more_elements(node, change):
        return f"{change.path} {change.words}"
    if not isinstance(view, TensorDesc):
        name = _PARAMETERS.get(change.field) or re.sub(r"(?<=[a-z])(?=[A-Z])", "_", change.field).lower()
        return f"{name}={list(view) if isinstance(view, tuple) else view!r}"
    strides = "" if view.strides is None else f", strides={list(view.strides)}"
    call = f"reinterpret(..., sizes={list(view.sizes)}{strides})"
    if change.permutation:
        return f"{change.path} {change.words}; {call}, or numpy's transpose {change.permutation}"
    return f"{change.path} {change.words}: {call}"


def _has_more_elements(node: Node, change: Change) -> bool:
    """Whether a tensor lies in more memory than the one in whose place it is: then it is no view of that."""
    old, new = node.operator.find(change.field), change.value
    if isinstance(old, tuple) and change.position is not None:
        old = old[change.position]
    return isinstance(old, TensorDesc) and isinstance(new, TensorDesc) and new.extent > old.extent


def resized_remedy(resized: Resized, *, editable: bool) -> Remedy:
    """A node with a tensor as another end has it, as a remedy."""
    edits = [edit for change in resized.changes for edit in edits_of(resized.node, change)] if editable else []
    return Remedy(resized.words, tuple(edits))


def edits_of(node: Node, change: Change) -> Iterator[Edit]:
    """A change as edits of the native format."""
    place = pointer(node.source, change.path)
    value, old = change.value, node.operator.get(change.field)
    if value is None:  # what is read by the node, and not a part of its descriptor
        return
    if isinstance(value, Scalar):
        yield Edit(place, value.value, where_given=True)
        return
    if not isinstance(value, TensorDesc):
        yield Edit(place, as_member(value), where_given=change.field in FOLLOWING - {"EndPadding"})
        return
    if change.position is not None and isinstance(old, tuple):  # an array of descriptors is stated as a whole
        whole = [value if index == change.position else item for index, item in enumerate(old)]
        yield Edit(
            pointer(node.source, change.field), [_tensor(item) for item in whole if isinstance(item, TensorDesc)]
        )
        return
    if change.field in {item.name for item in node.operator.schema.output_fields}:
        yield Edit(place, _tensor(value), where_given=True)
    else:
        yield Edit(place, _tensor(value))


def _tensor(desc: TensorDesc) -> dict[str, Member]:
    made: dict[str, Member] = {"DataType": desc.data_type.name, "Sizes": list(desc.sizes)}
    if desc.strides is not None:
        made["Strides"] = list(desc.strides)
    if desc.owned_by_dml:
        made["Flags"] = "OWNED_BY_DML"
    if desc.alignment:
        made["GuaranteedBaseOffsetAlignment"] = desc.alignment
    return made


def as_member(value: object) -> Member:
    """An attribute as JSON has it."""
    if isinstance(value, tuple):
        return [as_member(item) for item in value]
    assert isinstance(value, (bool, int, float, str))
    return value
