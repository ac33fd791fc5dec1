"""Generates GraphBuilder's operator methods from the catalogue.

python scripts/generate_builder.py            writes dml2onnx/builder/operators/
python scripts/generate_builder.py --check    fails if a file is out of date

Names, order and defaults of arguments follow DirectMLX if it has the function (``_builder_signatures.py``). Everything
else follows from the catalogue. Each family is one module, however long, with the same name as in other packages.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

from _builder_signatures import (
    METHODS,
    ORDERS,
    RESULTS,
    SIZES_OF_CHOICE,
    TRUTH,
    TYPE_DEFAULTS,
    TYPED_BY_AN_ARRAY,
    WANTED,
    WRITTEN_BY_HAND,
    attribute_default,
    parameter_name,
    snake,
)

from dml2onnx import catalog
from dml2onnx.builder.operands import spatial
from dml2onnx.catalog import FieldSchema, FieldType, OperatorSchema, Rule
from dml2onnx.rules.inference import inferable

TARGET = Path(__file__).parent.parent / "dml2onnx" / "builder" / "operators"
WIDTH = 120

TYPES = {
    FieldType.UINT: "int",
    FieldType.INT: "int",
    FieldType.FLOAT: "float",
    FieldType.BOOL: "bool",
    FieldType.UINT_ARRAY: "WholeNumbers",
    FieldType.INT_ARRAY: "WholeNumbers",
    FieldType.FLOAT_ARRAY: "Sequence[float]",
    FieldType.SCALE_BIAS: "ScaleBias",
    FieldType.SCALAR_UNION: "float",
    FieldType.SIZE_2D: "Size2D",
    FieldType.OPERATOR: "ActivationLike",
    FieldType.OPERATOR_ARRAY: "Sequence[ActivationLike]",
    FieldType.TENSOR: "Operand",
    FieldType.TENSOR_ARRAY: "Sequence[Operand]",
}


@dataclass(frozen=True)
class Parameter:
    """An argument of a method."""

    name: str
    hint: str
    doc: str
    default: str | None = None
    """As written in the signature; ``None`` for a required argument."""
    value: str = ""
    """The expression that the method passes on."""
    nullable: bool = False


@dataclass(frozen=True)
class Output:
    """An output tensor, and the arguments for its sizes, data type and presence."""

    field: FieldSchema
    stem: str
    sizes: Parameter | None
    data_type: Parameter | None
    wanted: Parameter | None


# --- Parameters -------------------------------------------------------------------------------------------------------


def method_name(schema: OperatorSchema) -> str:
    """Such as ``max_pooling2``, or ``max_pooling0`` if ``max_pooling`` is a method that chooses a version."""
    plain = METHODS.get(schema.short_name)
    if plain is None:
        plain = re.sub(r"^ELEMENT_WISE_(LOGICAL_(?=EQUALS|LESS|GREATER))?", "", schema.short_name).lower()
    return f"{plain}0" if plain in WRITTEN_BY_HAND else plain


def tensor_parameters(schema: OperatorSchema) -> list[Parameter]:
    found = []
    for field in schema.input_fields:
        hint = TYPES[field.type] + (" | None" if field.optional else "")
        name = parameter_name(schema.short_name, field.name)
        found.append(
            Parameter(name, hint, description(field), "None" if field.optional else None, name, field.optional)
        )
    return found


def attribute_parameters(schema: OperatorSchema) -> list[Parameter]:
    """The parameters of attributes, without lengths of arrays, which are implied."""
    counts = {field.count for field in schema.fields if field.count is not None}
    names = [field.name for field in schema.attribute_fields if field.name not in counts]
    return [attribute_parameter(schema, schema.fields_by_name[name]) for name in names]


def attribute_parameter(schema: OperatorSchema, field: FieldSchema) -> Parameter:
    name = parameter_name(schema.short_name, field.name)
    default, filling = attribute_default(schema.short_name, field)
    nullable = default == "None"
    hint = "PerDimension" if field.name in spatial(schema) else TYPES.get(field.type, "") or _enumeration(field)
    value = filling or name
    if field.enum == "DML_TENSOR_DATA_TYPE":
        value = f"type_name({name})"
    doc = description(field) + default_in_words(filling)
    return Parameter(name, hint + (" | None" if nullable else ""), doc, default, value, nullable)


def default_in_words(filling: str) -> str:
    """The default of an omitted list, which the signature does not show."""
    if filling.startswith("ratios"):
        return " Ratios of the sizes by default."
    if filling.startswith("all_axes"):
        return " All axes by default."
    return f" {filling.rpartition(' ')[2].rstrip(')')} by default." if filling else ""


def _enumeration(field: FieldSchema) -> str:
    assert field.enum is not None
    return "DataTypeLike" if field.enum == "DML_TENSOR_DATA_TYPE" else enumeration_name(field.enum)


def enumeration_name(enum: str) -> str:
    """``PaddingMode`` for ``DML_PADDING_MODE``."""
    return "".join(part.capitalize() for part in enum.removeprefix("DML_").split("_"))


def outputs(schema: OperatorSchema) -> list[Output]:
    """The outputs, with parameters for everything that cannot be inferred or that the caller may choose."""
    known = inferable(schema)
    found = []
    for field in schema.output_fields:
        stem = snake(re.sub(r"Tensors?$", "", field.name))
        sizes = data_type = wanted = None
        if field.type is FieldType.TENSOR_ARRAY:
            doc = "Sizes of each output."
            sizes = Parameter(f"{stem.removesuffix('s')}_sizes", "Sequence[WholeNumbers]", doc)
        elif field.name not in known.sizes and not _tied_to_another(schema, field):
            default = "None" if field.optional else None
            hint = "WholeNumbers" + (" | None" if field.optional else "")
            sizes = Parameter(f"{stem}_sizes", hint, f"Sizes of {field.name}.", default)
        elif field.name in SIZES_OF_CHOICE.get(schema.short_name, ()):
            doc = f"Sizes of {field.name}, if they differ from the natural ones."
            sizes = Parameter(f"{stem}_sizes", "WholeNumbers | None", doc, "None")
        if field.type is FieldType.TENSOR:
            data_type = type_parameter(schema, field, stem, field.name in known.data_types)
        if field.optional:
            is_default = schema.short_name in WANTED
            wanted = Parameter(stem, "bool", f"Whether {field.name} is computed.", str(is_default))
        found.append(Output(field, stem, sizes, data_type, wanted))
    return found


def _tied_to_another(schema: OperatorSchema, field: FieldSchema) -> bool:
    """Whether an output has the sizes of the first one, which has a parameter."""
    first = schema.output_fields[0].name
    return field.name != first and any(
        item.rule is Rule.SAME_SIZES and item.when is None and {first, field.name} <= set(item.tensors)
        for item in schema.constraints
    )


def type_parameter(schema: OperatorSchema, field: FieldSchema, stem: str, inferred: bool) -> Parameter | None:
    """The parameter for an output's data type, or None if the type is always inferred."""
    name = parameter_name(schema.short_name, f"{stem}_data_type")
    doc = f"Data type of {field.name}."
    newest = {item for row in schema.rows_at(catalog.LATEST) for item in row.tensors[field.name].data_types}
    follows = _type_follows(schema, field)
    default = "UINT8" if "UINT8" in newest <= TRUTH and not follows else TYPE_DEFAULTS.get(schema.short_name)
    if default is not None:
        return Parameter(name, "DataTypeLike", doc, f'"{default}"')
    if not inferred:
        return Parameter(name, "DataTypeLike", doc)
    if follows:
        return None
    return Parameter(name, "DataTypeLike | None", doc, "None") if len(newest) > 1 else None


