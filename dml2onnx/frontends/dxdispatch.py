"""Reads models of the DxDispatch tool: resources, dispatchables and commands.

https://github.com/microsoft/DirectML/blob/master/DxDispatch/doc/Guide.md

The rules are those of the tool's parser rather than of its guide. Input that the tool tolerates but that is likely a
mistake is a warning; undefined behavior is an error. There are two intended differences: files are looked up in the
model's directory only, and names newer than the tool are read, with a warning.

A model does not declare inputs and outputs. Buffers that a dispatch reads before anything writes them are inputs, with
their initial values as defaults; buffers that DirectML owns are constants. Outputs are the buffers that a command
prints or writes to a file or, without such commands, those that are written and never read again. A dispatched graph
(dmlSerializedGraph) is inlined.
"""

from __future__ import annotations

from dml2onnx.codes import reading as codes
from dml2onnx.frontends.dx_dispatchables import DISPATCHABLE, RESOURCE, Bindings, DispatchableReader
from dml2onnx.frontends.dx_program import SymbolicProgram
from dml2onnx.frontends.dx_resources import ResourceReader
from dml2onnx.frontends.files import ModelFiles
from dml2onnx.frontends.findings import Findings, escape, quote
from dml2onnx.frontends.members import Json, Members
from dml2onnx.frontends.options import DEFAULT_OPTIONS, LoadOptions
from dml2onnx.frontends.text import Document
from dml2onnx.ir.graph import Graph


def read(document: Document, options: LoadOptions = DEFAULT_OPTIONS) -> Graph:
    """Reads a DxDispatch model, with errors as findings of the graph."""
    findings = Findings()
    root = Members(document.root, "", findings)
    if document.marked:
        findings.report(codes.MARKED_TEXT, "the model starts with a byte order mark", expected="plain UTF-8")
    for place, name in document.repeated():
        message = f"{quote(name)} is given more than once, and only one of them counts"
        findings.report(codes.REPEATED_KEY, message, place, found=quote(name))
    root.hint(("resources", "dispatchables", "commands"), "a model")
    files = ModelFiles(document.path.parent, options)
    reader = ResourceReader(files, findings)
    resources = {
        name: reader.read(name, raw, f"/resources/{escape(name)}")
        for name, raw in _section(document, root, "resources", RESOURCE, findings).items()
    }
    bindings = Bindings(resources, findings)
    operators = DispatchableReader(bindings, files, findings)
    dispatchables = {
        name: operators.read(name, raw, f"/dispatchables/{escape(name)}")
        for name, raw in _section(document, root, "dispatchables", DISPATCHABLE, findings).items()
    }
    program = SymbolicProgram(resources, dispatchables, bindings, operators, findings)
    program.run(root.array("commands", required=True) or [])
    program.compare_files()
    inputs, constants = program.initial_values()
    return Graph(
        nodes=tuple(program.nodes),
        inputs=inputs,
        outputs=program.outputs(),
        constants=constants,
        results=program.results(),
        effects=tuple(program.effects),
        name=document.path.stem.encode("utf-8", "replace").decode(),
        findings=findings.all(),
        format="dxdispatch",
        unresolved=program.unresolved.all(),
        sources=(document.path, *files.found),
    )


def _section(document: Document, root: Members, name: str, kind: str, findings: Findings) -> Json:
    """Returns the entries of a section by name; the last entry of a name wins."""
    section = root.mapping(name, required=True)
    if section is None:
        findings.mark_unreadable(kind)
        return {}
    return dict(document.duplicates.get(id(section), section.items()))
