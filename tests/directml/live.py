"""The DirectML installation, for tests that run it."""

from __future__ import annotations

import pytest

from dml2onnx.directml.installation import Installation, find

REASON = "DirectML is not installed: nothing was compared with it (python scripts/directml.py)"
needs_directml = pytest.mark.skipif(find() is None, reason=REASON)


def installed() -> Installation:
    """The installation; skips the test if there is none."""
    found = find()
    if found is None:
        pytest.skip(REASON)
    return found
