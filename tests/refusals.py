"""The findings of calls that must be refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dml2onnx.diagnostics import Diagnostic, DmlError


def findings(call: Callable[..., Any], /, *args: Any, **kwargs: Any) -> tuple[Diagnostic, ...]:
    """Returns the findings of the :class:`DmlError` that a call must raise."""
    with pytest.raises(DmlError) as caught:
        call(*args, **kwargs)
    return caught.value.diagnostics


def refused(call: Callable[..., Any], /, *args: Any, **kwargs: Any) -> list[str]:
    """Returns the codes of the findings."""
    return [item.code for item in findings(call, *args, **kwargs)]


def refusal(call: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Diagnostic:
    """Returns the only finding."""
    (item,) = findings(call, *args, **kwargs)
    return item
