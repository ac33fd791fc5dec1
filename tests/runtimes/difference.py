"""What a runtime does otherwise than ONNX says, as a value; and how outcomes are told to be of it."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
import onnx
from onnx import parser

from dml2onnx.legalise.quirks import MODULES, QUIRKS
from dml2onnx.onnx_model import with_bodies
from tests.legalise.shown import arrays
from tests.runtimes.proof import Outcome


@dataclass(frozen=True, slots=True)
class Difference:
    """A defect or limit of a runtime."""

    runtime: str
    """As in ``worker.py``."""
    title: str
    """What is wrong, in a sentence."""
    explains: Callable[[Outcome], bool] | str
    """Whether it may be the cause of a sample's outcome, from its model and what the runtime said or gave.

    The name of a quirk where models for the runtime's own target have another form: it explains nothing.
    """
    model: str
    """The smallest model that shows it, in ONNX's text form."""
    inputs: tuple[np.ndarray, ...]
    outputs: tuple[np.ndarray, ...]
    """What ONNX says that comes out."""
    says: str = ""
    """Part of what the runtime says where it refuses the example; empty where it gives other numbers."""
    of_device: bool = False
    """Whether it is the device, or its driver, so that the example may be right on another."""

    def example(self) -> tuple[bytes, dict[str, np.ndarray]]:
        """The example's model and its inputs."""
        text = f'<ir_version: 10, opset_import: ["": 21]> g {" ".join(self.model.split())}'
        parsed = parser.parse_model(text)
        onnx.checker.check_model(parsed, full_check=True)
        names = [item.name for item in parsed.graph.input]
        return parsed.SerializeToString(), dict(zip(names, self.inputs, strict=True))

    def is_right(self, answer: list[np.ndarray] | str) -> bool:
        """Whether a runtime computes the example as ONNX says."""
        return not isinstance(answer, str) and all(
            have.dtype == want.dtype and np.array_equal(have, want, equal_nan=want.dtype.kind == "f")
            for have, want in zip(answer, self.outputs, strict=True)
        )

    def shows(self, answer: list[np.ndarray] | str) -> bool:
        """Whether the runtime still does what the entry says."""
        if isinstance(answer, str):
            return bool(self.says) and self.says in answer
        return not self.says and not self.is_right(answer)


def shown_by(runtime: str, *names: str, of_device: bool = False) -> Iterator[Difference]:
    """What quirks show; the first sentences behind each say what is wrong, and in brackets where."""
    for name in names:
        shown = QUIRKS[name].shown
        assert shown is not None
        title = " ".join(_reasons()[name].split()).partition(" (")[0]
        yield Difference(runtime, f"{title}.", name, shown.model, *arrays(shown), shown.says, of_device)


@cache
def _reasons() -> dict[str, str]:
    """What is said of each quirk, in the string behind it."""
    return {
        ast.unparse(made.targets[0]): ast.literal_eval(behind.value)
        for module in MODULES
        for made, behind in pairwise(ast.parse(inspect.getsource(module)).body)
        if isinstance(made, ast.Assign) and isinstance(behind, ast.Expr) and isinstance(behind.value, ast.Constant)
    }


def has(*kinds: str) -> Callable[[Outcome], bool]:
    """Numbers differ, and there is a node of one of these operators."""
    return lambda outcome: not outcome.refused and any(node.op_type in kinds for node in with_bodies(outcome.nodes))


def refuses(text: str, *kinds: str) -> Callable[[Outcome], bool]:
    """It is refused with this text, and there is a node of one of these operators."""
    return lambda outcome: (
        outcome.refused
        and text in (outcome.problem or "")
        and any(node.op_type in kinds for node in with_bodies(outcome.nodes))
    )


def computes(*types: type) -> Callable[[Outcome], bool]:
    """Numbers differ, and a node gives out one of these types."""
    wanted = {np.dtype(item) for item in types}
    return lambda outcome: (
        not outcome.refused
        and any(v is not None and v.dtype in wanted for node in with_bodies(outcome.nodes) for v in node.outputs[:1])
    )


def both(first: Callable[[Outcome], bool], second: Callable[[Outcome], bool]) -> Callable[[Outcome], bool]:
    """Both hold."""
    return lambda outcome: first(outcome) and second(outcome)


def floats(*values: float, shape: tuple[int, ...] = (-1,)) -> np.ndarray:
    """FLOAT numbers in a shape."""
    return np.array(values, np.float32).reshape(shape)
