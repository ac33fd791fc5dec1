"""The options of a verification, as one value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dml2onnx import arguments
from dml2onnx.targets import DEFAULT_OPSET

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dml2onnx.providers.choice import ProviderLike


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyOptions:
    """The keywords of :func:`dml2onnx.verify` that say how a graph is compiled and compared."""

    rounds: int = 3
    seed: int = 0
    provider: ProviderLike = "cpu"
    opset: int = DEFAULT_OPSET
    documented: bool = False
    exact: bool = False
    optimize: int = 1
    without_passes: Sequence[str] = ()
    quant_format: str | None = None
    half: bool = False
    time_limit: float | None = None
    max_bytes: int | None = None
    progress: Callable[[str], object] | None = None

    def checked(self) -> VerifyOptions:
        """The same with arguments of users turned into plain values; :class:`DmlError` for any other."""
        exact = arguments.flag(self.exact, "exact")
        return replace(
            self,
            rounds=arguments.whole_number(self.rounds, "rounds", 1),
            seed=arguments.whole_number(self.seed, "seed"),
            opset=arguments.opset(self.opset),
            exact=exact,
            quant_format=arguments.quant_format(self.quant_format, exact=exact),
            half=arguments.flag(self.half, "half"),
            time_limit=None if self.time_limit is None else arguments.positive(self.time_limit, "time_limit"),
            progress=None if self.progress is None else arguments.function(self.progress, "progress"),
        )
