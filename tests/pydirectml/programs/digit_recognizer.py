"""A digit recogniser: biases repeated by strides, a weight reinterpreted as a matrix.

python digit_recognizer.py ARRAYS.npz RESULTS.npz
"""

import sys

import numpy as np
import pydirectml as dml

arrays = np.load(sys.argv[1])

device = dml.Device(use_gpu=True)
graph = dml.GraphBuilder(device)

F = dml.TensorDataType.FLOAT32
OWNED = dml.TensorFlags.OWNED_BY_DML

image = dml.input_tensor(graph, 0, dml.TensorDesc(F, [1, 1, 28, 28]))
filter1 = dml.input_tensor(graph, 1, dml.TensorDesc(F, OWNED, [8, 1, 5, 5]))
bias1 = dml.input_tensor(graph, 2, dml.TensorDesc(F, [1, 8, 28, 28], [8, 1, 0, 0]))
filter2 = dml.input_tensor(graph, 3, dml.TensorDesc(F, OWNED, [16, 8, 5, 5]))
bias2 = dml.input_tensor(graph, 4, dml.TensorDesc(F, [1, 16, 14, 14], [16, 1, 0, 0]))
weight = dml.input_tensor(graph, 5, dml.TensorDesc(F, OWNED, [16, 4, 4, 10]))
bias3 = dml.input_tensor(graph, 6, dml.TensorDesc(F, OWNED, [1, 1, 1, 10], [10, 10, 10, 1], 40, 0))

x = dml.convolution(image, filter1, start_padding=[2, 2], end_padding=[2, 2])
x = dml.activation_relu(dml.add(x, bias1))
x = dml.max_pooling(x, [2, 2], [2, 2]).values

x = dml.convolution(x, filter2, start_padding=[2, 2], end_padding=[2, 2])
x = dml.activation_relu(dml.add(x, bias2))
x = dml.max_pooling(x, [3, 3], [3, 3]).values

x = dml.reinterpret(x, F, [1, 1, 1, 256], [256, 256, 256, 1])
matrix = dml.reinterpret(dml.activation_identity(weight), F, [1, 1, 256, 10], [2560, 2560, 10, 1])
scores = dml.add(dml.gemm(x, matrix), bias3)

inputs = [image, filter1, bias1, filter2, bias2, weight, bias3]
names = ["image", "filter1", "bias1", "filter2", "bias2", "weight", "bias3"]
bindings = [dml.Binding(inputs[i], arrays[names[i]]) for i in range(len(inputs))]

model = graph.build(dml.ExecutionFlags.NONE, [scores])
result = np.array(device.compute(model, bindings, [scores])[0], np.float32)

np.savez(sys.argv[2], scores=result.reshape(-1))
print("digit", int(result.argmax()))
