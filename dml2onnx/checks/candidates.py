"""Descriptors that differ from an invalid one in one or two changes, as candidates for remedies.

Most mistakes are conventions of other frameworks: NHWC images, HWIO filters, transposed matrices, strides in bytes,
implicit broadcasting. Candidates are only guesses; the rules decide whether they are valid (see ``trials``).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import gcd
from typing import TYPE_CHECKING, NamedTuple, cast

from dml2onnx.catalog import Rule
from dml2onnx.codes import checking as codes
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import MAX_DIMENSIONS, TensorDesc
from dml2onnx.rules.inference import infer_outputs, tied

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.ir.operator import FieldValue

NEUTRAL: dict[str, float | None] = {
    "Scales": 1,
    "InputPixelOffsets": 0.5,
    "OutputPixelOffsets": -0.5,
    "Repeats": 1,
    "StartPadding": 0,
    "EndPadding": 0,
    "InputWindowOffsets": 0,
    "InputWindowSizes": None,
    "InputWindowStrides": 1,
    "Offsets": 0,
    "Sizes": None,
    "Strides": 1,
}
"""The entry of each array field that has no effect along a dimension; ``None`` is the size of the tensor."""
COUNTS = {"Scales": "ScaleCount", "Repeats": "RepeatsCount"}
"""The count fields of arrays whose length is not DimensionCount."""
MOST_ELEMENTS = 64
"""The most tensors of an array field that are tried."""


class Change(NamedTuple):
    """A proposed value of a field; in an array of tensors, of the one at ``position``."""

    field: str
    value: FieldValue
    words: str
    """A description of the value, to follow the field's name."""
    permutation: tuple[int, ...] = ()
    """The argument of numpy's transpose, if the contents of a constant may be changed instead."""
    position: int | None = None
    is_copied: bool = False
    """Whether this is no view of the same memory, so that another node has to make a copy."""

    @property
    def path(self) -> str:
        """The field in the syntax of a JSON pointer."""
        return self.field if self.position is None else f"{self.field}/{self.position}"


LAYOUTS = frozenset({-1, 2})
"""Kinds of candidates that reorder all sizes at once: HWIO, NHWC."""


class Candidate(NamedTuple):
    """Changes that are made together; of two valid candidates, that with the lower ``kind`` is more likely."""

    kind: int
    changes: tuple[Change, ...]


def candidates(desc: OperatorDesc, findings: Sequence[Diagnostic]) -> Iterator[Candidate]:
    """Yields guesses at the intended descriptor."""
    fields = {item.field for item in findings}
    concerned = fields | {name.partition("/")[0] for item in findings for name in item.related}
    follow = list(_outputs(desc))
    yield from (Candidate(0, (change,)) for change in follow if change.field in fields)
    if len(follow) > 1:
        yield Candidate(0, tuple(follow))
    for changes in (*_paddings(desc, findings), *_leading(desc, findings)):
        yield Candidate(0, changes)
    for changes in list(_shorter(desc)) or _of_counts(desc, findings):
        yield Candidate(0, changes)
    for change in (*_windows(desc, findings), *_corners(desc)):
        yield Candidate(0, (change,))
    for change in (*_as_rows(desc), *_like_most(desc, fields)):
        yield Candidate(1, (change,))
    for change in (*_attributes(desc, concerned), *_divisors(desc, findings)):
        yield Candidate(1, (change,))
    for change in _filters(desc):
        if change.permutation and change.permutation[:2] != (1, 0):
            yield Candidate(-1, (change,))  # three sizes rarely match by chance
    yield from (Candidate(2, changes) for changes in _layouts(desc))
    for name in dict.fromkeys(item.field for item in findings if item.code is not codes.WRONG_SIZE):
        yield from (Candidate(_kind_of_view(desc, change), (change,)) for change in _views(desc, name))
    for name in _tied_in_size(desc, findings):
        if name not in fields:
            yield from (Candidate(3, (change,)) for change in _views(desc, name))
    for changes in _views_together(desc, findings, whole=True):
        telling = max(sum(n != 1 for n in each.value.sizes) for each in changes if isinstance(each.value, TensorDesc))
        yield Candidate(3 if telling > 1 else 0, changes)  # a vector does not imply another layout of its neighbors
    yield from (Candidate(4, changes) for changes in _views_together(desc, findings, whole=False))
    yield from (Candidate(3, changes) for changes in _matrices(desc, fields))
    for name in sorted(concerned):
        yield from (Candidate(4, (change,)) for change in _strides_in_bytes(desc, name))


