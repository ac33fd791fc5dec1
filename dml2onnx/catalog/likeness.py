"""Known names that are similar to a misspelt or shortened one."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

SIMILAR = 0.6
"""How much alike two names are from which on one may be meant by the other, as ``difflib`` counts it."""
SHORTEST_BEGINNING = 3
"""Letters from which on the beginning of a name stands for it."""
MOST = 3
"""How many equally likely names a message lists."""


_ELSEWHERE = MappingProxyType(
    {"axis": "axes", "axes": "axis", "shape": "sizes", "dims": "sizes", "dtype": "datatype", "pads": "startpadding"}
)
"""Members by the names that other libraries give them, all in lower case."""


def nearest(
    name: str, known: Iterable[str], similarity: float = SIMILAR, *, beginnings: bool = True
) -> tuple[str, ...]:
    """The known name that is most likely meant, or those that are equally likely; whatever the case of their letters.

    Names that begin with the given one come before those that only look like it, and before these the field of a
    tensor, ``ATensor`` for ``A``.
    """
    import difflib  # only what is misspelt needs it

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
    """``; did you mean ...?`` for the names that may be meant, and nothing for none."""
    listed = " or ".join(names)
    return f"; did you mean {listed}?" if listed else ""
