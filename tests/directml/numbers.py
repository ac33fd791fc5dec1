"""Measures how many results of the reference and of compiled models match recorded results of DirectML.

``python -m tests.directml.numbers [reference] [exact] [default] [--only OPERATOR ...] [--rows] [--every N]`` measures
all of ``observed/numbers.jsonl.xz``, by ordinary and extreme contents.

A row agrees if every specified element of every output matches: floats within 1e-3 of the larger of themselves and 1 %
of the output's largest element, integers exactly. Elements that the reference calls unspecified are not compared. They
are counted separately, as are rows that agree including these elements. ``left.jsonl`` lists the rows in which exact
models then differ, with the decision that leaves them open or another reason; ``--list`` writes it.
"""

from __future__ import annotations

import argparse
import base64
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from dml2onnx import catalog
from dml2onnx.compiler import compile_outputs
from dml2onnx.frontends.descriptors import DescriptorReader
from dml2onnx.frontends.dialects import NATIVE, operators_by_name
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.onnx_model import Array
from dml2onnx.reference import memory
from dml2onnx.reference.promise import ordinary, promised
from dml2onnx.reference.propagation import with_marks
from dml2onnx.reference.registry import Result, as_inputs, run
from dml2onnx.test_cases.directml_trials import differences
from dml2onnx.test_cases.single_node import single_node
from dml2onnx.verification.nodes import bytes_to
from tests.directml.left import BY_INDEX, OPEN, SUBNORMAL, UNEXPLAINED, reason
from tests.directml.observed import lines

LEFT = Path(__file__).parent / "left.jsonl"
WAYS = ("reference", "exact", "default")
CONTENTS = ("ordinary", "extreme")
UNTOUCHED = 0xAB
"""The value of all bytes of output buffers before the dispatch."""


@dataclass(frozen=True, slots=True)
class Row:
    """One dispatch: the descriptor, and the bytes of its buffers by field."""

    number: int
    op: OperatorDesc
    contents: str
    inputs: dict[str, list[bytes]]
    outputs: dict[str, list[bytes]]


@dataclass(frozen=True, slots=True)
class Compared:
    """The comparison of one row: the number of elements, unspecified ones, and wrong ones."""

    elements: int
    unspecified: int
    wrong: int
    wrong_in_all: int
    """Wrong elements including unspecified ones."""
    problem: str = ""
    reasons: tuple[str, ...] = ()
    """The classes of the differences."""


