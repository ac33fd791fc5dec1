"""One mistake at a time: each member of small models of all formats, broken in each way that people break it.

A mistake has the JSON pointer of the changed member, so that a test can check whether the findings name it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.frontends import models
from tests.frontends.models import GRAPH, REMOVE, Model, edited, f32

NATIVE: Model = {
    "dml2onnx": 1,
    "name": "network",
    "feature_level": "5_0",
    "inputs": {"x": f32(1, 3, 8, 8)},
    "constants": {"w": f32(4, 3, 3, 3, fill=0.5), "b": f32(1, 4, 1, 1, values=[1, 2, 3, 4])},
    "nodes": [
        {
            "name": "conv",
            "type": "CONVOLUTION",
            "desc": {
                "OutputTensor": f32(1, 4, 6, 6),
                "Mode": "CROSS_CORRELATION",
                "Direction": "FORWARD",
                "Strides": [1, 1],
                "Dilations": [1, 1],
                "StartPadding": [0, 0],
                "EndPadding": [0, 0],
                "OutputPadding": [0, 0],
                "GroupCount": 1,
                "FusedActivation": {"type": "ACTIVATION_LEAKY_RELU", "Alpha": 0.1},
            },
            "inputs": {"InputTensor": "x", "FilterTensor": "w", "BiasTensor": "b"},
            "outputs": {"OutputTensor": "h"},
        },
        {
            "name": "pool",
            "type": "MAX_POOLING",
            "desc": {
                "OutputTensor": f32(1, 4, 3, 3),
                "Strides": [2, 2],
                "WindowSize": [2, 2],
                "StartPadding": [0, 0],
                "EndPadding": [0, 0],
            },
            "inputs": {"InputTensor": "h"},
            "outputs": {"OutputTensor": "p"},
        },
        {
            "name": "double",
            "type": "ELEMENT_WISE_ADD",
            "desc": {"OutputTensor": f32(1, 4, 3, 3)},
            "inputs": {"ATensor": "p", "BTensor": "p"},
            "outputs": {"OutputTensor": "d"},
        },
        {
            "name": "join",
            "type": "JOIN",
            "desc": {"OutputTensor": f32(1, 8, 3, 3), "Axis": 1},
            "inputs": {"InputTensors": ["p", "d"]},
            "outputs": {"OutputTensor": "y"},
        },
    ],
    "outputs": ["y"],
}
"""Four nodes; the first feeds all others."""

DX: Model = edited(
    models.DX,
    ("/resources/y/initialValues/valueCount", 6),
    ("/dispatchables/add/type", "DML_OPERATOR_ELEMENT_WISE_ADD1"),
    ("/dispatchables/add/desc/BTensor/Flags", "OWNED_BY_DML"),
    ("/dispatchables/add/desc/FusedActivation/Type", "DML_OPERATOR_ACTIVATION_RELU"),
    (
        "/dispatchables/pad",
        {
            "type": "DML_OPERATOR_PADDING",
            "desc": {
                "InputTensor": f32(1, 4),
                "OutputTensor": f32(1, 6),
                "PaddingMode": "DML_PADDING_MODE_CONSTANT",
                "PaddingValue": 0.5,
                "DimensionCount": 2,
                "StartPadding": [0, 1],
                "EndPadding": [0, 1],
            },
        },
    ),
    ("/commands/0/bindings/OutputTensor", "x"),
    (
        "/commands/1",
        {"type": "dispatch", "dispatchable": "pad", "bindings": {"InputTensor": "x", "OutputTensor": "y"}},
    ),
    ("/commands/-", {"type": "print", "resource": "y"}),
)
"""``models.DX`` with a second node and full names."""

MODELS = {"native": NATIVE, "dml_graph": GRAPH, "dxdispatch": DX}


@dataclass(frozen=True)
class Mistake:
    """A model with one mistake, at the member of this JSON pointer."""

    format: str
    kind: str
    pointer: str
    model: Model

    @property
    def name(self) -> str:
        return f"{self.format} {self.kind} {self.pointer}"


def members_of(value: Any, place: str = "") -> Iterator[tuple[str, Any, bool]]:
    """Yields (pointer, value, whether it is a member of an object) of everything in a model."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield f"{place}/{key}", item, True
            yield from members_of(item, f"{place}/{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield f"{place}/{index}", item, False
            yield from members_of(item, f"{place}/{index}")


def _slipped(name: str) -> str:
    """A name with its middle letter missing."""
    return name[: len(name) // 2] + name[len(name) // 2 + 1 :]


def _renamed(model: Model, pointer: str, name: str) -> Model:
    """Returns the model with a member renamed, at the same position."""
    model = copy.deepcopy(model)
    *path, last = pointer.split("/")[1:]
    target: Any = model
    for token in path:
        target = target[int(token)] if isinstance(target, list) else target[token]
    items = [(name if key == last else key, value) for key, value in target.items()]
    target.clear()
    target.update(items)
    return model


VALUES: dict[str, Callable[[Any], Any]] = {
    "null": lambda value: None,
    "another kind": lambda value: {"a": 1} if isinstance(value, (str, int, float, list)) else "text",
    "misspelt": lambda value: _slipped(value) if isinstance(value, str) and len(value) > 3 else REMOVE,
    "larger": lambda value: value + 1 if type(value) is int else REMOVE,
    "negative": lambda value: -1 if type(value) is int else REMOVE,
    "in quotes": lambda value: str(value) if type(value) in (int, float) else REMOVE,
    "fraction": lambda value: value + 0.5 if type(value) is int else REMOVE,
    "one more": lambda value: [*value, value[-1]] if isinstance(value, list) and value else REMOVE,
    "one fewer": lambda value: value[:-1] if isinstance(value, list) and value else REMOVE,
    "not in an array": lambda value: value[0] if isinstance(value, list) and value else REMOVE,
}
"""The changed value; ``REMOVE`` if the mistake does not apply to the value."""


def mistakes() -> Iterator[Mistake]:
    for name, model in MODELS.items():
        for pointer, value, is_member in members_of(model):
            if is_member:
                yield Mistake(name, "missing", pointer, edited(model, (pointer, REMOVE)))
                last = pointer.rpartition("/")[2]
                if len(last) > 3:
                    slip = _slipped(last)
                    renamed = _renamed(model, pointer, slip)
                    yield Mistake(name, "member misspelt", pointer.removesuffix(last) + slip, renamed)
            for kind, change in VALUES.items():
                changed = change(value)
                if changed is not REMOVE:
                    yield Mistake(name, kind, pointer, edited(model, (pointer, changed)))
