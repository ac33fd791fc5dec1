"""Results of a run, which are printed and written to files that are checked in."""

from __future__ import annotations

import json
import platform
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.runtimes.difference import Difference
from tests.runtimes.differences import DIFFERENCES
from tests.runtimes.proof import Outcome, Runtime

CPU = "CPUExecutionProvider"
DIRECTORY = Path(__file__).parent / "results"
"""The checked-in results, one file for each runtime."""
SHOWN = 20
"""Limit on listed unexplained outcomes and operators."""
WIDTH = 108
"""Length of a line of digests."""


@dataclass(slots=True)
class Tally:
    """Outcomes of one source of samples on one runtime."""

    drawn: int = 0
    agree: int = 0
    different: int = 0
    refused: int = 0
    explained: Counter[str] = field(default_factory=Counter)
    """Counts by the title of the first difference that may be the cause."""
    unexplained: list[Outcome] = field(default_factory=list)
    taken: int = 0
    """Nodes that ran on the runtime's own provider, if it reports them."""
    left: Counter[str] = field(default_factory=Counter)
    """Nodes that ran on the CPU instead, by operator."""
    wholly: int = 0
    """Samples without nodes on the CPU."""
    agreed: list[str] = field(default_factory=list)
    """Digests of jobs that passed."""
    first: list[str] = field(default_factory=list)
    """Digests of the names of samples that were the first of their kind."""
    unchanged: int = 0
    """Samples that were skipped because they passed in the checked-in results."""
    unsteady: list[Outcome] = field(default_factory=list)
    """Samples that failed first and passed in a new process."""

    def add(self, runtime: str, outcome: Outcome, digest: str) -> None:
        left: Counter[str] = Counter()
        for provider, nodes in outcome.places.items():
            if provider == CPU:
                left.update(nodes)
            else:
                self.taken += sum(nodes.values())
        self.left += left
        self.wholly += bool(outcome.places) and not left
        if outcome.problem is None:
            self.agree += 1
            self.agreed.append(digest)
            if outcome.first_problem is not None:
                self.unsteady.append(outcome)
            return
        self.different += not outcome.refused
        self.refused += outcome.refused
        cause = explanation(runtime, outcome)
        if cause is None:
            self.unexplained.append(outcome)
        else:
            self.explained[cause.title] += 1

    @property
    def run(self) -> int:
        return self.agree + self.different + self.refused


def explanation(runtime: str, outcome: Outcome) -> Difference | None:
    """The first difference of a runtime that may have caused an outcome."""
    mine = (item for item in DIFFERENCES if item.runtime == runtime)
    return next((item for item in mine if not isinstance(item.explains, str) and item.explains(outcome)), None)


def record(runtime: Runtime, title: str, tallies: Mapping[str, Tally]) -> dict[str, Any]:
    """The contents of a results file."""
    return {
        "runtime": runtime.name,
        "version": title,
        "target": runtime.target,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "dml2onnx": version("dml2onnx"),
        "onnx": version("onnx"),
        "date": datetime.now(UTC).date().isoformat(),
        "samples": {
            name: {
                "drawn": t.drawn,
                "run": t.run,
                "agree": t.agree,
                "different": t.different,
                "refused": t.refused,
                "unexplained": len(t.unexplained),
                **({"unchanged": t.unchanged} if t.unchanged else {}),
                **({"unsteady": len(t.unsteady)} if t.unsteady else {}),
            }
            for name, t in tallies.items()
        },
        **_placed(tallies),
        "explained": dict(sum((t.explained for t in tallies.values()), Counter())),
        "unexplained": [
            {"sample": item.sample, "problem": item.problem} for t in tallies.values() for item in t.unexplained[:SHOWN]
        ],
        "unsteady": [
            {"sample": item.sample, "problem": item.first_problem} for t in tallies.values() for item in t.unsteady
        ],
        "agreed": _lines(digest for t in tallies.values() for digest in t.agreed),
        "first": _lines(digest for t in tallies.values() for digest in t.first),
    }


def _lines(digests: Iterable[str]) -> list[str]:
    return textwrap.wrap(" ".join(sorted(set(digests))), WIDTH)


def _digests(lines: Iterable[str]) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


@dataclass(frozen=True, slots=True)
class Known:
    """Checked-in results of the same versions; empty by default. Fields are those of :class:`Tally`."""

    agreed: frozenset[str] = frozenset()
    first: frozenset[str] = frozenset()
    drawn: Mapping[str, int] = field(default_factory=dict)
    """Number of samples by source."""


def known(runtime: Runtime, title: str) -> Known:
    """The checked-in results of a runtime, or empty ones if they are of other versions."""
    path = DIRECTORY / f"{runtime.name}.json"
    content = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    made_with = (content.get("version"), content.get("target"), content.get("onnx"))
    is_same = made_with == (title, runtime.target, version("onnx"))
    if not is_same:
        return Known()
    counts = {source: tally["drawn"] for source, tally in content["samples"].items()} if "first" in content else {}
    return Known(_digests(content["agreed"]), _digests(content.get("first", ())), counts)


