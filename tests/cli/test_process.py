"""Every command as a process: closed streams, broken pipes, interruptions, and outputs of every kind."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import onnx
import pytest

from tests import forked
from tests.cli.test_cli import NATIVE, PROGRAM, SCRIPT

pytestmark = pytest.mark.skipif(os.name == "nt", reason="shells and signals of POSIX systems")

COMMANDS = {
    "help": "--help",
    "usage": "nonsense",
    "compile": "compile native.json -o out.onnx",
    "check": "check native.json",
    "check broken": "check broken.json",
    "run": "run program.json --output-dir results",
    "verify": "verify native.json",
    "explain": "explain native.json",
    "explain code": "explain DML1601",
    "convert": "convert native.json -o out.bin",
    "pydirectml": "pydirectml program.py",
    "ops": "ops --json",
}


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """A directory with inputs for every command."""
    (tmp_path / "native.json").write_text(json.dumps(NATIVE))
    (tmp_path / "program.json").write_text(json.dumps(PROGRAM))
    (tmp_path / "broken.json").write_text(json.dumps({**NATIVE, "outputs": ["nothing"]}))
    (tmp_path / "program.py").write_text("import pydirectml as dml\nprint(dml.Device())\n")
    return tmp_path


def shell(directory: Path, line: str, program: Path = SCRIPT) -> subprocess.CompletedProcess[str]:
    command = ["bash", "-c", line.replace("dml2onnx", f'"{program}"')]
    return subprocess.run(command, capture_output=True, text=True, cwd=directory, timeout=60, check=False)


@pytest.mark.parametrize("command", COMMANDS)
def test_closed_streams_and_broken_pipes(models: Path, command: str) -> None:
    """Closed streams are ignored; a broken pipe ends the command as its signal would."""
    line = f"dml2onnx {COMMANDS[command]}"
    usual = {"check broken": 1, "usage": 2}.get(command, 0)
    result = shell(models, f"{line} >&- 2>err1; echo $?; {line} 2>err2 | true; echo ${{PIPESTATUS[0]}}")
    closed, broken = (int(code) for code in result.stdout.split())
    assert closed == usual
    assert broken in (usual, 141), "a pipe may take all before its reader ends"
    errors = (models / "err1").read_text() + (models / "err2").read_text() + result.stderr
    assert "Traceback" not in errors
    assert "Exception ignored" not in errors


@pytest.mark.parametrize("command", ["check broken", "usage"])
def test_closed_standard_error(models: Path, command: str) -> None:
    line = f"dml2onnx {COMMANDS[command]}"
    usual = 1 if command == "check broken" else 2
    result = shell(models, f"{line} <&- >&- 2>&-; echo $?; {line} 2>&- >out; echo $?; {line} 2>&1 >>out | true")
    assert [int(code) for code in result.stdout.split()] == [usual, usual]
    assert "Traceback" not in (models / "out").read_text() + result.stderr


def test_a_full_disk_is_no_traceback(models: Path) -> None:
    result = shell(models, "dml2onnx ops >/dev/full")
    assert (result.returncode, result.stderr) == (1, "error: cannot write the output: No space left on device\n")


# --- Interruptions ----------------------------------------------------------------------------------------------------

AT_IMPORT = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # our parent may ignore it
sys.argv = ["dml2onnx", *{arguments!r}]
count = 0
class Finder:
    def find_spec(self, name, path=None, target=None):
        global count
        count += 1
        if count == {number}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
from dml2onnx.cli import main
code = main()
print("imports", count, file=sys.stderr)
sys.exit(code)
"""


@pytest.mark.parametrize("number", [5, 20, 100, 300])
def test_interruptions_while_modules_are_imported(models: Path, number: int) -> None:
    """The handler is installed after ``dml2onnx``, ``lazy`` and ``cli``, which import nothing slow."""
    script = AT_IMPORT.format(arguments=["run", "program.json"], number=number)
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=models, timeout=60, check=False
    )
    assert "Traceback" not in result.stderr
    assert "Exception ignored" not in result.stderr
    assert int(result.stderr.split()[-1]) >= number, "the command has fewer imports"
    assert result.returncode == 130, result.stderr


BEGIN = """
import signal, sys
signal.signal(signal.SIGINT, signal.{disposition})
sys.argv[0] = "dml2onnx"
from dml2onnx.cli import main
print(flush=True)
sys.exit(main())
"""


def interrupted(models: Path, arguments: list[str], delay: float, disposition: str) -> tuple[int | None, str]:
    """Interrupts a command; returns its exit code, or ``None`` if it continues for a second, and its errors."""
    line = [sys.executable, "-c", BEGIN.format(disposition=disposition), *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(line, stdout=pipe, stderr=pipe, text=True, cwd=models) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(delay)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60 if disposition == "default_int_handler" else 1)
        except subprocess.TimeoutExpired:
            return None, ""
        finally:
            process.kill()
        return process.returncode, errors


ENDLESS = (["verify", "native.json", "--rounds", "100000"], ["pydirectml", "endless.py"])


