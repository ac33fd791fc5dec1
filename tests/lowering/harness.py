"""One operator from descriptor to numbers: compiled, checked, run, and compared with the reference."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

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
from dml2onnx.testing import descriptors
from dml2onnx.testing.batch import beside
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
        """What the node's views see there, by field."""
        found: dict[str, list[np.ndarray]] = {}
        for name, memory in self.memory.items():
            field, _, index = name.removesuffix("]").removesuffix(" before").partition("[")
            found.setdefault(field, []).append(view(memory, self.op.tensors(field)[int(index or 0)]))
        return found


def random_memory(desc: TensorDesc, rng: np.random.Generator, *, extremes: bool = False) -> np.ndarray:
    """Flat contents for a tensor, with extreme ones strewn in when asked for."""
    if desc.data_type.is_packed_nibbles:
        return rng.integers(0, 256, desc.data_type.bytes_for(desc.extent), np.uint8)
    return random_values(desc.data_type.dtype, (desc.extent,), rng, extremes=extremes)


def integer_extremes(data_type: str) -> np.ndarray:
    """Integers where arithmetic goes wrong when it does, those that differ only in their lower halves among them."""
    dtype: Any = DataType[data_type].dtype
    info = np.iinfo(dtype)
    low, high, half = int(info.min), int(info.max), 1 << (info.bits // 2)
    values = {low, low + 1, high, high - 1, high // 2, 0, 1, 2, 3, 7, half - 1, half, half // 2, half + half // 2}
    if low:
        values |= {-1, -2, -3, -7, -half, -half // 2, low // 2}
    return np.array(sorted(values), dtype)


def whole_range(data_type: str, sizes: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Integers from all of the type's range, its limits and what differs in one half only among them."""
    dtype: Any = DataType[data_type].dtype
    bits = DataType[data_type].bits
    rng = np.random.default_rng(seed)
    values = rng.integers(0, (1 << bits) - 1, sizes, np.uint64, endpoint=True)
    half = 1 << bits // 2
    special = [0, 1, half - 1, half, half >> 1, (1 << bits - 1) - 1, 1 << bits - 1, (1 << bits) - 1]
    values = np.where(rng.random(sizes) < 0.3, rng.choice(np.array(special, np.uint64), sizes), values)
    return values.astype(f"u{dtype.itemsize}").view(dtype)


def view(memory: np.ndarray, desc: TensorDesc) -> np.ndarray:
    """What a descriptor sees in flat memory."""
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
    """A graph whose inputs and outputs are named after the operator's fields (``InputTensors[1]`` in arrays).

    ``inputs`` gives flat memory or logical arrays for some; the rest is random, indices in their range if ``fitting``.
    ``constants`` become initializers. Outputs that the operator updates are inputs too, if they are given.
    """
    rng = np.random.default_rng(seed)
    given = dict(inputs or {})
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
            if item.name in given:  # what an output holds before that the operator updates
                before = Value(f"{item.name} before", values[0].nbytes)
                bases = [before]
                memory[f"{item.name} before"] = pack(
                    np.asarray(given.pop(item.name), descs[0].data_type.dtype), descs[0]
                )
                graph_inputs.append(GraphInput(f"{item.name} before", before, desc=descs[0]))
            writes[item.name] = tuple(Write(value, base=base) for value, base in zip(values, bases, strict=True))
            graph_outputs += [GraphOutput(n, v, d) for n, v, d in zip(names, values, descs, strict=True)]
            continue
        reads[item.name] = tuple(Read(value) for value in values)
        for name, value, desc in zip(names, values, descs, strict=True):
            flat = given.pop(name, None)
            if flat is None:
                flat = random_memory(desc, rng, extremes=extremes)
            elif np.shape(flat) == desc.sizes and not desc.is_packed:
                flat = pack(np.asarray(flat, desc.data_type.dtype), desc)
            stored = np.dtype(np.uint8) if desc.data_type.is_packed_nibbles else desc.data_type.dtype
            memory[name] = np.ascontiguousarray(flat, stored).reshape(-1)
            graph_inputs.append(GraphInput(name, value, desc=desc))
    assert not given, f"no such inputs: {given}"
    node = Node("node", op, reads, writes, "/nodes/0/desc")
    graph = Graph((node,), tuple(graph_inputs), tuple(graph_outputs))
    if fitting:
        memory |= within(graph, memory)
    known = [item for item in graph_inputs if item.name.partition("[")[0] in constants]
    return Case(op, with_constants(graph, {item.name: memory[item.name] for item in known}), memory)


def with_constants(graph: Graph, arrays: Mapping[str, np.ndarray]) -> Graph:
    """The graph with constants for some of its inputs."""
    constants = [Constant(item.value, ArrayData.of(arrays[item.name])) for item in graph.inputs if item.name in arrays]
    rest = tuple(item for item in graph.inputs if item.name not in arrays)
    return replace(graph, inputs=rest, constants=(*graph.constants, *constants))


def pack(array: np.ndarray, desc: TensorDesc) -> np.ndarray:
    """Flat memory in which ``desc`` sees ``array``."""
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
    """Compiles and runs one operator and compares every output with the reference, as far as the model promises it."""
    case = make_case(op, inputs=inputs, constants=constants, seed=seed, extremes=extremes)
    return check_together([case], opset=opset, target=target, exact=exact, quant_format=quant_format)


def check_together(cases: Sequence[Case], *, exact: bool = True, **how: Any) -> CompiledModel:
    """As :func:`check_case`, of several in one model, where each has its number before its names."""
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
        op, found = case.op, operator_results(case.op, case.logical)
        in_floats = model.quant_format == QDQ
        for name, results in (found if exact else promised(op, found, in_floats=in_floats)).items():
            for index, result in enumerate(results):
                key = name if single(op, name) else f"{name}[{index}]"
                desc, what = op.tensors(name)[index], f"{op.type} {key}"
                assert_close(got[prefix + key], result, desc, what, half_accumulation=not exact)
    return model


def check_form(op: OperatorDesc, **how: Any) -> CompiledModel:
    """As :func:`check_case`, of the model for the CPU provider that leaves NaN and infinities open."""
    return check_case(op, exact=False, **how)


def single(op: OperatorDesc, name: str) -> bool:
    """Whether a field holds one tensor, not an array."""
    return isinstance(op.get(name), TensorDesc)


def assert_close(
    got: np.ndarray, want: Result, desc: TensorDesc, what: str, *, half_accumulation: bool = False
) -> None:
    """Equality, up to the error that the reference admits for each element.

    With ``half_accumulation``, as of models that are not exact, each node may have rounded FLOAT16.
    """
    assert got.dtype == want.values.dtype, what
    assert got.shape == want.values.shape, what
    wrong = disagreements(got, want, desc.data_type, half_accumulation)
    if wrong.any():
        where = tuple(int(i[0]) for i in np.nonzero(wrong))
        found = f"first at {where}: {got[where]!r} != {want.values[where]!r}"
        pytest.fail(f"{what}: {wrong.sum()} of {wrong.size} differ, {found}")


def support_cases(name: str, tensor: str = "OutputTensor") -> Iterator[Any]:
    """A pytest parameter (level, data type, rank) for all that the support tables admit of one tensor."""
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
    """A pytest parameter (data type, rank) for all that the support tables admit of one tensor at any level."""
    for data_type, rank in dict.fromkeys(case.values[1:] for case in support_cases(name, tensor)):
        yield pytest.param(data_type, rank, id=f"{name}-{data_type}-{rank}d")


Tensor: TypeAlias = "str | Callable[[str], str]"
"""A tensor field, or the function that says which one an operator has for it."""


def each_row(names: str | Iterable[str], tensor: Tensor = "OutputTensor") -> pytest.MarkDecorator:
    """A case (level, data type, rank) for all that the tables admit of one tensor; with names of several operators, the
    name comes first."""
    return _each(names, ("level", "data_type", "rank"), tensor, support_cases)


def _each(
    names: str | Iterable[str], said: tuple[str, ...], tensor: Tensor, cases: Callable[[str, str], Iterable[Any]]
) -> pytest.MarkDecorator:
    def of(name: str) -> Iterable[Any]:
        return cases(name, tensor if isinstance(tensor, str) else tensor(name))

    if isinstance(names, str):
        return pytest.mark.parametrize(said, list(of(names)))
    named = [pytest.param(name, *case.values, id=case.id) for name in names for case in of(name)]
    return pytest.mark.parametrize(("name", *said), named)


def combined(is_exhaustive: bool, *values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """All combinations where all cases are wanted; else as many as the longest has values, with the others in turn.

    Two that are shorter do not go in step, so that each value of the one meets several of the other.
    """
    if is_exhaustive:
        return list(product(*values))
    rows = range(max(map(len, values)))
    return [tuple(each[(row + row // len(each)) % len(each)] for each in values) for row in rows]


def operators(model: CompiledModel) -> list[str]:
    """The ONNX operators of a model, in order."""
    return [node.op_type for node in model.lowered.nodes]


def left_by_optimiser(model: CompiledModel, directory: Path) -> onnx.GraphProto:
    """What ONNX Runtime's optimiser leaves of a model."""
    options, path = onnxruntime.SessionOptions(), directory / "optimised.onnx"
    options.optimized_model_filepath = str(path)
    options.log_severity_level = 3
    onnxruntime.InferenceSession(model.serialize(), options, ["CPUExecutionProvider"])
    return onnx.load(path).graph


def in_session(model: CompiledModel, feeds: Mapping[str, np.ndarray], *, optimised: bool) -> dict[str, np.ndarray]:
    """What a session of anybody's gives, with ONNX Runtime's optimisations or without any.

    It asks for exact products where docs/targets.md says that it has to: of INT8 weights between quantisations.
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
