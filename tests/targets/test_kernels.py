"""The kernel tables against ONNX, against the installed ONNX Runtime, and the choice of an element type."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import defs, helper

from dml2onnx import targets
from dml2onnx.diagnostics import DmlError, InternalError
from dml2onnx.test_cases.runnable import RUNNABLE_OPSETS
from scripts import _node_cases
from scripts._node_cases import DTYPES

if TYPE_CHECKING:
    from types import ModuleType

    import numpy.typing as npt

    Array = npt.NDArray[Any]

ROOT = Path(__file__).resolve().parents[2]

INTEGERS = [name for name in DTYPES if "int" in name]
NUMBERS = [name for name in DTYPES if name != "bool"]

OLDER = "onnxruntime 1.24 has the older version only"
FUNCTION = "ONNX defines it by other operators, which ONNX Runtime takes instead"
WITHOUT_KERNELS = {
    ("Attention", 25): "onnxruntime 1.31 has the older version only",
    ("GroupNormalization", 18): "no runtime has it, since ONNX withdrew it for that of opset 21",
    ("GroupNormalization", 21): FUNCTION,
    ("HardSwish", 14): FUNCTION,
    ("HardSwish", 22): FUNCTION,
    ("DequantizeLinear", 28): OLDER,
    ("LpNormalization", 22): OLDER,
    ("QuantizeLinear", 28): OLDER,
    ("ReduceLogSum", 28): OLDER,
    ("ReduceLogSumExp", 28): OLDER,
    ("RoiAlign", 22): OLDER,
}
"""Operator versions without a kernel of the CPU provider."""
RUN_FROM = {"LpNormalization": 26}
"""The first opset for which all releases that load it have a kernel."""


def run(case: _node_cases.Case) -> list[Array]:
    """Runs a single node without optimization, on one thread."""
    ort = pytest.importorskip("onnxruntime")
    model, feeds = _node_cases.model(case)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    results: list[Array] = session.run(None, feeds)
    return results


def run_binding(op: str, opset: int, binding: dict[str, str]) -> None:
    """Runs an operator's case with these types."""
    case = _node_cases.case(op, opset, binding)
    for name, result in zip(case.outputs, run(case), strict=True):
        assert result.dtype == DTYPES[name]


def claimed(op: str, opset: int) -> list[dict[str, str]]:
    """Every combination of number types that the table claims for the CPU provider."""
    cpu = targets.target("cpu", opset)
    return [binding for binding in _node_cases.bindings(op, opset) if cpu.has_kernel(op, binding)]


@pytest.mark.parametrize(
    ("op", "opset"),
    [(op, opset) for op in sorted(_node_cases.INPUTS) for opset in _node_cases.opsets(op, RUNNABLE_OPSETS[-1])],
)
def test_claimed_kernels_run(op: str, opset: int) -> None:
    found = claimed(op, opset)
    missing = (op, targets.version(op, opset)) in WITHOUT_KERNELS and opset < RUN_FROM.get(op, opset + 1)
    assert bool(found) != missing, "no kernel at all"
    failures = []
    for binding in found:
        try:
            run_binding(op, opset, binding)
        except Exception as error:
            failures.append(f"{binding}: {error}")
    assert not failures, "\n".join(failures)


# The tables.


