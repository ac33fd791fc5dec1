"""Cases: the smallest graph that breaks a rule, with the code and the place of the finding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dml2onnx.ir.graph import Graph
from tests.checks.build import SOURCE, one

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dml2onnx.diagnostics import Code
    from dml2onnx.ir.operator import OperatorDesc


@dataclass(frozen=True)
class Case:
    """A graph with exactly one finding."""

    name: str
    graph: Graph
    code: Code
    pointer: str = SOURCE
    since: str = ""
    level: str | None = None
    others: frozenset[str] = frozenset()
    """Further codes: one mistake may break several rules."""


def case(
    name: str,
    subject: Graph | OperatorDesc,
    code: Code,
    path: str | None = "",
    since: str = "",
    level: str | None = None,
    also: tuple[Code, ...] = (),
) -> Case:
    """A case with a finding at ``path`` below the descriptor of the first node.

    A path with a leading slash is a whole pointer, and ``None`` means a finding without a place.
    """
    graph = subject if isinstance(subject, Graph) else one(subject)
    if path is None or path.startswith("/"):
        pointer = path or ""
    else:
        pointer = f"{SOURCE}/{path}" if path else SOURCE
    return Case(name, graph, code, pointer, since, level, frozenset(item.id for item in also))


def cases(code: Code, rows: Mapping[str, tuple[str | None, Graph | OperatorDesc]]) -> list[Case]:
    """Cases with one code: the path and the subject by the name of the case."""
    return [case(name, subject, code, path) for name, (path, subject) in rows.items()]
