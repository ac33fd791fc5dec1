"""Randomly mutated models and what happens to them; a library for tests and scripts.

Findings are reproducible by their seed: ``mutant(sources(), seed)``.
"""

from __future__ import annotations

import copy
import json
import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from dml2onnx.checks import check
from dml2onnx.compiler import compile
from dml2onnx.diagnostics import DmlError, Severity
from dml2onnx.execution import execute
from dml2onnx.exporters import export
from dml2onnx.frontends import load
from dml2onnx.ir.graph import Graph
from dml2onnx.test_cases.single_node import single_node
from dml2onnx.test_cases.valid import descriptors
from dml2onnx.verification.indices import within
from tests.frontends.models import CONVOLUTION, DX, GRAPH, NATIVE, PADDING1, edited
from tests.frontends.partitions import build
from tests.frontends.test_serialized_fuzz import MODEL as PARTITION

NUMBERS = (0, 1, 2, 3, 4, 5, 7, 8, 16, 255, 256, 65535, 65536, 1 << 20, 1 << 28, 2**31 - 1, 2**31, 2**32 - 1, 2**32, -1)
WORDS = ("FLOAT32", "FLOAT16", "INT32", "UINT8", "INT8", "UINT32", "INT64", "UINT64", "FLOAT64", "UINT4", "x", "y", "w")
FORMATS = ("native", "dml_graph", "dxdispatch", "serialized")
RUN_BYTES = 1 << 22
"""Models with larger buffers are not run."""

PARTLY: dict[str, Any] = {
    "resources": {
        "x": {"initialValuesDataType": "INT32", "initialValues": [1, -2, 3, 4], "sizeInBytes": 40},
        "y": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 12, "value": 7}, "sizeInBytes": 64},
    },
    "dispatchables": {
        "copy": {
            "type": "ELEMENT_WISE_IDENTITY",
            "desc": {
                "InputTensor": {"DataType": "INT32", "Sizes": [2, 2], "Strides": [2, 1]},
                "OutputTensor": {"DataType": "INT32", "Sizes": [2, 2], "Strides": [3, 1]},
            },
        },
        "join": {
            "type": "JOIN",
            "desc": {
                "InputCount": 2,
                "InputTensors": [{"DataType": "UINT32", "Sizes": [4]}, {"DataType": "UINT32", "Sizes": [2]}],
                "OutputTensor": {"DataType": "UINT32", "Sizes": [6]},
                "Axis": 0,
            },
        },
    },
    "commands": [
        {
            "type": "dispatch",
            "dispatchable": "copy",
            "bindings": {"InputTensor": "x", "OutputTensor": {"name": "y", "elementOffset": 4}},
        },
        {"type": "print", "resource": "y"},
        {
            "type": "dispatch",
            "dispatchable": "join",
            "bindings": {"InputTensors": ["x", {"name": "y", "elementOffset": 4}], "OutputTensor": "y"},
        },
        {"type": "print", "resource": "y", "verbose": True},
    ],
}
"""Two buffers, written in parts and with gaps, and read as other types."""


@dataclass(frozen=True)
class Source:
    """A model to mutate: decoded JSON, or the bytes of a serialized graph."""

    name: str
    model: Any
    format: str = "native"


@cache
def sources(samples: Path) -> tuple[Source, ...]:
    """Returns small models of every format, and one of every operator in each format that supports it."""
    found = [
        Source("native", NATIVE),
        Source("dml graph", GRAPH, "dml_graph"),
        Source("dxdispatch", DX, "dxdispatch"),
        Source("dxdispatch", edited(DX, ("/dispatchables/conv", {"type": "CONVOLUTION", **CONVOLUTION})), "dxdispatch"),
        Source("dxdispatch", edited(DX, ("/dispatchables/pad", {"type": "PADDING1", "desc": PADDING1})), "dxdispatch"),
        *[Source("whole buffers", PARTLY, "dxdispatch")] * 8,
        Source("serialized", build(PARTITION), "serialized"),
    ]
    for path in sorted(samples.glob("*/model.json")):
        model = json.loads(path.read_text(encoding="utf-8"))
        found.append(Source(path.parent.name, model, "dxdispatch" if "dispatchables" in model else "native"))
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "model.json"
        for name, descs in descriptors().items():
            if descs:
                for format in FORMATS:
                    source = _exported(name, single_node(descs[0]), path, format)
                    if source is not None:
                        found.append(source)
    return tuple(found)


def _exported(name: str, graph: Graph, path: Path, format: str) -> Source | None:
    """Exports a graph to a format; returns ``None`` if the format does not support it."""
    try:
        export(graph, path, format)
    except DmlError:
        return None
    data = path.read_bytes()
    return Source(name, data if format == "serialized" else json.loads(data), format)


def mutant(found: Sequence[Source], seed: int) -> tuple[Source, bytes]:
    """Returns a source of the format that follows from the seed, and its bytes with one to three changes."""
    chance = random.Random(seed)
    source = chance.choice([item for item in found if item.format == FORMATS[seed % len(FORMATS)]])
    if isinstance(source.model, bytes):
        return source, damaged(source.model, chance)
    if chance.random() < 0.1:
        return source, damaged(json.dumps(source.model).encode(), chance)
    return source, json.dumps(changed(source.model, chance)).encode()


