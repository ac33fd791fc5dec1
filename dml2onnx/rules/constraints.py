"""The catalogue's constraints that are data, each kind turned into a check once for every operator."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import prod
from operator import attrgetter
from typing import TYPE_CHECKING

from dml2onnx.catalog import Condition, ConditionOp, Constraint, OperatorSchema, Rule
from dml2onnx.codes import checking as codes
from dml2onnx.diagnostics import Diagnostic, plural
from dml2onnx.rules.expressions import evaluator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from dml2onnx.ir.tensor import TensorDesc
    from dml2onnx.rules.findings import Check
    from dml2onnx.rules.subject import Subject


def constraint_check(schema: OperatorSchema, constraint: Constraint) -> Check | None:
    """The check of a constraint; ``None`` for the kinds that are stated in words (see ``shapes``) or elsewhere."""
    compiler = _COMPILERS.get(constraint.rule)
    if compiler is None:
        return None
    check = compiler(schema, constraint)
    return check if constraint.when is None else guarded(check, constraint.when)


def guarded(check: Check, condition: Condition) -> Check:
    """The check, made only where the condition holds."""
    holds = condition_test(condition)
    return lambda subject: check(subject) if holds(subject) else ()


def condition_test(condition: Condition) -> Callable[[Subject], bool]:
    """Whether the condition holds for a descriptor. May raise ``UnanswerableError``."""
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


def _requiring(constraint: Constraint) -> str:
    """The constraint's own words, as a sentence to end a message with."""
    words = constraint.text
    return "" if not words else f" ({words.rstrip('.')})"


# --- Tensors against tensors ----------------------------------------------------------------------------------------


def _odd_ones(
    placed: Sequence[tuple[str, TensorDesc]], of: Callable[[TensorDesc], object]
) -> tuple[tuple[str, TensorDesc], list[tuple[str, TensorDesc]]]:
    """What most tensors have in common is right: the first of those, and the others. The first wins a tie."""
    values = [of(tensor) for _, tensor in placed]
    if values.count(values[0]) == len(values):
        return placed[0], []
    times = Counter(values)
    common = max(times, key=lambda value: times[value])
    right = next(item for item in placed if of(item[1]) == common)
    return right, [item for item in placed if of(item[1]) != common]


def _same_data_type(schema: OperatorSchema, constraint: Constraint) -> Check:
    names = constraint.tensors

    def check(subject: Subject) -> Iterator[Diagnostic]:
        placed = subject.readable(names)
        if len(placed) < 2:
            return
        (right_path, right), odd = _odd_ones(placed, attrgetter("data_type"))
        for path, tensor in odd:
            wanted, found = right.data_type.name, tensor.data_type.name
            message = f"{path} is {found} and {right_path} is {wanted}; they need one data type."
            yield codes.DIFFERENT_DATA_TYPES.of(f"{path}/DataType", message, wanted, found)

    return check


def _same_dimension_count(schema: OperatorSchema, constraint: Constraint) -> Check:
    names = constraint.tensors

    def check(subject: Subject) -> Iterator[Diagnostic]:
        placed = subject.readable(names)
        if len(placed) < 2:
            return
        ends = [item for item in placed if item[0] in ("InputTensor", "OutputTensor")]
        if len(ends) == 2 and ends[0][1].rank == ends[1][1].rank:
            (right_path, right), odd = ends[0], [item for item in placed if item[1].rank != ends[0][1].rank]
        else:
            (right_path, right), odd = _odd_ones(placed, attrgetter("rank"))
        wanted = plural(right.rank, "dimension")
        alike: dict[tuple[int, ...], list[str]] = {}
        for path, tensor in sorted(odd, key=lambda item: schema.index[item[0].partition("/")[0]]):
            alike.setdefault(tensor.sizes, []).append(path)
        for sizes, paths in alike.items():
            has = f"{_listed(paths, 'and')} {'has' if len(paths) == 1 else 'have'} {plural(len(sizes), 'dimension')}"
            message = f"{has} and {right_path} has {right.rank}; they need one dimension count."
            found = codes.DIFFERENT_DIMENSION_COUNTS.of(f"{paths[0]}/Sizes", message, wanted, list(sizes))
            yield found if len(paths) == 1 else replace(found, related=tuple(paths[1:]))

    return check


