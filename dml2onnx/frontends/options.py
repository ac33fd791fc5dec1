"""What a caller may decide about how a model is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dml2onnx.codes import reading as codes
from dml2onnx.frontends.findings import listing, quote

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from dml2onnx.frontends.findings import Findings


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How buffers with contents enter the graph, and which files may be read.

    A buffer with sample contents is a graph input with a default. Those named in ``constants`` become constants;
    with ``freeze`` all do, except those named in ``inputs``. What DirectML owns is always constant.
    Files that a model names lie in its directory or in one of ``allow_paths``.
    """

    constants: frozenset[str] = frozenset()
    inputs: frozenset[str] = frozenset()
    freeze: bool = False
    allow_paths: tuple[Path, ...] = ()

    def is_constant(self, name: str) -> bool:
        """Whether a buffer with sample contents is to be a constant."""
        return name in self.constants or (self.freeze and name not in self.inputs)


DEFAULT_OPTIONS = LoadOptions()


def check_frozen(options: LoadOptions, frozen: bool, findings: Findings) -> None:
    """A finding where ``freeze`` was asked for and there was nothing for it to do."""
    if options.freeze and not frozen:
        message = "--freeze makes no difference: the model gives no contents for an input, or all were excepted"
        findings.add(codes.NOTHING_FROZEN, message, expected="an input with contents")


def check_without_contents(options: LoadOptions, names: Collection[str], findings: Findings) -> None:
    """Findings about options where inputs, which have these names, come without contents."""
    for name in sorted(options.constants | options.inputs):
        if name not in names:
            message = f"the model has no input {quote(name)}{findings.did_you_mean(name, names)}"
            expected = listing([quote(item) for item in sorted(names)])
            findings.add(codes.UNKNOWN_OPTION_NAME, message, expected=expected)
        elif name in options.constants:
            message = f"{quote(name)} cannot become a constant, since the model gives no contents for it"
            findings.add(codes.NO_CONTENTS, message, expected="contents")
    check_frozen(options, False, findings)
