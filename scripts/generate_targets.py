#!/usr/bin/env python3
"""Write and check the targets ``schemas/targets/*.json``: kernels, and manually maintained quirks.

    scripts/generate_targets.py --write PYTHON [PYTHON ...]
        cpu.json: the common kernels of the interpreters' onnxruntime; pass the oldest and the newest supported release.
    scripts/generate_targets.py --write-dml OperatorKernels.md --commit HASH
        dml.json: from ONNX Runtime's published table (or the same table as JSON).
    scripts/generate_targets.py --write-onnx
        onnx.json: cpu.json plus FLOAT16 wherever ONNX admits it beside FLOAT, since sessions of ONNX Runtime insert
        casts for FLOAT16 kernels that its CPU provider lacks.
    scripts/generate_targets.py --write-portable
        portable.json: the intersection of the kernels and the union of the quirks of the other targets.
    scripts/generate_targets.py --write-windows-ml
        windows-ml.json: the same of Windows ML's devices.
    scripts/generate_targets.py --write-parameters
        schemas/onnx_parameters.json: the type variables of the inputs and outputs of operators, from the onnx package.
    scripts/generate_targets.py --check
        Fails if cpu.json has a kernel that the installed onnxruntime lacks, or if onnx.json, portable.json,
        windows-ml.json or the parameters are out of date.

``scripts/probe_target.py`` writes openvino.json and webgpu.json. To add a quirk, define it in
``dml2onnx/legalise/quirks``, add its name to "quirks" of its targets, and run ``--write-portable``. Scripts keep
"quirks" and "quant_format".

For each version of a standard operator in the supported opsets, a table has the alternatives that a provider has
kernels for. An opset that fewer releases load has its own entries if these releases have more kernels. An alternative
gives types for every type variable of the operator; a node has a kernel if one alternative admits all of its types.
Kernels of outdated versions are omitted, since ONNX Runtime does not use them.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from pathlib import Path
from typing import NamedTuple

import onnx
import onnx.defs

from dml2onnx.targets import QDQ, QOPERATOR
from dml2onnx.targets.kernels import DEVICES

TARGETS = Path(__file__).resolve().parent.parent / "schemas" / "targets"
PARAMETERS = TARGETS.parent / "onnx_parameters.json"
GENERATOR = "scripts/generate_targets.py"
FIRST_OPSET = 17
LAST_OPSETS = {"cpu": 28, "onnx": 28}
"""The last opset of a target, if it is not :data:`LAST_OPSET`."""
LAST_OPSET = 23
NO_END = 2**31 - 1
CPU = "CPUExecutionProvider"
DESTINATIONS = ("cpu", "dml", "openvino", "webgpu")
"""Targets that portable models run on."""
ON_WINDOWS_ML = ("cpu", "dml", *DEVICES)
"""Targets that models for Windows ML run on, whose providers fall back to the CPU for missing kernels."""
KERNELS_OF = {"cpu": "onnx"}
"""The table of a session on a provider that casts FLOAT16, by target."""
DML_SOURCE = "docs/OperatorKernels.md of microsoft/onnxruntime"

FUNCTIONS: dict[str, tuple[int, int]] = {"HardSwish": (14, 28), "Attention": (25, 28), "Swish": (24, 24)}
"""The first and last opset of operators that ONNX defines as functions, which runtimes expand without a kernel.

The function of Swish uses a Constant of opset 24, so ONNX Runtime accepts it in no other opset.
"""

COMPUTED = frozenset({"float", "float16", "bool"})
"""Element types of these operators."""

UNDECLARED = {
    "Resize": {"T2": ["tensor(float)"]},
    "GRU": {"T": ["tensor(float)"]},
    "LSTM": {"T": ["tensor(float)"]},
}
"""Undeclared type constraints of CPU kernels: other types of regions of interest or states fail at run time."""

Alternative = dict[str, frozenset[str]]
"""The types of each type variable; a kernel accepts all combinations."""

Table = dict[str, dict[int, list[Alternative]]]
"""Alternatives by operator and operator version."""


class Kernel(NamedTuple):
    """A registered kernel: one row of a registry, types as ONNX writes them (``tensor(float)``)."""

    operator: str
    since: int
    until: int
    types: dict[str, list[str]]

    def runs(self, version: int) -> bool:
        """ONNX Runtime's rule: an open-ended kernel serves only the version that it was written for."""
        return self.since == version or (self.until != NO_END and self.since <= version <= self.until)


# The registry of an installed onnxruntime.

