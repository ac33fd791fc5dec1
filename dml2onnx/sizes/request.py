"""The requested sizes of inputs, as numbers or names, and whether the graph can have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

from dml2onnx.catalog.likeness import nearest
from dml2onnx.codes import sizing as codes
from dml2onnx.diagnostics import DmlError, Remedy, quote, shortened
from dml2onnx.ir.inputs import input_descs
from dml2onnx.sizes.expressions import Expr, Size, Symbol, SymbolKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from dml2onnx.diagnostics import Code, Diagnostic
    from dml2onnx.ir.graph import Graph
    from dml2onnx.sizes.solver import FixedSymbol, Guard, Solver
    from dml2onnx.sizes.tracing import Traced


@dataclass
class SizeRequest:
    """The sizes of inputs as symbols, and the requested numbers for them."""

    sizes: dict[str, tuple[Size, ...]] = field(default_factory=dict)
    wanted: dict[Symbol, int] = field(default_factory=dict)
    ones: dict[int, Size] = field(default_factory=dict)
    """The symbols of resized dimensions of size 1, by their new size; equal ones share a symbol."""
    names: dict[str, Symbol] = field(default_factory=dict)


def request(graph: Graph, sizes: Mapping[str, Sequence[int | str]], solver: Solver) -> SizeRequest:
    """Returns the requested sizes as symbols; raises :class:`DmlError` if they do not match an input."""
    ends = (*graph.outputs, *graph.results, *(item.output for item in graph.effects))
    descs = input_descs(graph.inputs, graph.sorted_nodes(), ends)
    known = {item.name: desc.sizes for item, desc in zip(graph.inputs, descs, strict=True)}
    requested, problems = SizeRequest(), []
    for name, wanted in sizes.items():
        if name not in known:
            listed = shortened(", ".join(known)) or "none"
            message = f"the graph has no input {quote(name)}; it has: {listed}"
            meant = _meant(name, wanted, known)
            problems.append(codes.WRONG_REQUEST.at(message, expected=listed, found=name, remedies=meant))
            continue
        old = known[name]
        if len(wanted) != len(old):
            message = f"{quote(name)} has {len(old)} dimensions, {list(old)}, and {len(wanted)} sizes are given for it"
            shown = ",".join(map(str, _with_own(wanted, old)))
            expected = f"{len(old)} sizes{f', such as {shown}' if len(wanted) < len(old) else ''}"
            problems.append(codes.WRONG_REQUEST.at(message, expected=expected, found=list(wanted)))
            continue
        try:
            requested.sizes[name] = tuple(
                _symbolic(requested, f"{name}[{i}]", size, own, solver)
                for i, (size, own) in enumerate(zip(wanted, old, strict=True))
            )
        except ValueError as problem:
            problems.append(
                codes.WRONG_REQUEST.at(str(problem), expected="sizes above 0, or names", found=list(wanted))
            )
    if problems:
        raise DmlError(*problems)
    return requested


def _with_own(wanted: Sequence[int | str], old: Sequence[int]) -> Sequence[int | str]:
    """The sizes, with as many of the model's inserted as are missing, so that most others match the model."""
    if len(wanted) >= len(old):
        return wanted
    best: Sequence[int | str] = ()
    for own in combinations(range(len(old)), len(old) - len(wanted)):
        rest = iter(wanted)
        sizes = [old[i] if i in own else next(rest) for i in range(len(old))]
        if not best or _matches(sizes, old) > _matches(best, old):
            best = sizes
    return best


def _matches(sizes: Sequence[int | str], old: Sequence[int]) -> int:
    return sum(size == own for size, own in zip(sizes, old, strict=True))


_DIMENSIONS = {"batch": 0, "n": 0, "channels": 1, "c": 1, "height": -2, "h": -2, "width": -1, "w": -1}
"""Dimensions by their common names."""


def _meant(name: str, wanted: Sequence[int | str], known: Mapping[str, Sequence[int]]) -> tuple[Remedy, ...]:
    """Suggestions for an unknown input: one with a similar name, or a dimension of all inputs."""
    close = nearest(name, known)
    axis = _DIMENSIONS.get(name.lower().removesuffix("_size").removesuffix("size").rstrip("_"))
    if close or axis is None or len(wanted) != 1:
        return tuple([Remedy(f"{item}={','.join(map(str, wanted))}") for item in close])
    options = []
    for item, old in known.items():
        if len(old) > 2 or axis == 0:
            sizes: list[int | str] = list(old)
            sizes[axis] = wanted[0]
            options.append(f"--size {item}={','.join(map(str, sizes))}")
    return (Remedy(shortened(" ".join(options))),) if options else ()


