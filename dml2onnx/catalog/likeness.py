"""Known names that are similar to a misspelled or abbreviated one."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

SIMILAR = 0.6
"""The lowest ``difflib`` ratio of similar names."""
SHORTEST_BEGINNING = 3
"""The length from which on a prefix matches a name."""
MOST = 3
"""The most equally similar names in a message."""

_ELSEWHERE = MappingProxyType(
    {"axis": "axes", "axes": "axis", "shape": "sizes", "dims": "sizes", "dtype": "datatype", "pads": "startpadding"}
)
"""Members by their names in other libraries, in lower case."""


def nearest(
    name: str, known: Iterable[str], similarity: float = SIMILAR, *, beginnings: bool = True
) -> tuple[str, ...]:
    """Returns the most similar known name, or all equally similar ones, ignoring case.

    With ``beginnings``, the field of a tensor (``ATensor`` for ``A``) comes first, then names that start with ``name``,
    then similar ones.
    """
    import difflib  # needed for misspelled names only

    typed, folded = name.lower(), dict[str, str]()
    for candidate in known:
        folded.setdefault(candidate.lower(), candidate)
    if beginnings and (tensor := folded.get(f"{typed}tensor")):
        return (tensor,)
    if beginnings and (other := folded.get(_ELSEWHERE.get(typed, ""))):
        return (other,)
    if beginnings and len(typed) >= SHORTEST_BEGINNING:
        begun = {item: whole for item, whole in folded.items() if item.startswith(typed)}
        if begun:
            folded, similarity = begun, 0.0
    close = difflib.get_close_matches(typed, folded, n=MOST, cutoff=similarity)
    matcher = difflib.SequenceMatcher(b=typed)
    likeness: dict[str, float] = {}
    for item in close:
        matcher.set_seq1(item)
        likeness[item] = matcher.ratio()
    most = max(likeness.values(), default=0)
    return tuple(whole for item, whole in folded.items() if likeness.get(item) == most)


def question(names: Iterable[str]) -> str:
    """Returns ``; did you mean ...?``, or ``""`` without names."""
    listed = " or ".join(names)
    return f"; did you mean {listed}?" if listed else ""
