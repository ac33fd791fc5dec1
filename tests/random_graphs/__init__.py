"""Random graphs over all operators, which ``tests/test_coverage.py`` sees to."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.random_graphs import arithmetic, attention, fixed, movement, networks, regions
from tests.random_graphs.growing import Growing, Sample

FAMILIES = (
    arithmetic.FAMILIES | movement.FAMILIES | networks.FAMILIES | attention.FAMILIES | regions.FAMILIES | fixed.FAMILIES
)


@st.composite
def samples(draw: st.DrawFn, most: int = 6) -> Sample:
    """Any graph of one to so many nodes, or a few more where an operator needs others beside it."""
    g = Growing(draw)
    for _ in range(draw(st.integers(1, most))):
        family = draw(st.sampled_from(list(FAMILIES)))
        FAMILIES[family](g, draw(st.sampled_from(family)))
    return Sample(g.graph())
