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
from dml2onnx.sizes.expressions import Expr, Kind, Size, Symbol

if TYPE_CHECKING:
    from collections.abc import Callable

    from dml2onnx.diagnostics import Code, Diagnostic
    from dml2onnx.ir.graph import Graph
    from dml2onnx.sizes.solver import Fixed, Guard, Place, Solver
    from dml2onnx.sizes.tracing import Traced


@dataclass
class Request:
    """The sizes of inputs in symbols, and the numbers that are wanted for them."""

    sizes: dict[str, tuple[Size, ...]] = field(default_factory=dict)
    wanted: dict[Symbol, int] = field(default_factory=dict)
    ones: dict[int, Size] = field(default_factory=dict)
    """What dimensions of one element become: those of one size are one symbol, whatever inputs they are of."""
    names: dict[str, Symbol] = field(default_factory=dict)


def request(graph: Graph, sizes: Mapping[str, Sequence[int | str]], solver: Solver) -> Request:
    """What is asked for, in symbols; raises :class:`DmlError` where it is about no input."""
    ends = (*graph.outputs, *graph.results, *(item.output for item in graph.effects))
    descs = input_descs(graph.inputs, graph.sorted_nodes(), ends)
    known = {item.name: desc.sizes for item, desc in zip(graph.inputs, descs, strict=True)}
    asked, problems = Request(), []
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
            asked.sizes[name] = tuple(
                _asked(asked, f"{name}[{i}]", size, own, solver)
                for i, (size, own) in enumerate(zip(wanted, old, strict=True))
            )
        except ValueError as problem:
            problems.append(
                codes.WRONG_REQUEST.at(str(problem), expected="sizes above 0, or names", found=list(wanted))
            )
    if problems:
        raise DmlError(*problems)
    return asked


def _with_own(wanted: Sequence[int | str], old: Sequence[int]) -> Sequence[int | str]:
    """Fewer sizes than there are dimensions, with those of the model where most of the others are its own then."""
    if len(wanted) >= len(old):
        return wanted
    made: Sequence[int | str] = ()
    for own in combinations(range(len(old)), len(old) - len(wanted)):
        rest = iter(wanted)
        sizes = [old[i] if i in own else next(rest) for i in range(len(old))]
        if not made or _alike(sizes, old) > _alike(made, old):
            made = sizes
    return made


def _alike(sizes: Sequence[int | str], old: Sequence[int]) -> int:
    return sum(size == own for size, own in zip(sizes, old, strict=True))


_DIMENSIONS = {"batch": 0, "n": 0, "channels": 1, "c": 1, "height": -2, "h": -2, "width": -1, "w": -1}
"""Dimensions by the names that people have for them."""


def _meant(name: str, wanted: Sequence[int | str], known: Mapping[str, Sequence[int]]) -> tuple[Remedy, ...]:
    """What is meant by an input that there is not: one with a similar name, or a dimension of all of them."""
    close = nearest(name, known)
    axis = _DIMENSIONS.get(name.lower().removesuffix("_size").removesuffix("size").rstrip("_"))
    if close or axis is None or len(wanted) != 1:
        return tuple([Remedy(f"{item}={','.join(map(str, wanted))}") for item in close])
    made = []
    for item, old in known.items():
        if len(old) > 2 or axis == 0:
            sizes: list[int | str] = list(old)
            sizes[axis] = wanted[0]
            made.append(f"--size {item}={','.join(map(str, sizes))}")
    return (Remedy(shortened(" ".join(made))),) if made else ()


def _asked(asked: Request, label: str, size: int | str, old: int, solver: Solver) -> Size:
    if isinstance(size, str):
        symbol = asked.names.get(size)
        if symbol is None:
            made = solver.symbol(size, old, Kind.GIVEN)
            asked.names[size] = _symbol(made)
            return made
        if symbol.old != old:
            raise ValueError(f"{size} is {symbol.old} and, as {label}, {old}; one name has one size")
        return Size(Expr.of(symbol))
    if size < 1:
        raise ValueError(f"{label} is {size}, which is no size")
    if size == old:
        return Size(old)
    if old == 1 and size in asked.ones:
        return asked.ones[size]
    made = solver.symbol(label, old, Kind.GIVEN)
    asked.wanted[_symbol(made)] = size
    if old == 1:
        asked.ones[size] = made
    return made


def _symbol(size: Size) -> Symbol:
    symbol = size.expr.symbol
    assert symbol is not None
    return symbol


def value_of(asked: Request, solver: Solver) -> Callable[[Symbol], int]:
    """The value of each symbol: what is asked for, a part of that, or what the model has."""

    def value(symbol: Symbol) -> int:
        if symbol in solver.quotients:
            whole, divisor, _ = solver.quotients[symbol]
            return value(whole) // divisor
        return asked.wanted.get(symbol, symbol.old)

    return value


