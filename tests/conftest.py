"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import onnxruntime
import pytest
from hypothesis import settings

# The same examples every time, so that a rare counterexample stops whoever looks for it and nobody else:
# HYPOTHESIS_PROFILE=explore draws new ones.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

ROOT = Path(__file__).parent.parent


class OneThread(onnxruntime.SessionOptions):
    """Options of a session that starts no threads of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.intra_op_num_threads = 1


AS_USERS_HAVE_IT = ("tests.networks", "tests.test_samples", "tests.test_squeezenet", "tests.test_vectors")
"""Modules whose sessions have as many threads as ONNX Runtime wants."""


@pytest.fixture(scope="module", autouse=True)
def one_thread(request: pytest.FixtureRequest) -> Iterator[None]:
    """Sessions of most modules compute in the thread that runs them, as numpy does (``OMP_NUM_THREADS``).

    Most of them run one node once: to start, spin and end a thread takes twice as long as all the rest. Programs that
    tests start, those of the documents among them, have ONNX Runtime's threads too.
    """
    with pytest.MonkeyPatch.context() as patch:
        if not request.module.__name__.startswith(AS_USERS_HAVE_IT):
            patch.setattr(onnxruntime, "SessionOptions", OneThread)
        yield


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
