"""The emitter: one method per ONNX operator, which creates a node or folds constants.

Every tensor has a type and a static shape, apart from a few sizes that are ``UNKNOWN`` before run time. Operations on
constants are folded with numpy, no-ops are skipped (a Reshape to the same shape, a Transpose of no axis), and equal
constants are shared. A node without a kernel for its element type runs in the nearest lossless type, between casts.
"""

from dml2onnx.emitter.control import ControlOps
from dml2onnx.emitter.core import NoKernelError
from dml2onnx.emitter.neural import NeuralOps
from dml2onnx.emitter.recurrent import RecurrentOps
from dml2onnx.emitter.tensor import Tensor


class Emitter(NeuralOps, RecurrentOps, ControlOps):
    """Builds one ONNX graph."""


__all__ = ["Emitter", "NoKernelError", "Tensor"]
