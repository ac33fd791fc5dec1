"""Reads outputs, results and commands of a native model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dml2onnx.codes import reading as codes
from dml2onnx.diagnostics import Diagnostic, Member
from dml2onnx.frontends.findings import Findings, listing, pointer, quote
from dml2onnx.frontends.members import Json, Members, wrong_kind
from dml2onnx.frontends.native_values import Values, is_valid_tensor
from dml2onnx.frontends.problems import report
from dml2onnx.ir.graph import Effect, GraphOutput
from dml2onnx.ir.tensor import TensorDesc

if TYPE_CHECKING:
    from dml2onnx.frontends.descriptors import DescriptorReader

PRINT, WRITE_FILE = "print", "writeFile"
COMMAND_MEMBERS = {
    PRINT: ("type", "value", "name", "verbose"),
    WRITE_FILE: ("type", "value", "name", "targetPath", "dimensions"),
}
"""The members of each command, apart from a descriptor."""


class EndReader:
    """Reads outputs, results and commands, after all values have been read."""

    def __init__(self, values: Values, descriptors: DescriptorReader, findings: Findings) -> None:
        self._values = values
        self._descriptors = descriptors
        self._findings = findings

    def outputs(self, root: Members, section: str, *, required: bool = False) -> Iterator[GraphOutput]:
        """Yields the entries of ``outputs`` or ``results``."""
        if section not in root.raw and not required:
            return
        raw = root.required(section, "an array of value names")
        pairs: list[tuple[str | None, object, str]]
        if isinstance(raw, list):
            pairs = [(None, entry, f"/{section}/{index}") for index, entry in enumerate(raw)]
        elif isinstance(raw, dict):
            pairs = [(public, entry, pointer(section, public)) for public, entry in raw.items()]
        else:
            if section in root.raw:
                instead: list[Member] | None = [raw] if isinstance(raw, str) and self._values.by_name.get(raw) else None
                wrong_kind(self._findings, section, "an array of value names", raw, f"/{section}", instead=instead)
            return
        seen: dict[str, str] = {}
        for public, entry, place in pairs:
            stated = entry.get("value") if isinstance(entry, dict) else entry
            name = stated if public is None else public
            if isinstance(name, str) and name in seen:
                message = f"{quote(name)} is an output already, at {quote(seen[name])}"
                self._findings.report(codes.DUPLICATE_NAME, message, place, expected="a new name", found=quote(name))
                continue
            output = self._output(entry, public, place)
            if output is not None:
                seen[output.name] = place
                yield output

    def _output(self, entry: object, public: str | None, place: str) -> GraphOutput | None:
        if isinstance(entry, dict):
            return self._read_output(Members(entry, place, self._findings), ("value",), public)
        if not isinstance(entry, str):
            wrong_kind(self._findings, "an output", "the name of a value", entry, place)
            return None
        return self._make_output(entry, None, public, place, place)

    def _read_output(self, members: Members, beside: tuple[str, ...], public: str | None) -> GraphOutput | None:
        """Reads an object that names a value, with an optional descriptor to view it through."""
        name = members.text("value", required=True)
        if name is None:
            return None
        fields: Json = {key: item for key, item in members.raw.items() if key not in beside}
        desc: TensorDesc | None = None
        if fields:
            problems: list[Diagnostic] = []
            found = self._descriptors.tensor(fields, fields, problems)
            report(self._findings, problems, members.place)
            if not isinstance(found, TensorDesc) or not is_valid_tensor(found, members, self._findings):
                return None
            desc = found
        return self._make_output(name, desc, public, members.at("value"), members.place)

    def _make_output(
        self, name: str, desc: TensorDesc | None, public: str | None, value_place: str, place: str
    ) -> GraphOutput | None:
        known = self._values.by_name.get(name)
        if known is None:
            self._values.report_unknown(name, value_place)
            return None
        if known.is_buffer and desc is None:
            message = f"{quote(name)} has no tensor of its own; write DataType and Sizes"
            expected = "value, DataType and Sizes"
            self._findings.report(codes.MISSING_FIELD, message, place, expected=expected, found=quote(name))
        desc = desc or known.desc
        return None if desc is None else GraphOutput(public or name, known.value, desc)

    def commands(self, root: Members) -> Iterator[Effect]:
        for index, raw in enumerate(root.array("commands") or []):
            members = Members.of(raw, f"/commands/{index}", self._findings, "a command")
            kind = None if members is None else members.text("type", required=True)
            if members is None or kind is None:
                continue
            if kind not in COMMAND_MEMBERS:
                guess = self._findings.did_you_mean(kind, COMMAND_MEMBERS)
                message = f"{quote(kind)} is no command{guess}"
                expected = listing(COMMAND_MEMBERS)
                place = members.at("type")
                self._findings.report(codes.UNKNOWN_COMMAND, message, place, expected=expected, found=quote(kind))
                continue
            output = self._read_output(members, COMMAND_MEMBERS[kind], members.text("name"))
            if kind == PRINT:
                verbose = members.flag("verbose")
                if output is not None:
                    yield Effect(PRINT, output, verbose=verbose)
                continue
            path, dimensions = members.text("targetPath", required=True), members.dimensions()
            if output is not None and path is not None:
                yield Effect(WRITE_FILE, output, path, dimensions)
