"""Reads DxDispatch dispatchables of type ``dmlSerializedGraph``: graphs, bound by the names of inputs and outputs."""

from __future__ import annotations

from dml2onnx.codes import unreadable
from dml2onnx.frontends.files import FileError, ModelFiles
from dml2onnx.frontends.findings import Findings, quote
from dml2onnx.frontends.flatbuffer import DamagedError
from dml2onnx.frontends.members import Members
from dml2onnx.frontends.serialized import SerializedReader
from dml2onnx.ir.graph import Graph

MEMBERS = ("type", "sourcePath", "executionFlags", "bindings")


def read_graph(members: Members, files: ModelFiles, findings: Findings) -> Graph | None:
    """Reads the graph at ``sourcePath``, with the files of its constants in the same directory.

    Pointers of its findings are below ``sourcePath``.
    """
    members.hint(MEMBERS, "a dmlSerializedGraph")
    name = members.text("sourcePath", required=True)
    if name is None:
        return None
    place = members.at("sourcePath")
    try:
        path = files.find(name)
        reader = SerializedReader(files.content(name), files.beside(path), findings, place)
        return reader.read(members.node)
    except FileError as error:
        findings.report(error.code, str(error), place, expected=error.expected, found=error.found, node=members.node)
    except DamagedError as damage:
        message = f"{quote(name)}, byte {damage.offset}: {damage}"
        found = f"byte {damage.offset}"
        findings.report(unreadable.DAMAGED_FILE, message, place + damage.place, found=found, node=members.node)
    return None
