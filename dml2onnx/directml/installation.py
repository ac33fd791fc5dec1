"""Finds the installation that ``scripts/directml.py`` has created."""

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
    """A program that runs cases with DirectML.dll.

    ``command`` is followed by the program's arguments. It may run in another root file system, where ``runs``, the
    directory for cases and results, is ``runs_inside``.
    """

    command: tuple[str, ...]
    runs: str
    runs_inside: str
    versions: dict[str, str]
    """The versions of DirectML, Wine and the driver."""
    provider: tuple[str, ...] = ()
    """The command that runs ONNX models on ONNX Runtime's DirectML provider, if that was requested."""

    def write(self, place: Path) -> None:
        """Writes the manifest that :func:`find` reads."""
        text = json.dumps({"version": VERSION, **asdict(self)}, indent=2)
        (place / MANIFEST).write_text(text + "\n", encoding="utf-8")


def place() -> Path:
    """The installation directory: ``DML2ONNX_DIRECTML``, or one in the user's cache."""
    if chosen := os.environ.get(PLACE_VARIABLE):
        return Path(chosen)
    if sys.platform == "win32":
        cache = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData/Local"))
    else:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "dml2onnx" / "directml"


def find() -> Installation | None:
    """The installation; ``None`` if this version is not installed."""
    try:
        raw = json.loads((place() / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(raw, dict) or raw.pop("version", None) != VERSION:
        return None
    return Installation(**{**raw, "command": tuple(raw["command"]), "provider": tuple(raw["provider"])})
