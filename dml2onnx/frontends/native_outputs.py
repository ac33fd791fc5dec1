"""Infers the sizes of outputs that a native model leaves out.

A node can be asked for its outputs when those that its inputs come from have been, so nodes are visited in that order.
What is inferred is put where it would have been written; everything behind reads it as if it had been.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Unpack

from dml2onnx.catalog import FieldType, OperatorSchema
from dml2onnx.codes import reading as codes
from dml2onnx.codes.checking import CYCLE
from dml2onnx.diagnostics import Code, route
from dml2onnx.frontends.findings import FindingDetails, Findings, listing, pointer, quote
from dml2onnx.frontends.members import Json
from dml2onnx.frontends.native_forms import INFER, Form, Forms
from dml2onnx.frontends.native_values import Values, WriteTarget
from dml2onnx.ir.operator import UNREADABLE, FieldValue, OperatorDesc
from dml2onnx.ir.tensor import DataType, TensorDesc

if TYPE_CHECKING:
    from dml2onnx.frontends.descriptors import DescriptorReader

DESCRIBED = "a tensor descriptor with Sizes"
"""What is expected of an output."""


@dataclass(slots=True, eq=False)
class RawNode:
    """A node whose outputs have names."""

    place: str
    name: str
    raw: Json
    form: Form
    outputs: dict[str, list[WriteTarget | None]]
    unknown: dict[str, FieldValue] = field(default_factory=dict)
    """Outputs without sizes, which has been reported or follows from what has been."""

    @property
    def fields(self) -> Json:
        """Those of ``desc``, and what has been inferred."""
        return self.form.fields

    @property
    def schema(self) -> OperatorSchema:
        """The operator."""
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
        """Adds a finding about a field, which is in ``desc`` unless another place is said."""
        place = place or self.place + pointer("desc", field)
        findings.report(code, message, place, node=self.name, schema=self.schema, field=field, **details)


@cache
def _outputs(schema: OperatorSchema) -> tuple[tuple[str, bool], ...]:
    """The outputs that are one tensor, and whether they may be left out."""
    return tuple((item.name, item.optional) for item in schema.output_fields if item.type is FieldType.TENSOR)


def _open(node: RawNode) -> tuple[str, ...]:
    """The outputs of a node whose sizes are to be inferred."""
    found: tuple[str, ...] = ()
    for name, optional in _outputs(node.schema):
        raw = node.fields.get(name)
        if raw is None:
            if name in node.outputs or not optional:
                found += (name,)
        elif type(raw) is dict and "Desc" not in raw and raw.get("Sizes", INFER) == INFER:
            found += (name,)
    return found


def _misspelt(node: RawNode) -> dict[str, str]:
    """The outputs whose sizes are a word, but not that one, with what they are."""
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
        """Infers what nodes leave out, with findings where nothing follows."""
        incomplete = [node for node in nodes if not node.form.is_complete]
        for node in incomplete:
            self._refuse_words(node)
        waiting = {node: names for node in incomplete if (names := _open(node))}
        if not waiting:
            return
        for node in nodes:
            for targets in node.outputs.values():
                for target in targets:
                    if target is not None:
                        self._targets.setdefault(target.key, (node, target))
        needs = {node: {other for other in self._makers(node) if other in waiting} for node in waiting}
        users: dict[RawNode, list[RawNode]] = {node: [] for node in waiting}
        for node, others in needs.items():
            for other in others:
                users[other].append(node)
        ready = deque(node for node, others in needs.items() if not others)
        while ready:
            node = ready.popleft()
            self._infer(node, waiting.pop(node))
            for user in users[node]:
                needs[user].discard(node)
                if not needs[user]:
                    ready.append(user)
        if waiting:
            self._report_circle(waiting)

    def _makers(self, node: RawNode) -> Iterator[RawNode]:
        inputs = node.raw.get("inputs")
        for name, entry in inputs.items() if type(inputs) is dict else ():
            if node.fields.get(name) is None:
                yield from (self._targets[key][0] for key in _names(entry) if key in self._targets)

    def _report_circle(self, waiting: dict[RawNode, tuple[str, ...]]) -> None:
        """One finding for all nodes that wait for each other, at the last edge of their cycle in the file."""
        cycle = self._cycle(waiting)
        position = {node: index for index, node in enumerate(waiting)}
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
        for other, left in waiting.items():
            self._give_up(other, left)

    def _cycle(self, waiting: dict[RawNode, tuple[str, ...]]) -> list[RawNode]:
        """Nodes of which each waits for the next, and the last for the first."""
        path: dict[RawNode, None] = {}
        node = next(iter(waiting))
        while node not in path:
            path[node] = None
            node = next(other for other in self._makers(node) if other in waiting)
        names = list(path)
        return names[names.index(node) :]

    def _refuse_words(self, node: RawNode) -> None:
        words = _misspelt(node)
        for name, word in words.items():
            message = f"{name}.Sizes is {quote(word)}; the only word for sizes to be inferred is {quote(INFER)}"
            place = node.place + pointer("desc", name, "Sizes")
            expected = f"an array of whole numbers, {quote(INFER)}, or nothing"
            node.report(self._findings, codes.FIELD_KIND, message, f"{name}.Sizes", place, expected=expected)
        if words:
            self._give_up(node, tuple(words))

    # --- One node -----------------------------------------------------------------------------------------------------

    def _infer(self, node: RawNode, names: tuple[str, ...]) -> None:
        from dml2onnx.rules.inference import infer_outputs  # most models say everything, and need no rule to be read

        supplied = self._supplied(node) | dict.fromkeys(names)
        stated = {name: node.fields.get(name) or {} for name in names}
        fields = {name: value for name, value in node.fields.items() if name not in stated}
        operator, problems = self._descriptors.operator(node.schema, fields, supplied)
        types = {name: kind for name, raw in stated.items() if (kind := self._stated_type(raw)) is not None}
        found = infer_outputs(operator, {}, types, names)
        lacking = tuple(name for name in names if name not in found.outputs)
        if lacking and not problems and not any(value is UNREADABLE for value in operator.values):
            for item in found.findings:
                place = node.place + pointer("desc") + f"/{item.path}"
                message, expected = item.message.rstrip("."), item.expected or DESCRIBED
                node.report(self._findings, item.code, message, item.field, place, expected=expected)
            if not found.findings:
                what = listing([item for item in found.missing if item.partition(".")[0] in lacking])
                message = f"{what} are left out, and do not follow from the inputs and the other fields"
                message += _such_as(operator, lacking[0], types)
                node.report(self._findings, codes.MISSING_FIELD, message, lacking[0], expected=DESCRIBED)
        self._give_up(node, lacking)
        for name, (data_type, sizes) in found.outputs.items():
            self._complete(node, name, stated[name], data_type, sizes)

    def _complete(self, node: RawNode, name: str, stated: object, data_type: DataType, sizes: Sequence[int]) -> None:
        assert isinstance(stated, dict)
        raw = {"DataType": data_type.name, **stated, "Sizes": list(sizes)}
        self._restate(node, {**node.fields, name: raw})
        desc = self._descriptors.tensor(raw, {}, [])
        for target in node.outputs.get(name, ()):
            if target is not None and isinstance(desc, TensorDesc):
                target.desc = desc

    def _give_up(self, node: RawNode, names: Sequence[str]) -> None:
        self._restate(node, {name: value for name, value in node.fields.items() if name not in names})
        node.unknown |= dict.fromkeys(names, UNREADABLE)

    def _restate(self, node: RawNode, fields: Json) -> None:
        node.form = self._forms.of(node.schema, fields, node.raw.get("inputs"), node.raw.get("outputs"))

    def _stated_type(self, raw: object) -> DataType | None:
        if not isinstance(raw, dict) or "DataType" not in raw:
            return None
        desc = self._descriptors.tensor({"DataType": raw["DataType"], "Sizes": [1]}, {}, [])
        return desc.data_type if isinstance(desc, TensorDesc) else None

    def _supplied(self, node: RawNode) -> dict[str, FieldValue]:
        """The descriptors of inputs that are those of the values that they read."""
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
        known = self._values.get(name)
        if known is not None:
            return known.desc
        return self._targets[name][1].desc if name in self._targets else None


def _such_as(operator: OperatorDesc, name: str, types: Mapping[str, DataType]) -> str:
    """How an output would be said, with what can be known of it; sizes are those of the first input."""
    first = next((desc for item in operator.schema.input_fields for desc in operator.tensors(item.name)), None)
    data_type = types.get(name, DataType.FLOAT32 if first is None else first.data_type).name
    sizes = [1] if first is None else list(first.sizes)
    return f'; say them, such as "{name}": {{"DataType": "{data_type}", "Sizes": {sizes}}}'


def _names(entry: object) -> list[str]:
    """The names of values in what an input is connected to."""
    names = []
    for item in entry if isinstance(entry, list) else [entry]:
        name = item.get("value") if isinstance(item, dict) else item
        names.append(name if isinstance(name, str) else "")
    return names
