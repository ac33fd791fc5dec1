"""``dml2onnx pydirectml``: start, end and saved models of programs."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import numpy as np
import onnx
import onnxruntime
import pytest

import dml2onnx
from dml2onnx.cli import main
from tests import forked

BEGIN = """
import numpy as np
import pydirectml as dml

device = dml.Device()
graph = dml.GraphBuilder(device)
x = dml.input_tensor(graph, 0, dml.TensorDesc(dml.FLOAT32, [4]))
w = dml.input_tensor(graph, 1, dml.TensorDesc(dml.FLOAT32, dml.TensorFlags.OWNED_BY_DML, [4]))
y = dml.activation_identity(w) * x
bindings = [dml.Binding(x, [1, 2, 3, 4]), dml.Binding(w, [5, 6, 7, 8])]
"""
COMPUTE = """
model = graph.build(dml.NONE, [y])
print(np.array(device.compute(model, bindings, [y])[0]).tolist())
"""
ANSWER = "[5.0, 12.0, 21.0, 32.0]"


def command(directory, *arguments, **environment):
    """Runs the command in a new process."""
    line = [sys.executable, "-m", "dml2onnx", "pydirectml", *arguments]
    environment = {**os.environ, **environment}
    return subprocess.run(line, capture_output=True, text=True, encoding="utf-8", cwd=directory, env=environment)


@pytest.fixture
def program(request, tmp_path):
    """Writes and runs a program; ``TestStarting`` needs new processes, other tests can fork one."""

    def start(text, *options, arguments=(), name="program.py"):
        (tmp_path / name).write_text(textwrap.dedent(text), encoding="utf-8")
        line = [*options, name, *arguments]
        if forked.CAN and request.cls is not TestStarting:
            return forked.run(["pydirectml", *line], tmp_path)
        return command(tmp_path, *line, PYTHONUTF8="1")

    return start


def frames(done):
    """The files and lines of the traceback."""
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip().startswith("File ")]
    return [line.split(", in ")[0] for line in lines]


class TestStarting:
    def test_the_environment_is_that_of_python(self, program, tmp_path):
        (tmp_path / "beside.py").write_text("import pydirectml\nNAME = pydirectml.__name__\n")
        done = program(
            """
            import os, sys
            import beside
            main = sys.modules["__main__"]
            print(__name__, __file__, sys.argv, os.path.samefile(sys.path[0], "."), main.beside is beside)
            print(beside.NAME, "dml2onnx" in globals())
            def f(x: "unknown") -> int: ...
            print(f.__annotations__["return"])
            """,
            arguments=["--save", "out.onnx", "-q", "last"],
        )
        assert done.stderr == ""
        assert done.stdout.splitlines() == [
            "__main__ program.py ['program.py', '--save', 'out.onnx', '-q', 'last'] True True",
            "dml2onnx.pydirectml False",
            "<class 'int'>",
        ]

    def test_all_ways_to_import(self, program):
        done = program("from pydirectml import *\nfrom pydirectml import Device as D\nprint(FLOAT32, D(), slice)")
        assert done.stdout.startswith("TensorDataType.FLOAT32 dml.Device on GPU <function slice")

    def test_other_encodings(self, program, tmp_path):
        (tmp_path / "latin.py").write_bytes("# coding: latin-1\nprint(len('ä'))\n".encode("latin-1"))
        assert command(tmp_path, "latin.py").stdout == "1\n"

    def test_a_result(self, program):
        done = program(BEGIN + COMPUTE)
        assert (done.stdout.strip(), done.stderr, done.returncode) == (ANSWER, "", 0)

    @pytest.mark.parametrize("name", ["missing.py", "."])
    def test_unreadable_programs(self, name, tmp_path):
        done = command(tmp_path, name)
        assert done.returncode == 2
        assert f'DML3013 error: the program "{name}" cannot be read' in done.stderr

    def test_null_bytes(self, program, tmp_path):
        (tmp_path / "zeros.py").write_bytes(b"x = 1\0")
        done = command(tmp_path, "zeros.py")
        assert done.returncode in (1, 2)  # a SyntaxError since Python 3.12
        assert "null bytes" in done.stderr

    def test_without_a_program(self, tmp_path):
        done = command(tmp_path)
        assert done.returncode == 2
        assert "PROGRAM.py" in done.stderr

    @pytest.mark.skipif("DmlExecutionProvider" in onnxruntime.get_available_providers(), reason="the provider exists")
    def test_a_missing_provider(self, program):
        done = program("print(1)", "--provider", "dml")
        assert (done.returncode, done.stdout) == (1, "")
        assert "DML3002" in done.stderr


class TestEnding:
    @pytest.mark.parametrize(
        ("statement", "code", "output"),
        [
            ("sys.exit()", 0, ""),
            ("sys.exit(0)", 0, ""),
            ("sys.exit(7)", 7, ""),
            ("sys.exit('no luck')", 1, "no luck\n"),
            ("raise SystemExit(True)", 1, ""),
        ],
    )
    def test_exit_codes(self, program, statement, code, output):
        done = program(f"import sys\n{statement}")
        assert (done.returncode, done.stderr) == (code, output)

    def test_exceptions_of_the_program(self, program):
        done = program("def f():\n    return 1 / 0\n\nf()")
        assert done.returncode == 1
        assert frames(done) == ['File "program.py", line 4', 'File "program.py", line 2']
        assert done.stderr.splitlines()[-1] == "ZeroDivisionError: division by zero"
        assert done.stderr.startswith("Traceback (most recent call last):\n")

    @pytest.mark.parametrize(
        ("statement", "error"),
        [
            ("dml.activation_gelu(x)", "AttributeError: module 'pydirectml' has no attribute 'activation_gelu'"),
            (
                "dml.TensorDesc(dml.FLOAT32, [1.5])",
                "TypeError: TensorDesc(): incompatible function arguments: sizes[0]",
            ),
            ("dml.gemm(x, x)", "ValueError: a has sizes [4]; 4 of them are needed"),
            ("x + 'a'", "TypeError: unsupported operand type(s) for +: 'Expression' and 'str'"),
            ("x + dml.Expression()", "RuntimeError: a null expression is used"),
            (
                "dml.reinterpret(x, dml.FLOAT32, [5], None)",
                "dml2onnx.diagnostics.DmlError: DML1806 error: program.py:11",
            ),
            (
                "device.compute(graph.build(dml.NONE, [y]), [dml.Binding(x, [1, 2]), bindings[1]], [y])",
                "ValueError: compute(): input 0 takes 16 bytes (dml.TensorDesc of type 1 and shape [4] with flags 0),"
                " but its array of 2 float32 numbers has 8 bytes",
            ),
        ],
    )
    def test_errors_end_in_the_line_of_the_program(self, program, statement, error):
        done = program(BEGIN + statement)
        assert done.returncode == 1
        assert frames(done) == ['File "program.py", line 11']
        assert any(line.startswith(error) for line in done.stderr.splitlines())
        assert "site-packages" not in done.stderr.replace(sys.prefix, "")
        assert "_record" not in done.stderr

    def test_causes_are_trimmed_too(self, program):
        done = program(
            BEGIN + "try:\n    dml.reinterpret(x, dml.FLOAT32, [5], None)\nexcept Exception as error:\n"
            "    raise KeyError('wrapped') from error"
        )
        assert frames(done) == ['File "program.py", line 12', 'File "program.py", line 14']
        assert "direct cause" in done.stderr
        assert done.stderr.splitlines()[-1] == "KeyError: 'wrapped'"

    def test_groups_are_trimmed_too(self, program):
        done = program(
            BEGIN + "def f():\n    try:\n        dml.add(x, 1)\n    except TypeError as error:\n"
            "        raise ExceptionGroup('several', [error])\nf()"
        )
        assert "TypeError: add(): incompatible" in done.stderr
        assert "arguments.py" not in done.stderr
        assert "cli" not in done.stderr

    def test_frames_of_libraries_stay(self, program):
        first, *_, last = frames(program("import json\njson.loads('{')"))
        assert first == 'File "program.py", line 2'
        assert "json" in last

    def test_syntax_errors(self, program):
        done = program("x = 1\ny = (")
        assert done.returncode == 1
        assert frames(done) == ['File "program.py", line 2']
        assert "SyntaxError: '(' was never closed" in done.stderr
        assert "Traceback" not in done.stderr

    def test_an_interruption(self, program):
        done = program("raise KeyboardInterrupt")
        assert done.returncode == 130
        assert done.stderr.splitlines()[-1] == "KeyboardInterrupt"


class TestSaving:
    @pytest.mark.parametrize("options", [["--freeze"], ["--input", "input0"]])
    def test_options_of_saving_need_a_file(self, program, options):
        done = program(BEGIN + COMPUTE, *options)
        assert (done.returncode, done.stdout) == (2, "")
        assert "need --save, because they change the saved model" in done.stderr

    def test_weights_become_initializers(self, program, tmp_path):
        done = program(BEGIN + COMPUTE, "--save", "out.onnx")
        assert done.stdout.strip() == ANSWER
        assert done.stderr.splitlines()[1:] == [
            "    inputs: input0 float32 [4]",
            "    outputs: output0 float32 [4]",
            "    constants, as the program bound them (OWNED_BY_DML): input1",
        ]
        model = onnx.load(tmp_path / "out.onnx")
        onnx.checker.check_model(model, full_check=True)
        assert model.graph.name == "program"
        [weight] = [onnx.numpy_helper.to_array(item) for item in model.graph.initializer]
        assert weight.tolist() == [5, 6, 7, 8]
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        assert str(session.run(None, {"input0": np.arange(1, 5, dtype=np.float32)})[0].tolist()) == ANSWER

    def test_every_computed_model_is_saved(self, program, tmp_path):
        text = BEGIN + COMPUTE + COMPUTE.replace("[y]", "[y, x + 1]") + "device.compute(model, bindings, [y, y])\n"
        text += "graph.build(dml.NONE, [y * 3])\n"  # never computed
        text = text.replace("compute(model, bindings, [y, x + 1])", "compute(model, bindings, [y, y])")
        done = program(text, "--save", "out.onnx", "--quiet")
        assert (done.returncode, done.stderr) == (0, "")
        assert sorted(path.name for path in tmp_path.glob("*.onnx")) == ["out-2.onnx", "out.onnx"]
        outputs = [len(onnx.load(tmp_path / name).graph.output) for name in ("out.onnx", "out-2.onnx")]
        assert outputs == [1, 2]

    def test_a_graph_in_the_native_format(self, program, tmp_path, capsys):
        done = program(BEGIN + COMPUTE, "--save", "out.json")
        assert (done.returncode, done.stdout.strip()) == (0, ANSWER)
        assert "out.json" in done.stderr.splitlines()[0]
        assert "2 DirectML nodes" in done.stderr.splitlines()[0]
        path = str(tmp_path / "out.json")
        graph = dml2onnx.load(path)
        assert (graph.name, [item.name for item in graph.inputs]) == ("program", ["input0"])
        assert graph.constants[0].data.read().view(np.float32).tolist() == [5, 6, 7, 8]
        assert str(dml2onnx.run(path, {"input0": np.arange(1, 5, dtype=np.float32)})["output0"].tolist()) == ANSWER
        for command in ("check", "verify", "explain", "report"):
            assert main([command, path]) == 0, capsys.readouterr()

    def test_large_weights_of_graphs_go_to_files(self, program, tmp_path):
        text = BEGIN.replace("[4]", "[4096]").replace("[1, 2, 3, 4]", "[1] * 4096")
        text = text.replace("[5, 6, 7, 8]", "[*range(4096)]")
        done = program(text + COMPUTE + COMPUTE, "--save", "out.json", "--feature-level", "5_0")
        assert done.returncode == 0, done.stderr
        files = {path.name for path in tmp_path.glob("out*")}
        assert files == {"out.json", "out.json.data", "out-2.json", "out-2.json.data"}
        assert (tmp_path / "out.json.data").stat().st_size >= 4 * 4096
        graph = dml2onnx.load(tmp_path / "out-2.json")
        assert graph.feature_level == "5_0"
        assert dml2onnx.run(graph, {"input0": np.ones(4096, np.float32)})["output0"].tolist() == [*range(4096)]

    def test_a_frozen_graph(self, program, tmp_path):
        assert program(BEGIN + COMPUTE, "--save", "out.json", "--freeze").returncode == 0
        assert dml2onnx.run(tmp_path / "out.json")["output0"].tolist() == [5, 12, 21, 32]

    def test_inputs_that_are_not_frozen(self, program, tmp_path):
        done = program(BEGIN + COMPUTE, "--save", "out.onnx", "--freeze", "--input", "input1")
        assert "constants, as the program bound them (--freeze): input0" in done.stderr
        assert [item.name for item in onnx.load(tmp_path / "out.onnx").graph.input] == ["input1"]

    def test_an_unknown_input(self, program, tmp_path):
        done = program(BEGIN + COMPUTE, "--save", "out.onnx", "--freeze", "--input", "image")
        assert done.returncode == 1
        assert 'DML3003 error: no model has an input "image"; there are: input0, input1' in done.stderr
        assert not (tmp_path / "out.onnx").exists()

    def test_freezing_nothing(self, program):
        inputs = ["--input", "input0", "--input", "input1"]
        done = program(BEGIN + COMPUTE, "--save", "out.onnx", "--freeze", *inputs)
        assert done.returncode == 0
        assert "DML1017 warning" in done.stderr
        assert "DML1017" not in program(BEGIN + COMPUTE, "--save", "out.onnx", "--freeze").stderr

    def test_a_device_as_file(self, program, tmp_path):
        done = program(BEGIN + COMPUTE, "--save", "/dev/null")
        assert done.returncode == 0, done.stderr
        assert not os.path.isfile("/dev/null")

    def test_nothing_to_save(self, program, tmp_path):
        done = program(BEGIN, "--save", "out.onnx")
        assert done.returncode == 1
        assert "DML3014 error: the program computed nothing" in done.stderr
        assert not (tmp_path / "out.onnx").exists()

    def test_a_failing_program_keeps_its_exit_code(self, program):
        done = program("raise SystemExit(5)", "--save", "out.onnx")
        assert (done.returncode, done.stderr) == (5, "")

    def test_the_program_is_not_overwritten(self, program, tmp_path):
        done = program("print(1)", "--save", "program.py")
        assert (done.returncode, done.stdout) == (1, "")
        assert "DML3012" in done.stderr
        assert (tmp_path / "program.py").read_text() == "print(1)"

    def test_an_unknown_suffix(self, program, tmp_path):
        done = program("print(1)", "--save", "x.txt")
        assert (done.returncode, done.stdout) == (2, "")
        assert 'DML3009 error: the suffix of "x.txt" decides what to write, and is not .onnx or .json' in done.stderr
        assert not (tmp_path / "x.txt").exists()

    def test_a_missing_directory(self, program):
        done = program("print(1)", "--save", "nowhere/out.onnx")
        assert (done.returncode, done.stdout) == (1, "")
        assert 'DML3009 error: the directory "nowhere" does not exist' in done.stderr

    def test_the_feature_level_is_checked_in_the_call(self, program):
        done = program(BEGIN + "-x", "--feature-level", "4_1")
        assert done.returncode == 1
        assert frames(done) == ['File "program.py", line 11']
        assert 'node "element_wise_negate" (ELEMENT_WISE_NEGATE), program.py:11' in done.stderr