def _type_follows(schema: OperatorSchema, field: FieldSchema) -> bool:
    """Whether an input or an attribute determines the data type of an output."""
    inputs = {item.name for item in schema.input_fields}
    for item in schema.constraints:
        if item.rule is Rule.SAME_DATA_TYPE and item.when is None and item.from_level is None:
            if field.name in item.tensors and inputs & set(item.tensors):
                return True
        elif item.rule is Rule.EQUAL and item.right == f"{field.name}.DataType":
            return True
    return schema.short_name in TYPED_BY_AN_ARRAY


def parameters(schema: OperatorSchema, results: list[Output]) -> list[Parameter]:
    """All parameters in DirectMLX's order, or with required ones first."""
    statements = [item for out in results for item in (out.sizes, out.data_type) if item is not None]
    switches = [out.wanted for out in results if out.wanted is not None]
    everything = [*tensor_parameters(schema), *statements, *attribute_parameters(schema), *switches]
    order = ORDERS.get(schema.short_name)
    if order is None:
        stated = {item.name for item in statements}
        early = [item for item in everything if item.default is None]
        late = [item for item in everything if item.default is not None]
        late.sort(key=lambda item: item.name in stated)
        return [*early, *late]
    named = {item.name: item for item in everything}
    assert set(order) <= set(named), (schema.short_name, set(order) - set(named))
    chosen = [named[name] for name in order] + [item for item in everything if item.name not in order]
    for position, item in enumerate(chosen):
        if item.default is not None and any(later.default is None for later in chosen[position:]):
            chosen[position] = Parameter(item.name, item.hint, item.doc, None, item.value, item.nullable)
    return chosen


