"""Evaluates whole graphs on flat buffers, one operator after another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dml2onnx.ir.graph import Graph, GraphInput, GraphOutput, Node, Value
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.reference import memory
from dml2onnx.reference.memory import Bytes
from dml2onnx.reference.registry import Array, Floats, Inputs, Mask, Result, as_inputs, run
from dml2onnx.reference.tolerance import allowed_error

_PROBES = 4
_PROBE_MARGIN = 10.0
"""A probe moves every input element by a normally distributed part of what is allowed for it, so it shows some multiple
of the deviation that such errors have in the result. That all probes show less than a thirtieth of it, and the result
is off by more than ten times what they show, happens to about one element in ten million. (Errors of one size and
random signs would cancel in sums of a few equal terms.)
"""
_PROBES_OF_STEPS = 24
"""Where a result jumps, a probe that does not cross the step shows nothing."""
_STEPS = frozenset({"ACTIVATION_HARDMAX", "ACTIVATION_HARDMAX1"})
"""Operators of floating-point results that jump; integers always do."""


@dataclass(frozen=True, slots=True)
class _Buffer:
    """The bytes of a value, and per byte how far off its element may be and whether it is unspecified."""

    data: Bytes
    error: npt.NDArray[np.float64] | None = None
    unspecified: npt.NDArray[np.bool_] | None = None


def run_operator(
    op: OperatorDesc, inputs: Mapping[str, Sequence[npt.ArrayLike] | npt.ArrayLike]
) -> dict[str, list[Array]]:
    """The outputs of one operator, by field, for logical input arrays (a list of them for an array field).

    Raises ``ValueError`` for arrays that do not fit the descriptors.
    """
    return {name: [result.values for result in results] for name, results in operator_results(op, inputs).items()}


def operator_results(
    op: OperatorDesc, inputs: Mapping[str, Sequence[npt.ArrayLike] | npt.ArrayLike]
) -> dict[str, tuple[Result, ...]]:
    """As :func:`run_operator`, with the errors that are allowed and the elements that are unspecified."""
    return run(op, as_inputs(op, inputs))


def evaluate(
    graph: Graph,
    inputs: Mapping[str, npt.ArrayLike] | None = None,
    outputs: Sequence[GraphOutput] | None = None,
) -> dict[str, Array]:
    """The logical arrays of the graph's outputs (those it names, unless others are asked for).

    An input is an array in memory order, whose bytes are those of the buffer; what it leaves out at the end
    is 0. Plain numbers take the type of the input's tensor. Inputs that are not given keep their default.
    Raises ``KeyError`` for an input with neither, or a name that the graph does not have, and ``ValueError``
    for one that is larger than its buffer.
    """
    results = _Evaluation(graph, inputs or {}, False).outputs(graph.outputs if outputs is None else outputs)
    return {name: result.values for name, result in results.items()}


def evaluate_results(
    graph: Graph,
    inputs: Mapping[str, npt.ArrayLike] | None = None,
    outputs: Sequence[GraphOutput] | None = None,
) -> dict[str, Result]:
    """As :func:`evaluate`, with the errors that are allowed and the elements that are unspecified.

    Across operators both are found by probing: every operator runs again with its inputs moved within what is
    allowed for them, and what its outputs make of it is added to its own.
    """
    return _Evaluation(graph, inputs or {}, True).outputs(graph.outputs if outputs is None else outputs)


class _Evaluation:
    def __init__(self, graph: Graph, inputs: Mapping[str, npt.ArrayLike], probing: bool) -> None:
        unknown = inputs.keys() - {item.name for item in graph.inputs}
        if unknown:
            raise KeyError(f"the graph has no input {', '.join(sorted(unknown))}")
        self.graph = graph
        self.given = inputs
        self.probing = probing
        self.random = np.random.default_rng(0)
        self.buffers: dict[Value, _Buffer] = {}

    def outputs(self, outputs: Sequence[GraphOutput]) -> dict[str, Result]:
        nodes = self.graph.live_nodes(tuple(outputs))
        needed = {output.value for output in outputs}
        for node in nodes:
            needed |= {read.value for _, _, read, _ in node.views_in()}
            needed |= {write.base for _, _, write, _ in node.views_out() if write.base is not None}
        for constant in self.graph.constants:
            if constant.value in needed:
                self.buffers[constant.value] = _Buffer(_fit(constant.data.read(), constant.value))
        for item in self.graph.inputs:
            if item.value in needed:
                self.buffers[item.value] = _Buffer(self._input(item, nodes))
        for node in nodes:
            self._run(node)
        return {output.name: self._read(self.buffers[output.value], output.desc) for output in outputs}

    def _input(self, item: GraphInput, nodes: Sequence[Node]) -> Bytes:
        if item.name not in self.given:
            if item.default is None:
                raise KeyError(f"no contents for the input {item.name!r}")
            return _fit(item.default.read(), item.value)
        array = self.given[item.name]
        if not isinstance(array, np.ndarray):
            array = np.asarray(array, _type_of(item, nodes).dtype)
        return _fit(np.ascontiguousarray(array).reshape(-1).view(np.uint8), item.value)

    def _read(self, buffer: _Buffer, desc: TensorDesc, offset: int = 0) -> Result:
        error, unspecified = buffer.error, buffer.unspecified
        return Result(
            memory.read(buffer.data, desc, offset),
            None if error is None else memory.read_marks(error, desc, offset),
            None if unspecified is None else memory.read_marks(unspecified, desc, offset),
        )

    def _run(self, node: Node) -> None:
        op = node.operator
        views = {
            name: tuple(
                self._read(self.buffers[read.value], desc, read.offset)
                for read, desc in zip(reads, op.tensors(name), strict=True)
            )
            for name, reads in node.reads.items()
        }
        results = run(op, Inputs({name: tuple(view.values for view in several) for name, several in views.items()}))
        if self.probing:
            results = self._probe(op, views, results)
        for name, index, write, desc in node.views_out():
            base = None if write.base is None else self.buffers[write.base]
            self.buffers[write.value] = _written(write.value, base, desc, write.offset, results[name][index])

    def _probe(
        self, op: OperatorDesc, views: Mapping[str, tuple[Result, ...]], results: dict[str, tuple[Result, ...]]
    ) -> dict[str, tuple[Result, ...]]:
        """Adds what the errors and the unspecified elements of the inputs may do to the outputs."""
        several = [view for views_of_field in views.values() for view in views_of_field]
        descs = [desc for name in results for desc in op.tensors(name)]
        jumps = op.type in _STEPS or not all(desc.data_type.is_float for desc in descs)
        probes = _PROBES_OF_STEPS if jumps else _PROBES
        for _ in range(probes if any(view.error is not None for view in several) else 0):
            moved = self._moved(op, views, self._nudge)
            results = _combined(results, run(op, moved), _with_error)
        marked = any(view.unspecified is not None for view in several)
        for move in (self._poison, *[self._substitute] * probes) if marked else ():
            moved = self._moved(op, views, move)
            results = _combined(results, run(op, moved), _with_marks)
        return results

    def _moved(
        self, op: OperatorDesc, views: Mapping[str, tuple[Result, ...]], move: Callable[[Result, DataType], Array]
    ) -> Inputs:
        return Inputs(
            {
                name: tuple(move(view, desc.data_type) for view, desc in zip(several, op.tensors(name), strict=True))
                for name, several in views.items()
            }
        )

    def _nudge(self, view: Result, data_type: DataType) -> Array:
        if view.error is None:
            return view.values
        step = self.random.normal(size=view.values.shape) * view.error
        if data_type.is_float:
            return (view.values.astype(np.float64) + step).astype(data_type.dtype)
        # an integer that may be off is off by whole numbers; those that may not keep all of their 64 bits
        moved = np.clip(view.values + np.copysign(np.ceil(np.abs(step)), step), *data_type.limits)
        with np.errstate(invalid="ignore"):
            return np.where(step == 0, view.values, moved.astype(data_type.dtype))

    def _substitute(self, view: Result, data_type: DataType) -> Array:
        if view.unspecified is None:
            return view.values
        # bytes of any kind would make infinities and NaN more often than numbers
        lowest = -100 if data_type.is_signed else 0
        other = self.random.integers(lowest, 100, view.values.shape).astype(data_type.dtype)
        return np.where(view.unspecified, other, view.values)

    def _poison(self, view: Result, data_type: DataType) -> Array:
        """NaN shows through factors of 0 as well, which hide every number."""
        if view.unspecified is None or not data_type.is_float:
            return self._substitute(view, data_type)
        return np.where(view.unspecified, data_type.dtype.type(np.nan), view.values)


def _combined(
    results: Mapping[str, tuple[Result, ...]],
    probed: Mapping[str, tuple[Result, ...]],
    combine: Callable[[Result, Result], Result],
) -> dict[str, tuple[Result, ...]]:
    return {
        name: tuple(combine(result, other) for result, other in zip(several, probed[name], strict=True))
        for name, several in results.items()
    }


def _with_error(result: Result, probed: Result) -> Result:
    with np.errstate(all="ignore"):
        change = np.abs(probed.values.astype(np.float64) - result.values.astype(np.float64))
    change = _PROBE_MARGIN * np.where(np.isfinite(change), change, 0)
    own: Floats = np.zeros(change.shape) if result.error is None else result.error
    return Result(result.values, np.maximum(own, change) if change.any() else result.error, result.unspecified)


def _with_marks(result: Result, probed: Result) -> Result:
    differs = result.values != probed.values
    if result.values.dtype.kind == "f":
        differs &= ~(np.isnan(result.values) & np.isnan(probed.values))
    marks: Mask = differs
    for known in (result.unspecified, probed.unspecified):
        marks = marks if known is None else marks | known
    return Result(result.values, result.error, marks)


def _written(value: Value, base: _Buffer | None, desc: TensorDesc, offset: int, result: Result) -> _Buffer:
    data = np.zeros(value.nbytes, np.uint8) if base is None else _fit(base.data.copy(), value)
    memory.write(data, desc, result.values, offset)
    error, unspecified = None, None
    if result.error is not None or (base is not None and base.error is not None):
        error = np.zeros(value.nbytes)
        if base is not None and base.error is not None:
            error[: base.error.size] = base.error
        memory.write_marks(error, desc, allowed_error(result, desc.data_type), offset)
    if result.unspecified is not None or (base is not None and base.unspecified is not None):
        unspecified = np.zeros(value.nbytes, np.bool_)
        if base is not None and base.unspecified is not None:
            unspecified[: base.unspecified.size] = base.unspecified
        memory.write_marks(unspecified, desc, False if result.unspecified is None else result.unspecified, offset)
    return _Buffer(data, error, unspecified)


def _fit(data: Bytes, value: Value) -> Bytes:
    """The bytes of a value, zeros after those that are given."""
    if data.size > value.nbytes:
        raise ValueError(f"{data.size} bytes for {value.name!r}, which has {value.nbytes}")
    if data.size == value.nbytes:
        return np.ascontiguousarray(data)
    return np.concatenate((data, np.zeros(value.nbytes - data.size, np.uint8)))


def _type_of(item: GraphInput, nodes: Sequence[Node]) -> DataType:
    """The data type under which an input is seen, by its own descriptor or by its first reader."""
    if item.desc is not None:
        return item.desc.data_type
    for node in nodes:
        for _, _, read, desc in node.views_in():
            if read.value is item.value:
                return desc.data_type
    raise KeyError(f"nothing says what type the numbers of the input {item.name!r} have; give an array")
