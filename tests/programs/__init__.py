"""Assertions of helpers say what differs, too."""

import pytest

pytest.register_assert_rewrite("tests.programs.same")
