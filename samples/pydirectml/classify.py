"""Reads 360 handwritten digits with PyDirectML; the same network as samples/digits.

dml2onnx pydirectml --save classify.onnx classify.py     # on any system
python classify.py                                       # with Microsoft's pydirectml, on Windows
"""

from pathlib import Path

import numpy as np
import pydirectml as dml

DIGITS = Path(__file__).resolve().parent.parent / "digits"
FLOAT32 = dml.TensorDataType.FLOAT32
OWNED = dml.TensorFlags.OWNED_BY_DML
RELU = dml.FusedActivation(dml.OperatorType.ACTIVATION_RELU)

images = np.load(DIGITS / "images.npy")
labels = np.load(DIGITS / "labels.npy")
numbers = iter(np.fromfile(DIGITS / "weights.bin", np.float32))
count = len(images)

device = dml.Device()
graph = dml.GraphBuilder(device)
bindings = []


def tensor(data, desc):
    """A graph input and the data that it is bound to."""
    made = dml.input_tensor(graph, len(bindings), desc)
    bindings.append(dml.Binding(made, data))
    return made


def weight(*sizes):
    """The next numbers of the file: a constant of the network."""
    return tensor([next(numbers) for _ in range(np.prod(sizes))], dml.TensorDesc(FLOAT32, OWNED, sizes))


# the network: two convolutions, each pooled, then a matrix
x = tensor(images, dml.TensorDesc(FLOAT32, images.shape))
x = x / 16 - 0.5
for channels, previous in (16, 1), (32, 16):
    filter, bias = weight(channels, previous, 3, 3), weight(1, channels, 1, 1)
    x = dml.convolution(x, filter, bias, start_padding=[1, 1], end_padding=[1, 1], fused_activation=RELU)
    x = dml.max_pooling(x, [2, 2], strides=[2, 2]).values

x = dml.reinterpret(x, FLOAT32, [1, 1, count, 128], None)
matrix = weight(1, 1, 128, 10)
offset = dml.reinterpret(weight(1, 1, 1, 10), FLOAT32, [1, 1, count, 10], [0, 0, 0, 1])  # the same for every image
probabilities = dml.activation_soft_max(dml.gemm(x, matrix, offset))

model = graph.build(dml.ExecutionFlags.NONE, [probabilities])
[result] = device.compute(model, bindings, [probabilities])
answers = np.array(result).reshape(count, 10).argmax(axis=1)

for row in range(8):  # the first five, dark to bright
    print("   ".join("".join(2 * " .:*#"[int(pixel) // 4] for pixel in images[i, 0, row]) for i in range(5)))
print("   ".join(f"a {answers[i]}, and it is {labels[i]}".ljust(16) for i in range(5)))
print(f"{np.sum(answers == labels)} of {count} digits read right")
