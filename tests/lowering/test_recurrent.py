"""RNN, GRU and LSTM against the reference."""

import json
from itertools import product
from typing import Any

import numpy as np
import pytest

import dml2onnx
from dml2onnx import catalog
from dml2onnx.compiler import compile_outputs
from tests.lowering.harness import check_case, check_form, make_case, operator, operators, t, type_cases

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
DIRECTIONS = ("FORWARD", "BACKWARD", "BIDIRECTIONAL")
NODE = {"RNN": ("TANH",), "GRU": ("SIGMOID", "TANH"), "LSTM": ("SIGMOID", "TANH", "TANH")}
"""Activations that ONNX's operators have."""
SCAN = {"RNN": ("GELU",), "GRU": ("SIGMOID", "GELU"), "LSTM": ("SIGMOID", "TANH", "GELU")}
"""Activations, one of which they do not have."""
FORMS = [
    pytest.param(name, form[name], id=f"{name}-{kind}")
    for kind, form in (("node", NODE), ("scan", SCAN))
    for name in GATES
]
LENGTHS = "SequenceLengthsTensor"
WEIGHTS = ("WeightTensor", "RecurrenceTensor", "BiasTensor", "PeepholeTensor")
OUTPUTS = {
    "RNN": ("OutputSequenceTensor", "OutputSingleTensor"),
    "GRU": ("OutputSequenceTensor", "OutputSingleTensor"),
    "LSTM": ("OutputSequenceTensor", "OutputSingleTensor", "OutputCellSingleTensor"),
}
INPUTS = {
    "RNN": ("BiasTensor", "HiddenInitTensor", "SequenceLengthsTensor"),
    "GRU": ("BiasTensor", "HiddenInitTensor", "SequenceLengthsTensor"),
    "LSTM": ("BiasTensor", "HiddenInitTensor", "CellMemInitTensor", "SequenceLengthsTensor", "PeepholeTensor"),
}
PARAMETERS: dict[str, Any] = {"Alpha": 0.75, "Beta": 0.25, "Gamma": 1.5, "Steepness": 1.25, "Bias": 0.125}
PARAMETERS |= {"Threshold": 0.25, "SigmoidInputScale": 1.5, "Axes": (3,)}


def activation(name, **fields):
    """An activation with attributes that are not the defaults."""
    schema = catalog.operator(f"ACTIVATION_{name}")
    known = {item.name: PARAMETERS[item.name] for item in schema.fields if item.name in PARAMETERS}
    return operator(schema.short_name, **{**known, **fields})


def recurrent(
    name,
    activations=None,
    *,
    direction="FORWARD",
    steps=3,
    batch=2,
    features=4,
    hidden=5,
    data_type="FLOAT32",
    without=(),
    layouts=None,
    **attributes,
):
    """A descriptor with all tensors but ``without``; ``activations`` are for one direction or for all."""
    directions = 2 if direction == "BIDIRECTIONAL" else 1
    gates, layouts = GATES[name], layouts or {}
    sizes = {
        "InputTensor": (1, steps, batch, features),
        "WeightTensor": (1, directions, gates * hidden, features),
        "RecurrenceTensor": (1, directions, gates * hidden, hidden),
        "BiasTensor": (1, 1, directions, 2 * gates * hidden),
        "HiddenInitTensor": (1, directions, batch, hidden),
        "SequenceLengthsTensor": (1, 1, 1, batch),
        "OutputSequenceTensor": (steps, directions, batch, hidden),
        "OutputSingleTensor": (1, directions, batch, hidden),
    }
    if name == "GRU":
        attributes = {"LinearBeforeReset": False, **attributes}
    if name == "LSTM":
        sizes["CellMemInitTensor"] = sizes["OutputCellSingleTensor"] = sizes["HiddenInitTensor"]
        sizes["PeepholeTensor"] = (1, 1, directions, 3 * hidden)
        attributes = {"ClipThreshold": 0.0, "UseClipThreshold": False, "CoupleInputForget": False, **attributes}
    tensors = {
        field: t("UINT32" if field == "SequenceLengthsTensor" else data_type, shape, layouts.get(field))
        for field, shape in sizes.items()
        if field not in without
    }
    own = [activation(item) if isinstance(item, str) else item for item in activations or NODE[name]]
    several = own if len(own) == len(NODE[name]) * directions else own * directions
    return operator(name, **tensors, ActivationDescs=tuple(several), Direction=direction, **attributes)