_DUMP = f"""
import json, onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as state
kernels = [
    (kernel.op_name, *kernel.version_range, {{name: list(types) for name, types in kernel.type_constraints.items()}})
    for kernel in state.get_all_opkernel_def()
    if kernel.domain in ("", "ai.onnx") and kernel.provider == {CPU!r}
]
print(json.dumps([onnxruntime.__version__, kernels]))
"""


def registry(python: str) -> tuple[str, list[Kernel]]:
    """Version and CPU kernels of an interpreter's onnxruntime (the interpreter need not have onnx)."""
    output = subprocess.run([python, "-c", _DUMP], check=True, stdout=subprocess.PIPE, text=True).stdout
    version, rows = json.loads(output.splitlines()[-1])
    kernels = [Kernel(*row) for row in rows]
    return version, [item._replace(types=item.types | UNDECLARED.get(item.operator, {})) for item in kernels]


# ONNX Runtime's published table.


def published_dml(path: Path) -> tuple[str, list[Kernel]]:
    """Source and DirectML kernels of the published table, in Markdown or JSON."""
    if path.suffix == ".json":
        data = json.loads(path.read_text(encoding="utf-8"))
        return data["source"], [
            Kernel(row["op"], row["since"], row["until"] or NO_END, row["types"])
            for row in data["kernels"]
            if row["domain"] == "ai.onnx"
        ]
    return DML_SOURCE, list(_markdown_kernels(path.read_text(encoding="utf-8"), "DmlExecutionProvider"))


def _markdown_kernels(text: str, provider: str) -> Iterator[Kernel]:
    """Rows ``|Op|parameters|13+|**T** = tensor(float)<br/> ...|``; only the first row of an operator has its name."""
    section = text.split(f"## Operators implemented by {provider}", 1)[1].split("\n## ", 1)[0]
    domain, operator = "", ""
    for line in section.splitlines():
        if found := re.match(r"\|\*\*Operator Domain:\*\* \*(.*?)\*", line):
            domain = found[1]
        elif (found := re.match(r"\|(\w*)\|.*\|(\[\d+, \d+\]|\d+\+?)\|(.*)\|$", line)) and domain == "ai.onnx":
            operator = found[1] or operator
            versions = [int(number) for number in re.findall(r"\d+", found[2])]
            types = {
                name: re.split(r",\s*", values.strip())
                for name, values in re.findall(r"\*\*(\w+)\*\* = (.*?)(?:<br/?>|$)", found[3])
            }
            yield Kernel(operator, versions[0], NO_END if found[2].endswith("+") else versions[-1], types)


# From kernels to a table.


def opsets(target: str) -> range:
    return range(FIRST_OPSET, LAST_OPSETS.get(target, LAST_OPSET) + 1)


def table(kernels: Iterable[Kernel], opsets: range) -> Table:
    """The alternatives of each version of each standard operator."""
    by_operator: dict[str, list[Kernel]] = {}
    for kernel in kernels:
        by_operator.setdefault(kernel.operator, []).append(kernel)
    result: Table = {}
    for operator in sorted(by_operator):
        versions: dict[int, list[Alternative]] = {}
        for schema in _schemas(operator, opsets):
            found = [
                _alternative(schema, kernel) for kernel in by_operator[operator] if kernel.runs(schema.since_version)
            ]
            versions[schema.since_version] = merged(row for row in found if row is not None)
        if any(versions.values()):
            result[operator] = versions
    return result


def _schemas(operator: str, opsets: range) -> list[onnx.defs.OpSchema]:
    """The versions of a standard operator that the opsets use, oldest first."""
    found: dict[int, onnx.defs.OpSchema] = {}
    for opset in opsets:
        try:
            schema = onnx.defs.get_schema(operator, opset)
        except onnx.defs.SchemaError:  # not a standard operator, or not yet
            continue
        if not schema.deprecated:
            found[schema.since_version] = schema
    return list(found.values())


def _tensors(types: Iterable[str]) -> frozenset[str]:
    """The element types of tensor types; sequences, maps and optionals are never emitted."""
    return frozenset(found[1] for item in types if (found := re.fullmatch(r"tensor\((\w+)\)", item)))


