#!/usr/bin/env python3
"""Write kernel tables of runtimes that publish none: ``schemas/targets/{openvino,webgpu,qnn-npu,webnn}.json``.

    scripts/probe_target.py openvino --python PYTHON      PYTHON has openvino
    scripts/probe_target.py qnn-npu --python PYTHON       PYTHON has onnxruntime and onnxruntime-qnn, for x86-64
    scripts/probe_target.py webgpu --python PYTHON        PYTHON has onnxruntime-webgpu; needs a Vulkan driver
    scripts/probe_target.py webnn                         after scripts/_web.py, which fetches Chromium
    scripts/probe_target.py openvino --python PYTHON --only Where,Cast --verbose

Runs one node of every operator that lowerings emit (``_node_cases.py``), in each version and with each combination of
element types, in a process that may crash. A node counts as a kernel if its results match those of ONNX Runtime's CPU
provider, or of ONNX's reference evaluator if that has no kernel: integers exactly, floats within the precision of their
type (DOUBLE computed in FLOAT does not count). 64-bit integers are small here; wrong results for large ones are quirks.
Shapes, axes and indices are constants; if a runtime requires it, so are all operands but the first. Quirks in the file
are kept.

WebGPU needs a Vulkan driver, such as the software driver of Debian's chromium package: `apt-get download
chromium-common libvulkan1`, `dpkg -x` both, and set VK_ICD_FILENAMES to `vk_swiftshader_icd.json` and LD_LIBRARY_PATH
to the folder of `libvulkan.so.1`.
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import _node_cases
import _web
import generate_targets
import numpy as np
import onnx
import onnxruntime
from onnx import ModelProto
from onnx.reference import ReferenceEvaluator

from dml2onnx import targets
from tests.runtimes.proof import Runtime, Worker
from tests.runtimes.results import CPU

GENERATOR = "scripts/probe_target.py"
PACKAGES = {"openvino": "openvino", "webgpu": "onnxruntime-webgpu", "qnn-npu": "onnxruntime-qnn"}
"""The package that a target's interpreter needs; WebNN runs in a browser instead."""
RUNTIMES = {"qnn-npu": "qnn"}
"""Names of runtimes in ``tests/runtimes/worker.py`` that differ from those of targets."""
DIGITS = {"float16": 5e-3, "float32": 1e-4, "float64": 1e-9}
"""Tolerance relative to the largest element."""
IN_HALF = frozenset({"qnn-npu"})
"""Targets that compute FLOAT in FLOAT16; its tolerance applies."""

SMALL = {"Acos", "Asin", "Atanh", "Erf"}
"""Operators whose inputs must be below 1."""

Array = _node_cases.Array


class Job(NamedTuple):
    """A model of one node, its inputs, and the expected outputs."""

    case: _node_cases.Case
    version: int
    binding: dict[str, str]
    model: bytes
    feeds: dict[str, Array]
    expected: list[Array]


def fill(op: str, shape: tuple[int, ...], dtype: type[np.generic]) -> Array:
    """Small distinct positive numbers; those of DOUBLE need its full precision."""
    count = np.arange(np.prod(shape, dtype=int))
    if dtype is np.bool_:
        return np.asarray(count % 2 == 0).reshape(shape)
    if not np.issubdtype(dtype, np.floating):
        return (1 + count * 2 % 5).reshape(shape).astype(dtype)
    numbers = (1 + count * 2 % 5) / (8 if op in SMALL else 1)
    return (numbers * (1 + 1 / 3 / (1 << 12))).reshape(shape).astype(dtype)


