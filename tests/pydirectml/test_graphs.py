"""Building and computing graphs: operators on expressions, reinterpretation, builds, and bindings."""

from __future__ import annotations

import numpy as np
import pytest

import dml2onnx.pydirectml as dml
from dml2onnx.catalog import FeatureLevel
from dml2onnx.diagnostics import DmlError
from dml2onnx.pydirectml import settings
from tests.pydirectml.helpers import DEVICE, F, compute, nodes, start
from tests.refusals import refused

OWNED = dml.TensorFlags.OWNED_BY_DML
FLAGS = dml.ExecutionFlags.NONE


def test_the_worked_example():
    """Section A11 of the facts about PyDirectML."""
    graph = dml.GraphBuilder(DEVICE)
    x = dml.input_tensor(graph, 0, dml.TensorDesc(F, [1, 1, 4, 4]))
    w = dml.input_tensor(graph, 1, dml.TensorDesc(F, OWNED, [2, 1, 3, 3]))
    b = dml.input_tensor(graph, 2, dml.TensorDesc(F, [1, 2, 4, 4], [2, 1, 0, 0]))
    y = dml.convolution(x, w, start_padding=[1, 1], end_padding=[1, 1])
    assert (y.get_output_desc().sizes, y.get_output_desc().total_tensor_size_in_bytes) == ([1, 2, 4, 4], 128)
    y = dml.add(y, b, dml.FusedActivation(dml.OperatorType.ACTIVATION_RELU))
    p = dml.max_pooling(y, [2, 2], strides=[2, 2])
    assert p.values.get_output_desc().total_tensor_size_in_bytes == 32
    r = dml.reinterpret(p.values, F, [1, 1, 1, 8], None)
    z = r * 2 - 1

    descs = nodes(graph, z)
    assert [item.type for item in descs] == [
        "CONVOLUTION",
        "ELEMENT_WISE_ADD1",
        "MAX_POOLING2",
        "ELEMENT_WISE_IDENTITY",
        "ELEMENT_WISE_IDENTITY",
    ]
    assert descs[1].tensor("BTensor").strides == (2, 1, 0, 0)
    assert descs[1].tensor("BTensor").total_bytes == 8
    assert [(item.get("ScaleBias").scale, item.get("ScaleBias").bias) for item in descs[3:]] == [(2, 0), (1, -1)]
    assert descs[3].tensor("InputTensor").sizes == (1, 1, 1, 8)

    kernels = np.zeros((2, 1, 3, 3))
    kernels[0, 0, 1, 1] = 1
    kernels[1] = 1
    [array] = compute(graph, [x, w, b], [np.arange(16), kernels, [-5, 0.5]], z)
    assert (array.dtype, array.shape) == (np.float32, (1, 1, 1, 8))
    assert array.reshape(-1).tolist() == [-1, 3, 15, 19, 90, 108, 162, 180]


