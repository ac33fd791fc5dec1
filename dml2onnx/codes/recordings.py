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
    'program. --graph NAME says which one is meant (graph="..." in Python). Beside a single graph the program is.',
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
NOT_ENDED = Code(
    "DML0020",
    "A recording that was not ended",
    "The program is still running, has crashed, or has ended without releasing the device and all that it made. Each "
    "graph and dispatch is written when it comes, so that all of them up to that moment are here; more may have been "
    "to come.",
    Severity.WARNING,
)
NOT_RECORDED = Code(
    "DML0021",
    "Something that the program did is not recorded",
    "With a device of DirectML's behind it the recorder passes on all that the program says, and what that device "
    "takes the program has. Some of it has no place in a recording: enumerators without a name, operators of another "
    "device, interfaces that the recorder does not know. The message says what it was.",
    Severity.WARNING,
)
MISSING_DISPATCH = Code(
    "DML0022",
    "A dispatch is not in the program",
    "The program dispatched something that could not be recorded, so that what stands here is not what it computed. "
    "The graphs that were recorded whole can be compiled one by one with --graph.",
)
