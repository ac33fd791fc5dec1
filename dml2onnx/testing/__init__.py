"""Test cases: descriptors and graphs, drawn or from the documentation, and trials that compile, run and compare them.

Tests, the campaign (``scripts/campaign.py``) and the generators of pages and tables draw from here; no command does.
``random_graphs`` and ``random_programs`` are strategies of hypothesis (``pip install "dml2onnx[hypothesis]"``).
"""
