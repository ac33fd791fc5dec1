"""Reads names of sizes in a native model, and replaces them by numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from dml2onnx.codes import reading as codes
from dml2onnx.frontends.findings import Findings, pointer, quote
from dml2onnx.frontends.members import UINT32, Members, wrong_kind
from dml2onnx.ir.graph import GraphInput
from dml2onnx.ir.size_names import is_size_name, own_size

MEMBERS = ("size", "range")
"""The members of a name."""


@dataclass
class NativeSizeNames:
    """The size names of a model."""

    sizes: dict[str, int] = field(default_factory=dict)
    """The number that replaces each name."""
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)
    _size_names: dict[str, tuple[int | str, ...]] = field(default_factory=dict)

    def inputs(self, inputs: Iterable[GraphInput]) -> tuple[GraphInput, ...]:
        """Returns the inputs with their size names."""
        return tuple([replace(item, sizes=self._size_names.get(item.source, ())) for item in inputs])

    def replace(self, declared: object) -> None:
        """Records the inputs that have size names."""
        for name, raw in (declared if isinstance(declared, dict) else {}).items():
            sizes = raw.get("Sizes") if isinstance(raw, dict) else None
            if isinstance(sizes, list) and any(isinstance(size, str) and size in self.sizes for size in sizes):
                self._size_names[pointer("inputs", name)] = tuple(sizes)


def read_names(root: Members, findings: Findings) -> NativeSizeNames:
    """Reads the size names, and replaces them by numbers in the whole model."""
    names = NativeSizeNames()
    declared = root.mapping("names")
    if declared is None:
        return names
    for name, raw in declared.items():
        place = pointer("names", name)
        if is_size_name(name) is None:
            expected = "letters, digits and underscores, a letter first"
            message = f"{quote(name)} cannot be the name of a size"
            findings.report(codes.FIELD_KIND, message, place, expected=expected, found=quote(name))
            continue
        members = Members.of(raw, place, findings, quote(name))
        if members is not None:
            _read_name(name, members, names, findings)
    names.replace(root.raw.get("inputs"))
    for section in ("inputs", "constants", "nodes", "outputs", "results", "commands"):
        _substitute_sizes(root.raw.get(section), names.sizes)
    return names


def _read_name(name: str, members: Members, names: NativeSizeNames, findings: Findings) -> None:
    members.only(MEMBERS, "a name of sizes")
    ends = members.array("range")
    if ends is not None:
        whole = [end for end in ends if type(end) is int and 0 < end < UINT32]
        if len(ends) != 2 or len(whole) != 2 or whole[0] > whole[1]:
            expected = "the first and the last size, above 0"
            wrong_kind(findings, "range", expected, ends, members.at("range"))
        else:
            names.ranges[name] = whole[0], whole[1]
    size = members.uint("size")
    if size == 0:
        wrong_kind(findings, "size", "a number above 0", 0, members.at("size"))
    names.sizes[name] = size or own_size(name, names.ranges)


def _substitute_sizes(part: object, sizes: dict[str, int]) -> None:
    """Replaces names by numbers in all ``Sizes`` of a part of the model."""
    pending = [part]
    while pending:
        item = pending.pop()
        if isinstance(item, list):
            pending += [inner for inner in item if isinstance(inner, (dict, list))]
        elif isinstance(item, dict):
            own = item.get("Sizes")
            if isinstance(own, list):
                own[:] = [sizes.get(size, size) if isinstance(size, str) else size for size in own]
            pending += [inner for inner in item.values() if isinstance(inner, (dict, list))]
