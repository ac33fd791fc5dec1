r"""Builds models, their edits, and the cases made of them.

A case is a name, a valid model with an edit, and patterns of the answer::

    case("softmax: wrong axis", edit(DETECTOR, {"softmax/Axes": [1]}), ["Axes", r"help: Axes \[3\]"])
"""

from __future__ import annotations

import json
import shlex
import textwrap
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from dml2onnx.catalog import operator
from tests.frontends.models import Model, edited, f32, inner_edge, input_edge, output_edge
from tests.newcomers.case import Case, Command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dml2onnx.catalog import FieldSchema

SERIALIZED = ("Desc", "Operator", "Desc")
"""Where a serialized node has its fields."""


def activations(*names: str) -> list[Model]:
    """The ``ActivationDescs`` of a recurrent operator."""
    return [{"type": f"ACTIVATION_{name}"} for name in names]


DEFAULTS: dict[str, Model] = {
    "AVERAGE_POOLING": {"StartPadding": [0, 0], "EndPadding": [0, 0], "IncludePadding": False},
    "BATCH_NORMALIZATION": {"Spatial": True, "Epsilon": 1e-5},
    "CONVOLUTION": {
        "Mode": "CROSS_CORRELATION",
        "Direction": "FORWARD",
        "Strides": [1, 1],
        "Dilations": [1, 1],
        "StartPadding": [0, 0],
        "EndPadding": [0, 0],
        "OutputPadding": [0, 0],
        "GroupCount": 1,
    },
    "GEMM": {"TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 0},
    "GRU": {"ActivationDescs": activations("SIGMOID", "TANH"), "Direction": "FORWARD", "LinearBeforeReset": True},
    "LSTM": {
        "ActivationDescs": activations("SIGMOID", "TANH", "TANH"),
        "Direction": "FORWARD",
        "ClipThreshold": 0,
        "UseClipThreshold": False,
        "CoupleInputForget": False,
    },
    "MAX_POOLING": {"StartPadding": [0, 0], "EndPadding": [0, 0]},
    "MAX_POOLING2": {"StartPadding": [0, 0], "EndPadding": [0, 0], "Dilations": [1, 1]},
    "MEAN_VARIANCE_NORMALIZATION1": {"NormalizeVariance": True, "Epsilon": 1e-5},
    "MULTIHEAD_ATTENTION": {"Scale": 0.25, "MaskFilterValue": -10000, "HeadCount": 8, "MaskType": "NONE"},
    "QUANTIZED_LINEAR_CONVOLUTION": {
        "Strides": [1, 1],
        "Dilations": [1, 1],
        "StartPadding": [1, 1],
        "EndPadding": [1, 1],
        "GroupCount": 1,
    },
    "RESAMPLE1": {
        "InterpolationMode": "LINEAR",
        "InputPixelOffsets": [0.5, 0.5, 0.5, 0.5],
        "OutputPixelOffsets": [-0.5, -0.5, -0.5, -0.5],
    },
}
"""The fields that an operator gets unless a network states them."""


Tensor = list[Any] | Model | None
"""Sizes, which mean FLOAT32, a descriptor, several descriptors, or an absent tensor."""


CONTENTS = {"fill", "file", "values"}
"""The members of constants with contents."""


class Raw(str):
    """A value written as it is, which need not be JSON."""

    __slots__ = ()


class Renamed(str):
    """The new name of a member that keeps its value."""

    __slots__ = ()


@dataclass(frozen=True)
class Edited:
    """A model with a mistake, and the JSON pointers of the mistake and of another place involved."""

    model: Model
    here: str
    there: str


HERE = Raw("here")
"""Instead of a value: keeps it, and the finding is here."""

THERE = Raw("there")
"""Instead of a value: keeps it, and the finding names this place, too: the other tensor, the other writer."""


# --- Tensors ----------------------------------------------------------------------------------------------------------


def tensor(data_type: str, *sizes: int, **more: Any) -> Model:
    """A tensor descriptor of any data type."""
    return {**f32(*sizes, **more), "DataType": data_type}


def buffer(count: int, data_type: str = "FLOAT32") -> Model:
    """A resource of DxDispatch with ``count`` equal elements."""
    return {"initialValuesDataType": data_type, "initialValues": {"valueCount": count, "value": 1}}


# --- Models -----------------------------------------------------------------------------------------------------------


def node(name: str, kind: str, values: str, *outputs: Tensor, **fields: Any) -> Model:
    """A node of the native format.

    ``values`` names what it reads and, after "->", what it writes, in the operator's order, with "-" for absent
    tensors; by default, it writes a value with its own name. ``outputs`` describes the outputs.
    """
    schema = operator(kind)
    read, _, written = values.partition("->")
    described_outputs = zip((field.name for field in schema.output_fields), map(_tensor, outputs), strict=False)
    return {
        "name": name,
        "type": kind,
        "desc": {**_desc(kind, fields), **dict(described_outputs)},
        "inputs": _connected(schema.input_fields, read),
        "outputs": _connected(schema.output_fields, written or name),
    }


def _desc(kind: str, given: Model) -> Model:
    """Adds the defaults; ``Padding`` is that of both ends."""
    ends = {f"{end}Padding": given["Padding"] for end in ("Start", "End") if "Padding" in given}
    return {**DEFAULTS.get(kind, {}), **ends, **{name: item for name, item in given.items() if name != "Padding"}}


def _connected(fields: Sequence[FieldSchema], names: str) -> Model:
    if len(fields) == 1 and fields[0].name.endswith("Tensors"):
        return {fields[0].name: names.split()}
    return {field.name: name for field, name in zip(fields, names.split(), strict=False) if name != "-"}


def native(inputs: Model, constants: Model, *nodes: Model, level: str = "5_0") -> Model:
    """A model in the native format; its outputs are the values that no node reads, its constants are ones."""
    read, written = (
        [name for node in nodes for item in node[side].values() for name in _listed(item)]
        for side in ("inputs", "outputs")
    )
    return {
        "dml2onnx": 1,
        "feature_level": level,
        "inputs": {name: _tensor(item) for name, item in inputs.items()},
        "constants": {name: {"fill": 1, **_tensor(item)} for name, item in constants.items()},
        "nodes": list(nodes),
        "outputs": [name for name in written if name not in read],
    }


def _listed(item: Any) -> list[Any]:
    return item if isinstance(item, list) else [item]


def one(kind: str, *tensors: Tensor | str, name: str = "node", **fields: Any) -> Model:
    """A native model with one node, with the arguments of :func:`described`.

    Outputs may be keywords. A value has the name of its member, with a number if there are several; a string reads
    another value. Tensors with contents are constants.
    """
    schema = operator(kind)
    values: Model = {}
    reads: Model = {}
    for field, item in zip(schema.tensor_fields, map(_tensor, tensors), strict=False):
        if field in schema.output_fields:
            fields[field.name] = item
        elif isinstance(item, str):
            reads[field.name] = item
        elif item is not None:
            reads[field.name] = names = _names(field.name, item)
            values |= zip(names, item, strict=True) if isinstance(item, list) else {field.name: item}
    first = schema.output_fields[0].name
    written = {
        first: None,
        **{field.name: fields[field.name] for field in schema.output_fields if field.name in fields},
    }
    outputs = {name: _names(name, item) for name, item in written.items()}
    constants = {name: item for name, item in values.items() if item.keys() & CONTENTS}
    return {
        "dml2onnx": 1,
        "inputs": {name: item for name, item in values.items() if name not in constants},
        "constants": constants,
        "nodes": [{"name": name, "type": kind, "desc": _desc(kind, fields), "inputs": reads, "outputs": outputs}],
        "outputs": [name for item in outputs.values() for name in _listed(item)],
    }


def _names(member: str, item: Any) -> str | list[str]:
    return [f"{member}{index}" for index in range(len(item))] if isinstance(item, list) else member


def described(kind: str, *tensors: Tensor, **fields: Any) -> Model:
    """The fields of an operator, with its tensors in order."""
    names = [field.name for field in operator(kind).tensor_fields]
    return {**dict(zip(names, map(_tensor, tensors), strict=False)), **_desc(kind, fields)}


def _tensor(item: Any) -> Any:
    return f32(*item) if isinstance(item, list) and isinstance(item[0], int) else item


def serialized(name: str, kind: str, *tensors: Tensor, **fields: Any) -> Model:
    """A node of a graph as DirectML serializes it, with the arguments of :func:`described`."""
    return {
        "Type": "OPERATOR",
        "Name": name,
        "Desc": {"Operator": {"Type": kind, "Desc": described(kind, *tensors, **fields)}},
    }


def graph(
    *nodes: Model, inputs: list[tuple[int, int]], edges: list[tuple[int, int, int]], output: int, names: str = ""
) -> Model:
    """A graph as DirectML serializes it.

    ``inputs`` has the node and its input for each input of the graph, ``names`` their names; ``edges`` has the
    producer, the consumer and its input for each edge; ``output`` is the node of the output. All edges start at first
    outputs.
    """
    return {
        "Nodes": list(nodes),
        "InputEdges": [
            {**input_edge(index, *end), **({"Name": names.split()[index]} if names else {})}
            for index, end in enumerate(inputs)
        ],
        "IntermediateEdges": [inner_edge(*edge) for edge in edges],
        "OutputEdges": [output_edge(output, 0, 0)],
    }


def dispatch(name: str, kind: str, resources: str, *tensors: Tensor, **fields: Any) -> tuple[str, Model, Model]:
    """The name, the operator and the bindings of a dispatch.

    ``resources`` are the names of what is bound to the tensors. Absent tensors are left out.
    """
    desc = {member: item for member, item in described(kind, *tensors, **fields).items() if item is not None}
    names = iter(resources.split())
    bindings = {
        field.name: [next(names) for _ in item] if isinstance(item := desc[field.name], list) else next(names)
        for field in operator(kind).tensor_fields
        if field.name in desc
    }
    return name, {"type": f"DML_OPERATOR_{kind}", "desc": desc}, bindings


def dxdispatch(resources: Model, *dispatches: tuple[str, Model, Model]) -> Model:
    """A DxDispatch model that dispatches operators and prints the last resource."""
    commands: list[Model] = [
        {"type": "dispatch", "dispatchable": name, "bindings": bindings} for name, _, bindings in dispatches
    ]
    return {
        "resources": resources,
        "dispatchables": {name: item for name, item, _ in dispatches},
        "commands": [*commands, {"type": "print", "resource": list(resources)[-1]}],
    }


# --- Text -------------------------------------------------------------------------------------------------------------


class Writer:
    """Writes a model as JSON, with objects and lists of flat values on one line."""

    def __init__(self, model: Any) -> None:
        self.text = ""
        self.lines: dict[str, int] = {}
        """The line of each value by its JSON pointer, except for those within one line."""
        self._write(model, "", "\n")
        self.text += "\n"

    def _write(self, value: Any, pointer: str, newline: str) -> None:
        self.lines[pointer] = self.text.count("\n") + 1
        if _is_flat(value):
            self.text += one_line(value)
            return
        is_object = isinstance(value, dict)
        separator = "{" if is_object else "["
        for key, item in value.items() if is_object else enumerate(value):
            self.text += f"{separator}{newline}  " + (f"{json.dumps(key)}: " if is_object else "")
            self._write(item, f"{pointer}/{key}", newline + "  ")
            separator = ","
        self.text += newline + ("}" if is_object else "]")

    def line(self, pointer: str) -> int:
        """The line of a value."""
        while pointer not in self.lines:
            pointer = pointer.rpartition("/")[0]
        return self.lines[pointer]


def _is_flat(value: Any) -> bool:
    """Whether a value has no objects in it, and is no list of lists."""
    if isinstance(value, list):
        return not any(isinstance(item, dict | list) for item in value)
    return not isinstance(value, dict) or not any(
        isinstance(item, dict) or not _is_flat(item) for item in value.values()
    )


def one_line(value: Any) -> str:
    """A value as JSON on one line."""
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {one_line(item)}" for key, item in value.items()) + "}"
    return "[" + ", ".join(map(one_line, value)) + "]" if isinstance(value, list) else json.dumps(value)


