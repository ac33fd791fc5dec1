"""Pages generated from data: diagnostics, decisions, feature levels and JSON formats."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from _docs_markdown import code, fenced, items, page, plain, prose, section, table
from _docs_operators import POINT, decisions

from dml2onnx import catalog
from dml2onnx.cli.examples import demonstrations, examples, text_of, undemonstrated
from dml2onnx.codes import all_codes
from dml2onnx.diagnostics import Code

AREAS = {
    "DML00": "Building graphs in Python",
    "DML10": "Reading models",
    "DML11": "Reading descriptors",
    "DML12": "Structure of graphs",
    "DML13": "Tensors",
    "DML14": "Operators",
    "DML15": "Sizes",
    "DML16": "Feature levels and data types",
    "DML17": "Fused activations",
    "DML18": "Serialized graphs",
    "DML19": "Writing models",
    "DML20": "Compiling",
    "DML21": "Other sizes",
    "DML30": "Running and verifying",
}
"""Titles of groups of codes by prefix."""


def reference_pages() -> dict[str, str]:
    """The pages by path."""
    return {
        **_diagnostic_pages(),
        "decisions.md": _decisions(),
        "feature-levels.md": _feature_levels(),
        "native-schema.md": _form(
            "Members of the native format",
            "graph.schema.json",
            "What `dml2onnx schema` prints, as tables. [The native format](native-format.md) explains it.\n",
        ),
        "report-schema.md": _form(
            "Members of the output of `--json`",
            "report.schema.json",
            "The output of each command with `--json`. `dml2onnx schema report` prints it as JSON Schema.\n",
        ),
        "journal-schema.md": _form(
            "Members of the journal",
            "journal.schema.json",
            "A line of the journal of `dml2onnx batch`. `dml2onnx schema journal` prints it as JSON Schema.\n",
        ),
    }


# --- Diagnostics ----------------------------------------------------------------------------------------------------


def _diagnostic_pages() -> dict[str, str]:
    codes = sorted(all_codes().values(), key=lambda item: item.id)
    pages, rows = {}, []
    for area, members in groupby(codes, lambda item: item.id[:5]):
        found = list(members)
        stem = area.lower()
        pages[f"diagnostics/{stem}.md"] = page(f"{area}xx: {AREAS[area]}", *map(_diagnostic, found))
        link = f"{stem}.md"
        rows += [(f"[{item.id}]({link}#{item.id.lower()})", item.severity.value, prose(item.summary)) for item in found]
    intro = "`dml2onnx explain DML1602` prints these texts.\n"
    listed = fenced("{toctree}", ":hidden:\n" + "\n".join(sorted(item[12:-3] for item in pages)))
    pages["diagnostics/index.md"] = page("Diagnostics", intro, table(["code", "", "title"], rows), listed)
    return pages


def _diagnostic(item: Code) -> str:
    parts = [f"*{item.severity.value}*\n", f"{prose(item.explanation)}\n"]
    example = examples().get(item.id)
    if example is not None:
        wrong, right = example.lines()
        parts += [
            "A minimal model with this finding:\n",
            fenced("json", text_of(example.wrong_model)),
            items((f"at {code(example.pointer)}: {code(wrong)}", f"corrected: {code(right)}")),
        ]
        if example.page:
            parts.append(f"The rule is stated on [Microsoft's page]({example.page}).\n")
    shown = demonstrations().get(item.id)
    if shown is not None:
        language, prompt = ("python", "") if shown.is_program else ("console", "$ ")
        for title, lines in (("Example:\n", shown.wrong), ("Corrected:\n", shown.corrected)):
            parts += [title, fenced(language, "\n".join(prompt + line for line in lines))]
        for name, text in shown.listed():
            parts += [f"{code(name)}:\n", fenced("text", text)]
    if item.id in undemonstrated():
        parts.append(f"{prose(undemonstrated()[item.id])}\n")
    return section(f"{item.id}: {prose(item.summary)}", *parts, target=item.id.lower())


# --- Decisions ------------------------------------------------------------------------------------------------------


def _decisions() -> str:
    """The file ``schemas/decisions.md`` with an anchor for each decision."""
    text = (catalog.schemas_directory() / "decisions.md").read_text(encoding="utf-8")
    text = re.sub(r"^---$", "", text, flags=re.MULTILINE)
    text, count = re.subn(r"^\*\*([A-Z]\d+)\. ", lambda m: f"({m[1].lower()})=\n{m[0]}", text, flags=re.MULTILINE)
    assert count == len(decisions()) == len(POINT.findall(text)), "a decision with another format"
    return text


# --- Feature levels -------------------------------------------------------------------------------------------------


def _feature_levels() -> str:
    rows = []
    for level in catalog.feature_levels():
        info = level.info
        windows = f"{info.windows} ({info.windows_build})" if info.windows else "none"
        new = [name for name in catalog.operator_names() if catalog.operator(name).introduced == level]
        schemas = [catalog.operator(name) for name in new]
        links = ", ".join(f"[{schema.short_name}](operators/{schema.stem}.md)" for schema in schemas)
        rows.append((level.name, info.directml_version, plain(windows), plain(info.redistributable), links))
    intro = (
        "Each level includes all earlier ones. `check --feature-level 5_0`, `--directml 1.8` and `--windows 10-22H2`"
        " choose a level by a column of this table.\n"
    )
    columns = ["level", "DirectML", "first Windows that has it", "first package that has it", "new operators"]
    releases = [(code(name), str(build)) for name, build in catalog.windows_builds().items()]
    names = section("Names of Windows releases", table(["name", "build"], releases))
    return page("Feature levels", intro, table(columns, rows), names)


# --- JSON Schema ----------------------------------------------------------------------------------------------------


def _form(title: str, file: str, intro: str) -> str:
    """The members of a JSON Schema, without operator descriptors, which have pages of their own."""
    schema = json.loads((catalog.schemas_directory() / file).read_text(encoding="utf-8"))
    operators = {name.removeprefix("DML_OPERATOR_") for name in catalog.operator_names()}
    forms = {name: form for name, form in schema["$defs"].items() if name not in operators}
    parts = [section(name, *_members(form, forms), target=_target(file, name)) for name, form in forms.items()]
    whole = section("The whole document", *_members({**schema, "description": ""}, forms))
    return page(title, intro, f"{prose(schema['description'])}\n", whole, *parts).replace("](#", f"](#{file[:3]}-")


def _target(file: str, name: str) -> str:
    return f"{file[:3]}-{name.lower()}"


def _members(form: Mapping[str, Any], forms: Mapping[str, Any]) -> Iterable[str]:
    if form.get("description"):
        yield f"{prose(form['description'])}\n"
    choices = form.get("anyOf", [form])
    if not any("properties" in choice for choice in choices):
        yield f"{_kind(form, forms)}\n"
        return
    for choice in choices:
        if choice is not form:
            yield f"Either: {prose(choice['description']) if 'description' in choice else _kind(choice, forms)}\n"
        required = choice.get("required", ())
        rows = [
            (code(name), _kind(item, forms), "yes" if name in required else "", prose(item.get("description", "")))
            for name, item in choice.get("properties", {}).items()
        ]
        yield table(["member", "type", "required", "meaning"], rows)


def _kind(form: Mapping[str, Any], forms: Mapping[str, Any]) -> str:
    """A short description of the values that a schema allows."""
    if "$ref" in form:
        name = form["$ref"].rpartition("/")[2]
        return f"[{plain(name)}](#{name.lower()})" if name in forms else f"[{plain(name)}](operators/{name.lower()}.md)"
    if "anyOf" in form:
        return " or ".join(dict.fromkeys(_kind(item, forms) for item in form["anyOf"]))
    if "const" in form:
        return code(json.dumps(form["const"]))
    if "enum" in form:
        return ", ".join(code(json.dumps(item)) for item in form["enum"])
    kind = form.get("type", "any value")
    if kind == "array":
        return f"array of {_kind(form.get('items', {}), forms)}"
    if kind == "object" and isinstance(form.get("additionalProperties"), dict):
        return f"object of {_kind(form['additionalProperties'], forms)} by name"
    limits = [f"{word} {form[key]}" for key, word in (("minimum", "from"), ("maximum", "to")) if key in form]
    return " ".join([kind if isinstance(kind, str) else " or ".join(kind), *limits])
