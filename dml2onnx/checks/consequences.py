"""Drops findings that follow from others, so that one mistake gives one finding.

No other module drops findings of a descriptor or a graph. Findings that follow from a misspelled name are dropped
earlier, by ``frontends/findings.py``, which has the names in the file.

A wrong output descriptor makes all its readers invalid, and so does a wrong graph input. To see which findings
follow from a cause, it is corrected and the readers are checked again: those that disappear follow from it. At least
one error of each mistake stays.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from dml2onnx.catalog import Rule
from dml2onnx.checks.candidates import inferred
from dml2onnx.checks.tensors import DOCUMENTATION, is_measurable
from dml2onnx.codes import checking as codes
from dml2onnx.codes.reading import CONNECTED_TWICE, EDGE_BYTES
from dml2onnx.diagnostics import Diagnostic, plural, quote, with_code
from dml2onnx.ir.operator import UNREADABLE, OperatorDesc, Unreadable
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.rules.findings import pointer
from dml2onnx.rules.inference import infer_outputs, tied

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from typing import TypeVar

    from dml2onnx.catalog import OperatorSchema
    from dml2onnx.ir.graph import Graph, GraphInput, Node, Read, Value, Write
    from dml2onnx.ir.operator import FieldValue

    _Bound = TypeVar("_Bound", Read, Write)
    AnyJudge = Callable[[OperatorDesc], tuple[Diagnostic, ...]]
    """Returns the findings about a descriptor."""
    Repair = TensorDesc | Unreadable
    """The correct descriptor; ``UNREADABLE`` if it is unknown."""

_TYPES = frozenset({codes.DATA_TYPE_UNSUPPORTED, codes.DATA_TYPE_LEVEL})
_RANKS = frozenset({codes.DIMENSION_COUNT_UNSUPPORTED, codes.DIMENSION_COUNT_LEVEL})
_ONE_KIND = {
    **dict.fromkeys(_TYPES, (Rule.SAME_DATA_TYPE,)),
    **dict.fromkeys(_RANKS, (Rule.SAME_DIMENSION_COUNT, Rule.SAME_SIZES)),
}
"""Findings about unsupported properties, and the rules by which several tensors share that property."""
SUPPORT_CODES = frozenset(_ONE_KIND)
_OF_ACCEPTED = frozenset({codes.ACCEPTED_SIZES, codes.SCALES_ARE_SIZES})
"""Warnings about output sizes that are not the computed ones, but that DirectML accepts."""
_DOUBTS = frozenset({codes.NO_EFFECT, codes.READ_AS_OTHER_TYPE})
"""Warnings that may be consequences of an error."""
SHAPE_CODES = frozenset(
    {
        codes.DIFFERENT_DIMENSION_COUNTS,
        codes.WRONG_DIMENSION_COUNT,
        codes.DIMENSION_COUNT_UNSUPPORTED,
        codes.DIMENSION_COUNT_LEVEL,
        codes.EFFECTIVE_RANK,
        codes.DIFFERENT_SIZES,
        codes.NOT_BROADCASTABLE,
        codes.WRONG_SIZE,
        codes.ELEMENT_COUNT,
    }
)
"""Findings about shapes; only the first one about a tensor is kept."""
_OF_INPUTS = SHAPE_CODES | _TYPES | {codes.DIFFERENT_DATA_TYPES}
"""Findings about an input that make the inferred outputs wrong."""
_OF_RANKS = frozenset(
    {
        codes.ARRAY_LENGTH,
        codes.NOT_EQUAL,
        codes.WRONG_SIZE,
        codes.DIFFERENT_SIZES,
        codes.NOT_BROADCASTABLE,
        codes.WINDOW_TOO_LARGE,
    }
)
"""Findings about sizes and counts that follow from a rank mismatch."""
MOST_TRIED = 64
"""The most sizes that are tried for a wrong graph input."""

NodeFindings = list[tuple["Diagnostic", ...]]
"""The findings of every node, in the graph's order."""


