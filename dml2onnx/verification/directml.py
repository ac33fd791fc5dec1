"""Runs DirectML itself, whose outputs are compared with the reference like those of the compiled model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dml2onnx.codes.running import NOT_IN_DIRECTML
from dml2onnx.diagnostics import DmlError
from dml2onnx.directml import graphs
from dml2onnx.directml.installation import find, place
from dml2onnx.directml.runner import StartError
from dml2onnx.ir.graph import Graph, GraphOutput
from dml2onnx.onnx_model import Array
from dml2onnx.reference import memory

NAME = "directml"
"""The value of ``against`` for DirectML; use ``./directml`` for a file of that name."""


class DirectmlGraph:
    """A graph that DirectML runs. Raises :class:`DmlError` (DML3025) if DirectML is not installed."""

    def __init__(self, graph: Graph, outputs: Sequence[GraphOutput]) -> None:
        installation = find()
        if installation is None:
            message = f"DirectML is not installed for verifying: nothing in {place()}"
            raise DmlError(NOT_IN_DIRECTML.at(message, expected="scripts/directml.py has been run"))
        self._installation = installation
        self._graph = graph
        self._outputs = outputs
        self.way = ""
        """Whether the last run was one graph, or node by node."""

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """The outputs in the shapes of their tensors. Raises :class:`DmlError` if DirectML fails."""
        stated = {name: np.ascontiguousarray(array).tobytes() for name, array in feeds.items()}
        try:
            evaluated = graphs.evaluate(self._graph, self._outputs, stated, self._installation)
        except graphs.NodeFailedError as error:
            raise DmlError(NOT_IN_DIRECTML.at(f"DirectML cannot run the graph: {error}")) from error
        except StartError as error:
            raise DmlError(NOT_IN_DIRECTML.at(f"DirectML does not start: {error}")) from error
        self.way = evaluated.way
        return {
            output.name: memory.read(np.frombuffer(evaluated.values[output.value], np.uint8).copy(), output.desc)
            for output in self._outputs
        }
