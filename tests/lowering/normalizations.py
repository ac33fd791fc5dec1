"""Descriptors of normalisations."""

import numpy as np

from tests.lowering.harness import check_case, operator, operators, t

RELU = operator("ACTIVATION_RELU")
SHAPE = (2, 3, 4, 5)
CHANNELS = (1, 3, 1, 1)
PARAMETERS = ("MeanTensor", "VarianceTensor", "ScaleTensor", "BiasTensor")
AFFINE = ("ScaleTensor", "BiasTensor")
VERSIONS = ("MEAN_VARIANCE_NORMALIZATION", "MEAN_VARIANCE_NORMALIZATION1", "MEAN_VARIANCE_NORMALIZATION2")
MOVES = {"Reshape", "Expand"}


def batch(sizes=SHAPE, parameters=CHANNELS, *, data_type="FLOAT32", spatial=True, epsilon=1e-5, activation=None, **at):
    """A BATCH_NORMALIZATION; ``parameters`` are the sizes of all four, or a list of four sizes; ``at`` has strides."""
    shapes = parameters if isinstance(parameters, list) else [parameters] * 4
    return operator(
        "BATCH_NORMALIZATION",
        InputTensor=t(data_type, sizes, at.get("InputTensor")),
        **{name: t(data_type, shape, at.get(name)) for name, shape in zip(PARAMETERS, shapes, strict=True)},
        OutputTensor=t(data_type, sizes, at.get("OutputTensor")),
        Spatial=spatial,
        Epsilon=epsilon,
        FusedActivation=activation,
    )


def statistics(op, seed=0):
    """Random parameters of a BATCH_NORMALIZATION with positive variances."""
    rng = np.random.default_rng(seed)
    arrays = {name: rng.normal(0, 2, op.tensor(name).sizes) for name in PARAMETERS}
    arrays["VarianceTensor"] = np.abs(arrays["VarianceTensor"]) + 0.01
    return {name: array.astype(op.tensor(name).data_type.dtype) for name, array in arrays.items()}


def mvn(
    name=VERSIONS[1],
    sizes=SHAPE,
    axes=(2, 3),
    *,
    scale=None,
    bias=None,
    data_type="FLOAT32",
    mean=True,
    variance=True,
    epsilon=1e-5,
    activation=None,
    **at,
):
    """A MEAN_VARIANCE_NORMALIZATION of any version; ``scale`` and ``bias`` are sizes, ``at`` has strides by field."""
    if name == VERSIONS[0]:
        assert axes in ((2, 3), (1, 2, 3))
        fields = {"CrossChannel": len(axes) == 3, "NormalizeVariance": variance}
    elif name == VERSIONS[1]:
        fields = {"AxisCount": len(axes), "Axes": axes, "NormalizeVariance": variance}
    else:
        fields = {"AxisCount": len(axes), "Axes": axes, "UseMean": mean, "UseVariance": variance}
    assert mean or name == VERSIONS[2]
    affine = {"ScaleTensor": scale, "BiasTensor": bias}
    return operator(
        name,
        InputTensor=t(data_type, sizes, at.get("InputTensor")),
        **{key: None if shape is None else t(data_type, shape, at.get(key)) for key, shape in affine.items()},
        OutputTensor=t(data_type, sizes, at.get("OutputTensor")),
        Epsilon=epsilon,
        FusedActivation=activation,
        **fields,
    )


def lrn(sizes=SHAPE, size=3, *, across=True, alpha=0.1, beta=0.75, bias=1.0, data_type="FLOAT32", **at):
    """A LOCAL_RESPONSE_NORMALIZATION; ``at`` has strides by field."""
    return operator(
        "LOCAL_RESPONSE_NORMALIZATION",
        InputTensor=t(data_type, sizes, at.get("InputTensor")),
        OutputTensor=t(data_type, sizes, at.get("OutputTensor")),
        CrossChannel=across,
        LocalSize=size,
        Alpha=alpha,
        Beta=beta,
        Bias=bias,
    )


def lp(sizes=SHAPE, axis=1, *, p=2, epsilon=1e-5, data_type="FLOAT32", **at):
    """An LP_NORMALIZATION; ``at`` has strides by field."""
    return operator(
        "LP_NORMALIZATION",
        InputTensor=t(data_type, sizes, at.get("InputTensor")),
        OutputTensor=t(data_type, sizes, at.get("OutputTensor")),
        Axis=axis,
        Epsilon=epsilon,
        P=p,
    )


def check_batch(op, **options):
    """:func:`check_case` with a positive variance."""
    return check_case(op, inputs={**statistics(op), **options.pop("inputs", {})}, **options)


def computing(model):
    """The operators of a model but Reshape and Expand."""
    return [item for item in operators(model) if item not in MOVES]


def present(op, names):
    return [name for name in names if op.has(name)]


def following(sizes, *axes):
    """Keeps ``sizes`` along some axes and replaces the others by 1."""
    return tuple(size if axis in axes else 1 for axis, size in enumerate(sizes))
