"""The recorder's JSON is valid for any bytes in names and any locale."""

from __future__ import annotations

import json
import math
import struct
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.recorder.compilers import Compiler

TEXTS = (
    b"conv 1",
    b'"quoted" \\ and\ttabbed\nline\x01\x7f',
    "grüße, 文字, 😀".encode(),
    "grüße".encode("latin-1"),
    b"\xc3",
    b"\xe4\xb8",
    b"\xed\xa0\x80",
    b"\xc0\xaf",
    b"\xf0\x80\x80\xaf",
    b"\xf4\x90\x80\x80",
    b"\xff\xfe",
)
SINGLES = (0.0, -0.0, 1.0, 0.1, -1.5, 1e-45, 3.4028234663852886e38, 16777216.0, 123456792.0, 1e10, 2.0**-126)
DOUBLES = (0.1, 1 / 3, -0.0, 5e-324, 1.7976931348623157e308, 2.0**53 + 2, 123456789.125)

MAIN = """\
#include "dml2onnx_recorder.h"
#include <clocale>
#include <cstdio>
using namespace dml2onnx::detail;

int main() {{
  std::setlocale(LC_ALL, "");  // as programs with a user interface do
  const std::string texts[] = {{{texts}}};
  const std::uint32_t singles[] = {{{singles}}};
  const std::uint64_t doubles[] = {{{doubles}}};
  JsonWriter json;
  json.BeginObject(Layout::kLines);
  json.Key("texts").BeginArray(Layout::kLines);
  for (const std::string& text : texts) json.String(text);
  json.EndArray();
  json.Key("wide").String(Utf8(L"\\u00fc\\U0001F600"));
  json.Key("none").String(Utf8(static_cast<const wchar_t*>(nullptr)));
  json.Key("singles").BeginArray();
  for (const std::uint32_t& bits : singles) json.Float(ReadAt<float>(&bits, 0));
  json.EndArray();
  json.Key("doubles").BeginArray();
  for (const std::uint64_t& bits : doubles) json.Double(ReadAt<double>(&bits, 0));
  json.EndArray();
  json.Key("whole").BeginArray().Unsigned(18446744073709551615ull).Integer(-9223372036854775807ll - 1).EndArray();
  json.Key("empty").BeginObject(Layout::kLines).EndObject();
  json.Key("nested").BeginArray(Layout::kLines).BeginObject().Key("a").Bool(true).Key("b").Null().EndObject().EndArray();
  json.EndObject();
  std::puts(json.Take().c_str());
}}
"""


def literal(text: bytes) -> str:
    return 'std::string("' + "".join(f"\\{byte:03o}" for byte in text) + f'", {len(text)})'


@pytest.fixture(scope="module")
def written(compiler: Compiler, directml: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    directory = tmp_path_factory.mktemp("json")
    singles = [int.from_bytes(struct.pack("<f", value), "little") for value in (*SINGLES, *random_singles())]
    special = (math.inf, -math.inf, math.nan)
    doubles = [int.from_bytes(struct.pack("<d", value), "little") for value in (*DOUBLES, *special)]
    source = directory / "main.cpp"
    text = MAIN.format(
        texts=", ".join(map(literal, TEXTS)),
        singles=", ".join(f"{bits}u" for bits in singles),
        doubles=", ".join(f"{bits}ull" for bits in doubles),
    )
    source.write_text(text)
    program = directory / "json"
    compiler.program(source, directml, program)
    return subprocess.run([program], capture_output=True, check=True).stdout.decode()


def random_singles() -> list[float]:
    bits = np.random.default_rng(7).integers(0, 2**32, 2000, dtype=np.uint32)
    values = bits.view(np.float32)
    return [float(value) for value in values[np.isfinite(values)]]


def test_is_json(written: str) -> None:
    document: dict[str, Any] = json.loads(written)
    assert document["wide"] == "ü😀"
    assert document["none"] == ""
    assert document["whole"] == [2**64 - 1, -(2**63)]
    assert document["nested"] == [{"a": True, "b": None}]


def test_texts_that_are_not_utf_8_are_read_as_latin_1(written: str) -> None:
    def expected(text: bytes) -> str:
        try:
            return text.decode()
        except UnicodeDecodeError:
            return text.decode("latin-1")

    assert json.loads(written)["texts"] == [expected(text) for text in TEXTS]


def test_floats(written: str) -> None:
    document = json.loads(written)
    expected = np.array([*SINGLES, *random_singles()], np.float32)
    singles = np.array(document["singles"], np.float64).astype(np.float32)
    assert np.array_equal(singles.view(np.uint32), expected.view(np.uint32))
    doubles = np.array(document["doubles"][: len(DOUBLES)], np.float64)
    assert np.array_equal(doubles.view(np.uint64), np.array(DOUBLES).view(np.uint64))
    assert document["doubles"][len(DOUBLES) :] == ["inf", "-inf", "nan"]


def test_floats_have_the_fewest_digits(written: str) -> None:
    line = next(line for line in written.splitlines() if '"singles"' in line)
    assert "[0.0, -0.0, 1.0, 0.1, -1.5, 1e-45, 3.4028235e+38, 16777216.0, 1.2345679e+08, 1e+10, 1.1754944e-38" in line


def test_lines_are_indented(written: str) -> None:
    assert written.startswith('{\n  "texts": [\n    "conv 1",\n')
    assert '\n  "empty": {},\n  "nested": [\n    {"a": true, "b": null}\n  ]\n}\n' in written
