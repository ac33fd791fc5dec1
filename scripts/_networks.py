"""Whole networks, each as DirectML operators, as handwritten ONNX, and in PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import onnx
from onnx import numpy_helper, parser

import dml2onnx
from dml2onnx.builder import Expression, GraphBuilder

Array: TypeAlias = npt.NDArray[Any]
Arrays: TypeAlias = Mapping[str, Array]
Eager: TypeAlias = Callable[[Any, Mapping[str, Any], Mapping[str, Any]], Callable[[], Mapping[str, Any]]]
"""The network in PyTorch: takes the module torch, weights and feeds; returns a function that computes outputs."""

OPSET = 21
EPSILON = 1e-5


@dataclass(frozen=True, slots=True)
class Network:
    """A network. ``by_hand`` has the graph's names of inputs and outputs; its shapes may omit sizes of 1."""

    name: str
    graph: dml2onnx.Graph
    by_hand: onnx.ModelProto
    feeds: Arrays
    weights: Arrays
    eager: Eager | None
    tolerance: float = 1e-4
    """Tolerance relative to the largest element."""
    slow: str = ""
    """The slow kernels of ONNX Runtime's CPU provider that ``--target cpu`` replaces."""
    reason: str = ""
    """Why a default model is slower than handwritten ONNX."""


def parsed(text: str, weights: Arrays) -> onnx.ModelProto:
    """Parses a model in ONNX's text format and adds its weights."""
    header = f'<ir_version: 10, opset_import: ["" : {OPSET}]>\n'
    model = parser.parse_model(header + text)
    used = {name for node in model.graph.node for name in node.input}
    model.graph.initializer.extend(
        numpy_helper.from_array(array, name) for name, array in weights.items() if name in used
    )
    onnx.checker.check_model(model, full_check=True)
    return model


class Drawing:
    """Builds a DirectML graph with matrices as weights; all sizes have four dimensions."""

    def __init__(self, weights: Arrays) -> None:
        self.g = GraphBuilder()
        self.w = {
            name: self.g.constant(array.reshape(_four(array.shape)), name=name) for name, array in weights.items()
        }

    def input(self, name: str, array: Array) -> Expression:
        return self.g.input(name, array.dtype.name.upper(), _four(array.shape))

    def normalized(self, x: Expression, prefix: str) -> Expression:
        scale, bias = (self.g.broadcast(self.w[f"{prefix}_{part}"], x.sizes) for part in ("scale", "bias"))
        return self.g.mean_variance_normalization1(x, scale, bias, [3], True, EPSILON)

    def dense(self, x: Expression, name: str, activation: str | None = None) -> Expression:
        bias = self.g.broadcast(self.w[f"{name}_b"], (*x.sizes[:3], self.w[name].sizes[3]))
        return self.g.gemm(x, self.w[name], bias, fused_activation=activation)


