"""The values of a native model, in one name space: declared buffers and outputs of nodes.

A node's output may update a part of a buffer. It is then a new version of the buffer: ``base`` names the version whose
other bytes it keeps and, by default, whose size it has.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dml2onnx.catalog import OperatorSchema
from dml2onnx.codes import reading as codes
from dml2onnx.codes.checking import DIMENSION_COUNT_LIMIT, TOTAL_SIZE_TOO_SMALL, ZERO_SIZE
from dml2onnx.diagnostics import Diagnostic, Place
from dml2onnx.frontends import contents
from dml2onnx.frontends.files import ModelFiles
from dml2onnx.frontends.findings import FindingDetails, Findings, at_field, instead, pointer, quote, suggestion
from dml2onnx.frontends.members import Members, wrong_kind
from dml2onnx.frontends.problems import report
from dml2onnx.frontends.tensors import BUFFER_MEMBERS
from dml2onnx.frontends.unresolved import UNBOUNDED
from dml2onnx.ir.graph import Constant, GraphInput, Read, Value
from dml2onnx.ir.tensor import MAX_DIMENSIONS, DataType, TensorDesc

if TYPE_CHECKING:
    from dml2onnx.frontends.descriptors import DescriptorReader

DECLARED_MEMBERS = ("bytes", "name")
"""The members of a declared value besides its descriptor and its contents."""
TARGET_MEMBERS = ("value", "offset", "base", "bytes", "name")

VALUE = "value"
"""The kind of names that :class:`Findings` does not report as unknown if a definition could not be read."""
UNKNOWN_EXPECTED = "the name of an input, a constant or a node's output"


def _node_at(place: str) -> str:
    """The pointer of the node that contains a place, or an empty text."""
    return "/".join(place.split("/")[:3]) if place.startswith("/nodes/") else ""


def written_size(desc: TensorDesc, offset: int, base: int | None) -> int:
    """Returns the default size of the value that a tensor is written to: that of its base, if any."""
    return offset + desc.total_bytes if base is None else base


@dataclass(frozen=True, slots=True)
class KnownValue:
    """A named value.

    Without ``desc`` it is a buffer for which every reader needs a descriptor, or invalid, which has been reported.
    """

    value: Value
    desc: TensorDesc | None
    is_buffer: bool = False
    whole: tuple[Read, ...] = field(init=False)
    """The read of the whole value, shared by all readers."""

    def __post_init__(self) -> None:
        _set_whole(self, (Read(self.value),))


_set_whole = KnownValue.__dict__["whole"].__set__


@dataclass(slots=True)
class WriteTarget:
    """The target of a node's output; ``value`` is set when all bases are known."""

    key: str
    place: str
    name: str
    desc: TensorDesc | None
    offset: int = 0
    base: str | None = None
    nbytes: int | None = None
    value: Value | None = None


