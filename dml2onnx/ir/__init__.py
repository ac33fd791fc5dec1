"""The typed graph: tensor descriptors, operators, values and nodes. Knows DirectML and nothing of ONNX."""
