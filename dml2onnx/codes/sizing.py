"""DML21xx: a graph that cannot have the requested sizes."""

from dml2onnx.diagnostics import Code

WRONG_REQUEST = Code(
    "DML2101",
    "sizes that do not match an input",
    "Give the name of an input, and one size for each dimension of its DirectML descriptor: `--size NAME=8,3,224,224` "
    '(`sizes={"NAME": (8, 3, 224, 224)}`). A size is a number above 0, or a name.',
)
FIXED_SIZE = Code(
    "DML2102",
    "a size that is fixed",
    "Keep this size. A weight, an attribute, or a view of memory requires it; the message names the node, and the two "
    "sizes that it compares.",
)
TIED_SIZE = Code(
    "DML2103",
    "sizes that depend on each other",
    "State only one of these sizes; the others follow from it. The node in the message requires them to match.",
)
MISFIT_SIZE = Code(
    "DML2104",
    "a size that is not possible",
    "Choose another size. It has to be a multiple of a number, or two paths through the graph have to give the same "
    "size, and they do not. The message names the node.",
)
NO_ONE_MODEL = Code(
    "DML2105",
    "no single model for these sizes",
    "Use a smaller `--range`, a number in place of the name, or `-O0`. A model with names is made of models at "
    "several sizes, which may only differ in numbers that follow from the names. Here the node in the message has "
    "another form, or another constant, at another size.",
)
RANGE = Code(
    "DML2106",
    "an invalid range of sizes",
    "Give a name from `--size`, and the first and last size that it stands for: `--range N=1..64`. The model has to "
    "be possible at both.",
)
