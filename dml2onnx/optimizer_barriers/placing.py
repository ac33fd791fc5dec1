"""Inserts barriers between nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.onnx_model import CONTROL_FLOW, Body, OnnxNode, is_unknown
from dml2onnx.passes.draft import only_output
from dml2onnx.passes.quantised import Quantised

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    from dml2onnx.onnx_model import OnnxValue
    from dml2onnx.onnx_model.records import Attribute
    from dml2onnx.optimizer_barriers.table import Barrier
    from dml2onnx.passes.draft import Draft

    Rows: TypeAlias = Mapping[str, Sequence[Barrier]]


class Placing:
    """Inserts barriers into a draft; readers of a value share one."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._barriers: dict[tuple[str, bool], OnnxValue] = {}
        self._shapes: dict[tuple[int, ...], OnnxValue] = {}

    def before(self, node: OnnxNode, inputs: Sequence[int], *, flat: bool) -> None:
        """Inserts a barrier before some inputs of a node."""
        replaced, new = list(node.inputs), list[OnnxNode]()
        for index in inputs:
            x = replaced[index]
            assert x is not None
            # no Reshape back is needed before another one
            replaced[index] = (
                self._flat(x, new) if flat and node.op_type == "Reshape" else self._barrier(x, new, flat=flat)
            )
        self._draft.replace(node, *new, replace(node, inputs=tuple(replaced)))

    def after(self, node: OnnxNode) -> None:
        """Inserts a barrier after a node, for all readers including bodies."""
        result = only_output(node)
        inner, new = self._draft.value(f"{result.name}/inner", result.dtype, result.shape), list[OnnxNode]()
        flat = self._flat(inner, new)
        last = self._draft.node("Reshape", [flat, self._sizes(result)], [result])
        self._draft.replace(node, replace(node, outputs=(inner,)), *new, last)

    def duplicate(self, steps: OnnxNode, *, is_first: bool) -> None:
        """Duplicates a DequantizeLinear of constants for each reader, with separate constants."""
        output = only_output(steps)
        for reader in self._draft.readers(output)[1:]:
            own = self._draft.value(output.name, output.dtype, output.shape)
            inputs = tuple(own if x is not None and x.name == output.name else x for x in reader.inputs)
            copy = self._draft.node(steps.op_type, self._copied(steps), [own], steps.attributes)
            self._draft.replace(reader, copy, replace(reader, inputs=inputs))
        if not is_first:
            self._draft.replace(steps, replace(steps, inputs=self._copied(steps)))

    def _copied(self, node: OnnxNode) -> tuple[OnnxValue | None, ...]:
        stored = [(x, self._draft.constant(x)) for x in node.inputs]
        return tuple(x if x is None or array is None else self._draft.store(array, x.name) for x, array in stored)

    def _barrier(self, x: OnnxValue, new: list[OnnxNode], *, flat: bool) -> OnnxValue:
        found = self._barriers.get((x.name, flat))
        if found is not None:
            return found
        output = self._flat(x, new) if flat else x
        if not flat or output.shape != x.shape:
            output = self._reshaped(output, x, new)
        self._barriers[x.name, flat] = output
        return output

    def _flat(self, x: OnnxValue, new: list[OnnxNode]) -> OnnxValue:
        rows = x.shape[0] if x.rank > 1 else 1
        output = self._draft.value(f"{x.name}/Flatten", x.dtype, (rows, x.size // max(rows, 1)))
        new.append(self._draft.node("Flatten", [x], [output], {"axis": 1 if x.rank > 1 else 0}))
        return output

    def _reshaped(self, x: OnnxValue, like: OnnxValue, new: list[OnnxNode]) -> OnnxValue:
        output = self._draft.value(f"{x.name}/Reshape", like.dtype, like.shape)
        new.append(self._draft.node("Reshape", [x, self._sizes(like)], [output]))
        return output

    def _sizes(self, x: OnnxValue) -> OnnxValue:
        shape = tuple(-1 if is_unknown(size) else int(size) for size in x.shape)
        if shape not in self._shapes:
            self._shapes[shape] = self._draft.store(np.array(shape, np.int64), "shape")
        return self._shapes[shape]

    # --- bodies ------------------------------------------------------------------------------------------------------

    def within(self, host: OnnxNode, rows: Rows) -> None:
        """Inserts barriers between the nodes of a node's bodies."""
        attributes = self._within(host, rows)
        if attributes is not host.attributes:
            self._draft.replace(host, replace(host, attributes=attributes))

    def _within(self, host: OnnxNode, rows: Rows) -> Mapping[str, Attribute]:
        inner = {key: self._protected(item, rows) for key, item in host.attributes.items() if isinstance(item, Body)}
        is_same = all(host.attributes[key] is item for key, item in inner.items())
        return host.attributes if is_same else {**host.attributes, **inner}

    def _protected(self, body: Body, rows: Rows) -> Body:
        inside, nodes = _Inside(self._draft), list[OnnxNode]()
        for node in body.nodes:
            if node.op_type in CONTROL_FLOW:
                attributes = self._within(node, rows)
                node = node if attributes is node.attributes else replace(node, attributes=attributes)
            inputs = next(filter(None, (row.inputs(inside, node) for row in rows.get(node.op_type, ()))), ())
            if inputs:
                replaced = list(node.inputs)
                for index in inputs:
                    x = replaced[index]
                    assert x is not None
                    replaced[index] = self._reshaped(x, x, nodes)
                node = replace(node, inputs=tuple(replaced))
            nodes.append(node)
            inside.makers.update((item.name, node) for item in node.outputs if item is not None)
        return body if len(nodes) == len(body.nodes) and nodes == list(body.nodes) else replace(body, nodes=nodes)


class _Inside(Quantised):
    """The nodes of a body, which may read values of the outer graph."""

    def __init__(self, draft: Draft) -> None:
        super().__init__(draft)
        self.makers: dict[str, OnnxNode] = {}

    def maker(self, value: OnnxValue | None) -> OnnxNode | None:
        return None if value is None else self.makers.get(value.name) or super().maker(value)
