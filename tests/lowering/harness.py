"""Compiles and runs single operators and compares them with the reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.lib.stride_tricks import as_strided

from dml2onnx import catalog
from dml2onnx.compiler import CompiledModel, compile_outputs
from dml2onnx.ir.data import ArrayData
from dml2onnx.ir.graph import Constant, Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.reference import Result, disagreements, operator_results
from dml2onnx.reference.memory import read
from dml2onnx.reference.promise import promised
from dml2onnx.targets import QDQ
from dml2onnx.targets import target as target_of
from dml2onnx.test_cases import descriptors
from dml2onnx.test_cases.batch import beside
from dml2onnx.verification.contents import random_values
from dml2onnx.verification.indices import within

operator = descriptors.operator


def t(data_type: str, sizes: Sequence[int], strides: Sequence[int] | None = None) -> TensorDesc:
    """A tensor descriptor."""
    return TensorDesc(DataType[data_type], tuple(sizes), None if strides is None else tuple(strides))


@dataclass
class Case:
    """A graph of one node, and the flat memory of its inputs and constants."""

    op: OperatorDesc
    graph: Graph
    memory: dict[str, np.ndarray]

    @property
    def logical(self) -> dict[str, list[np.ndarray]]:
        """The contents of the node's views, by field."""
        found: dict[str, list[np.ndarray]] = {}
        for name, memory in self.memory.items():
            field, _, index = name.removesuffix("]").removesuffix(" before").partition("[")
            found.setdefault(field, []).append(view(memory, self.op.tensors(field)[int(index or 0)]))
        return found


def random_memory(desc: TensorDesc, rng: np.random.Generator, *, extremes: bool = False) -> np.ndarray:
    """Returns flat random contents of a tensor; with ``extremes``, some of them extreme."""
    if desc.data_type.is_packed_nibbles:
        return rng.integers(0, 256, desc.data_type.bytes_for(desc.extent), np.uint8)
    return random_values(desc.data_type.dtype, (desc.extent,), rng, extremes=extremes)