def _symbolic(requested: SizeRequest, label: str, size: int | str, old: int, solver: Solver) -> Size:
    if isinstance(size, str):
        symbol = requested.names.get(size)
        if symbol is None:
            new = solver.symbol(size, old, SymbolKind.REQUESTED)
            requested.names[size] = _symbol(new)
            return new
        if symbol.old != old:
            raise ValueError(f"{size} is {symbol.old} and, as {label}, {old}; one name has one size")
        return Size(Expr.of(symbol))
    if size < 1:
        raise ValueError(f"{label} is {size}, which is not a size")
    if size == old:
        return Size(old)
    if old == 1 and size in requested.ones:
        return requested.ones[size]
    new = solver.symbol(label, old, SymbolKind.REQUESTED)
    requested.wanted[_symbol(new)] = size
    if old == 1:
        requested.ones[size] = new
    return new


def _symbol(size: Size) -> Symbol:
    symbol = size.expr.symbol
    assert symbol is not None
    return symbol


def value_of(requested: SizeRequest, solver: Solver) -> Callable[[Symbol], int]:
    """Returns a function from symbols to values: the requested one, a quotient of it, or the model's own."""

    def value(symbol: Symbol) -> int:
        if symbol in solver.quotients:
            whole, divisor, _ = solver.quotients[symbol]
            return value(whole) // divisor
        return requested.wanted.get(symbol, symbol.old)

    return value


def values_for(requested: SizeRequest, traced: Traced) -> tuple[Callable[[Symbol], int], list[Diagnostic]]:
    """Returns the value of each symbol, and why the graph cannot have them."""
    solver = traced.solver
    value = value_of(requested, solver)
    problems = [
        _refused(symbol, wanted, expr, expr.at(value), traced)
        for symbol, wanted in requested.wanted.items()
        if (expr := solver.resolved(Expr.of(symbol))).at(value) != wanted and not _is_part(symbol, solver)
    ]
    if not problems:
        problems = [misfit(guard, value) for guard in solver.conditions() if not guard.is_met(value)]
    return value, problems


def is_possible(requested: SizeRequest, traced: Traced) -> bool:
    """Whether :func:`values_for` finds no problems; faster, without messages."""
    solver = traced.solver
    value = value_of(requested, solver)
    return all(guard.is_met(value) for guard in solver.conditions()) and all(
        solver.resolved(Expr.of(symbol)).at(value) == wanted or _is_part(symbol, solver)
        for symbol, wanted in requested.wanted.items()
    )


def _is_part(symbol: Symbol, solver: Solver) -> bool:
    """Whether a symbol is only required to be a multiple of a number."""
    return any(
        whole is symbol and solver.resolved(Expr.of(part)).symbol is part
        for part, (whole, _, _) in solver.quotients.items()
    )


def _refused(symbol: Symbol, wanted: int, expr: Expr, found: int, traced: Traced) -> Diagnostic:
    solver = traced.solver
    fixed = solver.reasons.get(symbol)
    if fixed is None and expr.number is not None:  # it follows from a fixed one
        fixed = next((solver.reasons[item] for item in solver.dependencies(symbol) if item in solver.reasons), None)
    if fixed is not None:
        return explained(codes.FIXED_SIZE, f"{symbol} stays {symbol.old} and cannot be {wanted}", fixed, found, wanted)
    tie = solver.ties[symbol]
    return explained(codes.TIED_SIZE, f"{symbol} has to be {expr}, {found}, and not {wanted}", tie, found, wanted)


def explained(code: Code, message: str, fixed: FixedSymbol, expected: object, found: object) -> Diagnostic:
    """Returns a finding about sizes, with the node that causes it and what it compares."""
    place = fixed.place
    sides = _sides(fixed)
    return code.at(
        f"{message}: {place.words}{sides}",
        node=place.node,
        operator=place.operator,
        pointer=place.source,
        expected=expected,
        found=found,
    )


def _sides(fixed: FixedSymbol) -> str:
    """The compared expressions with their values; empty if both are constants."""
    left, right = fixed.left, fixed.right
    if left.number is not None:
        left, right = right, left
    if left.number is not None:
        return ""
    other = str(right) if right.number is not None else f"{right}, {right.old}"
    return f" ({left}, {left.old}, has to be {other})"


def misfit(guard: Guard, value: Callable[[Symbol], int], remark: str = "") -> Diagnostic:
    """Returns the finding that a condition does not hold at these values; the message ends with ``remark``."""
    expr = guard.expr
    found = expr.at(value)
    if guard.divisor:
        message = f"{expr} is {found}, which is not a multiple of {guard.divisor}: {guard.place.words}"
        expected = f"a multiple of {guard.divisor}"
    else:
        left, right = guard.sides or (expr, Expr({}))
        if left.number is not None:
            left, right = right, left
        found, expected = left.at(value), str(right.at(value))
        other = expected if right.number is not None else f"{expected}, {right}"
        message = f"{left} is {found}, and has to be {other}: {guard.place.words}"
    place = guard.place
    return codes.MISFIT_SIZE.at(
        message + remark, node=place.node, operator=place.operator, pointer=place.source, expected=expected, found=found
    )
