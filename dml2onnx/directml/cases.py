"""Cases for DirectML: descriptors to create, compile and dispatch, their buffers, and the outcomes.

``scripts/directml/cases.h`` reads and writes the other side of both files.
"""

from __future__ import annotations

import enum
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from dml2onnx.directml.structures import StructureMemory, operator_type, write_operator
from dml2onnx.ir.operator import OperatorDesc

_MAGIC = 0x314C4D44
NOT_REACHED = 0xFFFFFFFF
DIED = 0xDEAD
"""Instead of an HRESULT: DirectML crashed or hung."""


class Step(enum.IntEnum):
    """The last step of a case."""

    CREATE = 0
    COMPILE = 1
    DISPATCH = 3


class When(enum.IntEnum):
    """When a buffer is bound; those owned by DirectML are bound at initialization."""

    NEVER = 0
    EXECUTION = 1
    INITIALIZATION = 2


@dataclass(frozen=True, slots=True)
class DeviceBuffer:
    """``size`` bytes: ``content``, then zeros. Results contain buffers that are ``wanted``."""

    size: int
    content: bytes = b""
    wanted: bool = False


@dataclass(frozen=True, slots=True)
class BufferRange:
    """A part of a buffer, by index."""

    buffer: int
    size: int
    offset: int = 0
    when: When = When.EXECUTION


UNBOUND = BufferRange(0, 0, 0, When.NEVER)


@dataclass(frozen=True, slots=True)
class Case:
    """One operator, or a graph of operators and constants (``bytes``).

    An edge is (from node, from output, to node, to input). In edges from graph inputs, the first number is unused and
    the second is the input's index; in edges to graph outputs, the fourth is the output's index.
    """

    nodes: tuple[OperatorDesc | bytes, ...]
    step: Step = Step.CREATE
    flags: int = 0
    buffers: tuple[DeviceBuffer, ...] = ()
    inputs: tuple[BufferRange, ...] = ()
    outputs: tuple[BufferRange, ...] = ()
    is_graph: bool = False
    input_edges: tuple[tuple[int, int, int, int], ...] = ()
    output_edges: tuple[tuple[int, int, int, int], ...] = ()
    intermediate_edges: tuple[tuple[int, int, int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The HRESULTs of the steps, or :data:`NOT_REACHED`."""

    created: int
    compiled: int = NOT_REACHED
    dispatched: int = NOT_REACHED
    removed: int = 0
    """``IDMLDevice::GetDeviceRemovedReason`` afterwards."""
    step: str = ""
    """The call that failed."""
    buffers: tuple[bytes, ...] = field(default=(), repr=False)
    """The wanted buffers after dispatch."""

    @property
    def died(self) -> bool:
        """Whether DirectML crashed or hung."""
        return self.created == DIED


def encode(cases: Sequence[Case]) -> bytes:
    """The file of cases."""
    parts = [struct.pack("<II", _MAGIC, len(cases))]
    for case in cases:
        written = _encode_case(case)
        parts += (struct.pack("<I", len(written)), written)
    return b"".join(parts)


def decode(content: bytes) -> list[tuple[int, Outcome]]:
    """The outcomes in a file of results with the indices of their cases; skips an incomplete one at the end."""
    reader = _Reader(content)
    found = []
    while reader.rest:
        try:
            number, created, compiled, dispatched, removed = reader.numbers(5)
            step = reader.bytes().decode()
            buffers = tuple(reader.bytes() for _ in range(reader.numbers(1)[0]))
        except EOFError:
            break
        found.append((number, Outcome(created, compiled, dispatched, removed, step, buffers)))
    return found


def _encode_case(case: Case) -> bytes:
    memory = StructureMemory()
    nodes = [_encode_node(memory, node) for node in case.nodes]
    parts = [struct.pack("<III", case.is_graph, case.step, case.flags)]
    parts += (struct.pack("<I", len(memory.bytes)), bytes(memory.bytes))
    parts.append(struct.pack(f"<I{len(memory.pointers)}I", len(memory.pointers), *memory.pointers))
    parts += (struct.pack("<I", len(nodes)), *nodes)
    for edges in (case.input_edges, case.output_edges, case.intermediate_edges):
        parts += (struct.pack("<I", len(edges)), *(struct.pack("<4I", *edge) for edge in edges))
    parts.append(struct.pack("<I", len(case.buffers)))
    for buffer in case.buffers:
        parts += (struct.pack("<QII", buffer.size, buffer.wanted, len(buffer.content)), buffer.content)
    for bindings in (case.inputs, case.outputs):
        parts.append(struct.pack("<I", len(bindings)))
        parts += (struct.pack("<IIQQ", each.when, each.buffer, each.offset, each.size) for each in bindings)
    return b"".join(parts)


def _encode_node(memory: StructureMemory, node: OperatorDesc | bytes) -> bytes:
    if isinstance(node, bytes):
        return struct.pack("<III", 1, len(node), memory.data(node))
    return struct.pack("<III", 0, operator_type(node.schema), write_operator(memory, node))


class _Reader:
    def __init__(self, content: bytes) -> None:
        self.rest = memoryview(content)

    def take(self, size: int) -> memoryview:
        if size > len(self.rest):
            raise EOFError
        taken, self.rest = self.rest[:size], self.rest[size:]
        return taken

    def numbers(self, count: int) -> tuple[int, ...]:
        return struct.unpack(f"<{count}I", self.take(4 * count))

    def bytes(self) -> bytes:
        return bytes(self.take(self.numbers(1)[0]))
