"""Processes one model like the single command does, and makes a record of it."""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dml2onnx.arguments import feature_level, ir_version, quant_format
from dml2onnx.checks import check, level_of
from dml2onnx.codes import reading, running, unreadable
from dml2onnx.codes.reading import FILE_OUTSIDE
from dml2onnx.diagnostics import DmlError, InternalError, UnreadableError, quote
from dml2onnx.files import make_directory, names, put, spare
from dml2onnx.frontends import LoadOptions, load
from dml2onnx.frontends.options import DEFAULT_OPTIONS
from dml2onnx.passes import chosen
from dml2onnx.providers.choice import Providers
from dml2onnx.report.answers import Written, compiled, sizes_of
from dml2onnx.report.batched import Action, Record, Source, Status, Work
from dml2onnx.report.checked import checked, placed_in, unchecked
from dml2onnx.report.form import Answer, Failure, Head, Json, as_json
from dml2onnx.targets import DEFAULT_OPSET, DEFAULT_TARGET
from dml2onnx.writer import data_paths, is_compiled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dml2onnx.batching.models import Model
    from dml2onnx.ir.graph import Graph
    from dml2onnx.options import CompileOptions

SUFFIXES: dict[Action, str] = {"compile": ".onnx", "report": ".html"}
"""What is written, by what is done."""
PASSING = frozenset(
    (
        unreadable.NO_SUCH_FILE,
        unreadable.NOT_A_FILE,
        unreadable.CANNOT_READ,
        reading.FILE_UNREADABLE,
        reading.LFS_POINTER,
        running.MISSING_PROVIDER,
        running.OUTPUT_UNWRITABLE,
        running.OUTPUT_IS_SOURCE,
        running.SAME_OUTPUT,
    )
)
"""Codes whose cause may have gone although all that was read is as it was."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be done to each model, as the options of the single commands say it."""

    do: Action
    feature_level: str | None = None
    documented: bool = False
    opset: int = DEFAULT_OPSET
    target: str = DEFAULT_TARGET
    exact: bool = False
    freeze: bool = False
    inputs: tuple[str, ...] = ()
    """Which stay inputs."""
    constants: tuple[tuple[str, str | None], ...] = ()
    """Inputs that become constants, and the file with the contents (``w.npz:w`` for one of its arrays), if any."""
    constant_directories: tuple[str, ...] = ()
    allow_paths: tuple[str, ...] = ()
    external_data: bool | None = None
    shapes: bool = True
    optimize: int = 1
    without_passes: tuple[str, ...] = ()
    quant_format: str | None = None
    half: bool = False
    ir_version: int | None = None
    cases: int = 3
    seed: int = 0
    provider: Providers = field(default_factory=Providers)
    max_bytes: int | None = None

    def __post_init__(self) -> None:
        """Refuses what would be refused of each model."""
        chosen(self.optimize, self.without_passes)
        ir_version(self.ir_version, self.opset)
        quant_format(self.quant_format, exact=self.exact)

    def work(self) -> Work:
        """The same as the line of a journal."""
        options: dict[str, Json] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            options[item.name] = _plain(value)
        del options["do"]
        named = Work(work="", do=self.do, options=options)
        what: list[Json] = [named.producer, self.do, options]
        if self.constant_directories:
            what.append([_listing(item) for item in self.constant_directories])
        digest = hashlib.blake2b(json.dumps(what).encode(), digest_size=8)
        return Work(work=digest.hexdigest(), do=self.do, options=options)

    @property
    def compile_options(self) -> CompileOptions:
        """What models are made, for those that make one."""
        from dml2onnx.options import CompileOptions  # which checks do without

        return CompileOptions.of_members(self)

    def how(self, graph: str | None) -> LoadOptions:
        """How models are read."""
        return LoadOptions(
            constants=dict(self.constants),
            constant_directories=tuple(map(Path, self.constant_directories)),
            inputs=frozenset(self.inputs),
            freeze=self.freeze,
            allow_paths=tuple(map(Path, self.allow_paths)),
            max_bytes=self.max_bytes or DEFAULT_OPTIONS.max_bytes,
            graph=graph,
        )


def _listing(directory: str) -> list[Json]:
    """The names in a directory: a file that is named after an input makes other work of the same models."""
    with suppress(OSError):
        return [*sorted(os.listdir(directory))]
    return []


def _plain(value: Any) -> Json:
    """An option as JSON has it."""
    if isinstance(value, Providers):
        options: dict[str, Json] = {name: dict(stated) for name, stated in value.options.items()}
        return {"names": list(value.names), "options": options, "device": value.device}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


@dataclass(frozen=True, slots=True)
class Task:
    """A model, and what is to be done to it."""

    asked: Asked
    work: str
    """The digest of what is asked."""
    model: Model
    output: Path | None
    """The file to write, where one is written."""
    sources: bool = False
    """Whether the record tells the digests of what was read."""
    known: tuple[Source, ...] = ()
    """What the model was read from when it was done before."""


def perform(task: Task) -> Record | None:
    """Does the work; nothing when the model was done before, and is what it was.

    Whatever goes wrong stands in the record, apart from what ends the process.
    """
    started = time.perf_counter()
    if task.known and task.known == digests(Path(item.path) for item in task.known):
        return None
    read = [] if _leads_outside(task.model) else [task.model.path]
    try:
        status, answer = _outcome(task, read)
    except MemoryError:
        message = "there was not enough memory for this model"
        status, answer = "memory", Answer(command=task.asked.do, diagnostics=(running.NO_MEMORY.at(message),))
    except InternalError as error:
        status, answer = "defect", Failure(command=task.asked.do, failure=str(error))
    except Exception as error:
        text = f"{type(error).__name__}: {error}. This is a defect of dml2onnx; please report it with the model."
        status, answer = "defect", Failure(command=task.asked.do, failure=text)
    sources = digests(read) if task.sources else ()
    return record(task, status, answer, time.perf_counter() - started, sources)


