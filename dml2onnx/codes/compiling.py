"""DML2xxx: a valid graph that cannot be compiled as asked."""

from dml2onnx.diagnostics import Code, Severity

NOT_LOWERED = Code(
    "DML2001",
    "operator without a lowering",
    "The operator is known, read and checked, but this version of dml2onnx cannot turn it into ONNX yet. "
    "`dml2onnx ops` lists which operators can be compiled.",
)
NOT_COMPILED_AS_ACCEPTED = Code(
    "DML2010",
    "a descriptor that DirectML accepts against its documentation, and that is not compiled",
    "DirectML creates an operator from this descriptor although its documentation forbids it. What the operator "
    "computes is not known, or not the same on all devices, so no model is made of it. The warning of `check` says "
    "which rule is broken: keep to it.",
)
UNKNOWN_OPSET = Code(
    "DML2003",
    "opset out of range",
    "dml2onnx writes models of ONNX opsets 17 to 28, of which a target may run fewer: cpu and onnx all of them, where "
    "24 and 25 need ONNX Runtime 1.24, 26 needs 1.31 and 27 and 28 need 1.32, all others 17 to 23.",
)
UNKNOWN_OUTPUT = Code(
    "DML2005",
    "no such output",
    "An output was asked for that the graph does not write. The message lists what it writes.",
)
UNKNOWN_TARGET = Code(
    "DML2006",
    "no such target",
    "A target says where a model is to run: anywhere (onnx, the default), on one execution provider or device (cpu, "
    "dml, ...), or on several (portable, windows-ml). The message lists all of them; docs/targets.md describes each.",
)
ILLEGAL_IR_VERSION = Code(
    "DML2008",
    "IR version that the opset cannot have",
    "The IR version says how a model's file is laid out. ONNX gives each opset the one it came with, as a lower limit: "
    "8 for opsets 17 and 18, 9 for 19 and 20, 10 for 21 and 22, 11 for 23, 12 for 24, 13 for 25 to 27, 14 for 28. ONNX "
    "Runtime 1.24 reads up to 13. A runtime that has an opset reads the IR version that came with it, which is why "
    "that is the default.",
)
FALLS_BACK = Code(
    "DML2009",
    "nodes that the target has no kernel for",
    "A lowering takes an exact form that the target has kernels for, wherever there is one. There is none for some "
    "operators and data types. ONNX Runtime runs such nodes on the CPU, copying their tensors there and back; without "
    "it they stand in the way. Another data type in the DirectML graph, or another opset, may have kernels.",
    Severity.WARNING,
)
LOSES_NUMBERS = Code(
    "DML2011",
    "numbers that the target does not have",
    "The node needs numbers that kernels of the target do not keep, and no form makes that good: an NPU that computes "
    "FLOAT in FLOAT16 has no other bits of it. The model is made, and this node's results are wrong there. Leave it to "
    "the CPU, or to another target.",
    Severity.WARNING,
)
LOST_BITS = "FLOAT is computed in FLOAT16 there, which has fewer bits"
"""What a lowering notes of a form that needs the bits of FLOAT where the target does not have them."""
HALF_MISFIT = Code(
    "DML2012",
    "constants that FLOAT16 does not hold",
    "A FLOAT32 graph was to be compiled as FLOAT16, which ends at 65504, so that larger numbers of a constant would be "
    "infinite, and has nothing but 0 up to 2**-25. The nodes that need the constant, or attribute, stay FLOAT32, "
    "between casts. A mask of -1e9 can be -65504 as well; large factors can often be divided out of a graph.",
    Severity.WARNING,
)
IN_UNITS = "DequantizeLinear and QuantizeLinear with the scales of the graph: accelerators compute this in integers"
"""What a lowering notes of an operator between quantisations."""
TOO_MANY_CONSTANTS = Code(
    "DML2007",
    "constants beyond the budget",
    "Some forms need tables, of indices, of weights, or of what lies between the elements of a tensor. A file of a few "
    "hundred bytes can describe tables of GiBs, so one node may make 128 MiB of constants and a whole model 256 MiB, "
    "beyond four times the bytes of the constants that came with it. Tensors of such a size that are computed when "
    "the model runs, and constants of such a size in files, are no trouble.",
)
