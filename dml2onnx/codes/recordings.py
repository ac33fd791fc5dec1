"""What can be wrong with the recording of a C++ program as a whole; its graphs have the findings of their formats."""

from __future__ import annotations

from dml2onnx.diagnostics import Code, Severity

BAD_RECORDING = Code(
    "DML0016",
    "A recording that is damaged",
    "The index of a recording, recording.json, names its graphs and the files that they are in. The recording device "
    "writes it; this one is of a newer release, or has been changed.",
)
CHOOSE_GRAPH = Code(
    "DML0017",
    "A recording of several graphs",
    "A program compiles graphs, operators, and dispatches them one after the other, which is a graph of its own called "
    'program. --graph NAME says which one is meant (graph="..." in Python).',
)
UNKNOWN_GRAPH = Code(
    "DML0018",
    "There is no graph of that name",
    "--graph names one of the graphs that a recording device has recorded. Models of all other formats are one graph, "
    "which has no need to be named.",
)
REFUSED_IN_PROGRAM = Code(
    "DML0019",
    "The program was refused this when it was recorded",
    "The device answered with an error, for the reason that the recording gives. What else stands here says what is "
    "wrong; if nothing does, the reason is all that is known.",
    Severity.WARNING,
)
