"""Results of comparing nodes and models with the reference, and the answer of ``verify``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from dml2onnx.report.form import ALWAYS, Answer, number

if TYPE_CHECKING:
    from pathlib import Path

    from dml2onnx.verification import NodeCheck, OutputComparison, Verification


@dataclass(frozen=True, slots=True)
class Wrong:
    """The first element of an output whose error exceeds its bound."""

    round: str
    """The number of the round, and the kind of its inputs."""
    index: tuple[int, ...]
    expected: float | str
    got: float | str
    bound: float | str
    """The allowed error."""


@dataclass(frozen=True, slots=True)
class ErrorBound:
    """The parts of the allowed error, at the element whose error comes closest to it."""

    arithmetic: float | str
    """The allowed error of the operator's sums and functions."""
    rounding: float | str
    """The allowed error of rounding to its data type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """An output of a node, compared with the reference for the inputs that ONNX Runtime computed for it."""

    output: str
    """The field."""
    elements: int
    wrong: int
    """The number of elements whose errors exceed the bounds of the operator."""
    unspecified: int
    """The number of elements that DirectML does not specify."""
    worst_difference: float | str
    """The largest absolute difference of finite elements."""
    worst_relative: float | str
    """The same relative to the expected value."""
    worst_ulps: float | str
    """The same in units in the last place."""
    worst_of_bound: float | str
    """The same relative to the bound: wrong above 1."""
    exact: bool = False
    """Whether elements must be equal."""
    bound: ErrorBound
    first_wrong: Wrong | None = None
    """Absent if no element is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedNode(Verified):
    """An output of a node, with the name of the node."""

    node: str
    operator: str


@dataclass(frozen=True, slots=True)
class Compared:
    """An output of the graph in a round, compared with the reference."""

    output: str
    """Its name."""
    round: str
    """The number of the round, and the kind of its inputs."""
    elements: int
    wrong: int
    """The number of elements whose errors exceed the bounds of the graph."""
    unspecified: int
    """The number of elements that DirectML does not specify; if it is all of them, nothing was compared."""
    worst_difference: float | str
    """The largest absolute difference of finite elements."""
    first_wrong: tuple[int, ...] = ()
    """The index of the first wrong element."""

    @property
    def is_unspecified(self) -> bool:
        """Whether no element is specified, so that nothing was compared."""
        return self.unspecified == self.elements


@dataclass(frozen=True, slots=True)
class Cases:
    """Rounds of comparisons, each with new contents of the inputs."""

    seed: int
    asked: int
    finished: int
    """The number of rounds within the time limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyAnswer(Answer):
    """The answer of ``verify``."""

    command: Literal["verify"] = field(default="verify", metadata=ALWAYS)
    passed: bool
    """Whether every element of every output and every node agreed, in at least one whole round."""
    against: str | None
    """The ONNX model that was compared, or directml; null for the compiled model alone."""
    provider: str
    computes: str
    """The arithmetic of the provider that determines the bounds, such as FLOAT32 or TF32."""
    bound: str
    """A description of the errors that it allows."""
    source: str
    """The page about the arithmetic of the provider."""
    cases: Cases
    comparisons: tuple[Compared, ...]
    """Each output of the graph in each round."""
    nodes: tuple[VerifiedNode, ...]
    """Each output of each node, in execution order; empty with ``--against``."""
    first_to_differ: int | None = None
    """The index of the first node that differs."""
    directml: tuple[Compared, ...] = ()
    """With ``--against directml``, each output of DirectML in each round."""
    directml_way: str | None = None
    """How DirectML ran the graph: as one graph, or node by node."""


def verification_answer(result: Verification, provider: str, seed: int, against: Path | None = None) -> VerifyAnswer:
    """The answer for a verification."""
    places = [place for place, item in enumerate(result.nodes) if item.wrong]
    return VerifyAnswer(
        passed=result.passed,
        against=None if against is None else str(against),
        provider=provider,
        computes=result.computes.arithmetic.name,
        bound=result.computes.arithmetic.bound,
        source=result.computes.source,
        cases=Cases(seed, result.rounds, result.finished),
        comparisons=tuple(map(compared, result.comparisons)),
        nodes=tuple(map(verified_node, result.nodes)),
        first_to_differ=places[0] if places else None,
        directml=tuple(map(compared, result.directml)),
        directml_way=result.directml_way or None,
    )


def compared(item: OutputComparison) -> Compared:
    """One output of the graph in one round."""
    counts = (item.elements, item.wrong, item.unspecified)
    return Compared(item.output, item.round, *counts, number(item.worst), item.first_wrong)


def verified(item: NodeCheck) -> Verified:
    """One output of a node."""
    return Verified(
        output=item.output,
        elements=item.elements,
        wrong=item.wrong,
        unspecified=item.unspecified,
        worst_difference=number(item.worst),
        worst_relative=number(item.worst_relative),
        worst_ulps=number(item.worst_ulps),
        worst_of_bound=number(item.worst_of_bound),
        exact=item.exact,
        bound=ErrorBound(number(item.arithmetic), number(item.rounding)),
        first_wrong=_first_wrong(item) if item.wrong else None,
    )


def verified_node(item: NodeCheck) -> VerifiedNode:
    """The record of an output of a node, with the node's name."""
    output = verified(item)
    members = {name: getattr(output, name) for name in Verified.__dataclass_fields__}
    return VerifiedNode(node=item.node, operator=item.operator, **members)


def _first_wrong(item: NodeCheck) -> Wrong:
    numbers = (number(item.expected), number(item.got), number(item.bound))
    return Wrong(item.round, item.first_wrong, *numbers)
