"""Results of comparing nodes and models with the reference, and the answer of ``verify``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from dml2onnx.report.form import ALWAYS, Answer, number

if TYPE_CHECKING:
    from pathlib import Path

    from dml2onnx.verification import Comparison, NodeCheck, Verification


@dataclass(frozen=True, slots=True)
class Wrong:
    """The first element of an output that is further off than the operator allows."""

    round: str
    """Number, and what the inputs contained."""
    index: tuple[int, ...]
    expected: float | str
    got: float | str
    bound: float | str
    """How far off it might have been."""


@dataclass(frozen=True, slots=True)
class Bound:
    """Where the error that is allowed comes from, at the element that comes closest to it."""

    arithmetic: float | str
    """What the operator's own sums and functions may be off."""
    rounding: float | str
    """What rounding to its data type may add."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """One output of a node against the reference, each on the inputs that ONNX Runtime computed for it."""

    output: str
    """The field."""
    elements: int
    wrong: int
    """Elements that are further off than the operator allows."""
    unspecified: int
    """Elements of which DirectML does not say what they are."""
    worst_difference: float | str
    """Largest absolute difference of finite elements."""
    worst_relative: float | str
    """The same as a part of what was expected."""
    worst_ulps: float | str
    """The same in units in the last place."""
    worst_of_bound: float | str
    """The same as a part of what is allowed: above 1 is wrong."""
    exact: bool = False
    """Whether nothing but equality is allowed."""
    bound: Bound
    first_wrong: Wrong | None = None
    """Absent where nothing is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedNode(Verified):
    """One output of a node, with the name of the node."""

    node: str
    operator: str


@dataclass(frozen=True, slots=True)
class Compared:
    """One output of the graph in one round, against the reference."""

    output: str
    """Its name."""
    round: str
    """Number, and what the inputs contained."""
    elements: int
    wrong: int
    """Elements that are further off than the graph allows."""
    unspecified: int
    """Elements of which DirectML does not say what they are; where it is all of them, nothing is confirmed."""
    worst_difference: float | str
    """Largest absolute difference of finite elements."""
    first_wrong: tuple[int, ...] = ()
    """Index of the first wrong element."""

    @property
    def says_nothing(self) -> bool:
        """Whether nothing could be compared, since all of it is unspecified; then nothing is confirmed."""
        return self.elements > 0 and self.unspecified == self.elements


@dataclass(frozen=True, slots=True)
class Cases:
    """Rounds of comparing, each with new contents of the inputs."""

    seed: int
    asked: int
    finished: int
    """As many have been made before the time was up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyAnswer(Answer):
    """What ``verify`` says."""

    command: Literal["verify"] = field(default="verify", metadata=ALWAYS)
    passed: bool
    """Whether every element of every output and every node agreed, in at least one whole round."""
    against: str | None
    """The ONNX model that was compared, or directml; null where it was the compiled one alone."""
    provider: str
    computes: str
    """The arithmetic of the provider, such as FLOAT32 or TF32, by which the bounds are."""
    bound: str
    """What that allows, in words."""
    source: str
    """The page that says what the provider computes in."""
    cases: Cases
    comparisons: tuple[Compared, ...]
    """Each output of the graph in each round."""
    nodes: tuple[VerifiedNode, ...]
    """Each output of each node, in the order in which they run; none with ``--against``."""
    first_to_differ: int | None = None
    """Place in nodes of the first that differs."""
    directml: tuple[Compared, ...] = ()
    """With ``--against directml``, each of DirectML's own outputs in each round."""
    directml_way: str | None = None
    """How DirectML ran the graph: as one graph, or node by node."""


def verification_answer(result: Verification, provider: str, seed: int, against: Path | None = None) -> VerifyAnswer:
    """What is said of a verification."""
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


def compared(item: Comparison) -> Compared:
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
        bound=Bound(number(item.arithmetic), number(item.rounding)),
        first_wrong=_first_wrong(item) if item.wrong else None,
    )


def verified_node(item: NodeCheck) -> VerifiedNode:
    """One output of a node, with its name."""
    found = verified(item)
    members = {name: getattr(found, name) for name in Verified.__dataclass_fields__}
    return VerifiedNode(node=item.node, operator=item.operator, **members)


def _first_wrong(item: NodeCheck) -> Wrong:
    numbers = (number(item.expected), number(item.got), number(item.bound))
    return Wrong(item.round, item.first_wrong, *numbers)
