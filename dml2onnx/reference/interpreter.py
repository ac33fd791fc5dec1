"""Evaluates whole graphs on flat buffers, one operator after another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from dml2onnx.codes.running import NO_MEMORY
from dml2onnx.diagnostics import DmlError
from dml2onnx.ir.graph import Graph, GraphInput, GraphOutput, Node, Value, Write
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.reference import memory
from dml2onnx.reference.arithmetic import FLOAT32, Arithmetic, allowing
from dml2onnx.reference.cost import require_computable, values_needed
from dml2onnx.reference.memory import Bytes, Marks
from dml2onnx.reference.promise import ordinary, promised
from dml2onnx.reference.propagation import SAMPLES, Results, moved, with_deviations, with_marks, with_steps
from dml2onnx.reference.registry import Array, Inputs, Mask, Result, as_inputs, map_tensors, run
from dml2onnx.reference.tolerance import allowed_error


@dataclass(frozen=True, slots=True)
class _Buffer:
    """The bytes of a value, with the error and unspecified marks of the element of each byte.

    ``samples`` are the results of other conforming evaluations; empty if the bytes are exact.
    """

    data: Bytes
    error: Marks | None = None
    unspecified: Marks | None = None
    samples: tuple[Bytes, ...] = ()


def run_operator(
    op: OperatorDesc, inputs: Mapping[str, Sequence[npt.ArrayLike] | npt.ArrayLike]
) -> dict[str, list[Array]]:
    """The outputs of one operator by field, for logical input arrays (a list for an array field).

    Raises ``ValueError`` for arrays that do not match the descriptors.
    """
    return {name: [result.values for result in results] for name, results in operator_results(op, inputs).items()}


def operator_results(
    op: OperatorDesc, inputs: Mapping[str, Sequence[npt.ArrayLike] | npt.ArrayLike]
) -> dict[str, tuple[Result, ...]]:
    """:func:`run_operator` with allowed errors and marks of unspecified elements."""
    return run(op, as_inputs(op, inputs))


def evaluate(
    graph: Graph,
    inputs: Mapping[str, npt.ArrayLike] | None = None,
    outputs: Sequence[GraphOutput] | None = None,
) -> dict[str, Array]:
    """The logical arrays of ``outputs``, by default those of the graph.

    An input is an array in memory order with the bytes of the buffer, zero-padded at the end; plain numbers take the
    type of the input's tensor. Missing inputs use their default.
    Raises ``KeyError`` for an input with neither or an unknown name, and ``ValueError`` for one that is larger than its
    buffer.
    """
    results = _Evaluation(graph, inputs or {}, False).outputs(graph.outputs if outputs is None else outputs)
    return {name: result.values for name, result in results.items()}


def evaluate_results(
    graph: Graph,
    inputs: Mapping[str, npt.ArrayLike] | None = None,
    outputs: Sequence[GraphOutput] | None = None,
    before: Callable[[Node], None] | None = None,
    arithmetic: Arithmetic = FLOAT32,
    *,
    exact: bool = True,
    in_floats: bool = False,
) -> dict[str, Result]:
    """:func:`evaluate` with allowed errors and marks of unspecified elements.

    :mod:`dml2onnx.reference.propagation` propagates both. ``before`` is called with each node before its evaluation and
    may raise to abort. ``arithmetic`` computes FLOAT32. If not ``exact``, the results keep only the promises of
    :mod:`dml2onnx.reference.promise`, which depend on whether quantised operators compute ``in_floats``.
    """
    evaluation = _Evaluation(graph, inputs or {}, True, before, arithmetic, exact, in_floats)
    return evaluation.outputs(graph.outputs if outputs is None else outputs)


@dataclass(slots=True)
class _Evaluation:
    graph: Graph
    supplied: Mapping[str, npt.ArrayLike]
    probing: bool
    before: Callable[[Node], None] | None = None
    arithmetic: Arithmetic = FLOAT32
    exact: bool = True
    in_floats: bool = False
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    buffers: dict[Value, _Buffer] = field(default_factory=dict)

    def __post_init__(self) -> None:
        unknown = self.supplied.keys() - {item.name for item in self.graph.inputs}
        if unknown:
            raise KeyError(f"the graph has no input {', '.join(sorted(unknown))}")

    def outputs(self, outputs: Sequence[GraphOutput]) -> dict[str, Result]:
        nodes = self.graph.live_nodes(tuple(outputs))
        needed = values_needed(nodes, outputs)
        require_computable(self.graph, outputs)
        for constant in self.graph.constants:
            if constant.value in needed:
                self.buffers[constant.value] = _Buffer(_fit(constant.data.read(), constant.value))
        for item in self.graph.inputs:
            if item.value in needed:
                self.buffers[item.value] = _Buffer(self._input(item, nodes))
        for node in nodes:
            if self.before is not None:
                self.before(node)
            try:
                self._run(node)
            except MemoryError:
                message = "there is not enough memory to compute it in the reference implementation"
                finding = NO_MEMORY.at(message, node=node.name, operator=node.operator.type, pointer=node.source)
                raise DmlError(finding) from None
        results = {output.name: self._read(self.buffers[output.value], output.desc) for output in outputs}
        return {name: replace(result, values=result.values.copy()) for name, result in results.items()}

    def _input(self, item: GraphInput, nodes: Sequence[Node]) -> Bytes:
        if item.name not in self.supplied:
            if item.default is None:
                raise KeyError(f"no contents for the input {item.name!r}")
            return _fit(item.default.read(), item.value)
        array = self.supplied[item.name]
        if not isinstance(array, np.ndarray):
            array = np.asarray(array, _type_of(item, nodes).dtype)
        return _fit(np.ascontiguousarray(array).reshape(-1).view(np.uint8), item.value)

    def _read(self, buffer: _Buffer, desc: TensorDesc, offset: int = 0) -> Result:
        error, unspecified = buffer.error, buffer.unspecified
        marks = None if unspecified is None else memory.read_marks(unspecified, desc, offset)
        return Result(
            memory.read(buffer.data, desc, offset),
            None if error is None else memory.read_marks(error, desc, offset),
            marks if marks is not None and marks.any() else None,
        )

    def _run(self, node: Node) -> None:
        op = node.operator
        views = map_tensors(op, node.reads, lambda read, desc: self._read(self.buffers[read.value], desc, read.offset))
        for name, _, write, desc in node.views_out():
            if op.updates(name) and (before := node.before(write)) is not None:
                views[name] = (self._read(_resized(self.buffers[before], write.value), desc, write.offset),)
        values = Inputs({name: tuple(view.values for view in several) for name, several in views.items()})
        results = run(op, values)
        if self.probing:
            results = allowing(self.arithmetic, op, values, results, self.random)
        if not self.exact:
            views, results = ordinary(views), promised(op, results, in_floats=self.in_floats)
        own, worlds = results, self._worlds(node, values) if self.probing else []
        if self.probing:
            if worlds:
                results = with_deviations(results, worlds)
            results = with_marks(op, views, with_steps(op, views, results, self.random), self.random)
        for name, index, write, desc in node.views_out():
            base = None if write.base is None else self.buffers[write.base]
            buffer = _written(write.value, base, desc, write.offset, results[name][index])
            exact = not worlds and own[name][index].error is None and not (base and base.samples)
            if self.probing and not exact:
                several = [world[name][index].values for world in worlds or [own] * SAMPLES]
                buffer = replace(buffer, samples=self._samples(write, base, desc, several, own[name][index]))
            self.buffers[write.value] = buffer

    def _worlds(self, node: Node, values: Inputs) -> list[Results]:
        """The operator's results for each sample of the inputs; empty if all inputs are exact."""
        op = node.operator
        if not any(self.buffers[read.value].samples for reads in node.reads.values() for read in reads):
            return []
        worlds = []
        for number in range(SAMPLES):
            arrays = {}
            for name, reads in node.reads.items():
                several = list(values.array(name))
                for index, (read, desc) in enumerate(zip(reads, op.tensors(name), strict=True)):
                    if samples := self.buffers[read.value].samples:
                        several[index] = memory.read(samples[number], desc, read.offset)
                arrays[name] = tuple(several)
            worlds.append(run(op, Inputs(arrays, values_only=True)))
        return worlds

    def _samples(
        self, write: Write, base: _Buffer | None, desc: TensorDesc, worlds: list[Array], own: Result
    ) -> tuple[Bytes, ...]:
        """The buffers of the samples, each perturbed by a fraction of the operator's ``own`` error."""
        reach = None if own.error is None or not desc.data_type.is_float else allowed_error(own, desc.data_type)
        samples = []
        for number, world in enumerate(worlds):
            below = None if base is None else base.samples[number] if base.samples else base.data
            array = moved(world, reach, desc, self.random)
            samples.append(memory.stored(write.value.nbytes, desc, array, write.offset, below))
        return tuple(samples)