class TestOperators:
    @pytest.mark.parametrize(
        ("operate", "operator", "expected"),
        [
            (lambda e, f: e + f, "ELEMENT_WISE_ADD", [9, -3]),
            (lambda e, f: e - f, "ELEMENT_WISE_SUBTRACT", [5, -11]),
            (lambda e, f: e * f, "ELEMENT_WISE_MULTIPLY", [14, -28]),
            (lambda e, f: e / f, "ELEMENT_WISE_DIVIDE", [3.5, -1.75]),
            (lambda e, f: e % f, "ELEMENT_WISE_MODULUS_TRUNCATE", [1, -3]),
            (lambda e, f: -e, "ELEMENT_WISE_NEGATE", [-7, 7]),
            (lambda e, f: e + 2, (1, 2), [9, -5]),
            (lambda e, f: 2 + e, (1, 2), [9, -5]),
            (lambda e, f: e - 2.5, (1, -2.5), [4.5, -9.5]),
            (lambda e, f: 2 - e, (-1, 2), [-5, 9]),
            (lambda e, f: e * True, (1, 0), [7, -7]),
            (lambda e, f: np.float64(3) * e, (3, 0), [21, -21]),
            (lambda e, f: e / 4, (0.25, 0), [1.75, -1.75]),
            (lambda e, f: e / 3, (float(np.float32(1) / np.float32(3)), 0), [7 / 3, -7 / 3]),
        ],
    )
    def test_operators(self, operate, operator, expected):
        graph, e, f = start([2], [2])
        y = operate(e, f)
        [desc] = nodes(graph, y)
        if isinstance(operator, str):
            assert desc.type == operator
        else:
            scale_bias = desc.get("ScaleBias")
            assert (desc.type, scale_bias.scale, scale_bias.bias) == ("ELEMENT_WISE_IDENTITY", *operator)
        [array] = compute(graph, [e, f], [[7, -7], [2, 4]], y)
        np.testing.assert_allclose(array, expected, 1e-6)

    def test_dividing_a_number_by_an_expression(self):
        """The result is 1 / (2 * e), as in PyDirectML."""
        graph, e = start([2])
        y = 2 / e
        [desc] = nodes(graph, y)
        assert (desc.type, desc.get("ScaleBias").scale, desc.get("ScaleBias").bias) == ("ELEMENT_WISE_RECIP", 2, 0)
        assert compute(graph, [e], [[1, 4]], y)[0].tolist() == [0.5, 0.125]

    def test_in_place_operators_change_the_expression(self):
        graph, x = start([3])
        y = x * 1
        alias, before = y, dml.reinterpret(y, F, [3], None)
        y += 1
        y *= x
        y -= 0.5
        y /= 2
        y -= x
        y /= x
        y += x
        y *= 4
        assert alias is y
        result, old = compute(graph, [x], [[1, 2, 4]], alias, before)
        n = np.array([1, 2, 4])
        np.testing.assert_allclose(result, ((((n + 1) * n - 0.5) / 2 - n) / n + n) * 4, 1e-6)
        assert old.tolist() == [1, 2, 4]

    def test_modulus_in_place(self):
        graph, x, y = start([2], [2])
        z = x * 1
        z %= y
        assert compute(graph, [x, y], [[-7, 7], [4, 4]], z)[0].tolist() == [-3, 3]

    @pytest.mark.parametrize(
        "operate",
        [
            lambda e: e % 2,
            lambda e: 2 % e,
            lambda e: e**2,
            lambda e: e // 2,
            lambda e: abs(e),
            lambda e: e < e,
            lambda e: e & e,
            lambda e: e @ e,
            lambda e: e[0],
            lambda e: ~e,
            lambda e: e + "1",
            lambda e: e + None,
            lambda e: [1] - e,
            lambda e: float(e),
        ],
    )
    def test_unsupported_operators(self, operate):
        _, e = start([2])
        with pytest.raises(TypeError):
            operate(e)

    def test_equality_is_identity(self):
        _, e = start([2])
        again = dml.reinterpret(e, F, [2], None)
        assert e == e
        assert e != again
        assert len({e, again, e}) == 2

    def test_there_is_no_broadcasting(self):
        _, a, b = start([1, 2, 3, 3], [1, 2, 1, 1])
        with pytest.raises(DmlError, match=r"BTensor has sizes \[1, 2, 1, 1\]"):
            _ = a + b

    def test_null_expressions(self):
        _, e = start([2])
        null = dml.Expression()
        for use in (lambda: null + 1, lambda: e + null, lambda: -null, null.get_output_desc, lambda: dml.add(e, null)):
            with pytest.raises(RuntimeError, match="null expression"):
                use()
        assert [null, null][0] is null


