"""Frozen dataclasses whose slots are filled at once behave as those of ``dataclasses`` do."""

from __future__ import annotations

import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, replace

import pytest

from dml2onnx.frontends.native_values import Known
from dml2onnx.ir.frozen import filled_at_once
from dml2onnx.ir.graph import GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType, TensorDesc


@dataclass(frozen=True, slots=True)
class Plain:
    first: int
    second: tuple[int, ...] = (1, 2)
    made: int = field(init=False, default=7)
    total: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", self.first + sum(self.second))


@filled_at_once
@dataclass(frozen=True, slots=True)
class Quick:
    first: int
    second: tuple[int, ...] = (1, 2)
    made: int = field(init=False, default=7)
    total: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", self.first + sum(self.second))


def test_it_is_made_like_any_other() -> None:
    for arguments in ((1,), (1, (4,))):
        plain, quick = Plain(*arguments), Quick(*arguments)
        assert [getattr(quick, name) for name in Plain.__slots__] == [getattr(plain, name) for name in Plain.__slots__]
        assert repr(quick) == repr(plain).replace("Plain", "Quick")
    assert Quick(2, second=(3,)) == Quick(second=(3,), first=2) == replace(Quick(2), second=(3,))
    assert pickle.loads(pickle.dumps(Quick(5))) == Quick(5)
    assert str(inspect.signature(Quick)).replace("test_frozen.", "") == str(inspect.signature(Plain))
    for wrong in ({}, {"first": 1, "third": 2}, {"first": 1, "made": 2}):
        with pytest.raises(TypeError):
            Quick(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [Value, Read, Write, Node, GraphOutput, Known, OperatorDesc, TensorDesc, Quick])
def test_it_is_frozen(kind: type) -> None:
    item = TensorDesc(DataType.INT8, (2,)) if kind is TensorDesc else object.__new__(kind)
    for name in kind.__slots__:  # type: ignore[attr-defined]
        with pytest.raises(FrozenInstanceError):
            setattr(item, name, 1)
