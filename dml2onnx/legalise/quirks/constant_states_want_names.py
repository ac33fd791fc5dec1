"""RNN, GRU and LSTM of constants fail when loaded where an output in front of another has no name (ONNX Runtime 1.24).

What is constant is computed then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.emitter.recurrent import GateActivation, RecurrentDirection

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1] z) => (float[1,1,1] y) <float[1,1,1] x = {1}, float[1,1,1] w = {1}, float[1,1,1] r = {0}> { "
        '"", h = RNN <hidden_size = 1, activations = ["Relu"]> (x, w, r) y = Add (h, z) }',
        ((1,),),
        ((2,),),
        says="GetMLValue",
        versions=((1, 24), (1, 25)),
    ),
)


def _named(operator: str) -> Callable[..., list[Tensor | None] | None]:
    def rule(
        e: Emitter,
        inputs: Sequence[Tensor | None],
        *,
        activations: Sequence[GateActivation],
        direction: RecurrentDirection,
        wanted: Sequence[bool],
        **attributes: Any,
    ) -> list[Tensor | None] | None:
        """All outputs up to the last that is wanted."""
        if any(item is not None and item.value is None for item in inputs):
            return None
        last = max(index for index, keep in enumerate(wanted) if keep)
        named = [index <= last for index in range(len(wanted))]
        how: dict[str, Any] = {**attributes, "activations": activations, "direction": direction, "wanted": named}
        results: list[Tensor | None] = getattr(e, operator)(inputs, **how)
        return [item if keep else None for item, keep in zip(results, wanted, strict=True)]

    return rule


for _operator in ("RNN", "GRU", "LSTM"):
    QUIRK.rule(_operator)(_named(_operator))
