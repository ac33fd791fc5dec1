"""What kernels of a provider do otherwise than ONNX says, or so slowly that other nodes take their place.

A lowering asks its target for the fact that it cares about, and never for the target's name. Which targets have which
stands in ``schemas/targets/``, beside the tables of kernels. Those among :data:`EDGES` count only for exact models.
"""

from __future__ import annotations

from enum import Enum


class Quirk(Enum):
    """A fact about kernels of ONNX Runtime 1.24 to 1.31, or of another runtime; its value says what it is."""

    # --- numbers -----------------------------------------------------------------------------------------------------

    FLOAT16_COMPUTED_IN_FLOAT = (
        "FLOAT16 is computed in FLOAT between casts, which optimisations drop: they decide after which nodes of a "
        "chain it is rounded."
    )
    WHERE_LOSES_MINUS_ZERO = (
        "Where takes y wherever the x that it has chosen equals 0, and has made y 0 there before: -0.0 becomes 0.0. "
        "https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/tensor/where_op.cc"
    )
    ERF_LOSES_NAN = "Erf of NaN is a number (ONNX Runtime 1.24)."
    SIGMOID_HAS_ABSOLUTE_ERROR = "Sigmoid is up to 1e-7 off, however small the result."
    RECURRENT_GATES_LOSE_DIGITS = (
        "In RNN, GRU and LSTM Softplus is infinite from 89 on, and Sigmoid, Tanh and ScaledTanh have absolute errors."
    )
    INTEGERS_REDUCED_IN_DOUBLE = (
        "ReduceSum and ReduceProd add and multiply integers in DOUBLE, and saturate (1.31; those of 1.24 wrap)."
    )
    TOP_K_LOSES_ITS_WAY_AT_NAN = "TopK compares as C++ does, by which no order has a place for NaN."
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
        "(OpenVINO, WebGPU), or left to the CPU (QNN)."
    )
    CONVOLVES_PLANES = (
        "ConvTranspose, and Conv in groups, take two spatial dimensions at most; others are refused when the model "
        "runs (WebGPU)."
    )
    POW_BROADCASTS_ROWS_ONLY = "Pow of a column and a row of four, or of a multiple of four, is not compiled (WebGPU)."
    POW_BY_LOGARITHM = "Pow takes the logarithm of 0 for -127, of infinity and NaN for 128, as roots show (WebGPU)."
    MAX_POOL_GIVES_NO_INDICES = (
        "MaxPool has one output; a model that asks for indices is refused when it runs (WebGPU)."
    )
    CLIP_SPELLS_OUT_INFINITY = (
        "Clip with an infinite bound becomes part of a Conv in front of it and is not compiled (WebGPU)."
    )
    RESIZE_MERGES_FACTORS = (
        "Resize and a Mul behind it by a factor for each row become one, and are refused (OpenVINO)."
    )
    UINT32_COMPARED_AS_INT32 = "What looks for extremes of UINT32 takes it for INT32: 2**31 is the lowest (OpenVINO)."
    INTEGERS_REDUCED_IN_FLOAT = "ReduceMax and ReduceMin of integers of 32 bits go through FLOAT (OpenVINO)."
    CONV_GIVES_STRIDES_AWAY = (
        "The strides of a Conv whose filters have one element are moved to what is in front of it, and get lost there "
        "(OpenVINO)."
    )
    CONV_FORGETS_WIDE_PADDING = (
        "Windows of a Conv that lie wholly in padding give what happens to be in memory where they are several, on "
        "processors without AVX-512 (OpenVINO)."
    )

    BYTES_CONVERTED_SATURATE = (
        "Cast of a negative INT8 to UINT8 stops at a limit of the type instead of going round, on some drivers "
        "(DirectML)."
    )
    SCALES_OF_ROWS_ARE_FUSED = (
        "MatMulInteger, Cast, and Mul by a product of two scales become one operator of DirectML, which refuses scales "
        "of rows beside one zero point when the model is loaded (DirectML)."
    )
    GEMM_WANTS_C = (
        "Gemm without C is refused when the model is loaded, where an activation stands behind it: the two become one "
        "operator, which wants three inputs (DirectML)."
    )
    QUANTIZES_ALONG_THE_LAST_AXIS = (
        "QuantizeLinear and DequantizeLinear of opset 21 take a vector of scales along the last axis, whatever axis "
        "says: it is refused when the model is loaded, or multiplies other numbers where its length fits (DirectML)."
    )
    LINES_HAVE_NO_OUTPUT_PADDING = (
        "ConvTranspose of one spatial dimension is refused with output_padding when the model is loaded (DirectML)."
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

    INDICES_COUNT_FROM_THE_START = (
        "Indices below 0 that are known only at run time give 0 in GatherElements, and in Gather of integers; they "
        "write nothing in ScatterElements and ScatterND (QNN)."
    )
    EDGES_PADDED_WITH_ZEROS = "Pad of mode edge puts next to 0 where the outermost elements belong (QNN)."
    BYTES_CONVERTED_TO_ONE = "Cast of UINT8 to FLOAT gives 1 for every number but 0 (QNN)."
    NEGATIVE_NUMBERS_ARE_FALSE = (
        "Cast of integers to BOOL gives false below 0, and for UINT32 from 2**31 on; of UINT8 it leaves bytes as they "
        "are, which other providers do not take for true (QNN)."
    )
    INTEGERS_CONVERTED_TO_BYTES_SATURATE = "Cast of integers to UINT8 stops at 0 and 255 instead of going round (QNN)."
    QUANTIZES_DOWN = "QuantizeLinear rounds down where it runs beside other nodes (QNN)."
    FLOAT_HAS_THE_BITS_OF_FLOAT16 = "FLOAT is computed in FLOAT16, which has fewer bits and a narrower range (QNN)."
    EXTREMES_END_AT_5 = (
        "Max and Min of integers in more than five dimensions are refused when the model is loaded; other nodes of "
        "such tensors run on the CPU (QNN)."
    )
    SOFTPLUS_IS_COARSE = "Softplus is off by up to a hundredth (QNN)."
    RESIZE_ROUNDS_ITS_OWN_WAY = (
        "Resize of mode nearest rounds asymmetric coordinates down and all others to the nearest, whatever "
        "nearest_mode says (QNN)."
    )

    # --- time --------------------------------------------------------------------------------------------------------

    FUNCTIONS_NUMBER_BY_NUMBER = (
        "Acosh, Asinh, Atanh, Cosh, Sinh, Softplus, Tan and PRelu take each number by itself, at 4 to 20 times the "
        "cost of vector code."
    )
    GATHER_ELEMENT_BY_ELEMENT = (
        "Gather copies each element by itself, in some hundred nanoseconds; GatherElements is many times as fast."
    )
    MAX_POOL_IS_FAST_IN_FLOAT = "MaxPool is fast in FLOAT only."
    LP_POOL_ELEMENT_BY_ELEMENT = "LpPool takes a power of each element of each window by itself."
    DEPTH_TO_SPACE_SLOWER_THAN_TRANSPOSE = "DepthToSpace takes longer than two Transposes, but for 64 bits."
    REDUCES_ROWS_ONLY = (
        "Reductions are slow over all axes but the last ones; ReduceL1, ReduceL2, ReduceSumSquare, ReduceLogSum and "
        "ReduceLogSumExp are slow over all."
    )
    QUANTIZES_LONG_RUNS = "QuantizeLinear and DequantizeLinear are slow along an axis that few elements lie behind."

    # Enum's own __hash__ goes through Python; members are singletons, so identity serves and is fast.
    __hash__ = object.__hash__


EDGES = frozenset(
    {
        Quirk.BATCH_NORMALIZATION_FOLDS_THE_MEAN,
        Quirk.ERF_LOSES_NAN,
        Quirk.LRN_SUBTRACTS_WHAT_IT_ADDED,
        Quirk.RECURRENT_GATES_LOSE_DIGITS,
        Quirk.SIGMOID_HAS_ABSOLUTE_ERROR,
        Quirk.TOP_K_LOSES_ITS_WAY_AT_NAN,
        Quirk.WHERE_LOSES_MINUS_ZERO,
    }
)
"""What shows only in what a default model leaves open: NaN, infinities, signs of zero, last digits."""

LOSES_NUMBERS = frozenset({Quirk.FLOAT_HAS_THE_BITS_OF_FLOAT16})
"""What no form makes good. A lowering that meets it notes its text, and compiling names the node."""
