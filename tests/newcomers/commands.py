"""Command lines."""

from __future__ import annotations

from tests.frontends.models import f32
from tests.newcomers.build import command, one, text_of

BLUR = one("CONVOLUTION", [1, 1, 4, 4], f32(1, 1, 3, 3, file="kernel.bin"), None, [1, 1, 4, 4], Padding=[1, 1])

CHECK = (
    command(
        "JSON file of another tool",
        "check package.json",
        ['"dml2onnx": 1|no graph', "formats|Nodes|native"],
        files=(("package.json", '{"name": "app", "version": "1.0.0", "dependencies": {"left-pad": "1"}}'),),
    ),
    command(
        "OpenVINO model",
        "check net.xml",
        ["XML", "OpenVINO"],
        files=(("net.xml", '<?xml version="1.0"?>\n<net name="net" version="11">\n  <layers/>\n</net>\n'),),
    ),
    command("Windows without its release", "check net.json --windows 11", [r"11-2\dH2", "--windows"]),
    command("feature level that does not exist", "check net.json --feature-level 7_0", ["7_0", "6_4"]),
    command(
        "feature level: a version of DirectML",
        "check net.json --feature-level 1.8",
        [r"1\.8", r"--directml 1\.8|--directml"],
    ),
    command("file misspelt", "check nett.json", [r"nett\.json", r"did you mean.*net\.json"]),
    command("ignore: unknown code", "check net.json --ignore DML99", ["DML99", "no (finding|code)|explain|such"]),
    command("option with an underscore", "check net.json --feature_level 5_0", ["--feature_level", "--feature-level"]),
    command(
        "pattern not expanded, as on Windows",
        "check 'models/*.json'",
        [r"models/\*\.json", r"wildcard|pattern|glob|expand|shell|quot|directory|check models\b"],
        files=(("models/a.json", "{}"),),
    ),
    command(
        "program instead of a model",
        "check program.py",
        ["is a Python program", "pydirectml"],
        program="import dml2onnx\n",
    ),
    command("select: unknown code", "check net.json --select 9999", ['no code begins with "9999"']),
    command("size with a dimension missing", "check net.json --size image=1,3,32", ["4 sizes, such as 1,3,32,32"]),
    command("space in the file name", "check 'net.json '", [r"net\.json", r'did you mean.*"net\.json"']),
)

COMPILE = (
    command(
        "Git LFS pointer",
        "compile big.json",
        ["Git LFS", "git lfs pull"],
        files=(
            (
                "big.json",
                "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22e\nsize 12345\n",
            ),
        ),
    ),
    command("compile: JSON output", "compile net.json -o net2.json", ["dml2onnx convert writes"]),
    command(
        "compile: ONNX input",
        "compile net.onnx --half -o half.onnx",
        ["an ONNX model already", r'the DirectML graph that it was made of, such as "net\.json"'],
        before="compile net.json -o net.onnx",
    ),
    command(
        "compile: output-dir",
        "compile net.json --output-dir out",
        ["--output-dir", "(^|[\\s\\\"'`(])(-o|--output)\\b(?!-)"],
    ),
    command("compile: suffix of another format", "compile net.json -o net.tflite", [r"\.tflite", r"OUT\.onnx"]),
    command("constant as a number", "compile net.json --constant image=0.5", ["image", r"0\.5", r"\.npy|file"]),
    command("constant misspelt", "compile net.json --constant imgae=image.npy", [r"\bimgae\b", r"\bimage\b(?!\.npy)"]),
    command(
        "constant that has contents",
        "compile net.json --constant filter=image.npy",
        ['"?filter"?', "constant already|already a constant|is a constant"],
    ),
    command(
        "directory of models",
        "compile models",
        [r'"models" is a directory without recording\.json', r'such as "models/a\.json"'],
        files=(("models/a.json", "{}"),),
    ),
    command("half precision: fp16, as in trtexec", "compile net.json --fp16", ["--fp16", "--half"]),
    command("opset too old", "compile net.json --opset 9", [r"\b9\b", "17", "28"]),
    command("optimization level as a word", "compile net.json -O all", ["-O", r"\ball\b", r"\b0\b.*\b1\b.*\b2\b"]),
    command(
        "partition: weights file too short",
        "compile Partition_0.bin",
        [r'the file "\w+\.bin" has 4 bytes, and \w+ reads', "or more"],
        files=(("filter.bin", "abcd"),),
        before="convert net.json -o Partition_0.bin",
    ),
    command("provider as the target", "compile net.json --target cuda", ["--provider cuda", "not a target"]),
    command("range from its end", "compile net.json --size image=N,3,32,32 --range N=8..1", [r"N=1\.\.8"]),
    command(
        "range with a dash",
        "compile net.json --size image=N,3,32,32 --range N=1-8",
        ["1-8", r"N=1\.\.\d+|FIRST\.\.LAST"],
    ),
    command(
        "range without a size", "compile net.json --range N=1..8", ["--size image=N,", "is not the name of a size"]
    ),
    command(
        "recording that is empty",
        "compile recording",
        [r'"recording" is a directory without recording\.json', r"dml2onnx_recorder\.h"],
        files=(("recording/log.txt", "nothing"),),
    ),
    command("size of an unknown input", "compile net.json --size input=2,3,32,32", [r"\binput\b", r"\bimage\b"]),
    command("size of two dimensions", "compile net.json --size image=64,64", ["4 sizes, such as 1,3,64,64"]),
    command(
        "size too large for the last layer", "compile net.json --size image=1,3,64,64", ['"?classify"?', "2048", "8192"]
    ),
    command(
        "size with a dimension too many", "compile net.json --size image=1,3,33,33,1", ["image", r"\b5\b", r"\b4\b"]
    ),
    command(
        "size: batch as an input name",
        "compile net.json --size batch=8",
        ['no input "batch"', "help: --size image=8,3,32,32"],
    ),
    command("sizes with x", "compile net.json --size image=1x3x64x64", ["image=1,3,64,64"]),
    command("target directml", "compile net.json --target directml", ["directml", r"\bdml\b"]),
    command("target tensorrt", "compile net.json --target tensorrt", [r"tensorrt\b", "tensorrt-rtx"]),
    command("two models", "compile net.json other.json", ["takes one model", "batch"]),
    command("unknown target", "compile net.json --target gpu", ["gpu", "dml", "cpu"]),
    command(
        "weights file in FLOAT64",
        "compile blur.json",
        [r"kernel\.bin", r"\b72\b|\b18\b|(?i:float64)", r"\b36\b|\b9\b"],
        files=(("blur.json", text_of(BLUR)), ("kernel.bin", "0" * 72)),
    ),
    command(
        "weights file instead of its partition",
        "compile dense.bin",
        [r"dense\.bin", r"Partition_0\.bin"],
        before="convert net.json -o Partition_0.bin",
    ),
)

