"""Execution providers of ONNX Runtime: their names, what brings them, what is installed, and which are meant.

Names are there without numpy and ONNX Runtime, for the command line: ``table`` has them.
"""
