"""Writes a graph as a program of the builder."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from dml2onnx.builder.policies import TensorPolicy, interleaved_channel, packed
from dml2onnx.checks import check
from dml2onnx.diagnostics import plural, quote, raise_errors, visible
from dml2onnx.source_code.loops import MARK, Carried, Loop, Renaming, with_loops
from dml2onnx.source_code.naming import Variables, identifier
from dml2onnx.source_code.redundant import with_usual_sizes
from dml2onnx.source_code.statements import Statement, Statements
from dml2onnx.source_code.text import STEP, Group, Joined, Keyword, Part, Ref, Text, Writer, leaves, string
from dml2onnx.source_code.trial import TrialBuilder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from dml2onnx.ir.graph import Graph
    from dml2onnx.source_code.contents import StoredArray

SEPARATORS = ("/", ".", "_")
"""Separators of the parts of a name, in order of preference."""
_PREFIXES = re.compile("^(element_wise_(bit_|logical_)?|activation_)")
MIN_SCOPE = 3
"""Nodes of a scope, at least, if only ``_`` separates their names."""


@dataclass(frozen=True, slots=True)
class SourceProgram:
    """The text of a program, and the arrays of the archive beside it."""

    text: str
    arrays: Mapping[str, StoredArray]


def python(graph: Graph, archive: str, references: Mapping[Path, str]) -> SourceProgram:
    """Returns the program that builds a graph; ``archive`` is the name of the file with its arrays.

    ``references`` are the names of missing files of constants. Raises :class:`DmlError` with the errors of the graph,
    or for features that a program cannot express.
    """
    raise_errors(check(graph))
    return _Program(with_usual_sizes(graph), archive, references).run()


class _Program:
    def __init__(self, graph: Graph, archive: str, references: Mapping[Path, str]) -> None:
        self._graph = graph
        self._archive = archive
        self._policy = policy_of(graph)
        trial = TrialBuilder(feature_level=graph.feature_level, policy=self._policy)
        self._statements = Statements(graph, trial, references)
        self._variables = Variables()
        self._writer = Writer(self._variables.name, _label)

    def run(self) -> SourceProgram:
        statements = self._statements.all()
        outputs = [(item.name, self._statements.end(item.value, item.desc)) for item in self._graph.outputs]
        results = [(item.name, self._statements.end(item.value, item.desc)) for item in self._graph.results]
        ends = [part for _, part in (*outputs, *results)]
        kept = frozenset(leaf.value for part in ends for leaf in leaves(part) if isinstance(leaf, Ref))
        contents = self._statements.contents
        renaming = Renaming(contents.rename, contents.stored.__contains__)
        items = with_loops(statements, kept, renaming)
        first = sum(not item.stem for item in statements)
        self._variables.plan(items, ends, self._base_names(items), first)
        self._writer.depth = 1
        self._head()
        self._items(items, "")
        self._end(outputs, results)
        return SourceProgram(self._text("\n".join(self._writer.lines)), contents.stored)

    # --- Names --------------------------------------------------------------------------------------------------------

    def _base_names(self, items: Sequence[Statement | Loop]) -> dict[object, str]:
        """The preferred name of the variable of each value."""
        bases: dict[object, str] = {item.value: identifier(item.name) for item in self._graph.inputs}
        bases.update((item.value, identifier(item.value.name)) for item in self._graph.constants)
        for statement, prefix in _in_scopes(items, ""):
            if statement.stem:
                rest = statement.name.removeprefix(prefix)
                ending = "" if _is_default(rest, statement.stem) else re.split(r"[/.]", rest)[-1] or rest
                base = identifier(ending) or identifier(re.sub(_PREFIXES, "", statement.stem.rstrip("0123456789")))
                bases.update(dict.fromkeys(statement.targets, base))
        for output in self._graph.outputs:
            if identifier(output.name):
                bases[output.value] = identifier(output.name)
        return bases

    # --- The text -----------------------------------------------------------------------------------------------------

    def _head(self) -> None:
        graph = self._graph
        arguments: list[Part] = [Text(string(graph.name))] if graph.name != "graph" else []
        if graph.feature_level is not None:
            arguments.append(Keyword("feature_level", Text(string(graph.feature_level))))
        if self._policy is interleaved_channel:
            arguments.append(Keyword("policy", Text("interleaved_channel")))
        self._writer.write("g = ", Group("GraphBuilder(", tuple(arguments)))

    def _items(self, items: Sequence[Statement | Loop], prefix: str) -> None:
        for scope, group in _scoped(items, prefix):
            if scope:
                self._writer.line(f"with g.scope({_label(scope.removesuffix('_'))}):")
                self._writer.depth += 1
                self._items(group, prefix + scope)
                self._writer.depth -= 1
                continue
            for item in group:
                if isinstance(item, Loop):
                    self._loop(item, prefix)
                else:
                    self._statement(item, prefix)

    def _loop(self, loop: Loop, prefix: str) -> None:
        assigned = self._variables.assigned.get(id(loop), [])
        for carried in assigned:
            self._assign(carried, carried.first)
        head = len(self._writer.lines)
        self._writer.line("for")
        self._writer.depth += 1
        self._items(loop.body, prefix)
        uses_i = any("{i" in line for line in self._writer.lines[head:])
        self._writer.lines[head] += f" {'i' if uses_i else '_'} in range({loop.count}):"
        for carried in assigned:
            self._assign(carried, loop.body[carried.position].targets[carried.target])
        self._writer.depth -= 1

    def _assign(self, carried: Carried, value: object) -> None:
        target, source = self._variables.name(carried), self._variables.name(value)
        if target != source:
            self._writer.line(f"{target} = {source}")

    def _statement(self, item: Statement, prefix: str) -> None:
        part = self._with_name(item, prefix)
        names = [self._variables.name(target) if self._variables.is_used(target) else "_" for target in item.targets]
        head = "".join(f"{name}, " for name in names).rstrip() if item.is_tuple else names[0]
        head = head.removesuffix(",") if len(names) > 1 else f"({head})" if item.is_tuple else head
        if item.layouts:
            self._with(item.layouts)
        self._writer.write(f"{head} = " if any(name != "_" for name in names) else "", part)
        if item.layouts:
            self._writer.depth -= 1

    def _with(self, layouts: Sequence[Part]) -> None:
        flat = f"with {', '.join(map(self._writer.flat, layouts))}:"
        if len(flat) + len(STEP) * self._writer.depth <= 88:
            self._writer.line(flat)
        elif len(layouts) == 1:
            self._writer.write("with ", layouts[0], ":")
        else:
            self._writer.write("with ", Group("(", tuple(layouts)), ":")
        self._writer.depth += 1

    def _with_name(self, item: Statement, prefix: str) -> Part:
        rest = item.name.removeprefix(prefix)
        if not item.takes_name or not rest or _is_default(rest, item.stem):
            return item.part
        name = Keyword("name", Text(_label(rest)))
        match item.part:
            case Group(head, items, tail):
                return Group(head, (*items, name), tail)
            case Joined((Group(head, items, tail), *others)):
                return Joined((Group(head, (*items, name), tail), *others))
        return item.part

    def _end(self, outputs: Sequence[tuple[str, Part]], results: Sequence[tuple[str, Part]]) -> None:
        arguments: list[Part] = [_dictionary(outputs)]
        if results:
            arguments.append(Keyword("results", _dictionary(results)))
        self._writer.write("return ", Group("g.build(", tuple(arguments)))

    def _text(self, body: str) -> str:
        graph = self._graph
        has_archive = bool(self._statements.contents.stored)
        lines = [f'"""{_documented(graph)}"""', "", "from __future__ import annotations", ""]
        if "Path(__file__)" in body or has_archive:
            lines += ["from pathlib import Path", ""]
        if re.search(r"\bnp\.", body) or has_archive:
            lines += ["import numpy as np", ""]
        builder = [name for name in ("ScaleBias", "Size2D", "interleaved_channel") if re.search(rf"\b{name}\b", body)]
        package = ["Graph", "GraphBuilder"]
        if "Activation(" in body:
            package.insert(0, "Activation")
        lines.append(f"from dml2onnx import {', '.join(package)}")
        if builder:
            lines.append(f"from dml2onnx.builder import {', '.join(builder)}")
        lines += ["", "", "def build() -> Graph:", f'{STEP}"""The graph, from its inputs to its outputs."""']
        if has_archive:
            lines.append(f"{STEP}weights = np.load(Path(__file__).with_name({string(self._archive)}))")
        lines += [body, "", "", 'if __name__ == "__main__":', f"{STEP}print(build())", ""]
        return "\n".join(lines)


def _documented(graph: Graph) -> str:
    """A summary of the graph, escaped for a docstring."""
    name = visible(quote(graph.name)).replace("\\", "\\\\").replace('"""', "'''")
    ends = f"{plural(len(graph.inputs), 'input')}, {plural(len(graph.nodes), 'node')}"
    return f"The DirectML graph {name}: {ends}, {plural(len(graph.outputs), 'output')}."