@pytest.mark.parametrize("delay", [0.05, 0.3])
@pytest.mark.parametrize("arguments", ENDLESS, ids=lambda line: line[0])
def test_interruptions_at_any_time(models: Path, arguments: list[str], delay: float) -> None:
    """From the moment that our code runs, which the pipe signals."""
    (models / "endless.py").write_text("while True: pass\n")
    code, errors = interrupted(models, arguments, delay, "default_int_handler")
    assert code == 130, errors
    assert "Traceback" not in errors or "endless.py" in errors
    assert "Exception ignored" not in errors


def test_ignored_interruptions(models: Path) -> None:
    assert interrupted(models, ENDLESS[0], 0.5, "SIG_IGN") == (None, "")


# --- Outputs ----------------------------------------------------------------------------------------------------------


def in_shell(directory: Path, line: str) -> subprocess.CompletedProcess[str]:
    """Like ``shell``, but faster, for tests that do not depend on how the process starts."""
    return shell(directory, line, forked.programs() / "dml2onnx")


def test_models_on_standard_output(models: Path) -> None:
    in_shell(models, "dml2onnx compile native.json -o usual.onnx; dml2onnx convert native.json -o usual.json")
    for form, command, usual in (
        ("-", "compile native.json -o", "usual.onnx"),
        ("/dev/stdout", "compile native.json -o", "usual.onnx"),
        ("-", "convert native.json --format native -o", "usual.json"),
    ):
        result = in_shell(models, f"dml2onnx {command} {form} | cat >piped; dml2onnx {command} {form} >redirected")
        assert "wrote" in result.stderr
        for name in ("piped", "redirected"):
            assert (models / name).read_bytes() == (models / usual).read_bytes()
    assert "DML3009" in in_shell(models, "dml2onnx compile native.json -o - --external-data").stderr
    assert "DML3009" in in_shell(models, "dml2onnx compile native.json -o - >&-").stderr
    assert "DML3009" in in_shell(models, "dml2onnx compile native.json -o - >/dev/full").stderr
    assert not (models / "-").exists()


def test_special_files_stay(models: Path) -> None:
    result = in_shell(models, "mkfifo pipe; cat pipe >got & dml2onnx compile native.json -o pipe && wait")
    assert (result.returncode, result.stderr) == (0, "")
    onnx.load(models / "got")
    assert stat.S_ISFIFO((models / "pipe").stat().st_mode)
    for command in ("compile native.json -o /dev/null", "convert native.json --format dml_graph -o /dev/null"):
        assert in_shell(models, f"dml2onnx {command}").returncode == 0
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


# --- Files that programs write ----------------------------------------------------------------------------------------


def program_that_writes(models: Path, *paths: str, resource: str = "y") -> None:
    writes = [{"type": "writeFile", "resource": resource, "targetPath": path} for path in paths]
    commands = [*PROGRAM["commands"][:3], *writes]
    (models / "program.json").write_text(json.dumps({**PROGRAM, "commands": commands}))


@pytest.mark.parametrize("path", ["program.json", "sub/../program.json", "x.npy", "data.bin", "link", "hard"])
def test_a_program_does_not_overwrite_its_inputs(models: Path, path: str) -> None:
    np.save(models / "x.npy", np.array([1, 2, 3], np.float32))
    (models / "data.bin").write_bytes(np.array([4, 5, 6], np.float32).tobytes())
    resources = {
        **PROGRAM["resources"],
        "z": {"initialValuesDataType": "FLOAT32", "initialValues": {"sourcePath": "data.bin"}},
    }
    program_that_writes(models, path)
    document = json.loads((models / "program.json").read_text())
    (models / "program.json").write_text(json.dumps({**document, "resources": resources}))
    (models / "sub").mkdir()
    (models / "link").symlink_to("program.json")
    os.link(models / "x.npy", models / "hard")
    before = {item.name: item.read_bytes() for item in models.iterdir() if item.is_file()}
    result = in_shell(models, "dml2onnx run program.json --input x=x.npy --output-dir .")
    assert result.returncode == 1
    assert "DML3012" in result.stderr
    assert {name: (models / name).read_bytes() for name in before} == before


@pytest.mark.parametrize("path", ["a\0b.npy", "x" * 300, "..\\out.npy", "\ud800"])
def test_invalid_paths(models: Path, path: str) -> None:
    program_that_writes(models, path)
    result = in_shell(models, "dml2onnx run program.json --output-dir results")
    assert result.returncode in (1, 2)
    assert "Traceback" not in result.stderr
    assert "error" in result.stderr


def test_a_result_does_not_replace_a_file_of_its_name(models: Path) -> None:
    program_that_writes(models, "y.npy", resource="x")
    assert in_shell(models, "dml2onnx run program.json --output-dir results").returncode == 0
    np.testing.assert_array_equal(np.load(models / "results" / "y.npy"), [1, -2, 3])
    np.testing.assert_array_equal(np.load(models / "results" / "y_2.npy"), [1, 0, 3])
