"""Digests of what dml2onnx makes of many inputs: models, findings, files, reports, texts and reference results.

``scripts/make_digests.py`` keeps one digest for each group of cases in ``tests/data/digests.txt``, and
``test_digests.py`` compares them: a refactoring must not change any. The other tests say what is right; these see that
something is different, anywhere. A group takes less than a second.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import hypothesis
import numpy as np

from dml2onnx import catalog
from dml2onnx.checks import check, minimum_feature_level
from dml2onnx.checks.alternatives import nodes_above_level, nodes_at_the_top_level
from dml2onnx.checks.resizing import named
from dml2onnx.cli import main
from dml2onnx.cli.sizes import dimensions, sizes_of_inputs
from dml2onnx.codes import all_codes
from dml2onnx.compiler import CompiledModel, compile, compile_graph
from dml2onnx.diagnostics import Diagnostic, DmlError
from dml2onnx.exporters import FORMATS, export, left_out
from dml2onnx.ir.graph import Graph
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.options import CompileOptions
from dml2onnx.reference import evaluate_results
from dml2onnx.report.comparison import compare
from dml2onnx.report.form import as_json
from dml2onnx.report.gathering import gather
from dml2onnx.report.html import page
from dml2onnx.report.svg import drawing
from dml2onnx.targets import NAMES, target
from dml2onnx.test_cases import valid
from dml2onnx.test_cases.random_graphs import Sample, samples
from dml2onnx.test_cases.single_node import single_node
from dml2onnx.test_cases.sized_trials import random_ranges, random_sizes
from dml2onnx.test_cases.trial import feeds_of
from dml2onnx.test_cases.variations import changed_field, laid_out, of_each_layout, of_each_rank, of_each_type
from tests.checks.build import found_in
from tests.checks.test_data_types import of_other_types
from tests.cli.test_cli import NATIVE, PROGRAM
from tests.frontends.models import edited
from tests.mistakes import MODELS, members_of, mistakes
from tests.mutations import mutant, sources
from tests.newcomers import networks as newcomers_networks
from tests.newcomers.case import Case, Command
from tests.newcomers.scoring import CASES, answer
from tests.optimizer_barriers.test_counts import built
from tests.passes.test_counts import pictures, quantised, rows

Texts = Iterator[tuple[str, str | bytes]]
"""Names of cases, and what dml2onnx makes of each."""
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"exact": True},
    {"optimize": 0},
    {"target": "cpu"},
    {"target": "dml"},
    {"opset": 17},
    {"optimize": 2, "target": "cpu"},
    *({"opset": opset, "target": "cpu"} for opset in target("cpu").opsets),
    {"quant_format": "qdq", "target": "cpu"},
    {"half": True},
    *({"target": name} for name in NAMES if name not in ("cpu", "dml", "onnx")),
)
VARIANTS = 40
"""Variants of an operator's valid descriptors."""
CHANGES = 32
"""Changed descriptors of an operator."""
NETWORKS = 40
"""Groups of random graphs."""
GRAPHS = 12
"""Random graphs in a group."""
EXPORTED = 12
"""Descriptors of an operator in files of all formats."""
SIZED = 4
"""Descriptors of an operator with named sizes."""
DAMAGED = 40
"""Damaged files in a group."""
PASS_OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"exact": True},
    {"optimize": 2},
    {"quant_format": "qdq"},
    {"optimize": 0, "opset": 17},
)
SLIPS = 60
"""Changed members of a network."""
NETWORKS_OF_NEWCOMERS = {name: model for name, model in vars(newcomers_networks).items() if name.isupper()}
DATA = Path(__file__).parent / "data" / "digests.txt"
SAMPLES = Path(__file__).parents[1] / "samples"
FILES = ("model.json", "program.json", *(f"samples/{name}/model.json" for name in ("broken", "digits", "picture")))
FOR_EACH = (
    "check",
    "check --json",
    "explain",
    "explain --half --target cpu",
    "sizes",
    "sizes --json",
    "report -o made.html",
    "report --json",
    "compile -o made.onnx",
    "compile -o made.onnx -O0",
    "compile -o made.onnx --exact --opset 17",
    *(f"convert -o made --format {form}" for form in FORMATS),
)
"""Commands for each of ``FILES``."""
LINES = (
    *(f"{line} {file}" for line in FOR_EACH for file in FILES),
    "check --fix samples/broken/model.json -o made.json",
    "check model.json --level 9_9",
    "check nowhere.json",
    *(f"run --output-dir made {file}" for file in FILES[:2]),  # exact: the digits of others depend on the processor
    "verify --cases 2 model.json",
    "batch --jobs 1 model.json samples/broken/model.json",
    "report model.json --compare samples/broken/model.json",
    "reduce model.json --while false",
    "explain model.json --size x=N,2,3,W",
    "compile -o made.onnx model.json --size x=N,2,H,W",
    "ops",
    "ops pool --json",
    "recorder -o made",
    "explain 80070057",
    "explain RELUU",
    *(f"explain {name}" for name in (*sorted(all_codes()), *sorted(valid.descriptors()))),
)
"""Commands in a directory with two models and the samples."""


