"""Takes the README's screenshot of a report, ``samples/report.png``, with the headless Chromium of the tests.

    python scripts/make_report_picture.py

It shows ``samples/digits/model.json``, verified, profiled and coloured by time, with one node selected. Fonts and times
depend on the machine, so no check compares the file.
"""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path

from _environment import ROOT
from PIL import Image

import dml2onnx
from dml2onnx.report.gathering import gather
from dml2onnx.report.html import page
from tests.report.browser import running

TARGET = ROOT / "samples" / "report.png"
NODE = "conv1"
COLOURS = 128
"""A palette of this size is enough for text and boxes, and reduces the file to a third."""


def main() -> int:
    graph = dml2onnx.load(ROOT / "samples" / "digits" / "model.json")
    with tempfile.TemporaryDirectory() as directory, running() as browser:
        path = Path(directory) / "report.html"
        path.write_text(page(gather(graph, rounds=3, profile=True)), encoding="utf-8")
        browser.prefer(prefers_color_scheme="light", prefers_reduced_motion="reduce")
        browser.open(path)
        browser.run(
            """(() => {
              const colours = document.getElementById("colour");
              colours.value = "time";
              colours.dispatchEvent(new Event("change"));
            })()"""
        )
        browser.click_on("#tab-nodes")
        browser.run(
            f"""[...document.querySelectorAll("#panel-nodes tbody button")]
              .find((button) => button.textContent === "{NODE}").click()"""
        )
        browser.settle()
        picture = Image.open(io.BytesIO(browser.screenshot())).convert("RGB")
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(TARGET, optimize=True)
    print(f"wrote {TARGET.relative_to(ROOT)}, {TARGET.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
