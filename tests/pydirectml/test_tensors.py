"""Descriptors, bindings and results: constructors, conversions, and refusals."""

from __future__ import annotations

import sys
import warnings
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import dml2onnx.pydirectml as dml
from tests.pydirectml.helpers import DEVICE, F, compute, start

NONE, OWNED = dml.TensorFlags.NONE, dml.TensorFlags.OWNED_BY_DML


def parts(desc):
    flags, total, alignment = desc.flags, desc.total_tensor_size_in_bytes, desc.guaranteed_base_offset_alignment
    return desc.data_type, flags, desc.sizes, desc.strides, total, alignment


@pytest.mark.parametrize(
    ("desc", "expected"),
    [
        (dml.TensorDesc(F, [1, 2, 3]), (F, NONE, [1, 2, 3], None, 24, 0)),
        (dml.TensorDesc(data_type=F, sizes=(4,)), (F, NONE, [4], None, 16, 0)),
        (dml.TensorDesc(dml.FLOAT16, np.array([3])), (dml.FLOAT16, NONE, [3], None, 8, 0)),
        (dml.TensorDesc(dml.UINT8, [5]), (dml.UINT8, NONE, [5], None, 8, 0)),
        (dml.TensorDesc(dml.INT64, [5]), (dml.INT64, NONE, [5], None, 40, 0)),
        (dml.TensorDesc(dml.UNKNOWN, [5]), (dml.UNKNOWN, NONE, [5], None, 0, 0)),
        (dml.TensorDesc(F, OWNED, [2, 2]), (F, OWNED, [2, 2], None, 16, 0)),
        (dml.TensorDesc(F, sizes=[2], flags=OWNED), (F, OWNED, [2], None, 8, 0)),
        (dml.TensorDesc(F, [1, 8, 28, 28], [8, 1, 0, 0]), (F, NONE, [1, 8, 28, 28], [8, 1, 0, 0], 32, 0)),
        (dml.TensorDesc(F, [2, 3], None), (F, NONE, [2, 3], None, 24, 0)),
        (dml.TensorDesc(F, [2, 3], strides=[4, 1]), (F, NONE, [2, 3], [4, 1], 28, 0)),
        (dml.TensorDesc(F, OWNED, [2], None, 64, 16), (F, OWNED, [2], None, 64, 16)),
        (dml.TensorDesc(F, NONE, [2], [9], 3, 0), (F, NONE, [2], [9], 3, 0)),
        (
            dml.TensorDesc(
                data_type=F,
                flags=NONE,
                sizes=[2],
                strides=[1],
                total_tensor_size_in_bytes=8,
                guaranteed_base_offset_alignment=4,
            ),
            (F, NONE, [2], [1], 8, 4),
        ),
    ],
)
def test_constructors(desc, expected):
    assert parts(desc) == expected


@pytest.mark.parametrize(
    ("args", "kwargs", "reason"),
    [
        ((F, NONE, [2], [1]), {}, "flags has to be of TensorFlags|tensor_policy has to be"),
        ((1, [2]), {}, "data_type has to be of TensorDataType, not int 1"),
        ((F,), {}, "sizes must be given"),
        ((F, [1.0, 2.0]), {}, r"sizes\[0\] has to be an int, not float 1.0"),
        ((F, np.ones(2)), {}, r"sizes\[0\] has to be an int"),
        ((F, [-1]), {}, r"sizes\[0\] has to be an int from 0 to 4294967295, not -1"),
        ((F, [2**32]), {}, "from 0 to 4294967295"),
        ((F, "12"), {}, "sizes has to be a list, not str"),
        ((F, 3), {}, "sizes has to be a list, not int 3"),
        ((F, {1, 2}), {}, "sizes has to be a list, not set"),
        ((F, dml.MatrixTransform.NONE, [2]), {}, "flags|sizes"),
        ((F, [2]), {"flag": NONE}, "no parameter flag"),
        ((F, [2]), {"sizes": [2]}, "sizes is given twice"),
        ((F, [2], 5), {}, "tensor_policy|strides"),
        ((F, NONE, [2], None, -8, 0), {}, "total_tensor_size_in_bytes"),
    ],
)
def test_invalid_arguments_of_constructors(args, kwargs, reason):
    with pytest.raises(TypeError, match=reason) as caught:
        dml.TensorDesc(*args, **kwargs)
    assert str(caught.value).startswith("TensorDesc(): incompatible function arguments")
    assert "4. TensorDesc(data_type, flags, sizes, strides, total_tensor_size_in_bytes" in str(caught.value)