def record(task: Task, status: Status, answer: Head, seconds: float, sources: tuple[Source, ...] = ()) -> Record:
    """What is said of a model."""
    return Record(
        model=task.model.key[0],
        graph=task.model.key[1],
        work=task.work,
        status=status,
        output="" if task.output is None else str(task.output),
        seconds=round(seconds, 4),
        sources=sources,
        answer=as_json(answer),
    )


def is_last_word(old: Record, task: Task) -> bool:
    """Whether a record of the same work holds as long as the model is what it was, and the result still there."""
    if any(item.code in PASSING for item in old.diagnostics):
        return False
    sizes = old.answer.get("file_bytes", {})
    assert isinstance(sizes, dict)
    with suppress(OSError):
        is_there = all(Path(path).stat().st_size == size for path, size in sizes.items())
        return is_there and old.output == ("" if task.output is None else str(task.output))
    return False


def digests(paths: Iterable[Path]) -> tuple[Source, ...]:
    """Files with digests of what they hold now."""
    return tuple(Source(str(path), _digest(path)) for path in dict.fromkeys(paths))


def _digest(path: Path) -> str:
    with suppress(OSError, ValueError), path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    return ""


# --- The work ---------------------------------------------------------------------------------------------------------


def _leads_outside(model: Model) -> bool:
    """Whether it is a link that nobody may follow."""
    return model.problem is not None and model.problem.code == FILE_OUTSIDE


def _outcome(task: Task, read: list[Path]) -> tuple[Status, Head]:
    """What comes of a model; ``read`` gets all files that it was read from."""
    shown = task.model.key[0]
    problem = task.model.problem
    try:
        if problem is not None and _leads_outside(task.model):
            raise UnreadableError(problem)
        graph = load(task.model.path, task.asked.how(task.model.graph))
        read += [path for path in graph.sources if path.resolve() != read[0].resolve()]
        if problem is not None:
            raise DmlError(problem)
        return _WORK[task.asked.do](task, graph)
    except UnreadableError as error:
        is_other = task.model.is_searched and any(
            item.code == unreadable.UNKNOWN_FORMAT or task.model.path.suffix == ".bin" for item in error.diagnostics
        )
        answer: Head = unchecked(shown, error) if task.asked.do == "check" else _refused(task, error)
        return "other" if is_other else "unreadable", answer
    except DmlError as error:
        return "errors", unchecked(shown, error) if task.asked.do == "check" else _refused(task, error)


def _refused(task: Task, error: DmlError) -> Answer:
    found = error.diagnostics if task.model.graph else placed_in(task.model.path, error.diagnostics)
    return Answer(command=task.asked.do, diagnostics=found)


def _check(task: Task, graph: Graph) -> tuple[Status, Head]:
    level = feature_level(task.asked.feature_level)
    file = graph.sources[0] if task.model.graph is not None else task.model.path
    answer = checked(graph, level_of(graph, level), check(graph, level, documented=task.asked.documented), str(file))
    return "errors" if answer.errors else "passed", answer


def _compile(task: Task, graph: Graph) -> tuple[Status, Head]:
    from dml2onnx.compiler import compile_graph

    assert task.output is not None
    started = time.perf_counter()
    _prepare(task.output, graph, is_compiled)
    asked = task.asked
    model = compile_graph(graph, asked.compile_options)
    files = model.save(task.output, external_data=asked.external_data)
    return "passed", compiled(graph, model, files, time.perf_counter() - started)


def _verify(task: Task, graph: Graph) -> tuple[Status, Head]:
    from dml2onnx.report.verified import verification_answer
    from dml2onnx.verification.options import VerifyOptions
    from dml2onnx.verification.public import verify_graph

    asked = task.asked
    options = VerifyOptions(
        compiling=asked.compile_options,
        rounds=asked.cases,
        seed=asked.seed,
        provider=asked.provider,
        max_bytes=asked.max_bytes,
    )
    result = verify_graph(graph, options)
    return "passed" if result.passed else "differs", verification_answer(result, str(asked.provider), asked.seed)


def _report(task: Task, graph: Graph) -> tuple[Status, Head]:
    from dml2onnx.report.gathering import gather
    from dml2onnx.report.html import is_report, page

    assert task.output is not None
    _prepare(task.output, graph, is_report)
    report = gather(graph, task.asked.compile_options)
    files = put(task.output, [page(report).encode()])
    answer = Written(
        command="report", diagnostics=report.diagnostics, files=tuple(map(str, files)), file_bytes=sizes_of(files)
    )
    return "errors" if answer.errors else "passed", answer


_WORK: dict[Action, Callable[[Task, Graph], tuple[Status, Head]]] = {
    "check": _check,
    "compile": _compile,
    "verify": _verify,
    "report": _report,
}


def _prepare(output: Path, graph: Graph, is_ours: Callable[[Path], bool]) -> None:
    """Makes the directory of a result; :class:`DmlError` where what is there is no earlier one."""
    data = data_paths(output)
    make_directory(output.parent)
    spare([output, *data], graph.sources)
    for path, is_earlier in ((output, is_ours(output)), (data[0], names(output, data[0])), (data[1], is_ours(output))):
        if path.exists() and not is_earlier:
            message = f"{quote(str(path))} exists and is no earlier result"
            raise DmlError(running.OUTPUT_UNWRITABLE.at(message, expected="another output directory", found=str(path)))
