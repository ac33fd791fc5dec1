"""What a case is: the smallest graph that breaks a rule, the code and the place of the finding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dml2onnx.ir.graph import Graph
from tests.checks.build import SOURCE, one

if TYPE_CHECKING:
    from dml2onnx.diagnostics import Code
    from dml2onnx.ir.operator import OperatorDesc


@dataclass(frozen=True)
class Case:
    """A graph in which this finding, and no other, is made."""

    name: str
    graph: Graph
    code: Code
    pointer: str = SOURCE
    since: str = ""
    level: str | None = None
    others: frozenset[str] = frozenset()
    """Codes that come with it: one mistake may break several rules."""


def case(
    name: str,
    subject: Graph | OperatorDesc,
    code: Code,
    path: str | None = "",
    since: str = "",
    level: str | None = None,
    also: tuple[Code, ...] = (),
) -> Case:
    """A case whose finding stands at ``path`` below the descriptor of the first node.

    A path with a leading slash is a whole pointer, and ``None`` means a finding without a place.
    """
    graph = subject if isinstance(subject, Graph) else one(subject)
    if path is None or path.startswith("/"):
        pointer = path or ""
    else:
        pointer = f"{SOURCE}/{path}" if path else SOURCE
    return Case(name, graph, code, pointer, since, level, frozenset(item.id for item in also))