def _placed(tallies: Mapping[str, Tally]) -> dict[str, Any]:
    """Where nodes ran, if the runtime reports it."""
    if not any(t.taken for t in tallies.values()):
        return {}
    left = sum((t.left for t in tallies.values()), Counter())
    return {
        "nodes": {name: {"wholly": t.wholly, "taken": t.taken, "left": t.left.total()} for name, t in tallies.items()},
        "left": dict(sorted(left.items())),
    }


def places(content: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields each source of samples with a line about where nodes ran."""
    for source, found in content.get("nodes", {}).items():
        run = content["samples"][source]["run"]
        total = found["taken"] + found["left"]
        yield source, f"{found['wholly']:,} of {run:,} models wholly, {found['taken']:,} of {total:,} nodes"


def places_table(results: Iterable[Mapping[str, Any]]) -> str:
    """A table of where nodes ran, with a row for each source, and the operators that ran on the CPU."""
    header = ("runtime", "target", "samples", "on the device", "left to the CPU most often, in all samples")
    rows = []
    for item in results:
        most = Counter(item.get("left", {})).most_common(SHOWN)
        left = ", ".join(f"{count} {name}" for name, count in most)
        for number, (source, text) in enumerate(places(item)):
            rows.append([item["version"], f"`{item['target']}`", source, text, "" if number else left])
    return table(header, rows)


def write(path: Path, content: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read_all(directory: Path = DIRECTORY) -> list[dict[str, Any]]:
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(directory.glob("*.json"))]


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table."""
    lines = [list(header), *(list(row) for row in rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def results_table(results: Iterable[Mapping[str, Any]]) -> str:
    """Counts by runtime and source of samples."""
    header = ("runtime", "target", "samples", "run", "agree", "different", "refused", "unexplained", "system, date")
    rows = []
    for item in results:
        where = f"{item['system'].split()[0]} {item['system'].split()[-1]}, {item['date']}"
        for name, tally in item["samples"].items():
            numbers = [f"{tally[key]:,}" for key in ("run", "agree", "different", "refused", "unexplained")]
            rows.append([item["version"], f"`{item['target']}`", name, *numbers, where])
    return table(header, rows)


def summary_table(results: Iterable[Mapping[str, Any]]) -> str:
    """Passed models by runtime."""
    header = ("runtime", "models for", "agree", "differ or are refused, for a known reason", "when")
    rows = []
    for item in results:
        run, agree = (sum(tally[key] for tally in item["samples"].values()) for key in ("run", "agree"))
        assert run - agree == sum(item["explained"].values())
        rows.append([item["version"], f"`{item['target']}`", f"{agree:,} of {run:,}", f"{run - agree:,}", item["date"]])
    return table(header, rows)


def differences_table() -> str:
    """All known differences with their examples."""
    header = ("runtime", "what it does", "the smallest model that shows it")
    return table(
        header, ([d.runtime, d.title, "`" + " ".join(d.model.split()).replace("|", "\\|") + "`"] for d in DIFFERENCES)
    )


def provider_share(results: Iterable[Mapping[str, Any]]) -> tuple[int, int]:
    """Number of models that ran on ONNX Runtime's DirectML provider, and number of those that passed."""
    (item,) = (item for item in results if item["runtime"] == "dml")
    tallies = item["samples"].values()
    assert not any(tally["unexplained"] for tally in tallies)
    return sum(tally["run"] for tally in tallies), sum(tally["agree"] for tally in tallies)


def provider_list(results: Sequence[Mapping[str, Any]]) -> str:
    """A Markdown list of the DirectML provider's differences."""
    run, agree = provider_share(results)
    (item,) = (item for item in results if item["runtime"] == "dml")
    causes = sorted(item["explained"].items(), key=lambda cause: -cause[1])
    first = f"Of {run:,} models, one of each kind, {agree:,} agree with the reference, and {run - agree:,} do not:"
    return "\n".join([first, "", *(f"- {count}: {cause}" for cause, count in causes)])


PROVEN = {
    "evaluator": "ONNX's reference evaluator",
    "openvino": "OpenVINO",
    "webgpu": "ONNX Runtime's WebGPU provider",
    "dml": "ONNX Runtime's DirectML provider: on Windows, or on Linux where `scripts/directml.py` has been run",
    "qnn": "ONNX Runtime's QNN provider with the emulator that its package for x86-64 brings",
    "web": "ONNX Runtime Web on WebAssembly, in the Chromium that `scripts/_web.py` fetches from the npm registry",
    "web-gpu": "ONNX Runtime Web on WebGPU, in the same Chromium",
    "webnn": "ONNX Runtime Web on WebNN, in the same Chromium",
    "coreml": "ONNX Runtime's Core ML provider, which needs macOS",
}
"""Supported runtimes and what they need."""


def missing(results: Iterable[Mapping[str, Any]]) -> str:
    """A Markdown list of runtimes without results."""
    there = {item["runtime"] for item in results}
    lines = [f"- {what}." for name, what in PROVEN.items() if name not in there]
    return "\n".join(lines) or "Nothing: there are results of all supported runtimes."
