"""JOIN and SPLIT: sizes add up along the axis and are equal elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from dml2onnx.codes import checking as codes
from dml2onnx.diagnostics import Diagnostic
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.rules.shapes.rules import Formula, rule
from dml2onnx.rules.shapes.sizes import Term, exactly, wrong_size
from dml2onnx.rules.subject import Subject, UnanswerableError


def _joined(subject: Subject, rank: int) -> Iterator[Term]:
    axis = subject.axis("Axis", rank)
    parts = subject.tensors("InputTensors")
    if not parts or any(part.rank != rank for part in parts):
        raise UnanswerableError
    for i, size in enumerate(parts[0].sizes):
        yield _sum(parts, axis) if i == axis else exactly(size, f"InputTensors[0].Sizes[{i}]")


def _sum(parts: Sequence[TensorDesc], axis: int) -> Term:
    along = [part.sizes[axis] for part in parts]
    words = " + ".join(map(str, along)) if len(along) <= 8 else f"the sum over {len(along)} tensors"
    return exactly(sum(along), words)


@rule("join/size-output", formulas={"OutputTensor": Formula(_joined)})
def join_sizes(subject: Subject) -> Iterator[Diagnostic]:
    """``OutputTensor.Sizes[Axis]`` is the sum over the inputs; all other sizes are equal."""
    return _whole_and_parts(subject, "OutputTensor", "InputTensors")


@rule("split/size-output")
def split_sizes(subject: Subject) -> Iterator[Diagnostic]:
    """The sum of ``OutputTensors[k].Sizes[Axis]`` is that of the input; all other sizes are equal."""
    return _whole_and_parts(subject, "InputTensor", "OutputTensors")


def _differing(placed: list[tuple[str, int]]) -> Iterator[tuple[str, int, str]]:
    """The tensors without the most common size, with that size and the first tensor that has it."""
    sizes = [size for _, size in placed]
    if sizes.count(sizes[0]) == len(sizes):
        return
    times = Counter(sizes)
    wanted = max(times, key=lambda size: times[size])
    right = next(path for path, size in placed if size == wanted)
    for path, size in placed:
        if size != wanted:
            yield path, wanted, right


def _unlike(path: str, sizes: tuple[int, ...], wrong: list[tuple[int, int, str]], axis: int) -> Diagnostic:
    """One diagnostic about a tensor that differs in one or more dimensions."""
    if len(wrong) == 1:
        i, wanted, right = wrong[0]
        message = f"{path} has size {sizes[i]} in dimension {i} and {right} has {wanted}; only axis {axis} may differ."
        return codes.DIFFERENT_SIZES.of(f"{path}/Sizes/{i}", message, wanted, sizes[i])
    expected = list(sizes)
    for i, wanted, _ in wrong:
        expected[i] = wanted
    where = " and ".join(f"{wanted} in dimension {i}" for i, wanted, _ in wrong)
    message = f"{path} has sizes {list(sizes)} and {wrong[0][2]} has {where}; only axis {axis} may differ."
    return codes.DIFFERENT_SIZES.of(f"{path}/Sizes", message, expected, list(sizes))


def _whole_and_parts(subject: Subject, whole_name: str, parts_name: str) -> Iterator[Diagnostic]:
    whole = subject.sizes(whole_name)
    axis = subject.axis("Axis", len(whole))
    parts = subject.placed(parts_name)
    if not parts or any(part.rank != len(whole) for _, part in parts):
        raise UnanswerableError
    placed = [(whole_name, whole), *((path, part.sizes) for path, part in parts)]
    wrong: dict[str, list[tuple[int, int, str]]] = {}
    for i in range(len(whole)):
        if i != axis:
            for path, wanted, right in _differing([(path, sizes[i]) for path, sizes in placed]):
                wrong.setdefault(path, []).append((i, wanted, right))
    sizes_of = dict(placed)
    for path, found in wrong.items():
        yield _unlike(path, sizes_of[path], found, axis)
    total = _sum([part for _, part in parts], axis)
    if total.size != whole[axis]:
        # report the output of JOIN, or the outputs of SPLIT
        if whole_name == "OutputTensor":
            yield wrong_size(whole_name, axis, whole[axis], total.expected, total.formula)
        else:
            total_text = f"{total.size} = {total.formula}"
            message = (
                f"The sizes of {parts_name} along axis {axis} sum to {total_text}; {whole_name} has {whole[axis]}."
            )
            yield codes.WRONG_SIZE.of(parts_name, message, whole[axis], total.size)