def integer_extremes(data_type: str) -> np.ndarray:
    """Returns integers that are likely to expose wrong arithmetic, some of which differ in the lower half only."""
    dtype: Any = DataType[data_type].dtype
    info = np.iinfo(dtype)
    low, high, half = int(info.min), int(info.max), 1 << (info.bits // 2)
    values = {low, low + 1, high, high - 1, high // 2, 0, 1, 2, 3, 7, half - 1, half, half // 2, half + half // 2}
    if low:
        values |= {-1, -2, -3, -7, -half, -half // 2, low // 2}
    return np.array(sorted(values), dtype)


def whole_range(data_type: str, sizes: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Returns integers from the whole range of a type, including its limits and numbers that differ in one half."""
    dtype: Any = DataType[data_type].dtype
    bits = DataType[data_type].bits
    rng = np.random.default_rng(seed)
    values = rng.integers(0, (1 << bits) - 1, sizes, np.uint64, endpoint=True)
    half = 1 << bits // 2
    special = [0, 1, half - 1, half, half >> 1, (1 << bits - 1) - 1, 1 << bits - 1, (1 << bits) - 1]
    values = np.where(rng.random(sizes) < 0.3, rng.choice(np.array(special, np.uint64), sizes), values)
    return values.astype(f"u{dtype.itemsize}").view(dtype)


def view(memory: np.ndarray, desc: TensorDesc) -> np.ndarray:
    """Reads the tensor that a descriptor describes from flat memory."""
    if desc.data_type.is_packed_nibbles:
        return read(memory, desc)
    return as_strided(memory, desc.sizes, [s * memory.itemsize for s in desc.effective_strides]).copy()


def make_case(
    op: OperatorDesc,
    *,
    inputs: Mapping[str, np.ndarray] | None = None,
    constants: Sequence[str] = (),
    seed: int = 0,
    extremes: bool = False,
    fitting: bool = False,
) -> Case:
    """Creates a graph whose inputs and outputs are named after the operator's fields (``InputTensors[1]`` in arrays).

    ``inputs`` has flat memory or logical arrays; other contents are random, with ``fitting`` indices in range.
    ``constants`` become initializers. An output that the operator updates is an input too if ``inputs`` has it.
    """
    rng = np.random.default_rng(seed)
    arrays = dict(inputs or {})
    reads: dict[str, tuple[Read, ...]] = {}
    writes: dict[str, tuple[Write, ...]] = {}
    graph_inputs, graph_outputs = [], []
    memory: dict[str, np.ndarray] = {}
    for item in op.schema.tensor_fields:
        descs = op.tensors(item.name)
        if not descs:
            continue
        single = isinstance(op.get(item.name), TensorDesc)
        names = [item.name if single else f"{item.name}[{i}]" for i in range(len(descs))]
        values = [Value(name, desc.minimum_bytes) for name, desc in zip(names, descs, strict=True)]
        if item.kind is catalog.FieldKind.OUTPUT_TENSOR:
            bases: list[Value | None] = [None] * len(values)
            if item.name in arrays:  # the previous contents of an output that the operator updates
                before = Value(f"{item.name} before", values[0].nbytes)
                bases = [before]
                memory[f"{item.name} before"] = pack(
                    np.asarray(arrays.pop(item.name), descs[0].data_type.dtype), descs[0]
                )
                graph_inputs.append(GraphInput(f"{item.name} before", before, desc=descs[0]))
            writes[item.name] = tuple(Write(value, base=base) for value, base in zip(values, bases, strict=True))
            graph_outputs += [GraphOutput(n, v, d) for n, v, d in zip(names, values, descs, strict=True)]
            continue
        reads[item.name] = tuple(Read(value) for value in values)
        for name, value, desc in zip(names, values, descs, strict=True):
            flat = arrays.pop(name, None)
            if flat is None:
                flat = random_memory(desc, rng, extremes=extremes)
            elif np.shape(flat) == desc.sizes and not desc.is_packed:
                flat = pack(np.asarray(flat, desc.data_type.dtype), desc)
            stored = np.dtype(np.uint8) if desc.data_type.is_packed_nibbles else desc.data_type.dtype
            memory[name] = np.ascontiguousarray(flat, stored).reshape(-1)
            graph_inputs.append(GraphInput(name, value, desc=desc))
    assert not arrays, f"no such inputs: {arrays}"
    node = Node("node", op, reads, writes, "/nodes/0/desc")
    graph = Graph((node,), tuple(graph_inputs), tuple(graph_outputs))
    if fitting:
        memory |= within(graph, memory)
    known = [item for item in graph_inputs if item.name.partition("[")[0] in constants]
    return Case(op, with_constants(graph, {item.name: memory[item.name] for item in known}), memory)


def with_constants(graph: Graph, arrays: Mapping[str, np.ndarray]) -> Graph:
    """Replaces some inputs of a graph by constants."""
    constants = [Constant(item.value, ArrayData.of(arrays[item.name])) for item in graph.inputs if item.name in arrays]
    rest = tuple(item for item in graph.inputs if item.name not in arrays)
    return replace(graph, inputs=rest, constants=(*graph.constants, *constants))


def pack(array: np.ndarray, desc: TensorDesc) -> np.ndarray:
    """Writes ``array`` to flat memory in the layout of ``desc``."""
    memory = np.zeros(desc.extent, array.dtype)
    as_strided(memory, desc.sizes, [s * memory.itemsize for s in desc.effective_strides])[...] = array
    return memory


def check_case(
    op: OperatorDesc,
    *,
    inputs: Mapping[str, np.ndarray] | None = None,
    constants: Sequence[str] = (),
    opset: int = 21,
    target: str = "cpu",
    seed: int = 0,
    extremes: bool = False,
    exact: bool = True,
    quant_format: str | None = None,
) -> CompiledModel:
    """Compiles and runs one operator, and compares all outputs with the reference."""
    case = make_case(op, inputs=inputs, constants=constants, seed=seed, extremes=extremes)
    return check_together([case], opset=opset, target=target, exact=exact, quant_format=quant_format)


def check_together(cases: Sequence[Case], *, exact: bool = True, **how: Any) -> CompiledModel:
    """Checks several cases as :func:`check_case` does, in one model, in which names start with the case's number."""
    graph = cases[0].graph if len(cases) == 1 else beside([case.graph for case in cases])
    model = compile_outputs(graph, graph.outputs, exact=exact, **{"opset": 21, "target": "cpu", **how})
    onnx.checker.check_model(model.serialize(), full_check=True)
    prefixes = [""] if len(cases) == 1 else [f"{number}/" for number in range(len(cases))]
    feeds = {
        prefix + name: array
        for prefix, case in zip(prefixes, cases, strict=True)
        for name, array in case.memory.items()
    }
    got = model.run({port.name: feeds[port.name].reshape(-1) for port in model.inputs})
    for prefix, case in zip(prefixes, cases, strict=True):
        compare(case, got, prefix, exact=exact, in_floats=model.quant_format == QDQ)
    return model


def compare(
    case: Case, got: Mapping[str, np.ndarray], prefix: str = "", *, exact: bool, in_floats: bool = False
) -> None:
    """Compares all outputs of a case with the reference, as far as the model promises their values."""
    op, results = case.op, operator_results(case.op, case.logical)
    for name, several in (results if exact else promised(op, results, in_floats=in_floats)).items():
        for index, result in enumerate(several):
            key = name if single(op, name) else f"{name}[{index}]"
            desc = op.tensors(name)[index]
            assert_close(got[prefix + key], result, desc, f"{op.type} {key}", half_accumulation=not exact)


def check_form(op: OperatorDesc, **how: Any) -> CompiledModel:
    """Checks a model that is not exact, for the CPU provider."""
    return check_case(op, exact=False, **how)


def evaluate(
    op: OperatorDesc, *, constants: Sequence[str] = (), opset: int = 21, **inputs: np.ndarray
) -> tuple[np.ndarray, list[str]]:
    """Checks an operator; returns its only output for ``inputs``, and the ONNX operators of the model."""
    model = check_case(op, inputs=inputs, constants=constants, opset=opset)
    (result,) = model.run({port.name: np.asarray(inputs[port.name], port.dtype) for port in model.inputs}).values()
    return result, operators(model)


def single(op: OperatorDesc, name: str) -> bool:
    """Whether a field holds one tensor, not an array."""
    return isinstance(op.get(name), TensorDesc)


def assert_close(
    got: np.ndarray, want: Result, desc: TensorDesc, what: str, *, half_accumulation: bool = False
) -> None:
    """Asserts that elements are equal up to the error that the reference allows for each.

    With ``half_accumulation``, for models that are not exact, each node may have rounded to FLOAT16.
    """
    assert got.dtype == want.values.dtype, what
    assert got.shape == want.values.shape, what
    wrong = disagreements(got, want, desc.data_type, half_accumulation)
    if wrong.any():
        where = tuple(int(i[0]) for i in np.nonzero(wrong))
        found = f"first at {where}: {got[where]!r} != {want.values[where]!r}"
        pytest.fail(f"{what}: {wrong.sum()} of {wrong.size} differ, {found}")


def support_cases(name: str, tensor: str = "OutputTensor") -> Iterator[Any]:
    """Yields a pytest parameter (level, data type, rank) for every combination in the support tables of a tensor."""
    seen = set()
    for row in catalog.operator(name).support:
        support = row.tensors[tensor]
        low, high = support.dimension_counts
        for data_type in sorted(support.data_types):
            for rank in range(low, high + 1):
                key = (row.level.name, data_type, rank)
                if key not in seen:
                    seen.add(key)
                    yield pytest.param(*key, id=f"{name}-{row.level.name}-{data_type}-{rank}d")


def type_cases(name: str, tensor: str = "OutputTensor") -> Iterator[Any]:
    """Yields a pytest parameter (data type, rank) for every combination in the support tables of a tensor."""
    for data_type, rank in dict.fromkeys(case.values[1:] for case in support_cases(name, tensor)):
        yield pytest.param(data_type, rank, id=f"{name}-{data_type}-{rank}d")


def combined(is_exhaustive: bool, *values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Returns all combinations if ``is_exhaustive``, else as many as the longest sequence has values.

    The shorter sequences are repeated with different offsets, so that each value is combined with several others.
    """
    if is_exhaustive:
        return list(product(*values))
    rows = range(max(map(len, values)))
    return [tuple(each[(row + row // len(each)) % len(each)] for each in values) for row in rows]


def operators(model: CompiledModel) -> list[str]:
    """Returns the ONNX operators of a model, in order."""
    return [node.op_type for node in model.lowered.nodes]


def left_by_optimiser(model: CompiledModel, directory: Path) -> onnx.GraphProto:
    """Returns a model as ONNX Runtime optimises it."""
    options, path = onnxruntime.SessionOptions(), directory / "optimised.onnx"
    options.optimized_model_filepath = str(path)
    options.log_severity_level = 3
    onnxruntime.InferenceSession(model.serialize(), options, ["CPUExecutionProvider"])
    return onnx.load(path).graph


def in_session(model: CompiledModel, feeds: Mapping[str, np.ndarray], *, optimised: bool) -> dict[str, np.ndarray]:
    """Runs a model in a plain session, with all of ONNX Runtime's optimisations or none.

    Sets the option for exact products of INT8 weights between quantisations where docs/targets.md requires it.
    """
    options = onnxruntime.SessionOptions()
    if model.quant_format == QDQ and not target_of(model.target, exact=False).has("PAIRS_OF_BYTES_SATURATE"):
        options.add_session_config_entry("session.x64quantprecision", "1")
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    if not optimised:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.model_proto.SerializeToString(), options, ["CPUExecutionProvider"])
    names = [port.onnx_name for port in model.outputs]
    arrays = {port.onnx_name: feeds[port.name].reshape(port.shape) for port in model.inputs}
    return dict(zip([port.name for port in model.outputs], session.run(names, arrays), strict=True))
