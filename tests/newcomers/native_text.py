"""Files in the native format that are not JSON."""

from __future__ import annotations

from tests.frontends.models import f32
from tests.newcomers.build import Raw, case, edit, in_text, one, text_of
from tests.newcomers.case import Case
from tests.newcomers.networks import NETWORK

TRUNCATED = text_of(NETWORK).partition('"inputs": {"ATensor"')[0].rstrip()

CASES = (
    case("True, as in Python", edit(NETWORK, {"conv/GroupCount": Raw("True")}), [r"\btrue\b", r"\bTrue\b"]),
    case(
        "backslash in a path, as in Windows",
        edit(NETWORK, {"constants/dense": f32(1, 1, 2048, 10, file=Raw(r'"weights\classifier.bin"'))}),
        [r"\\|backslash|escape", r"weights/classifier\.bin|weights\\\\classifier\.bin|doubled?\b|slash|\"/\"|\\\\\\\\"],
    ),
    in_text("bracket not closed", NETWORK, '"Sizes": [1, 8, 16, 16]}', '"Sizes": [1, 8, 16, 16}', [r"\]", r"\["]),
    in_text(
        "comma forgotten",
        NETWORK,
        '"Strides": [1, 1],\n        "Dilations"',
        '"Strides": [1, 1]\n        "Dilations"',
        ["comma|','", '"Dilations"'],
    ),
    case(
        "field written twice",
        edit(NETWORK, {"pool/Strides": Raw('[2, 2],\n"Strides": [2, 2]')}),
        ["Strides", r"twice|\btwo\b|again|already|[Dd]uplicate|second|more than once"],
    ),
    Case("file truncated", TRUNCATED, ("end", r"net\.json:\d+"), here=TRUNCATED.count("\n") + 1),
    case(
        "fraction without its leading zero", edit(NETWORK, {"constants/dense/fill": Raw(".01")}), [r"0\.01|digit|zero"]
    ),
    case(
        "nullptr, as in C++",
        edit(one("ELEMENT_WISE_IDENTITY", [1, 4, 8, 8]), {"node/ScaleBias": Raw("nullptr")}),
        ["nullptr", r"\bnull\b"],
    ),
    case(
        "number with the suffix f, as in C++",
        edit(one("ACTIVATION_LEAKY_RELU", [1, 4, 8, 8]), {"node/Alpha": Raw("0.01f")}),
        [r"0\.01f is a number of C\+\+", r"expected: 0\.01\n"],
    ),
    in_text("single quotes", NETWORK, '"name": "conv"', "'name': 'conv'", ['"name"|double quotes', "'name'"]),
    case(
        "sizes in braces, as in C++",
        edit(one("ACTIVATION_RELU", [1, 4, 8, 8]), {"inputs/InputTensor/Sizes": Raw("{1, 4, 8, 8}")}),
        [r"\[1, 4, 8, 8\]|\[ and \]|square brackets|brackets \[", r"\{1"],
    ),
)
