"""Quirks are real: a minimal model demonstrates each; and rules match the signatures of their operators."""

from __future__ import annotations

import ast
import contextlib
import inspect
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

import dml2onnx
from dml2onnx.emitter import Emitter
from dml2onnx.legalise import EVERYWHERE, RuleKind, rules_of
from dml2onnx.legalise.quirks import MODULES, QUIRKS
from dml2onnx.legalise.rules import Quirk, Shown
from dml2onnx.targets import NAMES, target
from tests.legalise.shown import arrays, model_of
from tests.reference.evaluator import onnx_results
from tests.runtimes.differences import DIFFERENCES

PACKAGE = Path(dml2onnx.__file__).parent
VERSION = tuple(int(part) for part in onnxruntime.__version__.split(".")[:2])

EVERY = {*EVERYWHERE}.union(*(target(name).quirks for name in NAMES))
PLACED = {"LSTM_TAKES_WHOLE_SEQUENCES", "QUANTIZES_IN_UNITS", "RESIZE_SPELLS_OUT_AXES", "SLICE_SPELLS_OUT_STEPS"}
"""Operators that processors leave to the CPU, with equal results; see ``test_npu.py``."""

SOMEWHERE = {"PAIRS_OF_BYTES_SATURATE", "UNKNOWN_PAIRS_OF_BYTES_SATURATE"}
"""Quirks of some processors, which models test at run time (``tests/passes/test_signed_weights.py``)."""

SLOW = {name for name in EVERY if QUIRKS[name].kind is RuleKind.SPEED} - SOMEWHERE - PLACED
"""Quirks of speed, which tests cannot check; ``scripts/bench_ops.py`` measures the operators."""

ELSEWHERE = {
    "FLOAT_HAS_THE_BITS_OF_FLOAT16",
    *(item.explains for item in DIFFERENCES if isinstance(item.explains, str)),
} - set(target("cpu").quirks)
"""Quirks of runtimes that are not installed here; ``tests/runtimes/differences.py`` lists them."""

TARGETS = {"qnn": "qnn-npu", "web": "cpu", "web-gpu": "webgpu"}
"""Targets of runtimes with other names."""

HERE = sorted({*target("cpu").quirks, *EVERYWHERE} - SLOW - SOMEWHERE)
"""Quirks of the installed ONNX Runtime."""


def test_every_quirk_is_shown() -> None:
    """All quirks but those of speed have a model, which runs here or in ``tests.runtimes``."""
    assert {*HERE} | SLOW | ELSEWHERE | SOMEWHERE | PLACED == EVERY
    assert [name for name in sorted(EVERY) if QUIRKS[name].shown is None] == sorted(SLOW | SOMEWHERE | PLACED)
    for item in DIFFERENCES:
        name = TARGETS.get(item.runtime, item.runtime)
        assert not isinstance(item.explains, str) or item.explains in target(name).quirks, item.title


def test_every_quirk_belongs_to_a_target_and_is_described() -> None:
    assert {*QUIRKS} == EVERY
    for module in MODULES:
        body = ast.parse(inspect.getsource(module)).body
        for statement, following in pairwise(body):
            name = ast.unparse(statement.targets[0]) if isinstance(statement, ast.Assign) else ""
            if isinstance(vars(module).get(name), Quirk):
                reason = ast.literal_eval(following.value) if isinstance(following, ast.Expr) else ""
                assert len(reason.splitlines()[0]) > 20, name
    for name, item in QUIRKS.items():
        assert item.rules or name in SOMEWHERE, name


@pytest.mark.parametrize("name", NAMES)
def test_rules_have_the_signature_of_their_operators(name: str) -> None:
    """Each rule belongs to a legalized operator and has its parameters and defaults."""
    for operator, rules in rules_of(target(name)).items():
        method = getattr(Emitter, operator)
        wanted = inspect.signature(method.__wrapped__).parameters
        for rule in rules:
            found = inspect.signature(rule).parameters
            kinds = {item.kind for item in found.values()}
            if not kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}:
                assert _parameters(found) == _parameters(wanted), f"{operator}: {rule.__module__}"


def _parameters(signature: Mapping[str, inspect.Parameter]) -> list[tuple[str, object]]:
    """Names and defaults, without the first parameter."""
    return [(item.name, item.default) for item in signature.values()][1:]


