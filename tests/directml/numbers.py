"""How far the reference and compiled models agree with what DirectML was seen to compute.

As a script it measures all of ``observed/numbers.jsonl.xz``, by ordinary and extreme contents:
``python -m tests.directml.numbers [reference] [exact] [default] [--only OPERATOR ...] [--rows] [--every N]``.

A row agrees where each element of each output that is promised is DirectML's: floats within 1e-3 of the larger of
themselves and 1 % of the largest of the output, integers exactly. What the reference calls unspecified, because
DirectML leaves it to the driver, is not compared; how much that is, and how many rows have some of it, is counted
apart, as is how many rows agree when all of it is compared. The rows in which exact models differ then are listed in
``left.jsonl``, each with the decision that leaves it open, or another reason; ``--list`` writes them anew.
"""

from __future__ import annotations

import argparse
import base64
import json
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dml2onnx import catalog
from dml2onnx.compiler import compile_outputs
from dml2onnx.frontends.descriptors import DescriptorReader
from dml2onnx.frontends.dialects import NATIVE, operators_by_name
from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import memory
from dml2onnx.reference.promise import ordinary, promised
from dml2onnx.reference.propagation import with_marks
from dml2onnx.reference.registry import Result, as_inputs, run
from dml2onnx.testing.directml_trials import differences
from dml2onnx.testing.single_node import single_node
from tests.directml.left import BY_INDEX, OPEN, SUBNORMAL, UNEXPLAINED, reason
from tests.directml.observed import lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dml2onnx.ir.operator import OperatorDesc
    from dml2onnx.ir.tensor import TensorDesc
    from dml2onnx.model import Array

LEFT = Path(__file__).parent / "left.jsonl"
WAYS = ("reference", "exact", "default")
CONTENTS = ("ordinary", "extreme")
UNTOUCHED = 0xAB
"""What all bytes of the output buffers contained before the dispatch."""


@dataclass(frozen=True, slots=True)
class Row:
    """One dispatch: the descriptor, and the bytes of its buffers, by field."""

    number: int
    op: OperatorDesc
    contents: str
    inputs: dict[str, list[bytes]]
    outputs: dict[str, list[bytes]]


@dataclass(frozen=True, slots=True)
class Compared:
    """What became of one row: how many elements there are, how many of them nobody promises, and where any differ."""

    elements: int
    unspecified: int
    wrong: int
    wrong_at_all: int
    """With what nobody promises."""
    said: str = ""
    reasons: tuple[str, ...] = ()
    """The classes of what differs."""