def _rank_is_checked(schema: OperatorSchema, names: Iterable[str]) -> bool:
    """Whether another constraint demands one dimension count, so that a difference is not reported twice.

    Not one that DirectML does not mind: what has the same sizes has as many of them all the same.
    """
    wanted = set(names)
    return any(
        wanted <= set(other.tensors)
        for other in schema.constraints
        if other.rule is Rule.SAME_DIMENSION_COUNT and not other.accepted
    )


def _same_sizes(schema: OperatorSchema, constraint: Constraint) -> Check:
    names = constraint.tensors
    rank_is_checked = _rank_is_checked(schema, names)

    def check(subject: Subject) -> Iterator[Diagnostic]:
        placed = subject.readable(names)
        if len(placed) < 2:
            return
        (right_path, right), odd = _odd_ones(placed, attrgetter("sizes"))
        for path, tensor in odd:
            if rank_is_checked and tensor.rank != right.rank:
                continue
            wanted, found = list(right.sizes), list(tensor.sizes)
            message = f"{path} has sizes {found} and {right_path} has {wanted}; they need the same."
            yield codes.DIFFERENT_SIZES.of(f"{path}/Sizes", message, wanted, found)

    return check


def _broadcastable(schema: OperatorSchema, constraint: Constraint) -> Check:
    names, to = constraint.tensors, constraint.to
    assert to is not None
    rank_is_checked = _rank_is_checked(schema, (*names, to))

    def check(subject: Subject) -> Iterator[Diagnostic]:
        full = subject.sizes(to)
        for path, tensor in subject.readable(names):
            if tensor.rank != len(full):
                fits = rank_is_checked
            else:
                fits = all(size in (1, whole) for size, whole in zip(tensor.sizes, full, strict=True))
            if not fits:
                found = list(tensor.sizes)
                message = f"{path} has sizes {found}; each has to be 1 or that of {to}, {list(full)}."
                yield codes.NOT_BROADCASTABLE.of(f"{path}/Sizes", message, list(full), found)

    return check


# --- One tensor -----------------------------------------------------------------------------------------------------


def _data_types(schema: OperatorSchema, constraint: Constraint) -> Check:
    name, accepted = constraint.tensor, tuple(str(item) for item in constraint.one_of)
    assert name is not None
    when = constraint.when
    why = "" if when is None else f" with this {when.subject}"

    def check(subject: Subject) -> Iterator[Diagnostic]:
        for path, tensor in subject.placed(name):
            found = tensor.data_type.name
            if found not in accepted:
                wanted = ", ".join(accepted)
                message = f"{path} is {found};{why} it has to be {_listed(accepted, 'or')}."
                yield codes.WRONG_DATA_TYPE.of(f"{path}/DataType", message, wanted, found)

    return check


def _dimension_count(schema: OperatorSchema, constraint: Constraint) -> Check:
    name = constraint.tensor
    assert name is not None
    outside = _range(constraint)

    def check(subject: Subject) -> Iterator[Diagnostic]:
        for path, tensor in subject.placed(name):
            problem = outside(subject, tensor.rank)
            if problem:
                message = f"The DimensionCount of {path} is {tensor.rank}; it has to be {problem}."
                yield codes.WRONG_DIMENSION_COUNT.of(f"{path}/Sizes", message, problem, list(tensor.sizes))

    return check


def effective_rank(sizes: Sequence[int]) -> int:
    """Dimensions without the leading ones of size 1."""
    return next((len(sizes) - i for i, size in enumerate(sizes) if size != 1), 0)


