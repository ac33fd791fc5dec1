"""DirectML's requirements for operator descriptors, as functions, and the inference of outputs from them.

``checks`` applies the rules; the builder and the native format use :mod:`~dml2onnx.rules.inference` for omitted sizes
and data types.
"""
