"""Writes the pictures of two programs of the documentation.

    python scripts/generate_drawings.py            write them
    python scripts/generate_drawings.py --check    fail if a file is out of date

``samples/graph.svg`` shows the program of docs/builder.md as ``dml2onnx report --svg`` draws it, ``samples/sizes.svg``
the tensors of the program of docs/sizes.md, in sizes and in names.
"""

from __future__ import annotations

import contextlib
import re
import sys
import tempfile
from collections.abc import Iterable
from html import escape
from unittest import mock

from _generated import ROOT, write_or_check

import dml2onnx
from dml2onnx.checks.resizing import named
from dml2onnx.ir.inputs import input_descs
from dml2onnx.report.gathering import gather
from dml2onnx.report.svg import drawing

SIZES = {"picture": ("N", 3, "H", "W")}
WIDTH, ROW, BOX_WIDTH, BOX_HEIGHT, TEXT = 680, 62, 250, 30, 13
COLUMNS = 150, 430
"""Centers of the boxes with sizes and of those with names."""


def compiled_graph(page: str, start: str) -> dml2onnx.Graph:
    """Runs the one program of a page that contains ``start``; returns the graph that it compiles or else writes."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    (program,) = (
        block for block in re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE) if start in block
    )
    with (
        mock.patch.object(dml2onnx, "compile", wraps=dml2onnx.compile) as compiled,
        tempfile.TemporaryDirectory() as directory,
        contextlib.chdir(directory),
    ):
        exec(compile(program, page, "exec"), {})
        graph = compiled.call_args.args[0] if compiled.called else dml2onnx.load("net.json")
    assert isinstance(graph, dml2onnx.Graph)
    return graph


def rows(graph: dml2onnx.Graph) -> list[tuple[str, str, str]]:
    """The name of each tensor and its sizes in numbers and in names, including views whose sizes differ."""
    found = named(graph, SIZES)
    source = found.graph
    descs = input_descs(source.inputs, source.sorted_nodes(), source.outputs)
    constants = {item.value.name for item in source.constants}
    result = [
        (
            item.name,
            _product(desc.sizes),
            _product(found.shown(size) for size in found.traced.inputs[item.name][1].sizes),
        )
        for item, desc in zip(source.inputs, descs, strict=True)
    ]
    for node in source.sorted_nodes():
        sized = found.traced.nodes[node]
        for name, index, read, desc in node.views_in():
            sizes = _product(desc.sizes), _product(map(found.shown, sized.views[name, index].sizes))
            if sizes[0] != result[-1][1] and read.value.name not in constants:
                result.append((f"read by {node.name} as", *sizes))
        for name, index, _, desc in node.views_out():
            sizes = _product(desc.sizes), _product(map(found.shown, sized.views[name, index].sizes))
            result.append((node.name, *sizes))
    return result


def _product(sizes: Iterable[object]) -> str:
    return " × ".join(map(str, sizes))


def sizes_drawing(listed: list[tuple[str, str, str]]) -> str:
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
            lines.append(
                f'<rect x="{column - BOX_WIDTH // 2}" y="{top}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="5" '
                f'fill="{"#e8f0fe" if text == old and column == COLUMNS[0] else "#e6f4ea"}" stroke="#9aa0a6"/>'
                f'<text x="{column}" y="{top + 20}" text-anchor="middle" fill="#202124">{escape(text)}</text>'
            )
            if i + 1 < len(listed):
                lines.append(f'<path d="M{column} {top + BOX_HEIGHT} V{top + ROW}" stroke="#9aa0a6" fill="none"/>')
        lines.append(f'<text x="{COLUMNS[1] + 135}" y="{top + 20}" fill="#202124">{escape(name)}</text>')
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    sys.exit(
        write_or_check(
            __doc__,
            lambda: {
                ROOT / "samples" / "graph.svg": drawing(gather(compiled_graph("builder.md", "dml2onnx.GraphBuilder("))),
                ROOT / "samples" / "sizes.svg": sizes_drawing(rows(compiled_graph("sizes.md", "dml2onnx.convert("))),
            },
        )
    )