def _alternative(schema: onnx.defs.OpSchema, kernel: Kernel) -> Alternative | None:
    """The types that both the operator and the kernel admit, or ``None`` if there are none."""
    row = {item.type_param_str: _tensors(item.allowed_type_strs) for item in schema.type_constraints}
    parameters = {item.name: item.type_str for item in [*schema.inputs, *schema.outputs]}
    for name, types in kernel.types.items():
        variable = name if name in row else parameters[name]  # a kernel may name the parameter instead
        if variable in row:
            row[variable] &= _tensors(types)
        elif variable not in types:
            return None
    return row if all(row.values()) else None


def merged(rows: Iterable[Alternative]) -> list[Alternative]:
    """Simplifies alternatives so that none contains another and no two differ in only one variable."""
    merged = [dict(items) for items in sorted({tuple((k, v) for k, v in row.items()) for row in rows}, key=_order)]
    while True:
        for left, right in itertools.combinations(merged, 2):
            differing = [variable for variable in left if left[variable] != right[variable]]
            if all(left[variable] >= right[variable] for variable in differing):
                merged.remove(right)
                break
            if all(left[variable] <= right[variable] for variable in differing):
                merged.remove(left)
                break
            if len(differing) == 1:
                left[differing[0]] |= right[differing[0]]
                merged.remove(right)
                break
        else:
            return merged


def _order(items: Sequence[tuple[str, frozenset[str]]]) -> list[tuple[str, list[str]]]:
    return [(variable, sorted(types)) for variable, types in items]


def intersection(left: Table, right: Table) -> Table:
    """The combinations that both tables admit, for operator versions in both."""
    result: Table = {}
    for operator in sorted(left):
        others = right.get(operator, {})
        versions = {
            version: _common(rows, others[version]) for version, rows in left[operator].items() if version in others
        }
        if any(versions.values()):
            result[operator] = versions
    return result


def _common(left: Iterable[Alternative], right: Iterable[Alternative]) -> list[Alternative]:
    both = ({variable: a[variable] & b[variable] for variable in a} for a, b in itertools.product(left, right))
    return merged(row for row in both if all(row.values()))


def at(content: Table, operator: str, opset: int) -> list[Alternative]:
    """The alternatives of an operator in an opset."""
    versions = content.get(operator, {})
    version = max((number for number in versions if number <= opset), default=None)
    return [] if version is None else versions[version]


def common(tables: Sequence[tuple[int, Table]], opsets: range) -> Table:
    """The combinations that all runtimes admit; each opset counts only runtimes whose last opset includes it."""
    result: Table = {}
    firsts = {opsets[0], *(last + 1 for last, _ in tables)}
    for operator in sorted({name for _, content in tables for name in content}):
        changes = {version for _, content in tables for version in content.get(operator, {})}
        versions: dict[int, list[Alternative]] = {}
        for opset in sorted(changes | {max(first, min(changes)) for first in firsts if first in opsets}):
            found, *others = (at(content, operator, max(opset, opsets[0])) for last, content in tables if last >= opset)
            for rows in others:
                found = _common(found, rows)
            if opset in changes or found != at({operator: versions}, operator, opset):
                versions[opset] = found
        if any(versions.values()):
            result[operator] = versions
    return result


def combinations(rows: Iterable[Alternative]) -> set[tuple[tuple[str, str], ...]]:
    """Every admitted binding of type variables."""
    return {
        tuple(zip(row, types, strict=True))
        for row in rows
        for types in itertools.product(*(sorted(types) for types in row.values()))
    }


def missing(claimed: Table, actual: Table, last: int = LAST_OPSET) -> list[str]:
    """A line for each combination up to the ``last`` opset that is in ``claimed`` but not in ``actual``."""
    lines = []
    for operator, versions in claimed.items():
        for version, rows in versions.items():
            if version > last:
                continue
            found = combinations(at(actual, operator, version))
            for binding in sorted(combinations(rows) - found):
                lines.append(f"{operator}-{version} " + ", ".join(f"{variable}={item}" for variable, item in binding))
    return lines


# Files.


class Head(NamedTuple):
    """The fields of a target's file other than kernels."""

    generator: str
    source: str
    falls_back: bool
    """Whether nodes without a kernel run on the CPU, as with a provider of ONNX Runtime."""
    quant_format: str
    """The default format of quantised operators; maintained manually."""
    quirks: Sequence[str]
    """Names of ``dml2onnx.legalise.quirks.QUIRKS``."""
    opsets: range


