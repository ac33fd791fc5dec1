"""The emitter: one method per ONNX operator, each of which creates a node or folds constants.

Every tensor has a static shape and type. Operations on constants are evaluated at once with numpy, identities are
never emitted, equal constants are shared, and a node whose provider has no kernel for its element type is run in the
nearest type that loses nothing, between casts.
"""

from dml2onnx.lowering.emitter.arithmetic import ArithmeticOps
from dml2onnx.lowering.emitter.control import ControlOps
from dml2onnx.lowering.emitter.core import NoKernelError, Tensor
from dml2onnx.lowering.emitter.neural import NeuralOps
from dml2onnx.lowering.emitter.recurrent import RecurrentOps


class Emitter(ArithmeticOps, NeuralOps, RecurrentOps, ControlOps):
    """Builds one ONNX graph."""


__all__ = ["Emitter", "NoKernelError", "Tensor"]