def without_consequences(
    graph: Graph, of_graph: list[Diagnostic], found: NodeFindings, judge: AnyJudge
) -> tuple[list[Diagnostic], NodeFindings]:
    """Returns the findings of the reader and the graph, and those of the nodes, without consequences of others."""
    reading, found = _without_edges(graph, found)
    errors = (item for findings in found for item in findings if item.is_error or item.code in _OF_ACCEPTED)
    if all(item.code is codes.DEAD_NODE_REFUSED for item in errors):
        return [*reading, *of_graph], found
    of_graph = [item for item in of_graph if item.code != codes.OUT_OF_BOUNDS]
    of_inputs, found = _below_inputs(graph, found, judge)
    found = [
        _of_one_node(of_one_kind(node.operator.schema, findings))
        for node, findings in zip(graph.nodes, _below_outputs(graph, found, judge), strict=True)
    ]
    of_graph = [*reading, *of_graph, *of_inputs]
    if any(item.is_error for findings in (of_graph, *found) for item in findings):
        found = [tuple(item for item in findings if item.code not in _DOUBTS) for findings in found]
    return of_graph, found


def _without_edges(graph: Graph, found: NodeFindings) -> tuple[Sequence[Diagnostic], NodeFindings]:
    """The findings of the reader and the nodes, without those that a mismatched edge causes.

    If a tensor is invalid by itself, the edge finding is dropped. Otherwise the edge finding stays, and those about
    sizes of the same node are dropped.
    """
    if not any(item.code == EDGE_BYTES for item in graph.findings):
        return graph.findings, found
    twice = {(item.node, item.field) for item in graph.findings if item.code == CONNECTED_TWICE}
    wrong = _wrong_ends(graph, found) | twice
    kept = [item for item in graph.findings if item.code != EDGE_BYTES or (item.node, item.field) not in wrong]
    edges = [item for item in kept if item.code == EDGE_BYTES]
    ends = {(item.node, item.field) for item in edges}
    nodes = {node for node, _ in ends}
    begins = {place.pointer for item in edges for place in item.places[:1]}

    def follows(node: Node, item: Diagnostic) -> bool:
        if item.code is codes.ACCEPTED_SIZES and pointer(node.source, item.field) in begins:
            return True  # DirectML would accept it without the edge
        if node.name not in nodes:
            return False
        fields = (item.field, *[path.partition("/")[0] for path in item.related])
        is_of_type = item.code is codes.DIFFERENT_DATA_TYPES and any((node.name, field) in ends for field in fields)
        return is_of_type or "/Sizes" in item.path

    return kept, [
        tuple(item for item in findings if not follows(node, item))
        for node, findings in zip(graph.nodes, found, strict=True)
    ]


def _wrong_ends(graph: Graph, found: NodeFindings) -> set[tuple[str, str]]:
    """(node, field) of inputs that are invalid, or that read an invalid output.

    The input of a reported edge reads a separate value, so the output is identified by its byte count.
    """
    wrong = {
        (node.name, finding.field)
        for node, findings in zip(graph.nodes, found, strict=True)
        for finding in findings
        if finding.is_error
    }
    sizes = {
        (node.name, f"{desc.total_bytes} bytes")
        for node in graph.nodes
        for field, _, desc in bound_tensors(node, node.writes)
        if (node.name, field) in wrong
    }
    return wrong | {
        (item.node, item.field)
        for item in graph.findings
        if any(item.expected == size and item.node != name for name, size in sizes)
    }


