"""Graphs of a single node, built from its descriptor."""

from __future__ import annotations

from dml2onnx.ir.data import FillData
from dml2onnx.ir.graph import Constant, Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.operator import OperatorDesc

NAME = "node"


def single_node(op: OperatorDesc, *, constant: bool = False) -> Graph:
    """A graph of one node, with graph inputs or, if ``constant``, constants that repeat one element.

    Inputs and outputs are named after the fields: ``InputTensors0`` and so on.
    """
    reads, writes = {}, {}
    inputs, constants, outputs = [], [], []
    for item in op.schema.tensor_fields:
        descs = op.tensors(item.name)
        if not descs:
            continue
        values = [Value(f"{item.name}{index}", desc.total_bytes) for index, desc in enumerate(descs)]
        if item not in op.schema.input_fields:
            writes[item.name] = tuple(Write(value) for value in values)
            outputs += [GraphOutput(value.name, value, desc) for value, desc in zip(values, descs, strict=True)]
            continue
        reads[item.name] = tuple(Read(value) for value in values)
        for value, desc in zip(values, descs, strict=True):
            if constant:
                element = (1).to_bytes(max(desc.data_type.bits // 8, 1), "little")
                constants.append(Constant(value, FillData(element, value.nbytes)))
            else:
                inputs.append(GraphInput(value.name, value))
    return Graph((Node(NAME, op, reads, writes),), tuple(inputs), tuple(outputs), tuple(constants))