def policy_of(graph: Graph) -> TensorPolicy:
    """The tensor policy that matches the layout of most outputs."""
    kinds: Counter[str] = Counter()
    for node in graph.nodes:
        for *_, desc in node.views_out():
            if desc.rank > 2 and sum(size > 1 for size in desc.sizes) > 1:
                steps = interleaved_channel(desc.data_type, desc.sizes)
                is_interleaved = desc.effective_strides == steps
                kinds["both" if is_interleaved and desc.strides is None else "nhwc" if is_interleaved else "other"] += 1
    return interleaved_channel if kinds["nhwc"] > kinds["other"] else packed


def _dictionary(items: Sequence[tuple[str, Part]]) -> Part:
    return Group("{", tuple(Joined((Text(f"{string(name)}: "), part)) for name, part in items), "}")


def _label(name: str) -> str:
    """The literal of a name; a template becomes an f-string of the loop's ``i``."""
    if MARK not in name:
        return string(name)
    parts = name.split(MARK)
    text = ""
    for position, part in enumerate(parts):
        if position % 2:
            text += "{i}" if part == "0" else f"{{i + {part}}}"
        else:
            text += part.replace("{", "{{").replace("}", "}}")
    return f"f{string(text)}"


def _is_default(name: str, stem: str) -> bool:
    """Whether the name is the builder's default name of a node."""
    return re.fullmatch(rf"{re.escape(stem)}(_\d+)?", name) is not None