class TestReinterpret:
    def test_flags_total_size_and_alignment_are_kept(self):
        graph = dml.GraphBuilder(DEVICE)
        x = dml.input_tensor(graph, 0, dml.TensorDesc(F, OWNED, [2, 3], None, 64, 16))
        desc = dml.reinterpret(x, dml.UINT32, [3], [2]).get_output_desc()
        assert (desc.data_type, desc.flags, desc.sizes, desc.strides) == (dml.UINT32, OWNED, [3], [2])
        assert (desc.total_tensor_size_in_bytes, desc.guaranteed_base_offset_alignment) == (64, 16)

    def test_chains_refer_to_the_buffer(self):
        graph, x = start([2, 3])
        turned = dml.reinterpret(x, F, [3, 2], [1, 3])
        flat = dml.reinterpret(turned, F, [6], None)
        halves = dml.reinterpret(dml.reinterpret(x, dml.UINT32, [1, 6], None), F, [2, 3], None)
        a, b, c = compute(graph, [x], [np.arange(6)], turned * 1, flat * 1, halves * 1)
        assert a.tolist() == [[0, 3], [1, 4], [2, 5]]
        assert b.tolist() == [0, 1, 2, 3, 4, 5]
        assert c.tolist() == [[0, 1, 2], [3, 4, 5]]

    def test_a_strided_input_is_read_as_its_buffer(self):
        graph, x = start(dml.TensorDesc(F, [1, 2, 3, 3], [2, 1, 0, 0]))
        assert compute(graph, [x], [[5, 6]], dml.reinterpret(x, F, [2], None) * 1)[0].tolist() == [5, 6]

    def test_bytes_after_the_tensor_can_be_read(self):
        graph, x = start(dml.TensorDesc(F, dml.TensorFlags.NONE, [2], None, 16, 0))
        first, whole = compute(graph, [x], [[1, 2, 3, 4]], x * 2, dml.reinterpret(x, F, [4], None) * 2)
        assert (first.tolist(), whole.tolist()) == ([2, 4], [2, 4, 6, 8])

    def test_other_data_types_read_the_bits(self):
        graph, x = start([2])
        bits = dml.reinterpret(x, dml.UINT32, [2], None) + dml.reinterpret(x, dml.UINT32, [2], None)
        [array] = compute(graph, [x], [np.array([3, 4], np.uint32).view(np.float32)], bits)
        assert array.view(np.uint32).tolist() == [6, 8]

    def test_tensors_larger_than_the_buffer_are_refused(self):
        _, x = start([4])
        assert refused(dml.reinterpret, x, F, [5], None) == ["DML1806"]
        with pytest.raises(ValueError, match="UNKNOWN"):
            dml.reinterpret(x, dml.UNKNOWN, [4], None)
        with pytest.raises(TypeError, match="missing 1 required positional argument: 'new_strides'"):
            dml.reinterpret(x, F, [4])  # type: ignore[call-arg]  # the mistake


