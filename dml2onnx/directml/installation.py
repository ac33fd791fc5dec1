"""Finds the installation that ``scripts/directml.py`` has made, and starts its program."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

PLACE_VARIABLE = "DML2ONNX_DIRECTML"
"""Environment variable that names another directory."""
MANIFEST = "installation.json"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Installation:
    """A program that runs cases through DirectML.dll.

    ``command`` is completed by the program's own arguments. It runs in another root file system, maybe: it sees
    ``runs``, a directory for files of cases and results, as ``runs_inside``.
    """

    command: tuple[str, ...]
    runs: str
    runs_inside: str
    versions: dict[str, str]
    """What was installed: DirectML, Wine, the driver."""
    provider: tuple[str, ...] = ()
    """The command of a program that runs ONNX models on ONNX Runtime's DirectML provider, where that was asked for."""

    def write(self, place: Path) -> None:
        """Leaves itself in a directory, for :func:`find`."""
        text = json.dumps({"version": VERSION, **asdict(self)}, indent=2)
        (place / MANIFEST).write_text(text + "\n", encoding="utf-8")


def place() -> Path:
    """The directory that ``scripts/directml.py`` fills: ``DML2ONNX_DIRECTML``, or one in the user's cache."""
    if chosen := os.environ.get(PLACE_VARIABLE):
        return Path(chosen)
    if sys.platform == "win32":
        cache = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData/Local"))
    else:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "dml2onnx" / "directml"


def find() -> Installation | None:
    """What is installed; ``None`` where nothing is, or something of another version."""
    try:
        raw = json.loads((place() / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(raw, dict) or raw.pop("version", None) != VERSION:
        return None
    return Installation(**{**raw, "command": tuple(raw["command"]), "provider": tuple(raw["provider"])})