def pointer_of(model: Model, path: str) -> str:
    """The JSON pointer of a path, in which a node may have its name, and ``NODE/FIELD`` is a field of its operator."""
    first, *rest = path.split("/")
    if first in model or not rest:
        tokens = [first, *rest]
    elif "dispatchables" in model:
        tokens = ["dispatchables", first, "desc", *rest]
    else:
        tokens = ["nodes", first, "desc", *rest] if "nodes" in model else ["Nodes", first, *SERIALIZED, *rest]
    if tokens[0] in ("nodes", "Nodes") and len(tokens) > 1:
        names = [item.get("name", item.get("Name")) for item in model[tokens[0]]]
        tokens[1] = str(names.index(tokens[1])) if tokens[1] in names else tokens[1]
    return "/" + "/".join(tokens)


def edit(model: Model, edits: dict[str, Any]) -> Edited:
    """Sets each value at its path, removes it (``REMOVE``) or renames its member (``Renamed``), in a copy of a model.

    The mistake is at the first path, or at that of ``HERE``.
    """
    here = there = ""
    for path, value in edits.items():
        pointer = pointer_of(model, path)
        above, _, name = pointer.rpartition("/")
        holder: Any = model
        for token in above.split("/")[1:]:
            holder = holder[int(token)] if isinstance(holder, list) else holder[token]
        if name == "-":
            pointer = f"{above}/{len(holder)}"
        if isinstance(value, Renamed):
            model = edited(model, (above, {str(value) if key == name else key: item for key, item in holder.items()}))
            pointer = f"{above}/{value}"
        elif value is not HERE and value is not THERE:
            model = edited(model, (pointer, value))
        here = pointer if value is HERE or not here else here
        there = pointer if value is THERE else there
    return Edited(model, here, there)


