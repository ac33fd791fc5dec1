"""Limits the bytes of constants that a compilation creates: tables of indices, weights, and folded values.

A file of 300 bytes can describe a table of gigabytes, so code that creates one must reserve the bytes first; a refusal
names the node. Folding is skipped if it exceeds the budget.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from dml2onnx.codes.compiling import TOO_MANY_CONSTANTS
from dml2onnx.diagnostics import DmlError
from dml2onnx.ir.data import Data, stored_bytes

NODE_BYTES = 1 << 27
"""Limit per node: 32 million indices."""
TOTAL_BYTES = 1 << 28
NODE_COUNT = 1 << 16
"""ONNX nodes per DirectML node."""
GROWTH = 4
"""The limits grow by this multiple of the constants of the input graph, to widen or transpose them."""


@dataclass(slots=True)
class Budget:
    """Tracks bytes of created constants, beyond those of the input graph."""

    input_bytes: int = 0
    """Bytes of the input graph's constants, which do not count against the limits."""
    created: int = 0
    stored: int = 0
    _node: tuple[str, str] = ("", "")
    _created_before: int = field(default=0, repr=False)

    @classmethod
    def beside(cls, constants: Iterable[Data]) -> Budget:
        """Returns the budget for an input graph with these constants."""
        return cls(sum(stored_bytes(data) for data in constants))

    @property
    def for_node(self) -> int:
        """The limit in bytes per node."""
        return NODE_BYTES + GROWTH * self.input_bytes

    @property
    def in_total(self) -> int:
        """The limit in bytes of all nodes together."""
        return TOTAL_BYTES + GROWTH * self.input_bytes

    def begin(self, node: str, operator: str) -> None:
        """Attributes constants from here on to ``node``."""
        self._node, self._created_before = (node, operator), self.created

    def affords(self, nbytes: int) -> bool:
        """Whether this many bytes are within the limits."""
        created = self.created + nbytes
        return created - self._created_before <= self.for_node and created <= self.in_total

    def spend(self, nbytes: int) -> None:
        """Reserves bytes for a constant; raises :class:`DmlError` (DML2007) beyond the limits."""
        if not self.affords(nbytes):
            self._refuse(nbytes, self.created - self._created_before, self.created)
        self.created += nbytes

    def require(self, elements: int) -> None:
        """Checks that a table of 64-bit elements is within the limits; :meth:`store` counts what is kept of it."""
        if not self.affords(8 * elements):
            self._refuse(8 * elements, self.created - self._created_before, self.created)

    def store(self, nbytes: int) -> None:
        """Counts a constant of the compiled model."""
        if self.stored + nbytes > self.input_bytes + self.in_total:
            self._refuse(nbytes, nbytes, self.stored)
        self.stored += nbytes

    def count_node(self, count: int) -> None:
        """Checks the number of ONNX nodes."""
        if count >= NODE_COUNT:
            node, operator = self._node
            message = f"it would become more than {NODE_COUNT} ONNX nodes"
            expected = f"{NODE_COUNT} nodes"
            raise DmlError(TOO_MANY_CONSTANTS.at(message, node=node, operator=operator, expected=expected, found=count))

    def _refuse(self, nbytes: int, by_node: int, before: int) -> None:
        of_node = by_node + nbytes > self.for_node
        limit, whose = (self.for_node, "one node") if of_node else (self.in_total, "all nodes together")
        node, operator = self._node
        message = f"compiling it needs {nbytes} bytes of constants, which exceeds the limit of {limit} for {whose}"
        if not of_node:
            message += f", and {before} are used already"
        raise DmlError(
            TOO_MANY_CONSTANTS.at(message, node=node, operator=operator, expected=f"{limit} bytes", found=nbytes)
        )