def said(make: Callable[[], str | bytes]) -> str | bytes:
    """What a call returns, or the error that it raises."""
    try:
        return make()
    except DmlError as error:
        return "\n".join(map(shown, error.diagnostics))
    except Exception as error:  # a change of these is noticed, too
        return f"{type(error).__name__}: {error}"


def shown(item: Diagnostic) -> str:
    return f"{item!r} {item}"


def serialized(model: CompiledModel) -> bytes:
    return model.serialize() + "\n".join(map(shown, model.warnings)).encode() + repr(model.ranges).encode()


def variants(name: str) -> list[OperatorDesc]:
    """An operator's valid descriptors, and some with other types, ranks and layouts."""
    random, base = Random(name), valid.descriptors()[name]
    more = {op for item in base for op in (*of_each_type(item), *of_each_rank(item), *of_each_layout(item, random))}
    others = sorted(more.difference(base), key=str)
    return [*base, *random.sample(others, min(len(others), VARIANTS))]


def models(name: str) -> Texts:
    """Models of an operator: of its first descriptors for all targets and options, of others for some in turn."""
    for number, op in enumerate(variants(name)):
        graph = single_node(op)
        chosen = OPTIONS if number == 0 else (OPTIONS[number % 4], OPTIONS[number % len(OPTIONS)])
        for options in chosen:
            made = CompileOptions.of(**options)
            yield f"{number} {op} {options}", said(partial(compiled, graph, made))


def compiled(graph: Graph, options: CompileOptions) -> bytes:
    return serialized(compile_graph(graph, options))


def findings(name: str) -> Texts:
    """Findings of changed descriptors and data types at some feature levels, and what lower levels offer instead."""
    random, base, levels = Random(name), valid.descriptors()[name], catalog.feature_levels()
    for number in range(CHANGES):
        op = base[number % len(base)]
        for _ in range(1 + number % 3):
            op = changed_field(op, random)[0]
        graph = replace(single_node(op), format=("native", "builder", "dxdispatch")[number % 3])
        level = levels[-1] if number % 2 else random.choice(levels)
        yield f"{number} {op} {level}", said(partial(checked, graph, level))
    for number, op in enumerate(of_other_types(base[0])):
        level = levels[number % len(levels)]
        yield f"{op} {level}", said(partial(checked, single_node(op), level, remedies=False))
    for number, op in enumerate(base):
        graph = single_node(laid_out(op, random) if number % 2 else op)
        yield f"levels of {number} {op}", said(partial(by_level, graph))


def checked(graph: Graph, level: catalog.FeatureLevel | None = None, *, remedies: bool = True) -> str:
    return "\n".join(map(shown, check(graph, level, remedies=remedies)))


def by_level(graph: Graph) -> str:
    found = [*nodes_at_the_top_level(graph)]
    found += [item for level in catalog.feature_levels() for item in nodes_above_level(graph, level)]
    return "\n".join([str(minimum_feature_level(graph)), *map(repr, found)])


def results(name: str) -> Texts:
    """Results of the reference, with the errors that it allows, to five digits."""
    for number, op in enumerate(variants(name)[:6]):
        yield f"{number} {op}", said(partial(evaluated, single_node(op), number))


def evaluated(graph: Graph, seed: int) -> str:
    feeds = feeds_of(compile_graph(graph, CompileOptions()), seed)
    with np.printoptions(precision=5, threshold=1 << 20):
        return "\n".join(repr(evaluate_results(graph, feeds, exact=exact)) for exact in (True, False))


