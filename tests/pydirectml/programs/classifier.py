"""An image classifier: a stem with local response normalisation, a fire module, a residual block, a softmax.

python classifier.py ARRAYS.npz RESULTS.npz
"""

import sys

import numpy as np
import pydirectml as dml

arrays = np.load(sys.argv[1])
bindings = []

device = dml.Device(True, False)
graph = dml.GraphBuilder(device)

FLOAT32 = dml.TensorDataType.FLOAT32
OWNED = dml.TensorFlags.OWNED_BY_DML
RELU = dml.FusedActivation(dml.OperatorType.ACTIVATION_RELU)


def tensor(name, sizes, flags=OWNED):
    made = dml.input_tensor(graph, len(bindings), dml.TensorDesc(FLOAT32, flags, sizes))
    bindings.append(dml.Binding(made, arrays[name]))
    return made


def convolution(x, name, outputs, inputs, window, **options):
    filter = tensor(name + ".weight", [outputs, inputs, window, window])
    bias = tensor(name + ".bias", [1, outputs, 1, 1])
    edge = [window // 2] * 2
    return dml.convolution(x, filter, bias, start_padding=edge, end_padding=edge, **options)


def normalized(x, name, channels, activation=None):
    parts = [tensor(f"{name}.{part}", [1, channels, 1, 1]) for part in ("mean", "variance", "scale", "bias")]
    if activation is None:
        return dml.batch_normalization(x, *parts, 1, 1e-5)
    return dml.batch_normalization(x, *parts, spatial=1, epsilon=1e-5, fused_activation=activation)


image = tensor("image", [1, 3, 32, 32], dml.TensorFlags.NONE)

x = dml.value_scale_2d(image, 1 / 64, [-1.9, -1.8, -1.6])
x = convolution(x, "stem", 16, 3, 3, strides=[2, 2], fused_activation=RELU)
x = dml.local_response_normalization(x, True, 5, 0.2, 0.75, 1.0)
x = dml.max_pooling(x, [3, 3], strides=[2, 2], start_padding=[0, 0], end_padding=[1, 1]).values

squeezed = convolution(x, "squeeze", 8, 16, 1, fused_activation=RELU)
narrow = convolution(squeezed, "expand1", 16, 8, 1, fused_activation=RELU)
wide = convolution(squeezed, "expand3", 16, 8, 3, fused_activation=RELU)
x = dml.join([narrow, wide], 1)

y = normalized(convolution(x, "first", 32, 32, 3, group_count=1), "first_norm", 32, RELU)
y = normalized(convolution(y, "second", 32, 32, 3), "second_norm", 32)
x = dml.add(x, y, RELU)

x = dml.average_pooling(x, [1, 1], [8, 8], [0, 0], [0, 0], False)
x = dml.reinterpret(x, FLOAT32, [1, 1, 1, 32], None)
weight = tensor("classify.weight", [1, 1, 10, 32])
bias = tensor("classify.bias", [1, 1, 1, 10])
x = dml.gemm(x, weight, bias, dml.MatrixTransform.NONE, dml.MatrixTransform.TRANSPOSE, 1.0, 1.0)
probabilities = dml.activation_soft_max(x)

model = graph.build(dml.ExecutionFlags.NONE, [probabilities])
output = device.compute(model, bindings, [probabilities])
result = np.array(output[0], np.float32)

np.savez(sys.argv[2], probabilities=result.reshape(-1))
print("class", int(result.argmax()))