def _of_one_node(findings: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """The findings of one node, without those caused by a tensor of wrong sizes.

    A tensor with wrong sizes that also exceeds its buffer is reported for its sizes; one that exceeds its buffer and
    makes other sizes wrong is reported for its buffer.
    """
    if any(item.code is codes.CYCLE for item in findings):  # the value read by mistake probably has other sizes
        return tuple(item for item in findings if "/Sizes" not in item.path)
    findings = _by_strides_in_bytes(findings)
    sizes = {item.field for item in findings if "/Sizes" in item.path and item.is_error}
    leaving = {item.field for item in findings if item.code is codes.OUT_OF_BOUNDS} - sizes
    return tuple(
        item
        for item in findings
        if item.code not in (codes.DEAD_NODE, codes.DEAD_NODE_REFUSED)
        and not (item.code is codes.OUT_OF_BOUNDS and item.field in sizes)
        and not (leaving and "/Sizes" in item.path)
    )


def of_one_kind(schema: OperatorSchema, findings: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Returns the findings without those about a data type or a rank that follow from others.

    Of tensors that must share a data type which the operator lacks, only the first is reported; a tensor that
    mismatches the first may be right.
    """
    wrong = [item for item in findings if item.code is codes.WRONG_DATA_TYPE]
    if not wrong and not any(item.code in _ONE_KIND for item in findings):
        return tuple(findings)
    paths = {item.path for item in wrong}
    findings = [item for item in findings if item.code not in _TYPES or item.path not in paths]
    unsupported = [item for item in findings if item.code in _ONE_KIND]
    wanted = {item.path: item.expected for item in findings if item.code is codes.DIFFERENT_DATA_TYPES}
    kept: list[Diagnostic] = []
    for item in unsupported:
        fields = {name for rule in _ONE_KIND[item.code] for name in tied(schema, rule, item.field)}
        similar = [other for other in kept if (other.code, other.found) == (item.code, item.found)]
        first = next((other for other in similar if other.field in fields), None)
        if first is not None:
            alike = (*first.alike, *([item.field] if item.field not in (first.field, *first.alike) else []))
            kept[kept.index(first)] = replace(first, alike=alike)
        elif item.code not in _TYPES or wanted.get(item.path) not in _listed(item):
            kept.append(item)
    stays = {item.path: item for item in kept}
    causes = [*kept, *wrong]
    return tuple(
        stays.get(item.path, item) if item.code in _ONE_KIND else item
        for item in findings
        if (item.code not in _ONE_KIND or item.path in stays) and not _follows_from_unsupported(item, causes, schema)
    )


def _follows_from_unsupported(item: Diagnostic, unsupported: Sequence[Diagnostic], schema: OperatorSchema) -> bool:
    """Whether a data type or rank mismatches an unsupported one, and is itself supported."""
    if item.code is codes.DIFFERENT_DIMENSION_COUNTS:
        return any(
            other.code in _RANKS and other.field in (item.field, *item.related) and item.path != other.path
            for other in unsupported
        )
    if item.code is not codes.DIFFERENT_DATA_TYPES:
        return False
    fields = {item.field, *item.related, *tied(schema, Rule.SAME_DATA_TYPE, item.field)}
    return any(
        other.code not in _RANKS
        and other.field in fields
        and {other.found, *_listed(other)} >= {item.found, item.expected}
        and other.found in (item.found, item.expected)
        for other in unsupported
    )


def _listed(item: Diagnostic) -> list[str]:
    """The data types that a finding lists as allowed."""
    return item.expected.replace(" or ", ", ").split(", ")


def _by_strides_in_bytes(findings: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """The findings, with strides in bytes reported as the cause of exceeding a buffer."""
    strides = {item.field: item for item in findings if item.code is codes.STRIDES_IN_BYTES}
    leaving = {item.field for item in findings if item.code is codes.OUT_OF_BOUNDS}
    return tuple(
        replace(item, path=cause.path, message=f"{item.message} {cause.message}")
        if item.code is codes.OUT_OF_BOUNDS and (cause := strides.get(item.field)) is not None
        else item
        for item in findings
        if not (item.code is codes.STRIDES_IN_BYTES and item.field in leaving)
    )


# --- One descriptor -------------------------------------------------------------------------------------------------


def within_descriptor(
    findings: list[Diagnostic], index: Mapping[str, int], *, documented: bool
) -> tuple[Diagnostic, ...]:
    """Returns the findings of one descriptor in field order, one for each mistake."""
    findings.sort(key=lambda finding: index.get(finding.field, -1))
    if documented or not any(item.accepted for item in findings):
        return tuple(_without_repetition(findings))
    # errors are reported regardless of warnings about the same field
    refused = list(_without_repetition([item for item in findings if not item.accepted]))
    paths = {item.path for item in refused}
    ranks_differ = any(item.code is codes.DIFFERENT_DIMENSION_COUNTS for item in refused)
    accepted = [
        item
        for item in findings
        if item.accepted and item.path not in paths and not (ranks_differ and item.code in _OF_RANKS)
    ]
    found = [*refused, *_without_repetition(accepted)]
    found.sort(key=lambda finding: index.get(finding.field, -1))
    return tuple(found)


def _without_repetition(findings: list[Diagnostic]) -> Iterator[Diagnostic]:
    """The first finding about each invalid shape, without those that follow from a rank mismatch.

    A violation at all levels suppresses one that a later level lifts.
    """
    final = {finding.path for finding in findings if finding.code in SHAPE_CODES and not finding.since}
    exact = {finding.key for finding in findings if not finding.since}
    ranks_differ = any(finding.code is codes.DIFFERENT_DIMENSION_COUNTS for finding in findings)
    odd = _of_other_ranks(findings)
    does_not_fit = any(finding.code is codes.WINDOW_TOO_LARGE for finding in findings)
    seen = {finding.path for finding in findings if finding.code is codes.ZERO_SIZE}
    for finding in findings:
        if finding.code is codes.ZERO_SIZE and does_not_fit:  # the cause
            continue
        if finding.since and (finding.path in final or finding.key in exact):
            continue
        if ranks_differ and finding.code in _OF_RANKS:
            continue
        if finding.code is codes.OUT_OF_RANGE and not odd.isdisjoint(finding.related):  # right for the right rank
            continue
        if finding.code in SHAPE_CODES:
            if finding.path in seen:
                continue
            seen.add(finding.path)
        yield finding


def _of_other_ranks(findings: list[Diagnostic]) -> set[str]:
    """The tensors with mismatched ranks."""
    differing = [finding for finding in findings if finding.code is codes.DIFFERENT_DIMENSION_COUNTS]
    return {path.partition("/")[0] for finding in differing for path in (finding.path, *finding.related)}


# --- Outputs --------------------------------------------------------------------------------------------------------


def _below_outputs(graph: Graph, found: NodeFindings, judge: AnyJudge) -> NodeFindings:
    """The findings, without those of nodes that are valid once their inputs are.

    Output sizes that DirectML accepts become an error if they make a reader invalid: a pooling window that does not
    fit may be dropped, unless a reader needs it.
    """
    repairs: dict[Value, tuple[TensorDesc, Repair]] = {}
    origins: dict[Value, int] = {}
    kept: NodeFindings = []
    for position, (node, findings) in enumerate(zip(graph.nodes, found, strict=True)):
        causes = [origins[value] for value in node.sources if value in origins] if origins else []
        operator = node.operator
        right: dict[str, Repair] = {}
        if causes:
            operator = _with_reads(node, repairs)
            right |= _followed(node.operator, operator) if operator is not node.operator else {}
            is_other = bool(findings) and operator is not node.operator
            left = _still(findings, operator.with_values(right), judge) if is_other else findings
            left = tuple(item for item in left if not _would_fit(node, item, repairs))
            if any(item.is_error for item in findings) and not any(item.is_error for item in left):
                kept[causes[0]] = tuple(_as_error(item, node) for item in kept[causes[0]])
            findings = left
        if findings:
            wrong = _wrong_outputs(node, findings)
            right |= _of_wrong_inputs(operator, findings)
            right |= _right_outputs(operator, wrong)
            findings = _still(findings, operator.with_values(right), judge, wrong) if wrong else findings
            if any(item.code is codes.SCALES_ARE_SIZES for item in findings):
                right |= _right_outputs(operator, {"OutputTensor"})
        kept.append(findings)
        for field, write, desc in bound_tensors(node, node.writes) if right else ():
            if field in right:
                repairs[write.value] = desc, right[field]
                origins[write.value] = causes[0] if causes and not findings else position
    return kept


def _would_fit(node: Node, item: Diagnostic, repairs: Mapping[Value, tuple[TensorDesc, Repair]]) -> bool:
    """Whether a tensor that exceeds its buffer fits the corrected value."""
    reads, desc = node.reads.get(item.field, ()), node.operator.find(item.field)
    if item.code is not codes.OUT_OF_BOUNDS or len(reads) != 1 or reads[0].value not in repairs:
        return False
    right = repairs[reads[0].value][1]
    if not isinstance(desc, TensorDesc) or not isinstance(right, TensorDesc):
        return True
    return reads[0].offset + desc.total_bytes <= right.total_bytes


@lru_cache(maxsize=1 << 8)
def _followed(desc: OperatorDesc, repaired: OperatorDesc) -> Mapping[str, Repair]:
    """The outputs inferred from the repaired descriptor, if the original declares those inferred from the original."""
    names = [field.name for field in desc.schema.output_fields]
    tensors = {name: tensor for name in names if isinstance(tensor := desc.find(name), TensorDesc)}
    declared = {name: tensor.packed() for name, tensor in tensors.items() if is_measurable(tensor)}
    if not declared or len(declared) < len(tensors) or inferred(desc, [*declared]) != declared:
        return {}
    return {name: tensor or UNREADABLE for name, tensor in inferred(repaired, [*declared]).items()}


def _of_wrong_inputs(desc: OperatorDesc, findings: Sequence[Diagnostic]) -> Mapping[str, Repair]:
    """The outputs inferred after correcting wrong inputs.

    If a tensor mismatches others, the outputs are those for its own sizes or type; otherwise they are unknown.
    """
    right: dict[str, Repair] = {}
    inputs = {field.name for field in desc.schema.input_fields}
    for item in findings:
        own = desc.find(item.field)
        if not item.is_error or item.code not in _OF_INPUTS or not isinstance(own, TensorDesc):
            continue
        others = {name: other for name in item.related if isinstance(other := desc.find(name), TensorDesc)}
        made: dict[str, Repair] = {item.field: UNREADABLE}
        if item.code is codes.DIFFERENT_SIZES:
            made = {name: replace(own, data_type=other.data_type) for name, other in others.items()}
        elif item.code is codes.DIFFERENT_DATA_TYPES:
            made = {name: replace(other, data_type=own.data_type, total_size=0) for name, other in others.items()}
            right |= {name: tensor for name, tensor in made.items() if name not in inputs}
        right |= _followed(desc, desc.with_values(made)) if item.field in inputs else {}
    return right


def _as_error(finding: Diagnostic, reader: Node) -> Diagnostic:
    """A warning about sizes that DirectML accepts, as an error if a reader cannot use them."""
    if finding.code is not codes.ACCEPTED_SIZES:
        return finding
    message = finding.message.partition(" DirectML accepts this")[0].replace(" should be ", " has to be ")
    message += f" DirectML accepts the node itself, but {quote(reader.name)} cannot use this size."
    return with_code(finding, codes.WRONG_SIZE, message)


def _wrong_outputs(node: Node, findings: Sequence[Diagnostic]) -> set[str]:
    """The output fields with errors, or with sizes that DirectML accepts."""
    outputs = {field.name for field in node.operator.schema.output_fields}
    return {
        item.field
        for item in findings
        if item.field in outputs and not item.is_structural and (item.is_error or item.code is codes.ACCEPTED_SIZES)
    }


def _right_outputs(desc: OperatorDesc, wrong: set[str]) -> dict[str, Repair]:
    """The correct descriptors of wrong outputs, inferred from the other fields."""
    outputs = {field.name for field in desc.schema.output_fields}
    others = {name: value for name in outputs - wrong if isinstance(value := desc.get(name), TensorDesc)}
    bare = desc.with_values(dict.fromkeys(outputs))
    found = infer_outputs(
        bare,
        {name: value.sizes for name, value in others.items()},
        {name: value.data_type for name, value in others.items()},
        sorted(name for name in wrong if isinstance(desc.find(name), TensorDesc)),
    ).outputs
    right: dict[str, Repair] = {}
    for name in wrong:
        made = found.get(name)
        right[name] = UNREADABLE if made is None else TensorDesc(*made)
    return right


def _with_reads(node: Node, repairs: dict[Value, tuple[TensorDesc, Repair]]) -> OperatorDesc:
    """The node's descriptor with repaired values, where it describes them as their producers do."""
    changes: dict[str, FieldValue] = {}
    for field, reads in node.reads.items():
        descs = _described(node, field)
        seen = [_seen(read.value, desc, repairs) for read, desc in zip(reads, descs, strict=False)]
        if len(seen) < len(descs) or all(new is old for new, old in zip(seen, descs, strict=True)):
            continue
        right = [item for item in seen if isinstance(item, TensorDesc)]
        if len(right) < len(seen):
            changes[field] = UNREADABLE
        else:
            changes[field] = tuple(right) if isinstance(node.operator.get(field), tuple) else right[0]
    return node.operator.with_values(changes)


def _seen(value: Value, desc: object, repairs: dict[Value, tuple[TensorDesc, Repair]]) -> object:
    """The repaired descriptor of a value if the node describes it as its producer does; else the node's own."""
    written, right = repairs.get(value, (None, UNREADABLE))
    if not isinstance(desc, TensorDesc) or written is None:
        return desc
    return right if (written.sizes, written.data_type) == (desc.sizes, desc.data_type) else desc


def bound_tensors(node: Node, bound: Mapping[str, tuple[_Bound, ...]]) -> Iterator[tuple[str, _Bound, TensorDesc]]:
    """(field, read or write, descriptor) of all tensors of a node, valid or not."""
    for field, items in bound.items():
        for item, desc in zip(items, _described(node, field), strict=False):
            if isinstance(desc, TensorDesc):
                yield field, item, desc


def _described(node: Node, field: str) -> tuple[object, ...]:
    """The values of a tensor field, one for each element of an array."""
    value = node.operator.find(field)
    return value if isinstance(value, tuple) else (value,)


def _still(
    findings: tuple[Diagnostic, ...], repaired: OperatorDesc, judge: AnyJudge, always: Collection[str] = ()
) -> tuple[Diagnostic, ...]:
    """The structural findings, those about the fields ``always``, and those that the repaired descriptor still has."""
    later = {item.key for item in judge(repaired)}
    return tuple(item for item in findings if item.field in always or item.is_structural or item.key in later)


# --- Graph inputs ---------------------------------------------------------------------------------------------------


def _below_inputs(graph: Graph, found: NodeFindings, judge: AnyJudge) -> tuple[list[Diagnostic], NodeFindings]:
    """One finding about a graph input instead of those of its readers, if another size makes all of them valid."""
    made: list[Diagnostic] = []
    found = list(found)
    readers: dict[Value, dict[int, None]] = {}
    wrong = [i for i, findings in enumerate(found) if any(item.is_error for item in findings)]
    for i in wrong:
        for _, read, _ in bound_tensors(graph.nodes[i], graph.nodes[i].reads):
            readers.setdefault(read.value, {})[i] = None
    for item in graph.inputs:
        invalid_readers = list(readers.get(item.value, ()))
        if item.desc is None or not item.source or len(invalid_readers) < 2:
            continue
        right = _right_input(item, item.desc, [graph.nodes[i] for i in invalid_readers], judge)
        if right is not None:
            made.append(_wrong_input(item, item.desc, right, len(invalid_readers)))
            for i in invalid_readers:
                found[i] = tuple(finding for finding in found[i] if finding.is_structural or not finding.is_error)
    return made, found


def _right_input(item: GraphInput, desc: TensorDesc, readers: Sequence[Node], judge: AnyJudge) -> TensorDesc | None:
    """The only input descriptor with which no reader has an error: one size differs, or it has the sizes of a view."""
    shapes = {view.sizes for node in readers for _, _, view in bound_tensors(node, node.reads)}
    shapes |= {view.sizes for node in readers for _, _, view in bound_tensors(node, node.writes)}
    nearby = {size for sizes in shapes for size in sizes}
    tried = [sizes for sizes in sorted(shapes) if len(sizes) != desc.rank]
    for axis, size in enumerate(desc.sizes):
        others = sorted(nearby | {size - 1, size + 1}, key=lambda candidate: abs(candidate - size))
        tried += [(*desc.sizes[:axis], other, *desc.sizes[axis + 1 :]) for other in others if 0 < other != size]
    fitting: list[TensorDesc] = []
    for sizes in tried[:MOST_TRIED]:
        right = replace(desc, sizes=sizes, strides=None, total_size=0)
        repairs: dict[Value, tuple[TensorDesc, Repair]] = {item.value: (desc, right)}
        if not any(new.is_error for node in readers for new in judge(_with_reads(node, repairs))):
            fitting.append(right)
    return fitting[0] if len(fitting) == 1 else None


def _wrong_input(item: GraphInput, desc: TensorDesc, right: TensorDesc, readers: int) -> Diagnostic:
    wanted, found = list(right.sizes), list(desc.sizes)
    message = (
        f"The graph input {quote(item.name)} has sizes {found}; {plural(readers, 'node')} that read it need {wanted}."
    )
    return codes.WRONG_INPUT_SIZES.at(
        message, pointer=pointer(item.source, "Sizes"), expected=wanted, found=found, documentation=DOCUMENTATION
    )
