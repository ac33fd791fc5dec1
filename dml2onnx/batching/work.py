"""Processes one model as the single command does, and returns a record."""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
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
from dml2onnx.report.answers import FilesAnswer, compiled, sizes_of
from dml2onnx.report.batched import Action, Record, SourceFile, Status, Work
from dml2onnx.report.checked import checked, placed_in, unchecked
from dml2onnx.report.form import Answer, Failure, Head, Json, as_json
from dml2onnx.targets import DEFAULT_OPSET, DEFAULT_TARGET
from dml2onnx.writer import data_paths, is_compiled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dml2onnx.batching.models import BatchModel
    from dml2onnx.ir.graph import Graph
    from dml2onnx.options import CompileOptions

SUFFIXES: dict[Action, str] = {"compile": ".onnx", "report": ".html"}
"""The suffix of the result of each action that writes one."""
TRANSIENT = frozenset(
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
"""Codes whose cause may disappear without a change of the files that were read."""


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """An action for each model, with the options of the single commands."""

    do: Action
    feature_level: str | None = None
    documented: bool = False
    opset: int = DEFAULT_OPSET
    target: str = DEFAULT_TARGET
    exact: bool = False
    freeze: bool = False
    inputs: tuple[str, ...] = ()
    """Inputs that ``freeze`` leaves."""
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
        """Refuses options that would fail for every model."""
        chosen(self.optimize, self.without_passes)
        ir_version(self.ir_version, self.opset)
        quant_format(self.quant_format, exact=self.exact)

    def work(self) -> Work:
        """The line of the journal for the request, with a digest of it."""
        options = {item.name: _plain(getattr(self, item.name)) for item in fields(self) if item.name != "do"}
        work = Work(work="", do=self.do, options=options)
        parts: list[Json] = [work.producer, self.do, options]
        if self.constant_directories:
            parts.append([_listing(item) for item in self.constant_directories])
        digest = hashlib.blake2b(json.dumps(parts).encode(), digest_size=8)
        return replace(work, work=digest.hexdigest())

    @property
    def compile_options(self) -> CompileOptions:
        """The options for compiling."""
        from dml2onnx.options import CompileOptions  # not needed by check

        return CompileOptions.of_members(self)

    def load_options(self, graph: str | None) -> LoadOptions:
        """The options for reading a model."""
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
    """The names in a directory: a new file with the name of an input changes the result."""
    with suppress(OSError):
        return [*sorted(os.listdir(directory))]
    return []


def _plain(value: Any) -> Json:
    """An option for JSON."""
    if isinstance(value, Providers):
        options: dict[str, Json] = {name: dict(stated) for name, stated in value.options.items()}
        return {"names": list(value.names), "options": options, "device": value.device}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


@dataclass(frozen=True, slots=True)
class Task:
    """A request for a model."""

    request: BatchRequest
    work: str
    """The digest of the request."""
    model: BatchModel
    output: Path | None
    """The file to write, if any."""
    sources: bool = False
    """Whether the record has digests of the files that were read."""
    known: tuple[SourceFile, ...] = ()
    """The files of an earlier record of the model, with their digests then."""


def perform(task: Task) -> Record | None:
    """Processes a model; returns ``None`` if it was done before and its files have not changed.

    All failures except the death of the process are in the record.
    """
    started = time.perf_counter()
    if task.known and task.known == digests(Path(item.path) for item in task.known):
        return None
    read = [] if _leads_outside(task.model) else [task.model.path]
    try:
        status, answer = _outcome(task, read)
    except MemoryError:
        message = "not enough memory for this model"
        status, answer = "memory", Answer(command=task.request.do, diagnostics=(running.NO_MEMORY.at(message),))
    except InternalError as error:
        status, answer = "defect", Failure(command=task.request.do, failure=str(error))
    except Exception as error:
        text = f"{type(error).__name__}: {error}. This is a defect of dml2onnx; please report it with the model."
        status, answer = "defect", Failure(command=task.request.do, failure=text)
    sources = digests(read) if task.sources else ()
    return record(task, status, answer, time.perf_counter() - started, sources)


def record(task: Task, status: Status, answer: Head, seconds: float, sources: tuple[SourceFile, ...] = ()) -> Record:
    """The record of a model."""
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


def is_reusable(old: Record, task: Task) -> bool:
    """Whether an earlier record is valid if the model has not changed: its result exists, no cause is transient."""
    if any(item.code in TRANSIENT for item in old.diagnostics):
        return False
    sizes = old.answer.get("file_bytes", {})
    assert isinstance(sizes, dict)
    with suppress(OSError):
        has_results = all(Path(path).stat().st_size == size for path, size in sizes.items())
        return has_results and old.output == ("" if task.output is None else str(task.output))
    return False


def digests(paths: Iterable[Path]) -> tuple[SourceFile, ...]:
    """Files with digests of their current contents."""
    return tuple(SourceFile(str(path), _digest(path)) for path in dict.fromkeys(paths))


def _digest(path: Path) -> str:
    with suppress(OSError, ValueError), path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    return ""


# --- Actions ----------------------------------------------------------------------------------------------------------


def _leads_outside(model: BatchModel) -> bool:
    """Whether the model is a link out of the allowed directories."""
    return model.problem is not None and model.problem.code == FILE_OUTSIDE


def _outcome(task: Task, read: list[Path]) -> tuple[Status, Head]:
    """The status and the answer for a model; adds the files that it was read from to ``read``."""
    problem = task.model.problem
    try:
        if problem is not None and _leads_outside(task.model):
            raise UnreadableError(problem)
        graph = load(task.model.path, task.request.load_options(task.model.graph))
        read += [path for path in graph.sources if path.resolve() != read[0].resolve()]
        if problem is not None:
            raise DmlError(problem)
        return _ACTIONS[task.request.do](task, graph)
    except UnreadableError as error:
        is_other = task.model.is_searched and any(
            item.code == unreadable.UNKNOWN_FORMAT or task.model.path.suffix == ".bin" for item in error.diagnostics
        )
        return "other" if is_other else "unreadable", _refused(task, error)
    except DmlError as error:
        return "errors", _refused(task, error)


def _refused(task: Task, error: DmlError) -> Head:
    if task.request.do == "check":
        return unchecked(task.model.key[0], error)
    found = error.diagnostics if task.model.graph else placed_in(task.model.path, error.diagnostics)
    return Answer(command=task.request.do, diagnostics=found)


def _check(task: Task, graph: Graph) -> tuple[Status, Head]:
    level = feature_level(task.request.feature_level)
    file = graph.sources[0] if task.model.graph is not None else task.model.path
    answer = checked(graph, level_of(graph, level), check(graph, level, documented=task.request.documented), str(file))
    return "errors" if answer.errors else "passed", answer


def _compile(task: Task, graph: Graph) -> tuple[Status, Head]:
    from dml2onnx.compiler import compile_graph

    assert task.output is not None
    started = time.perf_counter()
    _prepare(task.output, graph, is_compiled)
    request = task.request
    model = compile_graph(graph, request.compile_options)
    files = model.save(task.output, external_data=request.external_data)
    return "passed", compiled(graph, model, files, time.perf_counter() - started)


def _verify(task: Task, graph: Graph) -> tuple[Status, Head]:
    from dml2onnx.report.verified import verification_answer
    from dml2onnx.verification.options import VerifyOptions
    from dml2onnx.verification.public import verify_graph

    request = task.request
    options = VerifyOptions(
        compiling=request.compile_options,
        rounds=request.cases,
        seed=request.seed,
        provider=request.provider,
        max_bytes=request.max_bytes,
    )
    result = verify_graph(graph, options)
    return "passed" if result.passed else "differs", verification_answer(result, str(request.provider), request.seed)


def _report(task: Task, graph: Graph) -> tuple[Status, Head]:
    from dml2onnx.report.gathering import gather
    from dml2onnx.report.html import is_report, page

    assert task.output is not None
    _prepare(task.output, graph, is_report)
    report = gather(graph, task.request.compile_options)
    files = put(task.output, [page(report).encode()])
    answer = FilesAnswer(
        command="report", diagnostics=report.diagnostics, files=tuple(map(str, files)), file_bytes=sizes_of(files)
    )
    return "errors" if answer.errors else "passed", answer


_ACTIONS: dict[Action, Callable[[Task, Graph], tuple[Status, Head]]] = {
    "check": _check,
    "compile": _compile,
    "verify": _verify,
    "report": _report,
}


def _prepare(output: Path, graph: Graph, is_ours: Callable[[Path], bool]) -> None:
    """Makes the directory of a result; raises :class:`DmlError` if a file exists that is not an earlier result."""
    data = data_paths(output)
    make_directory(output.parent)
    spare([output, *data], graph.sources)
    for path, is_earlier in ((output, is_ours(output)), (data[0], names(output, data[0])), (data[1], is_ours(output))):
        if path.exists() and not is_earlier:
            message = f"{quote(str(path))} exists and is not an earlier result"
            raise DmlError(running.OUTPUT_UNWRITABLE.at(message, expected="another output directory", found=str(path)))
