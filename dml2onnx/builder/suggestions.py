"""Suggests methods of the builder for a misspelt or foreign name."""

from __future__ import annotations

from dml2onnx.catalog.familiar import is_layout, meant_operator
from dml2onnx.catalog.likeness import nearest


def suggested_methods(name: str, builder: type) -> tuple[str, ...]:
    """The method of ``builder`` for a name of another library, such as ``gemm`` for ``matmul``, or the closest ones."""
    if is_layout(name):
        return ("reshape" if name == "reshape" else "reinterpret",)
    methods = {item.replace("_", ""): item for item in dir(builder) if not item.startswith("_")}
    operator = meant_operator(name).lower().rstrip("0123456789")
    for prefix in ("element_wise_", "element_wise_logical_", ""):
        word = operator.removeprefix(prefix).replace("_", "")
        if word in methods:
            return (methods[word],)
    return tuple(methods[item] for item in nearest(name.replace("_", ""), methods, 0.77))