def values_for(asked: Request, traced: Traced) -> tuple[Callable[[Symbol], int], list[Diagnostic]]:
    """The value of each symbol, and why the graph cannot have them."""
    solver = traced.solver
    value = value_of(asked, solver)
    problems = [
        _refused(symbol, wanted, expr, expr.at(value), traced)
        for symbol, wanted in asked.wanted.items()
        if (expr := solver.resolved(Expr.of(symbol))).at(value) != wanted and not _is_part(symbol, solver)
    ]
    if not problems:
        parts = [(*found, value(found[0])) for found in solver.quotients.values()]
        problems = [_indivisible(*part) for part in parts if part[3] % part[1]]
        problems += [
            _misfit(guard, value, solver) for guard in solver.guards.values() if not _fits(guard, value, solver)
        ]
    return value, problems


def is_possible(asked: Request, traced: Traced) -> bool:
    """Whether :func:`values_for` finds no problems, without a word about them."""
    solver = traced.solver
    value = value_of(asked, solver)
    return (
        all(value(whole) % divisor == 0 for whole, divisor, _ in solver.quotients.values())
        and all(_fits(guard, value, solver) for guard in solver.guards.values())
        and all(
            solver.resolved(Expr.of(symbol)).at(value) == wanted or _is_part(symbol, solver)
            for symbol, wanted in asked.wanted.items()
        )
    )


def _is_part(symbol: Symbol, solver: Solver) -> bool:
    """Whether all that is known of a symbol is that it is a multiple of a number."""
    return any(
        whole is symbol and solver.resolved(Expr.of(part)).symbol is part
        for part, (whole, _, _) in solver.quotients.items()
    )


def _indivisible(symbol: Symbol, divisor: int, place: Place, found: int) -> Diagnostic:
    return codes.MISFIT_SIZE.at(
        f"{symbol} is {found}, which is no multiple of {divisor}: {place.words}",
        node=place.node,
        operator=place.operator,
        pointer=place.source,
        expected=f"a multiple of {divisor}",
        found=found,
    )


def _refused(symbol: Symbol, wanted: int, expr: Expr, found: int, traced: Traced) -> Diagnostic:
    solver = traced.solver
    fixed = solver.reasons.get(symbol)
    if fixed is None and expr.number is not None:  # it follows what is fixed
        fixed = next((solver.reasons[item] for item in _chain(symbol, solver) if item in solver.reasons), None)
    if fixed is not None:
        return explained(codes.FIXED_SIZE, f"{symbol} stays {symbol.old} and cannot be {wanted}", fixed, found, wanted)
    tie = solver.ties[symbol]
    return explained(codes.TIED_SIZE, f"{symbol} has to be {expr}, {found}, and not {wanted}", tie, found, wanted)


def _chain(symbol: Symbol, solver: Solver) -> list[Symbol]:
    """The symbols that one depends on, and so on."""
    found = [symbol]
    for item in found:  # which grows
        if item in solver.bound:
            found += [other for other in solver.bound[item].symbols() if other not in found]
    return found


def explained(code: Code, message: str, fixed: Fixed, expected: object, found: object) -> Diagnostic:
    """A finding about sizes, with the node that says so and what it compares."""
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


def _sides(fixed: Fixed) -> str:
    """``; 512 = 8 * 8 * 8 = picture[1]*picture[2]*picture[3] has to be 512``."""
    left, right = fixed.left, fixed.right
    if left.number is not None:
        left, right = right, left
    if left.number is not None:
        return ""
    other = str(right) if right.number is not None else f"{right}, {right.old}"
    return f" ({left}, {left.old}, has to be {other})"


def _fits(guard: Guard, value: Callable[[Symbol], int], solver: Solver) -> bool:
    found = solver.resolved(guard.expr).at(value)
    return found % guard.divisor == 0 if guard.divisor else found == 0


def _misfit(guard: Guard, value: Callable[[Symbol], int], solver: Solver) -> Diagnostic:
    expr = solver.resolved(guard.expr)
    found = expr.at(value)
    if guard.divisor:
        message = f"{expr} is {found}, which is no multiple of {guard.divisor}: {guard.place.words}"
        expected = f"a multiple of {guard.divisor}"
    else:
        left, right = (solver.resolved(side) for side in guard.sides or (expr, Expr({})))
        if left.number is not None:
            left, right = right, left
        found, expected = left.at(value), str(right.at(value))
        other = expected if right.number is not None else f"{expected}, {right}"
        message = f"{left} is {found}, and has to be {other}: {guard.place.words}"
    place = guard.place
    return codes.MISFIT_SIZE.at(
        message, node=place.node, operator=place.operator, pointer=place.source, expected=expected, found=found
    )
