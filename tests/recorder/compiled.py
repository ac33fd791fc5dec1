"""A cache of compiled programs in ``build/compiled``.

The cache key is a digest of the compiler, the options, and the preprocessed text, which contains all headers. Cached
programs are still run each time.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

KEPT = Path(__file__).parent.parent.parent / "build" / "compiled"
MAX_RESULTS = 60
"""Results in the cache: those of the current sources and of some earlier versions."""


def key_of(
    compiler: tuple[str, ...], options: Sequence[str], source: Path, environment: Mapping[str, str]
) -> str | None:
    """Returns the cache key of a compilation, or ``None`` if it cannot be cached.

    ``options`` are the command line without the output.
    """
    if any(option.startswith("-Wl,") for option in options):  # they may write temporary paths into the program
        return None
    command = [*compiler, *options, str(source), "-E"]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60, env=environment)
    if done.returncode or done.stderr:
        return None
    places = {source.parent: "source"}
    parts = [_version(compiler)]
    for number, option in enumerate(options):
        start, path = option[:2] if option.startswith("-I") else "", Path(option.removeprefix("-I"))
        if path.is_dir():  # it may be temporary; the text contains the files that were read from it
            places.setdefault(path, f"directory {number}")
            parts.append(f"{start} a directory")
        elif path.is_file():
            places.setdefault(path.parent, f"directory {number}")
            parts.append(hashlib.sha256(path.read_bytes()).hexdigest())
        else:
            parts.append(option)

    def line(mark: re.Match[bytes]) -> bytes:
        path = Path(os.fsdecode(mark[2]))
        return mark[1] + os.fsencode(Path(places.get(path.parent, path.parent), path.name)) + mark[3]

    text = LINE.sub(line, done.stdout)
    return hashlib.sha256("\0".join(parts).encode() + b"\0" + text).hexdigest()


LINE = re.compile(rb'^(# \d+ ")([^"]*)(".*)$', re.MULTILINE)
"""A line marker of the preprocessor."""


@functools.cache
def _version(compiler: tuple[str, ...]) -> str:
    return subprocess.run([*compiler, "--version"], capture_output=True, text=True, check=False).stdout


def take(key: str | None, output: Path | None) -> bool:
    """Copies a cached result to ``output``; returns whether there is one."""
    kept = KEPT / (key or "none")
    if key is None or not kept.is_file():
        return False
    try:
        kept.touch()
        if output is not None:
            shutil.copy(kept, output)
    except OSError:  # another process has removed it
        return False
    return True


def keep(key: str | None, output: Path | None) -> None:
    """Caches the output, or only the success, of a compilation."""
    if key is None:
        return
    KEPT.mkdir(parents=True, exist_ok=True)
    written = KEPT / f"{key}.{os.getpid()}"
    if output is None:
        written.touch()
    else:
        shutil.copy(output, written)
    written.replace(KEPT / key)
    for old in sorted(KEPT.iterdir(), key=lambda path: -path.stat().st_mtime)[MAX_RESULTS:]:
        old.unlink(missing_ok=True)
