"""Checks what an installation of DirectML can do: descriptors, a shader of model 6, and a graph."""

from __future__ import annotations

import struct

from dml2onnx.directml.cases import BufferRange, Case, DeviceBuffer, Step
from dml2onnx.directml.installation import Installation
from dml2onnx.directml.runner import StartError, run
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.test_cases.descriptors import plain, sized

FOUR = sized(1, 1, 1, 4)
ABS = plain("ELEMENT_WISE_ABS", InputTensor=FOUR, OutputTensor=FOUR)
ADD = plain("ELEMENT_WISE_ADD", ATensor=FOUR, BTensor=FOUR, OutputTensor=FOUR)
REFUSED = plain("ELEMENT_WISE_ABS", InputTensor=FOUR, OutputTensor=sized(1, 1, 1, 5))
INPUTS = (struct.pack("<4f", 1, -2, 3, -4), struct.pack("<4f", 10, 20, 30, 40))


def check(installation: Installation) -> int:
    """Prints what works and returns the exit code."""
    cases = [_dispatched(ABS, 1), Case((REFUSED,)), _dispatched(ADD, 2), _graph()]
    try:
        absolute, refused, add, graph = run(cases, installation)
    except StartError as error:
        print(f"the program does not start: {error}")
        return 1
    expected = {"an operator": (absolute, (1, 2, 3, 4)), "a graph": (graph, (11, 22, 33, 44))}
    good = refused.created == 0x80070057
    print(f"a wrong descriptor is {'refused' if good else f'not refused: {refused}'}")
    for name, (outcome, values) in expected.items():
        right = outcome.buffers == (struct.pack("<4f", *values),)
        print(f"{name} {'works' if right else f'does not work: {outcome}'}")
        good &= right
    translated = add.buffers == (struct.pack("<4f", 11, 18, 33, 36),)
    print(f"shaders of model 6 {'run' if translated else 'do not run, and operators that need them are refused'}")
    return 0 if good else 1


def _dispatched(op: OperatorDesc, inputs: int) -> Case:
    buffers = (*(DeviceBuffer(16, item) for item in INPUTS[:inputs]), DeviceBuffer(16, wanted=True))
    bindings = tuple(BufferRange(i, 16) for i in range(inputs + 1))
    return Case((op,), Step.DISPATCH, 0, buffers, bindings[:-1], bindings[-1:])


def _graph() -> Case:
    """The graph ``|a| + b``."""
    case = _dispatched(ADD, 2)
    return Case(
        (ABS, ADD),
        Step.DISPATCH,
        0,
        case.buffers,
        case.inputs,
        case.outputs,
        is_graph=True,
        input_edges=((0, 0, 0, 0), (0, 1, 1, 1)),
        output_edges=((1, 0, 0, 0),),
        intermediate_edges=((0, 0, 1, 0),),
    )