def description(field: FieldSchema) -> str:
    """The catalogue's description of a field, as a sentence."""
    # the list of fusable operators is the same for every field, and check enforces it
    text = re.sub(r"\s*Fused activation: .*$", "", field.doc or "")
    text = text.rstrip(".;")
    text = re.sub(r"\s*\[decisions? [^\]]*\]", "", text).replace("under constraints", "below")
    text = text.replace("see constraints", "see below").rstrip(".;")
    if field.shape:
        text = f"{field.shape}" + (f"; {text}" if text else "")
    return (text[:1].upper() + text[1:] if text else field.name) + "."


# --- Source code ----------------------------------------------------------------------------------------------------


def method(schema: OperatorSchema) -> str:
    results = outputs(schema)
    arguments = parameters(schema, results)
    signature = [f"{item.name}: {item.hint}" + (f" = {item.default}" if item.default else "") for item in arguments]
    name = method_name(schema)
    lines = [
        f"def {name}(",
        "    self,",
        *(f"    {item}," for item in signature),
        "    name: str | None = None,",
        f") -> {result_type(schema, results)}:",
        *textwrap.indent(docstring(schema, arguments, results), "    ").splitlines(),
        *(f"    {line}" for line in body(schema, results)),
    ]
    return textwrap.indent("\n".join(lines), "    ")


def result_type(schema: OperatorSchema, results: list[Output]) -> str:
    if results[0].field.type is FieldType.TENSOR_ARRAY:
        return "tuple[Expression, ...]"
    return "Expression" if len(results) == 1 else RESULTS[schema.short_name].name


def body(schema: OperatorSchema, results: list[Output]) -> list[str]:
    """The lines of a method's body."""
    inputs = {field.name: parameter_name(schema.short_name, field.name) for field in schema.input_fields}
    counts = {field.count for field in schema.fields if field.count is not None}
    attributes = {
        field.name: attribute_parameter(schema, field).value
        for field in schema.attribute_fields
        if field.name not in counts
    }
    stated = {out.field.name: statement(out) for out in results}
    arguments = [f'"{schema.short_name}"', dictionary(inputs), dictionary(attributes)]
    if results[0].field.type is FieldType.TENSOR_ARRAY:
        sizes = results[0].sizes
        assert sizes is not None
        return call("return self._array", [*arguments, f'"{results[0].field.name}"', sizes.name, "name"])
    if len(results) == 1:
        field = results[0].field.name
        return call("return self._one", [*arguments, f'"{field}"', stated[field], "name"])
    lines = call("results = self._several", [*arguments, dictionary(stated), "name"])
    return [*lines, f"return {RESULTS[schema.short_name].name}(*results)"]


