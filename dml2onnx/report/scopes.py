"""Scopes of nodes, from the parts of their names before ``/``, ``.`` or ``_``; a page can collapse them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

LEAST = 2
"""Nodes of a scope."""
LEAST_BY_UNDERSCORE = 4
"""Nodes of a scope where only ``_`` separates their names; its name ends with a number, as ``layer1_``."""
DEEPEST = 12
"""Scopes in scopes: names have as many parts as their makers like."""

_NUMBERED = re.compile(r"\d$")


class Scopes(NamedTuple):
    """Scopes, each behind the one that it is in."""

    titles: tuple[str, ...]
    parents: tuple[int, ...]
    """-1 for those that are in no other."""
    of: tuple[int, ...]
    """The scope of each name, -1 for none."""


@dataclass(slots=True)
class _Part:
    """Names that begin alike."""

    title: str
    parts: dict[str, _Part] = field(default_factory=dict)
    places: list[int] = field(default_factory=list)
    """Names that end here."""


def scopes_of(names: Sequence[str]) -> Scopes:
    """The scopes of names. One that has all of them is none, and one that has only another one is that one."""
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
    """The scopes of a name, each with its separator: that which stands highest among those that it has."""
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
