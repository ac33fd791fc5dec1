"""Options for compiling: the keywords of public functions, and the value made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from dml2onnx import arguments
from dml2onnx.passes import PASSES, chosen, propagates_layouts
from dml2onnx.targets import DEFAULT_OPSET, DEFAULT_TARGET, EXACT_TARGET

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from dml2onnx.catalog import FeatureLevel
    from dml2onnx.passes import Pass


class CompileKeywords(TypedDict, total=False):
    """The keywords that :func:`dml2onnx.compile` explains; other functions take some of them."""

    feature_level: FeatureLevel | str | None
    documented: bool
    opset: int
    target: str
    exact: bool
    optimize: int
    without_passes: Sequence[str]
    quant_format: str | None
    half: bool
    shapes: bool
    ir_version: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileOptions:
    """The same, checked."""

    feature_level: FeatureLevel | None = None
    """The level to check against; by default that of the graph, or else the newest."""
    documented: bool = False
    opset: int = DEFAULT_OPSET
    target: str = DEFAULT_TARGET
    exact: bool = False
    passes: Sequence[Pass] = chosen()
    propagate: bool = True
    """Whether layouts are propagated from node to node."""
    quant_format: str | None = None
    """By default what suits the target."""
    half: bool = False
    shapes: bool = True
    """Whether the model states the types and shapes of values inside of it."""
    ir_version: int | None = None
    """By default that of the opset."""

    @classmethod
    def of(cls, **keywords: Unpack[CompileKeywords]) -> CompileOptions:
        """The options that a caller asks for; :class:`DmlError` for a value that cannot be meant."""
        opset = arguments.opset(keywords.get("opset", DEFAULT_OPSET))
        target = arguments.target(keywords.get("target", DEFAULT_TARGET))
        exact = arguments.flag(keywords.get("exact", False), "exact")
        without = keywords.get("without_passes", ())
        return cls(
            opset=opset,
            target=target,
            exact=exact,
            shapes=arguments.flag(keywords.get("shapes", True), "shapes"),
            ir_version=arguments.ir_version(keywords.get("ir_version"), opset),
            passes=chosen(keywords.get("optimize", 1), without),
            propagate=propagates_layouts(without),
            quant_format=arguments.quant_format(keywords.get("quant_format"), exact=exact),
            half=arguments.flag(keywords.get("half", False), "half"),
            feature_level=arguments.feature_level(keywords.get("feature_level")),
            documented=keywords.get("documented", False),
        )


EXACT = CompileOptions(target=EXACT_TARGET, exact=True, passes=PASSES)
"""All that the reference states, after all passes that keep each bit."""
