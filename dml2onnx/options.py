"""Options for compiling: the keywords of public functions, and the value made of them."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypedDict, TypeVar

from dml2onnx import arguments
from dml2onnx.passes import PASSES, Pass, chosen, propagates_layouts
from dml2onnx.targets import DEFAULT_OPSET, DEFAULT_TARGET, EXACT_TARGET

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, Unpack

    from dml2onnx.catalog import FeatureLevel

P = ParamSpec("P")
R = TypeVar("R")


class ModelKeywords(TypedDict, total=False):
    """Keywords of every function that makes a model; see :func:`dml2onnx.compile`."""

    opset: int
    documented: bool
    exact: bool
    optimize: int
    without_passes: Iterable[str]
    quant_format: str | None
    half: bool


class RunKeywords(ModelKeywords, total=False):
    """Keywords of :func:`dml2onnx.run`."""

    feature_level: FeatureLevel | str | None


class CompileKeywords(RunKeywords, total=False):
    """Keywords of :func:`dml2onnx.compile`."""

    target: str
    shapes: bool
    ir_version: int | None


DEFAULTS: CompileKeywords = {
    "opset": DEFAULT_OPSET,
    "documented": False,
    "exact": False,
    "optimize": 1,
    "without_passes": (),
    "quant_format": None,
    "half": False,
    "feature_level": None,
    "target": DEFAULT_TARGET,
    "shapes": True,
    "ir_version": None,
}


def takes(keywords: type, **defaults: object) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Adds ``keywords``, a TypedDict, to the signature of a function that takes them as ``**keywords``.

    ``help`` and the API reference read the signature. Any other keyword is a TypeError. ``defaults`` override
    :data:`DEFAULTS`.
    """
    known: dict[str, object] = {**DEFAULTS, **defaults}
    named = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=known[name], annotation=kind.__forward_arg__)
        for name, kind in keywords.__annotations__.items()
    ]

    def with_signature(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)
        own = [item for item in signature.parameters.values() if item.kind is not item.VAR_KEYWORD]
        signature = signature.replace(parameters=[*own, *named])

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            for name in kwargs:
                if name not in signature.parameters:
                    raise TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}")
            return function(*args, **kwargs)

        checked.__signature__ = signature  # type: ignore[attr-defined]  # functions may have one
        return checked

    return with_signature


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileOptions:
    """Checked options."""

    feature_level: FeatureLevel | None = None
    """The level to check against; by default the graph's, or the newest."""
    documented: bool = False
    opset: int = DEFAULT_OPSET
    target: str = DEFAULT_TARGET
    exact: bool = False
    passes: Sequence[Pass] = chosen()
    propagate: bool = True
    """Whether layouts are propagated from node to node."""
    quant_format: str | None = None
    """Default: the target's."""
    half: bool = False
    shapes: bool = True
    """Whether the model states the types and shapes of intermediate values."""
    ir_version: int | None = None
    """Default: that of the opset."""

    @classmethod
    def of(cls, **keywords: Unpack[CompileKeywords]) -> CompileOptions:
        """The options of a caller's keywords; :class:`DmlError` for an invalid value."""
        values: CompileKeywords = {**DEFAULTS, **keywords}
        opset = arguments.opset(values["opset"])
        target = arguments.target(values["target"])
        exact = arguments.flag(values["exact"], "exact")
        without = arguments.names(values["without_passes"], "without_passes")
        return cls(
            opset=opset,
            target=target,
            exact=exact,
            shapes=arguments.flag(values["shapes"], "shapes"),
            ir_version=arguments.ir_version(values["ir_version"], opset),
            passes=chosen(values["optimize"], without),
            propagate=propagates_layouts(without),
            quant_format=arguments.quant_format(values["quant_format"], exact=exact),
            half=arguments.flag(values["half"], "half"),
            feature_level=arguments.feature_level(values["feature_level"]),
            documented=values["documented"],
        )

    @classmethod
    def of_members(cls, record: Any, **others: Unpack[CompileKeywords]) -> CompileOptions:
        """The options among the attributes of a larger record, and ``others``."""
        found = {name: getattr(record, name) for name in DEFAULTS if hasattr(record, name)}
        return cls.of(**{**found, **others})


EXACT = CompileOptions(target=EXACT_TARGET, exact=True, passes=PASSES)
"""Everything that the reference specifies, with all passes that keep each bit."""
