"""How many bytes of constants a compilation may make: tables of indices and weights, and what folding leaves.

A file of 300 bytes can describe a table of GiBs. So whoever makes one asks first, and the refusal names the node.
Folding asks too and, where it gets nothing, leaves the node to the runtime.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from dml2onnx.codes.compiling import TOO_MANY_CONSTANTS
from dml2onnx.diagnostics import DmlError
from dml2onnx.ir.data import Data, stored_bytes

NODE_BYTES = 1 << 27
"""What one node may make: 32 million indices."""
TOTAL_BYTES = 1 << 28
NODE_COUNT = 1 << 16
"""ONNX nodes that one node may become."""
GROWTH = 4
"""Constants that came with the model may be made as much larger: widened, transposed."""


@dataclass(slots=True)
class Budget:
    """Bytes of constants that may still be made, beyond those that came with the model."""

    given: int = 0
    """Bytes that came with the model, which may be stored for nothing."""
    made: int = 0
    stored: int = 0
    _node: tuple[str, str] = ("", "")
    _made_before: int = field(default=0, repr=False)

    @classmethod
    def beside(cls, constants: Iterable[Data]) -> Budget:
        """That of a model which comes with these constants."""
        return cls(sum(stored_bytes(data) for data in constants))

    @property
    def for_node(self) -> int:
        """The bytes that one node may make."""
        return NODE_BYTES + GROWTH * self.given

    @property
    def in_total(self) -> int:
        """The bytes that all nodes together may make."""
        return TOTAL_BYTES + GROWTH * self.given

    def begin(self, node: str, operator: str) -> None:
        """What is made from here on belongs to ``node``."""
        self._node, self._made_before = (node, operator), self.made

    def affords(self, nbytes: int) -> bool:
        """Whether so much may be made yet."""
        made = self.made + nbytes
        return made - self._made_before <= self.for_node and made <= self.in_total

    def spend(self, nbytes: int) -> None:
        """Called before so much is made, or made larger; :class:`DmlError` (DML2007) where that is too much."""
        if not self.affords(nbytes):
            self._refuse(nbytes, self.made - self._made_before, self.made)
        self.made += nbytes

    def require(self, elements: int) -> None:
        """Called before a table of so many 64-bit elements is made, of which :meth:`store` counts what is kept."""
        if not self.affords(8 * elements):
            self._refuse(8 * elements, self.made - self._made_before, self.made)

    def store(self, nbytes: int) -> None:
        """Called for every constant of the model that is compiled."""
        if self.stored + nbytes > self.given + self.in_total:
            self._refuse(nbytes, nbytes, self.stored)
        self.stored += nbytes

    def count_node(self, count: int) -> None:
        """Called for every ONNX node."""
        if count >= NODE_COUNT:
            node, operator = self._node
            message = f"it would become more than {NODE_COUNT} ONNX nodes"
            expected = f"{NODE_COUNT} nodes"
            raise DmlError(TOO_MANY_CONSTANTS.at(message, node=node, operator=operator, expected=expected, found=count))

    def _refuse(self, nbytes: int, by_node: int, before: int) -> None:
        of_node = by_node + nbytes > self.for_node
        limit, whose = (self.for_node, "one node") if of_node else (self.in_total, "all nodes together")
        node, operator = self._node
        message = f"{nbytes} bytes of constants are needed to compile it, beyond the limit of {limit} for {whose}"
        if not of_node:
            message += f", which have made {before} before"
        found = nbytes
        raise DmlError(
            TOO_MANY_CONSTANTS.at(message, node=node, operator=operator, expected=f"{limit} bytes", found=found)
        )
