"""DML2xxx: a valid graph that cannot be compiled as requested."""

from dml2onnx.diagnostics import Code, Severity

NOT_COMPILED_AS_ACCEPTED = Code(
    "DML2010",
    "a descriptor that DirectML accepts against its documentation, and that is not compiled",
    "Follow the rule that the warning of `check` names. DirectML creates this operator against its documentation, but "
    "its result is unknown or depends on the device, so there is no model that computes it.",
)
UNKNOWN_OPSET = Code(
    "DML2003",
    "opset out of range",
    "Choose an opset that the target has. Models have ONNX opsets 17 to 28: all of them for cpu and onnx, where 24 "
    "and 25 need ONNX Runtime 1.24, 26 needs 1.31, 27 and 28 need 1.32; 17 to 23 for other targets.",
)
UNKNOWN_OUTPUT = Code(
    "DML2005",
    "no such output",
    "Name an output that the graph writes; the message lists them.",
)
UNKNOWN_TARGET = Code(
    "DML2006",
    "no such target",
    "Choose a target from the message. It says where the model is to run: anywhere (onnx, the default), on one "
    "execution provider or device (cpu, dml, ...), or on several (portable, windows-ml). docs/targets.md describes "
    "each.",
)
ILLEGAL_IR_VERSION = Code(
    "DML2008",
    "IR version that the opset cannot have",
    "Leave --ir-version out, or use a version from the message. ONNX gives each opset the IR version that it came "
    "with as a lower limit: 8 for opsets 17 and 18, 9 for 19 and 20, 10 for 21 and 22, 11 for 23, 12 for 24, 13 for "
    "25 to 27, 14 for 28. Every runtime with the opset reads that version; ONNX Runtime 1.24 reads up to 13.",
)
FALLS_BACK = Code(
    "DML2009",
    "nodes that the target has no kernel for",
    "Try another data type in the DirectML graph, or another opset. The target has no kernel for these nodes, and no "
    "exact form has one. ONNX Runtime runs them on the CPU and copies their tensors there and back; a runtime without "
    "a CPU fallback cannot run the model.",
    Severity.WARNING,
)
LOSES_NUMBERS = Code(
    "DML2011",
    "numbers that the target does not have",
    "Run this node on the CPU, or use another target. The kernels of this target cannot represent numbers that the "
    "node needs, such as an NPU that computes FLOAT in FLOAT16. The model is made, but the node's results are wrong "
    "there.",
    Severity.WARNING,
)
LOST_BITS = "FLOAT is computed in FLOAT16 there, which has fewer bits"
"""The note of a lowering that needs the precision of FLOAT on a target without it."""
HALF_MISFIT = Code(
    "DML2012",
    "constants that FLOAT16 does not hold",
    "Change the constant if you can: a mask of -1e9 can be -65504, and large factors can often be divided out of a "
    "graph. FLOAT16 ends at 65504, so larger numbers become infinite, and numbers up to 2**-25 become 0. The nodes "
    "that need the constant or attribute stay FLOAT32, between casts.",
    Severity.WARNING,
)
HALF_WITHOUT_EFFECT = Code(
    "DML2013",
    "nothing to compute in FLOAT16",
    "Leave --half out: it changes nodes of FLOAT32, and this graph has none. Graphs of FLOAT16 compute in FLOAT16 "
    "without it.",
    Severity.WARNING,
)
IN_UNITS = "DequantizeLinear and QuantizeLinear with the scales of the graph: accelerators compute this in integers"
"""The note of a lowering between a dequantization and a quantization."""
TOO_MANY_CONSTANTS = Code(
    "DML2007",
    "constants beyond the budget",
    "Put such constants into files, or let the model compute them: neither counts. Some ONNX forms need tables of "
    "indices, weights, or the gaps between elements, and a file of a few hundred bytes can ask for GiBs of them. So "
    "one node may make 128 MiB of constants, and a whole model 256 MiB, beyond four times the bytes of its own "
    "constants.",
)
