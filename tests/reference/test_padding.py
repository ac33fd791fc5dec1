from __future__ import annotations

import numpy as np

from dml2onnx.ir.operator import UNREADABLE, OperatorDesc
from dml2onnx.reference import run_operator
from dml2onnx.test_cases.descriptors import plain


def test_other_modes_ignore_padding_value():
    x = np.array([4], np.uint64)
    op = plain(
        "PADDING1",
        InputTensor=x,
        OutputTensor=np.zeros(2, x.dtype),
        PaddingMode="EDGE",
        EndPadding=(1,),
        PaddingValueDataType="UINT64",
    )
    values = list(op.values)
    values[op.schema.index["PaddingValue"]] = UNREADABLE
    (y,) = run_operator(OperatorDesc(op.schema, tuple(values)), {"InputTensor": x})["OutputTensor"]
    np.testing.assert_array_equal(y, [4, 4])
