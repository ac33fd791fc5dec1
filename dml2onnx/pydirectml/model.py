"""The models that programs get from ``build`` and pass to ``compute``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dml2onnx.ir.graph import Graph
    from dml2onnx.pydirectml.executable import Executable
    from dml2onnx.pydirectml.settings import InputSlot


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
        """Makes the model of a graph."""
        made = cls.__new__(cls)
        made.graph = graph
        made.inputs = tuple(inputs)
        made.output_names = tuple(output_names)
        made.executable = None
        return made
