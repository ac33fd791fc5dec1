"""How programs of this process are compiled and run: the options of ``dml2onnx pydirectml``.

Programs say nothing about it, so that they stay as they are. Without the command everything has its default.
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
    """One call of ``input_tensor``: the index, the name in the ONNX model, the bytes of its buffer."""

    index: int
    name: str
    owned_by_dml: bool
    nbytes: int


def owned_by_dml(slot: InputSlot) -> bool:
    """Weights become constants, everything else stays an input."""
    return slot.owned_by_dml


@dataclass(frozen=True, slots=True)
class Computed:
    """What ``compute`` was called with for the first time."""

    graph: Graph
    """The DirectML graph, with the weights as constants."""
    model: CompiledModel
    """The ONNX model that it was compiled to."""
    frozen: tuple[InputSlot, ...]
    """The inputs that became constants."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The provider, the feature level that operators are checked against, and what becomes of compiled models."""

    name: str = "graph"
    provider: Providers = field(default_factory=Providers)
    feature_level: FeatureLevel | None = None
    freezes: Callable[[InputSlot], bool] = owned_by_dml
    """Which inputs become constants of the compiled model."""
    compiled: Callable[[Computed], None] | None = None
    """Called with every model when it is first computed."""


_in_force: list[Settings] = [Settings()]


def current() -> Settings:
    """The settings in force."""
    return _in_force[-1]


@contextmanager
def use(settings: Settings) -> Iterator[None]:
    """Puts other settings in force, for all threads."""
    _in_force.append(settings)
    try:
        yield
    finally:
        _in_force.remove(settings)