@dataclass(slots=True)
class Count:
    """The rows of one kind of contents in one way."""

    rows: int = 0
    agreed: int = 0
    agreed_at_all: int = 0
    """Even where nothing is promised."""
    with_unspecified: int = 0
    wholly_unspecified: int = 0
    elements: int = 0
    unspecified: int = 0
    failing: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Rows by operator and why they differ."""

    def add(self, name: str, compared: Compared) -> None:
        """Counts a row of the operator ``name``."""
        self.rows += 1
        self.elements += compared.elements
        self.unspecified += compared.unspecified
        self.with_unspecified += compared.unspecified > 0
        self.wholly_unspecified += compared.unspecified == compared.elements
        self.agreed_at_all += not compared.wrong_at_all
        if compared.wrong:
            self.failing[name, "; ".join(compared.reasons)] += 1
        else:
            self.agreed += 1

    @property
    def share(self) -> float:
        """Agreeing rows, in percent."""
        return 100 * self.agreed / max(self.rows, 1)

    def __str__(self) -> str:
        open_share = 100 * self.unspecified / max(self.elements, 1)
        return (
            f"{self.agreed} of {self.rows} agree, {self.share:.2f} %; of {self.with_unspecified} rows something is not"
            f" promised, of {self.wholly_unspecified} nothing is ({open_share:.2f} % of all elements);"
            f" with all of that {100 * self.agreed_at_all / max(self.rows, 1):.2f} % agree"
        )


def rows(every: int = 1, only: tuple[str, ...] = ()) -> Iterator[Row]:
    """Each ``every``-th dispatch of those that were recorded, of some operators."""
    reader = DescriptorReader(NATIVE)
    for number, record in enumerate(lines("numbers.jsonl.xz")):
        if number % every or (only and record["type"] not in only):
            continue
        reading = reader.operator(catalog.operator(operators_by_name()[record["type"]]), record["desc"])
        op = reading.operator
        yield Row(number, op, record["contents"], _bytes(op, record["inputs"]), _bytes(op, record["outputs"]))


def compared(row: Row, way: str) -> Compared:
    """One row in one way: ``reference``, ``exact`` or ``default``."""
    try:
        with np.errstate(all="ignore"):
            wanted = referred(row)
        if way == "reference":
            ours: Mapping[str, tuple[Array, ...]] = {
                name: tuple(item.values for item in results) for name, results in wanted.items()
            }
        else:
            ours = computed(row, exact=way == "exact")
        if way == "default":
            wanted = _as_default(row, wanted)
    except Exception as error:  # a model that is not made, or does not run, is a row that differs
        if way == "default" and getattr(error, "diagnostics", None) and "invalid ind" in str(error):
            return Compared(1, 0, 1, 1, str(error), (BY_INDEX,))
        return Compared(1, 0, 1, 1, f"{type(error).__name__}: {' '.join(str(error).split())[:200]}", (UNEXPLAINED,))
    elements, unspecified, wrong, wrong_at_all, said = 0, 0, 0, 0, ""
    reasons: dict[str, None] = {}
    for name, several in row.outputs.items():
        for index, (desc, raw) in enumerate(zip(row.op.tensors(name), several, strict=True)):
            got, mine = _read(raw, desc), ours[name][index]
            marks = wanted[name][index].unspecified
            free = np.zeros(got.shape, np.bool_) if marks is None else np.broadcast_to(marks, got.shape)
            with np.errstate(all="ignore"):
                bad = differences(mine, got, free)
                wrong_at_all += int(differences(mine, got, np.zeros_like(free)).sum())
            elements += got.size
            unspecified += int(free.sum())
            wrong += int(bad.sum())
            if bad.any():
                reasons[reason(row.op, desc.data_type, got, mine, wanted[name][index], bad)] = None
            if bad.any() and not said:
                at = tuple(int(axis[0]) for axis in np.nonzero(bad))
                said = f"{name}{list(at)}: {got[at]!r} in DirectML, {mine[at]!r} here ({bad.sum()} of {bad.size})"
    return Compared(elements, unspecified, wrong, wrong_at_all, said, tuple(reasons))


def why(row: Row, way: str, found: Compared) -> str:
    """Why a row differs, be it only in what nobody promises."""
    if found.wrong:
        return "; ".join(found.reasons)
    flushed = without_subnormals(row)
    if flushed is not None and not compared(flushed, way).wrong_at_all:
        return SUBNORMAL
    return OPEN.get(row.op.type, UNEXPLAINED)


def without_subnormals(row: Row) -> Row | None:
    """With zeros for the subnormal numbers of FLOAT32 among its inputs; ``None`` where there are none."""
    found, inputs = False, {}
    for name, several in row.inputs.items():
        kept = []
        for raw, desc in zip(several, row.op.tensors(name), strict=True):
            values = np.frombuffer(raw, np.uint8).copy()
            if desc.data_type is DataType.FLOAT32:
                floats = values[: len(raw) // 4 * 4].view(np.float32)
                small = (np.abs(floats) < np.finfo(np.float32).smallest_normal) & (floats != 0)
                floats[small] = 0
                found |= bool(small.any())
            kept.append(values.tobytes())
        inputs[name] = kept
    return replace(row, inputs=inputs) if found else None


def differing(way: str, every: int = 1) -> Iterator[dict[str, Any]]:
    """The rows in which a way differs from DirectML, in what nobody promises as well, each with its reason."""
    for row in rows(every):
        found = compared(row, way)
        if found.wrong_at_all:
            shown = {"row": row.number, "operator": row.op.type, "contents": row.contents}
            yield {**shown, "elements": found.elements, "reason": why(row, way, found)}


def listed() -> list[dict[str, Any]]:
    """What ``--list`` wrote: the rows in which exact models differ."""
    return [json.loads(line) for line in LEFT.read_text(encoding="utf-8").splitlines()]


def referred(row: Row) -> dict[str, tuple[Result, ...]]:
    """What the reference gives for the contents of a row."""
    op = row.op
    arrays: dict[str, list[Array]] = {}
    for item in op.schema.input_fields:
        if op.tensors(item.name):
            arrays[item.name] = _arrays(op, item.name, row.inputs)
    for item in op.schema.output_fields:
        if op.updates(item.name):
            before = [bytes([UNTOUCHED]) * desc.total_bytes for desc in op.tensors(item.name)]
            arrays[item.name] = _arrays(op, item.name, {item.name: before})
    singles = {name: given if isinstance(op.get(name), tuple) else given[0] for name, given in arrays.items()}
    return run(op, as_inputs(op, singles))


def computed(row: Row, *, exact: bool) -> dict[str, tuple[Array, ...]]:
    """What the compiled model gives, on ONNX Runtime's CPU provider."""
    graph = single_node(row.op)
    model = compile_outputs(graph, graph.outputs, target="cpu" if exact else "onnx", exact=exact)
    feeds = {}
    given = {f"{name}{index}": raw for name, several in row.inputs.items() for index, raw in enumerate(several)}
    for port in model.inputs:
        size = port.dtype.itemsize * int(np.prod(port.shape, dtype=np.int64))
        feeds[port.name] = np.frombuffer(given[port.name][:size].ljust(size, b"\0"), port.dtype).reshape(port.shape)
    got = model.run(feeds)
    return {
        name: tuple(got[f"{name}{index}"] for index in range(len(several))) for name, several in row.outputs.items()
    }


