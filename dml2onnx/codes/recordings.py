"""Findings about a recording as a whole; its graphs have the findings of their formats."""

from __future__ import annotations

from dml2onnx.diagnostics import Code, Severity

BAD_RECORDING = Code(
    "DML0016",
    "A recording that is damaged",
    "The recording device writes recording.json, which lists the graphs of a recording and their files. This one was "
    "written by a newer release, or was changed.",
)
CHOOSE_GRAPH = Code(
    "DML0017",
    "A recording of several graphs",
    'Choose a graph with --graph NAME (graph="..." in Python). A recording has each graph and operator that the '
    "program compiled, and a graph called program of all that it dispatched. A command chooses only if there is a "
    "single graph, or a single graph and program.",
)
UNKNOWN_GRAPH = Code(
    "DML0018",
    "There is no graph of that name",
    "Give --graph the name of a graph in the recording; the message lists them. Models in other formats have one "
    "graph, which needs no name.",
)
REFUSED_IN_PROGRAM = Code(
    "DML0019",
    "The program was refused this call when it was recorded",
    "The device refused this call when the program ran. The other findings explain why; without any, the reason in "
    "the message is all that is known.",
    Severity.WARNING,
)
NOT_ENDED = Code(
    "DML0020",
    "A recording that was not ended",
    "Let the program end, and release the device and all its objects. Until then a recording has the graphs and "
    "dispatches so far; more may follow.",
    Severity.WARNING,
)
NOT_RECORDED = Code(
    "DML0021",
    "Something that the program did is not recorded",
    "The real device has accepted something that a recording cannot hold: an enumerator without a name, an operator "
    "of another device, or an interface that the recorder does not know. The message says what it was.",
    Severity.WARNING,
)
MISSING_DISPATCH = Code(
    "DML0022",
    "A dispatch is not in the program",
    "The program dispatched something that could not be recorded, so the graph called program is incomplete. Compile "
    "the complete graphs one by one with --graph.",
)
