"""RNN, GRU and LSTM: the ONNX operators of the same names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.recurrent import GateActivation, RecurrentDirection
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.lowering.activation import apply_activation
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.registry import lowers

_GATE_ACTIVATIONS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "ACTIVATION_ELU": ("Elu", ("Alpha",)),
    "ACTIVATION_HARD_SIGMOID": ("HardSigmoid", ("Alpha", "Beta")),
    "ACTIVATION_LEAKY_RELU": ("LeakyRelu", ("Alpha",)),
    "ACTIVATION_LINEAR": ("Affine", ("Alpha", "Beta")),
    "ACTIVATION_RELU": ("Relu", ()),
    "ACTIVATION_SCALED_TANH": ("ScaledTanh", ("Alpha", "Beta")),
    "ACTIVATION_SIGMOID": ("Sigmoid", ()),
    "ACTIVATION_SOFTPLUS": ("Softplus", ()),
    "ACTIVATION_SOFTSIGN": ("Softsign", ()),
    "ACTIVATION_TANH": ("Tanh", ()),
    "ACTIVATION_THRESHOLDED_RELU": ("ThresholdedRelu", ("Alpha",)),
}
"""The names of activations in ONNX's recurrent operators, and the fields for activation_alpha and activation_beta."""

_STATES = ("HiddenInitTensor", "CellMemInitTensor")
_OUTPUTS = ("OutputSequenceTensor", "OutputSingleTensor", "OutputCellSingleTensor")
_DIRECTIONS: Mapping[str, RecurrentDirection] = {
    "FORWARD": "forward",
    "BACKWARD": "reverse",
    "BIDIRECTIONAL": "bidirectional",
}


@lowers("RNN")
def rnn(node: Operands, e: Emitter) -> Mapping[str, Tensor]:
    """``H_t = f(X_t * W^T + H_(t-1) * R^T + W_b + R_b)``: RNN."""
    return _computed(node, e, _STATES[:1])


@lowers("GRU")
def gru(node: Operands, e: Emitter) -> Mapping[str, Tensor]:
    """``H_t = (1 - z) . h + z . H_(t-1)``: GRU, with gates, biases and states in ONNX's order [decisions L1, L2]."""
    attributes = {"linear_before_reset": 1} if node.op.flag("LinearBeforeReset") else {}
    return _computed(node, e, _STATES[:1], **attributes)


@lowers("LSTM")
def lstm(node: Operands, e: Emitter) -> Mapping[str, Tensor]:
    """``C_t = f . C_(t-1) + i . c``, ``H_t = o . h(C_t)``: LSTM."""
    attributes: dict[str, float] = {"input_forget": 1} if node.op.flag("CoupleInputForget") else {}
    if node.op.flag("UseClipThreshold"):
        attributes["clip"] = float(node.op.float("ClipThreshold"))
    return _computed(node, e, _STATES, **attributes)


def _computed(node: Operands, e: Emitter, states: Sequence[str], **attributes: float) -> Mapping[str, Tensor]:
    """Emits the operator and returns its outputs by field; ONNX's tensors lack DirectML's leading axis."""
    op = node.op

    def shaped(field: str, leading: int) -> Tensor | None:
        x = node.optional(field)
        return None if x is None else node.widened(e.Reshape(x, x.shape[leading:]))

    x, w, r = (shaped(name, 1) for name in ("InputTensor", "WeightTensor", "RecurrenceTensor"))
    b, peephole = shaped("BiasTensor", 2), shaped("PeepholeTensor", 2)
    inputs = [x, w, r, b, _lengths(node, e), *(shaped(name, 1) for name in states), peephole]
    outputs = _OUTPUTS[: 1 + len(states)]
    results = e.recurrent(
        op.type,
        inputs,
        activations=[_gate_activation(item) for item in op.activations()],
        direction=_DIRECTIONS[op.enum("Direction")],
        wanted=[node.has_output(name) for name in outputs],
        **attributes,
    )
    return {name: y for name, y in zip(outputs, results, strict=True) if y is not None}


def _lengths(node: Operands, e: Emitter) -> Tensor | None:
    """Returns the length of each sequence, or ``None`` if all are known to have all steps."""
    lengths, steps = node.optional("SequenceLengthsTensor"), node.op.tensor("InputTensor").sizes[1]
    if lengths is None or (lengths.value is not None and (lengths.value == steps).all()):
        return None
    return e.Reshape(lengths, (lengths.size,))


def _gate_activation(activation: OperatorDesc) -> GateActivation:
    """Describes an activation for the emitter, with its ONNX name or ``""``."""
    name, fields = _GATE_ACTIVATIONS.get(activation.type, ("", ()))
    parameters = [activation.float(field) for field in fields]
    if activation.type == "ACTIVATION_IDENTITY":
        name, parameters = "Affine", [1.0, 0.0]
    if activation.has("Steepness") and activation.float("Steepness") != 1:
        name = ""
    alpha, beta, *_ = (*parameters, None, None)
    is_along_axes = not activation.schema.is_element_wise

    def compute(e: Emitter, x: Tensor) -> Tensor:
        return apply_activation(e, activation, x)

    return GateActivation(name, alpha, beta, activation.type, compute, sees_slices=is_along_axes)