def test_mismatched_strides_are_refused():
    with pytest.raises(ValueError, match="1 strides for 2 sizes"):
        dml.TensorDesc(F, [2, 2], [1])


def test_a_descriptor_is_read_only_and_its_lists_are_copies():
    desc = dml.TensorDesc(F, [1, 2], [2, 1])
    desc.sizes.append(3)
    assert desc.strides is not None
    desc.strides.append(3)
    assert parts(desc)[2:4] == ([1, 2], [2, 1])
    for name in ("data_type", "flags", "sizes", "strides", "total_tensor_size_in_bytes", "something"):
        with pytest.raises(AttributeError):
            setattr(desc, name, 1)


def test_texts():
    assert repr(dml.TensorDesc(F, [1, 2, 3])) == "dml.TensorDesc of type 1 and shape [1,2,3] with flags 0"
    assert repr(dml.Device()) == "dml.Device on GPU"
    assert repr(dml.Device(False, use_debug_layer=1)) == "dml.Device on CPU"


@pytest.mark.parametrize("kind", [dml.TensorPolicy, dml.Dimensions, dml.Model])
def test_classes_without_constructor(kind):
    with pytest.raises(TypeError, match="No constructor defined"):
        kind()


@pytest.mark.parametrize("name", ["default", "interleaved_channel"])
def test_policies_cannot_be_obtained(name):
    with pytest.raises(TypeError, match=name):
        getattr(dml.TensorPolicy, name)


def test_sizes_are_width_first_and_positional():
    size = dml.Size2D(3, 2)
    assert (size.width, size.height) == (3, 2)
    size.width, size.height = 5, 7
    assert (size.width, size.height) == (5, 7)
    with pytest.raises(TypeError):
        dml.Size2D(width=3, height=2)  # type: ignore[call-arg]  # positional-only
    with pytest.raises(TypeError, match="width has to be an int"):
        size.width = 1.5  # type: ignore[assignment]  # no int