def changed(model: Any, chance: random.Random) -> Any:
    """Returns decoded JSON with one to three changes."""
    model = copy.deepcopy(model)
    for _ in range(chance.choice((1, 1, 2, 3))):
        if chance.random() < 0.6:
            model = _renamed(model, chance)
        else:
            _edit(model, chance)
    return model


def _renamed(model: Any, chance: random.Random) -> Any:
    """Replaces one number or word everywhere: such a model is often still valid."""
    leaves = [value for value in _leaves(model) if type(value) is int or value in WORDS]
    if not leaves:
        return model
    old = chance.choice(leaves)
    new: object = chance.choice((*WORDS, ""))
    if type(old) is int:
        new = chance.choice((old + 1, old - 1, 2 * old, 3 * old, 1, 0, chance.choice(NUMBERS)))

    def of(value: Any) -> Any:
        if isinstance(value, dict):
            return {of(key): of(item) for key, item in value.items()}
        if isinstance(value, list):
            return [of(item) for item in value]
        return new if type(value) is type(old) and value == old else value

    return of(model)


def _leaves(value: Any) -> list[Any]:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return [value] if items is None else [leaf for item in items for leaf in _leaves(item)]


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Returns bytes with one to four changes."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4))):
        place = chance.randrange(len(changed))
        match chance.randrange(4):
            case 0:
                changed[place] ^= 1 << chance.randrange(8)
            case 1:
                changed[place] = chance.randrange(256)
            case 2:
                place &= ~3
                changed[place : place + 4] = (chance.choice(NUMBERS) % 2**32).to_bytes(4, "little")
            case _:
                other = chance.randrange(len(changed)) & ~3
                place &= ~3
                changed[place : place + 4] = changed[other : other + 4]
    return bytes(changed)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in items for place in _places(item, (*path, key)))]


def _edit(model: Any, chance: random.Random) -> None:
    places = _places(model)[1:]
    if not places:
        return
    *path, key = chance.choice(places)
    target = model
    for token in path:
        target = target[token]
    old = target[key]
    if type(old) is int and chance.random() < 0.8:
        target[key] = chance.choice((old + 1, old - 1, 2 * old, chance.choice(NUMBERS)))
    elif type(old) is str and chance.random() < 0.7:
        target[key] = chance.choice(WORDS)
    elif type(old) is list and old and chance.random() < 0.6:
        _edit_list(old, chance)
    elif chance.random() < 0.4:
        del target[key]
    else:
        source = model
        for token in chance.choice(places):
            source = source[token]
        target[key] = copy.deepcopy(source)


def _edit_list(items: list[Any], chance: random.Random) -> None:
    match chance.randrange(4):
        case 0:
            items.append(copy.deepcopy(chance.choice(items)))
        case 1:
            items.pop(chance.randrange(len(items)))
        case 2:
            chance.shuffle(items)
        case _:
            items[chance.randrange(len(items))] = chance.choice(NUMBERS)


def attempt(data: bytes, directory: Path) -> tuple[str, str]:
    """Returns the stage that a model reached, and the problem that must not occur, or ``""``."""
    path = directory / ("model.json" if data[:1] in b"{[ " else "Partition_0.bin")
    path.write_bytes(data)
    stage = "load"
    try:
        graph = load(path)
        stage = "check"
        findings = check(graph)
        if any(item.severity is Severity.ERROR for item in findings):
            return stage, ""
        stage = "compile"
        compile(graph)
        if _bytes(graph) > RUN_BYTES:
            return stage, ""
        stage = "run"
        random_numbers = np.random.default_rng(0)
        inputs = {
            port.name: random_numbers.integers(0, 2, port.shape).astype(port.dtype)
            for port in compile(graph).inputs
            if not any(item.name == port.name and item.default is not None for item in graph.inputs)
        }
        execute(graph, within(graph, inputs))
    except DmlError as error:
        refused = [item for item in error.diagnostics if item.code == "DML3011"]
        return stage, f"{stage}: {refused[0]}" if refused else ""
    except Exception as error:
        return stage, f"{stage}: {type(error).__name__}: {error}"
    return "done", ""


def _bytes(graph: Graph) -> int:
    values = [write.value for node in graph.nodes for _, _, write, _ in node.views_out()]
    values += [*(item.value for item in graph.inputs), *(item.value for item in graph.constants)]
    views = [desc.element_count for node in graph.nodes for _, _, _, desc in node.views_in()]
    return sum(value.nbytes for value in values) + 4 * sum(views)


def campaign(found: Sequence[Source], seeds: range, seconds: float) -> dict[str, Any]:
    """Counts the stages that the mutants of ``seeds`` reached, and lists problems, including too much CPU time."""
    stages: dict[str, int] = {}
    problems: list[str] = []
    with tempfile.TemporaryDirectory() as directory:
        for seed in seeds:
            source, data = mutant(found, seed)
            before = time.process_time()
            stage, problem = attempt(data, Path(directory))
            spent = time.process_time() - before
            stages[stage] = stages.get(stage, 0) + 1
            if problem:
                problems.append(f"seed {seed}, {source.name}, {problem}"[:600])
            if spent > seconds:
                problems.append(f"seed {seed}, {source.name}, {stage}: {spent:.1f} s")
    return {"stages": stages, "problems": problems}