def statement(out: Output) -> str:
    sizes = out.sizes.name if out.sizes else None
    data_type = out.data_type.name if out.data_type else None
    if data_type:
        text = f"Stated({sizes}, {data_type})"
    else:
        text = f"Stated({sizes})" if sizes else "INFERRED"
    return f"wanted({out.wanted.name}, {text})" if out.wanted else text


def dictionary(items: dict[str, str]) -> str:
    return "{" + ", ".join(f'"{key}": {value}' for key, value in items.items()) + "}"


def call(function: str, arguments: list[str]) -> list[str]:
    """A call, formatted like ruff's output."""
    line = f"{function}({', '.join(arguments)})"
    if len(line) + 8 <= WIDTH:
        return [line]
    lines = [f"{function}("]
    for argument in arguments:
        if len(argument) + 13 <= WIDTH:
            lines.append(f"    {argument},")
        else:
            lines += ["    {", *(f"        {item}," for item in split_dictionary(argument)), "    },"]
    return [*lines, ")"]


def split_dictionary(text: str) -> list[str]:
    return re.split(r", (?=\")", text[1:-1])


def docstring(schema: OperatorSchema, arguments: list[Parameter], results: list[Output]) -> str:
    """Summary, shapes, arguments, results, errors, and the page."""
    row = schema.rows_at(catalog.LATEST)[0]
    parts = [paragraph(f'"""{schema.short_name}: {schema.summary.rstrip(".")}.'), ""]
    counted = [paragraph(f"{item.name}: {item.doc}", "    ") for item in arguments]
    parts += ["Args:", *counted, "    name: Name of the node; by default that of the operator.", "", "Returns:"]
    several = RESULTS.get(schema.short_name)
    for position, out in enumerate(results):
        label = f"{several.fields[position]} ({out.field.name})" if several else out.field.name
        condition = f"; None unless {out.wanted.name}" if out.wanted else ""
        parts.append(paragraph(f"{label}: {description(out.field)[:-1]}{condition}.", "    "))
    formulas = [item for item in schema.constraints if item.rule is Rule.SIZE_FORMULA and item.formula]
    if formulas:
        parts += ["", "Sizes:", *(paragraph(f"{item.tensor}: {item.formula}.", "    ") for item in formulas)]
    parts += ["", "Data types and dimension counts at the latest feature level:"]
    for field in schema.tensor_fields:
        support = row.tensors.get(field.name)
        if support is not None:
            low, high = support.dimension_counts
            dimensions = f"{low}" if low == high else f"{low} to {high}"
            types = ", ".join(support.sorted_types)
            parts.append(paragraph(f"{field.name}: {types}; {dimensions} dimensions.", "    "))
    parts += ["", f"Needs feature level {schema.introduced}.", ""]
    parts.append("Raises :class:`~dml2onnx.DmlError` with the diagnostics of ``check`` for the descriptor.")
    parts += [schema.doc, '"""']
    return "\n".join(part.replace("\\", "\\\\") for part in parts)


def paragraph(text: str, indent: str = "") -> str:
    return "\n".join(
        textwrap.wrap(
            text,
            WIDTH - 8,
            initial_indent=indent,
            subsequent_indent=f"{indent}    " if indent else "",
            break_on_hyphens=False,
        )
    )


HEADER = '''"""Operators of GraphBuilder: {title}.

Generated by scripts/generate_builder.py; ``dml2onnx/builder/directmlx.py`` has the methods written by hand.
"""
'''


