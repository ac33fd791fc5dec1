"""Known defects of runtimes, and predicates that attribute outcomes to them."""

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
    """A name of ``worker.py``."""
    title: str
    """One sentence."""
    explains: Callable[[Outcome], bool] | str
    """Whether the defect may have caused an outcome; the name of a quirk, which models avoid, explains nothing."""
    model: str
    """A minimal model in ONNX's text format."""
    inputs: tuple[np.ndarray, ...]
    outputs: tuple[np.ndarray, ...]
    """The correct outputs according to ONNX."""
    says: str = ""
    """Part of the error message if the runtime refuses the example; empty if its results are wrong."""
    of_device: bool = False
    """Whether the defect is the device's or its driver's, so that other devices may pass."""

    def example(self) -> tuple[bytes, dict[str, np.ndarray]]:
        """The model and inputs of the example."""
        text = f'<ir_version: 10, opset_import: ["": 21]> g {" ".join(self.model.split())}'
        parsed = parser.parse_model(text)
        onnx.checker.check_model(parsed, full_check=True)
        names = [item.name for item in parsed.graph.input]
        return parsed.SerializeToString(), dict(zip(names, self.inputs, strict=True))

    def is_right(self, answer: list[np.ndarray] | str) -> bool:
        """Whether the answer to the example is correct."""
        return not isinstance(answer, str) and all(
            have.dtype == want.dtype and np.array_equal(have, want, equal_nan=want.dtype.kind == "f")
            for have, want in zip(answer, self.outputs, strict=True)
        )

    def shows(self, answer: list[np.ndarray] | str) -> bool:
        """Whether the answer still shows the defect."""
        if isinstance(answer, str):
            return bool(self.says) and self.says in answer
        return not self.says and not self.is_right(answer)


def shown_by(runtime: str, *names: str, of_device: bool = False) -> Iterator[Difference]:
    """Yields the differences of quirks, with the first sentence of their docstrings as title."""
    for name in names:
        shown = QUIRKS[name].shown
        assert shown is not None
        title = " ".join(_reasons()[name].split()).partition(" (")[0]
        yield Difference(runtime, f"{title}.", name, shown.model, *arrays(shown), shown.says, of_device)


@cache
def _reasons() -> dict[str, str]:
    """The docstring of each quirk."""
    return {
        ast.unparse(quirk.targets[0]): ast.literal_eval(text.value)
        for module in MODULES
        for quirk, text in pairwise(ast.parse(inspect.getsource(module)).body)
        if isinstance(quirk, ast.Assign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
    }


def has(*kinds: str) -> Callable[[Outcome], bool]:
    """Results differ, and the model has one of these operators."""
    return lambda outcome: not outcome.refused and any(node.op_type in kinds for node in with_bodies(outcome.nodes))


def refuses(text: str, *kinds: str) -> Callable[[Outcome], bool]:
    """The model is refused with this text, and has one of these operators."""
    return lambda outcome: (
        outcome.refused
        and text in (outcome.problem or "")
        and any(node.op_type in kinds for node in with_bodies(outcome.nodes))
    )


def computes(*types: type) -> Callable[[Outcome], bool]:
    """Results differ, and a node has an output of one of these types."""
    wanted = {np.dtype(item) for item in types}
    return lambda outcome: (
        not outcome.refused
        and any(v is not None and v.dtype in wanted for node in with_bodies(outcome.nodes) for v in node.outputs[:1])
    )


def both(first: Callable[[Outcome], bool], second: Callable[[Outcome], bool]) -> Callable[[Outcome], bool]:
    return lambda outcome: first(outcome) and second(outcome)


def floats(*values: float, shape: tuple[int, ...] = (-1,)) -> np.ndarray:
    return np.array(values, np.float32).reshape(shape)
