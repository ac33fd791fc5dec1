"""Which combinations of operator, support row and kind of view the descriptors have covered."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

from dml2onnx import catalog
from dml2onnx.ir.view import Layout

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from dml2onnx.catalog import OperatorSchema, SupportRow
    from dml2onnx.ir.operator import OperatorDesc
    from dml2onnx.ir.tensor import TensorDesc

Cell: TypeAlias = "tuple[str, int, str]"
"""An operator, the number of a row of its support table, a class of views."""

VIEWS = ("packed", "permuted", "padded", "broadcast", "overlapping")
_LINE = ", all others 1"
"""How formulas of sizes end that leave one size to be anything but 1."""


def view_class(desc: TensorDesc) -> str:
    """What kind of view a tensor is of its buffer, one of ``VIEWS``."""
    layout = Layout(desc.sizes, desc.effective_strides)
    if desc.is_packed:
        return "packed"
    if desc.is_broadcast:
        return "broadcast"
    if layout.is_dense:
        return "permuted"
    return "overlapping" if desc.is_overlapping else "padded"


def cells(op: OperatorDesc) -> Iterator[Cell]:
    """Those that a descriptor reaches: of every row that admits all of its tensors, the class of each."""
    views = {view_class(desc) for item in op.schema.tensor_fields for desc in op.tensors(item.name)}
    for number, row in enumerate(op.schema.support):
        if _admits(row, op):
            for view in views:
                yield op.type, number, view


def all_cells() -> Iterator[Cell]:
    """Those that there are: all but those that are :func:`unreachable`."""
    for name in catalog.operator_names():
        schema = catalog.operator(name)
        for number, row in enumerate(schema.support):
            reasons = unreachable(schema, row)
            for view in VIEWS:
                if view not in reasons:
                    yield schema.short_name, number, view


def table(reached: Mapping[Cell, int]) -> list[str]:
    """Lines with what is missing of each operator that has anything missing, how much there is in all, and how much
    there cannot be, and why."""
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
    """The cells that are not among ``reached``."""
    seen = set(reached)
    return [cell for cell in all_cells() if cell not in seen]


def unreachable(schema: OperatorSchema, row: SupportRow) -> dict[str, str]:
    """Classes of views that no descriptor of a row has, and why, as the catalogue has it."""
    found = {}
    inputs = [item.name for item in schema.input_fields if item.name in row.tensors]
    if not inputs:
        found["broadcast"] = found["overlapping"] = "nothing is read, and elements that are written have a place each"
    elif all(_is_line(schema, name) for name in inputs):
        found["overlapping"] = (
            "what is read has one size other than 1, whose elements only a stride of 0 brings together"
        )
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
