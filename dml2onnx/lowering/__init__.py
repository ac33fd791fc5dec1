"""From DirectML operators to ONNX nodes."""
