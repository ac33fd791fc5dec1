"""Scopes of nodes, which a page can collapse, from the parts of their names before ``/``, ``.`` or ``_``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

LEAST = 2
"""The minimum number of nodes in a scope."""
LEAST_BY_UNDERSCORE = 4
"""The minimum for scopes with the separator ``_``, whose names must end with a number, as ``layer1_``."""
DEEPEST = 12
"""The limit for nested scopes; names may have any number of parts."""

_NUMBERED = re.compile(r"\d$")


class Scopes(NamedTuple):
    """Scopes, each after its parent."""

    titles: tuple[str, ...]
    parents: tuple[int, ...]
    """The parent of each scope, or -1."""
    of: tuple[int, ...]
    """The scope of each name, or -1."""


@dataclass(slots=True)
class _Part:
    """Names with the same beginning."""

    title: str
    parts: dict[str, _Part] = field(default_factory=dict)
    places: list[int] = field(default_factory=list)
    """The indices of names without further parts."""


def scopes_of(names: Sequence[str]) -> Scopes:
    """The scopes of names, without a scope that contains all names, or only another scope."""
    root = _Part("")
    for place, name in enumerate(names):
        part = root
        for title in _parts(name):
            part = part.parts.setdefault(title, _Part(title))
        part.places.append(place)
    while len(root.parts) == 1 and not root.places:
        (root,) = root.parts.values()
    titles: list[str] = []
    parents: list[int] = []
    of = [-1] * len(names)
    pending = [(root, -1, "")]
    while pending:
        part, parent, title = pending.pop()
        while part is not root and len(part.parts) == 1 and not part.places:
            (part,) = part.parts.values()
            title += part.title
        own = parent
        if part is not root and _is_scope(title, part):
            own = len(titles)
            titles.append(title.rstrip("/._"))
            parents.append(parent)
            title = ""
        for place in part.places:
            of[place] = own
        pending += [(inner, own, title + inner.title) for inner in reversed(part.parts.values())]
    return Scopes(tuple(titles), tuple(parents), tuple(of))


def _parts(name: str) -> Iterator[str]:
    """Yields the scopes of a name with their separator: the first of ``/``, ``.`` and ``_`` that it contains."""
    for separator in ("/", ".", "_"):
        if separator in name:
            pieces = name.split(separator)
            yield from (piece + separator for piece in pieces[:-1][:DEEPEST])
            return


def _is_scope(title: str, part: _Part) -> bool:
    count = _count(part)
    if title.endswith("_"):
        return count >= LEAST_BY_UNDERSCORE and bool(_NUMBERED.search(title[:-1]))
    return count >= LEAST


def _count(part: _Part) -> int:
    total = 0
    pending: list[Iterable[_Part]] = [(part,)]
    while pending:
        for item in pending.pop():
            total += len(item.places)
            pending.append(item.parts.values())
    return total
