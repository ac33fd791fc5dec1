"""Writes ``samples/sizes.svg``: the tensors of the program of docs/sizes.md, in sizes that have names.

python scripts/generate_sizes_drawing.py            write it
python scripts/generate_sizes_drawing.py --check    fail when it differs from what would be written
"""

from __future__ import annotations

import contextlib
import re
import sys
import tempfile
from html import escape

from _generated import ROOT, write_or_check

import dml2onnx
from dml2onnx.checks.resizing import named
from dml2onnx.ir.inputs import input_descs

TARGET = ROOT / "samples" / "sizes.svg"
PAGE = ROOT / "docs" / "sizes.md"
SIZES = {"picture": ("N", 3, "H", "W")}
WIDTH, ROW, BOX, TEXT = 680, 62, 30, 13
COLUMNS = 150, 430
"""Middles of boxes: the model as it is, and with names."""


def graph() -> dml2onnx.Graph:
    """What the first program of the page writes."""
    program = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)[0]
    with tempfile.TemporaryDirectory() as directory, contextlib.chdir(directory):
        exec(compile(program, "sizes.md", "exec"), {})
        return dml2onnx.load("net.json")


def rows() -> list[tuple[str, str, str]]:
    """What each tensor is called, its sizes in the model, and those in names: views too, where they differ."""
    found = named(graph(), SIZES)
    source = found.graph
    descs = input_descs(source.inputs, source.sorted_nodes(), source.outputs)
    made = [
        (
            item.name,
            _numbers(desc.sizes),
            _numbers(found.shown(size) for size in found.traced.inputs[item.name][1].sizes),
        )
        for item, desc in zip(source.inputs, descs, strict=True)
    ]
    for node in source.sorted_nodes():
        sized = found.traced.nodes[node]
        for name, index, read, desc in node.views_in():
            before = made[-1]
            seen = _numbers(desc.sizes), _numbers(map(found.shown, sized.views[name, index].sizes))
            if seen[0] != before[1] and read.value.name not in {item.value.name for item in source.constants}:
                made.append((f"read by {node.name} as", *seen))
        for name, index, _, desc in node.views_out():
            made.append((node.name, _numbers(desc.sizes), _numbers(map(found.shown, sized.views[name, index].sizes))))
    return made


def _numbers(sizes: object) -> str:
    return " × ".join(map(str, sizes))  # type: ignore[call-overload]  # each is a row of sizes


def drawing() -> str:
    """The whole picture."""
    listed = rows()
    height = ROW * len(listed) + 40
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" '
        f'font-size="{TEXT}" role="img" aria-label="Tensors of a network, in numbers and in names">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="{COLUMNS[0]}" y="20" text-anchor="middle" fill="#555555">the graph as it was written</text>',
        f'<text x="{COLUMNS[1]}" y="20" text-anchor="middle" fill="#555555">--size picture=N,3,H,W</text>',
    ]
    for i, (name, old, new) in enumerate(listed):
        top = 34 + i * ROW
        for column, text in zip(COLUMNS, (old, new), strict=True):
            wide = 250
            lines.append(
                f'<rect x="{column - wide // 2}" y="{top}" width="{wide}" height="{BOX}" rx="5" '
                f'fill="{"#e8f0fe" if text == old and column == COLUMNS[0] else "#e6f4ea"}" stroke="#9aa0a6"/>'
                f'<text x="{column}" y="{top + 20}" text-anchor="middle" fill="#202124">{escape(text)}</text>'
            )
            if i + 1 < len(listed):
                lines.append(f'<path d="M{column} {top + BOX} V{top + ROW}" stroke="#9aa0a6" fill="none"/>')
        lines.append(f'<text x="{COLUMNS[1] + 135}" y="{top + 20}" fill="#202124">{escape(name)}</text>')
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    sys.exit(
        write_or_check(
            "scripts/generate_sizes_drawing.py", "Draws the program of docs/sizes.md.", lambda: {TARGET: drawing()}
        )
    )