def write(path: Path, head: Head, content: Table) -> None:
    """Writes a target with one line per operator version; types are separated by spaces."""
    operators = []
    for operator, versions in content.items():
        rows = []
        for version, alternatives in versions.items():
            words = [{variable: " ".join(sorted(types)) for variable, types in row.items()} for row in alternatives]
            rows.append(f'      "{version}": {json.dumps(words)}')
        operators.append(f'    "{operator}": {{\n' + ",\n".join(rows) + "\n    }")
    first = {"generator": head.generator, "source": head.source, "opsets": [head.opsets[0], head.opsets[-1]]}
    fields = "".join(f"  {json.dumps(key)}: {json.dumps(value)},\n" for key, value in first.items())
    fields += f'  "falls_back": {json.dumps(head.falls_back)},\n'
    fields += f'  "quant_format": {json.dumps(head.quant_format)},\n'
    names = ",".join(f"\n    {json.dumps(name)}" for name in head.quirks)
    fields += f'  "quirks": [{names}' + ("\n  ],\n" if names else "],\n")
    text = "{\n" + fields + '  "kernels": {\n' + ",\n".join(operators) + "\n  }\n}\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    print(f"{path}: {len(content)} operators, {len(head.quirks)} quirks, {len(text)} bytes")


def read_head(path: Path) -> Head:
    content = json.loads(path.read_text(encoding="utf-8"))
    first, last = content["opsets"]
    chosen = content["quant_format"], tuple(content["quirks"])
    return Head(content["generator"], content["source"], content["falls_back"], *chosen, range(first, last + 1))


def rewrite(name: str, generator: str, source: str, falls_back: bool, content: Table) -> None:
    """Replaces the kernels in a target's file; keeps its manual fields."""
    path = TARGETS / f"{name}.json"
    chosen = read_head(path)[3:5] if path.exists() else (QDQ, ())
    write(path, Head(generator, source, falls_back, *chosen, opsets(name)), content)


def parameters() -> str:
    """The file with the type variables of inputs and outputs of all operators with kernels."""
    names = sorted({operator for name in DESTINATIONS for operator in read(TARGETS / f"{name}.json")})
    lines = []
    for name in names:
        versions = {str(schema.since_version): _signature(schema) for schema in _schemas(name, opsets("cpu"))}
        lines.append(f"    {json.dumps(name)}: {json.dumps(versions)}")
    head = f'{{\n  "generator": {json.dumps(GENERATOR)},\n  "operators": {{\n'
    return head + ",\n".join(lines) + "\n  }\n}\n"


def _signature(schema: onnx.defs.OpSchema) -> str:
    """Such as ``T T - -> T``: a dash means a fixed type, dots mean a variadic parameter."""
    variables = {item.type_param_str for item in schema.type_constraints}
    words: list[str] = []
    for items in (schema.inputs, schema.outputs):
        words += [
            (item.type_str if item.type_str in variables else "-")
            + ("..." if item.option == onnx.defs.OpSchema.FormalParameterOption.Variadic else "")
            for item in items
        ]
        words.append("->")
    return " ".join(words[:-1])


def portable() -> tuple[Head, Table]:
    return _shared("portable", DESTINATIONS, False)


def windows_ml() -> tuple[Head, Table]:
    return _shared("windows-ml", ON_WINDOWS_ML, True)


def _shared(made: str, members: Sequence[str], falls_back: bool) -> tuple[Head, Table]:
    """The kernels of all members, and the quirks of any, in order of first appearance."""
    tables = [read(TARGETS / f"{KERNELS_OF.get(name, name)}.json") for name in members]
    content = reduce(intersection, tables)
    quirks = dict.fromkeys(quirk for name in members for quirk in read_head(TARGETS / f"{name}.json").quirks)
    source = f"the kernels that all of {', '.join(members)} have, and the quirks that any of them has"
    # Windows ML's devices were measured with integer operators
    form = QDQ if made == "portable" else QOPERATOR
    return Head(GENERATOR, source, falls_back, form, tuple(quirks), opsets(made)), content


def standard() -> tuple[Head, Table]:
    """The kernels for models for any runtime: the CPU provider's, and FLOAT16 where ONNX admits it."""
    content = {
        operator: {version: [_with_half(operator, version, row) for row in rows] for version, rows in versions.items()}
        for operator, versions in read(TARGETS / "cpu.json").items()
    }
    for operator, (first, last) in FUNCTIONS.items():
        versions = {number: rows for number, rows in content.get(operator, {}).items() if number < first}
        for schema in _schemas(operator, range(first, last + 1)):
            row = {item.type_param_str: _tensors(item.allowed_type_strs) & COMPUTED for item in schema.type_constraints}
            versions[schema.since_version] = [row]
        content[operator] = versions | ({last + 1: []} if last < opsets("onnx")[-1] else {})
    content = dict(sorted(content.items()))
    source = "cpu.json, and FLOAT16 wherever ONNX takes it beside FLOAT, which every session of ONNX Runtime casts"
    return Head(GENERATOR, source, False, *read_head(TARGETS / "onnx.json")[3:5], opsets("onnx")), content


