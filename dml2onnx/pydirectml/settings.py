"""Process-wide settings for compiling and running programs: the options of ``dml2onnx pydirectml``.

They are global since programs run unchanged. Without the command all have their defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dml2onnx.providers.choice import Providers

if TYPE_CHECKING:
    from dml2onnx.catalog import FeatureLevel
    from dml2onnx.compiler import CompiledModel
    from dml2onnx.ir.graph import Graph


@dataclass(frozen=True, slots=True)
class InputSlot:
    """One call of ``input_tensor``: the index, the name in the ONNX model, the size of the buffer in bytes."""

    index: int
    name: str
    owned_by_dml: bool
    nbytes: int


def owned_by_dml(slot: InputSlot) -> bool:
    """The default of ``freezes``: weights become constants, everything else stays an input."""
    return slot.owned_by_dml


@dataclass(frozen=True, slots=True)
class Computed:
    """The model of a first call of ``compute``."""

    graph: Graph
    """The DirectML graph, with the weights as constants."""
    model: CompiledModel
    """The compiled ONNX model."""
    frozen: tuple[InputSlot, ...]
    """The inputs that became constants."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The provider, the feature level of the checks, and hooks for compiled models."""

    name: str = "graph"
    provider: Providers = field(default_factory=Providers)
    feature_level: FeatureLevel | None = None
    freezes: Callable[[InputSlot], bool] = owned_by_dml
    """Selects the inputs that become constants of the compiled model."""
    compiled: Callable[[Computed], None] | None = None
    """Called with every model when it is first computed."""


_active: list[Settings] = [Settings()]


def current() -> Settings:
    """Returns the active settings."""
    return _active[-1]


@contextmanager
def use(settings: Settings) -> Iterator[None]:
    """Activates other settings, for all threads."""
    _active.append(settings)
    try:
        yield
    finally:
        _active.remove(settings)
