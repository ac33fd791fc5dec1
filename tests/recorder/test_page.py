"""`docs/cpp.md` shows the code that other tests compile and run."""

from __future__ import annotations

import re

from tests.recorder.compilers import ROOT
from tests.recorder.sample import SAMPLE


def test_all_code_of_the_page_is_that_of_the_sample() -> None:
    page = (ROOT / "docs" / "cpp.md").read_text(encoding="utf-8")
    blocks = re.findall(r"<!-- not run: is (?:a part of )?samples/cpp/(\S+) -->\n```cpp\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == page.count("```cpp") == 3
    for name, code in blocks:
        assert code in (SAMPLE / name).read_text(encoding="utf-8"), code


def test_the_commands_of_the_page_name_existing_files() -> None:
    page = (ROOT / "docs" / "cpp.md").read_text(encoding="utf-8")
    named = set(re.findall(r"samples/cpp/[\w.]+", page))
    assert named == {f"samples/cpp/{name}" for name in ("upscale.cpp", "weights.bin", "bind.cpp")}
    assert all((ROOT / name).is_file() for name in named)
