"""The layout of boxes: apart from each other, readers below writers, for every graph."""

from __future__ import annotations

import time
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from dml2onnx.report.layout import GAP, LAYER_GAP, LONGEST_ROUTE, lay_out

BOX = (100.0, 40.0)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[tuple[float, float]], list[tuple[int, int]]]:
    count = draw(st.integers(1, 14))
    sizes = draw(st.lists(st.tuples(st.floats(10, 200), st.floats(10, 60)), min_size=count, max_size=count))
    ends = st.integers(0, count - 1)
    return sizes, draw(st.lists(st.tuples(ends, ends), max_size=30))


@given(graphs())
@settings(max_examples=100)
def test_boxes_do_not_touch_and_are_inside(graph: tuple[list[tuple[float, float]], list[tuple[int, int]]]) -> None:
    sizes, edges = graph
    layout = lay_out(sizes, edges)
    for one, other in combinations(range(len(sizes)), 2):
        across = abs(layout.centres[one][0] - layout.centres[other][0]) - (sizes[one][0] + sizes[other][0]) / 2
        along = abs(layout.centres[one][1] - layout.centres[other][1]) - (sizes[one][1] + sizes[other][1]) / 2
        assert across >= GAP - 1e-6 or along >= LAYER_GAP - 1e-6
    for (x, y), (width, height) in zip(layout.centres, sizes, strict=True):
        assert x - width / 2 >= -1e-6
        assert x + width / 2 <= layout.width + 1e-6
        assert y - height / 2 >= -1e-6
        assert y + height / 2 <= layout.height + 1e-6


@given(graphs())
@settings(max_examples=100)
def test_edges_of_graphs_without_cycles_lead_down(
    graph: tuple[list[tuple[float, float]], list[tuple[int, int]]],
) -> None:
    sizes, drawn = graph
    edges = [(source, target) for source, target in drawn if source < target]
    layout = lay_out(sizes, edges)
    for (source, target), route in zip(edges, layout.routes, strict=True):
        heights = [y for _, y in route]
        assert heights == sorted(heights)
        assert route[0][0] == layout.centres[source][0]
        assert route[-1][0] == layout.centres[target][0]


def test_a_chain_is_straight_and_inputs_are_above_their_readers() -> None:
    # 0 -> 1 -> 2 -> 3, and 4 -> 3
    layout = lay_out([BOX] * 5, [(0, 1), (1, 2), (2, 3), (4, 3)])
    assert len({round(layout.centres[box][0]) for box in (0, 1, 2)}) == 1
    assert layout.centres[4][1] == layout.centres[2][1]


def test_needless_crossings_are_removed() -> None:
    # two chains whose ends are listed in opposite order
    layout = lay_out([BOX] * 6, [(0, 3), (1, 2), (3, 4), (2, 5)])
    left_to_right = sorted(range(6), key=lambda box: layout.centres[box][0])
    assert {frozenset(left_to_right[:3]), frozenset(left_to_right[3:])} == {frozenset({0, 3, 4}), frozenset({1, 2, 5})}


def test_a_cycle_has_a_layout() -> None:
    layout = lay_out([BOX] * 3, [(0, 1), (1, 2), (2, 0), (1, 1)])
    assert len({y for _, y in layout.centres}) == 3
    assert layout.routes[3] == ()
    assert layout.routes[2][0][1] > layout.routes[2][-1][1]  # upwards


def test_nothing_to_lay_out() -> None:
    assert lay_out([], []).centres == ()


def test_few_way_points_for_a_value_read_everywhere() -> None:
    """Every box of a long chain reads the first: a quadratic number of way points would take minutes."""
    count = 4000
    edges = [(box, box + 1) for box in range(count - 1)] + [(0, box) for box in range(1, count)]
    started = time.process_time()
    layout = lay_out([BOX] * count, edges)
    assert time.process_time() - started < 10
    assert max(map(len, layout.routes)) <= LONGEST_ROUTE + 1