def _written(value: Value, base: _Buffer | None, desc: TensorDesc, offset: int, result: Result) -> _Buffer:
    below = None if base is None else base.error
    data = memory.stored(value.nbytes, desc, result.values, offset, None if base is None else base.data)
    error, unspecified = None, None
    if result.error is not None or below is not None:
        allowed = allowed_error(result, desc.data_type)
        error = memory.stored_marks(value.nbytes, desc, allowed, np.float64, offset, below)
    below = None if base is None else base.unspecified
    marks: Mask = np.zeros((), np.bool_) if result.unspecified is None else result.unspecified
    if marks.any() or below is not None:
        unspecified = memory.stored_marks(value.nbytes, desc, marks, np.bool_, offset, below)
    return _Buffer(data, error, unspecified)


def _resized(buffer: _Buffer, value: Value) -> _Buffer:
    """The buffer, zero-padded to the size of ``value``."""
    error = None if buffer.error is None else buffer.error.resized(value.nbytes)
    unspecified = None if buffer.unspecified is None else buffer.unspecified.resized(value.nbytes)
    return _Buffer(_fit(buffer.data, value), error, unspecified)


def _fit(data: Bytes, value: Value) -> Bytes:
    """``data``, zero-padded to the size of a value."""
    if data.size > value.nbytes:
        raise ValueError(f"{data.size} bytes for {value.name!r}, which has {value.nbytes}")
    if data.size == value.nbytes:
        return np.ascontiguousarray(data)
    return np.concatenate((data, np.zeros(value.nbytes - data.size, np.uint8)))


def _type_of(item: GraphInput, nodes: Sequence[Node]) -> DataType:
    """The data type of an input, from its descriptor or its first reader."""
    if item.desc is not None:
        return item.desc.data_type
    for node in nodes:
        for _, _, read, desc in node.views_in():
            if read.value is item.value:
                return desc.data_type
    raise KeyError(f"the input {item.name!r} has no data type; pass an array instead of plain numbers")
