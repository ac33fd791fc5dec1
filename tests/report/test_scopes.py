"""Scopes of nodes by their names."""

from __future__ import annotations

import pytest

from dml2onnx.report.scopes import scopes_of


def paths(*names: str) -> list[str]:
    """Returns the scope of each name, with the outer scopes."""
    found = scopes_of(names)
    assert all(parent < place for place, parent in enumerate(found.parents))

    def path(scope: int) -> str:
        if scope < 0:
            return ""
        above = path(found.parents[scope])
        return f"{above} > {found.titles[scope]}" if above else found.titles[scope]

    return [path(scope) for scope in found.of]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("a/x", "a/y", "b/x", "b/y"), ["a", "a", "b", "b"]),
        (("a.x", "a.y", "b"), ["a", "a", ""]),
        (("s/a/x", "s/a/y", "s/b/x", "s/b/y", "t"), ["s > a", "s > a", "s > b", "s > b", ""]),
        # a scope of all names is dropped, and a scope with only one inner scope is merged with it
        (("net/a/x", "net/a/y", "net/z"), ["a", "a", ""]),
        (("s/a/x", "s/a/y", "t"), ["s/a", "s/a", ""]),
        # one node is no scope
        (("a/x", "b/x", "c"), ["", "", ""]),
        # underscores also separate words: only numbered prefixes of several nodes are scopes
        (("block1_a", "block1_b", "block1_c", "block1_d", "x"), ["block1"] * 4 + [""]),
        (("max_pooling", "max_pooling_2", "max_pooling_3", "max_pooling_4", "x"), [""] * 5),
        (("layer1_a", "layer1_b", "x"), [""] * 3),
        # only the highest separator counts
        (("v1.5/a_b", "v1.5/a_c", "x"), ["v1.5", "v1.5", ""]),
        (("", "", "/", "//"), ["", "", "", ""]),
    ],
)
def test_scopes(names: tuple[str, ...], expected: list[str]) -> None:
    assert paths(*names) == expected


def test_many_deep_names_take_no_time() -> None:
    """Untrusted names may have any number of parts."""
    found = scopes_of(["/".join("abcdefgh" * 500) + f"/{place % 7}/{place}" for place in range(300)])
    assert len(found.titles) < 1000
    assert scopes_of([]) == ((), (), ())
