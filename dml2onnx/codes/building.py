"""DML18xx: findings while a graph is built in Python."""

from __future__ import annotations

from dml2onnx.diagnostics import Code

NO_BROADCAST = Code(
    "DML1801",
    "operands that do not broadcast together",
    "Give operands whose sizes are equal or 1, aligned at the last dimension: Python's operators on expressions "
    "broadcast like numpy. Methods of GraphBuilder do not broadcast, since DirectML does not; use equal sizes, with "
    "strides of 0 to repeat.",
)
NOT_INFERABLE = Code(
    "DML1802",
    "an output whose descriptor has to be stated",
    "State the sizes (output_sizes) or the data type (output_data_type) that the message names. They cannot be "
    "inferred from the inputs and attributes.",
)
FOREIGN_EXPRESSION = Code(
    "DML1803",
    "an argument that is not an expression of this builder",
    "Pass expressions of the same GraphBuilder, from its methods input, constant, or an operator. "
    "GraphBuilder.constant makes an expression of a numpy array.",
)
NAME_TAKEN = Code(
    "DML1804",
    "a name that is used already",
    "Graph inputs need different names, and so do graph outputs.",
)
BAD_TENSOR = Code(
    "DML1805",
    "an invalid tensor descriptor",
    "A tensor has one of DirectML's data types, 1 to 8 sizes of at least 1, and as many strides as sizes, which count "
    "elements and are not negative.",
)
VIEW_TOO_LARGE = Code(
    "DML1806",
    "a view beyond the end of its buffer",
    "Reinterpreting views the same bytes with another data type, sizes and strides; the last element of the new "
    "view has to be inside the buffer.",
)
NO_OUTPUTS = Code(
    "DML1807",
    "a graph without outputs",
    "Give build at least one expression. The compiled model contains only what outputs depend on.",
)
DIFFERENT_ELEMENT_COUNTS = Code(
    "DML1808",
    "a reshape to another number of elements",
    "Give sizes with the same product as before. One of them may be -1, which is computed from the others.",
)
NOT_EXACT = Code(
    "DML1809",
    "a constant operand that the data type does not hold",
    "Cast the expression first if you mean fractions. A number or an array beside an expression becomes a constant of "
    "the expression's data type, and integer types hold whole numbers of their range only.",
)
BAD_NAME = Code(
    "DML1810",
    "a name that ONNX cannot have",
    "Names are Unicode text that UTF-8 can encode. Those of inputs and outputs are not empty: an empty name means an "
    "absent tensor.",
)
BAD_FLAG = Code(
    "DML1811",
    "a flag that is neither true nor false",
    "Pass True or False to options such as those that request an optional output.",
)
INNER_OUTPUT = Code(
    "DML1812",
    "a graph output inside a buffer",
    "A graph output is a whole buffer, and this expression is a tensor that starts inside one. Return the buffer from "
    "its start (reinterpret with offset=0), or a copy of the tensor (identity).",
)