def changed(desc: OperatorDesc, changes: Sequence[Change]) -> OperatorDesc:
    """The descriptor with these changes."""
    values: dict[str, FieldValue] = {}
    for change in changes:
        value = change.value
        if change.position is not None:
            array = values.get(change.field, desc.get(change.field))
            assert isinstance(array, tuple)
            value = cast("FieldValue", (*array[: change.position], value, *array[change.position + 1 :]))
        values[change.field] = value
    return desc.with_values(values)


def with_inferred_outputs(desc: OperatorDesc, like: OperatorDesc) -> tuple[OperatorDesc, tuple[Change, ...]]:
    """Returns the descriptor with inferred outputs, if those of ``like`` equal what its inputs imply."""
    names = _output_names(desc)
    if not names or inferred(like, names) != {name: _plain(like.get(name)) for name in names}:
        return desc, ()
    found = inferred(desc, names)
    if found.keys() != set(names) or None in found.values():
        return desc, ()
    changes = []
    for name, output in found.items():
        old = desc.get(name)
        assert output is not None
        if isinstance(old, TensorDesc) and old.sizes != output.sizes:
            changes.append(Change(name, output, f"of sizes {list(output.sizes)}"))
    return changed(desc, changes), tuple(changes)


# --- Outputs ----------------------------------------------------------------------------------------------------------


def _output_names(desc: OperatorDesc) -> list[str]:
    return [item.name for item in desc.schema.output_fields if isinstance(desc.get(item.name), TensorDesc)]


def _plain(value: FieldValue) -> TensorDesc | None:
    return value.packed() if isinstance(value, TensorDesc) else None


def inferred(desc: OperatorDesc, names: Sequence[str]) -> dict[str, TensorDesc | None]:
    """Returns the outputs that the other fields imply; ``None`` for those that cannot be inferred."""
    outputs = {item.name for item in desc.schema.output_fields}
    bare = OperatorDesc(desc.schema, tuple([None if item.name in outputs else value for item, value in desc.items()]))
    types = {name: value.data_type for name in names if isinstance(value := desc.get(name), TensorDesc)}
    found = infer_outputs(bare, {}, {}, names).outputs
    known = infer_outputs(bare, {}, types, names).outputs
    return {name: TensorDesc(*(found.get(name) or known[name])) if name in known else None for name in names}


def _outputs(desc: OperatorDesc) -> Iterator[Change]:
    """Outputs with their inferred data types or sizes."""
    for name, right in inferred(desc, _output_names(desc)).items():
        old = desc.get(name)
        if right is not None and isinstance(old, TensorDesc):
            if old.data_type is not right.data_type:
                yield Change(name, replace(old, data_type=right.data_type), f"of data type {right.data_type.name}")
            if old.sizes != right.sizes:
                sizes = replace(old, sizes=right.sizes, strides=None, total_size=0)
                yield Change(name, sizes, f"of sizes {list(right.sizes)}, inferred from the other fields")


