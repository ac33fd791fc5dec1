"""DML3xxx: a model that cannot be run as asked."""

from dml2onnx.diagnostics import Code, Severity

UNKNOWN_PROVIDER = Code(
    "DML3001",
    "no such execution provider",
    "Models run on any execution provider of ONNX Runtime, by its short name: cpu, dml, cuda, tensorrt, "
    "nvtensorrtrtx, openvino, qnn, vitisai, migraphx, coreml, webgpu or xnnpack, on several in order, or on what ONNX "
    "Runtime's device policy chooses (auto).",
)
MISSING_PROVIDER = Code(
    "DML3002",
    "the execution provider is not installed",
    "The installed ONNX Runtime was built without the provider that was asked for, and no plugin package brings it. "
    "The message has the command that does. A distribution of ONNX Runtime, such as onnxruntime-directml on Windows, "
    "takes the place of the plain onnxruntime package, which must be removed first; a plugin package stands beside it.",
)
UNKNOWN_INPUT = Code("DML3003", "no such input", "A tensor was given for an input that the model does not have.")
MISSING_INPUT = Code(
    "DML3004",
    "input not given",
    "The model has an input without sample contents of its own, and nothing was given for it: --input NAME=FILE, or an "
    "array by its name in Python.",
)
INPUT_TYPE = Code(
    "DML3005",
    "input of another data type",
    "An input must have the data type of the tensor that reads it; arrays are never converted. Files are, where numpy "
    "has written FLOAT64 for lack of anything else: floats are rounded to the type of the input where they stay "
    "finite, and whole numbers become those of its type where it holds all of them.",
)
INPUT_SHAPE = Code(
    "DML3006",
    "input of another shape",
    "An input is the buffer's elements in memory order: in the shape that `dml2onnx compile` prints for it, or flat.",
)
INPUT_UNREADABLE = Code(
    "DML3007",
    "input file unreadable",
    "A file given for an input is not there, or is no readable .npy or .npz file. Any other file is the input's bytes, "
    "and has as many of them.",
)
TOO_LARGE = Code(
    "DML3008",
    "model too large for one message",
    "A protobuf message holds at most 2 GiB. Save the model with external data instead of asking for one message.",
)
OUTPUT_UNWRITABLE = Code(
    "DML3009",
    "output cannot be written",
    "The file or directory to be written to is not there or not writable, or it is a named pipe that nobody has come "
    "to read within ten seconds.",
)
OUTPUT_OUTSIDE = Code(
    "DML3010",
    "file outside of the output directory",
    "A writeFile command of a model names a file outside of the directory that outputs go to; it is not written.",
)
RUNTIME_FAILURE = Code(
    "DML3011",
    "ONNX Runtime failed",
    "ONNX Runtime refused the model or failed to run it. With another provider than the CPU that "
    "may be a limit of the provider, or an option that it does not know. Where memory is not the reason either, this "
    "is a defect of dml2onnx; please report it with the model.",
)
OUTPUT_IS_SOURCE = Code(
    "DML3012",
    "the output would replace the input",
    "The file to be written is the model itself, a file that it names, or another that the command reads. It is left "
    "as it is.",
)
PROGRAM_UNREADABLE = Code(
    "DML3013",
    "program unreadable",
    "The Python program that `dml2onnx pydirectml` is to run is not there or no Python.",
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
    "`dml2onnx verify` computes every node once more in numpy, element by element, with the errors that are allowed, "
    "which takes a hundred times the time and the memory of ONNX Runtime. Graphs beyond its limits are refused before "
    "anything is computed. Verify the model with smaller sizes.",
)
NO_MEMORY = Code(
    "DML3016",
    "not enough memory",
    "The buffers that the model describes do not fit into the memory of this machine.",
)
NO_ARGUMENT = Code(
    "DML3017",
    "an argument that is not what a function takes",
    "A function of the Python package was given a value of another kind than it takes, such as a number for a path or "
    "text for a list of names. The message says which argument it is and what is meant by it.",
)
OTHER_UNREADABLE = Code(
    "DML3018",
    "the model to compare with is unreadable",
    "The file given to `dml2onnx verify --against` is not there, or ONNX Runtime cannot load it.",
)
OTHER_DOES_NOT_FIT = Code(
    "DML3019",
    "the model to compare with has other inputs or outputs",
    "`dml2onnx verify --against` feeds an ONNX model with what the graph is fed with. Its inputs and outputs must be "
    "those of the graph, by name or, where no name agrees, in the same number and order; of the same data types; and "
    "of the shape of the buffer in memory order or of the tensor's Sizes, dimensions of 1 apart.",
)
TOO_MUCH_MEMORY = Code(
    "DML3020",
    "more memory than is allowed",
    "The tensors that a run has to hold at once, weights and inputs among them, are larger than `--max-bytes` says "
    "or, where it says nothing, than the memory of this machine. Nothing has been taken of it yet.",
)
PROVIDER_UNUSABLE = Code(
    "DML3021",
    "the execution provider cannot work here",
    "The provider is installed, but it finds no device on this machine, the device with that number is not there, or "
    "the libraries that it needs, such as CUDA and cuDNN, cannot be loaded. ONNX Runtime by itself would run the model "
    "on the CPU without a word.",
)
PROVIDER_OPTION = Code(
    "DML3022",
    "provider option that cannot be meant",
    "An option of an execution provider is KEY=VALUE and, where several providers are asked for, NAME:KEY=VALUE with "
    "the name of one of them. Providers without numbered devices take no device, and `auto` stands alone.",
)
FELL_BACK = Code(
    "DML3023",
    "the node ran on another provider",
    "`--no-fallback` wants every ONNX node on the providers that were asked for, and ONNX Runtime gave this one to "
    "another, mostly the CPU: the provider has no kernel for the operator, its types or its form, or ONNX Runtime "
    "found it too cheap to move. The results are those of the whole run all the same.",
)
PROVIDER_PASSED_OVER = Code(
    "DML3024",
    "what was chosen cannot start",
    "`--provider auto` leaves the choice to ONNX Runtime's device policy. What it chose is installed and has found a "
    "device, but cannot start on it, mostly for want of a driver or of libraries; the CPU has run the model. With the "
    "provider's own name in the place of `auto` that is an error.",
    Severity.WARNING,
)
NOT_IN_DIRECTML = Code(
    "DML3025",
    "DirectML does not run it here",
    "`verify --against directml` runs the graph in DirectML itself. Either that is not there: "
    "`python scripts/directml.py` of the source distribution makes what is needed, on Windows and on Linux, in the "
    "directory that the environment variable `DML2ONNX_DIRECTML` names, else in `dml2onnx/directml` of the user's "
    "cache. Or DirectML has refused an operator, or could not compile it on this device: the message has the call and "
    "its HRESULT. Where `check` has no finding on the same graph, please report that with the model.",
)
MODEL_TIMEOUT = Code(
    "DML3031",
    "the model took too long",
    "The worker of a batch had not finished this model when the time of `--model-timeout` was over, and was ended. "
    "`--retry-failed` with more time tries again.",
)
WORKER_DIED = Code(
    "DML3032",
    "the model ended its workers",
    "Two processes of a batch ended while they worked on this model, the second one with nothing beside it: the system "
    "had no memory left, or a library crashed. The other models are not touched by that. With `--max-bytes` a model "
    "that needs too much is refused before it runs; if memory is not the reason, please report it with the model.",
)
SAME_OUTPUT = Code(
    "DML3033",
    "two models for one file",
    "The results of two models of a batch would have the same name below the output directory, where names that "
    "differ in case only count as the same. The first one is done; give the other an output directory of its own.",
)
BAD_LIST = Code(
    "DML3034",
    "list of models unreadable",
    "What `dml2onnx batch` is given is a directory, a model whose name ends in .json or .bin, or else a text file with "
    "one of these in each line. The file that was named is not there, or is no text.",
)
BAD_JOURNAL = Code(
    "DML3035",
    "no journal of a batch",
    "The file in which a batch keeps what is done is something else, such as a pipe, or the journal of another "
    "version. It is left as it is; choose another with `--journal` or another output directory.",
)
WORKER_NOT_STARTED = Code(
    "DML3036",
    "no worker to be had",
    "A process that was to work on models ended before it was ready, and what it said of the reason stands above; or "
    "a Dask cluster is not there, has gone, or has another version of dml2onnx.",
)
JOURNAL_IN_USE = Code(
    "DML3037",
    "journal of a batch that is at work",
    "Of several batches with one journal only the first works: the others would do the same once more. Nothing has "
    "been done. When it has ended, however it does, the next one takes up what it has left. In Python a batch ends "
    "when all of its records have been taken, or their iterator is closed.",
)
NOT_OF_INTEREST = Code(
    "DML3038",
    "a command that does not fail for the model",
    "`dml2onnx reduce` looks for the smallest graph for which `--while COMMAND` ends with the exit code that it has "
    "for the whole one, other than 0, or for which `--interesting COMMAND` ends with 0, as the tests of C-Reduce do. "
    "For the whole graph, written as native JSON, it does not, or takes longer than `--timeout`. Run the command on "
    "its own; `{}` in it stands for the path of the graph.",
)
ANSWERS_DIFFER = Code(
    "DML3039",
    "answers that differ, so that speeds say nothing",
    "`dml2onnx perf` compares what it is to measure before it does: each with the first way in which the same model is "
    "run. Differences above what rounding explains (a thousandth of the largest number for FLOAT32, 3 % for FLOAT16 "
    "and for providers that may compute in it, nothing for integers of more than 8 bits) mean that one of them "
    "computes something else. `dml2onnx verify` with the same provider and `-O`, or `--against`, says which, and "
    "where.",
)