def _four(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (1,) * (4 - len(shape)) + tuple(shape)


def _random(seed: int, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Array]:
    """Random weights that preserve magnitudes from layer to layer; biases are small, scales near 1."""
    rng = np.random.default_rng(seed)
    made = {}
    for name, shape in shapes.items():
        spread = 0.1 if len(shape) == 1 else 1 / np.sqrt(np.prod(shape[1:] if len(shape) == 4 else shape[:-1]))
        made[name] = (rng.normal(0, spread, shape) + name.endswith("_scale")).astype(np.float32)
    return made


# --- Transformers ----------------------------------------------------------------------------------------------------

WIDTH, HEADS, INNER = 256, 8, 1024
SIZE = WIDTH // HEADS


def _block_weights(seed: int, layer: int) -> dict[str, Array]:
    shapes = {
        "first_scale": (WIDTH,), "first_bias": (WIDTH,), "second_scale": (WIDTH,), "second_bias": (WIDTH,),
        "parts": (WIDTH, 3 * WIDTH), "parts_b": (3 * WIDTH,), "join": (WIDTH, WIDTH), "join_b": (WIDTH,),
        "up": (WIDTH, INNER), "up_b": (INNER,), "down": (INNER, WIDTH), "down_b": (WIDTH,),
    }  # fmt: skip
    return {f"l{layer}_{name}": array for name, array in _random(seed + layer, shapes).items()}


def _block(d: Drawing, x: Expression, layer: int, past: tuple[Expression, Expression]) -> tuple[Expression, ...]:
    """One block; the columns of ``parts`` are query, key and value, each with all heads."""
    g, at, rows = d.g, f"l{layer}_", x.sizes[2]
    parts = g.split(d.dense(d.normalized(x, f"{at}first"), f"{at}parts"), 3, [WIDTH] * 3)
    query, key, value = (g.reinterpret(part, sizes=(1, rows, WIDTH)) for part in parts)
    found = g.multihead_attention(
        SIZE**-0.5, -1e4, HEADS, "NONE", query, key, value, past_key=past[0], past_value=past[1],
        output_present_key=True, output_present_value=True,
    )  # fmt: skip
    assert found.present_key is not None
    assert found.present_value is not None
    x = x + d.dense(g.reinterpret(found.output, sizes=x.sizes), f"{at}join")
    hidden = d.dense(d.normalized(x, f"{at}second"), f"{at}up", "ACTIVATION_GELU")
    return x + d.dense(hidden, f"{at}down"), found.present_key, found.present_value


_BLOCK = """
    {a}n = LayerNormalization <axis = -1, epsilon = 1e-5> ({x}, {a}first_scale, {a}first_bias)
    {a}m = MatMul ({a}n, {a}parts)
    {a}p = Add ({a}m, {a}parts_b)
    {a}q, {a}k, {a}v = Split <axis = -1, num_outputs = 3> ({a}p)
    {a}qh = Reshape ({a}q, heads)
    {a}kh = Reshape ({a}k, heads)
    {a}vh = Reshape ({a}v, heads)
    {a}qt = Transpose <perm = [0, 2, 1, 3]> ({a}qh)
    {a}kt = Transpose <perm = [0, 2, 1, 3]> ({a}kh)
    {a}vt = Transpose <perm = [0, 2, 1, 3]> ({a}vh)
    {a}keys = Concat <axis = 2> ({a}past_keys, {a}kt)
    {a}values = Concat <axis = 2> ({a}past_values, {a}vt)
    {a}turned = Transpose <perm = [0, 1, 3, 2]> ({a}keys)
    {a}s0 = MatMul ({a}qt, {a}turned)
    {a}s1 = Mul ({a}s0, factor)
    {a}s = Softmax <axis = -1> ({a}s1)
    {a}y0 = MatMul ({a}s, {a}values)
    {a}y1 = Transpose <perm = [0, 2, 1, 3]> ({a}y0)
    {a}y2 = Reshape ({a}y1, flat)
    {a}y3 = MatMul ({a}y2, {a}join)
    {a}y4 = Add ({a}y3, {a}join_b)
    {a}z = Add ({x}, {a}y4)
    {a}o = LayerNormalization <axis = -1, epsilon = 1e-5> ({a}z, {a}second_scale, {a}second_bias)
    {a}u0 = MatMul ({a}o, {a}up)
    {a}u1 = Add ({a}u0, {a}up_b)
    {a}u = Gelu ({a}u1)
    {a}d0 = MatMul ({a}u, {a}down)
    {a}d = Add ({a}d0, {a}down_b)
    {y} = Add ({a}z, {a}d)
"""


def _blocks_in_torch(torch: Any, w: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    f, x = torch.nn.functional, given["x"]
    results: dict[str, Any] = {}
    for layer in range(len(given) // 2):
        at = f"l{layer}_"
        n = f.layer_norm(x, (WIDTH,), w[f"{at}first_scale"], w[f"{at}first_bias"], EPSILON)
        parts = (n @ w[f"{at}parts"] + w[f"{at}parts_b"]).unflatten(-1, (3, HEADS, SIZE)).permute(2, 0, 3, 1, 4)
        keys = torch.cat([given[f"{at}past_keys"], parts[1]], 2)
        values = torch.cat([given[f"{at}past_values"], parts[2]], 2)
        y = f.scaled_dot_product_attention(parts[0], keys, values).transpose(1, 2).flatten(2)
        x = x + y @ w[f"{at}join"] + w[f"{at}join_b"]
        o = f.layer_norm(x, (WIDTH,), w[f"{at}second_scale"], w[f"{at}second_bias"], EPSILON)
        x = x + f.gelu(o @ w[f"{at}up"] + w[f"{at}up_b"]) @ w[f"{at}down"] + w[f"{at}down_b"]
        results |= {f"{at}keys": keys, f"{at}values": values}
    return {**results, "y": x}


def _transformer(name: str, layers: int, past: int, length: int) -> Network:
    weights = {key: array for layer in range(layers) for key, array in _block_weights(31, layer).items()}
    rng = np.random.default_rng(3)
    feeds = {"x": rng.normal(0, 1, (1, length, WIDTH)).astype(np.float32)}
    cache = (1, HEADS, past, SIZE)
    for layer in range(layers):
        feeds |= {f"l{layer}_past_{what}": rng.normal(0, 1, cache).astype(np.float32) for what in ("keys", "values")}
    d = Drawing(weights)
    given = {key: d.input(key, array) for key, array in feeds.items()}
    x, outputs = given["x"], {}
    for layer in range(layers):
        of_layer = given[f"l{layer}_past_keys"], given[f"l{layer}_past_values"]
        x, outputs[f"l{layer}_keys"], outputs[f"l{layer}_values"] = _block(d, x, layer, of_layer)
    graph = d.g.build({**outputs, "y": x})
    total = f"float[1,{HEADS},{past + length},{SIZE}]"
    arguments = ", ".join(f"float[{','.join(map(str, array.shape))}] {key}" for key, array in feeds.items())
    results = ", ".join(f"{total} {key}" for key in outputs)
    body = "".join(
        _BLOCK.format(a=f"l{i}_", x=f"x{i}" if i else "x", y=f"x{i + 1}" if i + 1 < layers else "y")
        for i in range(layers)
    )
    shapes: dict[str, Array] = {
        "heads": np.array([1, length, HEADS, SIZE]), "flat": np.array([1, length, WIDTH]),
        "factor": np.array(SIZE**-0.5, np.float32),
    }  # fmt: skip
    text = f"net ({arguments}) => ({results}, float[1,{length},{WIDTH}] y) {{{body}}}"
    return Network(
        name, graph, parsed(text, {**weights, **shapes}), feeds, weights,
        lambda torch, w, fed: lambda: _blocks_in_torch(torch, w, fed),
    )  # fmt: skip


# --- Others ----------------------------------------------------------------------------------------------------------


def _tagger() -> Network:
    """An embedding, a bidirectional LSTM over sequences of different lengths, and scores of tags for each step."""
    steps, batch, words, size, hidden, tags = 64, 8, 500, 64, 128, 12
    shapes = {
        "table": (words, size), "weight": (2, 4 * hidden, size), "recurrence": (2, 4 * hidden, hidden),
        "bias": (2, 8 * hidden), "judge": (2 * hidden, tags),
    }  # fmt: skip
    rng = np.random.default_rng(5)
    weights = {name: rng.normal(0, 0.1, shape).astype(np.float32) for name, shape in shapes.items()}
    lengths = rng.integers(steps // 2, steps + 1, batch)
    feeds: dict[str, Array] = {"words": rng.integers(0, words, (steps, batch)).astype(np.int32)}
    d = Drawing(weights)
    g = d.g
    embedded = g.reinterpret(
        g.gather(d.w["table"], d.input("words", feeds["words"]), 2, 2), sizes=[1, steps, batch, size]
    )
    read = g.lstm(
        embedded, d.w["weight"], d.w["recurrence"], ["ACTIVATION_SIGMOID", "ACTIVATION_TANH", "ACTIVATION_TANH"] * 2,
        "BIDIRECTIONAL", 0.0, False, False, bias=d.w["bias"], output_single=False, output_cell_single=False,
        sequence_lengths=g.constant(lengths.astype(np.uint32).reshape(1, 1, 1, batch)),
    )  # fmt: skip
    states = read.sequence
    assert states is not None
    both = g.join([states[:, 0:1], states[:, 1:2]], axis=3)
    scores = g.reinterpret(both, sizes=[1, 1, steps * batch, 2 * hidden]) @ d.w["judge"]
    text = f"""net (int32[1,1,{steps},{batch}] words) => (float[1,1,{steps * batch},{tags}] y) {{
        w = Squeeze (words, unit)
        e = Gather (table, w)
        s, h, c = LSTM <direction = "bidirectional", hidden_size = {hidden}>
            (e, weight, recurrence, bias, lengths)
        t = Transpose <perm = [0, 2, 1, 3]> (s)
        r = Reshape (t, rows)
        j = MatMul (r, judge)
        y = Softmax <axis = -1> (j)
    }}"""
    extra = {"lengths": lengths.astype(np.int32), "rows": np.array([1, 1, -1, 2 * hidden]), "unit": np.array([0, 1])}
    graph = g.build({"y": g.activation_softmax(scores)})
    return Network(
        "tagger (LSTM)", graph, parsed(text, {**weights, **extra}), feeds, weights,
        lambda torch, w, fed: _tagger_in_torch(torch, w, fed, lengths),
    )  # fmt: skip


def _tagger_in_torch(
    torch: Any, w: Mapping[str, Any], given: Mapping[str, Any], lengths: Array
) -> Callable[[], dict[str, Any]]:
    """ONNX's gates are input, output, forget, cell; PyTorch's input, forget, cell, output."""
    steps, hidden = given["words"].shape[0], w["recurrence"].shape[2]
    lstm = torch.nn.LSTM(w["table"].shape[1], hidden, bidirectional=True)
    order = torch.cat([torch.arange(hidden) + gate * hidden for gate in (0, 2, 3, 1)])
    for direction, suffix in enumerate(("", "_reverse")):
        own = {"weight_ih": w["weight"], "weight_hh": w["recurrence"]}
        own |= dict(zip(("bias_ih", "bias_hh"), w["bias"].unflatten(1, (2, -1)).unbind(1), strict=True))
        for name, tensor in own.items():
            getattr(lstm, f"{name}_l0{suffix}").data = tensor[direction][order].contiguous()
    pack, unpack = torch.nn.utils.rnn.pack_padded_sequence, torch.nn.utils.rnn.pad_packed_sequence
    counts = torch.from_numpy(lengths)

    def run() -> dict[str, Any]:
        read, _ = lstm(pack(w["table"][given["words"]], counts, enforce_sorted=False))
        both = unpack(read, total_length=steps)[0].flatten(0, 1)
        return {"y": (both @ w["judge"]).softmax(-1)}

    return run


def _detection() -> Network:
    """A convolution, a crop for each region by ROI_ALIGN1, and class scores for each."""
    channels, crop, classes, width, count, pixels, stride = 64, 7, 20, 128, 100, 256, 4
    weights = _random(7, {
        "filter": (channels, 3, stride, stride), "inner": (channels * crop * crop, width), "classes": (width, classes),
    })  # fmt: skip
    rng = np.random.default_rng(8)
    start = rng.uniform(0, 150, (count, 2))
    feeds = {
        "image": rng.normal(0, 1, (1, 3, pixels, pixels)).astype(np.float32),
        "regions": np.concatenate([start, start + rng.uniform(20, 100, (count, 2))], 1).astype(np.float32),
    }
    d = Drawing(weights)
    g = d.g
    regions = g.input("regions", "FLOAT32", (count, 4))
    features = g.convolution(
        d.input("image", feeds["image"]), d.w["filter"], strides=[stride, stride], fused_activation="ACTIVATION_RELU"
    )
    crops = g.roi_align1(
        features, regions, g.constant(np.zeros(count, np.uint32)), (count, channels, crop, crop), "AVERAGE", "LINEAR",
        1 / stride, 1 / stride, 0.5, -0.5, 0.0, 2, 2, False,
    )  # fmt: skip
    hidden = g.activation_relu(g.reinterpret(crops, sizes=[1, 1, count, channels * crop * crop]) @ d.w["inner"])
    text = f"""net (float[1,3,{pixels},{pixels}] image, float[{count},4] regions) => (float[{count},{classes}] y) {{
        f0 = Conv <strides = [{stride}, {stride}]> (image, filter)
        f = Relu (f0)
        c = RoiAlign <coordinate_transformation_mode = "half_pixel", output_height = {crop}, output_width = {crop},
            sampling_ratio = 2, spatial_scale = {1 / stride}> (f, regions, batches)
        r = Reshape (c, rows)
        h0 = MatMul (r, inner)
        h = Relu (h0)
        s = MatMul (h, classes)
        y = Softmax <axis = -1> (s)
    }}"""
    extra = {"batches": np.zeros(count, np.int64), "rows": np.array([count, -1])}
    graph = g.build({"y": g.activation_softmax(hidden @ d.w["classes"])})
    return Network("detection head (ROI_ALIGN1)", graph, parsed(text, {**weights, **extra}), feeds, weights, None)


_RATE = 0.01 * np.sqrt(1 - 0.999**3) / (1 - 0.9**3)
"""The learning rate of Adam's third step, with bias corrections."""


def _training() -> Network:
    """One training step with Adam: forward pass, gradients and update."""
    count, sizes, classes = 256, (64, 256), 10
    shapes = {"w1": sizes, "b1": (1, sizes[1]), "w2": (sizes[1], classes), "b2": (1, classes)}
    state = _random(9, shapes)
    rng = np.random.default_rng(10)
    feeds = {
        "x": rng.normal(0, 1, (count, sizes[0])).astype(np.float32),
        "target": np.eye(classes, dtype=np.float32)[rng.integers(0, classes, count)],
        **state,
        **{f"{moment}_{name}": np.full(shapes[name], 0.01, np.float32) for moment in "mv" for name in shapes},
    }
    d = Drawing({})
    g = d.g
    given = {name: d.input(name, array) for name, array in feeds.items()}
    before = g.gemm(given["x"], given["w1"], g.broadcast(given["b1"], (1, 1, count, sizes[1])))
    hidden = g.activation_relu(before)
    scores = g.gemm(hidden, given["w2"], g.broadcast(given["b2"], (1, 1, count, classes)))
    d_scores = (g.activation_softmax(scores) - given["target"]) / count
    d_before = g.activation_relu_grad(before, g.gemm(d_scores, given["w2"], trans_b="TRANSPOSE"))
    gradients = {
        "w1": g.gemm(given["x"], d_before, trans_a="TRANSPOSE"), "b1": g.reduce(d_before, "SUM", axes=[2]),
        "w2": g.gemm(hidden, d_scores, trans_a="TRANSPOSE"), "b2": g.reduce(d_scores, "SUM", axes=[2]),
    }  # fmt: skip
    step = g.constant(np.full((1, 1, 1, 1), 3, np.uint32))
    outputs: dict[str, Expression] = {}
    for name, gradient in gradients.items():
        old = given[name], given[f"m_{name}"], given[f"v_{name}"]
        new = g.adam_optimizer(*old, gradient, step, 0.01, 0.9, 0.999, 1e-7)
        outputs |= {
            f"next_{name}": new.parameters,
            f"next_m_{name}": new.first_moment,
            f"next_v_{name}": new.second_moment,
        }
    return Network(
        "training step (Adam)", g.build(outputs), _training_written(feeds, shapes, outputs), feeds, {},
        lambda torch, w, fed: lambda: _training_in_torch(torch, fed), 2e-3,
        reason="its matrices have four dimensions, whose biases Gemm does not add",
    )  # fmt: skip


def _training_written(feeds: Arrays, shapes: Mapping[str, tuple[int, ...]], outputs: Iterable[str]) -> onnx.ModelProto:
    """The same step in handwritten ONNX, with Adam's formula for each parameter in ``shapes``."""
    numbers = {
        "count": feeds["x"].shape[0],
        "b1st": 0.9,
        "b2nd": 0.999,
        "r1st": 0.1,
        "r2nd": 0.001,
        "tiny": 1e-7,
        "zero": 0,
    }
    adam = "".join(
        f"""
        a_{n} = Mul (m_{n}, b1st)
        c_{n} = Mul (g_{n}, r1st)
        next_m_{n} = Add (a_{n}, c_{n})
        s_{n} = Mul (g_{n}, g_{n})
        d_{n} = Mul (v_{n}, b2nd)
        e_{n} = Mul (s_{n}, r2nd)
        next_v_{n} = Add (d_{n}, e_{n})
        q_{n} = Sqrt (next_v_{n})
        t_{n} = Add (q_{n}, tiny)
        u_{n} = Mul (next_m_{n}, rate)
        k_{n} = Div (u_{n}, t_{n})
        next_{n} = Sub ({n}, k_{n})"""
        for n in shapes
    )
    arguments = ", ".join(f"float[{','.join(map(str, array.shape))}] {name}" for name, array in feeds.items())
    results = ", ".join(f"float[{','.join(map(str, shapes[name.rpartition('_')[2]]))}] {name}" for name in outputs)
    text = f"""net ({arguments}) => ({results}) {{
        before = Gemm (x, w1, b1)
        hidden = Relu (before)
        scores = Gemm (hidden, w2, b2)
        p = Softmax <axis = -1> (scores)
        p0 = Sub (p, target)
        ds = Div (p0, count)
        dh = Gemm <transB = 1> (ds, w2)
        is_on = Greater (before, zero)
        db = Where (is_on, dh, zero)
        g_w1 = Gemm <transA = 1> (x, db)
        g_b1 = ReduceSum (db, first)
        g_w2 = Gemm <transA = 1> (hidden, ds)
        g_b2 = ReduceSum (ds, first){adam}
    }}"""
    extra = {name: np.array(value, np.float32) for name, value in {**numbers, "rate": _RATE}.items()}
    extra["first"] = np.array([0])
    return parsed(text, extra)


def _training_in_torch(torch: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """The same step with autograd and Adam's published formula."""
    weights = {name: given[name].detach().requires_grad_() for name in ("w1", "b1", "w2", "b2")}
    results: dict[str, Any] = {}
    with torch.enable_grad():
        hidden = torch.relu(given["x"] @ weights["w1"] + weights["b1"])
        scores = hidden @ weights["w2"] + weights["b2"]
        gradients = torch.autograd.grad(
            torch.nn.functional.cross_entropy(scores, given["target"]), list(weights.values())
        )
    for (name, old), gradient in zip(weights.items(), gradients, strict=True):
        mean = given[f"m_{name}"] * 0.9 + gradient * 0.1
        square = given[f"v_{name}"] * 0.999 + gradient.square() * 0.001
        new = old.detach() - mean * _RATE / (square.sqrt() + 1e-7)
        results |= {f"next_{name}": new, f"next_m_{name}": mean, f"next_v_{name}": square}
    return results


def _quantized() -> Network:
    """Two convolutions with pooling in 8 bits: UINT8 activations, INT8 weights per channel."""
    rng = np.random.default_rng(12)
    channels, pixels = (16, 32, 64), 64
    feeds: dict[str, Array] = {"x": rng.integers(0, 256, (1, channels[0], pixels, pixels)).astype(np.uint8)}
    weights: dict[str, Array] = {}
    for i in (1, 2):
        weights[f"f{i}"] = rng.integers(-127, 128, (channels[i], channels[i - 1], 3, 3)).astype(np.int8)
        weights[f"s{i}"] = rng.uniform(0.001, 0.002, channels[i]).astype(np.float32)
        weights[f"z{i}"] = np.zeros(channels[i], np.int8)
        weights[f"b{i}"] = rng.integers(-500, 500, channels[i]).astype(np.int32)
    steps = (np.float32(0.02), np.float32(0.05), np.float32(0.2))
    g = GraphBuilder()

    def number(value: Any) -> Expression:
        return g.constant(np.full((1, 1, 1, 1), value))

    x = g.input("x", "UINT8", feeds["x"].shape)
    for i in (1, 2):
        channel = (1, -1, 1, 1)
        x = g.quantized_linear_convolution(
            x, number(steps[i - 1]), number(np.uint8(0)), g.constant(weights[f"f{i}"]),
            g.constant(weights[f"s{i}"].reshape(channel)), None, g.constant(weights[f"b{i}"].reshape(channel)),
            number(steps[i]), number(np.uint8(0)), "UINT8", start_padding=[1, 1], end_padding=[1, 1],
        )  # fmt: skip
        x = g.max_pooling0(x, [2, 2], strides=[2, 2])
    sizes = [f"uint8[1,{count},{side},{side}]" for count, side in ((channels[0], pixels), (channels[2], pixels // 4))]
    text = f"""net ({sizes[0]} x) => ({sizes[1]} y) {{
        d0 = DequantizeLinear (x, t0, zero)
        w1 = DequantizeLinear <axis = 0> (f1, s1, z1)
        a1 = DequantizeLinear <axis = 0> (b1, u1, i1)
        c1 = Conv <pads = [1, 1, 1, 1]> (d0, w1, a1)
        q1 = QuantizeLinear (c1, t1, zero)
        e1 = DequantizeLinear (q1, t1, zero)
        m1 = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (e1)
        n1 = QuantizeLinear (m1, t1, zero)
        d1 = DequantizeLinear (n1, t1, zero)
        w2 = DequantizeLinear <axis = 0> (f2, s2, z2)
        a2 = DequantizeLinear <axis = 0> (b2, u2, i2)
        c2 = Conv <pads = [1, 1, 1, 1]> (d1, w2, a2)
        q2 = QuantizeLinear (c2, t2, zero)
        e2 = DequantizeLinear (q2, t2, zero)
        m2 = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (e2)
        y = QuantizeLinear (m2, t2, zero)
    }}"""
    extra: dict[str, Array] = {f"t{i}": np.array(step) for i, step in enumerate(steps)}
    extra |= {f"u{i}": weights[f"s{i}"] * steps[i - 1] for i in (1, 2)}
    extra |= {f"i{i}": np.zeros(channels[i], np.int32) for i in (1, 2)} | {"zero": np.array(0, np.uint8)}
    return Network(
        "quantised convolutions", g.build({"y": x}), parsed(text, {**weights, **extra}), feeds, weights, None, 1 / 255,
    )  # fmt: skip


def networks() -> Iterator[Network]:
    yield _transformer("transformer block, 64 behind 64", 1, 64, 64)
    yield _transformer("decoder, one token behind 255", 4, 255, 1)
    yield _tagger()
    yield _quantized()
    yield _training()
    yield _detection()
