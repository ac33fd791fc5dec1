"""The emitter: one method per ONNX operator, each of which creates a node or folds constants.

Every tensor has a static shape and type. Operations on constants are folded with numpy, operations that change
nothing are left out (a Reshape to the same shape, a Transpose of no axis), equal constants are shared, and a node whose
provider has no kernel for its element type runs in the nearest type that loses nothing, between casts.
"""

from dml2onnx.emitter.control import ControlOps
from dml2onnx.emitter.core import NoKernelError
from dml2onnx.emitter.neural import NeuralOps
from dml2onnx.emitter.recurrent import RecurrentOps
from dml2onnx.emitter.tensor import Tensor


class Emitter(NeuralOps, RecurrentOps, ControlOps):
    """Builds one ONNX graph."""


__all__ = ["Emitter", "NoKernelError", "Tensor"]
