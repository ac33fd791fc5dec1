"""What compilers made before of the same text: kept in ``build/compiled``, and made anew where anything of it differs.

Its name is a digest of all that decides: the compiler, the options, and the text behind the preprocessor, which has
every header in it. Programs are run each time.
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
MOST = 60
"""How many results are kept: of the sources as they are, and as they were a few changes ago."""


def name_of(
    compiler: tuple[str, ...], options: Sequence[str], source: Path, environment: Mapping[str, str]
) -> str | None:
    """The name of what a compiler makes of a file; ``None`` where it has none, so that it is made each time.

    ``options`` are all of the command line but the output.
    """
    if any(option.startswith("-Wl,") for option in options):  # which may write paths of this run into the program
        return None
    command = [*compiler, *options, str(source), "-E"]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60, env=environment)
    if done.returncode or done.stderr:
        return None
    places = {source.parent: "source"}
    said = [_version(compiler)]
    for number, option in enumerate(options):
        start, path = option[:2] if option.startswith("-I") else "", Path(option.removeprefix("-I"))
        if path.is_dir():  # of this run, perhaps; what is read there stands in the text
            places.setdefault(path, f"directory {number}")
            said.append(f"{start} a directory")
        elif path.is_file():
            places.setdefault(path.parent, f"directory {number}")
            said.append(hashlib.sha256(path.read_bytes()).hexdigest())
        else:
            said.append(option)

    def line(mark: re.Match[bytes]) -> bytes:
        path = Path(os.fsdecode(mark[2]))
        return mark[1] + os.fsencode(Path(places.get(path.parent, path.parent), path.name)) + mark[3]

    text = LINE.sub(line, done.stdout)
    return hashlib.sha256("\0".join(said).encode() + b"\0" + text).hexdigest()


LINE = re.compile(rb'^(# \d+ ")([^"]*)(".*)$', re.MULTILINE)
"""Where a part of the preprocessed text comes from."""


@functools.cache
def _version(compiler: tuple[str, ...]) -> str:
    return subprocess.run([*compiler, "--version"], capture_output=True, text=True, check=False).stdout


def take(name: str | None, output: Path | None) -> bool:
    """Whether something of this name was made before, which is then put where it is wanted."""
    kept = KEPT / (name or "none")
    if name is None or not kept.is_file():
        return False
    try:
        kept.touch()
        if output is not None:
            shutil.copy(kept, output)
    except OSError:  # another process has removed it
        return False
    return True


def keep(name: str | None, output: Path | None) -> None:
    """Keeps what was made, or that it could be made."""
    if name is None:
        return
    KEPT.mkdir(parents=True, exist_ok=True)
    written = KEPT / f"{name}.{os.getpid()}"
    if output is None:
        written.touch()
    else:
        shutil.copy(output, written)
    written.replace(KEPT / name)
    for old in sorted(KEPT.iterdir(), key=lambda path: -path.stat().st_mtime)[MOST:]:
        old.unlink(missing_ok=True)
