"""Random DxDispatch programs over a few buffers, and an interpreter that works on bytes.

Buffers are larger than most tensors bound to them, have initial contents, and are overwritten in part, at offsets, with
gaps, and as integers of several widths. The results of ``run``, ``print``, ``writeFile`` and the reference are whole
buffers.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import event
from hypothesis import strategies as st

from dml2onnx.execution import execute, run, write_effect
from dml2onnx.frontends import load
from dml2onnx.reference import evaluate

Json = dict[str, Any]

TYPES = {"UINT8": "u1", "INT8": "i1", "UINT16": "u2", "INT32": "i4", "UINT32": "u4", "INT64": "i8"}
NAMES = ("a", "b", "c")


@dataclass(frozen=True)
class RandomView:
    """``count`` elements of a type with stride ``step``, from byte ``offset`` of a buffer."""

    buffer: str
    data_type: str
    count: int
    step: int = 1
    offset: int = 0

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(TYPES[self.data_type])

    @property
    def end(self) -> int:
        """The end in bytes; DirectML rounds the size of a tensor up to 4 bytes."""
        return self.offset + -(-(1 + (self.count - 1) * self.step) * self.dtype.itemsize // 4) * 4

    def places(self) -> npt.NDArray[Any]:
        """The bytes of each element."""
        width = self.dtype.itemsize
        return self.offset + np.arange(self.count)[:, None] * self.step * width + np.arange(width)

    def overlaps(self, other: RandomView) -> bool:
        return self.buffer == other.buffer and self.offset < other.end and other.offset < self.end

    def desc(self) -> Json:
        return {"DataType": self.data_type, "Sizes": [self.count], "Strides": [self.step]}

    def source(self) -> Json:
        return {"name": self.buffer, "elementOffset": self.offset, "elementSizeInBytes": 1}


@dataclass(frozen=True)
class RandomBuffer:
    """A resource: elements of a type, and unused bytes after them."""

    data_type: str
    initial: bytes
    nbytes: int

    def resource(self) -> Json:
        values = np.frombuffer(self.initial, TYPES[self.data_type]).tolist()
        return {"initialValuesDataType": self.data_type, "initialValues": values, "sizeInBytes": self.nbytes}


@dataclass
class RandomProgram:
    """A model, and its effect on memory."""

    buffers: dict[str, RandomBuffer]
    memory: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    dispatchables: Json = field(default_factory=dict)
    commands: list[Json] = field(default_factory=list)
    shown: list[tuple[str, bytes]] = field(default_factory=list)
    written: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for name, buffer in self.buffers.items():
            self.memory[name] = np.zeros(buffer.nbytes, np.uint8)
            self.memory[name][: len(buffer.initial)] = np.frombuffer(buffer.initial, np.uint8)

    def load(self, view: RandomView) -> npt.NDArray[Any]:
        contents: npt.NDArray[Any] = self.memory[view.buffer][view.places()]
        return contents.reshape(-1).view(view.dtype)

    def dispatch(
        self,
        kind: str,
        desc: Json,
        inputs: dict[str, RandomView | list[RandomView]],
        output: RandomView,
        values: npt.NDArray[Any],
    ) -> None:
        """Adds a command that writes ``values``, computed from the current memory."""
        name = f"d{len(self.dispatchables)}"
        tensors: Json = {"OutputTensor": output.desc()}
        bindings: Json = {"OutputTensor": output.source()}
        for point, view in inputs.items():
            if isinstance(view, list):
                tensors[point], bindings[point] = [item.desc() for item in view], [item.source() for item in view]
            else:
                tensors[point], bindings[point] = view.desc(), view.source()
        self.dispatchables[name] = {"type": kind, "desc": {**tensors, **desc}}
        self.commands.append({"type": "dispatch", "dispatchable": name, "bindings": bindings})
        octets = np.ascontiguousarray(values.astype(output.dtype)).view(np.uint8)
        self.memory[output.buffer][output.places().reshape(-1)] = octets
        self.written.add(output.buffer)

    def show(self, name: str, kind: str) -> None:
        buffer = self.buffers[name]
        command = {"type": kind, "resource": name}
        length = buffer.nbytes if kind == "writeFile" else len(buffer.initial)
        if kind == "writeFile":
            command["targetPath"] = f"{len(self.commands)}.bin"
        self.commands.append(command)
        self.shown.append((name, self.memory[name][:length].tobytes()))

    def decided(self, name: str, content: bytes) -> bytes:
        """The content without padding of the initial values to 4 bytes, which tensors may overwrite."""
        buffer = self.buffers[name]
        rounding = buffer.nbytes - len(buffer.initial) < 4
        return content[: len(buffer.initial)] if rounding else content

    def model(self) -> Json:
        return {
            "resources": {name: buffer.resource() for name, buffer in self.buffers.items()},
            "dispatchables": self.dispatchables,
            "commands": self.commands,
        }


@st.composite
def buffers(draw: st.DrawFn) -> RandomBuffer:
    """Up to 64 bytes of contents, often in a larger buffer."""
    data_type = draw(st.sampled_from(sorted(TYPES)))
    width = np.dtype(TYPES[data_type]).itemsize
    count = draw(st.integers(1, 64 // width))
    initial = bytes(draw(st.lists(st.integers(0, 255), min_size=count * width, max_size=count * width)))
    padding = draw(st.sampled_from([0, 0, 1, 4, 6, 32]))
    return RandomBuffer(data_type, initial, max(16, -(-len(initial) // 4) * 4) + padding)


@st.composite
def views(
    draw: st.DrawFn, program: RandomProgram, data_type: str, count: int | None = None, *others: RandomView
) -> RandomView | None:
    """A view of any buffer that overlaps none of ``others``; ``None`` if the draw does not fit."""
    name = draw(st.sampled_from(NAMES))
    width, step = np.dtype(TYPES[data_type]).itemsize, draw(st.sampled_from([1, 1, 1, 2, 3]))
    offset = 16 * draw(st.sampled_from([0, 0, 1, 2]))
    space = (program.buffers[name].nbytes - offset) // 4 * 4 // width
    most = (space - 1) // step + 1 if space > 0 else 0
    size = count or draw(st.one_of(st.just(most), st.integers(1, max(most, 1))))
    view = RandomView(name, data_type, size, step if size > 1 else 1, offset)
    fits = 0 < size <= most and view.end <= program.buffers[name].nbytes
    return view if fits and not any(view.overlaps(other) for other in others) else None


@st.composite
def programs(draw: st.DrawFn, most: int = 6) -> RandomProgram:
    """Programs of up to ``most`` dispatches and commands that show buffers."""
    program = RandomProgram({name: draw(buffers()) for name in NAMES})
    for _ in range(draw(st.integers(1, most))):
        if draw(st.integers(0, 3)) == 0:
            program.show(draw(st.sampled_from(NAMES)), draw(st.sampled_from(["print", "writeFile"])))
        else:
            draw(dispatches(program))
    if not program.written:
        view = RandomView("a", "UINT8", 1)
        program.dispatch("ELEMENT_WISE_IDENTITY", {}, {"InputTensor": view}, view, program.load(view))
    for name in NAMES:
        if draw(st.booleans()):
            program.show(name, draw(st.sampled_from(["print", "writeFile"])))
    return program


@st.composite
def dispatches(draw: st.DrawFn, program: RandomProgram) -> None:
    """Adds one dispatch of an operator that moves or adds elements, if views for it fit."""
    kind = draw(st.sampled_from(["IDENTITY", "IDENTITY", "JOIN", "SLICE", "PADDING", "ADD"]))
    data_type = draw(st.sampled_from(sorted(TYPES)))
    first = draw(views(program, data_type))
    if first is None:
        return
    reads = [first]
    if kind in ("JOIN", "ADD"):
        second = draw(views(program, data_type, first.count if kind == "ADD" else None))
        if second is None:
            return
        reads.append(second)
    loaded = [program.load(view) for view in reads]
    rows: Json = {}
    match kind:
        case "IDENTITY":
            values = loaded[0]
        case "JOIN":
            values = np.concatenate(loaded)
        case "ADD":
            values = loaded[0] + loaded[1]
        case "SLICE":
            start = draw(st.integers(0, first.count - 1))
            length, step = draw(st.integers(1, first.count - start)), draw(st.integers(1, 2))
            values = loaded[0][start : start + length : step]
            rows = {"InputWindowOffsets": [start], "InputWindowSizes": [length], "InputWindowStrides": [step]}
            rows["DimensionCount"] = 1
        case _:
            before, after = draw(st.integers(0, 3)), draw(st.integers(0, 3))
            values = np.pad(loaded[0], (before, after))
            rows = {"PaddingMode": "CONSTANT", "PaddingValueDataType": data_type, "PaddingValue": 0}
            rows |= {"StartPadding": [before], "EndPadding": [after], "DimensionCount": 1}
    in_place = kind in ("IDENTITY", "ADD") and first.places().size == len(np.unique(first.places()))
    if in_place and not any(first.overlaps(view) for view in reads[1:]) and draw(st.integers(0, 3)) == 0:
        output: RandomView | None = first
    else:
        output = draw(views(program, data_type, len(values), *reads))
    if output is None:
        return
    event(kind)
    inputs: dict[str, RandomView | list[RandomView]] = {"InputTensor": first}
    if kind == "ADD":
        inputs = {"ATensor": first, "BTensor": reads[-1]}
    if kind == "JOIN":
        inputs, rows = {"InputTensors": reads}, {"InputCount": len(reads), "Axis": 0}
    full = {"IDENTITY": "ELEMENT_WISE_IDENTITY", "ADD": "ELEMENT_WISE_ADD", "SLICE": "SLICE1", "PADDING": "PADDING1"}
    program.dispatch(full.get(kind, kind), rows, inputs, output, values)


def disagreement(program: RandomProgram, directory: Path) -> str:
    """The first difference between the program's execution and the interpreter; ``""`` if there is none."""
    path = directory / "model.json"
    path.write_text(json.dumps(program.model()), encoding="utf-8")
    graph = load(path)
    execution = execute(graph, {})
    if len(execution.shown) != len(program.shown):
        return f"{len(execution.shown)} commands show a buffer, not {len(program.shown)}"
    for number, ((effect, array), (name, want)) in enumerate(zip(execution.shown, program.shown, strict=True)):
        if effect.output.name != name:
            return f"command {number} shows {effect.output.name}, not {name}"
        if effect.kind == "print":
            agrees = array.dtype == TYPES[program.buffers[name].data_type] and array.tobytes() == want
        else:
            content = write_effect(effect, array, directory).read_bytes()
            agrees = len(content) == len(want) and program.decided(name, content) == program.decided(name, want)
        if not agrees:
            return f"command {number} shows wrong contents of {name}"
    got = run(graph)
    if set(got) != program.written or list(execution.results) != list(got):
        return f"{', '.join(got)} are returned, but {', '.join(sorted(program.written))} are written"
    expected = evaluate(graph, {}, graph.results)
    for name, array in got.items():
        want = program.decided(name, program.memory[name].tobytes())
        for whose, found in (("run", array), ("the reference", expected[name])):
            if program.decided(name, found.tobytes()) != want:
                return f"{name} has wrong contents after {whose}"
    return ""
