"""DML3xxx: a model that cannot be run as requested."""

from dml2onnx.diagnostics import Code, Severity

UNKNOWN_PROVIDER = Code(
    "DML3001",
    "no such execution provider",
    "Choose an execution provider of ONNX Runtime by its short name: cpu, dml, cuda, tensorrt, nvtensorrtrtx, "
    "openvino, qnn, vitisai, migraphx, coreml, webgpu or xnnpack; several of them in order; or auto, ONNX Runtime's "
    "device policy.",
)
MISSING_PROVIDER = Code(
    "DML3002",
    "the execution provider is not installed",
    "Run the command in the message to install it. The installed ONNX Runtime was built without the provider, and no "
    "plugin package has it. A distribution such as onnxruntime-directml replaces the package onnxruntime, which must "
    "be removed first; a plugin package is installed beside it.",
)
UNKNOWN_INPUT = Code("DML3003", "no such input", "Name an input of the model; the message lists them.")
MISSING_INPUT = Code(
    "DML3004",
    "input not given",
    "Give the input with --input NAME=FILE, or as an array by its name in Python. The model has no sample contents "
    "for it.",
)
INPUT_TYPE = Code(
    "DML3005",
    "input of another data type",
    "Convert the array to the data type of the input. Arrays are never converted; FLOAT64 and INT64 in files are, "
    "because numpy writes them by default: floats are rounded if they stay finite, and whole numbers converted if the "
    "type holds them all.",
)
INPUT_SHAPE = Code(
    "DML3006",
    "input of another shape",
    "Give the elements in memory order: flat, or in the shape that `dml2onnx compile` prints for the input.",
)
INPUT_UNREADABLE = Code(
    "DML3007",
    "input file unreadable",
    "Check the path. The file does not exist, is not a readable .npy or .npz file, or has the wrong number of bytes.",
)
TOO_LARGE = Code(
    "DML3008",
    "model too large for one message",
    "A protobuf message holds at most 2 GiB. Save the model with external data instead of asking for one message.",
)
OUTPUT_UNWRITABLE = Code(
    "DML3009",
    "output cannot be written",
    "Check the path and its permissions. A named pipe needs a reader within ten seconds.",
)
OUTPUT_OUTSIDE = Code(
    "DML3010",
    "file outside of the output directory",
    "A writeFile command of a model names a file outside of the directory that outputs go to; it is not written.",
)
RUNTIME_FAILURE = Code(
    "DML3011",
    "ONNX Runtime failed",
    "Report this with the model, unless memory is the reason: ONNX Runtime refused the model or failed to run it, "
    "which is a defect of dml2onnx. With a provider other than the CPU it may be a limit of the provider, or an "
    "option that it does not know.",
)
OUTPUT_IS_SOURCE = Code(
    "DML3012",
    "the output would replace the input",
    "Choose another file. This one is the model itself, a file that it names, or another that the command reads. It "
    "was not changed.",
)
PROGRAM_UNREADABLE = Code(
    "DML3013",
    "program unreadable",
    "Check the path. The file for `dml2onnx pydirectml` is not there, or is not Python.",
)
NOTHING_COMPUTED = Code(
    "DML3014",
    "no model to save",
    "`dml2onnx pydirectml --save` keeps the models that a program computes with Device.compute, and this program "
    "computed none.",
)
TOO_LARGE_FOR_REFERENCE = Code(
    "DML3015",
    "too large for the reference implementation",
    "Verify the model at smaller sizes. `dml2onnx verify` computes every node again in numpy, with its error bounds, "
    "which takes a hundred times the time and memory of ONNX Runtime. Graphs beyond its limits are refused at once.",
)
NO_MEMORY = Code(
    "DML3016",
    "not enough memory",
    "The buffers that the model describes do not fit into the memory of this machine.",
)
NO_ARGUMENT = Code(
    "DML3017",
    "an argument that is not what a function takes",
    "Give the argument that the message describes. A function of the Python package got a value of another kind, such "
    "as a number for a path or text for a list of names.",
)
OTHER_UNREADABLE = Code(
    "DML3018",
    "the model to compare with is unreadable",
    "The file given to `dml2onnx verify --against` is not there, or ONNX Runtime cannot load it.",
)
OTHER_DOES_NOT_FIT = Code(
    "DML3019",
    "the model to compare with has other inputs or outputs",
    "`dml2onnx verify --against` runs an ONNX model with the inputs of the graph. Its inputs and outputs must match "
    "those of the graph by name or, if no name matches, in number and order. Their data types must be the same, and "
    "their shapes those of the buffers in memory order or the tensors' Sizes, apart from dimensions of 1.",
)
TOO_MUCH_MEMORY = Code(
    "DML3020",
    "more memory than is allowed",
    "Allow more with `--max-bytes`, or use smaller sizes. The tensors that a run holds at once, weights and inputs "
    "included, exceed the limit, which is by default the memory of this machine. Nothing was allocated.",
)
PROVIDER_UNUSABLE = Code(
    "DML3021",
    "the execution provider cannot work here",
    "Run `dml2onnx doctor`. The provider is installed, but it finds no device here, or not the one with this number, "
    "or it cannot load libraries such as CUDA and cuDNN. ONNX Runtime itself would silently use the CPU.",
)
PROVIDER_OPTION = Code(
    "DML3022",
    "invalid provider option",
    "An option of an execution provider is KEY=VALUE and, with several providers, NAME:KEY=VALUE with the name of one "
    "of them. Providers without numbered devices take no device, and `auto` takes no other provider.",
)
FELL_BACK = Code(
    "DML3023",
    "the node ran on another provider",
    "The provider has no kernel for this node, its types or its form, or ONNX Runtime considers it too cheap to move. "
    "`--no-fallback` reports each node that ran elsewhere, usually on the CPU. The results are complete.",
)
PROVIDER_PASSED_OVER = Code(
    "DML3024",
    "the selected provider cannot start",
    "Name the provider instead of `auto` to get its error. ONNX Runtime's device policy chose a provider that is "
    "installed and has a device, but cannot start on it, usually because a driver or a library is missing. The CPU "
    "has run the model.",
    Severity.WARNING,
)
NOT_IN_DIRECTML = Code(
    "DML3025",
    "DirectML does not run it here",
    "`verify --against directml` runs the graph in DirectML itself. If it is not installed, run "
    "`python scripts/directml.py` of the source distribution on Windows or Linux. It installs DirectML in the "
    "directory that the environment variable `DML2ONNX_DIRECTML` names, by default `dml2onnx/directml` in the user's "
    "cache. Otherwise DirectML refused an operator or could not compile it on this device: the message has the call "
    "and its HRESULT. If `check` has no finding on the same graph, please report that with the model.",
)
MODEL_TIMEOUT = Code(
    "DML3031",
    "the model took too long",
    "Try again with `--retry-failed` and a longer `--model-timeout`. The worker had not finished this model in time, "
    "and was ended.",
)
WORKER_DIED = Code(
    "DML3032",
    "the model ended its workers",
    "Set `--max-bytes`, which refuses models that need too much memory. Two workers ended while they processed this "
    "model, the second with no other work in progress: memory ran out, or a library crashed. Other models are not "
    "affected. If memory is not the reason, report it with the model.",
)
SAME_OUTPUT = Code(
    "DML3033",
    "two models for one file",
    "Give one of the models an output directory of its own. The results of both would have the same file name (upper "
    "and lower case count as the same). The first model is done.",
)
BAD_LIST = Code(
    "DML3034",
    "list of models unreadable",
    "Give `dml2onnx batch` a directory, a model whose name ends in .json or .bin, or a text file with one of these in "
    "each line. This file is not there, or is not text.",
)
BAD_JOURNAL = Code(
    "DML3035",
    "no journal of a batch",
    "The file is not a journal of a batch but, for example, a pipe, or it is the journal of another version. It was "
    "not changed; choose another with `--journal` or another output directory.",
)
WORKER_NOT_STARTED = Code(
    "DML3036",
    "a worker that cannot start",
    "A process for models ended before it was ready, and its error output is above; or a Dask cluster does not exist, "
    "has stopped, or has another version of dml2onnx.",
)
JOURNAL_IN_USE = Code(
    "DML3037",
    "journal of a batch that is still running",
    "Wait until the other batch has ended. One journal serves one batch at a time; nothing was done here. The next "
    "batch continues where the other ended. In Python a batch ends when all its records have been taken, or its "
    "iterator is closed.",
)
NOT_OF_INTEREST = Code(
    "DML3038",
    "a command that does not fail for the model",
    "`dml2onnx reduce` needs a command that fails for the whole graph, written as native JSON, within `--timeout`: "
    "`--while COMMAND` has to end with an exit code other than 0, and `--interesting COMMAND` with 0, as in C-Reduce. "
    "Run the command on its own; `{}` in it stands for the path of the graph.",
)
ANSWERS_DIFFER = Code(
    "DML3039",
    "results that differ, so that timings cannot be compared",
    "Find the difference with `dml2onnx verify`, with the same provider and `-O`, or with `--against`. Before it "
    "measures, `dml2onnx perf` compares the results of each way of running a model with those of the first. Here they "
    "differ by more than rounding: a thousandth of the largest number for FLOAT32, 3 % for FLOAT16 and for providers "
    "that may compute in it, nothing for integers of more than 8 bits.",
)