# --- Scopes -----------------------------------------------------------------------------------------------------------


def _in_scopes(items: Sequence[Statement | Loop], prefix: str) -> Iterator[tuple[Statement, str]]:
    """Yields each statement with the names of its scopes."""
    for scope, group in _scoped(items, prefix):
        if scope:
            yield from _in_scopes(group, prefix + scope)
            continue
        for item in group:
            if isinstance(item, Loop):
                yield from _in_scopes(item.body, prefix)
            else:
                yield item, prefix


def _scoped(items: Sequence[Statement | Loop], prefix: str) -> list[tuple[str, list[Statement | Loop]]]:
    """Groups consecutive items by the next part of their names, which is empty for items outside a scope."""
    runs = [(scope, list(run)) for scope, run in groupby(items, key=lambda item: _first_part(item, prefix))]
    return [(scope if _is_scope(scope, run, prefix) else "", run) for scope, run in runs]


def _first_part(item: Statement | Loop, prefix: str) -> str:
    """The next part of a name, with its separator; that of a loop is common to its names and has no number."""
    if isinstance(item, Loop):
        parts = {_first_part(statement, prefix) for statement in item.body}
        (only,) = parts if len(parts) == 1 else ("",)
        return "" if MARK in only else only
    if not item.name.startswith(prefix):
        return ""
    rest = item.name[len(prefix) :]
    for separator in SEPARATORS:
        first, found, other = rest.partition(separator)
        if found and first and other:
            return first + separator
    return ""


def _is_scope(scope: str, group: Sequence[Statement | Loop], prefix: str) -> bool:
    names = [
        statement.name.removeprefix(prefix + scope)
        for item in group
        for statement in (item.body if isinstance(item, Loop) else [item])
    ]
    if not scope or len(names) < 2 or any(name[:1].isdigit() for name in names):
        return False
    if not scope.endswith("_") or MARK in scope or any(isinstance(item, Loop) for item in group):
        return True
    return len(names) >= MIN_SCOPE and bool(re.search(r"\d_$", scope) or len(names) > MIN_SCOPE)
