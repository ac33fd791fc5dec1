"""Coverage of combinations of operator, support row and class of view."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from dml2onnx import catalog
from dml2onnx.catalog import OperatorSchema, SupportRow
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.ir.view import Layout

Cell: TypeAlias = "tuple[str, int, str]"
"""An operator, a row number of its support table, and a class of views."""

VIEWS = ("packed", "permuted", "padded", "broadcast", "overlapping")
_LINE = ", all others 1"
"""The end of size formulas that allow only one size other than 1."""


def view_class(desc: TensorDesc) -> str:
    """The class of a tensor's view of its buffer, one of ``VIEWS``."""
    layout = Layout(desc.sizes, desc.effective_strides)
    if desc.is_packed:
        return "packed"
    if desc.is_broadcast:
        return "broadcast"
    if layout.is_dense:
        return "permuted"
    return "overlapping" if desc.is_overlapping else "padded"


def cells(op: OperatorDesc) -> Iterator[Cell]:
    """Yields the cells that a descriptor covers: its classes of views, for every row that allows all its tensors."""
    views = {view_class(desc) for item in op.schema.tensor_fields for desc in op.tensors(item.name)}
    for number, row in enumerate(op.schema.support):
        if _admits(row, op):
            for view in views:
                yield op.type, number, view


def all_cells() -> Iterator[Cell]:
    """Yields all cells that are not :func:`unreachable`."""
    for name in catalog.operator_names():
        schema = catalog.operator(name)
        for number, row in enumerate(schema.support):
            reasons = unreachable(schema, row)
            for view in VIEWS:
                if view not in reasons:
                    yield schema.short_name, number, view


def table(reached: Mapping[Cell, int]) -> list[str]:
    """Lines of a report: totals, unreachable cells with reasons, and the missing cells of each operator."""
    known = list(all_cells())
    missing: dict[tuple[str, int], list[str]] = {}
    for name, number, view in known:
        if (name, number, view) not in reached:
            missing.setdefault((name, number), []).append(view)
    counts = Counter(view for _, _, view in known)
    found = Counter(view for name, number, view in known if (name, number, view) in reached)
    lines = [f"cells of operator x support row x view: {sum(found.values())} of {len(known)} reached"]
    lines += [f"  {view:12} {found[view]:5} of {counts[view]}" for view in VIEWS]
    reasons = Counter(
        f"{view}: {reason}"
        for name in catalog.operator_names()
        for row in catalog.operator(name).support
        for view, reason in unreachable(catalog.operator(name), row).items()
    )
    lines += [f"  cannot be reached: {count:4} {reason}" for reason, count in sorted(reasons.items())]
    lines += [
        f"  not reached: {name}, {_row(name, number)}: {', '.join(views)}" for (name, number), views in missing.items()
    ]
    return lines


def unreached(reached: Iterable[Cell]) -> list[Cell]:
    """The cells that are not in ``reached``."""
    seen = set(reached)
    return [cell for cell in all_cells() if cell not in seen]


def unreachable(schema: OperatorSchema, row: SupportRow) -> dict[str, str]:
    """Classes of views that no descriptor of a row can have, with the reason."""
    found = {}
    inputs = [item.name for item in schema.input_fields if item.name in row.tensors]
    if not inputs:
        found["broadcast"] = found["overlapping"] = "no inputs, and elements of outputs cannot share memory"
    elif all(_is_line(schema, name) for name in inputs):
        found["overlapping"] = "inputs have one size other than 1, which only overlaps with a stride of 0"
    return found


def _is_line(schema: OperatorSchema, name: str) -> bool:
    """Whether all sizes of a tensor but one are 1 in every descriptor."""
    return any((item.formula or "").endswith(_LINE) for item in schema.constraints if item.tensor == name)


def _admits(row: SupportRow, op: OperatorDesc) -> bool:
    if row.functions and op.enum("Function") not in row.functions:
        return False
    for item in op.schema.tensor_fields:
        for desc in op.tensors(item.name):
            support = row.tensors.get(item.name)
            if support is None or desc.data_type.name not in support.data_types:
                return False
            low, high = support.dimension_counts
            if not low <= desc.rank <= high:
                return False
    return True


def _row(name: str, number: int) -> str:
    row = catalog.operator(name).support[number]
    functions = f" ({', '.join(row.functions)})" if row.functions else ""
    return f"{row.level.name}{functions}"
