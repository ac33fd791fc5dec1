"""The graph builder: inputs, constants, all operators, and DirectMLX's functions."""

from __future__ import annotations

import functools
import inspect
import re
from typing import TYPE_CHECKING, Any, NoReturn

from dml2onnx.builder.directmlx import DirectMLX
from dml2onnx.builder.expression import Expression
from dml2onnx.diagnostics import DmlError

if TYPE_CHECKING:
    from collections.abc import Callable


class GraphBuilder(DirectMLX):
    """Builds a DirectML graph operator by operator.

    ``feature_level`` limits operators and data types (default: the latest); ``policy`` sets the memory layout of
    outputs (default: packed). ``ranges`` has the smallest and largest value of named sizes: ``{"N": (1, 64)}``. Every
    call checks its arguments and raises :class:`~dml2onnx.diagnostics.DmlError`, with the diagnostics of ``check``,
    before anything is recorded.

    Methods are DirectMLX's functions in snake case. If DirectML has several versions of an operator, the plain name
    chooses one by the feature level, and a numbered name (``slice0`` for SLICE, ``slice1`` for SLICE1) is exact.
    """

    TO_GRAPH = 'its Graph, which build({"y": y}) gives for the expressions that are its outputs'

    if not TYPE_CHECKING:  # type checkers would accept any method

        def __getattr__(self, name: str) -> NoReturn:
            from dml2onnx.builder.suggestions import suggested_methods  # rarely needed

            close = () if name.startswith("_") else suggested_methods(name, GraphBuilder)
            converted = f"; did you mean {' or '.join(close)}?" if close else ""
            raise AttributeError(f"GraphBuilder has no {name}{converted}", name=name, obj=self)


def _answering(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method, with errors that suggest a replacement for an unknown argument and list its arguments."""

    @functools.wraps(method)
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return method(*args, **kwargs)
        except DmlError as error:
            if listed := _in_a_list(method, args):
                raise TypeError(listed) from None
            raise error.with_traceback(None) from None  # the message has the call site; our own frames would bury it
        except TypeError as error:
            missing = _MISSING_ARGUMENTS.search(str(error))
            if missing is not None and missing[1] == method.__name__:
                takes = ", ".join(name for name in inspect.signature(method).parameters if name != "self")
                raise TypeError(f"{missing[1]} needs {missing[2]}; its arguments are {takes}") from None
            many = _MANY_ARGUMENTS.search(str(error))
            if many is not None and many[1].rpartition(".")[2] == method.__name__:
                raise TypeError(_by_place_or_name(method)) from None
            twice = _SEVERAL_VALUES.search(str(error))
            if twice is not None and twice[1].rpartition(".")[2] == method.__name__:
                raise TypeError(_in_a_list(method, args) or _by_place_or_name(method)) from None
            unknown = _UNKNOWN_ARGUMENT.search(str(error))
            if unknown is None or unknown[1] not in kwargs:
                raise
            from dml2onnx.catalog.familiar import OF_REDUCTION, meant_arguments  # rarely needed

            names = [name for name in inspect.signature(method).parameters if name not in ("self", *kwargs)]
            converted = meant_arguments(unknown[1], names)
            if len(converted) == 1 and _takes_several(method, converted[0]) and isinstance(kwargs[unknown[1]], int):
                converted = (f"{converted[0]}=[{kwargs[unknown[1]]}]",)
            hint = f"did you mean {' and '.join(converted)}?" if converted else f"it has {', '.join(names)}"
            if unknown[1] in OF_REDUCTION:
                hint = "dimensions that are reduced stay, with size 1; reshape and reinterpret take them away"
            message = f"{method.__name__} has no argument {unknown[1]}; {hint}"
            raise TypeError(message) from None

    return called


def _takes_several(method: Callable[..., Any], name: str) -> bool:
    """Whether a parameter takes a list of numbers."""
    return str(inspect.signature(method).parameters[name].annotation).startswith("WholeNumbers")


def _by_place_or_name(method: Callable[..., Any]) -> str:
    """A listing of positional and keyword-only arguments of a method."""
    parameters = [item for item in inspect.signature(method).parameters.values() if item.name != "self"]
    named = [item.name for item in parameters if item.kind is item.KEYWORD_ONLY]
    placed = [item.name for item in parameters if item.name not in named]
    text = f"{method.__name__} takes {', '.join(placed) or 'nothing'} by place"
    return f"{text}, and by name {', '.join(f'{name}=' for name in named)}" if named else text


def _in_a_list(method: Callable[..., Any], args: tuple[Any, ...]) -> str:
    """A hint if several positional tensors are passed in place of an array; empty if no array is expected."""
    first = next(item for name, item in inspect.signature(method).parameters.items() if name != "self")
    several = [item for item in args if isinstance(item, Expression)]
    if len(several) < 2 or not str(first.annotation).startswith("Sequence["):
        return ""
    names = ", ".join(item.value.name or "..." for item in several)
    return f"{method.__name__} takes its tensors as a list: {method.__name__}([{names}], ...)"


_SEVERAL_VALUES = re.compile(r"([\w.]+)\(\) got multiple values for argument '\w+'")
_MISSING_ARGUMENTS = re.compile(r"(\w+)\(\) missing \d+ required (?:\w+(?:-only)? )?arguments?: (.+)")
_MANY_ARGUMENTS = re.compile(r"([\w.]+)\(\) takes (?:from )?\d+ (?:to \d+ )?positional arguments? but")
_UNKNOWN_ARGUMENT = re.compile(r"unexpected keyword argument '(\w+)'")

if not TYPE_CHECKING:  # type checkers know the arguments of all methods
    for _name in [item for item in dir(GraphBuilder) if not item.startswith("_")]:
        _method = inspect.getattr_static(GraphBuilder, _name)
        if inspect.isfunction(_method):
            setattr(GraphBuilder, _name, _answering(_method))
