"""Records a graph call by call, and checks each call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar, cast

import numpy as np

from dml2onnx import arguments, catalog
from dml2onnx.builder import policies
from dml2onnx.builder.arguments import check_name, converted, error_here, known_data_type, tensor_desc, whole_numbers
from dml2onnx.builder.attributes import activations, plain
from dml2onnx.builder.call_sites import Sites, call_site
from dml2onnx.builder.contents import elements, raw_bytes
from dml2onnx.builder.expression import Expression
from dml2onnx.builder.layouts import OutputLayout, check_fits, layout_of, with_layout, writes_of
from dml2onnx.builder.names import Names
from dml2onnx.builder.operands import (
    as_constant,
    as_matrix,
    axes_beyond,
    axes_from_the_start,
    is_literal,
    of_one_dimension,
    only_type,
    relatives,
    spread,
    without_data_type,
)
from dml2onnx.builder.size_names import SizeNames
from dml2onnx.catalog import FeatureLevel, FieldType, Rule
from dml2onnx.checks.answers import answers
from dml2onnx.checks.consequences import of_one_kind
from dml2onnx.checks.operators import Judge
from dml2onnx.codes import building as codes
from dml2onnx.codes.checking import OUT_OF_RANGE
from dml2onnx.diagnostics import DmlError, Remedy, plural, raise_errors
from dml2onnx.frontends.descriptors import DescriptorReader
from dml2onnx.frontends.dialects import NATIVE
from dml2onnx.frontends.findings import Findings, listing, quote
from dml2onnx.frontends.problems import report
from dml2onnx.ir.data import ArrayData
from dml2onnx.ir.graph import Constant, Graph, GraphInput, GraphOutput, Node, Read, Value
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.rules.inference import infer_outputs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    import numpy.typing as npt

    from dml2onnx.builder.attributes import DataTypeLike, SizesOrNames, WholeNumbers
    from dml2onnx.builder.expression import Operand
    from dml2onnx.builder.graph_builder import GraphBuilder
    from dml2onnx.builder.policies import TensorPolicy
    from dml2onnx.catalog import OperatorSchema
    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.ir.operator import FieldValue

    Given = TypeVar("Given")
    Outputs: TypeAlias = Mapping[str, Expression] | Sequence[Expression] | Expression
    Tensors: TypeAlias = Mapping[str, Operand | Sequence[Operand] | None]


class Stated(NamedTuple):
    """What the caller specifies of an output; the rest is inferred."""

    sizes: WholeNumbers | None = None
    data_type: DataTypeLike | None = None


INFERRED = Stated()

_ACTIVATIONS = frozenset({FieldType.OPERATOR, FieldType.OPERATOR_ARRAY})


class Recorder:
    """The recorded inputs, constants and nodes, and the settings for new ones."""

    def __init__(
        self,
        name: str = "graph",
        *,
        feature_level: FeatureLevel | str | None = None,
        policy: TensorPolicy = policies.packed,
        ranges: Mapping[str, tuple[int, int]] | None = None,
    ) -> None:
        check_name("a graph", name, may_be_empty=True)
        self.name = name
        self.feature_level = arguments.feature_level(feature_level) or catalog.LATEST
        if not callable(policy):
            raise arguments.refusal("policy", policy, "a function such as dml2onnx.builder.interleaved_channel")
        self.policy = policy
        self._stated_level = feature_level is not None
        self._sizes = SizeNames(ranges)
        self._nodes: list[Node] = []
        self._inputs: list[GraphInput] = []
        self._input_names: set[str] = set()
        self._constants: list[Constant] = []
        self._scopes: list[str] = []
        self._layouts: list[OutputLayout] = []
        self._value_names = Names()
        self._node_names = Names()
        self._reader = DescriptorReader(NATIVE)
        self._right: set[tuple[OperatorDesc, FeatureLevel]] = set()
        """Descriptors without errors, since networks repeat them."""
        self.sites = Sites()
        self._warnings: list[Diagnostic] = []
        """Warnings about attributes of nodes: a number that is rounded to infinity, or wraps."""

    def __repr__(self) -> str:
        counts = [plural(len(self._inputs), "input"), plural(len(self._constants), "constant")]
        counts.append(plural(len(self._nodes), "node"))
        return f"<GraphBuilder {quote(self.name)}: {', '.join(counts)}, feature level {self.feature_level}>"

    # --- Names and layouts --------------------------------------------------------------------------------------------

    def scope(self, name: str) -> AbstractContextManager[None]:
        """A scope in which names start with ``name`` and ``_``; scopes nest."""
        check_name("a scope", name, may_be_empty=True)
        return self._inside(name)

    @contextmanager
    def _inside(self, name: str) -> Iterator[None]:
        self._scopes.append(name)
        try:
            yield
        finally:
            self._scopes.pop()

    @contextmanager
    def tensor_policy(self, policy: TensorPolicy) -> Iterator[None]:
        """A scope with another tensor policy."""
        before, self.policy = self.policy, policy
        try:
            yield
        finally:
            self.policy = before

    @contextmanager
    def output_layout(
        self,
        strides: WholeNumbers | None = None,
        *,
        into: Expression | None = None,
        offset: int = 0,
        owned_by_dml: bool = False,
        total_size: int = 0,
        alignment: int = 0,
        buffer_bytes: int = 0,
        field: str | None = None,
        index: int | None = None,
    ) -> Iterator[None]:
        """A scope that sets the memory of operator outputs, whatever the tensor policy.

        ``strides`` count elements. With ``into``, outputs are written to a part of that buffer, ``offset`` bytes from
        its start; the result is the buffer's next version, and all other bytes stay the same. ``field`` (and ``index``,
        in an array of outputs) selects one of several outputs. ``buffer_bytes`` is the size of a buffer that is larger
        than its tensor. Diagnostic DML1806 if the tensor exceeds the buffer.
        """
        base = None if into is None else self._own(into, "into").value
        steps = None if strides is None else whole_numbers("strides", strides, 0)
        numbers = whole_numbers("offset and sizes", (offset, total_size, alignment, buffer_bytes), 0)
        owned = converted(arguments.flag, owned_by_dml, "owned_by_dml")
        before, total, aligned, available = numbers
        self._layouts.append(OutputLayout(steps, base, before, owned, total, aligned, available, field, index))
        try:
            yield
        finally:
            self._layouts.pop()

    def _scoped(self, stem: str) -> str:
        check_name("a node or constant", stem, may_be_empty=True)
        # a scope that ends in a path separator needs no other
        return "".join(item if item.endswith(("/", ".")) else f"{item}_" for item in self._scopes) + stem

    # --- Sources and views --------------------------------------------------------------------------------------------

    def input(
        self,
        name: str,
        data_type: DataTypeLike,
        sizes: SizesOrNames,
        strides: WholeNumbers | None = None,
        *,
        owned_by_dml: bool = False,
        total_size: int = 0,
        alignment: int = 0,
        buffer_bytes: int = 0,
        contents: npt.ArrayLike | None = None,
    ) -> Expression:
        """A graph input: a buffer that the caller binds under ``name``.

        Sizes and strides count elements; zero strides repeat. A size may be a name, ``["N", 3, "H", "W"]``: then the
        graph is for all sizes in the range of the name. During recording, ``sizes`` of expressions have a number of
        that range for the name, or 16. ``total_size`` (bytes) is TotalTensorSizeInBytes, by default the smallest legal
        value; ``buffer_bytes`` is the size of a larger buffer. ``contents`` are sample contents, like the values of a
        constant. Diagnostics DML1804 for a name in use, DML1805 for an invalid tensor.
        https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_buffer_tensor_desc
        """
        owned_by_dml = converted(arguments.flag, owned_by_dml, "owned_by_dml")
        kind = known_data_type(data_type)  # before sizes: both are wrong if they are swapped
        numbers, named = self._sizes.of_input(sizes)
        desc = tensor_desc(kind, numbers, strides, owned_by_dml, total_size, alignment)
        made = self._bound(name, desc, buffer_bytes or desc.total_bytes, desc, contents)
        if named:
            self._inputs[-1] = replace(self._inputs[-1], sizes=named)
        return made

    def buffer(self, name: str, nbytes: int, contents: npt.ArrayLike | None = None) -> Expression:
        """A graph input of raw bytes, for ``reinterpret``; its first reader determines its descriptor.

        ``contents``, an array of any type, are sample contents. Diagnostics as for :meth:`input`.
        """
        (available,) = whole_numbers("nbytes", (nbytes,), 1)
        sample = None
        if contents is not None:
            sample = np.ascontiguousarray(converted(arguments.array, contents, "contents")).reshape(-1).view(np.uint8)
        return self._bound(name, TensorDesc(DataType.UINT8, (available,)), available, None, sample)

    def _bound(
        self, name: str, desc: TensorDesc, nbytes: int, declared: TensorDesc | None, contents: npt.ArrayLike | None
    ) -> Expression:
        check_name("an input", name)
        if name in self._input_names:
            raise error_here(codes.NAME_TAKEN, f"there is an input {quote(name)} already", found=quote(name))
        check_fits(desc, 0, nbytes)
        raw = None if contents is None else raw_bytes(elements(contents, desc.data_type), desc, desc.minimum_bytes)
        value = Value(self._value_names.take(name), nbytes)
        self.sites.add(value, call_site(), name)
        sample = None if raw is None else ArrayData(raw[:nbytes])
        self._inputs.append(GraphInput(name, value, sample, declared, call_site()))
        self._input_names.add(name)
        return self._expression(value, desc)

    def constant(
        self,
        values: npt.ArrayLike,
        *,
        data_type: DataTypeLike | None = None,
        sizes: WholeNumbers | None = None,
        strides: WholeNumbers | None = None,
        owned_by_dml: bool = False,
        total_size: int = 0,
        alignment: int = 0,
        buffer_bytes: int = 0,
        name: str | None = None,
    ) -> Expression:
        """A constant tensor: a weight, a table, a number.

        ``values`` is anything that numpy accepts; a number has sizes [1]. ``data_type`` converts it: rounded to a
        floating-point type, while an integer type accepts only integers in its range (diagnostic DML1809). 4-bit types
        take one number per element. ``sizes`` and ``strides`` (elements) describe the array's elements in C order;
        default: its shape, packed. The array is copied, unless it is a read-only mapping, as of
        ``numpy.load(file, mmap_mode="r")``. The other arguments are those of :meth:`input`; bytes beyond the values
        are 0.
        """
        if name is not None:
            check_name("a constant", name, may_be_empty=True)
        argument = converted(arguments.array, values, "values")
        array = elements(argument, known_data_type(argument.dtype if data_type is None else data_type))
        wanted = known_data_type(array.dtype if data_type is None else data_type)
        owned_by_dml = converted(arguments.flag, owned_by_dml, "owned_by_dml")
        shape = array.shape if sizes is None else sizes
        desc = tensor_desc(wanted, shape, strides, owned_by_dml, total_size, alignment)
        check_fits(desc, 0, buffer_bytes or desc.total_bytes)
        raw = raw_bytes(array, desc, buffer_bytes or desc.total_bytes)
        value = Value(self._value_names.take(self._scoped(name or "constant")), raw.size)
        self.sites.add(value, call_site(), name or "")
        self._constants.append(Constant(value, ArrayData(raw)))
        return self._expression(value, desc)

    def reinterpret(
        self,
        input: Expression,
        data_type: DataTypeLike | None = None,
        sizes: SizesOrNames | None = None,
        strides: WholeNumbers | None = None,
        *,
        offset: int | None = None,
        owned_by_dml: bool = False,
        total_size: int = 0,
        alignment: int = 0,
    ) -> Expression:
        """The same bytes under another descriptor; no operator, no cost.

        By default data type, sizes, strides and offset are those of ``input``. ``sizes`` without ``strides`` are
        packed, and may be names of inputs' sizes. ``offset`` counts bytes from the start of the buffer. Diagnostic
        DML1806 if the view exceeds the buffer.
        """
        self._own(input, "input")
        if sizes is None and strides is None:
            sizes, strides = input.sizes, input.strides
        owned_by_dml = converted(arguments.flag, owned_by_dml, "owned_by_dml")
        kind = input.data_type if data_type is None else data_type
        shape = input.sizes if sizes is None else self._sizes.numbers(sizes, input.desc.element_count)
        desc = tensor_desc(kind, shape, strides, owned_by_dml, total_size, alignment)
        (start,) = (input.offset,) if offset is None else whole_numbers("offset", (offset,), 0)
        check_fits(desc, start, input.value.nbytes)
        return self._expression(input.value, desc, start)

    def broadcast(self, input: Expression, sizes: SizesOrNames) -> Expression:
        """The tensor broadcast to ``sizes`` by zero strides, with numpy's rules; no operator, no cost."""
        input = self._own(input, "input")
        wanted = whole_numbers("sizes", self._sizes.numbers(sizes))
        if wanted == input.sizes:
            return input
        missing = len(wanted) - input.rank
        old = (1,) * missing + input.sizes
        if missing < 0 or any(have not in (1, want) for have, want in zip(old, wanted, strict=True)):
            message = f"sizes {list(input.sizes)} do not broadcast to {list(wanted)}"
            raise error_here(codes.NO_BROADCAST, message, expected=list(wanted), found=list(input.sizes))
        steps = (0,) * missing + input.desc.effective_strides
        strides = [0 if have == 1 and want != 1 else step for have, want, step in zip(old, wanted, steps, strict=True)]
        return self.reinterpret(input, sizes=wanted, strides=strides)

    # --- Operators ----------------------------------------------------------------------------------------------------

    def record(
        self,
        operator: str,
        inputs: Tensors,
        attributes: Mapping[str, object],
        outputs: Mapping[str, Stated | Sequence[Stated]],
        name: str | None = None,
    ) -> dict[str, Expression | tuple[Expression, ...]]:
        """Appends one operator and returns its outputs by field.

        ``inputs`` has an expression for each tensor field, a sequence of them for an array field, ``None`` for an
        absent one. A number or array becomes a constant with the data type and sizes of the operands that it must
        match. Axes may be negative. ``outputs`` names the wanted output tensors. All errors that
        :func:`dml2onnx.check` finds in the descriptor are raised as one :class:`~dml2onnx.diagnostics.DmlError`;
        warnings are in the graph's ``findings``.
        """
        constants = len(self._constants)
        try:
            schema = catalog.operator(converted(arguments.text, operator, "operator"))
            inputs = cast("Tensors", converted(arguments.by_name, inputs, "inputs"))
            attributes = converted(arguments.by_name, attributes, "attributes")
            outputs = cast("Mapping[str, Stated | Sequence[Stated]]", converted(arguments.by_name, outputs, "outputs"))
            argument = of_one_dimension(schema, self._with_constants(schema, inputs), attributes)
            return self._recorded(schema, argument, attributes, outputs, name)
        except BaseException:
            del self._constants[constants:]  # made for this operator
            raise

    def _recorded(
        self,
        schema: OperatorSchema,
        inputs: Mapping[str, Any],
        attributes: Mapping[str, object],
        outputs: Mapping[str, Stated | Sequence[Stated]],
        name: str | None,
    ) -> dict[str, Expression | tuple[Expression, ...]]:
        site = call_site()
        stem = schema.stem if name is None or (isinstance(name, str) and not name) else name
        node_name = self._node_names.free(self._scoped(stem))
        descs = self._input_descs(schema, inputs)
        bare, warnings = self._read(schema, attributes, descs, node_name, site)
        reads = {
            field: tuple(Read(item.value, item.offset) for item in _sequence(argument))
            for field, argument in inputs.items()
            if argument is not None
        }
        desc = self._with_outputs(outputs, Node(node_name, bare, reads, {}, site))
        self._judge(Node(node_name, desc, reads, {}, site))
        self._node_names.take(node_name)
        self._warnings.extend(warnings)
        writes = writes_of(desc, outputs, node_name, self._value_names, self._layouts)
        self._nodes.append(Node(node_name, desc, reads, writes, site))
        for write in (item for items in writes.values() for item in items):
            self.sites.add(write.value, site, node_name)
        results: dict[str, Expression | tuple[Expression, ...]] = {}
        for field, written in writes.items():
            made = tuple(
                self._expression(write.value, item, write.offset)
                for write, item in zip(written, desc.tensors(field), strict=True)
            )
            is_array = schema.fields_by_name[field].type is FieldType.TENSOR_ARRAY
            results[field] = made if is_array else made[0]
        return results

    def _with_constants(self, schema: OperatorSchema, inputs: Tensors) -> dict[str, Any]:
        """``inputs``, with numbers and arrays replaced by constants."""
        made: dict[str, Any] = dict(inputs)
        for field in schema.input_fields:
            argument = inputs.get(field.name)
            if is_literal(argument):
                made[field.name] = self._constant_for(schema, field.name, argument, inputs)
            elif field.type is FieldType.TENSOR and (message := without_data_type(argument, field.name)):
                raise error_here(codes.BAD_TENSOR, message, expected="an array", found="a list")
            elif isinstance(argument, (list, tuple)) and any(is_literal(item) for item in argument):
                made[field.name] = [
                    self._constant_for(schema, field.name, item, inputs) if is_literal(item) else item
                    for item in argument
                ]
        return made

    def _constant_for(self, schema: OperatorSchema, field: str, argument: object, inputs: Tensors) -> Expression:
        """A constant of a number or array, with the data type and sizes of the operands that it must match."""
        array = converted(arguments.array, argument, field)
        like = next(relatives(schema, Rule.SAME_DATA_TYPE, field, inputs), None)
        kind = None if like is None else like.data_type
        if like is None and isinstance(argument, (int, float)):
            kind = only_type(schema, field, self.feature_level, array)
        if kind is None and isinstance(argument, (int, float)):
            message = f"the number {arguments.described(argument)} for {field} has no data type"
            expected = "an array, or constant(number, data_type=...)"
            raise error_here(codes.BAD_TENSOR, message, expected=expected, found=type(argument).__name__)
        made = self.constant(as_matrix(schema, field, array, inputs), data_type=kind)
        equal = next(relatives(schema, Rule.SAME_SIZES, field, inputs), None)
        if equal is not None:
            return self.broadcast(made, equal.sizes)
        alike = next(relatives(schema, Rule.SAME_DIMENSION_COUNT, field, inputs), None)
        return made if alike is None or array.ndim else self.broadcast(made, (1,) * alike.rank)

    def _input_descs(self, schema: OperatorSchema, inputs: Mapping[str, Any]) -> dict[str, FieldValue]:
        descs: dict[str, FieldValue] = {}
        for field in schema.input_fields:
            argument = inputs.get(field.name)
            if argument is None:
                descs[field.name] = None
            elif field.type is FieldType.TENSOR_ARRAY:
                descs[field.name] = tuple(item.desc for item in self._all_own(argument, field.name))
            else:
                descs[field.name] = self._own(argument, field.name).desc
        return descs

    def _read(
        self,
        schema: OperatorSchema,
        attributes: Mapping[str, object],
        descs: Mapping[str, FieldValue],
        node_name: str,
        site: str,
    ) -> tuple[OperatorDesc, Sequence[Diagnostic]]:
        """The descriptor without outputs, and warnings about it; raises errors in attributes."""
        raw: dict[str, object] = {
            field: plain(activations(value) if schema.fields_by_name[field].type in _ACTIVATIONS else value)
            for field, value in attributes.items()
            if value is not None
        }
        argument = {**descs, **dict.fromkeys(field.name for field in schema.output_fields)}
        spread(schema, raw, descs)
        for axis, rank in axes_beyond(schema, axes_from_the_start(schema, raw, descs), descs):
            message = f"the axis {axis} is none of {rank} dimensions, which are counted from 0"
            expected = f"{-rank} to {rank - 1}"
            raise error_here(OUT_OF_RANGE, message, expected=expected, found=axis, node=node_name, operator=schema)
        operator, problems = self._reader.operator(schema, raw, argument)
        if not problems:
            return operator, ()
        findings = Findings()
        report(findings, problems, "", node=node_name, schema=schema)
        found = [replace(item, pointer=site) for item in findings.all()]
        raise_errors(found)
        return operator, found

    def _with_outputs(self, outputs: Mapping[str, Stated | Sequence[Stated]], node: Node) -> OperatorDesc:
        """The descriptor completed with the wanted outputs."""
        bare, schema = node.operator, node.operator.schema
        single = {field: stated for field, stated in outputs.items() if isinstance(stated, Stated)}
        sizes = {
            field: whole_numbers(f"sizes of {field}", stated.sizes)
            for field, stated in single.items()
            if stated.sizes is not None
        }
        types = {
            field: known_data_type(stated.data_type) for field, stated in single.items() if stated.data_type is not None
        }
        found = infer_outputs(bare, sizes, types, tuple(single))
        if found.missing:
            self._judge(node, without=frozenset(outputs))
            if found.findings:

                def judge(desc: OperatorDesc) -> tuple[Diagnostic, ...]:
                    return tuple(infer_outputs(desc, sizes, types, tuple(single)).findings)

                raise DmlError(*answers(node, found.findings, judge, self.sites.place, editable=False, in_python=True))
            what = listing(found.missing)
            message = f"state {what} of {schema.short_name}: the inputs and attributes do not determine it"
            raise error_here(codes.NOT_INFERABLE, message, node=node.name, operator=schema)
        values = list(bare.values)
        for field, (data_type, inferred) in found.outputs.items():
            values[schema.index[field]] = self._output_desc(data_type, inferred, field)
        for field, stated in outputs.items():
            if not isinstance(stated, Stated):
                values[schema.index[field]] = self._output_array(bare, stated, field)
                count = schema.fields_by_name[field].count
                if count is not None:
                    values[schema.index[count]] = len(stated)
        return OperatorDesc(schema, tuple(values))

    def _output_desc(self, data_type: DataType, sizes: WholeNumbers, field: str, index: int = 0) -> TensorDesc:
        exact = whole_numbers("sizes of an output", sizes)
        layout = layout_of(self._layouts, field, index)
        strides = None if layout.strides is not None else self.policy(data_type, exact)
        steps = None if strides is None else whole_numbers("strides of the tensor policy", strides)
        return with_layout(TensorDesc(data_type, exact, steps), layout)

    def _output_array(self, bare: OperatorDesc, stated: Sequence[Stated], field: str) -> tuple[TensorDesc, ...]:
        """Outputs of SPLIT: the data type of the input, the stated sizes."""
        inputs = [item for name in bare.schema.input_fields for item in bare.tensors(name.name)]
        data_type = inputs[0].data_type if inputs else DataType.FLOAT32  # the checks report a missing input
        return tuple(
            self._output_desc(data_type, () if item.sizes is None else item.sizes, field, index)
            for index, item in enumerate(stated)
        )

    def _judge(self, node: Node, without: frozenset[str] = frozenset()) -> None:
        """Raises the errors that the checks find in a node, except in the fields ``without``."""
        if (node.operator, self.feature_level) in self._right:
            return
        judge = Judge(self.feature_level)
        found = of_one_kind(node.operator.schema, judge(node.operator))
        findings = [item for item in found if item.field not in without]
        if any(item.is_error for item in findings):
            raise_errors(answers(node, findings, judge, self.sites.place, editable=False, in_python=True))
        if not without:
            self._right.add((node.operator, self.feature_level))

    # --- The end ------------------------------------------------------------------------------------------------------

    def build(self, outputs: Outputs, *, results: Outputs | None = None) -> Graph:
        """The graph with these ``outputs``: expressions by name, or one or several named after their values.

        ``results`` are what :func:`dml2onnx.run` returns instead of the outputs, and further outputs that can be
        compiled (``--graph-output NAME``). ``build`` may be called again, after more operators or for other outputs.
        The graph has every input and operator of the builder; compiling skips those that no output needs.
        """
        argument = self._ends(outputs)
        if not argument:
            raise error_here(codes.NO_OUTPUTS, "a graph needs at least one output", expected="an expression")
        return Graph(
            nodes=tuple(self._nodes),
            inputs=tuple(self._inputs),
            ranges=self._sizes.used_ranges(),
            outputs=argument,
            results=() if results is None else self._ends(results),
            constants=tuple(self._constants),
            name=self.name,
            feature_level=self.feature_level.name if self._stated_level else None,
            findings=tuple(self._warnings),
            format="builder",
        )

    def _ends(self, outputs: Outputs) -> tuple[GraphOutput, ...]:
        named = self._named(outputs)
        for name, item in named.items():
            check_name("an output", name)
            if self._own(item, name).offset:
                message = f"{quote(name)} starts at byte {item.offset} of its buffer, and an output is a whole one"
                raise error_here(codes.INNER_OUTPUT, message, expected="byte 0", found=f"byte {item.offset}")
        return tuple(GraphOutput(name, item.value, item.desc) for name, item in named.items())

    def _named(self, outputs: Outputs) -> dict[str, Expression]:
        if isinstance(outputs, Mapping):
            return dict(outputs)
        taken = Names()
        return {taken.take(item.value.name): item for item in self._all_own(outputs, "an output")}

    # --- Helpers ------------------------------------------------------------------------------------------------------

    def _expression(self, value: Value, desc: TensorDesc, offset: int = 0) -> Expression:
        # every recorder is a GraphBuilder; the class is split for the generated methods
        return Expression(cast("GraphBuilder", self), value, desc, offset)

    def _own(self, item: object, where: str) -> Expression:
        if not isinstance(item, Expression):
            names = [name for name in getattr(item, "_fields", ()) if getattr(item, name) is not None]
            several = f"; take one of its outputs: {' or '.join(f'.{name}' for name in names)}" if names else ""
            message = f"{where} is {arguments.described(item)}, not an Expression{several}"
            found, ways = type(item).__name__, () if names else as_constant(item)
            raise error_here(codes.FOREIGN_EXPRESSION, message, expected="an Expression", found=found, remedies=ways)
        if item.builder is not self:
            message = f"{where}, {quote(item.value.name)}, is an expression of another GraphBuilder"
            how = Remedy("one GraphBuilder for the whole graph, handed to the functions that make its parts")
            expected = "an expression of this builder"
            raise error_here(codes.FOREIGN_EXPRESSION, message, expected=expected, remedies=(how,))
        return item

    def _all_own(self, argument: object, where: str) -> Iterator[Expression]:
        """One or several expressions, checked one by one, since an iterator may never end."""
        if isinstance(argument, Iterable) and not isinstance(argument, (Expression, np.ndarray)):
            for item in argument:
                yield self._own(item, where)
        else:
            yield self._own(argument, where)


def _sequence(argument: Expression | Sequence[Expression]) -> tuple[Expression, ...]:
    return (argument,) if isinstance(argument, Expression) else tuple(argument)
