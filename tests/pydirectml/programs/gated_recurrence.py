"""A bidirectional GRU over sequences of different lengths, with a decision for each.

python gated_recurrence.py ARRAYS.npz RESULTS.npz
"""

import sys

import numpy as np
import pydirectml as dml

STEPS, BATCH, FEATURES, HIDDEN = 7, 3, 5, 6

arrays = np.load(sys.argv[1])
bindings = []

device = dml.Device()
graph = dml.GraphBuilder(device)

FLOAT32 = dml.TensorDataType.FLOAT32
UINT32 = dml.TensorDataType.UINT32


def tensor(data, desc):
    made = dml.input_tensor(graph, len(bindings), desc)
    bindings.append(dml.Binding(made, data))
    return made


signal = tensor(arrays["signal"], dml.TensorDesc(FLOAT32, [1, STEPS, BATCH, FEATURES]))
weight = tensor(arrays["weight"], dml.TensorDesc(FLOAT32, [1, 2, 3 * HIDDEN, FEATURES]))
recurrence = tensor(arrays["recurrence"], dml.TensorDesc(FLOAT32, [1, 2, 3 * HIDDEN, HIDDEN]))
bias = tensor(arrays["bias"], dml.TensorDesc(FLOAT32, [1, 1, 2, 6 * HIDDEN]))
start = tensor(arrays["start"], dml.TensorDesc(FLOAT32, [1, 2, BATCH, HIDDEN]))
# integers are bound as the float32 numbers that have their bits
lengths = tensor(arrays["lengths"].astype(np.uint32).view(np.float32), dml.TensorDesc(UINT32, [1, 1, 1, BATCH]))

sigmoid = dml.FusedActivation(dml.OperatorType.ACTIVATION_SIGMOID)
tanh = dml.FusedActivation(dml.OperatorType.ACTIVATION_TANH)
states = dml.gru(
    signal,
    weight,
    recurrence,
    bias,
    start,
    lengths,
    [sigmoid, tanh, sigmoid, tanh],
    dml.RecurrentNetworkDirection.BIDIRECTIONAL,
    1,
    dml.OutputOptions.Both,
)

# the last states of both directions side by side: two directions, batch, hidden -> batch, two directions, hidden
last = dml.reinterpret(states.single, FLOAT32, [1, BATCH, 2, HIDDEN], [0, HIDDEN, BATCH * HIDDEN, 1])
last = dml.reinterpret(dml.activation_identity(last), FLOAT32, [1, 1, BATCH, 2 * HIDDEN], None)
judge = tensor(arrays["judge"], dml.TensorDesc(FLOAT32, [1, 1, 2 * HIDDEN, 1]))
decision = 1 - dml.activation_sigmoid(dml.gemm(last, judge)) * 2

model = graph.build(dml.ExecutionFlags.NONE, [states.sequence, states.single, decision])
results = device.compute(model, bindings, [states.sequence, None, decision])
sequence, decision = (np.array(result, np.float32) for result in results)

np.savez(sys.argv[2], sequence=sequence, decision=decision.reshape(-1))
print("decisions", np.sign(decision.reshape(-1)).astype(int).tolist())
