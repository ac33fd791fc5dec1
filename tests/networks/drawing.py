"""Networks drawn node by node, and the same functions in plain NumPy."""

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


class Seen(NamedTuple):
    """A value as a tensor."""

    value: Value
    desc: TensorDesc
    offset: int = 0

    def viewed(self, sizes: Sequence[int], strides: Sequence[int] | None = None, offset: int = 0) -> Seen:
        """The same memory, from that element on, in other sizes."""
        desc = TensorDesc(self.desc.data_type, tuple(sizes), None if strides is None else tuple(strides))
        return Seen(self.value, desc, self.offset + offset * desc.data_type.itemsize)


@dataclass
class Network:
    """A graph under construction; all tensors that are not given a type have that of the network."""

    data_type: DataType
    nodes: list[Node] = field(default_factory=list)
    inputs: list[GraphInput] = field(default_factory=list)
    constants: list[Constant] = field(default_factory=list)

    def input(self, name: str, sizes: Sequence[int], data_type: DataType | None = None) -> Seen:
        desc = TensorDesc(data_type or self.data_type, tuple(sizes))
        value = Value(name, desc.minimum_bytes)
        self.inputs.append(GraphInput(name, value, desc=desc))
        return Seen(value, desc)

    def constant(self, name: str, array: npt.NDArray[Any]) -> Seen:
        array = array if array.dtype.kind in "iu" else array.astype(self.data_type.dtype)
        desc = TensorDesc(_TYPES[array.dtype], array.shape)
        value = Value(name, desc.minimum_bytes)
        self.constants.append(Constant(value, ArrayData.of(array)))
        return Seen(value, desc)

    def add(
        self,
        name: str,
        type_: str,
        inputs: Mapping[str, Seen],
        outputs: Mapping[str, Sequence[int]],
        *,
        updated: Mapping[str, Seen] | None = None,
        data_type: DataType | None = None,
        **attributes: Any,
    ) -> list[Seen]:
        """A node; ``updated`` are outputs that change what is there."""
        made = {key: TensorDesc(data_type or self.data_type, tuple(sizes)) for key, sizes in outputs.items()} | {
            key: seen.desc for key, seen in (updated or {}).items()
        }
        fields = {key: seen.desc for key, seen in inputs.items()}
        op = operator(type_, **fields, **made, **attributes)
        values = {key: Value(f"{name}.{key}", desc.minimum_bytes) for key, desc in made.items()}
        bases = {key: seen.value for key, seen in (updated or {}).items()}
        reads = {key: (Read(seen.value, seen.offset),) for key, seen in inputs.items()}
        writes = {key: (Write(values[key], base=bases.get(key)),) for key in made}
        self.nodes.append(Node(name, op, reads, writes, f"/nodes/{len(self.nodes)}/desc"))
        return [Seen(values[key], made[key]) for key in made]

    def graph(self, outputs: Mapping[str, Seen]) -> Graph:
        """The whole, which has to pass all checks."""
        results = tuple(GraphOutput(name, seen.value, seen.desc) for name, seen in outputs.items())
        graph = Graph(tuple(self.nodes), tuple(self.inputs), results, tuple(self.constants))
        findings = check(graph)
        assert findings == [], findings
        return graph

    # --- what transformers consist of --------------------------------------------------------------------------------

    def product(self, name: str, x: Seen, matrix: Seen, bias: Seen | None = None, *, transposed: bool = False) -> Seen:
        """``x`` { 1, 1, rows, n } times a matrix, plus one bias for all rows."""
        rows, width = x.desc.sizes[2], matrix.desc.sizes[2 if transposed else 3]
        shape = (1, 1, rows, width)
        given = {"ATensor": x, "BTensor": matrix}
        if bias is not None:
            given["CTensor"] = bias.viewed(shape, (0, 0, 0, 1))
        how: dict[str, Any] = {
            "TransA": "NONE",
            "TransB": "TRANSPOSE" if transposed else "NONE",
            "Alpha": 1.0,
            "Beta": 1.0,
        }
        return self.add(name, "GEMM", given, {"OutputTensor": shape}, **how)[0]

    def normalized(self, name: str, x: Seen, scale: Seen, bias: Seen) -> Seen:
        """Rows of mean 0 and variance 1, times and plus one vector."""
        given = {"InputTensor": x, "ScaleTensor": scale, "BiasTensor": bias}
        how: dict[str, Any] = {"Axes": (3,), "NormalizeVariance": True, "Epsilon": 1e-5}
        return self.add(name, "MEAN_VARIANCE_NORMALIZATION1", given, {"OutputTensor": x.desc.sizes}, **how)[0]

    def sum(self, name: str, a: Seen, b: Seen) -> Seen:
        return self.add(name, "ELEMENT_WISE_ADD", {"ATensor": a, "BTensor": b}, {"OutputTensor": a.desc.sizes})[0]

    def perceptron(self, name: str, x: Seen, w: Mapping[str, Seen]) -> Seen:
        """Two products, a GELU between them."""
        wide = self.product(f"{name}.up", x, w["up"], w["up bias"])
        active = self.add(f"{name}.gelu", "ACTIVATION_GELU", {"InputTensor": wide}, {"OutputTensor": wide.desc.sizes})
        return self.product(f"{name}.down", active[0], w["down"], w["down bias"])


# --- The same in NumPy ------------------------------------------------------------------------------------------------


def normalized(x: Floats, scale: Floats, bias: Floats) -> Floats:
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * scale + bias


def gelu(x: Floats) -> Floats:
    return x * 0.5 * (1 + np.vectorize(erf)(x / np.sqrt(2)))


def softmax(x: Floats) -> Floats:
    y = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(y / y.sum(-1, keepdims=True))


def causal_attention(q: Floats, k: Floats, v: Floats) -> Floats:
    """One head: { length, size } each; every position sees itself and those before it."""
    length = len(q)
    scores = q @ k.T / np.sqrt(q.shape[1])
    return softmax(np.where(np.tril(np.ones((length, length))) > 0, scores, -np.inf)) @ v


def perceptron(x: Floats, w: Mapping[str, Floats]) -> Floats:
    return gelu(x @ w["up"] + w["up bias"]) @ w["down"] + w["down bias"]