def exports(name: str) -> Texts:
    """Files of all formats with an operator's descriptors."""
    for number, op in enumerate(variants(name)[:EXPORTED]):
        for form in FORMATS:
            yield f"{number} {op} {form}", said(partial(exported, single_node(op), form))


def sizes(name: str) -> Texts:
    """Which sizes of an operator's inputs are free, and models with names for some."""
    random = Random(name)
    for number, op in enumerate(variants(name)[:SIZED]):
        graph = single_node(op)
        yield f"{number} {op} is free in", said(partial(freedom, graph))
        yield f"{number} {op} has names", said(partial(sized, graph, random))


def freedom(graph: Graph) -> str:
    return repr(dimensions(graph, sizes_of_inputs(graph)))


def networks(number: int) -> Texts:
    """Models, files, reports, named sizes and findings of random graphs."""
    drawn: list[Graph] = []

    @hypothesis.seed(number)
    @hypothesis.settings(
        max_examples=GRAPHS,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(samples())
    def draw(sample: Sample) -> None:
        drawn.append(sample.graph)

    draw()
    for index, graph in enumerate(drawn):
        random = Random(f"{number} {index}")
        for options in (OPTIONS[0], OPTIONS[1], random.choice(OPTIONS[2:])):
            yield f"{index} {options}", said(partial(compiled, graph, CompileOptions.of(**options)))
        for form in FORMATS:
            yield f"{index} {form}", said(partial(exported, graph, form))
        yield f"{index} report", said(partial(reported, graph, with_mistakes(graph, random)))
        yield f"{index} sizes", said(partial(sized, graph, random))
        yield f"{index} changed", said(partial(checked, with_mistakes(graph, random)))


def exported(graph: Graph, form: str) -> bytes:
    file = io.BytesIO()
    notes = "\n".join(map(shown, left_out(graph, file, form)))
    export(graph, file, form)
    return file.getvalue() + notes.encode()


def reported(graph: Graph, other: Graph) -> str:
    """The report of a graph, its page, and its comparison with another graph."""
    report = gather(graph, digests=True)
    comparison = compare(report, gather(other, digests=True), ("one", "other"))
    return "\n".join([json.dumps(as_json(report)), page(report), json.dumps(as_json(comparison)), drawing(comparison)])


def sized(graph: Graph, random: Random) -> str:
    """The sizes and ranges drawn, and a digest of the model."""
    sizes = random_sizes(graph, random)
    ranges = random_ranges(named(graph, sizes), random)
    model = compile(graph, sizes=sizes, ranges=ranges)
    return f"{sizes} {ranges} {digest(serialized(model))}"


def passes(number: int) -> Texts:
    """Models of networks in which passes and optimizer barriers find much, of each family in turn."""
    for seed in range(number * GRAPHS, (number + 1) * GRAPHS):
        make = (rows, pictures, quantised, chain)[seed % 4]
        for options in PASS_OPTIONS:
            yield (
                f"{make.__name__} {seed} {options}",
                said(partial(compiled, make(seed), CompileOptions.of(**options, target="cpu"))),
            )


def chain(seed: int) -> Graph:
    return built(np.random.default_rng(seed))


def files(number: int) -> Texts:
    """What ``check`` prints of damaged files of all formats."""
    found = sources(SAMPLES)
    with tempfile.TemporaryDirectory() as directory, contextlib.chdir(directory):
        for seed in range(number * DAMAGED, (number + 1) * DAMAGED):
            source, data = mutant(found, seed)
            Path("model").write_bytes(data)
            yield f"{source.name} {seed}", printed("check model", directory)


def newcomers(module: str) -> Texts:
    """What dml2onnx answers to newcomers' files, programs and commands of one module."""
    for name, case in CASES.items():
        if name.startswith(f"{module}: "):
            yield name, said(partial(answered, case))


def answered(case: Case | Command) -> str:
    with tempfile.TemporaryDirectory() as directory, contextlib.chdir(directory):
        if isinstance(case, Case) and not case.in_program:
            text = str(said(lambda: "\n".join(map(shown, found_in(case.source)))))
        else:
            text = "{}\n{}".format(*answer(case, Path(directory)))
    text = timeless(text, directory)
    return re.sub(rf" at 0x\w+|(?<={re.escape(tempfile.gettempdir())}/)\w+", "", text)


def members(form: str) -> Texts:
    """Findings and remedies of a small model of a format with one broken member."""
    for mistake in mistakes():
        if mistake.format == form:
            yield mistake.name, said(partial(answered, Case("", json.dumps(mistake.model))))


def slips(name: str) -> Texts:
    """Findings and remedies of a network with one number, list or name changed."""
    random, model = Random(name), NETWORKS_OF_NEWCOMERS[name]
    choices = [(pointer, value) for pointer, value, _ in members_of(model) if isinstance(value, (int, str, list))]
    for pointer, value in random.sample(choices, min(len(choices), SLIPS)):
        other = slipped(value, random)
        yield f"{pointer} {other}", said(partial(answered, Case("", json.dumps(edited(model, (pointer, other))))))


def slipped(value: Any, random: Random) -> Any:
    if isinstance(value, str):
        return value[:-1]
    if isinstance(value, int):
        return random.choice((value + 1, value * 2, value // 2))
    return random.choice((value[::-1], value[1:] + value[:1], value[:-1], value + value[-1:]))


def with_mistakes(graph: Graph, random: Random) -> Graph:
    """The graph with a changed field in one or two nodes."""
    nodes = list(graph.nodes)
    for index in random.sample(range(len(nodes)), min(len(nodes), random.choice((1, 2)))):
        nodes[index] = replace(nodes[index], operator=changed_field(nodes[index].operator, random)[0])
    return replace(graph, nodes=tuple(nodes))


def command(line: str) -> Texts:
    """The output of a command, its exit code, and the files that it writes."""
    with tempfile.TemporaryDirectory() as directory, contextlib.chdir(directory):
        for name, model in (("model.json", NATIVE), ("program.json", PROGRAM)):
            Path(name).write_text(json.dumps(model), encoding="utf-8")
        Path("samples").symlink_to(SAMPLES)
        before = set(Path().iterdir())
        yield f"{line}", printed(line, directory)
        for path in sorted(path for item in set(Path().iterdir()) - before for path in (item, *item.rglob("*"))):
            if path.is_file():
                content = path.read_bytes()
                yield f"{line}: {path}", timeless(content.decode(), directory) if is_text(path) else content


def printed(line: str, directory: str) -> str:
    """The output and exit code of a command."""
    output = io.StringIO()
    environment = mock.patch.dict(os.environ, {"COLUMNS": "120", "NO_COLOR": "1"})
    with environment, contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        code = main(shlex.split(line))
    return f"{code}\n{timeless(output.getvalue(), directory)}"


def is_text(path: Path) -> bool:
    return path.suffix in (".html", ".json", ".py", ".cpp", ".h", ".log")


def timeless(text: str, directory: str) -> str:
    """A text without durations, and without the name of the directory."""
    text = re.sub(r'("\w*seconds": )[\d.e-]+', r"\1", text.replace(directory, "DIRECTORY"))
    return re.sub(r"\b[\d.]+ (ms|s|seconds|models/s)\b", r"_ \1", text)


def digest(content: str | bytes) -> str:
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()[:16]


def processor() -> str:
    """The extensions of the processor that NumPy uses, on which last digits of its functions depend."""
    config: Any = np.show_config(mode="dicts")
    return ", ".join(config["SIMD Extensions"].get("found", []))


OPERATORS = sorted(valid.descriptors())
KINDS: dict[str, tuple[Callable[[Any], Texts], Iterable[object]]] = {
    "models": (models, OPERATORS),
    "findings": (findings, OPERATORS),
    "results": (results, OPERATORS),
    "exports": (exports, OPERATORS),
    "sizes": (sizes, OPERATORS),
    "networks": (networks, range(NETWORKS)),
    "passes": (passes, range(40)),
    "files": (files, range(50)),
    "newcomers": (newcomers, sorted({name.partition(": ")[0] for name in CASES})),
    "members": (members, [form for form in MODELS if form != "serialized"]),
    "slips": (slips, sorted(NETWORKS_OF_NEWCOMERS)),
    "command": (command, LINES),
}
GROUPS = {f"{kind} {key}": partial(make, key) for kind, (make, keys) in KINDS.items() for key in keys}
"""The cases of each group."""


def digest_of(group: str) -> str:
    """One digest of all cases of a group."""
    return digest("\n".join(f"{name} {digest(content)}" for name, content in GROUPS[group]()))


if __name__ == "__main__":
    for name, content in GROUPS[" ".join(sys.argv[1:])]():
        print(name, digest(content), content if isinstance(content, str) else "", sep="\n")
