"""Solves for the sizes of an input from which the stated output sizes follow.

If the input of a pool, slice or padding does not match the output, either is wrong. Each dimension of the input is
tried with near and small sizes and those of other tensors, and keeps the size with which most output sizes match.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dml2onnx.checks.candidates import Candidate, Change, changed
from dml2onnx.checks.single_edits import at_path, by_path
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.rules.inference import infer_outputs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dml2onnx.diagnostics import Diagnostic

SOLVED = 18
"""The kind of such a candidate, beyond those of single edits."""
MOST_INPUTS = 2
SMALL = range(1, 13)
LARGEST = 1 << 12
"""The largest size that is tried."""


def solved_inputs(desc: OperatorDesc, findings: Sequence[Diagnostic]) -> Iterator[Candidate]:
    """Yields the inputs that findings are about, each with the sizes from which the outputs follow."""
    outputs = {
        field.name: value
        for field in desc.schema.output_fields
        if isinstance(value := desc.get(field.name), TensorDesc)
    }
    if not outputs:
        return
    about = {name.partition("/")[0] for item in findings for name in (item.field, *item.related)}
    inputs = [field.name for field in desc.schema.input_fields if field.name in about]
    tensors = [(path, tensor) for path, tensor in by_path(desc).items() if path.partition("/")[0] in inputs]
    for path, tensor in tensors[:MOST_INPUTS]:
        if (sizes := _solved(desc, path, tensor, outputs)) is not None:
            words = f"of sizes {list(sizes)}, from which the outputs follow"
            yield Candidate(SOLVED, (_with_sizes(path, tensor, sizes, words),))  # its writer has to change, too


def _with_sizes(path: str, tensor: TensorDesc, sizes: tuple[int, ...], words: str = "") -> Change:
    return at_path(path, replace(tensor, sizes=sizes, strides=None, total_size=0), words)


def _solved(
    desc: OperatorDesc, path: str, tensor: TensorDesc, outputs: dict[str, TensorDesc]
) -> tuple[int, ...] | None:
    sizes = tensor.sizes
    wrong = _mismatches(desc, outputs)
    if not wrong:  # then no size of it says more
        return None
    others = {size for item, value in desc.items() if isinstance(value, TensorDesc) for size in value.sizes}
    for axis, old in enumerate(sizes):
        near = {old - 2, old - 1, old + 1, old + 2, old * 2, old // 2}
        tried = sorted({*SMALL, *near, *others} - {old}, key=lambda size: abs(size - old))
        for size in tried:
            if wrong and 0 < size < LARGEST:
                made = (*sizes[:axis], size, *sizes[axis + 1 :])
                left = _mismatches(changed(desc, (_with_sizes(path, tensor, made),)), outputs)
                if left < wrong:
                    sizes, wrong = made, left
    return sizes if not wrong and sizes != tensor.sizes else None


def _mismatches(desc: OperatorDesc, outputs: dict[str, TensorDesc]) -> int:
    """The number of output sizes that differ from the inferred ones; large if nothing can be inferred."""
    bare = OperatorDesc(desc.schema, tuple([None if item.name in outputs else value for item, value in desc.items()]))
    types = {name: value.data_type for name, value in outputs.items()}
    found = infer_outputs(bare, {}, types, list(outputs)).outputs
    count = 0
    for name, stated in outputs.items():
        made = found.get(name)
        if made is None or len(made[1]) != stated.rank:
            return LARGEST
        count += sum(one != other for one, other in zip(made[1], stated.sizes, strict=True))
    return count