@dataclass(slots=True)
class Count:
    """Statistics of the rows of one kind of contents."""

    rows: int = 0
    agreed: int = 0
    agreed_in_all: int = 0
    """Rows that agree including unspecified elements."""
    with_unspecified: int = 0
    wholly_unspecified: int = 0
    elements: int = 0
    unspecified: int = 0
    failing: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Number of differing rows by operator and reason."""

    def add(self, name: str, compared: Compared) -> None:
        """Counts a row of the operator ``name``."""
        self.rows += 1
        self.elements += compared.elements
        self.unspecified += compared.unspecified
        self.with_unspecified += compared.unspecified > 0
        self.wholly_unspecified += compared.unspecified == compared.elements
        self.agreed_in_all += not compared.wrong_in_all
        if compared.wrong:
            self.failing[name, "; ".join(compared.reasons)] += 1
        else:
            self.agreed += 1

    @property
    def share(self) -> float:
        """Agreeing rows in percent."""
        return 100 * self.agreed / max(self.rows, 1)

    def __str__(self) -> str:
        open_share = 100 * self.unspecified / max(self.elements, 1)
        return (
            f"{self.agreed} of {self.rows} agree, {self.share:.2f} %; {self.with_unspecified} rows have unspecified"
            f" elements, {self.wholly_unspecified} have no others ({open_share:.2f} % of all elements);"
            f" including these, {100 * self.agreed_in_all / max(self.rows, 1):.2f} % agree"
        )


def rows(every: int = 1, only: tuple[str, ...] = ()) -> Iterator[Row]:
    """Yields every ``every``-th recorded dispatch, of all operators or of some."""
    reader = DescriptorReader(NATIVE)
    for number, record in enumerate(lines("numbers.jsonl.xz")):
        if number % every or (only and record["type"] not in only):
            continue
        reading = reader.operator(catalog.operator(operators_by_name()[record["type"]]), record["desc"])
        op = reading.operator
        yield Row(number, op, record["contents"], _bytes(op, record["inputs"]), _bytes(op, record["outputs"]))


def compared(row: Row, way: str) -> Compared:
    """Compares a row with the ``reference``, an ``exact`` or a ``default`` model."""
    try:
        with np.errstate(all="ignore"):
            wanted = reference_results(row)
        if way == "reference":
            ours: Mapping[str, tuple[Array, ...]] = {
                name: tuple(item.values for item in results) for name, results in wanted.items()
            }
        else:
            ours = computed(row, exact=way == "exact")
        if way == "default":
            wanted = _as_default(row, wanted)
    except Exception as error:  # a model that cannot be compiled or run is a difference
        if way == "default" and getattr(error, "diagnostics", None) and "invalid ind" in str(error):
            return Compared(1, 0, 1, 1, str(error), (BY_INDEX,))
        return Compared(1, 0, 1, 1, f"{type(error).__name__}: {' '.join(str(error).split())[:200]}", (UNEXPLAINED,))
    elements, unspecified, wrong, wrong_in_all, problem = 0, 0, 0, 0, ""
    reasons: dict[str, None] = {}
    for name, several in row.outputs.items():
        for index, (desc, raw) in enumerate(zip(row.op.tensors(name), several, strict=True)):
            got, mine = _read(raw, desc), ours[name][index]
            marks = wanted[name][index].unspecified
            free = np.zeros(got.shape, np.bool_) if marks is None else np.broadcast_to(marks, got.shape)
            with np.errstate(all="ignore"):
                bad = differences(mine, got, free)
                wrong_in_all += int(differences(mine, got, np.zeros_like(free)).sum())
            elements += got.size
            unspecified += int(free.sum())
            wrong += int(bad.sum())
            if bad.any():
                reasons[reason(row.op, desc.data_type, got, mine, wanted[name][index], bad)] = None
            if bad.any() and not problem:
                at = tuple(int(axis[0]) for axis in np.nonzero(bad))
                problem = f"{name}{list(at)}: {got[at]!r} in DirectML, {mine[at]!r} here ({bad.sum()} of {bad.size})"
    return Compared(elements, unspecified, wrong, wrong_in_all, problem, tuple(reasons))


def why(row: Row, way: str, found: Compared) -> str:
    """The reason why a row differs, possibly only in unspecified elements."""
    if found.wrong:
        return "; ".join(found.reasons)
    flushed = without_subnormals(row)
    if flushed is not None and not compared(flushed, way).wrong_in_all:
        return SUBNORMAL
    return OPEN.get(row.op.type, UNEXPLAINED)


def without_subnormals(row: Row) -> Row | None:
    """The row with FLOAT32 subnormals among its inputs flushed to 0; ``None`` if there are none."""
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
    """Yields the rows that differ from DirectML, including unspecified elements, with their reasons."""
    for row in rows(every):
        found = compared(row, way)
        if found.wrong_in_all:
            shown = {"row": row.number, "operator": row.op.type, "contents": row.contents}
            yield {**shown, "elements": found.elements, "reason": why(row, way, found)}


def listed() -> list[dict[str, Any]]:
    """The rows in which exact models differ, as ``--list`` wrote them."""
    return [json.loads(line) for line in LEFT.read_text(encoding="utf-8").splitlines()]


def reference_results(row: Row) -> dict[str, tuple[Result, ...]]:
    """The results of the reference for a row."""
    op = row.op
    arrays: dict[str, list[Array]] = {}
    for item in op.schema.input_fields:
        if op.tensors(item.name):
            arrays[item.name] = _arrays(op, item.name, row.inputs)
    for item in op.schema.output_fields:
        if op.updates(item.name):
            before = [bytes([UNTOUCHED]) * desc.total_bytes for desc in op.tensors(item.name)]
            arrays[item.name] = _arrays(op, item.name, {item.name: before})
    singles = {name: several if isinstance(op.get(name), tuple) else several[0] for name, several in arrays.items()}
    return run(op, as_inputs(op, singles))


def computed(row: Row, *, exact: bool) -> dict[str, tuple[Array, ...]]:
    """The results of the compiled model on ONNX Runtime's CPU provider."""
    graph = single_node(row.op)
    model = compile_outputs(graph, graph.outputs, target="cpu" if exact else "onnx", exact=exact)
    contents = {
        f"{name}{index}": np.frombuffer(raw, np.uint8)
        for name, several in row.inputs.items()
        for index, raw in enumerate(several)
    }
    got = model.run({port.name: bytes_to(contents[port.name], port.dtype, port.shape) for port in model.inputs})
    return {
        name: tuple(got[f"{name}{index}"] for index in range(len(several))) for name, several in row.outputs.items()
    }