def contents(op, lengths=None, scale=0.4, seed=0):
    """Returns numbers that do not saturate the gates, and sequence lengths."""
    random = np.random.default_rng(seed)
    values = {}
    for field in op.schema.input_fields:
        for desc in op.tensors(field.name):
            values[field.name] = random.normal(0, scale, desc.sizes).astype(desc.data_type.dtype)
            if field.name == "SequenceLengthsTensor":
                upper = op.tensor("InputTensor").sizes[1] + 2
                chosen = random.integers(0, upper, desc.sizes[-1]) if lengths is None else lengths
                values[field.name] = np.array(chosen, np.uint32).reshape(desc.sizes)
    for name, desc in ((name, op.tensor(name)) for name in values if not op.tensor(name).is_packed):
        # elements that share memory have one value
        values[name] = values[name][tuple(slice(None) if s else slice(1) for s in desc.effective_strides)]
        values[name] = np.broadcast_to(values[name], desc.sizes)
    return values


def check(op, *, lengths=None, constants=(), **options):
    """Checks an exact model, whose steps are the body of a Scan."""
    return check_case(op, inputs=contents(op, lengths), constants=present(op, constants), **options)


def default(op, *, lengths=None, constants=(), **options):
    """Checks a default model, which has ONNX's operators, on lengths in range."""
    if lengths is None and op.has("SequenceLengthsTensor"):
        steps = op.tensor("InputTensor").sizes[1]
        lengths = [1 + index % steps for index in range(op.tensor("SequenceLengthsTensor").sizes[-1])]
    return check_form(op, inputs=contents(op, lengths), constants=present(op, constants), **options)


def present(op, names):
    return [name for name in names if op.schema.field(name) is not None and op.has(name)]


def recurrent_node(model):
    """Returns the only recurrent node."""
    (node,) = [item for item in model.model_proto.graph.node if item.op_type in {*GATES, "Scan"}]
    return node


def attributes_of(node):
    """Returns attributes by name, without the body of a Scan."""
    kinds = {1: "f", 2: "i", 3: "s", 6: "floats", 7: "ints", 8: "strings"}
    values = {item.name: getattr(item, kinds[item.type]) for item in node.attribute if item.name != "body"}
    return {key: list(value) if hasattr(value, "extend") else value for key, value in values.items()}


def body_of(node):
    (body,) = [item.g for item in node.attribute if item.name == "body"]
    return body


SUPPORT = [(name, *case.values) for name in GATES for case in type_cases(name, "OutputSequenceTensor")]


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("form", [NODE, SCAN], ids=["node", "scan"])
@pytest.mark.parametrize(("name", "data_type", "rank"), SUPPORT)
def test_every_data_type_and_rank(name, data_type, rank, form, direction):
    assert rank == 4
    op = recurrent(name, form[name], direction=direction, data_type=data_type)
    for constants in (WEIGHTS, (), ("SequenceLengthsTensor", "HiddenInitTensor")):
        model = check(op, lengths=[2, 3], constants=constants)
        assert {*GATES, "Scan"} & set(operators(model)) == {"Scan"}
        model = default(op, lengths=[2, 3], constants=constants)
        assert {*GATES, "Scan"} & set(operators(model)) == ({name} if form is NODE else set())


