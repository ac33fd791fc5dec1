"""What kernels of a provider do otherwise than ONNX says, or so slowly that other nodes take their place.

A lowering asks its target for the fact that it cares about, and never for the target's name. Which targets have which
stands in ``schemas/targets/``, beside the tables of kernels. Those among :data:`EDGES` count only for exact models.
"""

from __future__ import annotations

from enum import Enum


class Quirk(Enum):
    """A fact about kernels of ONNX Runtime 1.24 to 1.31, or of another runtime; its value says what it is."""

    # --- numbers -----------------------------------------------------------------------------------------------------

    RECURRENT_GATES_LOSE_DIGITS = (
        "In RNN, GRU and LSTM Softplus is infinite from 89 on, and Sigmoid, Tanh and ScaledTanh have absolute errors."
    )
    BATCH_NORMALIZATION_FOLDS_THE_MEAN = (
        "BatchNormalization multiplies x by a factor and adds a term, which loses digits where the mean is large."
    )
    LRN_SUBTRACTS_WHAT_IT_ADDED = (
        "LRN subtracts again what leaves its window, be it infinite, and takes several times as long as sums of slices."
    )
    BYTES_SATURATE = (
        "Add, Sub and Mul of 8-bit integers stop at the limits of the type instead of going round (OpenVINO)."
    )
    RESIZE_TAKES_PLANES = (
        "Resize takes two to four dimensions and moves the last two alone: another axis is refused, or not looked at "
        "(OpenVINO, WebGPU)."
    )
    RESIZE_MERGES_FACTORS = (
        "Resize and a Mul behind it by a factor for each row become one, and are refused (OpenVINO)."
    )

    BYTES_CONVERTED_SATURATE = (
        "Cast of a negative INT8 to UINT8 stops at a limit of the type instead of going round, on some drivers "
        "(DirectML)."
    )
    SCALES_OF_ROWS_ARE_FUSED = (
        "MatMulInteger, Cast, and Mul by a product of two scales become one operator of DirectML, which refuses scales "
        "of rows beside one zero point when the model is loaded (DirectML)."
    )
    QUANTIZES_ALONG_THE_LAST_AXIS = (
        "QuantizeLinear and DequantizeLinear of opset 21 take a vector of scales along the last axis, whatever axis "
        "says: it is refused when the model is loaded, or multiplies other numbers where its length fits (DirectML)."
    )
    GATHER_ND_GIVES_NO_SCALAR = (
        "GatherND of a single number, whose result has no dimensions, is refused when the model is loaded (DirectML)."
    )
    DIMENSIONS_END_AT_8 = (
        "A node with a tensor of more than eight dimensions is refused when the model is loaded (DirectML)."
    )
    QUANTIZES_FOUR_DIMENSIONS = (
        "QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear of more than four dimensions are refused when the "
        "model is loaded (DirectML)."
    )
    PAIRS_OF_BYTES_SATURATE = (
        "Products of UINT8 with INT8 are added in pairs of 16 bits, where they saturate, on processors without VNNI; "
        "on the others they take less than half the time of products of UINT8 with UINT8."
    )

    # --- time --------------------------------------------------------------------------------------------------------

    GATHER_ELEMENT_BY_ELEMENT = (
        "Gather copies each element by itself, in some hundred nanoseconds; GatherElements is many times as fast."
    )
    QUANTIZES_LONG_RUNS = "QuantizeLinear and DequantizeLinear are slow along an axis that few elements lie behind."

    # Enum's own __hash__ goes through Python; members are singletons, so identity serves and is fast.
    __hash__ = object.__hash__


EDGES = frozenset(
    {
        Quirk.BATCH_NORMALIZATION_FOLDS_THE_MEAN,
        Quirk.LRN_SUBTRACTS_WHAT_IT_ADDED,
        Quirk.RECURRENT_GATES_LOSE_DIGITS,
    }
)
"""What shows only in what a default model leaves open: NaN, infinities, signs of zero, last digits."""
