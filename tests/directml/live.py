"""Where DirectML itself is, for the tests that ask it."""

from __future__ import annotations

import pytest

from dml2onnx.directml.installation import Installation, find

REASON = "DirectML is not installed: nothing was compared with it (python scripts/directml.py)"
needs_directml = pytest.mark.skipif(find() is None, reason=REASON)


def installed() -> Installation:
    """DirectML; the test is skipped where it is not."""
    found = find()
    if found is None:
        pytest.skip(REASON)
    return found