class TestBuild:
    def test_several_builds_of_one_builder(self):
        graph, x = start([2])
        y = x + 1
        first = graph.build(FLAGS, [y])
        z = y * 3
        second = graph.build(dml.ExecutionFlags(5), [z, y])
        bindings = [dml.Binding(x, [1, 2])]
        assert np.array(DEVICE.compute(first, bindings, [y])[0]).tolist() == [2, 3]
        assert [np.array(item).tolist() for item in DEVICE.compute(second, bindings, [z, y])] == [[6, 9], [2, 3]]
        assert [len(model.graph.nodes) for model in (first, second)] == [1, 2]

    def test_unused_inputs_and_operators(self):
        graph, x, unused = start([2], [3])
        _ = unused * 2
        y = x + 1
        model = graph.build(FLAGS, [y])
        for bound in (None, dml.Binding(unused, [1, 2, 3])):
            results = DEVICE.compute(model, [dml.Binding(x, [1, 2]), bound], [y])
            assert np.array(results[0]).tolist() == [2, 3]

    def test_an_output_listed_twice(self):
        graph, x = start([2])
        y = x + 1
        assert [array.tolist() for array in compute(graph, [x], [[1, 2]], y, y)] == [[2, 3], [2, 3]]

    def test_an_output_reshaped_for_compute(self):
        graph, x = start([6])
        y = x + 1
        model = graph.build(FLAGS, [y])
        shaped = dml.reinterpret(y, F, [2, 3], None)
        [result] = DEVICE.compute(model, [dml.Binding(x, np.arange(6))], [shaped])
        assert np.array(result).tolist() == [[1, 2, 3], [4, 5, 6]]

    def test_an_input_cannot_be_an_output(self):
        graph, x = start([6])
        for output in (x, dml.reinterpret(x, F, [2, 3], None)):
            with pytest.raises(ValueError, match="output 0 is a graph input"):
                graph.build(FLAGS, [output])

    def test_inputs_in_any_order_and_an_index_used_twice(self):
        graph = dml.GraphBuilder(DEVICE)
        b = dml.input_tensor(graph, 1, dml.TensorDesc(F, [2]))
        a = dml.input_tensor(graph, 0, dml.TensorDesc(F, [2]))
        y = a - b
        assert compute(graph, [a, b], [[5, 6], [1, 2]], y)[0].tolist() == [4, 4]
        again = dml.input_tensor(graph, 0, dml.TensorDesc(F, [2]))
        model = graph.build(FLAGS, [y * again])
        bindings = [dml.Binding(a, [5, 6]), dml.Binding(b, [1, 2]), None]
        assert np.array(DEVICE.compute(model, bindings, [y])[0]).tolist() == [20, 24]

    def test_indices_beyond_the_inputs(self):
        graph = dml.GraphBuilder(DEVICE)
        x = dml.input_tensor(graph, 3, dml.TensorDesc(F, [2]))
        y = x + 1
        with pytest.raises(ValueError, match="input_index 3 is used, but there are only 1 input tensors"):
            graph.build(FLAGS, [y])

    def test_null_outputs(self):
        graph, x = start([1, 1, 3, 3])
        pooled = dml.max_pooling(x, [2, 2])
        model = graph.build(FLAGS, [pooled.indices, pooled.values])
        bindings = [dml.Binding(x, np.arange(9))]
        [result] = DEVICE.compute(model, bindings, [None, pooled.values])
        assert np.array(result).reshape(-1).tolist() == [4, 5, 7, 8]
        with pytest.raises(ValueError, match="output 0 of the model is a null expression"):
            DEVICE.compute(model, bindings, [pooled.values, pooled.values])

    def test_mistakes(self):
        graph, x = start([2])
        y = x + 1
        with pytest.raises(TypeError, match="flags has to be of ExecutionFlags, not int"):
            graph.build(dml.ExecutionFlags.NONE | dml.ExecutionFlags.DISABLE_META_COMMANDS, [y])
        with pytest.raises(TypeError, match="outputs has to be a list, not Expression"):
            graph.build(FLAGS, y)
        with pytest.raises(TypeError, match="positional-only"):
            graph.build(flags=FLAGS, outputs=[y])
        with pytest.raises(TypeError, match="device has to be of Device"):
            dml.GraphBuilder(None)  # type: ignore[arg-type]  # the mistake
        with pytest.raises(DmlError, match="at least one output"):
            graph.build(FLAGS, [])
        with pytest.raises(ValueError, match="UNKNOWN"):
            dml.input_tensor(graph, 1, dml.TensorDesc(dml.UNKNOWN, [2]))
        with pytest.raises(DmlError, match="4 bytes do not hold"):
            dml.input_tensor(graph, 1, dml.TensorDesc(F, dml.TensorFlags.NONE, [4], None, 4, 0))

    def test_expressions_of_another_builder_are_refused(self):
        _, a = start([2])
        _, b = start([2])
        with pytest.raises(DmlError, match="another GraphBuilder"):
            _ = a + b


