"""Enables pytest's assertion messages in helpers."""

import pytest

pytest.register_assert_rewrite("tests.source_code.same")
