"""The options of a verification."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from dml2onnx import arguments
from dml2onnx.options import CompileOptions
from dml2onnx.providers.choice import ProviderLike


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyOptions:
    """How :func:`dml2onnx.verify` compiles and compares a graph."""

    compiling: CompileOptions = field(default_factory=CompileOptions)
    """The provider determines the target; the one here is ignored."""
    rounds: int = 3
    seed: int = 0
    provider: ProviderLike = "cpu"
    time_limit: float | None = None
    max_bytes: int | None = None
    progress: Callable[[str], object] | None = None

    def checked(self) -> VerifyOptions:
        """The options with arguments converted to plain values. Raises :class:`DmlError` for invalid ones."""
        return replace(
            self,
            rounds=arguments.whole_number(self.rounds, "rounds", 1),
            seed=arguments.whole_number(self.seed, "seed"),
            time_limit=None if self.time_limit is None else arguments.positive(self.time_limit, "time_limit"),
            progress=None if self.progress is None else arguments.function(self.progress, "progress"),
        )
