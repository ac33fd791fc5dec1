"""Arithmetic of sizes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dml2onnx.sizes.expressions import Expr, Size, Symbol, SymbolKind, as_size, product
from dml2onnx.sizes.solver import Requirement, Solver

STEPS = st.lists(st.tuples(st.sampled_from("+-*/"), st.integers(1, 7), st.booleans()), max_size=6)
PLACE = Requirement("node", "JOIN", "", "they are equal")


@given(STEPS, st.integers(1, 40), st.integers(1, 40))
def test_formulas_are_the_same_at_every_size(steps: list[tuple[str, int, bool]], old: int, new: int) -> None:
    symbol = Symbol(0, "N", old, SymbolKind.REQUESTED)
    size: int = Size(Expr.of(symbol))
    numbers = [old, new]
    for step, number, doubles in steps:
        for i, value in enumerate(numbers):
            other = (old, new)[i] * number if doubles else number
            made = {"+": value + other, "-": value - other, "*": value * other, "/": value // number}
            numbers[i] = made[step]
        term = Size(Expr.of(symbol)) * number if doubles else number
        size = {"+": size + term, "-": size - term, "*": size * term, "/": size // number}[step]
    assert int(size) == numbers[0]
    assert as_size(size).expr.at(lambda _: new) == numbers[1]


def test_merged_sizes_keep_their_parts() -> None:
    solver = Solver()
    a, b = (solver.symbol(name, old, SymbolKind.REQUESTED) for name, old in (("A", 2), ("B", 5)))
    merged = product([a, b])
    assert [str(part.expr) for part in merged.parts] == ["A", "B"]
    assert str(merged.expr) == "A*B"


def test_inputs_follow_requested_sizes() -> None:
    solver = Solver()
    requested, other = solver.symbol("N", 4, SymbolKind.REQUESTED), solver.symbol("x[0]", 8, SymbolKind.INPUT)
    solver.equal(other, requested * 2, PLACE)
    assert str(solver.resolved(other.expr)) == "2*N"
    solver.equal(requested * 3, 12, PLACE)
    assert solver.resolved(requested.expr).number == 4
    (reason,) = solver.reasons.values()
    assert reason.place is PLACE


def test_weights_do_not_follow_a_difference() -> None:
    """A filter does not become larger because it happens to be the height minus 30."""
    solver = Solver()
    height, kernel = solver.symbol("H", 33, SymbolKind.REQUESTED), solver.symbol("w[2]", 3, SymbolKind.INPUT)
    solver.equal(kernel, height - 30, PLACE)
    assert solver.resolved(kernel.expr).number == 3
    assert solver.resolved(height.expr).number == 33


def test_equations_with_rounded_sizes_are_guards() -> None:
    solver = Solver()
    height = solver.symbol("H", 8, SymbolKind.REQUESTED)
    solver.equal(height // 4 * 4, height, PLACE)
    assert solver.resolved(height.expr).number is None
    assert len(solver.guards) == 1