def module(title: str, class_name: str, schemas: list[OperatorSchema]) -> str:
    methods = "\n\n".join(method(schema) for schema in schemas)
    own_results = list(dict.fromkeys(RESULTS[item.short_name] for item in schemas if len(item.output_fields) > 1))
    imports = ["from __future__ import annotations", ""]
    if "Sequence[" in methods:
        imports += ["from collections.abc import Sequence", ""]
    names = {
        "dml2onnx.builder.attributes": ("ActivationLike", "DataTypeLike", "PerDimension", "WholeNumbers"),
        "dml2onnx.builder.expression": ("Expression", "Operand"),
        "dml2onnx.builder.methods": ("all_axes", "filled", "ratios", "sizes_of", "type_name", "wanted"),
        "dml2onnx.builder.operators.enumerators": tuple(sorted(enumeration_name(item) for item in used_enums())),
        "dml2onnx.builder.operators.results": tuple(sorted(item.name for item in own_results)),
        "dml2onnx.builder.recorder": ("INFERRED", "Stated"),
        "dml2onnx.ir.operator": ("ScaleBias", "Size2D"),
    }
    for place, wanted in names.items():
        found = [item for item in wanted if re.search(rf"\b{item}\b(?!:)|-> {item}:", methods)]
        if place.endswith("methods"):
            found = ["OperatorMethods", *(item for item in found if f"{item}(" in methods)]
        if place.endswith("enumerators"):
            found = [item for item in found if re.search(rf": {item}\b", methods)]
        if found:
            line = f"from {place} import {', '.join(found)}"
            if len(line) > WIDTH:
                line = f"from {place} import (\n" + "".join(f"    {item},\n" for item in found) + ")"
            imports.append(line)
    return (
        HEADER.format(title=title)
        + "\n"
        + "\n".join(imports)
        + f'\n\n\nclass {class_name}(OperatorMethods):\n    """{title.capitalize()}."""\n\n'
        + methods
        + "\n"
    )


def used_enums() -> list[str]:
    fields = [field for name in catalog.operator_names() for field in catalog.operator(name).fields]
    return sorted({field.enum for field in fields if field.enum is not None} - {"DML_TENSOR_DATA_TYPE"})


def enumerators() -> str:
    lines = [HEADER.format(title="the enumerators of attributes"), "from typing import Literal, TypeAlias", ""]
    for enum in used_enums():
        values = [f'"{name}"' for name, item in catalog.enum_schema(enum).values.items() if item.alias_of is None]
        line = f"{enumeration_name(enum)}: TypeAlias = Literal[{', '.join(values)}]"
        if len(line) > WIDTH:
            inner = f"    {', '.join(values)}"
            rows = [inner] if len(inner) <= WIDTH else [f"    {item}," for item in values]
            line = "\n".join([f"{enumeration_name(enum)}: TypeAlias = Literal[", *rows, "]"])
        lines += [line, f'"""``{enum}``."""', ""]
    return "\n".join(lines)


def results_module() -> str:
    lines = [
        HEADER.format(title="named results"),
        "from __future__ import annotations",
        "",
        "from typing import NamedTuple",
        "",
        "from dml2onnx.builder.expression import Expression",
        "",
    ]
    schemas = {item.short_name: item for item in map(catalog.operator, catalog.operator_names())}
    for result in dict.fromkeys(RESULTS.values()):
        members = [name for name, found in RESULTS.items() if found is result]
        fields = schemas[members[-1]].output_fields
        lines += ["", f"class {result.name}(NamedTuple):", f'    """Outputs of {", ".join(members)}."""', ""]
        for field, name in zip(fields, result.fields, strict=True):
            hint = "Expression | None" if field.optional else "Expression"
            # these fields shadow methods of tuple
            ignore = "  # type: ignore[assignment]  # a method of tuples" if name in ("index", "count") else ""
            lines += [f"    {name}: {hint}{ignore}", f'    """{field.name}."""']
        lines.append("")
    return "\n".join(lines)


