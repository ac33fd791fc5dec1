"""Random graphs over all operators, in any layouts, which hypothesis draws (``pip install dml2onnx[hypothesis]``).

    @hypothesis.given(samples())
    def test(sample: Sample) -> None:
        dml2onnx.compile(sample.graph)

Some of them have errors, which :func:`dml2onnx.check` finds. ``reduction.smallest`` draws by a seed, without a test.
"""

from __future__ import annotations

from hypothesis import strategies as st

from dml2onnx.testing.random_graphs import arithmetic, attention, fixed, movement, networks, regions
from dml2onnx.testing.random_graphs.draft import GraphDraft, Sample

__all__ = ["FAMILIES", "GraphDraft", "Sample", "samples"]

FAMILIES = (
    arithmetic.FAMILIES | movement.FAMILIES | networks.FAMILIES | attention.FAMILIES | regions.FAMILIES | fixed.FAMILIES
)
"""How operators are drawn, by those that are drawn alike; together they are all that there are."""


@st.composite
def samples(draw: st.DrawFn, most: int = 6) -> Sample:
    """Any graph of one to so many nodes, or a few more where an operator needs others beside it."""
    g = GraphDraft(draw)
    for _ in range(draw(st.integers(1, most))):
        family = draw(st.sampled_from(list(FAMILIES)))
        FAMILIES[family](g, draw(st.sampled_from(family)))
    return Sample(g.graph())
