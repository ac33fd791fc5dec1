"""What a program gets from ``build`` and hands to ``compute``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dml2onnx.ir.graph import Graph
    from dml2onnx.pydirectml.executable import Executable
    from dml2onnx.pydirectml.settings import InputSlot


class Model:
    """What ``GraphBuilder.build`` returns; opaque to programs."""

    __slots__ = ("executable", "graph", "inputs", "output_names")

    def __init__(self) -> None:
        raise TypeError("pydirectml.Model: No constructor defined!")

    graph: Graph
    inputs: tuple[InputSlot, ...]
    output_names: tuple[str | None, ...]
    """One for each output; ``None`` where a null expression left it unconnected."""
    executable: Executable | None
    """What has been compiled so far."""

    @classmethod
    def of(cls, graph: Graph, inputs: Sequence[InputSlot], output_names: Sequence[str | None]) -> Model:
        """The model of a graph."""
        made = cls.__new__(cls)
        made.graph = graph
        made.inputs = tuple(inputs)
        made.output_names = tuple(output_names)
        made.executable = None
        return made
