"""The pause of the garbage collector, and the state after it."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from dml2onnx.gc_pause import gc_paused


@pytest.fixture(autouse=True)
def _collecting() -> Iterator[None]:
    gc.enable()
    yield
    gc.unfreeze()
    gc.enable()


def _is_young(item: object) -> bool:
    return any(other is item for other in gc.get_objects(generation=0))


def test_nothing_is_collected_inside() -> None:
    with gc_paused():
        with gc_paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_stays_off_if_it_was_off() -> None:
    gc.disable()
    with gc_paused():
        pass
    assert not gc.isenabled()


def test_new_objects_are_not_young_afterwards() -> None:
    with gc_paused():
        made: list[object] = [[]]
        assert _is_young(made)
    assert not _is_young(made)
    assert not gc.get_freeze_count()


def test_cycles_made_inside_are_found_later() -> None:
    with gc_paused():
        cycle: list[object] = []
        cycle.append(cycle)
    del cycle
    assert gc.collect() > 0


def test_frozen_objects_stay_frozen() -> None:
    gc.freeze()
    before = gc.get_freeze_count()
    with gc_paused():
        pass
    assert gc.get_freeze_count() == before > 0