RUN = (
    command(
        "archive not found",
        "run net.json --input image=bytes.npz",
        [r"bytes\.npz", "[Nn]o such file|not there|does not exist|no file|not found|did you mean"],
    ),
    command(
        "archive without that array",
        "run net.json --input image=pictures.npz:image",
        [r"pictures\.npz", "image", "arr_0"],
        before="pydirectml program.py",
        program="import numpy as np\n\nnp.savez('pictures.npz', np.zeros((1, 3, 32, 32), np.float32))\n",
    ),
    command(
        "batch of eight",
        "run net.json --input image=batch.npy",
        [r"8\D+3\D+32\D+32", r"1\D+3\D+32\D+32", "--size"],
        before="pydirectml program.py",
        program="import numpy as np\n\nnp.save('batch.npy', np.zeros((8, 3, 32, 32), np.float32))\n",
    ),
    command("device cuda, as in PyTorch", "run net.json --device cuda", ["--provider"]),
    command(
        "file as the output directory",
        "run net.json --input image=image.npy --output-dir nhwc.npy",
        [r"nhwc\.npy", "director"],
    ),
    command(
        "input file misspelt",
        "run net.json --input image=imgae.npy",
        [r"imgae\.npy", "(?i)no such file|not exist|not found|cannot|missing|there is no|no file|did you mean"],
    ),
    command(
        "input file too short",
        "run net.json --input image=half.bin",
        ["image", r"6,?144\b|1,?536\b", r"12,?288\b|3,?072\b"],
        files=(("half.bin", "0000" * 1536),),
    ),
    command(
        "input in NHWC order",
        "run net.json --input image=nhwc.npy",
        ["NHWC", "1.+3.+32.+32", "1.+32.+32.+3", "transpose"],
    ),
    command("input misspelt", "run net.json --input imgae=image.npy", ["did you mean.*image", "imgae"]),
    command(
        "input name of another model", "run net.json --input picture=image.npy", [r"\bpicture\b", r"\bimage\b(?!\.npy)"]
    ),
    command(
        "input of one byte per value",
        "run net.json --input image=picture.raw",
        [r"3,?072\b", r"12,?288\b", "UINT8|uint8|bytes?|FLOAT32|float32"],
        files=(("picture.raw", "0" * 3072),),
    ),
    command(
        "numbers as text",
        "run net.json --input image=numbers.csv",
        [r'"numbers\.csv" is text', r"numpy\.save"],
        files=(("numbers.csv", "0.5," * 3072),),
    ),
    command("provider by its class name", "run net.json --provider CUDAExecutionProvider", ["did you mean cuda"]),
    command("run without inputs", "run net.json", ["image", "--input image="]),
    command("run: out-dir", "run net.json --input image=image.npy --out-dir results", ["--out-dir", "--output-dir"]),
    command(
        "space between an input and its file", "run net.json --input image image.npy", [r"NAME=FILE|image=image\.npy"]
    ),
    command(
        "two inputs in one option",
        "run net.json --input image=image.npy,mask=image.npy",
        ["--input", r"image\.npy,mask=image\.npy", "once for each|again|several|each"],
    ),
)

OTHER_COMMANDS = (
    command("command misspelt", "chekc net.json", ["did you mean.*check"]),
    command("convert: ONNX output", "convert net.json -o net.onnx", ["dml2onnx compile writes"]),
    command("convert: format onnx", "convert net.json --format onnx", ["compile writes ONNX"]),
    command("count in words", "verify net.json --cases many", ["--cases", "many", r"number|integer|int\b"]),
    command(
        "directory misspelt",
        "batch modles --do check -o out",
        [r'did you mean "models"\?'],
        files=(("models/a.json", "{}"),),
    ),
    command("failure code misspelt", "explain E_INVALID_ARG", ["did you mean E_INVALIDARG"]),
    command(
        "notebook instead of a program",
        "pydirectml net.ipynb",
        ["notebook", r"nbconvert|\.py"],
        files=(("net.ipynb", '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'),),
    ),
    command("operator by its Keras name", "explain Conv2D", ["did you mean.*CONVOLUTION"]),
    command("unknown command for reduce", "reduce net.json --while 'mytoool {}'", ["mytoool", "not found|no such|127"]),
    command(
        "verify: comparison with a JSON model",
        "verify net.json --against net.json",
        ["--against", r"net\.json", "ONNX", "JSON"],
    ),
    command("verify: tolerance", "verify net.json --tolerance 1e-3", ["--tolerance", "reference|bound"]),
    command(
        "verify: two models",
        "verify net.json net.onnx",
        [r"net\.onnx", "--against"],
        before="compile net.json -o net.onnx",
    ),
)
