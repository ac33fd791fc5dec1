"""Test cases: random and documented descriptors and graphs, and trials that compile, run and compare them.

For tests, the campaign (``scripts/campaign.py``) and the generators of pages and tables; no command uses them.
``random_graphs`` and ``random_programs`` are strategies of hypothesis (``pip install "dml2onnx[hypothesis]"``).
"""