def _with_half(operator: str, version: int, row: Alternative) -> Alternative:
    schema = onnx.defs.get_schema(operator, version)
    allowed = {item.type_param_str: item.allowed_type_strs for item in schema.type_constraints}
    return {
        variable: types | {"float16"} if "float" in types and "tensor(float16)" in allowed.get(variable, ()) else types
        for variable, types in row.items()
    }


def read(path: Path) -> Table:
    kernels = json.loads(path.read_text(encoding="utf-8"))["kernels"]
    return {
        operator: {
            int(version): [{variable: frozenset(types.split()) for variable, types in row.items()} for row in rows]
            for version, rows in versions.items()
        }
        for operator, versions in kernels.items()
    }


def write_cpu(pythons: Sequence[str]) -> None:
    registries = sorted((registry(python) for python in pythons), key=lambda item: _release(item[0]))
    content = common([(last_opset(kernels), table(kernels, opsets("cpu"))) for _, kernels in registries], opsets("cpu"))
    versions = " and ".join(version for version, _ in registries)
    source = f"the kernels common to the {CPU} of onnxruntime {versions} (PyPI wheels)"
    rewrite("cpu", GENERATOR, source, False, content)


def last_opset(kernels: Iterable[Kernel]) -> int:
    """The newest opset that a runtime loads, since each opset has at least one new kernel."""
    return max(kernel.since for kernel in kernels)


def write_dml(path: Path, commit: str | None) -> None:
    source, kernels = published_dml(path)
    rewrite("dml", GENERATOR, source + (f", commit {commit}" if commit else ""), True, table(kernels, opsets("dml")))


def check() -> int:
    """Compares cpu.json with the installed onnxruntime, and derived files with their sources."""
    version, kernels = registry(sys.executable)
    lines = missing(read(TARGETS / "cpu.json"), table(kernels, opsets("cpu")), last_opset(kernels))
    for line in lines:
        print(f"cpu.json claims a kernel that onnxruntime {version} does not have: {line}", file=sys.stderr)
    if not lines:
        print(f"cpu.json: onnxruntime {version} has every kernel it claims")
    is_stale = False
    for name, made in (("onnx", standard), ("portable", portable), ("windows-ml", windows_ml)):
        path = TARGETS / f"{name}.json"
        if (read_head(path), read(path)) != made():
            is_stale = True
            print(f"{name}.json is out of date: run {GENERATOR} --write-{name}", file=sys.stderr)
    is_other = PARAMETERS.read_text(encoding="utf-8") != parameters()
    if is_other:
        print(f"{PARAMETERS.name} does not match onnx {onnx.__version__}", file=sys.stderr)
    return 1 if lines or is_stale or is_other else 0


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--check", action="store_true", help="compare cpu.json with the installed onnxruntime")
    action.add_argument("--write", nargs="+", metavar="PYTHON", help="write cpu.json: one interpreter per release")
    action.add_argument("--write-dml", type=Path, metavar="TABLE", help="write dml.json from OperatorKernels.md")
    action.add_argument("--write-parameters", action="store_true", help="write the operators' type variables")
    action.add_argument("--write-onnx", action="store_true", help="write onnx.json from cpu.json")
    action.add_argument("--write-portable", action="store_true", help="write portable.json from the others")
    action.add_argument("--write-windows-ml", action="store_true", help="write windows-ml.json from the others")
    parser.add_argument("--commit", help="the commit of TABLE, if the table does not name it")
    arguments = parser.parse_args()
    if arguments.check:
        return check()
    if arguments.write:
        write_cpu(arguments.write)
    elif arguments.write_parameters:
        PARAMETERS.write_text(parameters(), encoding="utf-8", newline="\n")
    elif arguments.write_onnx:
        write(TARGETS / "onnx.json", *standard())
    elif arguments.write_portable:
        write(TARGETS / "portable.json", *portable())
    elif arguments.write_windows_ml:
        write(TARGETS / "windows-ml.json", *windows_ml())
    else:
        write_dml(arguments.write_dml, arguments.commit)
    return 0


if __name__ == "__main__":
    sys.exit(main())