class TestForm:
    @pytest.mark.parametrize("name", GATES)
    def test_one_node(self, name):
        op = recurrent(name, without=("SequenceLengthsTensor",))
        found = operators(default(op, constants=[*WEIGHTS, "HiddenInitTensor", "CellMemInitTensor"]))
        assert [item for item in found if item != "Reshape"] == [name]

    @pytest.mark.parametrize("name", ["GRU", "LSTM"])
    def test_default_attributes_are_omitted(self, name):
        assert attributes_of(recurrent_node(default(recurrent(name)))) == {"hidden_size": 5}
        backward = attributes_of(recurrent_node(default(recurrent(name, direction="BIDIRECTIONAL"))))
        assert backward == {"hidden_size": 5, "direction": b"bidirectional"}

    def test_attributes(self):
        activations = ["LEAKY_RELU", "LINEAR", "SOFTSIGN", activation("ELU", Alpha=0.5)]
        op = recurrent("GRU", activations, direction="BIDIRECTIONAL", LinearBeforeReset=True)
        assert attributes_of(recurrent_node(default(op))) == {
            "activations": [b"LeakyRelu", b"Affine", b"Softsign", b"Elu"],
            "activation_alpha": [0.75, 0.75, 0.5],
            "activation_beta": [0.25],
            "direction": b"bidirectional",
            "hidden_size": 5,
            "linear_before_reset": 1,
        }

    def test_attributes_of_lstm(self):
        op = recurrent("LSTM", direction="BACKWARD", UseClipThreshold=True, ClipThreshold=0.5, CoupleInputForget=True)
        expected = {"clip": 0.5, "direction": b"reverse", "hidden_size": 5, "input_forget": 1}
        assert attributes_of(recurrent_node(default(op))) == expected

    @pytest.mark.parametrize("name", GATES)
    def test_constant_weights_are_transposed_when_compiling(self, name):
        op = recurrent(name, SCAN[name], without=("SequenceLengthsTensor",))
        model = check(op, constants=[*WEIGHTS, "HiddenInitTensor", "CellMemInitTensor"])
        assert [item for item in operators(model) if item != "Reshape"] == ["Gemm", "Scan"]

    @pytest.mark.parametrize("linear_before_reset", [False, True])
    def test_weights_are_split_outside_of_the_loop(self, linear_before_reset):
        op = recurrent("GRU", SCAN["GRU"], LinearBeforeReset=linear_before_reset)
        body = body_of(recurrent_node(check(op)))
        inside = {item for step in body.node for item in step.output} | {item.name for item in body.input}
        assert {step.input[0] for step in body.node if step.op_type in {"Split", "Slice"}} <= inside

    def test_exact_models_round_float16_at_the_end(self):
        op = recurrent("GRU", data_type="FLOAT16")
        model = check(op, lengths=[1, 2], constants=[*WEIGHTS, LENGTHS])
        assert operators(model).count("Cast") == 4  # input, initial state; both outputs
        last = {node.op_type for node in model.model_proto.graph.node if node.output[0] in OUTPUTS["GRU"]}
        assert last == {"Cast"}
        assert "Cast" not in {step.op_type for step in body_of(recurrent_node(model)).node}
        assert operators(default(op, constants=WEIGHTS)).count("Cast") == 1  # lengths

    def test_notes(self):
        (trace,) = check(recurrent("RNN", ["TANH"])).lowered.traces
        notes = {"RNN differs from DirectML's for NaN", "the steps are the body of a Scan"}
        assert notes <= {*trace.notes}
        (trace,) = default(recurrent("RNN", ["GELU"])).lowered.traces
        assert {"RNN does not have ACTIVATION_GELU", "the steps are unrolled"} <= {*trace.notes}


class TestOutputs:
    @pytest.mark.parametrize("direction", DIRECTIONS)
    @pytest.mark.parametrize(("name", "activations"), FORMS)
    def test_each_alone_and_all_but_each(self, name, activations, direction):
        for wanted in product([True, False], repeat=len(OUTPUTS[name])):
            without = [field for field, keep in zip(OUTPUTS[name], wanted, strict=True) if not keep]
            if len(without) < len(wanted):
                model = check(recurrent(name, activations, direction=direction, without=without))
                assert len(model.model_proto.graph.output) == sum(wanted)

    def test_unused_outputs_are_not_computed(self):
        for wanted, names in (((True, False), 1), ((False, True), 2)):
            without = [field for field, keep in zip(OUTPUTS["GRU"], wanted, strict=True) if not keep]
            node = recurrent_node(default(recurrent("GRU", without=without)))
            assert [bool(item) for item in node.output] == [False, True][-names:]
            scan = recurrent_node(check(recurrent("GRU", SCAN["GRU"], without=without)))
            assert len(scan.output) == 1 + wanted[0]

    @pytest.mark.parametrize("name", GATES)
    def test_a_layer_of_constants(self, name):
        """ONNX Runtime folds it when it loads the model; 1.24 requires a name for every output then."""
        for without in ((), *((field,) for field in OUTPUTS[name])):
            op = recurrent(name, without=without)
            check(op, constants=[field.name for field in op.schema.input_fields])


