"""Compares each node on the inputs that ONNX Runtime computed for it.

The graph is compiled with every value as an output. The reference evaluates one node at a time from the same inputs,
so errors of earlier nodes do not count, the bound is that of a single operator, and the first mismatch is at fault.
Passes are disabled since they may merge nodes; the model with passes is compared as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dml2onnx.compiler import compile_outputs
from dml2onnx.half_precision import stays
from dml2onnx.ir.graph import Graph, GraphOutput, Node, Value, Write
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.onnx_model import Array
from dml2onnx.options import CompileOptions
from dml2onnx.providers.choice import ProviderLike, chosen
from dml2onnx.reference import Inputs, Result, allowed_error, disagreements, memory, run
from dml2onnx.reference.arithmetic import allowing
from dml2onnx.reference.numeric import blocks, widen
from dml2onnx.reference.promise import ordinary, promised
from dml2onnx.reference.propagation import with_marks
from dml2onnx.reference.registry import Floats, map_tensors
from dml2onnx.reference.tolerance import spacing
from dml2onnx.runtime import Session
from dml2onnx.targets import DEFAULT_OPSET, QDQ
from dml2onnx.verification.bounds import Computes, computes, in_half
from dml2onnx.verification.options import VerifyOptions

BATCH_BYTES = 1 << 28
"""Limit of bytes of intermediate values in one run."""


@dataclass(frozen=True, slots=True)
class NodeCheck:
    """One output of one node, over all rounds so far.

    ``worst`` and ``worst_relative`` are the largest differences among finite elements, ``worst_ulps`` the largest in
    units in the last place of the expected value, and ``worst_of_bound`` the largest as a fraction of the allowed
    error. At that element, the allowed error is the sum of ``arithmetic`` (the operator's own error) and ``rounding``
    to its type. ``round``, ``first_wrong``, ``expected``, ``got`` and ``bound`` describe the first wrong element.
    """

    node: str
    operator: str
    output: str
    elements: int = 0
    unspecified: int = 0
    wrong: int = 0
    worst: float = 0.0
    worst_relative: float = 0.0
    worst_ulps: float = 0.0
    worst_of_bound: float = 0.0
    arithmetic: float = 0.0
    rounding: float = 0.0
    exact: bool = True
    """Whether results must be equal."""
    round: str = ""
    first_wrong: tuple[int, ...] = ()
    expected: float = 0.0
    got: float = 0.0
    bound: float = 0.0


class NodeChecks:
    """Validates the nodes of one graph, round after round."""

    def __init__(self, graph: Graph, outputs: Sequence[GraphOutput], options: VerifyOptions) -> None:
        providers, form = chosen(options.provider), options.compiling
        self._graph = graph
        self._exact = form.exact
        self._random = np.random.default_rng(0)
        self._nodes = graph.live_nodes(tuple(outputs))
        self._views = {
            write.value: _whole(write, desc) for node in self._nodes for _, _, write, desc in node.views_out()
        }
        every = [GraphOutput(f"value{n}", value, desc) for n, (value, desc) in enumerate(self._views.items())]
        self._names = {output.value: output.name for output in every}
        literal = replace(graph, results=(), effects=())
        without_passes = replace(form, target=providers.target, passes=(), propagate=True)
        model = compile_outputs(literal, every, without_passes)
        self._stay = {origin.node for origin in model.traces if stays(origin)}
        self._in_floats = model.quant_format == QDQ
        self._inputs = {port.name: port for port in model.inputs}
        self._session: Session = model.session(providers, max_bytes=options.max_bytes)
        self.computes: Computes = computes(providers, self._session.providers)
        self._in_half = in_half(self.computes) if form.half else self.computes
        self._found: dict[tuple[str, str], NodeCheck] = {}

    @property
    def results(self) -> tuple[NodeCheck, ...]:
        """The results so far, in the order in which the nodes run."""
        return tuple(self._found.values())

    def run(self, feeds: Mapping[str, Array], label: str, before: Callable[[Node], None] | None = None) -> None:
        """Compares all nodes, for inputs in memory order.

        ``before`` is called with each node before its comparison, and may raise to abort the round.
        """
        bound = {item.value: buffer_of(feeds[item.name], item.value) for item in self._graph.inputs}
        bound |= {item.value: buffer_of(item.data.read(), item.value) for item in self._graph.constants}
        supplied = {name: bytes_to(feeds[name], port.dtype, port.shape) for name, port in self._inputs.items()}
        for batch in self._batches():
            wanted = {value for node in batch for value in (*node.sources, *node.targets) if value in self._names}
            arrays = self._session.run(supplied, [self._names[value] for value in wanted])
            buffers = bound | {value: buffer_of(arrays[self._names[value]], value) for value in wanted}
            for node in batch:
                if before is not None:
                    before(node)
                self._check(node, buffers, label)

    def _batches(self) -> Iterator[list[Node]]:
        batch: list[Node] = []
        size = 0
        for node in self._nodes:
            size += sum(value.nbytes for value in (*node.sources, *node.targets) if value in self._names)
            batch.append(node)
            if size > BATCH_BYTES:
                yield batch
                batch, size = [], 0
        yield batch

    def _check(self, node: Node, buffers: Mapping[Value, memory.Bytes], label: str) -> None:
        op = node.operator
        fields = map_tensors(op, node.reads, lambda read, desc: memory.read(buffers[read.value], desc, read.offset))
        how = self.computes if node.name in self._stay else self._in_half
        results = allowing(how.arithmetic, op, Inputs(fields), run(op, Inputs(fields)), self._random)
        if not self._exact:
            views = ordinary({name: tuple(map(Result, several)) for name, several in fields.items()})
            results = with_marks(op, views, promised(op, results, in_floats=self._in_floats), self._random)
        for name, index, write, desc in node.views_out():
            single = isinstance(op.get(name), TensorDesc)
            output = name if single else f"{name}[{index}]"
            key = (node.name, output)
            before = self._found.get(key, NodeCheck(node.name, op.type, output))
            got = memory.read(buffers[write.value], desc, write.offset)
            half = how.half_accumulation or not self._exact
            self._found[key] = _judged(before, got, results[name][index], desc.data_type, label, half)


def check_nodes(
    graph: Graph,
    feeds: Mapping[str, Array],
    outputs: Sequence[GraphOutput] | None = None,
    *,
    provider: ProviderLike = "cpu",
    opset: int = DEFAULT_OPSET,
    exact: bool = True,
) -> tuple[NodeCheck, ...]:
    """Compares all nodes that ``outputs`` need, on one set of inputs in memory order."""
    options = VerifyOptions(compiling=CompileOptions(opset=opset, exact=exact), provider=provider)
    checks = NodeChecks(graph, graph.outputs if outputs is None else outputs, options)
    checks.run(feeds, "1")
    return checks.results


def _whole(write: Write, desc: TensorDesc) -> TensorDesc:
    """The view that is compared: the one that is written, or the whole buffer after a partial write."""
    if write.base is None and write.offset == 0:
        return desc
    data_type = DataType.UINT8 if desc.data_type.is_packed_nibbles else desc.data_type
    if write.value.nbytes % data_type.itemsize:
        data_type = DataType.UINT8
    return TensorDesc(data_type, (write.value.nbytes // data_type.itemsize,))


def buffer_of(array: Array, value: Value) -> memory.Bytes:
    """The bytes of an array, zero-padded to the size of a buffer."""
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)[: value.nbytes]
    return flat if flat.size == value.nbytes else np.concatenate([flat, np.zeros(value.nbytes - flat.size, np.uint8)])


def bytes_to(array: Array, dtype: np.dtype[np.generic], shape: tuple[int, ...]) -> Array:
    """The same bytes with another type and shape, zero-padded."""
    if (array.dtype, array.shape) == (dtype, shape):
        return array
    value = Value("", int(np.prod(shape)) * dtype.itemsize)
    return buffer_of(array, value).view(dtype).reshape(shape)


def _judged(
    before: NodeCheck, got: Array, want: Result, data_type: DataType, label: str, half_accumulation: bool
) -> NodeCheck:
    """The check with one more round."""
    allowed = allowed_error(want, data_type, half_accumulation)
    wrong = disagreements(got, want, data_type, half_accumulation, allowed)
    worst, place = _worst(got, want, data_type, allowed)
    own, rounding = before.arithmetic, before.rounding
    if worst[3] > before.worst_of_bound:
        at = np.unravel_index(place, got.shape)
        own = 0.0 if want.error is None else min(float(want.error[at]), float(allowed[at]))
        rounding = float(allowed[at]) - own
    result = replace(
        before,
        elements=before.elements + got.size,
        unspecified=before.unspecified + (0 if want.unspecified is None else int(want.unspecified.sum())),
        wrong=before.wrong + int(wrong.sum()),
        worst=max(before.worst, worst[0]),
        worst_relative=max(before.worst_relative, worst[1]),
        worst_ulps=max(before.worst_ulps, worst[2]),
        worst_of_bound=max(before.worst_of_bound, worst[3]),
        arithmetic=own,
        rounding=rounding,
        exact=before.exact and want.error is None,
    )
    if before.wrong or not wrong.any():
        return result
    where = tuple(int(axis[0]) for axis in np.nonzero(wrong))
    return replace(
        result,
        round=label,
        first_wrong=where,
        expected=float(want.values[where]),
        got=float(got[where]),
        bound=float(allowed[where]),
    )


def _worst(got: Array, want: Result, data_type: DataType, allowed: Floats) -> tuple[list[float], int]:
    """The largest differences (absolute, relative, in units in the last place, of the bound), and where the last is."""
    flat = [array.reshape(-1) for array in (got, want.values, allowed)]
    worst, place = [0.0] * 4, 0
    for part in blocks(got.size):
        have, expected, limit = (array[part] for array in flat)
        with np.errstate(all="ignore"):
            wide = widen(expected)
            distance, size = np.abs(widen(have) - wide), np.abs(wide)
            counted = np.isfinite(distance)
            if want.unspecified is not None:
                counted &= ~want.unspecified.reshape(-1)[part]
            if not counted.all():
                distance = np.where(counted, distance, 0)
            if not distance.any():
                continue
            units = spacing(size.astype(data_type.dtype), data_type) if data_type.is_float else np.ones(size.shape)
            shares = distance / limit
            found = [_largest(item) for item in (distance, distance / size, distance / units, shares)]
        if found[3] > worst[3]:
            place = part.start + int(np.argmax(np.where(np.isfinite(shares), shares, -1)))
        worst = [max(pair) for pair in zip(worst, found, strict=True)]
    return worst, place


def _largest(quotients: Floats) -> float:
    """The largest quotient, ignoring divisions by 0."""
    largest = float(np.fmax.reduce(quotients, axis=None, initial=0))
    if np.isinf(largest):
        largest = float(quotients.max(initial=0, where=np.isfinite(quotients)))
    return largest
