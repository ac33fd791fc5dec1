"""A report in three sentences."""

from __future__ import annotations

import numpy as np

from dml2onnx.builder import GraphBuilder
from dml2onnx.frontends import load_bytes
from dml2onnx.report.gathering import gather
from dml2onnx.report.html import page
from dml2onnx.report.story import story
from tests.newcomers.files import FILES, NETWORK


def test_what_is_right() -> None:
    what, became, look = story(gather(load_bytes(NETWORK.encode(), "net.json"), rounds=1))
    assert what == (
        "From image (FLOAT32 1×3×32×32) to probabilities (FLOAT32 1×1×1×10) it takes 1 CONVOLUTION, 1 MAX_POOLING, "
        "1 GEMM and 1 other operator, 634,880 multiply-accumulates."
    )
    assert became == (
        "It needs feature level 1_0 (Windows 10 1903 or DirectML 1.4.0) and became 6 ONNX nodes of opset 21, "
        "where 2 nodes took more than one, and it agrees with the reference."
    )
    assert look == "Nothing in it calls for attention."


def test_what_is_wrong() -> None:
    case = next(case for case in FILES if case.name == "weights in half precision")
    _, became, look = story(gather(load_bytes(case.source.encode(), "net.json")))
    assert became == "No feature level of DirectML admits it, and it cannot be compiled."
    assert look.startswith("Look at 1 error first: FilterTensor is FLOAT16")


def test_warnings_and_names() -> None:
    g = GraphBuilder("net")
    x = g.input("<b>\u202e", np.float32, [4])
    report = gather(g.build({"y": g.clip(x, 6.0, 0.0)}))
    assert story(report)[2].startswith("Look at 1 warning: Min is 6, above Max")
    text = page(report)
    assert "&lt;b&gt;\\u202e (FLOAT32 4)" in text
    assert "<b>\u202e" not in text