class TestOptionalInputs:
    @pytest.mark.parametrize("direction", DIRECTIONS)
    @pytest.mark.parametrize(("name", "activations"), FORMS)
    def test_each_alone_and_all_but_each(self, name, activations, direction):
        for field in INPUTS[name]:
            check(recurrent(name, activations, direction=direction, without=[field]))
            check(recurrent(name, activations, direction=direction, without=set(INPUTS[name]) - {field}))
        check(recurrent(name, activations, direction=direction, without=INPUTS[name]))

    @pytest.mark.parametrize("bias", [True, False])
    @pytest.mark.parametrize("activations", [NODE["GRU"], SCAN["GRU"]])
    @pytest.mark.parametrize("direction", DIRECTIONS)
    def test_linear_before_reset(self, activations, bias, direction):
        without = () if bias else ("BiasTensor",)
        op = recurrent("GRU", activations, direction=direction, without=without, LinearBeforeReset=True)
        check(op)
        check(op, constants=WEIGHTS)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("name", "activations"), FORMS)
class TestSequenceLengths:
    LENGTHS = (0, 3, 1, 9, 2, 0, 4_000_000_000, 3)
    """No steps, all, fewer, more, and a number that is negative as INT32."""

    @pytest.mark.parametrize("constants", [(), ("SequenceLengthsTensor",)])
    def test_all_kinds(self, name, activations, direction, constants):
        op = recurrent(name, activations, direction=direction, batch=8)
        check(op, lengths=self.LENGTHS, constants=constants)

    def test_lengths_of_0(self, name, activations, direction):
        op = recurrent(name, activations, direction=direction)
        for _ in range(3):  # memory that is never written may differ from run to run
            check(op, lengths=[0, 0])

    def test_a_single_step(self, name, activations, direction):
        check(recurrent(name, activations, direction=direction, steps=1), lengths=[0, 1])

    def test_constant_full_lengths_are_dropped(self, name, activations, direction):
        op = recurrent(name, activations, direction=direction)
        model = check(op, lengths=[3, 3], constants=["SequenceLengthsTensor"])
        assert not {"Where", "Less", "Min"} & set(operators(model))

    def test_constant_positive_lengths_need_no_guard(self, name, activations, direction):
        op = recurrent(name, activations, direction=direction)
        model = check(op, lengths=[1, 3], constants=["SequenceLengthsTensor"])
        assert not {"Where", "Less", "Greater", "Min"} & set(operators(model))

    def test_elements_after_the_end_are_ignored(self, name, activations, direction):
        op = recurrent(name, activations, direction=direction)
        inputs = contents(op, [1, 2])
        inputs["InputTensor"][0, 1:, 0] = np.nan
        inputs["InputTensor"][0, 2:, 1] = np.inf
        model = check_case(op, inputs=inputs)
        got = model.run({key: value.reshape(-1) for key, value in inputs.items()})
        assert all(np.isfinite(value).all() for value in got.values())


OF_ONE_TENSOR = [
    name.removeprefix("DML_OPERATOR_ACTIVATION_")
    for name in catalog.operator_names()
    if name.startswith("DML_OPERATOR_ACTIVATION_") and len(catalog.operator(name).input_fields) == 1
]
BY_NAME = {"ELU", "HARD_SIGMOID", "IDENTITY", "LEAKY_RELU", "LINEAR", "RELU", "SOFTSIGN", "THRESHOLDED_RELU"}
BY_NAME |= {"SCALED_TANH", "SIGMOID", "TANH"}
"""Activations that all three ONNX operators have; SOFTPLUS needs a Steepness of 1."""


