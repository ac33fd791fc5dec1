"""``dml2onnx batch``: one command for many models, with a summary of the results."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import fields
from typing import TYPE_CHECKING

from dml2onnx.cli import texts
from dml2onnx.cli.common_options import (
    add_allow_path,
    add_common,
    add_compiling,
    add_constants,
    add_level,
    add_providers,
    add_written,
)
from dml2onnx.cli.inputs import constants
from dml2onnx.cli.lazily import batch_models, batch_summary, batched, batching, work
from dml2onnx.cli.markup import escape
from dml2onnx.diagnostics import plural, shortened

if TYPE_CHECKING:
    import argparse

    from dml2onnx.batching import Batch
    from dml2onnx.batching.summary import Summary
    from dml2onnx.cli.render import Screen
    from dml2onnx.report.batched import BatchAnswer

MOST_FAILURES = 20
"""Failed models listed by name; --json and the journal list all of them."""
LONGEST_MESSAGE = 100
WORDS: dict[str, str] = {
    "passed": "passed",
    "errors": "with errors",
    "unreadable": "unreadable",
    "differs": "different from the reference",
    "timeout": "timed out",
    "memory": "out of memory",
    "died": "crashed their workers",
    "defect": "hit a defect of dml2onnx",
    "other": "not models",
}
"""How the summary describes each status."""


def batch_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``batch``."""
    add_common(parser)
    add_level(parser)
    add_compiling(parser)
    parser.add_argument(
        "models",
        nargs="+",
        metavar="LIST_OR_DIR",
        help="directories, models (.json, .bin), or text files with one of these in each line; - reads such a list",
    )
    parser.add_argument(
        "--do",
        choices=["check", "compile", "verify", "report"],
        default="check",
        help="the command to run for each model (default: check)",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=texts.path,
        metavar="OUTDIR",
        help="directory for results, in the same tree as the models, and for the journal",
    )
    parser.add_argument(
        "--journal",
        type=texts.path,
        metavar="FILE",
        help="journal file (default: OUTDIR/journal.jsonl; without -o none)",
    )
    workers = parser.add_mutually_exclusive_group()
    workers.add_argument(
        "--jobs", "-j", type=texts.at_least(1), metavar="N", help="number of processes (default: one for each core)"
    )
    workers.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="use the Dask cluster with this scheduler, such as tcp://10.0.0.1:8786 (needs dml2onnx[dask])",
    )
    _add_repeats(parser)
    parser.add_argument("--model-timeout", type=texts.seconds, metavar="SECONDS", help="time limit for one model")
    parser.add_argument(
        "--max-bytes", type=texts.size, metavar="N", help="memory limit for one model, such as 512M or 4G"
    )
    parser.add_argument(
        "--freeze", action="store_true", help="turn inputs into constants if the model has contents for them"
    )
    parser.add_argument(
        "--input", action="append", default=[], metavar="NAME", help="keep this input an input (repeatable)"
    )
    add_constants(parser)
    add_allow_path(parser, "the models'")
    add_written(parser, "compile: ")
    parser.add_argument(
        "--cases", type=texts.at_least(1), default=3, metavar="N", help="verify: runs with new inputs (default: 3)"
    )
    parser.add_argument(
        "--seed", type=texts.at_least(0), default=0, metavar="N", help="verify: seed of the inputs (default: 0)"
    )
    add_providers(parser)


def _add_repeats(parser: argparse.ArgumentParser) -> None:
    repeats = parser.add_mutually_exclusive_group()
    repeats.add_argument("--again", action="store_true", help="repeat models that the journal lists as done")
    repeats.add_argument(
        "--retry-failed",
        action="store_true",
        help="repeat models that timed out, ran out of memory, crashed, or failed",
    )


def batch_command(options: argparse.Namespace, screen: Screen) -> int:
    """Processes all models; the exit code is 1 if any has findings."""
    started = time.perf_counter()
    batch = _batch(options, screen)
    summary = batch_summary.Summary()
    try:
        with screen.bar(options.do, len(batch.models)) as advance, closing(batch.records()) as records:
            for record, is_resumed in records:
                summary.add(record, is_resumed=is_resumed)
                advance(f"{plural(summary.wrong, 'model', 'no')} with findings")
    except KeyboardInterrupt:
        _show(_answer(batch, summary, started), screen)
        raise
    answer = _answer(batch, summary, started)
    if not screen.answered(answer):
        _show(answer, screen)
    return 1 if summary.wrong else 0


def _batch(options: argparse.Namespace, screen: Screen) -> Batch:
    with screen.working("looking for models"):
        models = batch_models.collect_models(options.models, options.output, tuple(options.allow_path))
        if options.do in work.SUFFIXES:
            models = batch_models.with_unique_names(models)
    journal = options.journal
    if journal is None and options.output is not None:
        journal = options.output / batching.JOURNAL
    values = {item.name: getattr(options, item.name) for item in fields(work.BatchRequest) if item.name in options}
    values |= {
        "feature_level": None if options.feature_level is None else options.feature_level.name,
        "target": options.target or options.provider.target,
        "inputs": tuple(options.input),
        "constants": tuple(
            (name, None if file is None else str(file)) for name, file in constants(options.constant).items()
        ),
        "constant_directories": tuple(map(str, options.constants)),
        "allow_paths": tuple(map(str, options.allow_path)),
        "without_passes": tuple(options.without_passes),
    }
    return batching.Batch(
        tuple(models),
        work.BatchRequest(**values),
        options.output,
        journal,
        jobs=options.jobs or batching.default_jobs(),
        model_timeout=options.model_timeout,
        dask=options.dask,
        again=options.again,
        retry_failed=options.retry_failed,
    )


def _answer(batch: Batch, summary: Summary, started: float) -> BatchAnswer:
    return summary.answer(batch.request.do, len(batch.models), batch.journal, time.perf_counter() - started)


def _show(answer: BatchAnswer, screen: Screen) -> None:
    if answer.codes:
        rows = [
            (item.models, item.findings, item.code, item.severity, item.title, item.examples[0])
            for item in answer.codes
        ]
        screen.table([">models", ">findings", "code", "", "title", "first in"], rows)
        screen.say()
    for failed in answer.failures[:MOST_FAILURES]:
        screen.say(
            f"[bold red]{failed.status}[/] {escape(failed.model)}: {escape(shortened(failed.message, LONGEST_MESSAGE))}"
        )
    if len(answer.failures) > MOST_FAILURES:
        screen.say(f"... and {len(answer.failures) - MOST_FAILURES} more; --json lists all of them")
    statuses = ", ".join(
        f"[bold {'green' if status in batched.FINE else 'red'}]{number} {WORDS[status]}[/]"
        for status, number in answer.statuses.items()
    )
    rate = (answer.done - answer.resumed) / answer.seconds if answer.seconds else 0.0
    earlier = f", {answer.resumed} of them in earlier runs" if answer.resumed else ""
    of_all = f" of {answer.asked}" if answer.done < answer.asked else ""
    none = "none is finished" if answer.asked else "nothing to do"
    screen.say(f"{answer.do}: {plural(answer.done, 'model', 'no')}{of_all}{earlier}: {statuses or none}")
    screen.say(f"in {answer.seconds:.1f} s, {rate:.0f} models/s")
    if answer.journal is not None:
        screen.say(f"journal: {escape(answer.journal)}")