def _as_default(row: Row, wanted: dict[str, tuple[Result, ...]]) -> dict[str, tuple[Result, ...]]:
    """With what default models leave open: what is not finite and comes of it, what goes by indices out of range."""
    not_finite = any(
        array.dtype.kind == "f" and not np.isfinite(array).all()
        for name in row.inputs
        for array in _arrays(row.op, name, row.inputs)
    )
    left = promised(row.op, wanted)
    if not not_finite:
        return left
    views = ordinary({name: tuple(map(Result, _arrays(row.op, name, row.inputs))) for name in row.inputs})
    return _beside(row.op, views, reached(row.op, views, left))


def _beside(
    op: OperatorDesc, views: Mapping[str, tuple[Result, ...]], results: dict[str, tuple[Result, ...]]
) -> dict[str, tuple[Result, ...]]:
    """With what single elements make of one that is not finite, which NaN may reach where no number would."""
    if not op.schema.family.startswith(("activation", "element_wise")):
        return results
    marks = [view.unspecified for several in views.values() for view in several if view.unspecified is not None]
    found = {}
    for name, several in results.items():
        items = []
        for item in several:
            here = [item.unspecified, *(mark for mark in marks if mark.shape == item.values.shape)]
            known = [mark for mark in here if mark is not None]
            items.append(replace(item, unspecified=np.logical_or.reduce(known)) if known else item)
        found[name] = tuple(items)
    return found


_LOOKS = 8
"""How often something else is put in the place of what is not finite: a minimum may pass over it."""


def reached(
    op: OperatorDesc, views: Mapping[str, tuple[Result, ...]], results: dict[str, tuple[Result, ...]]
) -> dict[str, tuple[Result, ...]]:
    """The results with all marked that numbers that are not finite reach."""
    for seed in range(_LOOKS):
        results = with_marks(op, views, results, np.random.default_rng(seed))
    return results


def _arrays(op: OperatorDesc, name: str, buffers: Mapping[str, list[bytes]]) -> list[Array]:
    return [_read(raw, desc) for desc, raw in zip(op.tensors(name), buffers[name], strict=True)]


def _read(raw: bytes, desc: TensorDesc) -> Array:
    return memory.read(np.frombuffer(raw.ljust(desc.total_bytes, b"\0"), np.uint8).copy(), desc)


def _bytes(op: OperatorDesc, fields: Mapping[str, Any]) -> dict[str, list[bytes]]:
    """The buffers of the tensors that are there."""
    return {name: list(map(base64.b64decode, several)) for name, several in fields.items() if op.tensors(name)}


def main() -> None:
    """Prints how many agree by way and contents, the operators of the rows that differ, and why they do."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("ways", nargs="*", metavar="reference|exact|default")
    parser.add_argument("--only", nargs="+", default=[], metavar="OPERATOR")
    parser.add_argument("--rows", action="store_true", help="each row that differs")
    parser.add_argument("--list", action="store_true", help="write the rows in which exact models differ: left.jsonl")
    parser.add_argument("--every", type=int, default=1, help="one row in as many")
    chosen = parser.parse_args()
    if unknown := set(chosen.ways) - set(WAYS):
        parser.error(f"no way to compute: {', '.join(sorted(unknown))}")
    if chosen.list:
        LEFT.write_text("".join(json.dumps(row) + "\n" for row in differing("exact")), encoding="utf-8")
        return
    ways = [way for way in WAYS if way in chosen.ways or not chosen.ways]
    counts = {(way, contents): Count() for way in ways for contents in CONTENTS}
    for row in rows(chosen.every, tuple(chosen.only)):
        for way in ways:
            found = compared(row, way)
            counts[way, row.contents].add(row.op.type, found)
            if chosen.rows and found.said:
                print(way, row.contents, row.number, row.op.type, found.said, sep=" | ", flush=True)
    for (way, contents), count in counts.items():
        print(f"{way}, {contents}: {count}")
        for (name, why), number in count.failing.most_common():
            print(f"  {number:4} {name}: {why}")


if __name__ == "__main__":
    main()
