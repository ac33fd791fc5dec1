"""A super-resolution network: nine channels become three by three pixels, through a view and no operator of their own.

python super_resolution.py ARRAYS.npz RESULTS.npz
"""

import sys

import numpy as np
import pydirectml as dml

SIDE, FACTOR = 20, 3

arrays = np.load(sys.argv[1])
bindings = []

device = dml.Device()
graph = dml.GraphBuilder(device)

FLOAT32 = dml.TensorDataType.FLOAT32


def tensor(name, flags=dml.TensorFlags.OWNED_BY_DML):
    made = dml.input_tensor(graph, len(bindings), dml.TensorDesc(FLOAT32, flags, arrays[name].shape))
    bindings.append(dml.Binding(made, arrays[name]))
    return made


def convolution(x, name, activation=None):
    filter, bias = tensor(name + ".weight"), tensor(name + ".bias")
    edge = np.array(filter.get_output_desc().sizes[2:]) // 2
    x = dml.convolution(x, filter, bias, start_padding=edge, end_padding=edge)
    return activation(x) if activation else x


low = tensor("picture", dml.TensorFlags.NONE)
x = convolution(low, "conv1", dml.activation_relu)
x = convolution(x, "conv2", dml.activation_tanh)
x = convolution(x, "conv3", dml.activation_sigmoid)
x = convolution(x, "conv4")

# channel (i, j), row, column -> row, i, column, j
plane = SIDE * SIDE
x = dml.reinterpret(
    x, FLOAT32, [1, SIDE, FACTOR, SIDE, FACTOR], [FACTOR * FACTOR * plane, SIDE, FACTOR * plane, 1, plane]
)
x = dml.activation_identity(x)
details = dml.reinterpret(x, FLOAT32, [1, 1, SIDE * FACTOR, SIDE * FACTOR], None)

smooth = dml.up_sample_2d(low, dml.Size2D(FACTOR, FACTOR), dml.InterpolationMode.LINEAR)
high = smooth + details * 0.25

model = graph.build(dml.ExecutionFlags.NONE, [high, details])
outputs = device.compute(model, bindings, [high, details])
high, details = (np.array(output, np.float32) for output in outputs)

np.savez(sys.argv[2], picture=high, details=details)
print(f"{SIDE} x {SIDE} -> {high.shape[2]} x {high.shape[3]}")
