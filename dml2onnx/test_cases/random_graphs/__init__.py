"""Random graphs of all operators in any layout, as strategies of hypothesis (``pip install dml2onnx[hypothesis]``).

    @hypothesis.given(samples())
    def test(sample: Sample) -> None:
        dml2onnx.compile(sample.graph)

Some graphs have errors, which :func:`dml2onnx.check` finds. ``reduction.smallest`` draws from a seed, without a test.
"""

from __future__ import annotations

from hypothesis import strategies as st

from dml2onnx.test_cases.random_graphs import arithmetic, attention, fixed, movement, networks, regions
from dml2onnx.test_cases.random_graphs.draft import GraphDraft, Sample

__all__ = ["FAMILIES", "GraphDraft", "Sample", "samples"]

FAMILIES = (
    arithmetic.FAMILIES | movement.FAMILIES | networks.FAMILIES | attention.FAMILIES | regions.FAMILIES | fixed.FAMILIES
)
"""The function that draws each group of operators; together, all operators."""


@st.composite
def samples(draw: st.DrawFn, most: int = 6) -> Sample:
    """A graph of one to ``most`` nodes."""
    g = GraphDraft(draw)
    for _ in range(draw(st.integers(1, most))):
        family = draw(st.sampled_from(list(FAMILIES)))
        FAMILIES[family](g, draw(st.sampled_from(family)))
    return Sample(g.graph())
