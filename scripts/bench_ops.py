"""Run times of operators on a million elements, relative to the equivalent numpy expression, on one thread.

    python scripts/bench_ops.py [--only REDUCE TOP_K] [--worst 20]

Every operator is compiled by itself and runs on ONNX Runtime's CPU provider with bound arrays; times are medians after
warming up. A row above its limit (3 times numpy; 1.5 times for transposes and broadcasts through strides) needs a
reason.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import _bench_cases
import _bench_learning
import _bench_networks
import numpy as np
import onnxruntime
from _bench_cases import Array, Case

import dml2onnx
from dml2onnx import catalog
from dml2onnx.catalog import FieldType
from dml2onnx.codes.checking import DATA_TYPE_UNSUPPORTED, WRONG_DATA_TYPE
from dml2onnx.ir.graph import Graph
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.test_cases.descriptors import plain, tensor
from dml2onnx.test_cases.single_node import single_node

SECONDS = 0.12
"""Measuring time for each side of a row."""

_KERNEL = "one ONNX operator: the speed of ONNX Runtime's kernel"
_LOGARITHM = "more than half of it is Log; the kernel of the function itself takes four times as long"
_SEARCH = "the speed of ONNX Runtime's kernel; the Cast is of one index for each row"
_LAST_AXIS = "the speed of ONNX Runtime's kernel where single elements move along the last axis"
_SATURATES = "clips to the range of the type and converts NaN to 0, which astype does not"
_BY_PARTS = "ReduceProd saturates integers and is slow over the first axis: pieces are multiplied"

_FUNCTIONS = ("ACOS", "ACOSH", "ASIN", "ASINH", "ATAN", "CEIL", "COS", "FLOOR", "LOG", "SIN")

REASONS: dict[str, str] = {
    "ELEMENT_WISE_ATANH ": _LOGARITHM,
    **{f"ELEMENT_WISE_{name} ": _KERNEL for name in (*_FUNCTIONS, "BIT_AND", "BIT_OR", "BIT_XOR")},
    "ACTIVATION_PARAMETRIC_SOFTPLUS": _LOGARITHM,
    "ACTIVATION_SOFTPLUS": _LOGARITHM,
    "ARGM": _SEARCH,
    "CAST (float32 int": _SATURATES,
    "CAST (float32 uint": _SATURATES,
    "ELEMENT_WISE_ATAN_YX": "ONNX has no arc tangent of two arguments: quadrants, zeros and infinities are chosen",
    "ELEMENT_WISE_BIT_COUNT": "ONNX cannot count bits, numpy has an instruction for it: twelve kernels, each of which"
    " reads and writes as much as numpy's one",
    "ELEMENT_WISE_BIT_SHIFT": "counts are masked before the BitShift",
    "ELEMENT_WISE_COSH": "from Exp of half the number, which does not overflow early; the kernel is slower still",
    "ELEMENT_WISE_POW (float32": _KERNEL,
    "ELEMENT_WISE_POW (int32": "Pow of integers rounds in ONNX Runtime: squares, for each bit of the exponent",
    "ELEMENT_WISE_ROUND (float32 toward": "ONNX cannot truncate: Floor of the magnitude, times the sign",
    "ELEMENT_WISE_SINH": "Tanh times the formula of COSH; the kernel is slower still",
    "ELEMENT_WISE_TAN ": "Sin over Cos, which are faster than the kernel of Tan",
    "GATHER (float32 axis 1": _LAST_AXIS,
    "GATHER (int32 axis 1": _LAST_AXIS,
    "REDUCE (ARG": _SEARCH,
    "REDUCE (MULTIPLY": _BY_PARTS,
    "SCATTER_ND": "indices are brought into range, and a spare row takes those outside",
    "SLICE": _LAST_AXIS,
    "UNFOLD": "Slices and a Concat copy what numpy's view of the windows does not",
}
"""Reasons for rows above their limit, by prefix of the row's name."""


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement, in milliseconds."""

    case: Case
    compiled: float
    numpy: float
    nodes: str

    @property
    def ratio(self) -> float:
        """Time relative to numpy."""
        return self.compiled / self.numpy

    @property
    def reason(self) -> str:
        """Why the row is above its limit; a question mark if no reason is known."""
        if self.ratio <= self.case.limit:
            return ""
        return next((text for start, text in REASONS.items() if self.name.startswith(start)), "?")

    @property
    def name(self) -> str:
        return f"{self.case.operator} ({self.case.variant})"


def graph(case: Case, results: Sequence[Array]) -> Graph:
    """The case as a graph of one node; outputs have the shapes of numpy's ``results``."""
    tensors: dict[str, Any] = {}
    for name, array in case.inputs.items():
        field, _, index = name.partition("/")
        desc = tensor(array)
        if name in case.views:
            sizes, strides = case.views[name]
            desc = TensorDesc(desc.data_type, sizes, strides)
        tensors[field] = [*tensors.get(field, ()), desc] if index else desc
    own = next(iter(case.inputs.values()), np.zeros(0)).dtype
    # numpy promotes to 64-bit types
    dtypes = case.types or [own if array.dtype.itemsize == 8 else array.dtype for array in results]
    outputs = [tensor(np.empty(array.shape, dtype)) for array, dtype in zip(results, dtypes, strict=True)]
    fields = catalog.operator(case.operator).output_fields
    if fields[0].type is FieldType.TENSOR_ARRAY:
        tensors[fields[0].name] = outputs
    else:
        tensors |= {field.name: desc for field, desc in zip(fields, outputs, strict=False)}
    return single_node(plain(case.operator, **tensors, **case.fields))


