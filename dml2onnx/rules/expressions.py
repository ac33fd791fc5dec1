"""The catalogue's expressions, such as ``InputTensor.DimensionCount - 2`` and ``InputTensor.Sizes[Axis]``."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from functools import cache
from typing import TypeAlias

from dml2onnx.catalog import Bound
from dml2onnx.rules.subject import Subject, UnanswerableError

BoundValue: TypeAlias = int | float | str
Evaluator: TypeAlias = "Callable[[Subject], BoundValue]"

_OPERATORS: dict[type[ast.operator], Callable[[float, float], int | float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
}


def evaluator(bound: Bound) -> Evaluator:
    """Returns a function from a descriptor to the bound's value: a number, or the short name of a data type.

    Division is integer division. Raises ``ValueError`` for an unsupported expression, a defect of the catalogue.
    """
    if isinstance(bound, (int, float)):
        return lambda subject: bound
    return _parsed(bound)


@cache
def _parsed(text: str) -> Evaluator:
    return _compile(ast.parse(text, mode="eval").body, text)


def _compile(node: ast.expr, text: str) -> Evaluator:
    match node:
        case ast.Constant(value=int() | float() as number):
            return lambda subject: number
        case ast.Name(id=field):
            return lambda subject: _plain(subject, field)
        case ast.BinOp(left=left, op=symbol, right=right) if type(symbol) in _OPERATORS:
            return _binary(_OPERATORS[type(symbol)], _compile(left, text), _compile(right, text))
        case ast.Attribute(value=ast.Name(id=tensor), attr="DimensionCount"):
            return lambda subject: subject.tensor(tensor).rank
        case ast.Attribute(value=ast.Name(id=tensor), attr="DataType"):
            return lambda subject: subject.tensor(tensor).data_type.name
        case ast.Subscript(value=ast.Attribute(value=ast.Name(id=tensor), attr="Sizes"), slice=position):
            return _size(tensor, _compile(position, text))
        case _:
            raise ValueError(f"{text!r} is not an expression of the catalogue")


def _plain(subject: Subject, field: str) -> BoundValue:
    value = subject.value(field)
    if not isinstance(value, (int, float, str)):
        raise UnanswerableError
    return value


def _number(value: BoundValue) -> int | float:
    if isinstance(value, str):
        raise UnanswerableError
    return value


def _binary(function: Callable[[float, float], int | float], left: Evaluator, right: Evaluator) -> Evaluator:
    def evaluate(subject: Subject) -> BoundValue:
        a, b = _number(left(subject)), _number(right(subject))
        if b == 0 and function is operator.floordiv:
            raise UnanswerableError
        return function(a, b)

    return evaluate


def _size(tensor: str, position: Evaluator) -> Evaluator:
    def evaluate(subject: Subject) -> BoundValue:
        sizes = subject.sizes(tensor)
        i = _number(position(subject))
        if not isinstance(i, int) or not 0 <= i < len(sizes):
            raise UnanswerableError
        return sizes[i]

    return evaluate
