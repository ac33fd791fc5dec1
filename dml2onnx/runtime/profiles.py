"""Reads the time and provider of each node from ONNX Runtime's profiles."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any


@dataclass(frozen=True, slots=True)
class NodeTime:
    """The time of one ONNX node according to ONNX Runtime's profiler."""

    name: str
    operator: str
    microseconds: float
    provider: str = ""
    """ONNX Runtime's name of the execution provider."""


def node_times(text: str, runs: int = 1) -> list[NodeTime]:
    """The median time of every node over the ``runs`` in a profile.

    A node in a subgraph may run several times in one run.
    """
    times: dict[tuple[str, str, str], list[float]] = {}
    for name, details, microseconds in _kernel_times(text):
        key = (name, details["op_name"], details.get("provider", ""))
        times.setdefault(key, []).append(microseconds)
    return [NodeTime(name, op, _of_one_run(spent, runs), provider) for (name, op, provider), spent in times.items()]


def _of_one_run(spent: list[float], runs: int) -> float:
    each, rest = divmod(len(spent), runs)
    if rest:
        return sum(spent) / runs
    return median(sum(spent[first : first + each]) for first in range(0, len(spent), each))


_KERNEL_TIME = re.compile(
    r'^\{"cat" : "Node",.*?"dur" :(\d+),.*?"name" :"((?:.|\n)*?)_kernel_time","args" : (\{.*\})\},?$', re.MULTILINE
)


def _kernel_times(text: str) -> Iterator[tuple[str, dict[str, Any], float]]:
    """(node, details, microseconds) of each kernel in a profile."""
    try:
        events = json.loads(text)
    except ValueError:  # older versions do not escape names
        for duration, name, details in _KERNEL_TIME.findall(text):
            yield name, json.loads(details), float(duration)
        return
    for event in events:
        if event.get("cat") == "Node" and event["name"].endswith("_kernel_time"):
            yield event["name"].removesuffix("_kernel_time"), event["args"], float(event["dur"])
