"""The builder: graph sources, every operator, and DirectMLX's conveniences, in one class."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from dml2onnx.builder.directmlx import DirectMLX


class GraphBuilder(DirectMLX):
    """Builds a DirectML graph operator by operator.

    ``feature_level`` decides which operators and data types there are, by default the latest; ``policy`` how outputs
    lie in memory, by default packed. Every call checks what it is given and raises
    :class:`~dml2onnx.diagnostics.DmlError`, with the diagnostics of ``check``, before anything is recorded.

    Methods are DirectMLX's functions in snake case. Where DirectML has several versions of an operator, the plain name
    chooses one by the feature level, and the numbered ones (``slice0`` for SLICE, ``slice1`` for SLICE1) are exact.
    """

    if not TYPE_CHECKING:  # whose readers know by themselves which methods there are

        def __getattr__(self, name: str) -> NoReturn:
            close = () if name.startswith("_") else methods_meant(name)
            meant = f"; did you mean {' or '.join(close)}?" if close else ""
            raise AttributeError(f"GraphBuilder has no {name}{meant}", name=name, obj=self)


def methods_meant(name: str) -> tuple[str, ...]:
    """The method of a builder that is called so elsewhere, such as ``gemm`` for ``matmul``, or those nearly so."""
    from dml2onnx.catalog.familiar import is_layout, meant_operator  # only what is misspelt needs these
    from dml2onnx.catalog.likeness import nearest

    if is_layout(name):
        return ("reshape" if name == "reshape" else "reinterpret",)
    methods = {item.replace("_", ""): item for item in dir(GraphBuilder) if not item.startswith("_")}
    operator = meant_operator(name).lower().rstrip("0123456789")
    for prefix in ("element_wise_", "element_wise_logical_", ""):
        word = operator.removeprefix(prefix).replace("_", "")
        if word in methods:
            return (methods[word],)
    return tuple(methods[item] for item in nearest(name.replace("_", ""), methods, 0.77))
