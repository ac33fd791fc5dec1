"""TILE, DEPTH_TO_SPACE, SPACE_TO_DEPTH, FOLD and UNFOLD, REVERSE_SUBSEQUENCES, and the state of RANDOM_GENERATOR."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import prod

from dml2onnx.codes import checking as codes
from dml2onnx.diagnostics import Diagnostic
from dml2onnx.rules.findings import accepting
from dml2onnx.rules.shapes.rules import formula, rule
from dml2onnx.rules.shapes.sizes import Sizes, Term, Whole, exactly, not_multiple, wrong_sizes
from dml2onnx.rules.subject import Subject, UnanswerableError


@formula("tile/size-output", tensor="OutputTensor")
def tiled_size(subject: Subject, rank: int) -> Iterator[Term]:
    """``OutputTensor.Sizes[i] = InputTensor.Sizes[i] * Repeats[i]``."""
    sizes = subject.sizes_of_rank("InputTensor", rank)
    for size, repeat in zip(sizes, subject.uints("Repeats", rank), strict=True):
        yield exactly(size * repeat, f"{size} * Repeats {repeat}")


def _image(subject: Subject, rank: int) -> tuple[tuple[int, ...], int]:
    """Sizes { N, C, H, W } and the size of a block."""
    if rank != 4:
        raise UnanswerableError
    return subject.sizes_of_rank("InputTensor", rank), subject.positive("BlockSize")


@formula("depth_to_space/size-output", "depth_to_space1/size-output", tensor="OutputTensor")
def spread_size(subject: Subject, rank: int) -> Whole:
    """Channels become blocks of ``BlockSize`` by ``BlockSize`` elements."""
    (n, c, h, w), block = _image(subject, rank)
    if c % block**2:
        raise UnanswerableError
    return Whole.of((n, c // block**2, h * block, w * block), f"blocks of {block} by {block}")


@rule("depth_to_space/block-divides", "depth_to_space1/block-divides")
def channels_divide(subject: Subject) -> Iterator[Diagnostic]:
    """The channels are a multiple of ``BlockSize`` squared."""
    channels, block = subject.sizes_of_rank("InputTensor", 4)[1], subject.positive("BlockSize")
    yield from not_multiple("InputTensor/Sizes/1", "InputTensor.Sizes[1]", channels, block**2, "BlockSize squared")


@formula("space_to_depth/size-output", "space_to_depth1/size-output", tensor="OutputTensor")
def gathered_size(subject: Subject, rank: int) -> Whole:
    """Blocks of ``BlockSize`` by ``BlockSize`` elements become channels."""
    (n, c, h, w), block = _image(subject, rank)
    if h % block or w % block:
        raise UnanswerableError
    return Whole.of((n, c * block**2, h // block, w // block), f"blocks of {block} by {block}")


@rule("space_to_depth/block-divides", "space_to_depth1/block-divides")
def space_divides(subject: Subject) -> Iterator[Diagnostic]:
    """Height and width are multiples of ``BlockSize``."""
    sizes, block = subject.sizes_of_rank("InputTensor", 4), subject.positive("BlockSize")
    for i in (2, 3):
        yield from not_multiple(f"InputTensor/Sizes/{i}", f"InputTensor.Sizes[{i}]", sizes[i], block, "BlockSize")


@rule("reverse_subsequences/size-sequence-lengths")
def sequence_lengths_size(subject: Subject) -> Iterator[Diagnostic]:
    """One length per sequence: the input's sizes with 1 along the axis."""
    sizes = subject.sizes("InputTensor")
    axis = subject.axis("Axis", len(sizes))
    found = subject.sizes_of_rank("SequenceLengthsTensor", len(sizes))
    expected = (*sizes[:axis], 1, *sizes[axis + 1 :])
    yield from wrong_sizes("SequenceLengthsTensor", found, expected, f"one length per sequence along axis {axis}")


@rule("random_generator/size-input-state")
def state_size(subject: Subject) -> Iterator[Diagnostic]:
    """Six words in the last dimension."""
    found = subject.sizes("InputStateTensor")
    yield from wrong_sizes("InputStateTensor", found, (*(1,) * (len(found) - 1), 6), "six words of state")


# --- Fold and unfold ------------------------------------------------------------------------------------------------


@rule("fold/dimension-counts", "unfold/dimension-counts")
def fold_ranks(subject: Subject) -> Iterator[Diagnostic]:
    """Blocks have 3 dimensions and the image two more than ``DimensionCount``."""
    blocks, image = ("InputTensor", "OutputTensor") if subject.desc.type == "FOLD" else ("OutputTensor", "InputTensor")
    for tensor, rank in ((blocks, 3), (image, subject.positive("DimensionCount") + 2)):
        sizes = subject.sizes(tensor)
        if len(sizes) != rank:
            message = f"{tensor} has sizes {list(sizes)}; it has to have {rank} dimensions."
            found = codes.WRONG_DIMENSION_COUNT.of(f"{tensor}/Sizes", message, rank, list(sizes))
            is_accepted = tensor == image and len(sizes) > rank
            yield accepting(found, f"it uses the first {rank} sizes") if is_accepted else found


def _blocks(image: str, subject: Subject, rank: int) -> Sizes:
    """One column per position of the window, one row per element of it; ``fold_ranks`` reports excess dimensions."""
    count = subject.positive("DimensionCount")
    whole = subject.sizes(image)[: count + 2]
    if rank != 3 or len(whole) < count + 2:
        raise UnanswerableError
    windows, strides = subject.positives("WindowSizes", count), subject.positives("Strides", count)
    dilations = subject.uints("Dilations", count)  # 0 is valid: all elements of a window coincide
    starts, ends = subject.uints("StartPadding", count), subject.uints("EndPadding", count)
    positions = []
    for i, size in enumerate(whole[2:]):
        space = size + starts[i] + ends[i] - dilations[i] * (windows[i] - 1) - 1
        if space < 0:
            message = f"The window reaches {-space} elements beyond spatial dimension {i} with padding."
            return [codes.WINDOW_TOO_LARGE.of(f"WindowSizes/{i}", message, "at least 1 position", 0)]
        positions.append(space // strides[i] + 1)
    batch, channels = whole[:2]
    words = "batch, channels times window elements, window positions"
    blocks = (batch, channels * prod(windows), prod(positions))
    return Whole.of(blocks, words)


folded_size = formula("fold/size-input", tensor="InputTensor")(partial(_blocks, "OutputTensor"))
unfolded_size = formula("unfold/size-output", tensor="OutputTensor", rank=3)(partial(_blocks, "InputTensor"))