class TestActivations:
    def test_all_are_tested(self):
        assert len(OF_ONE_TENSOR) == 25
        assert set(OF_ONE_TENSOR) > BY_NAME

    @pytest.mark.parametrize("tested", OF_ONE_TENSOR)
    @pytest.mark.parametrize("name", GATES)
    @pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
    def test_each_in_each_position(self, name, tested, data_type):
        for place in range(len(NODE[name])):
            activations = [*NODE[name]]
            activations[place] = tested
            op = recurrent(name, activations, data_type=data_type, steps=2)
            check(op)
            assert (name in operators(default(op))) == (tested in BY_NAME)

    @pytest.mark.parametrize("direction", DIRECTIONS)
    @pytest.mark.parametrize(("name", "activations"), FORMS)
    def test_activations_of_the_forward_direction_come_first(self, name, activations, direction):
        other = {"RNN": ["RELU"], "GRU": ["SOFTSIGN", "RELU"], "LSTM": ["SOFTSIGN", "RELU", "ELU"]}[name]
        both = [*activations, *other] if direction == "BIDIRECTIONAL" else activations
        check(recurrent(name, both, direction=direction))

    @pytest.mark.parametrize("tested", ["ELU", "HARD_SIGMOID", "LEAKY_RELU", "LINEAR", "THRESHOLDED_RELU"])
    @pytest.mark.parametrize(("alpha", "beta"), [(0.0, 0.0), (-0.5, 0.25), (1.75, -0.5), (0.01, 1.0)])
    def test_parameters(self, tested, alpha, beta):
        has_beta = activation(tested).schema.field("Beta")
        changed = activation(tested, Alpha=alpha, **({"Beta": beta} if has_beta else {}))
        for name in GATES:
            default(recurrent(name, [changed] * len(NODE[name])))

    @pytest.mark.parametrize("first", ["SOFTSIGN", "LEAKY_RELU", "LINEAR"])
    @pytest.mark.parametrize("second", ["SOFTSIGN", "LEAKY_RELU", "LINEAR"])
    def test_parameters_of_some_only(self, first, second):
        """ONNX Runtime 1.24 reads those of RNN by position, 1.31 in order."""
        count = {"SOFTSIGN": 0, "LEAKY_RELU": 1, "LINEAR": 2}
        model = default(recurrent("RNN", [first, second], direction="BIDIRECTIONAL"))
        assert ("RNN" in operators(model)) == (count[first] >= count[second])
        default(recurrent("GRU", [first, "TANH", second, "RELU"], direction="BIDIRECTIONAL"))
        default(recurrent("GRU", [first, second]))
        default(recurrent("LSTM", [first, "TANH", second]))

    @pytest.mark.parametrize("axes", [(2,), (0,), (1, 3), (2, 3)])
    @pytest.mark.parametrize("tested", ["SOFTMAX1", "LOG_SOFTMAX1", "HARDMAX1"])
    def test_axes_of_the_outputs(self, tested, axes):
        for name in GATES:
            activations = [*NODE[name]]
            activations[-1] = activation(tested, Axes=axes)
            check(recurrent(name, activations, without=("SequenceLengthsTensor",)))

    @pytest.mark.parametrize("name", GATES)
    @pytest.mark.parametrize("tested", [*sorted(BY_NAME), "TANH", "SCALED_TANH", "SOFTPLUS", "GELU"])
    def test_from_the_smallest_to_the_largest_arguments(self, name, tested):
        """The hidden state depends on one gate only, whose argument takes all values."""
        powers = 10.0 ** np.linspace(-37, 37, 150)
        values = np.concatenate([np.linspace(-100, 100, 400), powers, -powers, [0.0, -0.0]]).astype(np.float32)
        if tested == "SOFTPLUS":
            tested = activation(tested, Steepness=1.0)
        identity = activation("IDENTITY")
        nothing, one = activation("LINEAR", Alpha=0.0, Beta=0.0), activation("LINEAR", Alpha=0.0, Beta=1.0)
        activations, gate = {
            "RNN": ([tested], 0),
            "GRU": ([nothing, tested], 2),  # z = 0
            "LSTM": ([one, tested, identity], 3),  # i = o = 1
        }[name]
        without = [field for field in INPUTS[name] if field != "CellMemInitTensor"]
        op = recurrent(name, activations, steps=1, batch=len(values), features=1, hidden=1, without=without)
        weights = np.zeros(GATES[name])
        weights[gate] = 1
        inputs: dict[str, np.ndarray] = {
            "InputTensor": values.reshape(1, 1, -1, 1),
            "WeightTensor": weights.reshape(1, 1, -1, 1),
            "RecurrenceTensor": np.zeros((1, 1, GATES[name], 1)),
        }
        if name == "LSTM":
            inputs["CellMemInitTensor"] = np.zeros((1, 1, len(values), 1))
        check_case(op, inputs=inputs)


