"""A compiled model against the reference: the same graph, the same inputs, two independent answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.compiler import compile_outputs, require_clean
from dml2onnx.frontends import load
from dml2onnx.ir.graph import Graph
from dml2onnx.reference import disagreements, evaluate_results

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from dml2onnx.lowering.driver import Port
    from dml2onnx.lowering.emitter.core import Array
    from dml2onnx.reference import Result


@dataclass(frozen=True, slots=True)
class Comparison:
    """One output in one round. ``worst`` is the largest absolute difference between finite elements."""

    output: str
    round: str
    elements: int
    wrong: int
    unspecified: int
    worst: float
    first_wrong: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Verification:
    """All comparisons of a verification."""

    comparisons: tuple[Comparison, ...]

    @property
    def passed(self) -> bool:
        """Whether every element of every output agreed."""
        return all(item.wrong == 0 for item in self.comparisons)


def verify(
    model: Graph | str | os.PathLike[str],
    inputs: Mapping[str, npt.ArrayLike] | None = None,
    *,
    rounds: int = 2,
    seed: int = 0,
    provider: str = "cpu",
    opset: int = 21,
) -> Verification:
    """Compiles a graph, runs it, and compares every output with the reference implementation.

    The first of ``rounds`` uses ``inputs``, sample contents that came with the model, and ordinary random numbers for
    the rest; in every second one the random inputs contain NaN, infinities, negative zeros, subnormals and the extremes
    of integers. What may differ is derived from the operators, see ``dml2onnx.reference.tolerance``; integers and data
    movement compare exactly. Raises :class:`DmlError` with every finding of the checks.
    """
    graph = model if isinstance(model, Graph) else load(model)
    if rounds < 1:
        raise ValueError(f"{rounds} rounds verify nothing")
    warnings = require_clean(graph)
    outputs = graph.results or graph.outputs
    compiled = compile_outputs(graph, outputs, opset=opset, target=provider, warnings=warnings)
    session = compiled.session(provider)
    given = compiled.complete(inputs or {})
    random = np.random.default_rng(seed)
    comparisons: list[Comparison] = []
    # without inputs nothing varies from round to round
    for index in range(rounds if compiled.inputs else 1):
        extreme = index % 2 == 1
        kept = given if index == 0 else dict(inputs or {})
        feeds = {
            port.name: kept.get(port.name, random_array(port, random, extremes=extreme)) for port in compiled.inputs
        }
        got = compiled.finish(session.run(feeds))
        want = evaluate_results(graph, feeds, outputs)
        label = f"{index + 1} ({'extreme values' if extreme else 'ordinary values'})"
        comparisons += [compare(port, got[port.name], want[port.name], label, provider) for port in compiled.outputs]
    return Verification(tuple(comparisons))


def compare(port: Port, got: Array, want: Result, label: str, provider: str = "cpu") -> Comparison:
    """One output against the reference."""
    wrong = disagreements(got, want, port.desc.data_type, half_accumulation=provider == "dml")
    with np.errstate(all="ignore"):
        distance = np.abs(got.astype(np.float64) - want.values.astype(np.float64))
    if want.unspecified is not None:
        distance = distance[~want.unspecified]
    distance = distance[np.isfinite(distance)]
    where: Sequence[Array] = np.nonzero(wrong)
    return Comparison(
        port.name,
        label,
        got.size,
        int(wrong.sum()),
        0 if want.unspecified is None else int(want.unspecified.sum()),
        float(distance.max()) if distance.size else 0.0,
        tuple(int(axis[0]) for axis in where) if wrong.any() else (),
    )


def random_array(port: Port, random: np.random.Generator, *, extremes: bool = False) -> Array:
    """Memory contents for an input: small numbers, every fourth replaced by an extreme one when asked for."""
    dtype = port.dtype
    if dtype.kind == "f":
        values = random.normal(0, 1, port.shape).astype(dtype)
        limits = np.finfo(str(dtype))
        special = np.array(
            [np.nan, np.inf, -np.inf, -0.0, 0.0, limits.smallest_subnormal, limits.tiny, -1.0, 1.0], dtype
        )
    else:
        info = np.iinfo(str(dtype))
        low, high = int(info.min), int(info.max)
        values = random.integers(max(low, -100), min(high, 100), port.shape, endpoint=True).astype(dtype)
        special = np.array([low, high, low + 1, high - 1, 0, 1], dtype)
    if not extremes:
        return np.asarray(values)
    chosen = random.random(port.shape) < 0.25
    return np.asarray(np.where(chosen, special[random.integers(0, len(special), port.shape)], values))