class Values:
    """All named values."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self.by_name: dict[str, KnownValue] = {}
        self._places: dict[str, str] = {}
        self.nodes: dict[str, str] = {}
        """Names of nodes by pointer."""
        self._written: dict[str, list[str]] | None = None
        """Values by the name of the node that writes them."""

    def add(self, name: str, known: KnownValue, place: str) -> None:
        """Adds a value, and reports a duplicate name."""
        if self._claim(name, place):
            self.by_name[name] = known

    def _claim(self, name: str, place: str) -> bool:
        first = self._places.setdefault(name, place)
        if first == place:
            return True
        by = [f"node {quote(self.nodes[at])}" for at in map(_node_at, (first, place)) if at in self.nodes]
        message = f"{quote(name)} names another value already, at {quote(first)}"
        if by:
            twice = len(by) > 1 and by[0] == by[-1]
            both = f"{by[0]} writes it twice" if twice else f"{' and '.join(by)} write it"
            message += f": {both if len(by) > 1 else f'{by[0]} writes it as well'}"
        finding = codes.DUPLICATE_NAME.at(message, pointer=place, expected="a new name", found=quote(name))
        self._findings.add(replace(finding, places=(Place(first, "the first of that name"),)))
        return False

    def report_unknown(
        self, name: str, place: str, node: str = "", field: str = "", schema: OperatorSchema | None = None
    ) -> None:
        """Reports the use of an unknown value."""
        close = self._written_by(name)
        if close:
            meant = f"; node {quote(name)} writes {' and '.join(map(quote, close))}"
        else:
            close = self._findings.closest(name, self.by_name)
            meant = suggestion(close)
        details: FindingDetails = {"expected": UNKNOWN_EXPECTED, "found": quote(name)}
        details["remedies"] = instead(place, close)
        message = f"there is no value {quote(name)}{meant}"
        finding = at_field(codes.UNKNOWN_VALUE, message, place, node, schema, field, **details)
        self._findings.report_unknown(VALUE, name, finding)

    def _written_by(self, node: str) -> tuple[str, ...]:
        """Returns the values that the node of this name writes: in other formats, nodes are read by their name."""
        if self._written is None:
            self._written = {}
            for name, place in self._places.items():
                if writer := self.nodes.get(_node_at(place)):
                    self._written.setdefault(writer, []).append(name)
        return tuple(self._written.get(node, ()))

    def make(self, targets: list[WriteTarget]) -> None:
        """Makes the values of all outputs of nodes, in order."""
        firsts: dict[str, WriteTarget] = {}
        places = self._places
        for target in targets:
            if places.setdefault(target.key, target.place) is target.place or self._claim(target.key, target.place):
                firsts[target.key] = target
        sizes = {key: known.value.nbytes for key, known in self.by_name.items()}
        total_bytes: dict[TensorDesc, int] = {}
        for target in targets:
            desc = target.desc
            if desc is not None and target.base is None and target.nbytes is None:
                nbytes = total_bytes.get(desc, 0) or total_bytes.setdefault(desc, desc.total_bytes)
                nbytes += target.offset
            else:
                nbytes = self._size(target, firsts, sizes)
            target.value = Value(target.name, nbytes)
            if firsts.get(target.key) is target:
                self.by_name[target.key] = KnownValue(target.value, target.desc)
        for target in targets:
            if target.base is not None and target.base not in self.by_name:
                self.report_unknown(target.base, target.place + pointer("base"))

    @staticmethod
    def _size(target: WriteTarget, firsts: dict[str, WriteTarget], sizes: dict[str, int]) -> int:
        """Returns the size of a value: its own, or that of the nearest base with a known size."""
        chain: dict[str, WriteTarget] = {}
        found: int | None = None
        current: WriteTarget | None = target
        while current is not None and found is None:
            if current.nbytes is not None or current.desc is None or current.base is None:
                own = UNBOUNDED if current.desc is None else written_size(current.desc, current.offset, None)
                found = own if current.nbytes is None else current.nbytes
                if current is not target:
                    sizes[current.key] = found
                break
            chain[current.key] = current
            found = sizes.get(current.base)
            current = firsts.get(current.base)
            if current is not None and current.key in chain:
                break  # the checks report cycles of bases
        for key, link in chain.items():
            if firsts.get(key) is link:
                sizes[key] = UNBOUNDED if found is None else found
        return UNBOUNDED if found is None else found


class DeclaredReader:
    """Reads the inputs and constants of a model."""

    def __init__(self, values: Values, descriptors: DescriptorReader, files: ModelFiles, findings: Findings) -> None:
        self._values = values
        self._descriptors = descriptors
        self._files = files
        self._findings = findings
        self.inputs: list[GraphInput] = []
        self.constants: list[Constant] = []

    def read(self, root: Members, section: str) -> None:
        declared = root.mapping(section)
        if declared is None and section in root.raw:
            self._findings.mark_unreadable(VALUE)
        for name, raw in (declared or {}).items():
            place = pointer(section, name)
            members = Members.of(raw, place, self._findings, quote(name))
            known = KnownValue(Value(name, UNBOUNDED), None)
            if members is not None:
                known = self._declare(name, members, constant=section == "constants")
            self._values.add(name, known, place)

    def _declare(self, key: str, members: Members, *, constant: bool) -> KnownValue:
        name, nbytes = members.text("name") or key, members.uint("bytes")
        unknown = KnownValue(Value(name, UNBOUNDED), None)
        if nbytes == 0:
            wrong_kind(self._findings, quote("bytes"), "at least 1", 0, members.at("bytes"))
        if "bytes" in members.raw and not nbytes:
            return unknown
        has_contents = constant or not contents.MEMBERS.isdisjoint(members.raw)
        if nbytes is not None and "Sizes" not in members.raw:
            desc, elements, good = None, *self._read_elements(members, nbytes, has_contents)
        else:
            desc, good = self._read_desc(members, has_contents)
            elements = desc
        if not good:
            return unknown
        filled = None
        if has_contents:
            filled = contents.read_contents(members, elements, nbytes, self._files, self._findings)
            if filled is None:
                return unknown
            desc = None if nbytes is not None and "Sizes" not in members.raw else filled.desc
        value = Value(name, nbytes if nbytes is not None else contents.buffer_size(desc) if desc else UNBOUNDED)
        owned = desc is not None and desc.owned_by_dml
        if filled and (constant or owned):
            self.constants.append(Constant(value, filled.data, desc))
        else:
            self.inputs.append(GraphInput(name, value, filled.data if filled else None, desc, members.place))
        return KnownValue(value, desc, desc is None)

    def _read_desc(self, members: Members, has_contents: bool) -> tuple[TensorDesc | None, bool]:
        """Returns the descriptor, which is optional for a ``.npy`` file, and whether it is valid."""
        is_npy = contents.is_npy(members)
        if is_npy and "DataType" not in members.raw and "Sizes" not in members.raw:
            return None, True
        others = (*sorted(contents.MEMBERS), *DECLARED_MEMBERS)
        meant = members.only((*BUFFER_MEMBERS, *others), "a declared value")
        if not contents.MEMBERS.isdisjoint(meant):
            return None, False  # the contents are misspelt
        fields = {key: value for key, value in members.raw.items() if key in BUFFER_MEMBERS}
        problems: list[Diagnostic] = []
        found = self._descriptors.tensor(fields, fields, problems)
        report(self._findings, problems, members.place)
        desc = found if isinstance(found, TensorDesc) and is_valid_tensor(found, members, self._findings) else None
        if desc is None and has_contents:  # reports errors in the contents as well
            contents.read_contents(members, None, None, self._files, self._findings)
        return desc, desc is not None

    def _read_elements(self, members: Members, nbytes: int, has_contents: bool) -> tuple[TensorDesc | None, bool]:
        """Returns a 1-D tensor for the contents of a buffer without a tensor, and whether it is valid."""
        allowed = {*contents.MEMBERS, *DECLARED_MEMBERS, *(("DataType",) if has_contents else ())}
        members.only(sorted(allowed), "a buffer without Sizes")
        if any(name not in allowed for name in members.raw):
            return None, False
        if "DataType" not in members.raw:
            row = None if contents.is_npy(members) else TensorDesc(DataType.UINT8, (nbytes,))
            return row, True
        problems: list[Diagnostic] = []
        fields = {"DataType": members.raw["DataType"], "Sizes": [1]}
        found = self._descriptors.tensor(fields, fields, problems)
        report(self._findings, problems, members.place)
        if not isinstance(found, TensorDesc):
            return None, False
        count = nbytes * 8 // found.data_type.bits
        if not count:
            message = f"{nbytes} bytes do not hold one element of {found.data_type.name}"
            place = members.at("bytes")
            self._findings.report(codes.WRONG_VALUE_COUNT, message, place, expected=f"{found.minimum_bytes} bytes")
        return TensorDesc(found.data_type, (count,)), count > 0


def is_valid_tensor(desc: TensorDesc, members: Members, findings: Findings) -> bool:
    """Whether a declared tensor has dimensions, none of size 0, and enough bytes; reports errors.

    They are reported here, once, since readers may have their own descriptors.
    """
    if not desc.sizes:
        message, expected = f"a tensor has 1 to {MAX_DIMENSIONS} dimensions", f"1 to {MAX_DIMENSIONS} sizes"
        findings.report(DIMENSION_COUNT_LIMIT, message, members.at("Sizes"), expected=expected, found="none")
    for index, size in enumerate(desc.sizes):
        if size < 1:
            message = f"Sizes[{index}] is {size}; every size is at least 1"
            findings.report(ZERO_SIZE, message, members.at("Sizes", index), expected="at least 1", found=size)
    if not desc.sizes or min(desc.sizes) < 1:
        return False
    if desc.total_size and desc.total_size < desc.minimum_bytes:
        message = f"{desc} needs {desc.minimum_bytes} bytes, and TotalTensorSizeInBytes is {desc.total_size}"
        place = members.at("TotalTensorSizeInBytes")
        findings.report(TOTAL_SIZE_TOO_SMALL, message, place, expected=desc.minimum_bytes, found=desc.total_size)
        return False
    return True