@cache
def generator() -> ModuleType:
    """``scripts/generate_targets.py`` as a module."""
    spec = importlib.util.spec_from_file_location("generate_targets", ROOT / "scripts" / "generate_targets.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_installed_runtime_has_all_that_is_claimed() -> None:
    pytest.importorskip("onnxruntime")
    assert generator().check() == 0


@pytest.mark.parametrize("name", targets.NAMES)
def test_tables_match_onnx_schemas(name: str) -> None:
    table, opsets = generator().read(ROOT / "schemas" / "targets" / f"{name}.json"), generator().opsets(name)
    for op, versions in table.items():
        expected = {targets.version(op, opset) for opset in opsets if defs.has(op, opset)}
        # an opset that fewer releases load has its own entry if these have more kernels
        assert set(versions) - expected <= ({25, 26, 27, 28} if name in ("cpu", "onnx") else set()), op
        for number in expected - set(versions):
            assert defs.get_schema(op, number).deprecated, op
        for number, rows in versions.items():
            allowed = {
                item.type_param_str: {name.removeprefix("tensor(").removesuffix(")") for name in item.allowed_type_strs}
                for item in defs.get_schema(op, number).type_constraints
            }
            for row in rows:
                assert row.keys() == allowed.keys(), op
                assert all(row[variable] <= allowed[variable] for variable in row), op


@pytest.mark.parametrize("name", targets.NAMES)
def test_written_tables_are_normal(name: str, tmp_path: Path) -> None:
    path = ROOT / "schemas" / "targets" / f"{name}.json"
    again = tmp_path / path.name
    generator().write(again, generator().read_head(path), generator().read(path))
    assert again.read_bytes() == path.read_bytes()


def test_a_kernel_without_end_serves_its_own_version_only() -> None:
    kernel = generator().Kernel
    assert kernel("LpNormalization", 1, 2**31 - 1, {}).runs(1)
    assert not kernel("LpNormalization", 1, 2**31 - 1, {}).runs(22)
    assert kernel("LpNormalization", 1, 21, {}).runs(18)
    assert not kernel("LpNormalization", 1, 21, {}).runs(22)


def test_tables_from_kernels() -> None:
    kernel, table = generator().Kernel, generator().table
    one = table(
        [
            kernel("Gather", 13, 2**31 - 1, {"T": ["tensor(float)"], "Tind": ["tensor(int32)", "tensor(int64)"]}),
            kernel("Gather", 13, 2**31 - 1, {"T": ["tensor(int8)"], "Tind": ["tensor(int32)"]}),
            kernel("Gather", 13, 2**31 - 1, {"T": ["tensor(bool)"], "Tind": ["tensor(int32)"]}),
            kernel("Gather", 1, 10, {"T": ["tensor(double)"]}),
            kernel("NoSuchOperator", 1, 2**31 - 1, {"T": ["tensor(double)"]}),
        ],
        range(17, 24),
    )
    both = frozenset({"int32", "int64"})
    assert one == {
        "Gather": {
            13: [
                {"T": frozenset({"bool", "int8"}), "Tind": frozenset({"int32"})},
                {"T": frozenset({"float"}), "Tind": both},
            ]
        }
    }
    other = table(
        [kernel("Gather", 13, 2**31 - 1, {"T": ["tensor(int8)", "tensor(float)"], "Tind": ["tensor(int64)"]})],
        range(17, 24),
    )
    common = generator().intersection(one, other)
    two = generator().common([(26, one), (25, other)], range(17, 27))
    assert two == {"Gather": {**common["Gather"], 26: one["Gather"][13]}}
    assert common == {"Gather": {13: [{"T": frozenset({"float"}), "Tind": frozenset({"int64"})}]}}
    assert generator().missing(common, one) == []
    assert generator().missing(other, one) == ["Gather-13 T=int8, Tind=int64"]


def test_published_table_as_markdown(tmp_path: Path) -> None:
    path = tmp_path / "OperatorKernels.md"
    path.write_text(
        "## Operators implemented by CPUExecutionProvider\n"
        "|**Operator Domain:** *ai.onnx*||||\n"
        "|Abs|*in* X:**T**<br> *out* Y:**T**|13+|**T** = tensor(double)|\n"
        "## Operators implemented by DmlExecutionProvider\n"
        "| Op Name | Parameters | OpSet Version | Types Supported |\n"
        "|---------|------------|---------------|-----------------|\n"
        "|**Operator Domain:** *ai.onnx*||||\n"
        "|Abs|*in* X:**T**<br> *out* Y:**T**|13+|**T** = tensor(float), tensor(int8)|\n"
        "|||[6, 12]|**T** = tensor(float)|\n"
        "|And|*in* A:**T**<br> *out* C:**T1**|7|**T** = tensor(bool)<br/> **T1** = tensor(bool)|\n"
        "|**Operator Domain:** *com.microsoft*||||\n"
        "|Attention|*in* X:**T**|1+|**T** = tensor(float)|\n",
        encoding="utf-8",
    )
    _, kernels = generator().published_dml(path)
    assert kernels == [
        ("Abs", 13, 2**31 - 1, {"T": ["tensor(float)", "tensor(int8)"]}),
        ("Abs", 6, 12, {"T": ["tensor(float)"]}),
        ("And", 7, 7, {"T": ["tensor(bool)"], "T1": ["tensor(bool)"]}),
    ]


# Lookups.


def test_portable_is_derived_from_the_others() -> None:
    path = ROOT / "schemas" / "targets" / "portable.json"
    assert (generator().read_head(path), generator().read(path)) == generator().portable()


@pytest.mark.parametrize("opset", [17, 21, 23])
def test_bound_variables_match_onnx_schemas(opset: int) -> None:
    for op in _node_cases.INPUTS:
        if not defs.has(op, opset):
            continue
        for binding in itertools.islice(_node_cases.bindings(op, opset), 0, None, 7):
            schema = defs.get_schema(op, opset)
            made = _node_cases.case(op, opset, binding)
            names = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
            inputs = [None if item is None else names[item.dtype] for item in made.inputs]
            found = targets.bound(op, opset, inputs, made.outputs)
            used = {item.type_str for item in (*schema.inputs[: len(inputs)], *schema.outputs[: len(made.outputs)])}
            for variable, element_type in found.items():
                assert binding[variable] == element_type, (op, variable)
            given = {item.type_str for item, value in zip(schema.inputs, inputs, strict=False) if value is not None}
            assert given & binding.keys() <= found.keys() <= used, op


def test_unknown_operators_bind_nothing() -> None:
    assert targets.bound("NoSuchOperator", 21, ["float"], ["float"]) == {}
    assert targets.bound("Gelu", 17, ["float"], ["float"]) == {}


@pytest.mark.parametrize(
    ("target", "op", "opset", "types", "expected"),
    [
        ("cpu", "Gather", 17, {"T": "uint16", "Tind": "int64"}, True),
        ("cpu", "Gather", 17, {"Tind": "int32"}, True),
        ("cpu", "Conv", 21, {"T": "double"}, False),
        ("cpu", "Gelu", 17, {"T": "float"}, False),  # the operator came with opset 20
        ("cpu", "LpNormalization", 21, {"T": "float"}, True),
        ("cpu", "LpNormalization", 22, {"T": "float"}, False),  # onnxruntime 1.24
        ("cpu", "Cast", 21, {"T1": "float16", "T2": "int64"}, True),
        ("cpu", "Resize", 21, {"T1": "float", "T2": "float"}, True),
        ("cpu", "Resize", 21, {"T1": "float", "T2": "double"}, False),  # fails only when it runs
        ("cpu", "NoSuchOperator", 21, {}, False),
        ("dml", "Conv", 21, {"T": "float16"}, True),
        ("dml", "Conv", 22, {"T": "float16"}, False),  # written for version 11
        ("dml", "Pad", 21, {"T": "uint64"}, True),
        ("dml", "Pad", 23, {"T": "float"}, False),
    ],
)
def test_has_kernel(target: str, op: str, opset: int, types: dict[str, str], expected: bool) -> None:
    assert targets.target(target, opset).has_kernel(op, types) is expected


def test_unknown_type_variable() -> None:
    with pytest.raises(InternalError, match="Cast: opset 21 has no type variable 'T'"):
        targets.target("cpu").has_kernel("Cast", {"T": "float"})


def test_targets_are_shared() -> None:
    cpu = targets.target("cpu")
    assert targets.target("cpu", 21, exact=True) is cpu
    assert cpu.at(17).at(21) is cpu
    assert cpu.at(17) is targets.target("cpu", 17)


def test_unsupported_opset() -> None:
    place = targets.target("dml", exact=False, quant_format="qdq")
    assert (place.at(17).opset, place.at(17).exact, place.at(17).quant_format) == (17, False, "qdq")
    with pytest.raises(DmlError, match="dml supports opsets 17 to 23, not opset 24"):
        place.at(24)


TARGETS = ROOT / "schemas" / "targets"


def test_every_target_has_a_table_and_a_row_in_the_page() -> None:
    assert sorted(path.stem for path in TARGETS.glob("*.json")) == sorted(targets.NAMES)
    page = (ROOT / "docs" / "targets.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    assert [name for name in targets.NAMES if not any(f"`{name}`" in row for row in rows)] == []


def test_unknown_target() -> None:
    expected = f'no target "cuda"; the targets are {", ".join(targets.NAMES)}'
    with pytest.raises(targets.UnknownTargetError, match=expected) as caught:
        targets.target("cuda")
    assert [item.code for item in caught.value.diagnostics] == ["DML2006"]


@pytest.mark.parametrize(("opset", "expected"), [(17, 13), (18, 18), (20, 19), (21, 21), (22, 21), (23, 23)])
def test_version(opset: int, expected: int) -> None:
    assert targets.version("Pad", opset) == expected


def test_version_of_an_unknown_operator() -> None:
    with pytest.raises(InternalError, match="ONNX opset 17 has no such operator"):
        targets.version("Gelu", 17)


# Element types.


def extremes(name: str) -> Array:
    """Edge cases for conversions of a type, in ascending order."""
    dtype: Any = DTYPES[name]
    if name == "bool":
        return np.array([False, True])
    if "int" in name:
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        return np.array(sorted({low, low + 1, low // 2, *range(3), high // 2 + 1, high - 1, high}), dtype)
    info = np.finfo(dtype)
    positive = [info.smallest_subnormal, info.tiny, dtype(1) - info.epsneg, 1, dtype(1) + info.eps, info.max, np.inf]
    return np.array([*(-np.array(positive[::-1], dtype)), 0, *positive], dtype)


@pytest.mark.parametrize("name", DTYPES)
def test_wider_types_are_exact_and_ordered(name: str) -> None:
    source = extremes(name)
    for wider in targets.exact_wider(name):
        result = source.astype(DTYPES[wider])
        assert [item.item() for item in result] == [item.item() for item in source], wider
        assert (np.diff(result.astype(object)) > 0).all() if name not in ("float16", "float") else True
        assert np.array_equal(np.sort(result), result), wider
        np.testing.assert_array_equal(result.astype(source.dtype), source)


@pytest.mark.parametrize("name", DTYPES)
def test_every_exact_type_is_listed(name: str) -> None:
    """Except FLOAT16, which is never worth a cast, and BOOL, which is not a number."""
    exact = {
        other
        for other in DTYPES
        if other not in (name, "bool", "float16")
        and np.can_cast(DTYPES[name], DTYPES[other])
        and not (name in ("int64", "uint64") and other == "double")  # numpy calls this safe; 2**53 + 1 is not
    }
    assert set(targets.exact_wider(name)) == exact


@pytest.mark.parametrize(
    ("name", "wider"), [(name, wider) for name in DTYPES for wider in targets.exact_wider(name) if wider in DTYPES]
)
def test_runtime_casts_to_wider_types_exactly(name: str, wider: str) -> None:
    source = extremes(name)
    (there,) = cast(source, wider)
    np.testing.assert_array_equal(there, source.astype(DTYPES[wider]))
    (back,) = cast(there, name)
    assert back.tobytes() == source.tobytes()


@pytest.mark.parametrize("name", INTEGERS)
def test_runtime_casts_keep_the_bits_at_the_same_width(name: str) -> None:
    source = extremes(name)
    (partner,) = targets.same_width(name)
    (there,) = cast(source, partner)
    assert there.tobytes() == source.tobytes()
    (back,) = cast(there, name)
    assert back.tobytes() == source.tobytes()


@pytest.mark.parametrize("name", INTEGERS)
def test_runtime_casts_to_narrower_integers_drop_high_bits(name: str) -> None:
    """What ``legal_type(modular=True)`` relies on; long enough for vector instructions."""
    for wider in targets.exact_wider(name):
        if "int" in wider:
            source = np.tile(extremes(wider), 9)
            (result,) = cast(source, name)
            np.testing.assert_array_equal(result, source.astype(DTYPES[name]))


def cast(source: Array, to: str) -> list[Array]:
    """ONNX Runtime's Cast."""
    attributes = {"to": helper.np_dtype_to_tensor_dtype(np.dtype(DTYPES[to]))}
    return run(_node_cases.Case("Cast", 21, [source], attributes, [to], [True]))


def test_same_width_of_other_types() -> None:
    assert all(targets.same_width(name) == () for name in ("bool", "float16", "float", "double"))


@pytest.mark.parametrize(
    ("name", "candidates", "expected"),
    [
        ("int8", {"int8", "float"}, "int8"),
        ("int8", {"float", "int32"}, "int32"),
        ("uint8", {"int8", "double"}, "double"),
        ("int64", {"double", "uint64"}, None),
        ("float16", {"double", "float"}, "float"),
    ],
)
def test_widen(name: str, candidates: set[str], expected: str | None) -> None:
    assert targets.widen(name, candidates) == expected


@pytest.mark.parametrize(
    ("target", "op", "opset", "types", "use", "expected"),
    [
        ("cpu", "Max", 21, {"T": "int32"}, "", "int32"),
        ("cpu", "Max", 21, {"T": "int16"}, "", "int32"),
        ("cpu", "Max", 21, {"T": "uint16"}, "", "uint32"),
        ("cpu", "Conv", 21, {"T": "float16"}, "", "float"),
        ("cpu", "Conv", 21, {"T": "double"}, "", None),
        ("cpu", "AveragePool", 21, {"T": "int64"}, "", None),
        ("cpu", "MaxPool", 21, {"T": "int16"}, "", "float"),
        ("cpu", "Pad", 21, {"T": "int16"}, "movement", "int32"),
        ("cpu", "Pad", 21, {"T": "float16"}, "movement", "float"),
        ("cpu", "Mod", 21, {"T": "uint64"}, "", "uint64"),
        ("cpu", "Sign", 21, {"T": "uint64"}, "", "uint64"),
        ("cpu", "ReduceSum", 21, {"T": "uint64"}, "", None),
        ("cpu", "ReduceSum", 21, {"T": "uint64"}, "modular", "int64"),
        ("cpu", "ReduceSum", 21, {"T": "int8"}, "modular", "int32"),
        ("cpu", "Elu", 21, {"T": "int8"}, "modular", None),
        ("dml", "Conv", 21, {"T": "float16"}, "", "float16"),
        ("dml", "Conv", 22, {"T": "float16"}, "", "float"),  # no DirectML kernel: the CPU provider's
        ("dml", "Max", 21, {"T": "int16"}, "", "int16"),
        ("dml", "Add", 21, {"T": "double"}, "", "double"),
    ],
)
def test_legal_type(target: str, op: str, opset: int, types: dict[str, str], use: str, expected: str | None) -> None:
    ((variable, name),) = types.items()
    chosen = targets.legal_type(
        targets.target(target, opset),
        op,
        variable,
        name,
        movement=use == "movement",
        modular=use == "modular",
    )
    assert chosen == expected


def test_onnx_is_recent_enough() -> None:
    """The tables hold opset 28; an older onnx could not speak of it."""
    assert defs.onnx_opset_version() >= targets.OPSETS[-1], onnx.__version__
