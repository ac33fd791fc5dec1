"""Execution providers of ONNX Runtime: names, packages, installation, and choice.

Names are there without numpy and ONNX Runtime, for the command line: ``table`` has them.
"""
