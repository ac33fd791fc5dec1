"""Named sizes of a builder's inputs, and their numbers during recording."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from dml2onnx import arguments
from dml2onnx.builder.arguments import converted, error_here, listed, whole_numbers
from dml2onnx.codes import building as codes
from dml2onnx.diagnostics import plural
from dml2onnx.frontends.findings import listing, quote
from dml2onnx.ir.size_names import is_size_name, own_size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dml2onnx.builder.attributes import SizesOrNames, WholeNumbers


class SizeNames:
    """The named sizes of inputs, and their ranges."""

    def __init__(self, ranges: Mapping[str, tuple[int, int]] | None) -> None:
        self._ranges = _ranges(ranges)
        self._names: dict[str, None] = {}

    def of_input(self, sizes: SizesOrNames) -> tuple[WholeNumbers, tuple[int | str, ...]]:
        """Sizes with names replaced by numbers, and the original sizes, if they have names."""
        named = listed("sizes", sizes)
        if not any(isinstance(size, str) for size in named):
            return named, ()
        numbers = [own_size(_checked(size), self._ranges) if isinstance(size, str) else size for size in named]
        whole_numbers("sizes", numbers, 1)
        self._names |= dict.fromkeys(size for size in named if isinstance(size, str))
        return numbers, tuple(size if isinstance(size, str) else int(size) for size in named)

    def numbers(self, sizes: SizesOrNames, elements: int = 0) -> WholeNumbers:
        """Sizes with names replaced by numbers; the names must be those of inputs.

        A size of -1 is refused with the size that fits ``elements``.
        """
        named = listed("sizes", sizes)
        for size in named:
            if isinstance(size, str) and size not in self._names:
                known = listing(list(self._names)) or "none"
                message = f"{quote(size)} is not the name of an input's size; the names are: {known}"
                raise error_here(codes.BAD_TENSOR, message, expected=known, found=quote(size))
        made = [own_size(size, self._ranges) if isinstance(size, str) else size for size in named]
        others = [size for size in made if size != -1]
        if elements and len(others) == len(made) - 1 and elements % (whole := prod(others) or 1) == 0:
            meant = [elements // whole if size == -1 else size for size in made]
            message = f"sizes {made} are incomplete; for {plural(elements, 'element')} they are {meant}"
            raise error_here(codes.BAD_TENSOR, message, expected=meant, found=made)
        return made

    def used_ranges(self) -> dict[str, tuple[int, int]]:
        """The ranges; each must belong to a name of an input."""
        unused = listing([quote(name) for name in self._ranges if name not in self._names])
        if unused:
            known = listing(list(self._names)) or "none"
            message = f"ranges has {unused}, and the names for sizes of inputs are: {known}"
            raise error_here(codes.BAD_TENSOR, message, expected=known, found=unused)
        return self._ranges


def _checked(name: str) -> str:
    """A valid name of a size."""
    if is_size_name(name) is None:
        expected = "letters, digits and underscores, a letter first"
        raise error_here(
            codes.BAD_TENSOR, f"{quote(name)} cannot be the name of a size", expected=expected, found=quote(name)
        )
    return name


def _ranges(argument: object) -> dict[str, tuple[int, int]]:
    """The ranges of named sizes, checked."""
    ranges = {} if argument is None else converted(arguments.by_name, argument, "ranges")
    found: dict[str, tuple[int, int]] = {}
    for name, own in ranges.items():
        ends = whole_numbers(f"the range of {quote(name)}", own, 1)  # type: ignore[arg-type]  # whole_numbers refuses other types
        if len(ends) != 2 or ends[0] > ends[1]:
            message = f"the range of {quote(name)} is {list(ends)}, not the first and the last size"
            raise error_here(codes.BAD_TENSOR, message, expected="two sizes, the smaller first", found=list(ends))
        found[_checked(name)] = ends[0], ends[1]
    return found
