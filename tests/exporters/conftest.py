"""Enables pytest's assertion messages in helpers."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("tests.exporters.same")
