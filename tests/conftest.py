"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples every time, so that a rare counterexample stops whoever looks for it and nobody else:
# HYPOTHESIS_PROFILE=explore draws new ones.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

ROOT = Path(__file__).parent.parent


def shared_directory() -> Path | None:
    """Material that lies beside some checkouts: a real network and published test vectors; ``None`` elsewhere."""
    directory = Path(os.environ.get("DML2ONNX_SHARED", ROOT.parent / "shared"))
    return directory if (directory / "vectors").is_dir() else None


@pytest.fixture(scope="session")
def shared() -> Path:
    """The directory of shared material; tests that need it are skipped where it is not there."""
    directory = shared_directory()
    if directory is None:
        pytest.skip("no shared material beside this checkout")
    return directory
