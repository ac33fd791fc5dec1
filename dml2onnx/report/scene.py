"""The contents of a drawing: boxes with lines of text, and edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from dml2onnx.report.layout import Placement, lay_out

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from dml2onnx.report.records import Onnx, PortRecord, Report, TensorRecord

TITLE_SIZE = 13.0
TEXT_SIZE = 11.0
LINE = 16.0
PADDING = 10.0
NARROWEST = 72.0
LONGEST = 34
"""Characters of a line; the middle of longer lines is replaced by an ellipsis."""


@dataclass(frozen=True, slots=True)
class Box:
    """A node, an input or an output."""

    kind: str
    """node, input, or output."""
    place: int
    """Index in the list of its kind."""
    title: str
    lines: tuple[str, ...]

    @property
    def size(self) -> tuple[float, float]:
        """Width and height, for fonts no wider than Helvetica."""
        widths = [text_width(self.title, TITLE_SIZE, bold=True), *(text_width(line, TEXT_SIZE) for line in self.lines)]
        return max(NARROWEST, *widths) + 2 * PADDING, LINE * (1 + len(self.lines)) + PADDING


@dataclass(frozen=True, slots=True)
class Scene:
    """A graph with its layout. Edges are pairs of indices in ``boxes``."""

    boxes: tuple[Box, ...]
    edges: tuple[tuple[int, int], ...]
    layout: Placement


Element: TypeAlias = tuple[Box, "Iterable[Hashable]", "Iterable[Hashable]"]
"""A box, the values that it reads, and those that it writes."""


def directml_scene(report: Report) -> Scene:
    """The DirectML graph."""
    elements: list[Element] = [
        (_port("input", place, item, report.tensors), (), (item.value,)) for place, item in enumerate(report.inputs)
    ]
    for place, node in enumerate(report.nodes):
        lines = [node.name] if node.name else []
        if node.outputs and node.outputs[0].tensor is not None:
            lines.append(tensor_text(report.tensors[node.outputs[0].tensor]))
        box = Box("node", place, report.descriptors[node.descriptor].operator, shortened_lines(lines))
        read = [*(item.value for item in node.inputs), *(item.base for item in node.outputs)]
        elements.append((box, read, [item.value for item in node.outputs]))
    elements += [
        (_port("output", place, item, report.tensors), (item.value,), ()) for place, item in enumerate(report.outputs)
    ]
    return scene_of(elements)


def onnx_scene(report: Report, onnx: Onnx) -> Scene:
    """The scene of the ONNX graph."""
    places = {item.name: place for place, item in enumerate(onnx.values)}
    elements: list[Element] = []
    for place, item in enumerate(report.inputs):
        if item.onnx_name in places:
            value = places[item.onnx_name]
            elements.append((end("input", place, item.onnx_name, _value_text(onnx, value)), (), (value,)))
    for place, node in enumerate(onnx.nodes):
        results = [value for value in node.outputs if value is not None]
        lines = [node.name, *(_value_text(onnx, value) for value in results[:1])]
        elements.append((Box("node", place, node.operator, shortened_lines(lines)), node.inputs, results))
    for place, value in enumerate(onnx.outputs):
        elements.append((end("output", place, onnx.values[value].name, _value_text(onnx, value)), (value,), ()))
    return scene_of(elements)


def scene_of(elements: Sequence[Element]) -> Scene:
    """Connects boxes by the values that they write and read, and lays them out."""
    producers = {value: place for place, (_, _, written) in enumerate(elements) for value in written}
    edges = [(producers.get(value, place), place) for place, (_, read, _) in enumerate(elements) for value in read]
    distinct = tuple(dict.fromkeys(edge for edge in edges if edge[0] != edge[1]))
    boxes = tuple(box for box, _, _ in elements)
    return Scene(boxes, distinct, lay_out([box.size for box in boxes], distinct))


def _port(kind: str, place: int, port: PortRecord, tensors: Sequence[TensorRecord]) -> Box:
    return end(kind, place, port.name, *([] if port.tensor is None else [tensor_text(tensors[port.tensor])]))


def end(kind: str, place: int, title: str, *lines: str) -> Box:
    """The box of an input or an output."""
    return Box(kind, place, shortened_lines([title])[0], shortened_lines(lines))


# --- Texts ------------------------------------------------------------------------------------------------------------


def tensor_text(tensor: TensorRecord) -> str:
    """``FLOAT32 1×3×8×8``, and the layout if it is not packed."""
    layout = "" if tensor.layout == "packed" else f" {tensor.layout}"
    return f"{tensor.data_type} {_sizes(tensor.sizes)}{layout}"


def _value_text(onnx: Onnx, place: int) -> str:
    value = onnx.values[place]
    return f"{value.data_type} {_sizes(value.shape)}"


def _sizes(sizes: Sequence[int]) -> str:
    return "×".join(map(str, sizes)) or "scalar"


def shortened_lines(lines: Sequence[str]) -> tuple[str, ...]:
    """The lines of a box, shortened to LONGEST characters."""
    return tuple(visible(line if len(line) <= LONGEST else f"{line[:20]}…{line[-12:]}") for line in lines)


def visible(text: str) -> str:
    """``text`` with escapes for characters that are invisible, or change the direction of text."""
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """The approximate width of text in Helvetica; characters of other scripts are assumed to be square."""
    return size * (1.06 if bold else 1.0) * sum(map(_width, text))


def _width(char: str) -> float:
    if char in "iljtfrI.,:;'|!()[]/ ":
        return 0.31
    if char in "mwMW@%":
        return 0.88
    if char.isupper() or char in "_×":
        return 0.69
    return 0.56 if char < "\u0500" or char in "…" else 1.0