def bound_run(model: dml2onnx.CompiledModel, arrays: Mapping[str, Array]) -> tuple[Callable[[], None], list[Any]]:
    """Returns a function that runs the model once on one thread, and the values that it writes."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.model_proto.SerializeToString(), options, ["CPUExecutionProvider"])
    binding = session.io_binding()
    by_port = {name.replace("/", "") if "/" in name else f"{name}0": array for name, array in arrays.items()}
    for port in model.inputs:
        value = onnxruntime.OrtValue.ortvalue_from_numpy(by_port[port.name].reshape(port.shape))
        binding.bind_ortvalue_input(port.onnx_name, value)
    results = []
    for port in model.outputs:
        results.append(onnxruntime.OrtValue.ortvalue_from_numpy(np.zeros(port.shape, port.dtype)))
        binding.bind_ortvalue_output(port.onnx_name, results[-1])
    return lambda: session.run_with_iobinding(binding), results


def milliseconds(run: Callable[[], object]) -> float:
    """The median of the runs within ``SECONDS``, at least five."""
    run()
    run()
    times: list[float] = []
    while len(times) < 5 or sum(times) < SECONDS:
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return 1e3 * statistics.median(times)


def measure(case: Case) -> Row | None:
    """Measures both sides of a case; returns ``None`` if no feature level admits its data types.

    Raises ``AssertionError`` if their results differ.
    """
    values = list(case.inputs.values())
    with np.errstate(all="ignore"):
        expected = case.expression(*values)
        results = list(expected) if isinstance(expected, tuple | list) else [np.asarray(expected)]
        try:
            model = dml2onnx.compile(graph(case, results))
        except dml2onnx.DmlError as error:
            if {DATA_TYPE_UNSUPPORTED.id, WRONG_DATA_TYPE.id} & {item.code for item in error.diagnostics}:
                return None
            raise
        run, found = bound_run(model, case.inputs)
        run()
        first, got = results[0], found[0].numpy()
        if first.size == got.size:
            near = 1 if got.dtype.itemsize == 1 else 1e-3  # ties may round either way
            same = np.allclose(got.astype(float).reshape(first.shape), first, rtol=1e-3, atol=near, equal_nan=True)
            assert same, f"{case.operator} {case.variant}: not what numpy computes"
        numpy_time = milliseconds(lambda: case.expression(*values))
    nodes = " ".join(dict.fromkeys(node.op_type for node in model.model_proto.graph.node))
    return Row(case, milliseconds(run), numpy_time, nodes)


def report(rows: list[Row], worst: int | None) -> None:
    """Prints the table, the largest ratio first."""
    rows.sort(key=lambda row: -row.ratio)
    print(f"{'ratio':>7}{'ms':>9}{'numpy':>9}  operator")
    for row in rows[:worst]:
        text = f"{row.ratio:7.2f}{row.compiled:9.3f}{row.numpy:9.3f}  {row.name}"
        print(f"{text:<92} {row.nodes[:60]}{'  # ' + row.reason if row.reason else ''}")
    unexplained = [row for row in rows if row.reason == "?"]
    above = sum(row.ratio > row.case.limit for row in rows)
    print(f"{len(rows)} rows, {above} above their limit, {len(unexplained)} of these without a reason")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures operators on a million elements against numpy.")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only operators whose names start with one of these")
    parser.add_argument("--worst", type=int, metavar="N", help="print the N worst rows (default: all)")
    options = parser.parse_args()
    started = time.perf_counter()
    rows: list[Row] = []
    for module in (_bench_cases, _bench_networks, _bench_learning):
        for case in module.cases():
            if not options.only or case.operator.startswith(tuple(options.only)):
                row = measure(case)
                rows += [] if row is None else [row]
    report(rows, options.worst)
    print(f"{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
