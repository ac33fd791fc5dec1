"""What lies in memory while a graph is lowered: who wrote it, how a view sees it, which nodes see alike.

It knows no operator. Lowerings see tensors, and a view that is not what was written becomes ONNX nodes here.
"""
