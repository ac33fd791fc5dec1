"""Execution providers of ONNX Runtime: names, packages, installation, and choice.

``table`` needs neither numpy nor ONNX Runtime, which the command line imports late.
"""
