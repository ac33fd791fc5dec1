"""What DirectML demands of an operator descriptor, as functions of it, and what of outputs follows from the rest.

``checks`` applies them; the builder and the native format ask :mod:`~dml2onnx.rules.inference` for sizes and data types
that a caller has left out.
"""
