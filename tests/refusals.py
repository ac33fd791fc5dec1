"""What a call is refused with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dml2onnx.diagnostics import Diagnostic, DmlError


def findings(call: Callable[..., Any], /, *given: Any, **named: Any) -> tuple[Diagnostic, ...]:
    """What is said to a call, which must be refused."""
    with pytest.raises(DmlError) as caught:
        call(*given, **named)
    return caught.value.diagnostics


def refused(call: Callable[..., Any], /, *given: Any, **named: Any) -> list[str]:
    """The codes of the findings."""
    return [item.code for item in findings(call, *given, **named)]


def refusal(call: Callable[..., Any], /, *given: Any, **named: Any) -> Diagnostic:
    """The only finding."""
    (item,) = findings(call, *given, **named)
    return item