def calls_module() -> str:
    """The module that maps operators to methods, and fields to arguments."""
    lines = [
        HEADER.format(title="the method for each operator, and the argument for each field"),
        "from __future__ import annotations",
        "",
        "from collections.abc import Mapping",
        "from types import MappingProxyType",
        "from typing import NamedTuple",
        "",
        "",
        "class Call(NamedTuple):",
        '    """A method of GraphBuilder and its arguments."""',
        "",
        "    method: str",
        "    fields: Mapping[str, str]",
        '    """The argument for each input tensor and attribute."""',
        "    outputs: Mapping[str, tuple[str, str, str]]",
        '    """For each output: the arguments for its sizes, data type and presence; ``""`` if there is none."""',
        "    results: tuple[str, ...]",
        '    """The members of the result if there are several outputs."""',
        "",
        "",
        "CALLS: Mapping[str, Call] = MappingProxyType(",
        "    {",
    ]
    for schema in map(catalog.operator, catalog.operator_names()):
        lines += call_entry(schema)
    lines += ["    }", ")", '"""Calls by the short name of the operator."""', ""]
    return "\n".join(lines)


def call_entry(schema: OperatorSchema) -> list[str]:
    name = schema.short_name
    results = outputs(schema)
    counts = {field.count for field in schema.fields if field.count is not None}
    stated = [field for field in (*schema.input_fields, *schema.attribute_fields) if field.name not in counts]
    fields = {field.name: parameter_name(name, field.name) for field in stated}
    sources = {
        out.field.name: tuple(item.name if item else "" for item in (out.sizes, out.data_type, out.wanted))
        for out in results
    }
    several = RESULTS.get(name)
    members = strings(several.fields if several else ())
    lines = [f'        "{name}": Call(', f'            "{method_name(schema)}",']
    for table in (
        {key: f'"{value}"' for key, value in fields.items()},
        {key: strings(value) for key, value in sources.items()},
    ):
        line = f"            {dictionary(table)},"
        if len(line) <= WIDTH:
            lines.append(line)
        else:
            entries = [f'                "{key}": {value},' for key, value in table.items()]
            lines += ["            {", *entries, "            },"]
    return [*lines, f"            {members},", "        ),"]


def strings(items: tuple[str, ...]) -> str:
    return f"({', '.join(json.dumps(item) for item in items)})"


def package(classes: dict[str, str]) -> str:
    """The package's ``__init__.py``, with all methods in one class."""
    lines = [HEADER.format(title="all operators"), "from __future__ import annotations", ""]
    lines += [f"from dml2onnx.builder.operators.{stem} import {name}" for stem, name in sorted(classes.items())]
    lines += ["", "", "class Operators("]
    lines += [f"    {name}," for name in classes.values()]
    lines += ["):", '    """One method for each of DirectML\'s operators."""', ""]
    return "\n".join(lines)


def files() -> dict[str, str]:
    families: dict[str, list[OperatorSchema]] = {}
    for schema in map(catalog.operator, catalog.operator_names()):
        families.setdefault(schema.family, []).append(schema)
    sources = {"calls.py": calls_module(), "enumerators.py": enumerators(), "results.py": results_module()}
    classes: dict[str, str] = {}
    for family in sorted(families):
        classes[family] = "".join(part.capitalize() for part in family.split("_")) + "Operators"
        sources[f"{family}.py"] = module(family.replace("_", " "), classes[family], families[family])
    sources["__init__.py"] = package(classes)
    return sources


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes the operator methods of GraphBuilder.")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    options = parser.parse_args()
    sources = files()
    existing = {path.name for path in TARGET.glob("*.py")}
    if options.check:
        stale = [
            name
            for name in sources
            if name not in existing or (TARGET / name).read_text(encoding="utf-8") != sources[name]
        ]
        stale += sorted(existing - set(sources))
        if stale:
            print(f"{', '.join(stale)} out of date: run python scripts/generate_builder.py")
        return int(bool(stale))
    TARGET.mkdir(exist_ok=True)
    for name in existing - set(sources):
        (TARGET / name).unlink()
    for name, text in sources.items():
        (TARGET / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