def _effective_rank(schema: OperatorSchema, constraint: Constraint) -> Check:
    name, limit = constraint.tensor, constraint.max
    assert name is not None
    assert isinstance(limit, int)

    def check(subject: Subject) -> Iterator[Diagnostic]:
        sizes = subject.sizes(name)
        rank = effective_rank(sizes)
        if rank > limit:
            message = f"Without leading ones, sizes {list(sizes)} have {rank} dimensions; the limit is {limit}."
            yield codes.EFFECTIVE_RANK.of(f"{name}/Sizes", message, limit, rank)

    return check


def _element_count(schema: OperatorSchema, constraint: Constraint) -> Check:
    name = constraint.tensor
    assert name is not None
    outside = _range(constraint)

    def check(subject: Subject) -> Iterator[Diagnostic]:
        for path, tensor in subject.placed(name):
            count = prod(tensor.sizes)
            problem = outside(subject, count)
            if problem:
                message = f"{path} has {plural(count, 'element')}; it has to have {problem}."
                yield codes.ELEMENT_COUNT.of(f"{path}/Sizes", message, problem, list(tensor.sizes))

    return check


def _not_owned(schema: OperatorSchema, constraint: Constraint) -> Check:
    names = constraint.tensors

    def check(subject: Subject) -> Iterator[Diagnostic]:
        for path, tensor in subject.readable(names):
            if tensor.owned_by_dml:
                message = f"{path} may not carry DML_TENSOR_FLAG_OWNED_BY_DML."
                yield codes.OWNED_NOT_ALLOWED.of(f"{path}/Flags", message, "NONE", "OWNED_BY_DML")

    return check


# --- Present and absent tensors ----------------------------------------------------------------------------------


def _present(subject: Subject, names: Iterable[str]) -> list[str]:
    return [name for name in names if subject.value(name) is not None]


def _listed(names: Sequence[str], last: str) -> str:
    return f"{', '.join(names[:-1])} {last} {names[-1]}" if len(names) > 1 else "".join(names)


def _exactly_one_of(schema: OperatorSchema, constraint: Constraint) -> Check:
    names = constraint.tensors

    def check(subject: Subject) -> Iterator[Diagnostic]:
        present = _present(subject, names)
        if len(present) != 1:
            wanted = f"exactly one of {_listed(names, 'and')}"
            found = _listed(present, "and") or "none"
            message = f"{wanted[0].upper()}{wanted[1:]} has to be present; found: {found}."
            yield codes.EXACTLY_ONE.of(present[1] if present else names[0], message, wanted, found)

    return check


def _at_least_one_of(schema: OperatorSchema, constraint: Constraint) -> Check:
    names = constraint.tensors

    def check(subject: Subject) -> Iterator[Diagnostic]:
        if not _present(subject, names):
            wanted = _listed(names, "or")
            yield codes.AT_LEAST_ONE.of(names[0], f"{wanted} is required.", wanted, "none")

    return check


def _all_or_none(schema: OperatorSchema, constraint: Constraint) -> Check:
    names = constraint.tensors

    def check(subject: Subject) -> Iterator[Diagnostic]:
        present = _present(subject, names)
        if present and len(present) < len(names):
            missing = [name for name in names if name not in present]
            message = f"{_listed(present, 'and')} is present without {_listed(missing, 'and')}; they go together."
            yield codes.ALL_OR_NONE.of(missing[0], message, "all or none", _listed(present, "and"))

    return check


def _required(schema: OperatorSchema, constraint: Constraint) -> Check:
    name, when = constraint.field, constraint.when
    assert name is not None
    assert when is not None
    reason = when.subject if not when.values else f"{when.subject} {' or '.join(when.values)}"

    def check(subject: Subject) -> Iterator[Diagnostic]:
        if subject.value(name) is None:
            yield codes.REQUIRED_HERE.of(name, f"{name} may not be null with {reason}.", "a tensor", "null")

    return check


# --- Attributes -----------------------------------------------------------------------------------------------------


def _range(constraint: Constraint) -> Callable[[Subject, float], str]:
    """What says the range that a value is outside of, in words; empty when it is inside."""
    least = None if constraint.min is None else evaluator(constraint.min)
    most = None if constraint.max is None else evaluator(constraint.max)

    def outside(subject: Subject, value: float) -> str:
        low = None if least is None else least(subject)
        high = None if most is None else most(subject)
        assert not isinstance(low, str)
        assert not isinstance(high, str)
        # NaN is below what has to be above something, and inside all other ranges: so DirectML compares.
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

    return outside