@pytest.mark.parametrize("name", HERE)
def test_installed_runtime_has_the_quirk(name: str) -> None:
    """Fails when ONNX Runtime has fixed a quirk, so that the rule can go."""
    shown = QUIRKS[name].shown
    assert shown is not None
    model, (inputs, (exact, *_)) = model_of(shown), arrays(shown)
    is_present = _is_present(shown)

    def run() -> np.ndarray:
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        feeds = dict(zip([item.name for item in model.graph.input], inputs, strict=True))
        return np.asarray(session.run(None, feeds)[0])

    if is_present and shown.says:
        with pytest.raises(Exception, match=re.escape(shown.says)):
            run()
        return
    got = run()
    with np.errstate(all="ignore"):
        close = np.allclose(got, exact, shown.digits, 0, equal_nan=True)
    same = close and np.array_equal(np.signbit(got[got == 0]), np.signbit(exact[exact == 0]))
    assert same == (not is_present), f"{got} instead of {exact}"


def _is_present(shown: Shown) -> bool:
    first, fixed = shown.versions
    return first <= VERSION < fixed


OTHERWISE_EVERYWHERE = {
    "KEEPS_SUBNORMALS",
    "LRN_SUBTRACTS_WHAT_IT_ADDED",
    "OUTPUT_PADDING_BELOW_THE_STRIDE",
    "RECURRENT_GATES_DIFFER",
    "RNN_READS_BY_POSITION",
    "TOP_K_LOSES_ITS_WAY_AT_NAN",
}
"""Quirks whose expected results neither ONNX Runtime nor ONNX's evaluator computes."""


@pytest.mark.parametrize("name", sorted(name for name in EVERY if QUIRKS[name].shown is not None))
def test_expected_results_are_computed_by_some_implementation(name: str) -> None:
    """Checks expected results, also of runtimes that are not installed, by ONNX Runtime and ONNX's evaluator."""
    shown = QUIRKS[name].shown
    assert shown is not None
    model, (inputs, exact) = model_of(shown), arrays(shown)
    feeds = dict(zip([item.name for item in model.graph.input], inputs, strict=True))
    matches = any(
        np.allclose(found, exact[0], shown.digits or 1e-6, 0, equal_nan=True) for found in _results(model, feeds)
    )
    assert matches == (name not in OTHERWISE_EVERYWHERE or not _is_present(shown))


def _results(model: onnx.ModelProto, feeds: dict[str, np.ndarray]) -> Iterator[np.ndarray]:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    with contextlib.suppress(Exception):  # usually a missing kernel
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        yield np.asarray(session.run(None, feeds)[0])
    with contextlib.suppress(Exception), np.errstate(all="ignore"):
        yield np.asarray(onnx_results(model, feeds)[0])


def test_no_code_compares_target_names() -> None:
    packages = [
        path for name in ("emitter", "legalise", "lowering", "passes") for path in (PACKAGE / name).rglob("*.py")
    ]
    for path in packages:
        for item in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            compared = [item.left, *item.comparators] if isinstance(item, ast.Compare) else []
            names = [part for part in compared if isinstance(part, ast.Constant) and part.value in NAMES]
            assert not names, f"{path.name}:{item.lineno}"  # type: ignore[attr-defined]  # comparisons have lines


def test_targets_differ() -> None:
    # its kernels are the lowered operators themselves, except for fusions of ONNX Runtime
    assert set(target("dml").quirks) == {
        "BYTES_CONVERTED_SATURATE",
        "SCALES_OF_ROWS_ARE_FUSED",
        "GEMM_WANTS_C",
        "QUANTIZES_ALONG_THE_LAST_AXIS",
        "LINES_HAVE_NO_OUTPUT_PADDING",
        "QUANTIZES_FOUR_DIMENSIONS",
    }
    assert {*target("cpu").quirks, *EVERYWHERE} >= SLOW
    assert {*target("cpu").quirks, *EVERYWHERE} | ELSEWHERE | PLACED == EVERY


def test_portable_target() -> None:
    """It has the quirks of all targets, and the kernels that all have."""
    others = [target(name) for name in ("onnx", "cpu", "dml", "openvino", "webgpu")]
    assert set(target("portable").quirks) == set().union(*(item.quirks for item in others))
    for name in ("float", "double", "int8", "int64"):
        everywhere = all(item.has_kernel("Add", {"T": name}) for item in others)
        assert target("portable").has_kernel("Add", {"T": name}) is everywhere
