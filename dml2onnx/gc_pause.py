"""A pause for Python's cyclic garbage collector while many objects are made, all of which stay alive.

A graph of 100,000 nodes is a few million objects that all stay alive; the collector would walk through them again and
again while they are made, which makes the time per node grow with the size of the graph.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def gc_paused() -> Iterator[None]:
    """No collections inside the block or the decorated function; nested blocks do nothing.

    At the end all objects move to the oldest generation, which the next collection does not walk through at once.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():  # a process that has frozen its objects keeps them so
            gc.freeze()
            gc.unfreeze()
        gc.enable()