def _entries(subject: Subject, name: str) -> tuple[int | float, ...]:
    """A number, a member of a structure, or all entries of an array."""
    field, _, _ = name.partition(".")
    return subject.numbers(field) if isinstance(subject.value(field), tuple) else (subject.number(name),)


def _entry(subject: Subject, name: str, i: int) -> tuple[str, str]:
    """The path and the name of an entry."""
    field, _, member = name.partition(".")
    if isinstance(subject.value(field), tuple):
        return f"{field}/{i}", f"{field}[{i}]"
    return f"{field}/{member}" if member else field, name


def _attribute_range(schema: OperatorSchema, constraint: Constraint) -> Check:
    name, words = constraint.attribute, _requiring(constraint)
    assert name is not None
    if constraint.one_of:
        return _one_of(name, constraint.one_of, words)
    outside, field = _range(constraint), name.partition(".")[0]

    def check(subject: Subject) -> Iterator[Diagnostic]:
        if subject.value(field) is None:
            return
        for i, value in enumerate(_entries(subject, name)):
            problem = outside(subject, value)
            if problem:
                path, label = _entry(subject, name, i)
                message = f"{label} is {value}; it has to be {problem}{words}."
                yield codes.OUT_OF_RANGE.of(path, message, problem, value)

    return check


def _one_of(name: str, accepted: tuple[str | int, ...], words: str) -> Check:
    texts = [str(item) for item in accepted]
    wanted = ", ".join(texts)

    def check(subject: Subject) -> Iterator[Diagnostic]:
        value = subject.value(name)
        if value is not None and value not in accepted:
            yield codes.OUT_OF_RANGE.of(
                name,
                f"{name} is {value}; it has to be {_listed(texts, 'or')}{words}.",
                wanted,
                value,
            )

    return check


def _equal(schema: OperatorSchema, constraint: Constraint) -> Check:
    left, right = constraint.left, constraint.right
    assert left is not None
    assert right is not None
    wanted_value = evaluator(right)
    array = next((field.name for field in schema.fields if field.count == left), None)

    def check(subject: Subject) -> Iterator[Diagnostic]:
        value = subject.value(left)
        wanted = wanted_value(subject)
        if value is not None and value != wanted:
            origin = f"{right}, {wanted}" if isinstance(right, str) else f"{wanted}"
            if array is None:
                yield codes.NOT_EQUAL.of(left, f"{left} is {value}; it has to be {origin}.", wanted, value)
            else:  # the count need not have been written, and the array was
                has = plural(value, "entry") if isinstance(value, int) else f"{value} entries"
                message = f"{array} has {has}; {left} has to be {origin}."
                yield codes.NOT_EQUAL.of(array, message, wanted, value)

    return check


def _nonzero(schema: OperatorSchema, constraint: Constraint) -> Check:
    name = constraint.attribute
    assert name is not None

    def check(subject: Subject) -> Iterator[Diagnostic]:
        for i, value in enumerate(_entries(subject, name)):
            if value == 0:
                path, label = _entry(subject, name, i)
                yield codes.ZERO_ATTRIBUTE.of(path, f"{label} must not be 0.", "not 0", value)

    return check


def _distinct(schema: OperatorSchema, constraint: Constraint) -> Check:
    name = constraint.attribute
    assert name is not None

    def check(subject: Subject) -> Iterator[Diagnostic]:
        values = subject.numbers(name)
        if len(set(values)) < len(values):
            for i, value in enumerate(values):
                if value in values[:i]:
                    message = f"{name}[{i}] repeats {value}; each entry may occur once."
                    yield codes.REPEATED_ENTRY.of(f"{name}/{i}", message, "distinct entries", list(values))

    return check


_COMPILERS: Mapping[Rule, Callable[[OperatorSchema, Constraint], Check]] = {
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
