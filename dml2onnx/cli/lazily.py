"""Lazy imports of library modules: each command needs few of them, and loads them at their first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.lazy import lazy_module

if TYPE_CHECKING:
    import numpy as np

    from dml2onnx import (
        batching,
        checks,
        compiler,
        exporters,
        files,
        frontends,
        measuring,
        passes,
        pydirectml,
        reducing,
        targets,
        writer,
    )
    from dml2onnx import options as compiler_options
    from dml2onnx.batching import models as batch_models
    from dml2onnx.batching import summary as batch_summary
    from dml2onnx.batching import work
    from dml2onnx.checks import resizing
    from dml2onnx.cli import formats
    from dml2onnx.frontends import array_files, directories, recording
    from dml2onnx.frontends import names as file_names
    from dml2onnx.frontends import options as reading_options
    from dml2onnx.ir import graph as ir_graph
    from dml2onnx.ir import inputs as graph_inputs
    from dml2onnx.measuring import subjects as measured_subjects
    from dml2onnx.providers import choice, installed, table
    from dml2onnx.providers import distributions as runtime_packages
    from dml2onnx.pydirectml import settings
    from dml2onnx.report import answers, batched, comparison, gathering, html, svg
    from dml2onnx.report import reasons as report_reasons
    from dml2onnx.sizes import freedom as size_freedom
    from dml2onnx.verification import options as verify_options
    from dml2onnx.verification import sizes as named_sizes
    from dml2onnx.verification import whole
else:
    batching = lazy_module("dml2onnx.batching")
    batch_models = lazy_module("dml2onnx.batching.models")
    batch_summary = lazy_module("dml2onnx.batching.summary")
    work = lazy_module("dml2onnx.batching.work")
    checks = lazy_module("dml2onnx.checks")
    resizing = lazy_module("dml2onnx.checks.resizing")
    formats = lazy_module("dml2onnx.cli.formats")
    compiler = lazy_module("dml2onnx.compiler")
    exporters = lazy_module("dml2onnx.exporters")
    files = lazy_module("dml2onnx.files")
    frontends = lazy_module("dml2onnx.frontends")
    array_files = lazy_module("dml2onnx.frontends.array_files")
    directories = lazy_module("dml2onnx.frontends.directories")
    file_names = lazy_module("dml2onnx.frontends.names")
    reading_options = lazy_module("dml2onnx.frontends.options")
    recording = lazy_module("dml2onnx.frontends.recording")
    ir_graph = lazy_module("dml2onnx.ir.graph")
    graph_inputs = lazy_module("dml2onnx.ir.inputs")
    measuring = lazy_module("dml2onnx.measuring")
    measured_subjects = lazy_module("dml2onnx.measuring.subjects")
    compiler_options = lazy_module("dml2onnx.options")
    passes = lazy_module("dml2onnx.passes")
    choice = lazy_module("dml2onnx.providers.choice")
    runtime_packages = lazy_module("dml2onnx.providers.distributions")
    installed = lazy_module("dml2onnx.providers.installed")
    table = lazy_module("dml2onnx.providers.table")
    pydirectml = lazy_module("dml2onnx.pydirectml")
    settings = lazy_module("dml2onnx.pydirectml.settings")
    reducing = lazy_module("dml2onnx.reducing")
    answers = lazy_module("dml2onnx.report.answers")
    batched = lazy_module("dml2onnx.report.batched")
    comparison = lazy_module("dml2onnx.report.comparison")
    gathering = lazy_module("dml2onnx.report.gathering")
    html = lazy_module("dml2onnx.report.html")
    report_reasons = lazy_module("dml2onnx.report.reasons")
    svg = lazy_module("dml2onnx.report.svg")
    size_freedom = lazy_module("dml2onnx.sizes.freedom")
    targets = lazy_module("dml2onnx.targets")
    verify_options = lazy_module("dml2onnx.verification.options")
    named_sizes = lazy_module("dml2onnx.verification.sizes")
    whole = lazy_module("dml2onnx.verification.whole")
    writer = lazy_module("dml2onnx.writer")
    np = lazy_module("numpy")

__all__ = [
    "answers", "array_files", "batch_models", "batch_summary", "batched", "batching", "checks", "choice",
    "comparison", "compiler", "compiler_options", "directories", "exporters", "file_names", "files", "formats",
    "frontends", "gathering", "graph_inputs", "html", "installed", "ir_graph", "measured_subjects", "measuring",
    "named_sizes", "np", "passes", "pydirectml", "reading_options", "recording", "reducing", "report_reasons",
    "resizing", "runtime_packages", "settings", "size_freedom", "svg", "table", "targets", "verify_options",
    "whole", "work", "writer",
]  # fmt: skip
