"""Nodes of the native format whose members do not stand where they belong, or belong to another operator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.codes import reading as codes
from dml2onnx.frontends.findings import at_field, listing
from dml2onnx.frontends.members import Members
from dml2onnx.frontends.problems import other_operator, report

if TYPE_CHECKING:
    from dml2onnx.catalog import OperatorSchema
    from dml2onnx.frontends.findings import Findings
    from dml2onnx.frontends.members import Json

MEMBERS = ("name", "type", "desc", "inputs", "outputs")
_MEMBERS = frozenset(MEMBERS)


def with_desc(members: Members, schema: OperatorSchema | None, findings: Findings) -> Json:
    """The node with all fields of its operator in ``desc``; those that stand beside it are one finding."""
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
    findings.add(
        at_field(
            codes.UNKNOWN_KEY,
            f"{listing(names)} {'stands' if len(names) == 1 else 'stand'} beside desc, and not in it",
            members.at(names[0]),
            members.node,
            schema,
            names[0],
            expected="the fields of the operator in desc",
            found=listing(names),
        )
    )
    return {**rest, "desc": {**strays, **desc}}


def is_another(raw: Json, schema: OperatorSchema, members: Members, findings: Findings) -> bool:
    """Whether the node has the fields of another operator than the one of its type, which is one finding."""
    sections = [section for name in ("desc", "inputs", "outputs") if type(section := raw.get(name)) is dict]
    known = schema.index.keys()
    if all(section.keys() <= known for section in sections):
        return False
    problem = other_operator(schema, set[str]().union(*sections), "type")
    if problem is not None:
        report(findings, [problem], members.place, node=members.node, schema=schema)
    return problem is not None
