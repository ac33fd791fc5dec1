"""The models that programs get from ``build`` and pass to ``compute``, which compiles them and caches the sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dml2onnx.compiler import CompiledModel, compile
from dml2onnx.ir.data import ArrayData
from dml2onnx.ir.graph import Constant, Graph
from dml2onnx.ir.mapped import is_lasting
from dml2onnx.pydirectml import settings
from dml2onnx.pydirectml.settings import InputSlot
from dml2onnx.runtime import Session

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class _Compiled:
    graph: Graph
    model: CompiledModel
    session: Session
    frozen: Mapping[str, Bytes]
    """The bytes of the inputs that became constants, by name."""

    def matches(self, buffers: Mapping[str, Bytes]) -> bool:
        return all(_is_same(buffers[name], raw) for name, raw in self.frozen.items())


def _is_same(buffers: Bytes, frozen: Bytes) -> bool:
    """Whether the bytes equal the compiled ones; mapped read-only files are not compared again."""
    one, other = buffers.__array_interface__["data"], frozen.__array_interface__["data"]
    return (one == other and buffers.size == frozen.size and is_lasting(frozen)) or np.array_equal(buffers, frozen)


def _snapshot(buffers: Bytes) -> Bytes:
    """Copies bytes, unless nobody can write to them."""
    return buffers if is_lasting(buffers) else buffers.copy()


class Executable:
    """Two compiled models of a graph: with the weights as constants, and as inputs once they have changed."""

    def __init__(self, graph: Graph, inputs: tuple[InputSlot, ...]) -> None:
        self._graph = graph
        self._inputs = inputs
        self._frozen: _Compiled | None = None
        self._open: _Compiled | None = None
        read = {value for node in graph.live_nodes(graph.outputs) for value in node.sources}
        self.needed = frozenset(item.name for item in graph.inputs if item.value in read)
        """Names of the inputs that an output depends on."""

    def run(self, buffers: Mapping[str, Bytes]) -> dict[str, Bytes]:
        """Computes the bytes of every output, in memory order, from the bytes of every input."""
        compiled = self._compiled(buffers)
        feeds = {}
        for port in compiled.model.inputs:
            length = int(np.prod(port.shape)) * port.dtype.itemsize
            feeds[port.name] = buffers[port.name][:length].view(port.dtype).reshape(port.shape)
        results = compiled.session.run(feeds)
        return {name: np.ascontiguousarray(array).reshape(-1).view(np.uint8) for name, array in results.items()}

    def _compiled(self, buffers: Mapping[str, Bytes]) -> _Compiled:
        if self._frozen is None:
            active = settings.current()
            slots = tuple(slot for slot in self._inputs if active.freezes(slot))
            self._frozen = self._compile({slot.name: _snapshot(buffers[slot.name]) for slot in slots})
            if active.compiled is not None:
                active.compiled(settings.Computed(self._frozen.graph, self._frozen.model, slots))
        if self._frozen.matches(buffers):
            return self._frozen
        if self._open is None:
            self._open = self._compile({})
        return self._open

    def _compile(self, frozen: Mapping[str, Bytes]) -> _Compiled:
        graph = self._graph
        constants = [Constant(item.value, ArrayData(frozen[item.name])) for item in graph.inputs if item.name in frozen]
        inputs = tuple(item for item in graph.inputs if item.name not in frozen)
        graph = replace(graph, inputs=inputs, constants=(*graph.constants, *constants))
        provider = settings.current().provider
        model = compile(graph, target=provider.target, feature_level=settings.current().feature_level)
        return _Compiled(graph, model, model.session(provider), frozen)


class Model:
    """The result of ``GraphBuilder.build``, opaque to programs."""

    __slots__ = ("executable", "graph", "inputs", "output_names")

    def __init__(self) -> None:
        raise TypeError("pydirectml.Model: No constructor defined!")

    graph: Graph
    inputs: tuple[InputSlot, ...]
    output_names: tuple[str | None, ...]
    """The name of each output; ``None`` for a null expression."""
    executable: Executable | None
    """The compiled model, from the first computation on."""

    @classmethod
    def of(cls, graph: Graph, inputs: Sequence[InputSlot], output_names: Sequence[str | None]) -> Model:
        made = cls.__new__(cls)
        made.graph = graph
        made.inputs = tuple(inputs)
        made.output_names = tuple(output_names)
        made.executable = None
        return made
