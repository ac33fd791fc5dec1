from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.recorder import compilers, stand_in

if TYPE_CHECKING:
    from pathlib import Path

    from tests.recorder.compilers import Compiler


@pytest.fixture(scope="session")
def compiler() -> Compiler:
    found = compilers.native()
    if found is None:
        pytest.skip(compilers.MISSING)
    return found


@pytest.fixture(scope="session")
def windows() -> Compiler:
    found = compilers.zig("x86_64-windows-gnu")
    if found is None:
        pytest.skip(compilers.NO_ZIG)
    return found


@pytest.fixture(scope="session")
def directml(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a DirectML.h."""
    return stand_in.write(tmp_path_factory.mktemp("directml"))
