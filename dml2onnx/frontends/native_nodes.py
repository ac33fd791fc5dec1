"""Reports native nodes with misplaced members, or members of another operator."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dml2onnx.catalog import FieldSchema, FieldType, OperatorSchema
from dml2onnx.codes import reading as codes
from dml2onnx.diagnostics import Member
from dml2onnx.frontends.findings import FindingDetails, Findings, listing, quote
from dml2onnx.frontends.members import Json, Members, wrong_kind
from dml2onnx.frontends.problems import other_operator, report

MEMBERS = ("name", "type", "desc", "inputs", "outputs")
_MEMBERS = frozenset(MEMBERS)


def collect_stray_fields(members: Members, schema: OperatorSchema | None, findings: Findings) -> Json:
    """Moves fields of the operator that stand beside ``desc`` into it, and reports them once."""
    raw = members.raw
    desc = raw.get("desc", {})
    strays = (
        {} if schema is None else {name: raw[name] for name in raw if name not in _MEMBERS and name in schema.index}
    )
    if schema is None or not strays or type(desc) is not dict:
        members.only(MEMBERS, "a node")
        return raw
    rest = {name: value for name, value in raw.items() if name not in strays}
    Members(rest, members.place, findings, members.node).only(MEMBERS, "a node")
    names = list(strays)
    message = f"{listing(names)} {'is' if len(names) == 1 else 'are'} beside desc, not in it"
    details: FindingDetails = {"expected": "the fields of the operator in desc", "found": listing(names)}
    place, node = members.at(names[0]), members.node
    findings.report(codes.UNKNOWN_KEY, message, place, node=node, schema=schema, field=names[0], **details)
    return {**rest, "desc": {**strays, **desc}}


def reject_other_operator(raw: Json, schema: OperatorSchema, members: Members, findings: Findings) -> bool:
    """Whether the node has the fields of another operator, which is reported."""
    sections = [section for name in ("desc", "inputs", "outputs") if type(section := raw.get(name)) is dict]
    known = schema.index.keys()
    if all(section.keys() <= known for section in sections):
        return False
    problem = other_operator(schema, set[str]().union(*sections), "type")
    if problem is not None:
        report(findings, [problem], members.place, node=members.node, schema=schema)
    return problem is not None


def reject_name_list(members: Members, section: str, fields: Sequence[FieldSchema], findings: Findings) -> bool:
    """Whether tensors are a list without field names, as in ONNX, which is reported with the fields that fit."""
    stated = members.raw.get(section)
    if type(stated) is not list or not stated or not all(type(item) is str for item in stated):
        return False
    names: list[Member] = [str(item) for item in stated]
    arrays = [item.name for item in fields if item.type is FieldType.TENSOR_ARRAY]
    meant: dict[str, Member]
    if len(fields) == 1 and arrays:
        meant = {arrays[0]: names}
    elif not arrays and len(names) <= len(fields):
        meant = {item.name: name for item, name in zip(fields, names, strict=False)}
    else:
        return False
    wrong_kind(findings, quote(section), "an object", stated, members.at(section), members.node, instead=meant)
    return True


def unread_values(root: Json, names: Collection[str]) -> list[str]:
    """Returns the names that no input, base, output, result or command has."""
    found: set[str] = set()
    nodes = root.get("nodes")
    pending: list[object] = [root.get("outputs"), root.get("results"), root.get("commands")]
    for node in nodes if type(nodes) is list else ():
        if type(node) is dict:
            pending.append(node.get("inputs"))
            outputs = node.get("outputs")
            for target in outputs.values() if type(outputs) is dict else ():
                pending.append(target.get("base") if type(target) is dict else None)
    while pending:
        item = pending.pop()
        if type(item) is str:
            found.add(item)
        elif type(item) is dict:
            pending += item.values()
        elif type(item) is list:
            pending += item
    return [name for name in names if name not in found]
