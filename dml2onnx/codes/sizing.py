"""DML21xx: a graph that cannot have the sizes that are asked for."""

from dml2onnx.diagnostics import Code

WRONG_REQUEST = Code(
    "DML2101",
    "sizes that say nothing about an input",
    '`--size NAME=8,3,224,224` (`sizes={"NAME": (8, 3, 224, 224)}`) has the name of an input of the graph and one size '
    "for each of its dimensions, as its DirectML descriptor counts them: a number above 0, or a name.",
)
FIXED_SIZE = Code(
    "DML2102",
    "a size that is fixed",
    "The graph has to keep this size of an input: weights, attributes, or a view of memory that has no counterpart at "
    "another size say so. The message names the node that does, and what it compares.",
)
TIED_SIZE = Code(
    "DML2103",
    "sizes that have to go together",
    "Two dimensions of inputs are one size, or one follows from the other, and other sizes were asked for. The message "
    "names the node that says so. State only one of them, and the other one follows.",
)
MISFIT_SIZE = Code(
    "DML2104",
    "a size that does not fit",
    "A size has to be a multiple of a number, or two ways through the graph have to come out at one size, and at the "
    "sizes that were asked for they do not. The message names the node.",
)
NO_ONE_MODEL = Code(
    "DML2105",
    "no one model for these sizes",
    "A model with names for sizes is made of several models of fixed sizes, which have to be the same but for numbers "
    "that follow from the names. Here they differ in more, at the node that the message names: another form is better "
    "at another size, or a constant has to be made for each size. A smaller `--range`, a number in the place of the "
    "name, or `-O0` may help.",
)
RANGE = Code(
    "DML2106",
    "a range of sizes that cannot be",
    "`--range N=1..64` has a name that stands in `--size` and the first and the last size that it stands for. At both "
    "the model has to be possible.",
)
