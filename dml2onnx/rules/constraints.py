"""Checks for the catalogue's constraints that are data, one function per kind of constraint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from operator import attrgetter

from dml2onnx.catalog import Condition, ConditionOp, Constraint, OperatorSchema, Rule
from dml2onnx.codes import checking as codes
from dml2onnx.diagnostics import Diagnostic, listed, plural
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.rules.expressions import evaluator
from dml2onnx.rules.findings import Check
from dml2onnx.rules.subject import Subject


def constraint_check(constraint: Constraint) -> Check | None:
    """Returns the check of a constraint; ``None`` for kinds that are checked in ``shapes`` or elsewhere."""
    function = _CHECKS.get(constraint.rule)
    if function is None:
        return None
    check = partial(function, constraint)
    return check if constraint.when is None else guarded(check, constraint.when)


def guarded(check: Check, condition: Condition) -> Check:
    """Returns a check that applies only if the condition holds."""
    holds = condition_test(condition)
    return lambda subject: check(subject) if holds(subject) else ()


def condition_test(condition: Condition) -> Callable[[Subject], bool]:
    """Returns a function that tests the condition; it may raise ``UnanswerableError``."""
    subject_name, accepted = condition.subject, frozenset(condition.values)
    tensor, is_data_type, _ = subject_name.partition(".DataType")

    def text(subject: Subject) -> str:
        if is_data_type:
            return subject.tensor(tensor).data_type.name
        value = subject.value(subject_name)
        return str(value).upper() if isinstance(value, bool) else str(value)

    match condition.op:
        case ConditionOp.IN:
            return lambda subject: text(subject) in accepted
        case ConditionOp.NOT_IN:
            return lambda subject: text(subject) not in accepted
        case ConditionOp.NULL:
            return lambda subject: subject.value(subject_name) is None
        case ConditionOp.NOT_NULL:
            return lambda subject: subject.value(subject_name) is not None


# --- Tensors against tensors ----------------------------------------------------------------------------------------


def _odd_ones(
    placed: Sequence[tuple[str, TensorDesc]], of: Callable[[TensorDesc], object]
) -> tuple[tuple[str, TensorDesc], list[tuple[str, TensorDesc]]]:
    """Splits tensors by a property: the first tensor with the most common value, and those that differ from it.

    The first value wins a tie.
    """
    values = [of(tensor) for _, tensor in placed]
    if values.count(values[0]) == len(values):
        return placed[0], []
    times = Counter(values)
    common = max(times, key=lambda value: times[value])
    right = next(item for item in placed if of(item[1]) == common)
    return right, [item for item in placed if of(item[1]) != common]


def _same_data_type(constraint: Constraint, subject: Subject) -> Iterator[Diagnostic]:
    placed = subject.readable(constraint.tensors)
    if len(placed) < 2:
        return
    (right_path, right), odd = _odd_ones(placed, attrgetter("data_type"))
    for path, tensor in odd:
        wanted, found = right.data_type.name, tensor.data_type.name
        message = f"{path} is {found} and {right_path} is {wanted}; they need one data type."
        yield codes.DIFFERENT_DATA_TYPES.of(f"{path}/DataType", message, wanted, found)


def _same_dimension_count(constraint: Constraint, subject: Subject) -> Iterator[Diagnostic]:
    placed = subject.readable(constraint.tensors)
    if len(placed) < 2:
        return
    ends = [item for item in placed if item[0] in ("InputTensor", "OutputTensor")]
    if len(ends) == 2 and ends[0][1].rank == ends[1][1].rank:
        (right_path, right), odd = ends[0], [item for item in placed if item[1].rank != ends[0][1].rank]
    else:
        (right_path, right), odd = _odd_ones(placed, attrgetter("rank"))
    wanted = plural(right.rank, "dimension")
    paths_by_sizes: dict[tuple[int, ...], list[str]] = {}
    for path, tensor in sorted(odd, key=lambda item: subject.schema.index[item[0].partition("/")[0]]):
        paths_by_sizes.setdefault(tensor.sizes, []).append(path)
    for sizes, paths in paths_by_sizes.items():
        has = f"{listed(paths)} {'has' if len(paths) == 1 else 'have'} {plural(len(sizes), 'dimension')}"
        message = f"{has} and {right_path} has {right.rank}; they need one dimension count."
        found = codes.DIFFERENT_DIMENSION_COUNTS.of(f"{paths[0]}/Sizes", message, wanted, list(sizes))
        yield found if len(paths) == 1 else replace(found, related=tuple(paths[1:]))


def _rank_is_checked(schema: OperatorSchema, names: Iterable[str]) -> bool:
    """Whether another constraint, which DirectML enforces, reports different dimension counts."""
    wanted = set(names)
    return any(
        wanted <= set(other.tensors)
        for other in schema.constraints
        if other.rule is Rule.SAME_DIMENSION_COUNT and not other.accepted
    )


def _same_sizes(constraint: Constraint, subject: Subject) -> Iterator[Diagnostic]:
    placed = subject.readable(constraint.tensors)
    if len(placed) < 2:
        return
    (right_path, right), odd = _odd_ones(placed, attrgetter("sizes"))
    for path, tensor in odd:
        if tensor.rank != right.rank and _rank_is_checked(subject.schema, constraint.tensors):
            continue
        wanted, found = list(right.sizes), list(tensor.sizes)
        message = f"{path} has sizes {found} and {right_path} has {wanted}; they need the same."
        yield codes.DIFFERENT_SIZES.of(f"{path}/Sizes", message, wanted, found)


def _broadcastable(constraint: Constraint, subject: Subject) -> Iterator[Diagnostic]:
    names, to = constraint.tensors, constraint.to
    assert to is not None
    full = subject.sizes(to)
    for path, tensor in subject.readable(names):
        if tensor.rank != len(full):
            fits = _rank_is_checked(subject.schema, (*names, to))
        else:
            fits = all(size in (1, whole) for size, whole in zip(tensor.sizes, full, strict=True))
        if not fits:
            found = list(tensor.sizes)
            message = f"{path} has sizes {found}; each has to be 1 or that of {to}, {list(full)}."
            yield codes.NOT_BROADCASTABLE.of(f"{path}/Sizes", message, list(full), found)


# --- One tensor -----------------------------------------------------------------------------------------------------


def _data_types(constraint: Constraint, subject: Subject) -> Iterator[Diagnostic]:
    name, accepted = constraint.tensor, tuple(str(item) for item in constraint.one_of)
    assert name is not None
    why = "" if constraint.when is None else f" with this {constraint.when.subject}"
    for path, tensor in subject.placed(name):
        found = tensor.data_type.name
        if found not in accepted:
            message = f"{path} is {found};{why} it has to be {listed(accepted, 'or')}."
            yield codes.WRONG_DATA_TYPE.of(f"{path}/DataType", message, ", ".join(accepted), found)


def _dimension_count(constraint: Constraint, subject: Subject) -> Iterator[Diagnostic]:
    assert constraint.tensor is not None
    for path, tensor in subject.placed(constraint.tensor):
        problem = _violated_range(constraint, subject, tensor.rank)
        if problem:
            message = f"The DimensionCount of {path} is {tensor.rank}; it has to be {problem}."
            yield codes.WRONG_DIMENSION_COUNT.of(f"{path}/Sizes", message, problem, list(tensor.sizes))


def effective_rank(sizes: Sequence[int]) -> int:
    """Number of dimensions without leading ones."""
    return next((len(sizes) - i for i, size in enumerate(sizes) if size != 1), 0)


def _effective_rank(constraint: Constraint, subject: Subject) -> Iterator[Diagnostic]:
    name, limit = constraint.tensor, constraint.max
    assert name is not None
    assert isinstance(limit, int)
    sizes = subject.sizes(name)
    rank = effective_rank(sizes)
    if rank > limit:
        operator = subject.schema.short_name
        message = f"Without leading ones, sizes {list(sizes)} have {rank} dimensions; {operator} takes at most {limit}."
        yield codes.EFFECTIVE_RANK.of(f"{name}/Sizes", message, limit, rank)


def _element_count(constraint: Constraint, subject: Subject) -> Iterator[Diagnostic]:
    assert constraint.tensor is not None
    for path, tensor in subject.placed(constraint.tensor):
        count = prod(tensor.sizes)
        problem = _violated_range(constraint, subject, count)
        if problem:
            message = f"{path} has {plural(count, 'element')}; it has to have {problem}."
            yield codes.ELEMENT_COUNT.of(f"{path}/Sizes", message, problem, list(tensor.sizes))


def _not_owned(constraint: Constraint, subject: Subject) -> Iterator[Diagnostic]:
    for path, tensor in subject.readable(constraint.tensors):
        if tensor.owned_by_dml:
            message = f"{path} may not carry DML_TENSOR_FLAG_OWNED_BY_DML."
            yield codes.OWNED_NOT_ALLOWED.of(f"{path}/Flags", message, "NONE", "OWNED_BY_DML")


# --- Present and absent tensors ----------------------------------------------------------------------------------


def _present(subject: Subject, names: Iterable[str]) -> list[str]:
    return [name for name in names if subject.value(name) is not None]


def _exactly_one_of(constraint: Constraint, subject: Subject) -> Iterator[Diagnostic]:
    names = constraint.tensors
    present = _present(subject, names)
    if len(present) != 1:
        wanted = f"exactly one of {listed(names)}"
        found = listed(present) or "none"
        message = f"{wanted[0].upper()}{wanted[1:]} has to be present; found: {found}."
        yield codes.EXACTLY_ONE.of(present[1] if present else names[0], message, wanted, found)


def _at_least_one_of(constraint: Constraint, subject: Subject) -> Iterator[Diagnostic]:
    names = constraint.tensors
    if not _present(subject, names):
        wanted = listed(names, "or")
        yield codes.AT_LEAST_ONE.of(names[0], f"{wanted} is required.", wanted, "none")


def _all_or_none(constraint: Constraint, subject: Subject) -> Iterator[Diagnostic]:
    names = constraint.tensors
    present = _present(subject, names)
    if present and len(present) < len(names):
        missing = [name for name in names if name not in present]
        message = f"{listed(present)} is present without {listed(missing)}; use all or none."
        yield codes.ALL_OR_NONE.of(missing[0], message, "all or none", listed(present))


def _required(constraint: Constraint, subject: Subject) -> Iterator[Diagnostic]:
    name, when = constraint.field, constraint.when
    assert name is not None
    assert when is not None
    reason = when.subject if not when.values else f"{when.subject} {' or '.join(when.values)}"
    if subject.value(name) is None:
        yield codes.REQUIRED_HERE.of(name, f"{name} may not be null with {reason}.", "a tensor", "null")


# --- Attributes -----------------------------------------------------------------------------------------------------


def _violated_range(constraint: Constraint, subject: Subject, value: float) -> str:
    """The range of a constraint in words if the value is outside; empty if it is inside."""
    low = None if constraint.min is None else evaluator(constraint.min)(subject)
    high = None if constraint.max is None else evaluator(constraint.max)(subject)
    assert not isinstance(low, str)
    assert not isinstance(high, str)
    # NaN violates an exclusive minimum and satisfies all other bounds, as in DirectML's comparisons
    below = low is not None and (not value > low if constraint.exclusive_min else value < low)
    above = high is not None and value > high
    if not below and not above:
        return ""
    if low == high:
        return f"{low}"
    if low is None:
        return f"at most {high}"
    if constraint.exclusive_min:
        return f"above {low}" + ("" if high is None else f" and at most {high}")
    return f"at least {low}" if high is None else f"in [{low}, {high}]"


def _entries(subject: Subject, name: str) -> tuple[int | float, ...]:
    """The values of an attribute: a number, a member of a structure, or the entries of an array."""
    field, _, _ = name.partition(".")
    return subject.numbers(field) if isinstance(subject.value(field), tuple) else (subject.number(name),)


def _entry(subject: Subject, name: str, i: int) -> tuple[str, str]:
    """The path and the label of an entry."""
    field, _, member = name.partition(".")
    if isinstance(subject.value(field), tuple):
        return f"{field}/{i}", f"{field}[{i}]"
    return f"{field}/{member}" if member else field, name


def _attribute_range(constraint: Constraint, subject: Subject) -> Iterator[Diagnostic]:
    name, accepted = constraint.attribute, constraint.one_of
    assert name is not None
    whole = subject.value(name.partition(".")[0])
    if whole is None:
        return
    words = f" ({constraint.text.rstrip('.')})" if constraint.text else ""
    if accepted:
        if whole not in accepted:
            texts = [str(item) for item in accepted]
            message = f"{name} is {whole}; it has to be {listed(texts, 'or')}{words}."
            yield codes.OUT_OF_RANGE.of(name, message, ", ".join(texts), whole)
        return
    for i, value in enumerate(_entries(subject, name)):
        problem = _violated_range(constraint, subject, value)
        if problem:
            path, label = _entry(subject, name, i)
            message = f"{label} is {value}; it has to be {problem}{words}."
            yield codes.OUT_OF_RANGE.of(path, message, problem, value)


def _equal(constraint: Constraint, subject: Subject) -> Iterator[Diagnostic]:
    left, right = constraint.left, constraint.right
    assert left is not None
    assert right is not None
    value, wanted = subject.value(left), evaluator(right)(subject)
    if value is not None and value != wanted:
        origin = f"{right}, {wanted}" if isinstance(right, str) else f"{wanted}"
        array = next((field.name for field in subject.schema.fields if field.count == left), None)
        if array is None:
            yield codes.NOT_EQUAL.of(left, f"{left} is {value}; it has to be {origin}.", wanted, value)
        else:  # the input may omit the count, but not the array
            has = plural(value, "entry") if isinstance(value, int) else f"{value} entries"
            message = f"{array} has {has}; {left} has to be {origin}."
            yield codes.NOT_EQUAL.of(array, message, wanted, value)


def _nonzero(constraint: Constraint, subject: Subject) -> Iterator[Diagnostic]:
    name = constraint.attribute
    assert name is not None
    for i, value in enumerate(_entries(subject, name)):
        if value == 0:
            path, label = _entry(subject, name, i)
            yield codes.ZERO_ATTRIBUTE.of(path, f"{label} must not be 0.", "not 0", value)


def _distinct(constraint: Constraint, subject: Subject) -> Iterator[Diagnostic]:
    name = constraint.attribute
    assert name is not None
    values = subject.numbers(name)
    if len(set(values)) < len(values):
        for i, value in enumerate(values):
            if value in values[:i]:
                message = f"{name}[{i}] repeats {value}; each entry may occur once."
                yield codes.REPEATED_ENTRY.of(f"{name}/{i}", message, "distinct entries", list(values))


_CHECKS: Mapping[Rule, Callable[[Constraint, Subject], Iterator[Diagnostic]]] = {
    Rule.ALL_OR_NONE: _all_or_none,
    Rule.AT_LEAST_ONE_OF: _at_least_one_of,
    Rule.ATTRIBUTE_RANGE: _attribute_range,
    Rule.BROADCASTABLE: _broadcastable,
    Rule.DATA_TYPES: _data_types,
    Rule.DIMENSION_COUNT: _dimension_count,
    Rule.DISTINCT: _distinct,
    Rule.EFFECTIVE_RANK: _effective_rank,
    Rule.ELEMENT_COUNT: _element_count,
    Rule.EQUAL: _equal,
    Rule.EXACTLY_ONE_OF: _exactly_one_of,
    Rule.NONZERO: _nonzero,
    Rule.NOT_OWNED_BY_DML: _not_owned,
    Rule.REQUIRED: _required,
    Rule.SAME_DATA_TYPE: _same_data_type,
    Rule.SAME_DIMENSION_COUNT: _same_dimension_count,
    Rule.SAME_SIZES: _same_sizes,
}
