"""Infers the sizes of outputs that a native model leaves out.

Nodes are visited in topological order. Inferred descriptors are inserted into ``desc``, as if they had been written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Unpack

from dml2onnx.catalog import FieldType, OperatorSchema
from dml2onnx.codes import reading as codes
from dml2onnx.codes.checking import CYCLE
from dml2onnx.diagnostics import Code, route
from dml2onnx.frontends.findings import FindingDetails, Findings, listing, pointer, quote
from dml2onnx.frontends.members import Json
from dml2onnx.frontends.native_forms import INFER, Forms, NativeForm
from dml2onnx.frontends.native_values import Values, WriteTarget
from dml2onnx.ir.operator import UNREADABLE, FieldValue, OperatorDesc
from dml2onnx.ir.tensor import DataType, TensorDesc

if TYPE_CHECKING:
    from dml2onnx.frontends.descriptors import DescriptorReader

DESCRIBED = "a tensor descriptor with Sizes"
"""The expected value of an output."""


@dataclass(slots=True, eq=False)
class RawNode:
    """A node of the first pass: its outputs are read, its inputs are not."""

    place: str
    name: str
    raw: Json
    form: NativeForm
    outputs: dict[str, list[WriteTarget | None]]
    unknown: dict[str, FieldValue] = field(default_factory=dict)
    """Outputs without sizes because of a reported error."""

    @property
    def fields(self) -> Json:
        """The fields of ``desc``, including inferred ones."""
        return self.form.fields

    @property
    def schema(self) -> OperatorSchema:
        return self.form.schema

    def report(
        self,
        findings: Findings,
        code: Code,
        message: str,
        field: str,
        place: str = "",
        **details: Unpack[FindingDetails],
    ) -> None:
        """Reports a finding about a field, by default at its place in ``desc``."""
        place = place or self.place + pointer("desc", field)
        findings.report(code, message, place, node=self.name, schema=self.schema, field=field, **details)


@cache
def _outputs(schema: OperatorSchema) -> tuple[tuple[str, bool], ...]:
    """The outputs of a single tensor, and whether they are optional."""
    return tuple((item.name, item.optional) for item in schema.output_fields if item.type is FieldType.TENSOR)


def _names_to_infer(node: RawNode) -> tuple[str, ...]:
    """Returns the outputs of a node whose sizes need to be inferred."""
    found: tuple[str, ...] = ()
    for name, optional in _outputs(node.schema):
        raw = node.fields.get(name)
        if raw is None:
            if name in node.outputs or not optional:
                found += (name,)
        elif type(raw) is dict and "Desc" not in raw and raw.get("Sizes", INFER) == INFER:
            found += (name,)
    return found


def _invalid_words(node: RawNode) -> dict[str, str]:
    """Returns the outputs whose ``Sizes`` are a word other than ``"infer"``, with the word."""
    fields = {item.name: node.fields.get(item.name) for item in node.schema.output_fields}
    sizes = {name: raw.get("Sizes") for name, raw in fields.items() if isinstance(raw, dict) and "Desc" not in raw}
    return {name: word for name, word in sizes.items() if isinstance(word, str) and word != INFER}


class OutputInference:
    """Completes the descriptors of outputs."""

    def __init__(self, values: Values, descriptors: DescriptorReader, forms: Forms, findings: Findings) -> None:
        self._values = values
        self._descriptors = descriptors
        self._forms = forms
        self._findings = findings
        self._targets: dict[str, tuple[RawNode, WriteTarget]] = {}

    def complete(self, nodes: Sequence[RawNode]) -> None:
        """Infers all missing descriptors of outputs, and reports those that cannot be inferred."""
        incomplete = [node for node in nodes if not node.form.is_complete]
        for node in incomplete:
            self._reject_words(node)
        pending = {node: names for node in incomplete if (names := _names_to_infer(node))}
        if not pending:
            return
        for node in nodes:
            for targets in node.outputs.values():
                for target in targets:
                    if target is not None:
                        self._targets.setdefault(target.key, (node, target))
        sorter = TopologicalSorter(dict.fromkeys(pending, ()))
        for node in pending:
            sorter.add(node, *(other for other in self._producers(node) if other in pending))
        with suppress(CycleError):  # the nodes of a cycle stay pending
            sorter.prepare()
        while ready := sorter.get_ready():
            for node in ready:
                self._infer(node, pending.pop(node))
                sorter.done(node)
        if pending:
            self._report_cycle(pending)

    def _producers(self, node: RawNode) -> Iterator[RawNode]:
        inputs = node.raw.get("inputs")
        for name, entry in inputs.items() if type(inputs) is dict else ():
            if node.fields.get(name) is None:
                yield from (self._targets[key][0] for key in _names(entry) if key in self._targets)

    def _report_cycle(self, pending: dict[RawNode, tuple[str, ...]]) -> None:
        """Reports a cycle, at its edge that leads back farthest in the file."""
        cycle = self._cycle(pending)
        position = {node: index for index, node in enumerate(pending)}
        pairs = zip(cycle, [*cycle[1:], cycle[0]], strict=True)
        reader, maker = max(pairs, key=lambda pair: position[pair[1]] - position[pair[0]])
        inputs = reader.raw["inputs"]
        assert isinstance(inputs, dict)
        field, value = next(
            (field, name)
            for field, entry in inputs.items()
            for name in _names(entry)
            if name in self._targets and self._targets[name][0] is maker
        )
        message = (
            f"The graph has a cycle: {route([node.name for node in reversed(cycle)])}; {field} reads {quote(value)}"
        )
        message += ", which this node writes itself" if len(cycle) == 1 else ", which depends on this node's output"
        place = reader.place + pointer("inputs", field)
        reader.report(self._findings, CYCLE, message, field, place, expected="an acyclic graph")
        for other, left in pending.items():
            self._give_up(other, left)

    def _cycle(self, pending: dict[RawNode, tuple[str, ...]]) -> list[RawNode]:
        path: dict[RawNode, None] = {}
        node = next(iter(pending))
        while node not in path:
            path[node] = None
            node = next(other for other in self._producers(node) if other in pending)
        names = list(path)
        return names[names.index(node) :]

    def _reject_words(self, node: RawNode) -> None:
        words = _invalid_words(node)
        for name, word in words.items():
            message = f"{name}.Sizes is {quote(word)}; the only word for sizes to be inferred is {quote(INFER)}"
            place = node.place + pointer("desc", name, "Sizes")
            expected = f"an array of whole numbers, {quote(INFER)}, or nothing"
            node.report(self._findings, codes.FIELD_KIND, message, f"{name}.Sizes", place, expected=expected)
        if words:
            self._give_up(node, tuple(words))

    # --- One node -----------------------------------------------------------------------------------------------------

    def _infer(self, node: RawNode, names: tuple[str, ...]) -> None:
        from dml2onnx.rules.inference import infer_outputs  # most models state all sizes and do not need the rules

        supplied = self._supplied(node) | dict.fromkeys(names)
        stated = {name: node.fields.get(name) or {} for name in names}
        fields = {name: value for name, value in node.fields.items() if name not in stated}
        operator, problems = self._descriptors.operator(node.schema, fields, supplied)
        types = {name: kind for name, raw in stated.items() if (kind := self._stated_type(raw)) is not None}
        found = infer_outputs(operator, {}, types, names)
        missing = tuple(name for name in names if name not in found.outputs)
        if missing and not problems and not any(value is UNREADABLE for value in operator.values):
            for item in found.findings:
                place = node.place + pointer("desc") + f"/{item.path}"
                message, expected = item.message.rstrip("."), item.expected or DESCRIBED
                node.report(self._findings, item.code, message, item.field, place, expected=expected)
            if not found.findings:
                what = listing([item for item in found.missing if item.partition(".")[0] in missing])
                message = f"cannot infer {what} from the inputs and the other fields"
                message += _example(operator, missing[0], types)
                node.report(self._findings, codes.MISSING_FIELD, message, missing[0], expected=DESCRIBED)
        self._give_up(node, missing)
        for name, (data_type, sizes) in found.outputs.items():
            self._complete(node, name, stated[name], data_type, sizes)

    def _complete(self, node: RawNode, name: str, stated: object, data_type: DataType, sizes: Sequence[int]) -> None:
        assert isinstance(stated, dict)
        raw = {"DataType": data_type.name, **stated, "Sizes": list(sizes)}
        self._update_fields(node, {**node.fields, name: raw})
        desc = self._descriptors.tensor(raw, {}, [])
        for target in node.outputs.get(name, ()):
            if target is not None and isinstance(desc, TensorDesc):
                target.desc = desc

    def _give_up(self, node: RawNode, names: Sequence[str]) -> None:
        self._update_fields(node, {name: value for name, value in node.fields.items() if name not in names})
        node.unknown |= dict.fromkeys(names, UNREADABLE)

    def _update_fields(self, node: RawNode, fields: Json) -> None:
        node.form = self._forms.of(node.schema, fields, node.raw.get("inputs"), node.raw.get("outputs"))

    def _stated_type(self, raw: object) -> DataType | None:
        if not isinstance(raw, dict) or "DataType" not in raw:
            return None
        desc = self._descriptors.tensor({"DataType": raw["DataType"], "Sizes": [1]}, {}, [])
        return desc.data_type if isinstance(desc, TensorDesc) else None

    def _supplied(self, node: RawNode) -> dict[str, FieldValue]:
        """Returns the descriptors that inputs inherit from the values they read."""
        supplied: dict[str, FieldValue] = {}
        inputs = node.raw.get("inputs")
        for item in node.schema.input_fields:
            entry = inputs.get(item.name) if type(inputs) is dict else None
            if node.fields.get(item.name) is not None:
                continue
            if entry is None:
                supplied[item.name] = None if item.optional else UNREADABLE
                continue
            descs = [self._desc(name) for name in _names(entry)]
            known = tuple([desc for desc in descs if desc is not None])
            is_array = item.type is FieldType.TENSOR_ARRAY
            whole = len(known) == len(descs) and (is_array or len(known) == 1)
            supplied[item.name] = UNREADABLE if not whole else known if is_array else known[0]
        return supplied

    def _desc(self, name: str) -> TensorDesc | None:
        known = self._values.by_name.get(name)
        if known is not None:
            return known.desc
        return self._targets[name][1].desc if name in self._targets else None


def _example(operator: OperatorDesc, name: str, types: Mapping[str, DataType]) -> str:
    """Formats an example of an output descriptor, with the sizes of the first input."""
    first = next((desc for item in operator.schema.input_fields for desc in operator.tensors(item.name)), None)
    data_type = types.get(name, DataType.FLOAT32 if first is None else first.data_type).name
    sizes = [1] if first is None else list(first.sizes)
    return f'; write them, such as "{name}": {{"DataType": "{data_type}", "Sizes": {sizes}}}'


def _names(entry: object) -> list[str]:
    """Returns the names of the values that an input is connected to."""
    names = []
    for item in entry if isinstance(entry, list) else [entry]:
        name = item.get("value") if isinstance(item, dict) else item
        names.append(name if isinstance(name, str) else "")
    return names
