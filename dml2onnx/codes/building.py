"""What goes wrong while a graph is built in Python: DML18xx."""

from __future__ import annotations

from dml2onnx.diagnostics import Code

NO_BROADCAST = Code(
    "DML1801",
    "operands that do not broadcast together",
    "Python's operators on expressions broadcast as numpy does: aligned at the last dimension, sizes are equal or 1. "
    "The methods of GraphBuilder do not broadcast, since DirectML does not: equal sizes, with zero strides to repeat.",
)
NOT_INFERABLE = Code(
    "DML1802",
    "an output whose descriptor has to be stated",
    "What the operator gives does not follow from its inputs and attributes alone. State the sizes (output_sizes) or "
    "the data type (output_data_type) that the message names.",
)
FOREIGN_EXPRESSION = Code(
    "DML1803",
    "an argument that is no expression of this builder",
    "Tensors of an operator are expressions that the same GraphBuilder has made: by input, constant, or an operator. "
    "numpy arrays become one with GraphBuilder.constant.",
)
NAME_TAKEN = Code(
    "DML1804",
    "a name that is used already",
    "Graph inputs need different names, and so do graph outputs.",
)
BAD_TENSOR = Code(
    "DML1805",
    "a tensor descriptor that cannot be",
    "A tensor has one of DirectML's data types, 1 to 8 sizes of at least 1, and as many strides as sizes, which count "
    "elements and are not negative.",
)
VIEW_TOO_LARGE = Code(
    "DML1806",
    "a view of more bytes than there are",
    "Reinterpreting looks at the same bytes through another data type, sizes and strides; the last element of the new "
    "view has to lie inside the buffer.",
)
NO_OUTPUTS = Code(
    "DML1807",
    "a graph without outputs",
    "Give build at least one expression; what no output depends on is left out of the compiled model.",
)
DIFFERENT_ELEMENT_COUNTS = Code(
    "DML1808",
    "a reshape to another number of elements",
    "Reshaping keeps all elements in their row-major order; the product of the new sizes is that of the old ones. One "
    "of the new sizes may be -1, which stands for what remains.",
)
NOT_EXACT = Code(
    "DML1809",
    "a constant operand that the data type does not hold",
    "A number or an array beside an expression becomes a constant of the expression's data type. Integer types hold "
    "whole numbers of their range only; cast the expression first where fractions are meant.",
)
BAD_NAME = Code(
    "DML1810",
    "a name that ONNX does not have",
    "Names are Unicode text that UTF-8 can hold. Those of inputs and outputs are not empty: an empty name stands for a "
    "tensor that is absent.",
)
BAD_FLAG = Code(
    "DML1811",
    "a flag that is neither true nor false",
    "Whether something is to be done, such as making an optional output, is said by True or False.",
)
INNER_OUTPUT = Code(
    "DML1812",
    "a graph output inside of a buffer",
    "A graph output is a whole buffer, and this expression is a tensor that starts inside of one. Give the buffer from "
    "its start (reinterpret with offset=0), or a copy of the tensor (identity).",
)
