"""Builds networks node by node, and has the same functions in plain NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import erf
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dml2onnx.checks import check
from dml2onnx.ir.data import ArrayData
from dml2onnx.ir.graph import Constant, Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.tensor import DataType, TensorDesc
from tests.lowering.harness import operator

Floats = npt.NDArray[np.float64]

_TYPES = {item.dtype: item for item in DataType if item.bits >= 8}


class Tensor(NamedTuple):
    """A view of a value."""

    value: Value
    desc: TensorDesc
    offset: int = 0

    def view(self, sizes: Sequence[int], strides: Sequence[int] | None = None, offset: int = 0) -> Tensor:
        """Returns a view of the same memory with other sizes, from element ``offset`` on."""
        desc = TensorDesc(self.desc.data_type, tuple(sizes), None if strides is None else tuple(strides))
        return Tensor(self.value, desc, self.offset + offset * desc.data_type.itemsize)


@dataclass
class Network:
    """A graph under construction; tensors have the network's type by default."""

    data_type: DataType
    nodes: list[Node] = field(default_factory=list)
    inputs: list[GraphInput] = field(default_factory=list)
    constants: list[Constant] = field(default_factory=list)

    def input(self, name: str, sizes: Sequence[int], data_type: DataType | None = None) -> Tensor:
        desc = TensorDesc(data_type or self.data_type, tuple(sizes))
        value = Value(name, desc.minimum_bytes)
        self.inputs.append(GraphInput(name, value, desc=desc))
        return Tensor(value, desc)

    def constant(self, name: str, array: npt.NDArray[Any]) -> Tensor:
        array = array if array.dtype.kind in "iu" else array.astype(self.data_type.dtype)
        desc = TensorDesc(_TYPES[array.dtype], array.shape)
        value = Value(name, desc.minimum_bytes)
        self.constants.append(Constant(value, ArrayData.of(array)))
        return Tensor(value, desc)

    def add(
        self,
        name: str,
        type_: str,
        inputs: Mapping[str, Tensor],
        outputs: Mapping[str, Sequence[int]],
        *,
        updated: Mapping[str, Tensor] | None = None,
        data_type: DataType | None = None,
        **attributes: Any,
    ) -> list[Tensor]:
        """Adds a node and returns its outputs; ``updated`` outputs change the contents of a tensor."""
        descs = {key: TensorDesc(data_type or self.data_type, tuple(sizes)) for key, sizes in outputs.items()}
        descs |= {key: x.desc for key, x in (updated or {}).items()}
        op = operator(type_, **{key: x.desc for key, x in inputs.items()}, **descs, **attributes)
        values = {key: Value(f"{name}.{key}", desc.minimum_bytes) for key, desc in descs.items()}
        bases = {key: x.value for key, x in (updated or {}).items()}
        reads = {key: (Read(x.value, x.offset),) for key, x in inputs.items()}
        writes = {key: (Write(values[key], base=bases.get(key)),) for key in descs}
        self.nodes.append(Node(name, op, reads, writes, f"/nodes/{len(self.nodes)}/desc"))
        return [Tensor(values[key], descs[key]) for key in descs]

    def graph(self, outputs: Mapping[str, Tensor]) -> Graph:
        """Returns the graph, which must have no findings."""
        results = tuple(GraphOutput(name, x.value, x.desc) for name, x in outputs.items())
        graph = Graph(tuple(self.nodes), tuple(self.inputs), results, tuple(self.constants))
        findings = check(graph)
        assert findings == [], findings
        return graph

    # --- parts of transformers ---------------------------------------------------------------------------------------

    def product(
        self, name: str, x: Tensor, matrix: Tensor, bias: Tensor | None = None, *, transposed: bool = False
    ) -> Tensor:
        """Multiplies ``x`` { 1, 1, rows, n } by a matrix and adds one bias to all rows."""
        shape = (*x.desc.sizes[:3], matrix.desc.sizes[2 if transposed else 3])
        inputs = {"ATensor": x, "BTensor": matrix}
        if bias is not None:
            inputs["CTensor"] = bias.view(shape, (0, 0, 0, 1))
        fields: dict[str, Any] = {"TransA": "NONE", "TransB": "TRANSPOSE" if transposed else "NONE"}
        return self.add(name, "GEMM", inputs, {"OutputTensor": shape}, Alpha=1.0, Beta=1.0, **fields)[0]

    def normalized(self, name: str, x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
        """Normalizes rows to mean 0 and variance 1, and applies a scale and a bias."""
        inputs = {"InputTensor": x, "ScaleTensor": scale, "BiasTensor": bias}
        fields: dict[str, Any] = {"Axes": (3,), "NormalizeVariance": True, "Epsilon": 1e-5}
        return self.add(name, "MEAN_VARIANCE_NORMALIZATION1", inputs, {"OutputTensor": x.desc.sizes}, **fields)[0]

    def sum(self, name: str, a: Tensor, b: Tensor) -> Tensor:
        return self.add(name, "ELEMENT_WISE_ADD", {"ATensor": a, "BTensor": b}, {"OutputTensor": a.desc.sizes})[0]

    def perceptron(self, name: str, x: Tensor, w: Mapping[str, Tensor]) -> Tensor:
        """Two products with a GELU between them."""
        wide = self.product(f"{name}.up", x, w["up"], w["up bias"])
        active = self.add(f"{name}.gelu", "ACTIVATION_GELU", {"InputTensor": wide}, {"OutputTensor": wide.desc.sizes})
        return self.product(f"{name}.down", active[0], w["down"], w["down bias"])


# --- NumPy ------------------------------------------------------------------------------------------------------------


def normalized(x: Floats, scale: Floats, bias: Floats) -> Floats:
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * scale + bias


def gelu(x: Floats) -> Floats:
    return x * 0.5 * (1 + np.vectorize(erf)(x / np.sqrt(2)))


def softmax(x: Floats) -> Floats:
    y = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(y / y.sum(-1, keepdims=True))


def causal_attention(q: Floats, k: Floats, v: Floats) -> Floats:
    """Attention of one head, { length, size }; every position sees itself and those before it."""
    length = len(q)
    scores = q @ k.T / np.sqrt(q.shape[1])
    return softmax(np.where(np.tril(np.ones((length, length))) > 0, scores, -np.inf)) @ v


def perceptron(x: Floats, w: Mapping[str, Floats]) -> Floats:
    return gelu(x @ w["up"] + w["up bias"]) @ w["down"] + w["down bias"]