def _paddings(desc: OperatorDesc, findings: Sequence[Diagnostic]) -> Iterator[tuple[Change, ...]]:
    """The padding for which the output has its sizes, if the padding is zero or the same at both ends."""
    if not {"StartPadding", "EndPadding", "Strides", "OutputTensor"} <= desc.schema.index.keys():
        return
    start, end, steps = (desc.get(name) for name in ("StartPadding", "EndPadding", "Strides"))
    input, output = (desc.get(name) for name in ("InputTensor", "OutputTensor"))
    if not isinstance(input, TensorDesc) or not isinstance(output, TensorDesc) or input.rank != output.rank:
        return
    windows = window(desc)
    if not isinstance(start, tuple) or not isinstance(end, tuple) or not isinstance(steps, tuple):
        return
    if not len(start) == len(end) == len(steps) == len(windows) == input.rank - 2:
        return
    before, after = [], []
    for size, made, step, reach in zip(input.sizes[2:], output.sizes[2:], steps, windows, strict=True):
        assert isinstance(step, int)
        total = (made - 1) * step + reach - size
        if not 0 <= total < reach:
            return
        before.append(total // 2)
        after.append(total - total // 2)
    if not any(item.field == "OutputTensor" for item in findings):
        return
    if start != end and before == after:  # one end was forgotten
        for name, stated, other in (("StartPadding", start, end), ("EndPadding", end, start)):
            if stated != tuple(before) == other:
                yield (Change(name, tuple(before), f"{before}"),)
    elif start == end != tuple(after) and (not any(start) or len({*start}) == len({*before, *after}) == 1):
        yield (Change("StartPadding", tuple(before), f"{before}"), Change("EndPadding", tuple(after), f"{after}"))


def _shorter(desc: OperatorDesc) -> Iterator[tuple[Change, ...]]:
    """Arrays without entries for the leading dimensions, padded with entries that have no effect."""
    tensor = desc.find("InputTensor" if "InputTensor" in desc.schema.index else "OutputGradientTensor")
    if not isinstance(tensor, TensorDesc):
        return
    for count in dict.fromkeys(item.count for item in desc.schema.fields if item.name in NEUTRAL and item.count):
        names = [item.name for item in desc.schema.fields if item.count == count]
        stated = {name: value for name in names if isinstance(value := desc.get(name), tuple)}
        lengths = {len(value) for value in stated.values()}
        if len(lengths) != 1 or stated.keys() != set(names) or not stated.keys() <= NEUTRAL.keys():
            continue
        length = lengths.pop()
        if 0 < length < tensor.rank:
            leading = tensor.sizes[: tensor.rank - length]
            filled = [(name, _filled(name, value, leading)) for name, value in stated.items()]
            *first, last = [Change(name, value, in_words(value)) for name, value in filled]
            last = last._replace(words=f"{last.words}, one for each dimension")
            yield *first, last, Change(count or "", tensor.rank, f"{tensor.rank}")


def _of_counts(desc: OperatorDesc, findings: Sequence[Diagnostic]) -> Iterator[tuple[Change, ...]]:
    """Uniform arrays with the required number of entries."""
    for item in findings:
        field = desc.schema.fields_by_name.get(item.field)
        count = field and (field.count or field.name)
        arrays = [(other.name, desc.get(other.name)) for other in desc.schema.fields if count and other.count == count]
        if (
            item.code is not codes.NOT_EQUAL
            or not item.expected.isdigit()
            or not 0 < int(item.expected) <= MAX_DIMENSIONS
        ):
            continue
        stated = [(name, value) for name, value in arrays if isinstance(value, tuple) and _is_one_number(value)]
        if stated and len(stated) == len(arrays):
            wanted = int(item.expected)
            filled = [(name, cast("FieldValue", (value[0],) * wanted)) for name, value in stated]
            changes = [Change(name, value, in_words(value)) for name, value in filled]
            yield *changes, Change(count or "", wanted, f"{wanted}")


def _leading(desc: OperatorDesc, findings: Sequence[Diagnostic]) -> Iterator[tuple[Change, ...]]:
    """All tensors padded with leading ones to the rank that the feature level supports, with axes shifted."""
    found = [item for item in findings if item.code is codes.DIMENSION_COUNT_LEVEL]
    least = max([int(item.expected.partition(" ")[0]) for item in found], default=0)
    stated = [(item, value) for item, value in desc.items() if isinstance(value, TensorDesc)]
    if not stated or len({value.rank for _, value in stated}) > 1 or not (more := least - stated[0][1].rank) > 0:
        return
    changes = []
    for item, value in desc.items():
        if isinstance(value, TensorDesc) and value.strides is None:
            made = replace(value, sizes=(*[1] * more, *value.sizes))
            changes.append(Change(item.name, made, f"of sizes {list(made.sizes)}"))
        elif item.names_axes and isinstance(value, tuple):
            axes = tuple([axis + more for axis in value if isinstance(axis, int)])
            changes.append(Change(item.name, axes, in_words(axes)))
        elif item.names_axes and isinstance(value, int):
            changes.append(Change(item.name, value + more, str(value + more)))
    yield tuple(changes)


def _is_one_number(array: tuple[object, ...]) -> bool:
    return len(set(array)) == 1 and isinstance(array[0], (int, float))


def _filled(name: str, stated: tuple[object, ...], leading: tuple[int, ...]) -> FieldValue:
    """The array with entries for leading dimensions of these sizes that have no effect."""
    neutral, kind = NEUTRAL[name], float if any(isinstance(item, float) for item in stated) else int
    return cast("FieldValue", (*[kind(size if neutral is None else neutral) for size in leading], *stated))


def in_words(value: FieldValue) -> str:
    """A value as it is written in a file."""
    if isinstance(value, tuple):
        return f"[{', '.join(f'{item:g}' if isinstance(item, float) else str(item) for item in value)}]"
    return str(value)


def window(desc: OperatorDesc) -> tuple[int, ...]:
    """The extent of the window in each spatial dimension, with dilations."""
    filter = desc.find("FilterTensor")
    sizes = filter.sizes[2:] if isinstance(filter, TensorDesc) else ()
    if "WindowSize" in desc.schema.index:
        stated = desc.get("WindowSize")
        sizes = tuple([item for item in stated if isinstance(item, int)]) if isinstance(stated, tuple) else ()
    steps = desc.find("Dilations")
    if not isinstance(steps, tuple) or len(steps) != len(sizes):
        return sizes
    return tuple([(size - 1) * step + 1 for size, step in zip(sizes, steps, strict=True) if isinstance(step, int)])


# --- Attributes -------------------------------------------------------------------------------------------------------


def _attributes(desc: OperatorDesc, concerned: set[str]) -> Iterator[Change]:
    """Transposed matrices, and the group count that matches the filter."""
    for name in ("TransA", "TransB"):
        if name in concerned and desc.get(name) in ("NONE", "TRANSPOSE"):
            other = "TRANSPOSE" if desc.get(name) == "NONE" else "NONE"
            yield Change(name, other, other)
    input, filter = (desc.find(name) for name in ("InputTensor", "FilterTensor"))
    if "GroupCount" in concerned and isinstance(input, TensorDesc) and isinstance(filter, TensorDesc):
        channels, each = (item.sizes[1] if item.rank > 1 else 0 for item in (input, filter))
        if each and channels % each == 0 and channels // each != desc.get("GroupCount"):
            yield Change("GroupCount", channels // each, str(channels // each))


def _windows(desc: OperatorDesc, findings: Sequence[Diagnostic]) -> Iterator[Change]:
    """Window sizes, if their ends or the number of elements were stated."""
    taken, whole, steps = (desc.find(name) for name in ("OutputTensor", "InputWindowSizes", "InputWindowStrides"))
    if isinstance(taken, TensorDesc) and isinstance(steps, tuple) and whole == taken.sizes and len(steps) == taken.rank:
        numbers = [step for step in steps if isinstance(step, int)]
        reach = tuple([(size - 1) * abs(step) + 1 for size, step in zip(taken.sizes, numbers, strict=True)])
        yield Change("InputWindowSizes", reach, f"{list(reach)}")
    for offsets, sizes in (("InputWindowOffsets", "InputWindowSizes"), ("Offsets", "Sizes")):
        first, last = desc.find(offsets), desc.find(sizes)
        if any(item.code is codes.OUT_OF_WINDOW for item in findings) and isinstance(first, tuple):
            pairs = zip(first, last, strict=False) if isinstance(last, tuple) else ()
            made = [end - begin for begin, end in pairs if isinstance(begin, int) and isinstance(end, int)]
            if len(made) == len(first) and min(made, default=0) > 0:
                yield Change(sizes, tuple(made), f"{made}, if the values were ends")


def _corners(desc: OperatorDesc) -> Iterator[Change]:
    """Regions without the batch index, which has its own tensor."""
    tensor = desc.find("ROITensor")
    if isinstance(tensor, TensorDesc) and tensor.sizes[-1:] == (5,) and "BatchIndicesTensor" in desc.schema.index:
        made = TensorDesc(tensor.data_type, (*tensor.sizes[:-1], 4))
        words = (
            f"of sizes {list(made.sizes)}; the number of the picture in front of the corners is in BatchIndicesTensor"
        )
        yield Change("ROITensor", made, words, is_copied=True)


def _as_rows(desc: OperatorDesc) -> Iterator[Change]:
    """The first matrix reshaped to the columns that the second one needs, such as flattened features."""
    first, second = (desc.find(name) for name in ("ATensor", "BTensor"))
    if not isinstance(first, TensorDesc) or not isinstance(second, TensorDesc) or min(first.rank, second.rank) < 2:
        return
    columns = second.sizes[-1 if desc.find("TransB") == "TRANSPOSE" else -2]
    is_plain = first.is_packed and desc.find("TransA") != "TRANSPOSE"
    if is_plain and columns > first.sizes[-1] and first.element_count % columns == 0:
        sizes = (*[1] * (first.rank - 2), first.element_count // columns, columns)
        made = replace(first, sizes=sizes, strides=None, total_size=0)
        yield Change("ATensor", made, f"of sizes {list(sizes)}")


def _like_most(desc: OperatorDesc, fields: set[str]) -> Iterator[Change]:
    """An input with the sizes of most other inputs, such as the statistics of a normalization."""
    inputs = {item.name: desc.get(item.name) for item in desc.schema.input_fields}
    tensors = {name: tensor for name, tensor in inputs.items() if isinstance(tensor, TensorDesc)}
    for name in fields & tensors.keys():
        others = Counter(tensor.sizes for other, tensor in tensors.items() if other != name)
        for sizes, count in others.most_common(1):
            is_of_one = tensors[name].element_count == 1  # broadcast by strides of 0
            if count > 1 and max(sizes, default=1) > 1 and sizes != tensors[name].sizes and not is_of_one:
                made = replace(tensors[name], sizes=sizes, strides=None, total_size=0)
                yield Change(name, made, f"of sizes {list(sizes)}", is_copied=True)


def _divisors(desc: OperatorDesc, findings: Sequence[Diagnostic]) -> Iterator[Change]:
    """The nearest smaller and larger counts that divide all required sizes."""
    sizes = [int(item.found) for item in findings if item.code is codes.INDIVISIBLE and item.found.isdigit()]
    whole = gcd(*sizes)
    for name in _DIVISORS if whole > 1 else ():
        count = desc.find(name)
        if isinstance(count, int):
            fitting = [number for number in range(2, min(whole, MOST_PARTS) + 1) if whole % number == 0]
            smaller, larger = [n for n in fitting if n < count][-1:], [n for n in fitting if n > count][:1]
            yield from (Change(name, number, str(number)) for number in (*smaller, *larger))


_DIVISORS = ("HeadCount", "GroupCount", "BlockSize", "QueryHeadCount", "KeyValueHeadCount")
MOST_PARTS = 256
"""The largest count that is tried as a divisor."""


# --- Layouts ----------------------------------------------------------------------------------------------------------


def _layouts(desc: OperatorDesc) -> Iterator[tuple[Change, ...]]:
    """Tensors in the dimension order of other frameworks: one by one, and those that occur together."""
    of_input = _channels_last(desc, "InputTensor")
    of_output = _channels_last(desc, "OutputTensor")
    of_filter = _filters(desc)
    if heads := _heads_first(desc):
        yield heads
    both = [*of_input, *of_output]
    yield from ((change,) for change in (*of_input, *of_filter))
    if of_input and of_output:
        yield tuple(both)
    for change in of_filter:
        if of_input:
            yield (*of_input, change)
            yield (*both, change)


def _heads_first(desc: OperatorDesc) -> tuple[Change, ...]:
    """Attention tensors with a heads dimension in front of the sequence, as in PyTorch."""
    made = []
    for name in ("QueryTensor", "KeyTensor", "ValueTensor"):
        tensor = desc.find(name)
        heads = next((n for count in _HEAD_COUNTS if isinstance(n := desc.find(count), int)), 0)
        if isinstance(tensor, TensorDesc) and tensor.rank == 4 and tensor.sizes[1] == heads:
            batch, _, length, size = tensor.sizes
            sizes = (batch, length, heads * size)
            words = f"of sizes {list(sizes)}; it looks like heads first, which a transposed copy makes these of"
            made.append(Change(name, TensorDesc(tensor.data_type, sizes), words, is_copied=True))
    return tuple(made)


_HEAD_COUNTS = ("HeadCount", "QueryHeadCount")


def _channels_last(desc: OperatorDesc, name: str) -> list[Change]:
    tensor = desc.find(name)
    if not isinstance(tensor, TensorDesc) or not 3 <= tensor.rank <= 5:
        return []
    title = {3: "NWC", 4: "NHWC", 5: "NDHWC"}[tensor.rank]
    return [_permuted(name, tensor, (0, tensor.rank - 1, *range(1, tensor.rank - 1)), title)]


def _filters(desc: OperatorDesc) -> list[Change]:
    tensor = desc.find("FilterTensor")
    if not isinstance(tensor, TensorDesc) or not 3 <= tensor.rank <= 5:
        return []
    last, spatial = tensor.rank - 1, {3: "W", 4: "HW", 5: "DHW"}[tensor.rank]
    return [
        _permuted("FilterTensor", tensor, (last, last - 1, *range(last - 1)), f"{spatial}IO"),
        _permuted(
            "FilterTensor", tensor, (last - 1, last, *range(last - 1)), f"{spatial}IM, a filter for each channel"
        ),
        _permuted("FilterTensor", tensor, (0, last, *range(1, last)), f"O{spatial}I"),
        _permuted("FilterTensor", tensor, (1, 0, *range(2, last + 1)), f"IO{spatial}"),
    ]


def _permuted(name: str, tensor: TensorDesc, order: tuple[int, ...], title: str) -> Change:
    if len(tensor.effective_strides) != tensor.rank:  # invalid anyway
        return Change(name, tensor, "")
    sizes = tuple([tensor.sizes[axis] for axis in order])
    strides = tuple([tensor.effective_strides[axis] for axis in order])
    made = replace(tensor, sizes=sizes, strides=strides)
    return Change(name, made, f"looks like {title}: Sizes {list(sizes)} with Strides {list(strides)}", order)


# --- Views ------------------------------------------------------------------------------------------------------------


def _views(desc: OperatorDesc, name: str) -> Iterator[Change]:
    """Inputs with ones inserted or removed, or broadcast to the sizes of another tensor by strides of 0."""
    if name not in {item.name for item in desc.schema.input_fields}:
        return
    stated = desc.get(name)
    array = stated[:MOST_ELEMENTS] if isinstance(stated, tuple) else (stated,)
    others = list(dict.fromkeys(tensor.sizes for tensor in _all_tensors(desc)))
    for position, tensor in enumerate(array):
        index = position if isinstance(stated, tuple) else None
        if isinstance(tensor, TensorDesc) and len(tensor.effective_strides) == tensor.rank:
            seen: set[object] = {tensor.sizes}
            forms = [tensor]
            for rank in {len(sizes) for sizes in others}:
                forms += _with_other_ones(tensor, rank)
            for form in forms:
                if form.sizes not in seen:
                    seen.add(form.sizes)
                    yield Change(name, form, f"of sizes {list(form.sizes)}", position=index)
            for form in forms:
                for sizes in (*others, *_partly(form.sizes, others)):
                    repeated = _repeated(form, sizes)
                    if repeated is not None and (sizes, repeated.strides) not in seen:
                        seen.add((sizes, repeated.strides))
                        words = f"repeated: Sizes {list(sizes)} with Strides {list(repeated.effective_strides)}"
                        yield Change(name, repeated, words, position=index)


def _kind_of_view(desc: OperatorDesc, change: Change) -> int:
    """Broadcasting is less likely than a change of the ones alone."""
    new, old = change.value, desc.find(change.field)
    if not isinstance(new, TensorDesc) or not isinstance(old, TensorDesc) or new.rank == old.rank:
        return 3
    return 4 if new.element_count > old.element_count else 3


def _views_together(desc: OperatorDesc, findings: Sequence[Diagnostic], *, whole: bool) -> Iterator[tuple[Change, ...]]:
    """Inputs that are invalid in the same way, all with the same change; views with strides if not ``whole``."""
    seen = set[frozenset[str]]()
    for item in findings:
        if item.code not in (codes.DIFFERENT_DIMENSION_COUNTS, codes.NOT_BROADCASTABLE, codes.DIFFERENT_SIZES):
            continue
        same_code = [other.field for other in findings if other.code is item.code]
        fields = dict.fromkeys(name.partition("/")[0] for name in (item.field, *item.related, *same_code))
        tensors = {name: tensor for name in fields if isinstance(tensor := desc.find(name), TensorDesc)}
        shape = _shape(tensors.get(item.field))
        alike = {name: tensor for name, tensor in tensors.items() if _shape(tensor) == shape}
        if len(alike) > 1 and frozenset(alike) not in seen:
            seen.add(frozenset(alike))
            for change in _views(desc, item.field):
                view = change.value
                if isinstance(view, TensorDesc) and (view.strides is None) == whole:
                    yield tuple(
                        [
                            change._replace(field=name, value=replace(view, data_type=tensor.data_type))
                            for name, tensor in alike.items()
                        ]
                    )


def _shape(tensor: TensorDesc | None) -> object:
    return tensor and (tensor.sizes, tensor.strides)


def _tied_in_size(desc: OperatorDesc, findings: Sequence[Diagnostic]) -> dict[str, None]:
    """Inputs that need the same sizes as an output with mismatched sizes, in order."""
    wrong = (item.field for item in findings if item.code is codes.DIFFERENT_SIZES)
    return dict.fromkeys(name for field in wrong for name in tied(desc.schema, Rule.SAME_SIZES, field))


def _matrices(desc: OperatorDesc, fields: set[str]) -> Iterator[tuple[Change, ...]]:
    """Matrices of GEMM that need leading ones and are transposed as well."""
    for name, transform in (("ATensor", "TransA"), ("BTensor", "TransB")):
        stated = desc.find(transform)
        if name not in fields or stated not in ("NONE", "TRANSPOSE"):
            continue
        other = "TRANSPOSE" if stated == "NONE" else "NONE"
        for change in _views(desc, name):
            if isinstance(change.value, TensorDesc) and change.value.strides is None:
                yield change, Change(transform, other, other)


def _all_tensors(desc: OperatorDesc) -> Iterator[TensorDesc]:
    for item, value in desc.items():
        if item.is_tensor:
            array = value[:MOST_ELEMENTS] if isinstance(value, tuple) else (value,)
            yield from (tensor for tensor in array if isinstance(tensor, TensorDesc))


def _with_other_ones(tensor: TensorDesc, rank: int) -> list[TensorDesc]:
    """The tensor in ``rank`` dimensions: with leading ones, or its only size at any position among ones."""
    whole = [*zip(tensor.sizes, tensor.effective_strides, strict=True)]
    telling = [(n, step) for n, step in whole if n != 1]
    if len(telling) > 1 and tensor.rank < rank:  # keep its own ones in place
        telling = whole
    if len(telling) > rank:
        return []
    places = range(rank) if len(telling) == 1 else (rank - len(telling),)
    ones = [(1, 1)] * (rank - len(telling))
    made = []
    for first in places:
        placed = [*ones[:first], *telling, *ones[first:]]
        strides = None if tensor.is_packed else tuple([step for _, step in placed])
        made.append(replace(tensor, sizes=tuple([n for n, _ in placed]), strides=strides))
    return made


def _partly(sizes: tuple[int, ...], others: Sequence[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    """The sizes with ones replaced by the sizes of other tensors: a batch of the same matrices."""
    for other in others:
        if len(other) == len(sizes):
            yield tuple([wanted if size == 1 else size for size, wanted in zip(sizes, other, strict=True)])


def _repeated(tensor: TensorDesc, sizes: tuple[int, ...]) -> TensorDesc | None:
    """The tensor broadcast to these sizes, or ``None``."""
    if len(sizes) != tensor.rank or sizes == tensor.sizes:
        return None
    if any(n not in (1, wanted) for n, wanted in zip(tensor.sizes, sizes, strict=True)):
        return None
    old = zip(tensor.sizes, sizes, tensor.effective_strides, strict=True)
    return replace(tensor, sizes=sizes, strides=tuple([0 if n == 1 else step for n, wanted, step in old]))


def _strides_in_bytes(desc: OperatorDesc, name: str) -> Iterator[Change]:
    tensor = desc.find(name)
    if isinstance(tensor, TensorDesc) and (made := in_elements(tensor)) is not None:
        yield Change(name, made, f"has strides in bytes; in elements they are {list(made.effective_strides)}")


def in_elements(tensor: TensorDesc) -> TensorDesc | None:
    """Returns the tensor with strides divided by the bytes per element, if that makes it dense."""
    strides = tensor.strides
    if strides is None or tensor.data_type.bits <= 8 or len(strides) != tensor.rank:
        return None
    nbytes = tensor.data_type.itemsize
    if not any(strides) or any(step % nbytes for step in strides):
        return None
    made = replace(tensor, strides=tuple([step // nbytes for step in strides]), total_size=0)
    return made if made.is_dense else None
