"""The campaign's trials of mutated files, within limits of memory and time.

For each format, the part ``fuzz`` runs ``python scripts/_campaign_files.py FORMAT SEED SECONDS DIRECTORY`` in a new
process, since atheris never returns.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib import import_module, util
from pathlib import Path
from typing import Any

from _environment import ROOT

MEMORY = 4 << 30
"""Limit on the address space of a process that reads mutated files."""
SECONDS = 15.0
"""Limit on the processor time for one file."""
FUZZ_SECONDS = 15.0
"""Time for each seed and format."""
LONGEST = 1 << 16
"""Limit on the size of a fuzzed file in bytes."""


def limit_memory() -> None:
    """Limits this process to ``MEMORY``, if the system supports it."""
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def files(campaign: Any, chosen: Iterator[int]) -> None:
    """Mutates bytes and structure of files of all formats."""
    mutations = import_module("tests.mutations")
    limit_memory()
    sources = mutations.sources(ROOT / "samples")
    with tempfile.TemporaryDirectory() as directory:
        for seed in chosen:
            source, data = mutations.mutant(sources, seed)
            before = time.process_time()
            stage, problem = mutations.attempt(data, Path(directory))
            spent = time.process_time() - before
            campaign.counts["files, run"] += 1
            campaign.counts[f"files, {source.format}, as far as {stage}"] += 1
            if spent > SECONDS:
                problem = problem or f"{spent:.0f} s in {stage}"
            if problem:
                campaign.note("files", seed, f"{source.name}: {problem}", data.decode("utf-8", "replace"))


# --- Coverage-guided --------------------------------------------------------------------------------------------------


def fuzz(campaign: Any, chosen: Iterator[int]) -> None:
    """Fuzzes every front end in a process of its own."""
    if util.find_spec("atheris") is None:
        campaign.note("fuzz", 0, "atheris is not installed: pip install atheris")
        return
    formats = import_module("tests.mutations").FORMATS
    with tempfile.TemporaryDirectory() as directory:
        for seed in chosen:
            for format in formats:
                corpus = Path(directory) / format
                write_corpus(corpus, format)
                _fuzz_one(campaign, format, seed, corpus)


def _fuzz_one(campaign: Any, format: str, seed: int, corpus: Path) -> None:
    crashes = corpus.parent / f"{format} crashes"
    crashes.mkdir(exist_ok=True)
    command = [sys.executable, str(Path(__file__)), format, str(seed), str(FUZZ_SECONDS), str(corpus)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    units = re.search(r"stat::number_of_executed_units:\s+(\d+)", done.stderr)
    reached = re.findall(r"cov: (\d+)", done.stderr)
    campaign.counts["fuzz, run"] += int(units[1]) if units else 0
    campaign.counts[f"fuzz, {format}"] += int(units[1]) if units else 0
    if reached:
        name = f"fuzz, {format}, places reached"
        campaign.counts[name] = max(campaign.counts[name], int(reached[-1]))
    if done.returncode:
        found = sorted(crashes.iterdir())
        data = found[0].read_bytes() if found else b""
        message = re.search(r"=== Uncaught Python exception: ===\n(.*)", done.stderr)
        what = message[1] if message else " ".join(done.stderr.split())[-300:]
        campaign.note("fuzz", seed, f"{format}: {what}", data.decode("utf-8", "replace"))
        for path in found:
            path.unlink()


def write_corpus(directory: Path, format: str) -> list[Path]:
    """Writes the small models of a format as the initial corpus."""
    if directory.exists():
        return sorted(directory.iterdir())
    directory.mkdir(parents=True)
    sources = import_module("tests.mutations").sources(ROOT / "samples")
    written = []
    models = [
        item.model if isinstance(item.model, bytes) else json.dumps(item.model).encode()
        for item in sources
        if item.format == format
    ]
    for number, data in enumerate(dict.fromkeys(models)):
        if len(data) <= LONGEST:
            written.append(directory / f"{number:03}")
            written[-1].write_bytes(data)
    return written


class Target:
    """The fuzz target: reads and checks a file, and compiles it if it is valid."""

    def __init__(self, format: str) -> None:
        self._directory = tempfile.TemporaryDirectory()
        self._path = Path(self._directory.name) / ("Partition_0.bin" if format == "serialized" else "model.json")
        self._frontends, self._checks = import_module("dml2onnx.frontends"), import_module("dml2onnx.checks")
        self._compiler, self._diagnostics = import_module("dml2onnx.compiler"), import_module("dml2onnx.diagnostics")

    def __call__(self, data: bytes) -> None:
        """Any exception other than :class:`DmlError` is a finding."""
        self._path.write_bytes(data)
        try:
            graph = self._frontends.load(self._path)
            if not any(item.severity.value == "error" for item in self._checks.check(graph)):
                self._compiler.compile(graph)
        except self._diagnostics.DmlError:
            return


def restructured(data: bytes, seed: int) -> bytes:
    """Mutates the structure of a JSON file, or the bytes of another file."""
    mutations = import_module("tests.mutations")
    chance = random.Random(seed)
    try:
        model = json.loads(data)
    except (ValueError, RecursionError):
        return bytes(mutations.damaged(data, chance)) if data else b"{}"
    return json.dumps(mutations.changed(model, chance)).encode()


def main(format: str, seed: int, seconds: float, corpus: Path) -> None:
    """Fuzzes one format; exits, with code 0 if nothing was found."""
    atheris: Any = import_module("atheris")

    limit_memory()
    with atheris.instrument_imports(include=["dml2onnx.frontends", "dml2onnx.checks"]):
        target = Target(format)
        import_module("dml2onnx.frontends.serialized")

    def mutator(data: bytes, most: int, chosen: int) -> bytes:
        mutant = restructured(data, chosen) if chosen % 2 else atheris.Mutate(data, most)
        return bytes(mutant[:most])

    arguments = [
        *(sys.argv[0], str(corpus), f"-artifact_prefix={corpus.parent / f'{format} crashes'}/"),
        *(f"-seed={seed + 1}", f"-max_total_time={seconds:.0f}", f"-max_len={LONGEST}"),
        *(f"-timeout={SECONDS:.0f}", f"-rss_limit_mb={MEMORY >> 20}", "-print_final_stats=1"),
    ]
    atheris.Setup(arguments, target, custom_mutator=mutator)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), Path(sys.argv[4]))
