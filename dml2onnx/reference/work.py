"""The work of an operator in the reference, beyond reading its inputs and writing its outputs.

The unit is one element in numpy, such as an element of a window, of a sum of products, or of padding. An iteration of a
Python loop counts as several.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import TensorDesc

TURN = 1 << 10
"""Cost of one iteration of a Python loop."""
STEP = 8 * TURN
"""Cost of one step of a recurrent operator, or of one region."""
PRODUCTS = 256
"""Products in a matrix product that cost as much as one element elsewhere."""


def hidden_work(op: OperatorDesc) -> int:
    """The number of elements visited, beyond those that are read and written."""
    function = _WORK.get(op.type)
    return 0 if function is None else function(op)


def _reaches(op: OperatorDesc, count: Sequence[int], window: Sequence[int]) -> list[int]:
    """The number of elements, including padding, that ``count`` windows span in each dimension."""
    dilations = op.uints("Dilations") if op.has("Dilations") else (1,) * len(window)
    steps = zip(count, window, op.uints("Strides"), dilations, strict=True)
    return [(n - 1) * stride + (k - 1) * dilation + 1 for n, k, stride, dilation in steps]


def _pooling(op: OperatorDesc) -> int:
    """One loop iteration per element of the window, each of which visits one element per output element."""
    after = op.tensor("InputGradientTensor" if op.has("InputGradientTensor") else "OutputTensor")
    window, planes, places = op.uints("WindowSize"), prod(after.sizes[:2]), after.sizes[2:]
    counts = sum(n * k for n, k in zip(places, window, strict=True))
    return prod(window) * (TURN + after.element_count) + planes * prod(_reaches(op, places, window)) + counts


def _convolution(op: OperatorDesc) -> int:
    """Forward, the filter multiplies windows as columns; backward, each element of the filter is a loop iteration."""
    x, w, y = (op.tensor(name) for name in ("InputTensor", "FilterTensor", "OutputTensor"))
    kernel = w.sizes[2:]
    if op.has("Direction") and op.enum("Direction") == "BACKWARD":
        sums = prod(kernel) * (TURN + x.sizes[0] * y.sizes[1] * prod(x.sizes[2:]))
        products = x.element_count * prod(w.sizes[1:])
        ends = zip(y.sizes[2:], op.uints("StartPadding"), strict=True)
        whole = x.sizes[0] * y.sizes[1] * prod(map(max, _reaches(op, x.sizes[2:], kernel), map(sum, ends)))
        return sums + products // PRODUCTS + whole
    columns = x.sizes[0] * x.sizes[1] * prod(kernel) * prod(y.sizes[2:])
    axes = zip(x.sizes[2:], op.uints("StartPadding"), strict=True)
    padded = x.sizes[0] * x.sizes[1] * prod(map(max, _reaches(op, y.sizes[2:], kernel), map(sum, axes)))
    return columns + padded + y.element_count * prod(w.sizes[1:]) // PRODUCTS


def _product(op: OperatorDesc) -> int:
    """Each output element is a sum over the common dimension of both matrices."""
    a, is_turned = op.tensor("ATensor"), op.has("TransA") and op.enum("TransA") == "TRANSPOSE"
    return op.tensor("OutputTensor").element_count * a.sizes[-2 if is_turned else -1] // PRODUCTS


def _recurrent(op: OperatorDesc) -> int:
    x, r = op.tensor("InputTensor"), op.tensor("RecurrenceTensor")
    directions, gates, hidden = r.sizes[-3], r.sizes[-2], r.sizes[-1]
    of_step = x.sizes[-2] * gates * (1 + (x.sizes[-1] + hidden) // PRODUCTS)
    return x.sizes[-3] * directions * (STEP + of_step)


_KEYS = frozenset(f"{when}{what}Tensor" for when in ("", "Past", "OutputPresent") for what in ("Key", "Value"))


def _attention(op: OperatorDesc) -> int:
    """Each head multiplies every query by every key."""
    heads = op.uint("HeadCount" if op.has("HeadCount") else "QueryHeadCount")
    *_, batch, queries, width = op.tensor("OutputTensor").sizes
    lengths = [queries]
    for item in op.schema.tensor_fields:
        desc = op.get(item.name)
        if not isinstance(desc, TensorDesc):
            continue
        if item.name in _KEYS:
            lengths.append(desc.sizes[-2])
        elif item.name.startswith("Stacked"):
            lengths.append(desc.sizes[-4])
    keys = sum(sorted(lengths)[-2:])  # the past keys and the new ones
    scores = batch * heads * queries * keys
    return scores + scores * width // heads // PRODUCTS + batch * TURN


def _regions(op: OperatorDesc) -> int:
    """A cost per region and per sample; only the minimum number of samples is known without the contents."""
    across = op.tensor("InputGradientTensor" if op.has("InputGradientTensor") else "OutputTensor")
    fewest = max(op.uint("MinimumSamplesPerOutput"), 1)
    samples = across.element_count * fewest**2 + sum(across.sizes[2:]) * fewest * across.sizes[0]
    return samples + across.sizes[0] * STEP


def _bins(op: OperatorDesc) -> int:
    """One loop iteration per bin."""
    sizes = op.tensor("OutputTensor").sizes
    return TURN * sizes[0] * prod(sizes[2:])


def _neighbours(op: OperatorDesc) -> int:
    """One loop iteration per index along an axis, and the elements of each window inside the tensor."""
    x = op.tensor("InputTensor")
    sizes = x.sizes[1:2] if op.flag("CrossChannel") else x.sizes[2:]
    return sum(n * TURN + x.element_count * min(op.uint("LocalSize"), n) for n in sizes)


def _folding(op: OperatorDesc) -> int:
    """The image with its padding."""
    image = op.tensor("OutputTensor" if op.type == "FOLD" else "InputTensor").sizes
    pads = list(zip(op.uints("StartPadding"), op.uints("EndPadding"), strict=True))
    rest = len(image) - len(pads)
    return prod(image[:rest]) * prod(n + a + b for n, (a, b) in zip(image[rest:], pads, strict=True))


def _one_by_one(op: OperatorDesc) -> int:
    return op.tensor("InputTensor").element_count * TURN // 16


_GROUPS: tuple[tuple[Callable[[OperatorDesc], int], tuple[str, ...]], ...] = (
    (_pooling, ("MAX_POOLING", "MAX_POOLING1", "MAX_POOLING2", "AVERAGE_POOLING", "AVERAGE_POOLING1")),
    (_pooling, ("LP_POOLING", "LP_POOLING1", "QUANTIZED_LINEAR_AVERAGE_POOLING")),
    (_pooling, ("MAX_POOLING_GRAD", "AVERAGE_POOLING_GRAD")),
    (_convolution, ("CONVOLUTION", "CONVOLUTION_INTEGER", "QUANTIZED_LINEAR_CONVOLUTION")),
    (_product, ("GEMM", "MATRIX_MULTIPLY_INTEGER", "MATRIX_MULTIPLY_INTEGER_TO_FLOAT")),
    (_product, ("QUANTIZED_LINEAR_MATRIX_MULTIPLY",)),
    (_recurrent, ("RNN", "GRU", "LSTM")),
    (_attention, ("MULTIHEAD_ATTENTION", "MULTIHEAD_ATTENTION1")),
    (_regions, ("ROI_ALIGN", "ROI_ALIGN1", "ROI_ALIGN_GRAD")),
    (_bins, ("ROI_POOLING",)),
    (_neighbours, ("LOCAL_RESPONSE_NORMALIZATION", "LOCAL_RESPONSE_NORMALIZATION_GRAD")),
    (_folding, ("FOLD", "UNFOLD")),
    (_one_by_one, ("MAX_UNPOOLING",)),
)
_WORK = {name: function for function, names in _GROUPS for name in names}
