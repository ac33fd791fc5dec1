#!/usr/bin/env python3
"""Write the targets of Windows ML's devices from the measurements that Microsoft publishes in winml-cli.

    scripts/winml_targets.py --python PYTHON      PYTHON has winml-cli and pyarrow: .venv-winml/bin/python

A target has a kernel if some node with these types was compiled for the device and ran there. Element types and
operators without measurements count as missing; a type variable that the measurements do not record may have any type
that the operator admits. The measurements do not include numeric results. Quirks in the files are kept.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import _node_cases
import generate_targets
from onnx import defs
from probe_target import installed

from dml2onnx import targets

GENERATOR = "scripts/winml_targets.py"
HERE = Path(__file__).resolve().parent
PLACES = {
    "qnn-gpu": "QNNExecutionProvider_GPU",
    "openvino-npu": "OpenVINOExecutionProvider_NPU",
    "openvino-gpu": "OpenVINOExecutionProvider_GPU",
    "tensorrt-rtx": "NvTensorRTRTXExecutionProvider_GPU",
}
"""The package's device for each target; Qualcomm's NPU is probed on its emulator instead."""


def alternatives(op: str, version: int, measured: Sequence[Mapping[str, Any]]) -> list[generate_targets.Alternative]:
    """The types of the operator's variables for which a node ran."""
    variables = {
        item.type_param_str: frozenset(
            name for name in _node_cases.DTYPES if f"tensor({name})" in item.allowed_type_strs
        )
        for item in defs.get_schema(op, version).type_constraints
    }
    found = []
    for row in measured:
        types = {name: value.lower() for name, value in row["types"].items()}
        if row["runs"] and all(types.get(name) in (None, *allowed) for name, allowed in variables.items()):
            found.append(
                {name: frozenset([types[name]]) if name in types else allowed for name, allowed in variables.items()}
            )
    return found


def table(measured: Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]], opsets: range) -> generate_targets.Table:
    """The kernels of a device for the operator versions in its opsets."""
    content: generate_targets.Table = {}
    for op in sorted(measured.keys() & _node_cases.INPUTS.keys()):
        versions = sorted({targets.version(op, opset) for opset in opsets if defs.has(op, opset)})
        rows = {
            version: generate_targets.merged(alternatives(op, version, measured[op].get(str(version), [])))
            for version in versions
        }
        if any(itertools.chain.from_iterable(rows.values())):
            content[op] = rows
    return content


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--python", required=True, help="an interpreter that has winml-cli and pyarrow")
    options = parser.parse_args()
    command = [options.python, str(HERE / "_winml_rules.py")]
    measured = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    for name, place in PLACES.items():
        version = installed(options.python, "winml-cli")
        source = f"nodes that Microsoft has compiled for {place} and run, by winml-cli {version}"
        content = table(measured[place], generate_targets.opsets(name))
        generate_targets.rewrite(name, GENERATOR, source, True, content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