def on_the_cpu(model: ModelProto, feeds: dict[str, Array], has_kernel: bool) -> list[Array] | None:
    """The expected outputs, or None if neither runtime can run the node."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        with np.errstate(all="ignore"):
            if not has_kernel:
                return list(map(np.asarray, ReferenceEvaluator(model).run(None, feeds)))
            session = onnxruntime.InferenceSession(
                model.SerializeToString(), options, providers=["CPUExecutionProvider"]
            )
            results: list[Array] = session.run(None, feeds)
            return results
    except Exception:
        return None


def fill_in_half(op: str, shape: tuple[int, ...], dtype: type[np.generic]) -> Array:
    """:func:`fill`, rounded to FLOAT16."""
    numbers = fill(op, shape, dtype)
    return numbers.astype(np.float16).astype(dtype) if numbers.dtype.kind == "f" else numbers


def jobs(only: set[str], *, in_half: bool = False) -> list[Job]:
    """All nodes: with all data fed, with all inputs but the first constant, then the variants of ``PLAINER``."""
    found = []
    for op in sorted(only or _node_cases.INPUTS.keys() - _node_cases.NOT_PROBED):
        for opset in _node_cases.opsets(op, generate_targets.LAST_OPSET):
            for binding in _node_cases.bindings(op, opset):
                has_kernel = targets.target("cpu", opset).has_kernel(op, binding)
                for plainer in (False, True) if op in _node_cases.PLAINER else (False,):
                    case = _node_cases.case(op, opset, binding, fill_in_half if in_half else fill, plainer=plainer)
                    found += _jobs_of(case, targets.version(op, opset), binding, has_kernel)
    return found


def _jobs_of(case: _node_cases.Case, version: int, binding: dict[str, str], has_kernel: bool) -> list[Job]:
    any_data = any(case.is_data)
    shapes = [any_data and not data for data in case.is_data]
    behind = [number > 0 for number in range(len(case.inputs))]
    found = []
    expected = None
    for constants in [shapes] if shapes == behind else [shapes, behind]:
        model, feeds = _node_cases.model(case, constants)
        if expected is None:
            expected = on_the_cpu(model, feeds, has_kernel)
        if expected is not None:
            found.append(Job(case, version, binding, model.SerializeToString(), feeds, expected))
    return found


Answer = list[Array] | str
"""The outputs, or an error message."""


def answers(name: str, python: str, work: list[Job]) -> list[Answer]:
    """Runs all models; after a crash a new process continues with the next one."""
    worker = Worker(Runtime(RUNTIMES.get(name, name), name, Path(python)))
    found: list[Answer] = []
    for job in work:
        answer = worker.run(job.model, job.feeds, plain=True)
        if not isinstance(answer, str) and worker.places and not worker.places.keys() - {CPU}:
            answer = "the node runs on the CPU"
        found.append(answer)
        if len(found) % 200 == 0:
            print(f"{len(found)} of {len(work)}", file=sys.stderr)
    worker.stop()
    return found


def difference(job: Job, answer: Answer, *, in_half: bool = False) -> str:
    """Describes what is wrong with an answer, if anything; ``in_half`` applies FLOAT16's tolerance to FLOAT."""
    if isinstance(answer, str):
        return answer
    for got, expected in zip(answer, job.expected, strict=True):
        if got.dtype != expected.dtype or got.shape != expected.shape:
            return f"gives {got.dtype} {got.shape}, not {expected.dtype} {expected.shape}"
        if expected.dtype.kind != "f":
            if not np.array_equal(got, expected):
                return f"gives {got.tolist()}, not {expected.tolist()}"
            continue
        digits = DIGITS["float16" if in_half and expected.dtype == np.float32 else expected.dtype.name]
        bound = digits * np.abs(expected[np.isfinite(expected)]).max(initial=0)
        if not np.allclose(got, expected, 0, bound, equal_nan=True):
            return f"gives {got.tolist()}, not {expected.tolist()}"
    return ""


def tables(work: list[Job], replies: list[Answer], *, verbose: bool, in_half: bool = False) -> generate_targets.Table:
    """The type combinations that work for each version of each operator."""
    rows: dict[str, dict[int, list[generate_targets.Alternative]]] = {}
    for (version, _), group in itertools.groupby(zip(work, replies, strict=True), lambda pair: _key(pair[0])):
        pairs = list(group)
        job = pairs[0][0]
        wrong = [difference(job, reply, in_half=in_half) for job, reply in pairs]
        alternatives = rows.setdefault(job.case.op, {}).setdefault(version, [])
        if all(wrong):
            if verbose:
                types = ", ".join(f"{variable} {name}" for variable, name in job.binding.items())
                print(f"{job.case.op}-{version} {types}: {wrong[0][:300]}")
        else:
            alternatives.append({variable: frozenset([name]) for variable, name in job.binding.items()})
    return {
        op: {version: generate_targets.merged(found) for version, found in versions.items()}
        for op, versions in rows.items()
        if any(versions.values())
    }


def _key(job: Job) -> tuple[int, tuple[object, ...]]:
    return job.version, (job.case.op, *job.binding.items())


def installed(python: str, package: str) -> str:
    code = f"from importlib.metadata import version; print(version({package!r}))"
    return subprocess.run([python, "-c", code], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def runtime(name: str, python: str) -> str:
    """The name and version of a target's runtime."""
    if name == "webnn":
        return f"WebNN in Chromium {_web.CHROMIUM.version} with onnxruntime-web {_web.ORT.version}"
    return f"{PACKAGES[name]} {installed(python, PACKAGES[name])}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("target", choices=[*PACKAGES, "webnn"])
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has the runtime")
    parser.add_argument("--only", default="", metavar="OP,OP", help="probe only these operators and keep the others")
    parser.add_argument("--verbose", action="store_true", help="print why each failing node fails")
    options = parser.parse_args()
    source = (
        f"one node of each type run on {runtime(options.target, options.python)} and compared with onnxruntime "
        f"{onnxruntime.__version__} and the reference evaluator of onnx {onnx.__version__}"
    )
    in_half = options.target in IN_HALF
    work = jobs({item for item in options.only.split(",") if item}, in_half=in_half)
    replies = answers(options.target, options.python, work)
    content = tables(work, replies, verbose=options.verbose, in_half=in_half)
    path = generate_targets.TARGETS / f"{options.target}.json"
    if options.only:
        kept = generate_targets.read(path)
        content = dict(sorted((kept | content).items()))
    falls_back = options.target != "openvino"  # which reads ONNX itself
    generate_targets.rewrite(options.target, GENERATOR, source, falls_back, content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