def _as_default(row: Row, wanted: dict[str, tuple[Result, ...]]) -> dict[str, tuple[Result, ...]]:
    """The results that default models promise, with everything marked that depends on non-finite inputs."""
    not_finite = any(
        array.dtype.kind == "f" and not np.isfinite(array).all()
        for name in row.inputs
        for array in _arrays(row.op, name, row.inputs)
    )
    results = promised(row.op, wanted)
    if not not_finite:
        return results
    views = ordinary({name: tuple(map(Result, _arrays(row.op, name, row.inputs))) for name in row.inputs})
    # several samples, since a minimum may ignore one of them
    for seed in range(8):
        results = with_marks(row.op, views, results, np.random.default_rng(seed))
    return _element_wise_marks(row.op, views, results)


def _element_wise_marks(
    op: OperatorDesc, views: Mapping[str, tuple[Result, ...]], results: dict[str, tuple[Result, ...]]
) -> dict[str, tuple[Result, ...]]:
    """Marks the results of element-wise operators for marked inputs, which samples may miss."""
    if not op.schema.family.startswith(("activation", "element_wise")):
        return results
    marks = [view.unspecified for several in views.values() for view in several if view.unspecified is not None]

    def marked(item: Result) -> Result:
        for mark in marks:
            item = item.marked(mark) if mark.shape == item.values.shape else item
        return item

    return {name: tuple(map(marked, several)) for name, several in results.items()}


def _arrays(op: OperatorDesc, name: str, buffers: Mapping[str, list[bytes]]) -> list[Array]:
    return [_read(raw, desc) for desc, raw in zip(op.tensors(name), buffers[name], strict=True)]


def _read(raw: bytes, desc: TensorDesc) -> Array:
    return memory.read(np.frombuffer(raw.ljust(desc.total_bytes, b"\0"), np.uint8).copy(), desc)


def _bytes(op: OperatorDesc, fields: Mapping[str, Any]) -> dict[str, list[bytes]]:
    """The buffers of the tensors that are present."""
    return {name: list(map(base64.b64decode, several)) for name, several in fields.items() if op.tensors(name)}


def main() -> None:
    """Prints the number of rows that agree, and the operators and reasons of those that differ."""
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
            if chosen.rows and found.problem:
                print(way, row.contents, row.number, row.op.type, found.problem, sep=" | ", flush=True)
    for (way, contents), count in counts.items():
        print(f"{way}, {contents}: {count}")
        for (name, why), number in count.failing.most_common():
            print(f"  {number:4} {name}: {why}")


if __name__ == "__main__":
    main()
