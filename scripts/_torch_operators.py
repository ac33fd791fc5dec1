"""PyTorch's side of ``tests/reference/torch_cases.py``: the same operators in its words, gradients by its autograd."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Tensors: TypeAlias = Mapping[str, Any]

RNN_ROWS = {"RNN": (0,), "GRU": (1, 0, 2), "LSTM": (0, 2, 3, 1)}
"""DirectML's gates in PyTorch's order: reset, update, new; input, forget, cell, output."""


def compute(name: str, w: Tensors) -> Tensors:
    """The answer of one case, by output field, in float64."""
    import torch
    from torch.nn import functional as f

    x: Any = w.get("InputTensor")
    plain: Mapping[str, Callable[[], Any]] = {
        "convolution": lambda: f.conv2d(x, w["FilterTensor"], _row(w, "BiasTensor"), (2, 1), 1, (1, 2)),
        "depthwise": lambda: f.conv2d(x, w["FilterTensor"], _row(w, "BiasTensor"), groups=3),
        "transposed": lambda: f.conv_transpose2d(x, w["FilterTensor"], _row(w, "BiasTensor"), (2, 1), 1),
        "gemm": lambda: torch.baddbmm(
            w["CTensor"][0], w["ATensor"][0], w["BTensor"][0].transpose(1, 2), beta=2.0, alpha=0.5
        )[None],
        "average": lambda: f.avg_pool2d(x, (3, 2), (2, 1), 1, count_include_pad=False),
        "average with padding": lambda: f.avg_pool2d(x, (3, 2), (2, 1), 1),
        "maximum": lambda: f.max_pool2d(x, (3, 2), (2, 1), 1),
        "p-norm": lambda: f.lp_pool2d(x.abs(), 3.0, (3, 2), (2, 1)),
        "linear": lambda: f.interpolate(x, scale_factor=(1.5, 2.0), mode="bilinear", align_corners=False),
        "batch": lambda: f.batch_norm(
            x, *(_row(w, key) for key in ("MeanTensor", "VarianceTensor", "ScaleTensor", "BiasTensor")), eps=0.01
        ),
        "layer": lambda: f.layer_norm(x, x.shape[1:], eps=0.01) * w["ScaleTensor"] + w["BiasTensor"],
        "response": lambda: f.local_response_norm(x, 3, 0.5, 0.75, 1.5),
        "softmax": lambda: x.softmax(1),
        "log softmax": lambda: x.log_softmax(3),
        "elu": lambda: f.elu(x, 0.75),
        "celu": lambda: f.celu(x, 0.75),
        "selu": lambda: f.selu(x),
        "gelu": lambda: f.gelu(x),
        "swish": lambda: f.silu(x),
        "hard swish": lambda: f.hardswish(x),
        "leaky": lambda: f.leaky_relu(x, 0.2),
        "softplus": lambda: f.softplus(x, 2.0, threshold=1e9),
        "softsign": lambda: f.softsign(x),
        "shrink": lambda: f.softshrink(x, 0.5),
        "erf": lambda: x.erf(),
        "running sum": lambda: x.cumsum(2),
        "running product": lambda: x.cumprod(3),
        "reflection": lambda: f.pad(x, (3, 2, 1, 2), mode="reflect"),
    }
    if name in plain:
        return {"OutputTensor": plain[name]()}
    if name.startswith("attention"):
        return {"OutputTensor": _attention(w)}
    if name.startswith("gradient of "):
        return _gradient(name.removeprefix("gradient of "), w)
    return _recurrent(name.split()[0].upper(), w)


def _row(w: Tensors, name: str) -> Any:
    return w[name].reshape(-1)


def _attention(w: Tensors) -> Any:
    from torch.nn.functional import scaled_dot_product_attention

    queries, keys, values = (
        w[f"{part}Tensor"].unflatten(2, (-1, size)).transpose(1, 2)
        for part, size in (("Query", 8), ("Key", 8), ("Value", 3))
    )
    mask = w["MaskTensor"].bool() if "MaskTensor" in w else w.get("RelativePositionBiasTensor")
    y = scaled_dot_product_attention(queries, keys, values, mask, scale=0.7, enable_gqa=True)
    return y.transpose(1, 2).flatten(2)


def _gradient(name: str, w: Tensors) -> Tensors:
    import torch
    from torch.nn import functional as f

    x = w["InputTensor"] if "InputTensor" in w else torch.zeros(2, 3, 6, 7, dtype=torch.float64)
    x = x.clone().requires_grad_()
    if name == "batch":
        scale, bias = _row(w, "ScaleTensor").clone().requires_grad_(), torch.zeros(3, dtype=torch.float64)
        bias.requires_grad_()
        y = f.batch_norm(x, _row(w, "MeanTensor"), _row(w, "VarianceTensor"), scale, bias, eps=0.01)
        of_x, of_scale, of_bias = torch.autograd.grad(y, (x, scale, bias), w["InputGradientTensor"])
        return {
            "OutputGradientTensor": of_x,
            "OutputScaleGradientTensor": of_scale.reshape(1, 3, 1, 1),
            "OutputBiasGradientTensor": of_bias.reshape(1, 3, 1, 1),
        }
    y = {
        "relu": lambda: f.relu(x),
        "clip": lambda: x.clamp(-0.5, 1.0),
        "average": lambda: f.avg_pool2d(x, (3, 2), (2, 1), 1, count_include_pad=False),
        "maximum": lambda: f.max_pool2d(x, (3, 2), (2, 1), 1),
        "linear": lambda: f.interpolate(x, scale_factor=(1.5, 2.0), mode="bilinear", align_corners=False),
        "response": lambda: f.local_response_norm(x, 3, 0.5, 0.75, 1.5),
    }[name]()
    return {"OutputGradientTensor": torch.autograd.grad(y, x, w["InputGradientTensor"])[0]}


def _recurrent(kind: str, w: Tensors) -> Tensors:
    """Both directions of one layer, from packed sequences where there are lengths."""
    import torch
    from torch.nn.utils import rnn

    order = RNN_ROWS[kind]

    def gates(rows: Any) -> Any:
        parts = rows.chunk(len(order))
        return torch.cat([parts[i] for i in order])

    steps, batch, size = w["InputTensor"].shape[1:]
    hidden = w["RecurrenceTensor"].shape[-1]
    network = getattr(torch.nn, kind)(size, hidden, bidirectional=True).double()
    for direction, suffix in enumerate(("l0", "l0_reverse")):
        of_input, of_state = w["BiasTensor"][0, 0, direction].chunk(2)
        for name, rows in (
            ("weight_ih", w["WeightTensor"][0, direction]),
            ("weight_hh", w["RecurrenceTensor"][0, direction]),
            ("bias_ih", of_input),
            ("bias_hh", of_state),
        ):
            setattr(network, f"{name}_{suffix}", torch.nn.Parameter(gates(rows)))
    x, start = w["InputTensor"][0], w["HiddenInitTensor"][0]
    lengths = w.get("SequenceLengthsTensor")
    if lengths is not None:
        x = rnn.pack_padded_sequence(x, lengths.reshape(-1).to(torch.int64), enforce_sorted=False)
    states, last = network(x, (start, w["CellMemInitTensor"][0]) if kind == "LSTM" else start)
    if lengths is not None:
        states = rnn.pad_packed_sequence(states, total_length=steps)[0]
    final, *cells = last if kind == "LSTM" else (last,)
    result = {
        "OutputSequenceTensor": states.reshape(steps, batch, 2, hidden).permute(0, 2, 1, 3),
        "OutputSingleTensor": final[None],
    }
    return result | ({"OutputCellSingleTensor": cells[0][None]} if cells else {})
