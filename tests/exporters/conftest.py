"""Assertions of helpers say what differs, too."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("tests.exporters.same")