class TestBinding:
    def bytes_of(self, data):
        _, x = start([2])
        return dml.Binding(x, data).raw.view(np.float32).tolist()

    @pytest.mark.parametrize(
        "data",
        [
            [1, 2],
            [[1], [2]],
            np.array([1, 2], np.int64),
            np.array([1, 2], np.float16),
            np.array([[1.0, 2.0]]),
            (True, 2.0),
            [Decimal(1), 2],
            np.array([[1, 9], [2, 9]])[:, 0],
            np.array([1, 2], ">f4"),
        ],
    )
    def test_numbers_become_float32(self, data):
        assert self.bytes_of(data) == [1, 2]

    def test_row_major_order(self):
        assert self.bytes_of(np.array([[1, 2], [3, 4]]).T) == [1, 3, 2, 4]

    @pytest.mark.parametrize("data", ["12", ["1", "2"], [[1], [2, 3]], object(), {1: 2}, np.array(["1"])])
    def test_other_objects_are_refused(self, data):
        _, x = start([2])
        with pytest.raises(TypeError, match="data has to be an array of numbers"):
            dml.Binding(x, data)

    def test_integers_for_integer_tensors_cause_a_warning(self):
        graph, _ = start([2])
        indices = dml.input_tensor(graph, 1, dml.TensorDesc(dml.UINT32, [2]))
        with pytest.warns(RuntimeWarning, match=r"for UINT32 elements bind data\.view\(numpy\.float32\)") as caught:
            dml.Binding(indices, np.array([1, 2]))
        assert caught[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            bound = dml.Binding(indices, np.array([1, 2], np.uint32).view(np.float32))
        assert bound.raw.view(np.uint32).tolist() == [1, 2]

    def test_scalars_and_large_numbers(self):
        assert self.bytes_of(3) == [3]
        assert self.bytes_of(1e300) == [np.inf]

    @pytest.mark.parametrize(("data_type", "expected"), [(np.float32, [9, 9]), (np.float64, [1, 2])])
    def test_float32_arrays_are_not_copied(self, data_type, expected):
        graph, x = start([2])
        data = np.array([1, 2], data_type)
        binding = dml.Binding(x, data)
        data[:] = 9
        y = x * 1
        model = graph.build(dml.ExecutionFlags.NONE, [y])
        assert np.array(DEVICE.compute(model, [binding], [y])[0]).tolist() == expected

    def test_expressions_only(self):
        message = r"^Binding\(\): incompatible .* expr has to be of Expression.*\n    1. Binding\(expr: "
        with pytest.raises(TypeError, match=message):
            dml.Binding([1], [1])  # type: ignore[arg-type]  # no expression
        with pytest.raises(RuntimeError, match="null expression"):
            dml.Binding(dml.Expression(), [1])


class TestTensorData:
    def result(self):
        graph, x = start([1, 2, 2])
        y = x + 1
        model = graph.build(dml.ExecutionFlags.NONE, [y])
        return DEVICE.compute(model, [dml.Binding(x, [0, 1, 2, 3])], [y])[0]

    def test_arrays(self):
        array: Any
        for array in (np.array(self.result()), np.asarray(self.result()), np.array(self.result(), np.float32)):
            assert (array.dtype, array.tolist()) == (np.float32, [[[1, 2], [3, 4]]])
        assert np.array(self.result(), np.int64).tolist() == [[[1, 2], [3, 4]]]

    def test_copies_and_views(self):
        result = self.result()
        np.array(result)[:] = 7
        assert np.asarray(result).max() == 4
        np.asarray(result)[:] = 7
        assert np.array(result).min() == 7

    def test_it_has_no_other_methods(self):
        assert not [name for name in dir(self.result()) if not name.startswith("_") and name != "of"]

    @pytest.mark.skipif(sys.version_info < (3, 12), reason="Python classes cannot be buffers before 3.12")
    def test_buffers(self):
        data: Any = memoryview(self.result()).tolist()
        assert data == [[[1, 2], [3, 4]]]

    def test_strides_of_tensor_data_made_by_hand(self):
        """They are wrong, as in PyDirectML."""
        assert np.array(dml.TensorData(np.array([5]))).tolist() == [5]
        with pytest.raises(ValueError, match="takes 36 bytes, but the tensor has 12"):
            np.array(dml.TensorData([1, 2, 3]))

    def test_narrow_types_claim_too_many_bytes(self):
        graph, x = start(dml.TensorDesc(dml.UINT8, [8]))
        y = x + x
        model = graph.build(dml.ExecutionFlags.NONE, [y])
        bytes_in = np.arange(8, dtype=np.uint8).view(np.float32)
        [result] = DEVICE.compute(model, [dml.Binding(x, bytes_in)], [y])
        with pytest.raises(ValueError, match="takes 32 bytes, but the tensor has 8"):
            np.array(result)
        view = dml.reinterpret(y, F, [2], None)
        [result] = DEVICE.compute(model, [dml.Binding(x, bytes_in)], [view])
        assert np.array(result).view(np.uint8).tolist() == [0, 2, 4, 6, 8, 10, 12, 14]

    def test_unwritten_bytes_are_nan(self):
        graph, x = start(dml.TensorDesc(dml.UINT8, [5]))
        y = x + x
        [array] = compute(graph, [x], [np.ones(8, np.uint8).view(np.float32)], dml.reinterpret(y, F, [2], None))
        assert array.view(np.uint8).tolist() == [2, 2, 2, 2, 2, 255, 255, 255]

    def test_wide_types_show_their_first_half(self):
        graph, x = start(dml.TensorDesc(dml.INT64, [2]))
        [array] = compute(graph, [x], [np.array([3, 4]).view(np.float32)], x + x)
        assert array.view(np.uint32).tolist() == [6, 0]

    def test_reinterpreted_outputs_are_strided(self):
        graph, x = start([6])
        view = dml.reinterpret(x * 1, F, [3, 2], [1, 3])
        [array] = compute(graph, [x], [np.arange(6)], view)
        assert array.tolist() == [[0, 3], [1, 4], [2, 5]]
