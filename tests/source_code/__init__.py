"""Assertions of helpers say what differs, too."""

import pytest

pytest.register_assert_rewrite("tests.source_code.same")
