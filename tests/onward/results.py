"""Results as JSON, and as tables for ``docs/devices.md``."""

from __future__ import annotations

import datetime
import json
import platform
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import dml2onnx
from tests.onward.differences import DIFFERENCES
from tests.onward.worker import TOOLS

FILE = Path(__file__).with_name("results.json")


def record(bound: str, versions: Iterable[str], rows: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON record of one tool."""
    return {
        "versions": list(versions),
        "dml2onnx": dml2onnx.__version__,
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        "bound": bound,
        "networks": rows,
    }


def put(path: Path, name: str, content: Mapping[str, Any]) -> None:
    """Writes the results of one tool, keeping those of others."""
    known = read(path) if path.exists() else {}
    known[name] = content
    ordered = {tool: known[tool] for tool in TOOLS if tool in known}
    path.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read(path: Path = FILE) -> dict[str, Any]:
    """The results by tool."""
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def cell(row: Mapping[str, Any]) -> str:
    """The table cell of a network."""
    if "refused" in row:
        return "refused"
    parts = []
    if "nodes" in row:
        changed = f"{row['before']} → {row['nodes']}" if row["nodes"] != row["before"] else f"{row['nodes']}"
        parts.append(f"{changed} nodes")
    if "by_hand" in row:
        theirs = row["by_hand"]
        parts.append(f"{_share(row['error'])} ({_share(theirs) if isinstance(theirs, float) else 'refused'})")
    elif not row["right"] or row["error"] > 1e-4:
        parts.append(_share(row["error"]))
    return ", ".join(parts) or "same"


def _share(value: float) -> str:
    return "0" if value == 0 else f"{100 * value:.2g} %"


HEADINGS = {
    "same": "Optimizers, formats and runtimes, which keep the numbers. Nodes before and after, where ONNX is written:",
    "half": "FLOAT16. Errors are root mean squares, relative to those of the right numbers, of the worst output:",
    "bits": "Quantisation. In brackets the error of the same tool on the same network in ONNX by hand:",
}


def tables(content: Mapping[str, Any]) -> str:
    """A Markdown table for each bound, and a list of differences."""
    lines: list[str] = []
    for bound, heading in HEADINGS.items():
        chosen = {name: item for name, item in content.items() if item["bound"] == bound}
        if chosen:
            lines += [heading, "", *_table(chosen), ""]
    lines += ["What is refused, or has other numbers:", ""]
    causes: dict[str, list[str]] = {}
    for name, item in content.items():
        for title, row in item["networks"].items():
            if not row["right"]:
                where = causes.setdefault(row["cause"], [])
                where.append(f"{name}: {title}")
    for entry in DIFFERENCES:
        if entry.title in causes:
            tools = sorted({text.partition(":")[0] for text in causes[entry.title]}, key=list(TOOLS).index)
            lines.append(f"- {', '.join(tools)}: {entry.title} `{' '.join(entry.model.split())}`")
    return "\n".join(lines) + "\n"


def _table(content: Mapping[str, Any]) -> list[str]:
    titles = list(dict.fromkeys(title for item in content.values() for title in item["networks"]))
    lines = [f"| Tool | {' | '.join(titles)} |", f"|---|{'---|' * len(titles)}"]
    for name, item in content.items():
        cells = [cell(item["networks"][title]) if title in item["networks"] else "" for title in titles]
        lines.append(f"| {name} ({', '.join(item['versions'])}; {item['date']}) | {' | '.join(cells)} |")
    return lines