class TestCompute:
    def model(self):
        graph, x, w = start([1, 1, 2, 2], dml.TensorDesc(F, OWNED, [1, 1, 1, 1]))
        y = dml.convolution(x, w)
        z = y + 1
        return graph.build(FLAGS, [y, z]), x, w, y, z

    def test_outputs_can_be_skipped(self):
        model, x, w, y, z = self.model()
        bindings = [dml.Binding(x, [1, 2, 3, 4]), dml.Binding(w, [2])]
        assert [np.array(item).sum() for item in DEVICE.compute(model, bindings, [None, z])] == [24]
        assert [np.array(item).sum() for item in DEVICE.compute(model, bindings, [y, None])] == [20]
        assert DEVICE.compute(model, bindings, [None, None]) == []

    def test_owned_weights_can_change_between_calls(self):
        model, x, w, y, _ = self.model()
        for weight in (2, 3, 2, -1):
            bindings = [dml.Binding(x, [1, 2, 3, 4]), dml.Binding(w, weight)]
            [result] = DEVICE.compute(model, bindings, [y, None])
            assert np.array(result).reshape(-1).tolist() == [weight, 2 * weight, 3 * weight, 4 * weight]

    def test_compiles_once(self):
        model, x, w, y, z = self.model()
        models: list[settings.Computed] = []
        with settings.use(settings.Settings(compiled=models.append)):
            for _ in range(3):
                DEVICE.compute(model, [dml.Binding(x, [1, 2, 3, 4]), dml.Binding(w, [2])], [y, z])
        [computed] = models
        assert [port.name for port in computed.model.inputs] == ["input0"]
        assert [(slot.name, slot.owned_by_dml) for slot in computed.frozen] == [("input1", True)]

    def test_wrong_byte_counts_are_refused(self):
        model, x, w, y, z = self.model()
        with pytest.raises(ValueError, match=r"input 0 takes 16 bytes .*5 float32 numbers has 20 bytes"):
            DEVICE.compute(model, [dml.Binding(x, np.ones(5)), dml.Binding(w, [2])], [y, z])
        with pytest.raises(ValueError, match=r"input 1 takes 4 bytes .*2 float32 numbers has 8 bytes"):
            DEVICE.compute(model, [dml.Binding(x, np.ones(4)), dml.Binding(w, [2, 3])], [y, z])
        with pytest.raises(ValueError, match="input 0 takes 16 bytes, but is bound to a tensor of 4 bytes"):
            DEVICE.compute(model, [dml.Binding(w, [2]), dml.Binding(w, [2])], [y, z])

    def test_byte_counts_of_half_precision(self):
        graph, x = start(dml.TensorDesc(dml.FLOAT16, [4]))
        y = dml.reinterpret(x + 1, F, [2], None)
        model = graph.build(FLAGS, [y])
        with pytest.raises(ValueError, match="takes 8 bytes"):
            DEVICE.compute(model, [dml.Binding(x, np.ones(4, np.float16))], [y])
        bits = np.array([1, 2, 3, 4], np.float16).view(np.float32)
        [result] = DEVICE.compute(model, [dml.Binding(x, bits)], [y])
        assert np.array(result).view(np.float16).tolist() == [2, 3, 4, 5]

    def test_wrong_lists_are_refused(self):
        model, x, w, y, z = self.model()
        bindings = [dml.Binding(x, [1, 2, 3, 4]), dml.Binding(w, [2])]
        needs = r"the model has 2 inputs, but 1 was given; in this order .*: input 0 of 16 bytes, input 1 of"
        with pytest.raises(ValueError, match=needs):
            DEVICE.compute(model, bindings[:1], [y, z])
        with pytest.raises(ValueError, match="the model has 2 outputs, but 3 were given"):
            DEVICE.compute(model, bindings, [y, z, y])
        with pytest.raises(ValueError, match="input 1 is needed, but nothing is bound to it"):
            DEVICE.compute(model, [bindings[0], None], [y, z])
        with pytest.raises(TypeError, match=r"inputs\[0\] has to be of Binding, not list"):
            DEVICE.compute(model, [[1, 2, 3, 4], bindings[1]], [y, z])  # type: ignore[list-item]  # the mistake
        with pytest.raises(ValueError, match="output 0 has 16 bytes, but was given a tensor of 4 bytes"):
            DEVICE.compute(model, bindings, [w, z])

    def test_the_feature_level_of_the_command(self):
        with settings.use(settings.Settings(feature_level=FeatureLevel.parse("1_0"))):
            _, x = start([2])
            with pytest.raises(DmlError, match="DML16"):
                _ = -x
