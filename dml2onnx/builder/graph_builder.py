"""The builder: graph sources, every operator, and DirectMLX's conveniences, in one class."""

from __future__ import annotations

from dml2onnx.builder.directmlx import DirectMLX


class GraphBuilder(DirectMLX):
    """Builds a DirectML graph operator by operator.

    ``feature_level`` decides which operators and data types there are, by default the latest; ``policy`` how outputs
    lie in memory, by default packed. Every call checks what it is given and raises
    :class:`~dml2onnx.diagnostics.DmlError`, with the diagnostics of ``check``, before anything is recorded.

    Methods are DirectMLX's functions in snake case. Where DirectML has several versions of an operator, the plain name
    chooses one by the feature level, and the numbered ones (``slice0`` for SLICE, ``slice1`` for SLICE1) are exact.
    """