def text_of(model: Model) -> str:
    """A model as a file."""
    return Writer(model).text


# --- Cases ------------------------------------------------------------------------------------------------------------


def case(name: str, wrong: Edited | Model, says: list[str], at: str = "", also: str = "", **more: Any) -> Case:
    """A file with a mistake: an edit of a valid model, or a model with a mistake at a path, and another place involved.

    The answer must name the lines of both.
    """
    if not isinstance(wrong, Edited):
        wrong = Edited(wrong, *(pointer_of(wrong, path) if path else "" for path in (at, also)))
    writer = Writer(wrong.model)
    here, there = (writer.line(pointer) if pointer else None for pointer in (wrong.here, wrong.there))
    return Case(name, writer.text, tuple(says), here=here, there=there, **more)


def in_text(name: str, model: Model, old: str, new: str, says: list[str]) -> Case:
    """A file where ``new`` is in the place of ``old``; the answer must name the line where ``new`` ends."""
    before, after = text_of(model).split(old)
    return Case(name, before + new + after, tuple(says), here=(before + new).count("\n") + 1)


def program(name: str, code: str, says: list[str], *, at: int = 0, also: int = 0, **more: Any) -> Case:
    """A program for the builder ``g``.

    It starts with an input for each keyword that is not a field of a case: its sizes, or the arguments after its name.
    The answer must name the line ``at`` of ``code``, by default the last one, none if negative, and the line ``also``
    of the program.
    """
    known = {field.name for field in fields(Case)}
    first = [
        f'{key} = g.input("{key}", {item if isinstance(item, str) else f"np.float32, {item}"})'
        for key, item in more.items()
        if key not in known
    ]
    lines = [*first, *textwrap.dedent(code).strip().splitlines()]
    here = None if at < 0 else len(first) + at if at else len(lines)
    options = {key: item for key, item in more.items() if key in known}
    text = "\n".join(lines)
    return Case(name, text, tuple(says), here=here, there=also or None, in_program=True, **options)


PYDIRECTML = """\
import numpy as np
import pydirectml as dml

device = dml.Device()
graph = dml.GraphBuilder(device)
x = dml.input_tensor(graph, 0, dml.TensorDesc(dml.TensorDataType.FLOAT32, [1, 1, 4, 4]))
w = dml.input_tensor(graph, 1, dml.TensorDesc(dml.TensorDataType.FLOAT32, [1, 1, 3, 3]))
"""


def command(name: str, line: str, says: list[str], before: str = "", **more: Any) -> Command:
    """A command line; ``before`` is a valid one."""
    earlier = (tuple(before.split()),) if before else ()
    return Command(name, tuple(shlex.split(line)), tuple(says), before=earlier, **more)


def pydirectml(name: str, code: str, says: list[str]) -> Command:
    """A program that continues ``PYDIRECTML``; the answer must name its last line."""
    text = f"{PYDIRECTML}{textwrap.dedent(code).strip()}\n"
    return command(name, "pydirectml program.py", [*says, rf"line {text.count(chr(10))}\b"], program=text)