class TestLstm:
    def test_nan_beneath_a_negative_threshold(self):
        """DirectML applies the lower bound first, which replaces NaN, and then the upper bound."""
        op = recurrent("LSTM", UseClipThreshold=True, ClipThreshold=-1.0)
        inputs = contents(op)
        inputs["InputTensor"][0, 0, 0, 0] = np.nan
        check_case(op, inputs=inputs)

    @pytest.mark.parametrize("direction", DIRECTIONS)
    @pytest.mark.parametrize("activations", [NODE["LSTM"], SCAN["LSTM"]])
    @pytest.mark.parametrize("clip", [None, 0.25, 3.0, np.inf])
    @pytest.mark.parametrize("coupled", [False, True])
    @pytest.mark.parametrize("peephole", [True, False])
    def test_clip_coupling_and_peepholes(self, activations, clip, coupled, peephole, direction):
        op = recurrent(
            "LSTM",
            activations,
            direction=direction,
            UseClipThreshold=clip is not None,
            ClipThreshold=0.125 if clip is None else clip,
            CoupleInputForget=coupled,
            without=() if peephole else ("PeepholeTensor",),
        )
        check(op)

    def test_onnx_cannot_clip_at_0(self):
        model = default(recurrent("LSTM", UseClipThreshold=True, ClipThreshold=0.0))
        assert "LSTM" not in operators(model)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("name", "activations"), FORMS)
def test_extreme_values(name, activations, direction):
    for seed in range(8):
        check_case(recurrent(name, activations, direction=direction), extremes=True, seed=seed)


class TestDirectML:
    """The provider's kernels are DirectML's own operators."""

    def compiled(self, op, opset):
        graph = make_case(op, constants=[name for name in WEIGHTS if op.schema.field(name) and op.has(name)]).graph
        return operators(compile_outputs(graph, graph.outputs, target="dml", opset=opset))

    @pytest.mark.parametrize("name", GATES)
    def test_it_needs_no_wider_type(self, name):
        op = recurrent(name, data_type="FLOAT16", without=("SequenceLengthsTensor",))
        assert "Cast" not in self.compiled(op, 21)

    def test_before_its_kernels_end(self):
        op = recurrent("GRU", ["SCALED_TANH", activation("SOFTPLUS", Steepness=1.0)], data_type="FLOAT16")
        assert "GRU" in self.compiled(op, 21)
        assert "Scan" in self.compiled(op, 22)
        assert "Scan" in self.compiled(recurrent("GRU", ["SIGMOID", "SOFTPLUS"]), 21)

    def test_after_them_the_operator_runs_in_float32(self):
        op = recurrent("GRU", data_type="FLOAT16", without=("SequenceLengthsTensor",))
        found = [item for item in self.compiled(op, 22) if item != "Reshape"]
        assert found == ["Cast", "Cast", "GRU", "Cast", "Cast"]


def test_stacked_layers(tmp_path):
    """Two Scans and a GRU; the second Scan reads the output of the first in another shape."""

    def layer(name, operator_name, source, target, features, activations, **attributes):
        gates = GATES[operator_name] * 3
        return {
            "name": name,
            "type": operator_name,
            "desc": {
                "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 2, features]},
                "OutputSequenceTensor": {"DataType": "FLOAT32", "Sizes": [4, 1, 2, 3]},
                "ActivationDescs": [{"type": f"ACTIVATION_{item}"} for item in activations],
                "Direction": "BACKWARD",
                **attributes,
            },
            "inputs": {"InputTensor": source, "WeightTensor": f"{name} w", "RecurrenceTensor": f"{name} r"},
            "outputs": {"OutputSequenceTensor": target},
        }, {
            f"{name} w": {"DataType": "FLOAT32", "Sizes": [1, 1, gates, features], "fill": 0.25},
            f"{name} r": {"DataType": "FLOAT32", "Sizes": [1, 1, gates, 3], "fill": -0.5},
        }

    layers = [
        layer("a", "RNN", "x", "h1", 5, ["TANH"]),
        layer("b", "RNN", "h1", "h2", 3, ["TANH"]),
        layer("c", "GRU", "h2", "y", 3, ["SIGMOID", "TANH"], LinearBeforeReset=False),
    ]
    model = {
        "dml2onnx": 1,
        "inputs": {"x": {"DataType": "FLOAT32", "Sizes": [1, 4, 2, 5]}},
        "constants": {name: constant for _, constants in layers for name, constant in constants.items()},
        "nodes": [node for node, _ in layers],
        "outputs": ["h1", "y"],
    }
    file = tmp_path / "model.json"
    file.write_text(json.dumps(model))
    verification = dml2onnx.verify(file, rounds=4)
    assert verification.passed
    assert all(item.unspecified == 0 for item in verification.comparisons if "ordinary" in item.round)
