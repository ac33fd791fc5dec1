"""A style-transfer network: reflected borders, instance normalisation, residual blocks, transposed convolutions.

python style_transfer.py ARRAYS.npz RESULTS.npz
"""

import sys

import numpy as np
import pydirectml as dml

arrays = np.load(sys.argv[1])
bindings = []

device = dml.Device()
graph = dml.GraphBuilder(device)

FLOAT32 = dml.TensorDataType.FLOAT32
NOTHING = dml.FusedActivation(dml.OperatorType.INVALID)
RELU = dml.FusedActivation(dml.OperatorType.ACTIVATION_RELU)
TANH = dml.FusedActivation(dml.OperatorType.ACTIVATION_TANH)


def tensor(name, sizes, flags=dml.TensorFlags.OWNED_BY_DML):
    made = dml.input_tensor(graph, len(bindings), dml.TensorDesc(FLOAT32, flags, sizes))
    bindings.append(dml.Binding(made, arrays[name]))
    return made


def instance_norm(x, name, activation):
    channels = x.get_output_desc().sizes[1]
    scale = tensor(name + ".scale", [1, channels, 1, 1])
    bias = tensor(name + ".bias", [1, channels, 1, 1])
    return dml.mean_variance_normalization(x, scale, bias, [0, 2, 3], 1, 1e-5, activation)


def convolution(x, name, sizes, activation, **options):
    x = dml.convolution(x, tensor(name + ".weight", sizes), **options)
    return instance_norm(x, name, activation)


def residual(x, name):
    y = convolution(x, name + ".a", [16, 16, 3, 3], RELU)
    y = convolution(y, name + ".b", [16, 16, 3, 3], NOTHING)
    batch, channels, height, width = y.get_output_desc().sizes
    x = dml.slice(x, [0, 0, 2, 2], [batch, channels, height, width], [1, 1, 1, 1])
    return x + y


def enlarged(x, name, sizes, output):
    # one row and one column more than the windows reach
    x = convolution(
        x,
        name,
        sizes,
        RELU,
        direction=dml.ConvolutionDirection.BACKWARD,
        strides=[2, 2],
        output_sizes=[1, sizes[1], output, output],
    )
    return dml.slice(x, [0, 0, 1, 1], [1, sizes[1], output - 2, output - 2], [1, 1, 1, 1])


picture = tensor("picture", [1, 3, 24, 24], dml.TensorFlags.NONE)

x = dml.padding(picture, dml.PaddingMode.REFLECTION, 0, [0, 0, 8, 8], [0, 0, 8, 8])
x = convolution(x, "enter", [8, 3, 9, 9], RELU, start_padding=[4, 4], end_padding=[4, 4])
x = convolution(x, "down", [16, 8, 3, 3], RELU, strides=[2, 2], start_padding=[1, 1], end_padding=[1, 1])
x = residual(x, "block0")
x = residual(x, "block1")
x = enlarged(x, "up", [16, 8, 3, 3], 26)
x = convolution(x, "leave", [3, 8, 9, 9], TANH, start_padding=[4, 4], end_padding=[4, 4])
x = dml.activation_linear(x, 0.5, 0)
x += 0.5

model = graph.build(dml.ExecutionFlags.NONE, [x])
result = np.array(device.compute(model, bindings, [x])[0], np.float32)

np.savez(sys.argv[2], picture=result)
print("picture of", result.shape, "brightness", round(float(result.mean()), 3))
