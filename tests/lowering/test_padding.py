"""PADDING and PADDING1 against the reference."""

import numpy as np
import pytest

from dml2onnx.compiler import compile_outputs
from dml2onnx.ir.operator import Scalar
from dml2onnx.ir.tensor import DataType
from tests.lowering.harness import check_case, make_case, operator, operators, t

MODES = ("CONSTANT", "EDGE", "REFLECTION", "SYMMETRIC", "WRAP")
NO_KERNEL = ("FLOAT16", "INT16", "UINT16")
"""Types for which ONNX Runtime has no Pad kernel."""


def pad(sizes, start, end, mode="CONSTANT", value=0, data_type="FLOAT32", *, typed=True):
    """A PADDING1, or with ``typed=False`` a PADDING."""
    output = [a + n + b for a, n, b in zip(start, sizes, end, strict=True)]
    fields = {
        "InputTensor": t(data_type, sizes),
        "OutputTensor": t(data_type, output),
        "PaddingMode": mode,
        "StartPadding": tuple(start),
        "EndPadding": tuple(end),
    }
    if not typed:
        return operator("PADDING", PaddingValue=value, **fields)
    number = float(value) if DataType[data_type].is_float else value
    scalar = Scalar(DataType[data_type], number)
    return operator("PADDING1", PaddingValueDataType=data_type, PaddingValue=scalar, **fields)


class TestConstant:
    @pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT64", "INT8", "UINT64"])
    def test_one_pad(self, data_type):
        assert operators(check_case(pad((2, 3), (1, 0), (0, 2), value=3, data_type=data_type))) == ["Pad"]

    @pytest.mark.parametrize("data_type", NO_KERNEL)
    def test_concat_for_types_without_a_kernel(self, data_type):
        assert operators(check_case(pad((2, 3), (1, 0), (0, 2), value=3, data_type=data_type))) == ["Concat", "Concat"]

    @pytest.mark.parametrize("data_type", ["FLOAT32", "UINT8", "INT16"])
    def test_concat_for_short_rows(self, data_type):
        """Pad is slow for them; the padding is not stored in the model."""
        for start, end in (((0, 0), (0, 1)), ((0, 2), (0, 0)), ((0, 1), (0, 3))):
            model = check_case(pad((2000, 3), start, end, value=3, data_type=data_type), extremes=True)
            assert set(operators(model)) == {"Expand", "Concat"}
            assert model.lowered.weight_bytes < 100
        assert operators(check_case(pad((2000, 3), (1, 0), (1, 0), value=3)))[-1] == "Pad"

    def test_no_margin_is_a_copy(self):
        assert operators(check_case(pad((2, 3), (0, 0), (0, 0), value=3))) == ["Identity"]

    def test_a_value_of_0_is_omitted(self):
        (node,) = check_case(pad((2, 3), (1, 0), (0, 2))).model_proto.graph.node
        assert len(node.input) == 2

    @pytest.mark.parametrize("value", [0.1, 1e10, -1e10, 2.0**-24, 65519.0, 65520.0, np.inf, -np.inf, np.nan, -0.0])
    @pytest.mark.parametrize("data_type", ["FLOAT64", "FLOAT32", "FLOAT16"])
    def test_float_values(self, value, data_type):
        for typed in (False, True) if data_type != "FLOAT16" else (False,):
            op = pad((2,), (1,), (1,), value=value, data_type=data_type, typed=typed)
            case = make_case(op)
            y = compile_outputs(case.graph, case.graph.outputs).run(case.memory)["OutputTensor"]
            with np.errstate(over="ignore"):
                want = np.float32(value) if not typed else np.float64(value)
                want = want.astype(DataType[data_type].dtype)
            assert y[0].tobytes() == y[3].tobytes() == want.tobytes()

    @pytest.mark.parametrize("value", [-3.99, -0.5, 2.99, 200.0, 3e9, -3e9, 1e19, 2e19, -1e19, np.inf, -np.inf, np.nan])
    @pytest.mark.parametrize("data_type", [n for n, d in DataType.__members__.items() if not d.is_float and d.bits > 4])
    def test_a_float_value_is_truncated_and_clamped_to_integers(self, value, data_type):
        check_case(pad((2,), (1,), (1,), value=value, data_type=data_type, typed=False))

    @pytest.mark.parametrize("data_type", [n for n, d in DataType.__members__.items() if not d.is_float and d.bits > 4])
    def test_typed_extremes_are_exact(self, data_type):
        for value in DataType[data_type].limits:
            check_case(pad((2, 1), (1, 0), (1, 1), value=value, data_type=data_type), extremes=True)

    def test_long_integers_beyond_double(self):
        check_case(pad((2,), (1,), (1,), value=(1 << 53) + 1, data_type="INT64"))

    def test_large_padding_without_a_kernel_is_computed_at_run_time(self):
        model = check_case(pad((1, 1), (0, 0), (0, 1 << 21), value=5, data_type="INT16"))
        assert operators(model) == ["Expand", "Concat"]


class TestContinued:
    @pytest.mark.parametrize(
        ("mode", "margin"), [("EDGE", 9), ("REFLECTION", 2), ("WRAP", 3)], ids=["edge", "reflection", "wrap"]
    )
    def test_one_pad(self, mode, margin):
        assert operators(check_case(pad((3, 3), (margin, 0), (0, 1), mode))) == ["Pad"]

    @pytest.mark.parametrize(
        ("mode", "start", "end"),
        [("REFLECTION", 3, 0), ("REFLECTION", 0, 11), ("SYMMETRIC", 1, 0), ("SYMMETRIC", 8, 7), ("WRAP", 4, 9)],
    )
    def test_gather_for_paddings_that_pad_refuses(self, mode, start, end):
        assert operators(check_case(pad((3, 2), (start, 0), (end, 0), mode))) == ["Gather"]

    def test_one_gather_for_each_padded_dimension(self):
        op = pad((2, 3, 4, 2), (1, 0, 0, 5), (0, 0, 1, 0), "SYMMETRIC")
        assert operators(check_case(op)) == ["Gather", "Gather", "Gather"]

    @pytest.mark.parametrize("mode", MODES[1:])
    @pytest.mark.parametrize("margin", [1, 5])
    def test_a_single_element_is_repeated(self, mode, margin):
        check_case(pad((1, 2), (margin, 0), (margin, 1), mode))

    @pytest.mark.parametrize("data_type", NO_KERNEL)
    def test_gather_for_types_without_a_kernel(self, data_type):
        assert operators(check_case(pad((3,), (1,), (1,), "EDGE", data_type=data_type))) == ["Gather"]

    def test_wrap_before_opset_19(self):
        assert operators(check_case(pad((3,), (1,), (1,), "WRAP"), opset=18)) == ["Gather"]

    def test_the_value_is_ignored(self):
        check_case(pad((3,), (1,), (1,), "EDGE", value=float("nan"), typed=False))


@pytest.mark.parametrize("mode", MODES)
def test_constants_fold(mode):
    for data_type in ("FLOAT32", "FLOAT16"):
        op = pad((2, 3), (1, 5), (3, 0), mode, value=2, data_type=data_type)
        assert operators(check_case(op, constants=["InputTensor"])) == ["Identity"]


@pytest.mark.parametrize("mode", MODES)
def test_directml_pads_every_type(mode):
    case = make_case(pad((3, 2), (1, 0), (0, 1), mode, 9, "FLOAT16"))
    model = compile_outputs(case.graph, case.graph.outputs, target="dml")
    assert operators(model) == (["Gather", "Gather"] if mode == "SYMMETRIC" else ["Pad"])
