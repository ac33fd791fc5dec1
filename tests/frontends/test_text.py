"""Decoding of files to JSON: errors, and text that only DxDispatch accepts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dml2onnx.codes import reading as codes
from dml2onnx.codes import unreadable
from dml2onnx.diagnostics import Code, Severity, UnreadableError
from dml2onnx.frontends import LoadOptions, load, load_bytes

from .models import DX, GRAPH, NATIVE, Model, edited, load_model, load_text

TEXTS: dict[str, tuple[bytes, Code]] = {
    "empty": (b"", unreadable.NOT_JSON),
    "cut": (b'{"dml2onnx": 1, "nodes": [', unreadable.NOT_JSON),
    "leading-zero": (b'{"dml2onnx": 01}', unreadable.NOT_JSON),
    "hexadecimal": (b'{"dml2onnx": 0x1}', unreadable.NOT_JSON),
    "plus": (b'{"dml2onnx": +1}', unreadable.NOT_JSON),
    "point": (b'{"dml2onnx": .5}', unreadable.NOT_JSON),
    "single-quotes": (b"{'dml2onnx': 1}", unreadable.NOT_JSON),
    "native-comma": (b'{"dml2onnx": 1, /* one */}', unreadable.NOT_JSON),
    "graph-comment": (b'{"Nodes": [] /* none */}', unreadable.NOT_JSON),
    "native-tail": (b'{"dml2onnx": 1} {}', unreadable.NOT_JSON),
    "only-a-comma": (b'{"resources": [,]}', unreadable.NOT_JSON),
    "two-commas": (b'{"resources": [1,,]}', unreadable.NOT_JSON),
    "open-comment": (b'{"resources": {} /* }', unreadable.NOT_JSON),
    "control-character": (b'{"resources\n": {}}', unreadable.NOT_JSON),
    "nan": (b'{"dml2onnx": "NaN", "x": NaN}', unreadable.NOT_A_NUMBER_LITERAL),
    "infinity": (b'{"resources": {}, // Infinity\n "x": -Infinity}', unreadable.NOT_A_NUMBER_LITERAL),
    "deep": (b"[" * 10_000, unreadable.TOO_DEEP),
    "deep-objects": (b'{"a":' * 10_000, unreadable.TOO_DEEP),
    "latin-1": ('{"name": "é"}'.encode("latin-1"), unreadable.NOT_UTF8),
    "binary": (bytes(range(256)), unreadable.NOT_UTF8),
    "only-a-mark": (b"\xef\xbb\xbf", unreadable.NOT_JSON),
    "onnx": (b"\x08\x0a\x12\x08dml2onnx\x1a\x00", unreadable.ONNX_MODEL),
    "ort": (b"\x18\0\0\0ORTM" + bytes(64), unreadable.ONNX_MODEL),
    "serialized": (b"\x04\0\0\0" + bytes(16), unreadable.DAMAGED_FILE),
    "utf-16": ('{"dml2onnx": 1}'.encode("utf-16"), unreadable.BYTE_ORDER_MARK),
    "surrogate": (rb'{"dml2onnx": 1, "name": "\\\ud800"}', unreadable.LONE_SURROGATE),
    "second-half": (rb'{"dml2onnx": 1, "name": "\udc00\ud800"}', unreadable.LONE_SURROGATE),
    "array": (b"[]", unreadable.WRONG_ROOT),
    "array-with-comment": (b"[] // nothing", unreadable.NOT_JSON),
    "string": (b'"model"', unreadable.WRONG_ROOT),
    "no-format": (b'{"nodes": []}', unreadable.UNKNOWN_FORMAT),
    "empty-object": (b"{}", unreadable.UNKNOWN_FORMAT),
    "version": (b'{"dml2onnx": 2}', unreadable.UNKNOWN_VERSION),
    "version-kind": (b'{"dml2onnx": true}', unreadable.UNKNOWN_VERSION),
    "version-huge": (b'{"dml2onnx": ' + b"9" * 6000 + b"}", unreadable.UNKNOWN_VERSION),
}


@pytest.mark.parametrize(("text", "code"), TEXTS.values(), ids=TEXTS)
def test_text(text: bytes, code: Code, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(text)
    with pytest.raises(UnreadableError) as caught:
        load(path)
    assert [item.code for item in caught.value.diagnostics] == [code.id], str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b'{"dml2onnx": 1, "nodes": [', 'model.json:1:26: the text ends inside of the "[" of line 1, column 26'),
        (b'{"dml2onnx": 1, "no', "the text ends in the middle of the model"),
        (b'{"Nodes": [],\n // one\n "InputEdges": []}', "model.json:2:2: a comment starts here"),
        (b'{"dml2onnx": 1, // one\n "nodes": [01]}', "model.json:2:13: "),
        (b'{"dml2onnx": 01}', "model.json:1:15: "),
    ],
)
def test_messages_of_syntax_errors(text: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(text)
    with pytest.raises(UnreadableError) as caught:
        load(path)
    assert words in str(caught.value)
    assert "model.json" in str(caught.value)


def test_onnx_by_name(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"\x3a\x00")
    with pytest.raises(UnreadableError, match="is an ONNX model already"):
        load(path)
    path.write_text(json.dumps(NATIVE), encoding="utf-8")
    assert load(path).findings == ()


@pytest.mark.parametrize(("model", "expected"), [(NATIVE, []), (GRAPH, []), (DX, [codes.MARKED_TEXT.id])])
def test_byte_order_mark(model: Model, expected: list[str], tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model), encoding="utf-8-sig")
    assert [item.code for item in load(path).findings] == expected


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none.json", r"DML0001 .*none\.json\" does not exist\n"),
        (".", unreadable.NOT_A_FILE.id),
        ("/dev/null", unreadable.NOT_A_FILE.id),
        ("a" * 5000, unreadable.CANNOT_READ.id),
        ("a\0b", unreadable.CANNOT_READ.id),
        ("large.json", unreadable.FILE_TOO_LARGE.id),
    ],
)
def test_files_that_are_not_models(name: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "large.json").write_bytes(bytes(11))
    (tmp_path / "nine.json").mkdir()  # the message must not suggest a directory
    with pytest.raises(UnreadableError, match=message):
        load(tmp_path / name, LoadOptions(max_bytes=10))
    with pytest.raises(UnreadableError, match="the path of the model is empty"):
        load("")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"dml2onnx": 1, "name": "a", "name": "b", "nodes": [], "outputs": []}', [(codes.DUPLICATE_KEY, "/name")]),
        ('{"Nodes": [], "OutputEdges": [], "Nodes": []}', [(codes.DUPLICATE_KEY, "/Nodes")]),
        (
            '{"resources": {"a": 1, "a": {"initialValuesDataType": "INT8", "initialValues": [1]}},'
            ' "dispatchables": {}, "commands": []}',
            [(codes.REPEATED_KEY, "/resources/a")],
        ),
        # the reader counts members by colons: colons in strings, and spaces in front of others
        ('{"dml2onnx" :1, "name": ":", "name": ": :", "nodes": [], "outputs": []}', [(codes.DUPLICATE_KEY, "/name")]),
        ('{"dml2onnx"\n:1, "name"\t:"a:0", "name" :"", "nodes":[], "outputs":[]}', [(codes.DUPLICATE_KEY, "/name")]),
        (r'{"dml2onnx": 1, "name": "\":", "name": "b", "nodes": [], "outputs": []}', [(codes.DUPLICATE_KEY, "/name")]),
    ],
)
def test_duplicate_members(text: str, expected: list[tuple[Code, str]], tmp_path: Path) -> None:
    graph = load_text(tmp_path, text)
    assert [(item.code, item.pointer) for item in graph.findings] == [(code.id, place) for code, place in expected]


@pytest.mark.parametrize("name", ["a", "a:0", ":", ": :", '":"', "\\:", "é :"])
@pytest.mark.parametrize("separators", [(",", ":"), (" , ", " : ")])
def test_names_with_colons(name: str, separators: tuple[str, str], tmp_path: Path) -> None:
    text = json.dumps({**NATIVE, "name": name}, separators=separators)
    graph = load_text(tmp_path, text)
    assert (graph.name, graph.findings) == (name, ())


def test_a_number_beyond_doubles(tmp_path: Path) -> None:
    """Python's JSON module reads ``1e400`` as an infinity."""
    constant = '{"DataType": "FLOAT64", "Sizes": [1], "fill": 1e400}'
    text = f'{{"dml2onnx": 1, "nodes": [], "outputs": [], "constants": {{"c": {constant}}}}}'
    (finding,) = load_text(tmp_path, text).findings
    assert (finding.code, finding.pointer) == (codes.BAD_VALUE.id, "/constants/c/fill")
    assert "too large for a double" in finding.message


def test_the_limit_of_findings(tmp_path: Path) -> None:
    model = edited(NATIVE, ("/nodes", [1] * 20_000), ("/outputs", []))
    findings = load_model(tmp_path, model).findings
    assert len(findings) == 10_001
    assert findings[-1].code == codes.TOO_MANY_FINDINGS.id
    assert findings[-1].severity is Severity.ERROR


def test_comments_in_native_models(tmp_path: Path) -> None:
    text = json.dumps(NATIVE, indent=1).replace("{\n", '{ // "not a name": 1\n', 1).replace("}", "} /* done */")
    path = tmp_path / "model.json"
    path.write_text(text, encoding="utf-8")
    graph = load(path)
    assert graph.findings == ()
    path.write_text(json.dumps(NATIVE), encoding="utf-8")
    assert [node.operator for node in graph.nodes] == [node.operator for node in load(path).nodes]


@pytest.mark.parametrize(
    ("text", "message", "expected"),
    [
        ('{"dml2onnx": 1,}', "a trailing comma before a closing bracket", "no comma after the last member"),
        ('{"dml2onnx": 1, "nodes": [1, ]}', "a trailing comma before a closing bracket", "no comma"),
        ("{'dml2onnx': 1}", "'dml2onnx' is in single quotes", 'text in double quotes: "dml2onnx"'),
        ("{dml2onnx: 1}", '"dml2onnx" is not in quotes', "text in double quotes"),
        ('{"dml2onnx": True}', '"True" is not in quotes', "true"),
        ('{"dml2onnx": nan}', '"nan" is not in quotes', '"nan"'),
        ('{"dml2onnx": 1, "Alpha": -2.5e-3f}', "-2.5e-3f is a number of C++", "-2.5e-3"),
        ('{"dml2onnx": 1u}', "1u is a number of C++", "1"),
        ('{"dml2onnx": 0x1F}', "0x1F is a number of C++", "31"),
        ('{"dml2onnx": 64 * 64}', "64 * 64 is a term of C++", "4096"),
        ('{"dml2onnx": 1 << 20}', "1 << 20 is a term of C++", "1048576"),
        ('{"dml2onnx": 4 * 4 * 2}', "4 * 4 * 2 is a term of C++", "32"),
        ('{"dml2onnx": 2*224*224*3}', "2*224*224*3 is a term of C++", "301056"),
        ('{"dml2onnx": 32 - 3 + 1}', "32 - 3 + 1 is a term of C++", "30"),
        ('{"dml2onnx": 3 - 3}', "3 - 3 is a term of C++", "0"),
        ('{"dml2onnx": 3 - 4}', '"-" found where a comma is missing', "a comma, or"),
        ('{"dml2onnx": 1 << 31}', "1 << 31 is a term of C++", "2147483648"),
        ('{"dml2onnx": 1 << 32}', '"<" found where a comma is missing', "a comma, or"),
        ('{"dml2onnx": 49 * 73 * 127 * 337 * 92737 * 649657}', "is a term of C++", str(2**63 - 1)),
        ('{"dml2onnx": 134217728 * 134217728 * 512}', '"*" found where a comma is missing', "a comma, or"),
        ('{"dml2onnx": 1024 + 4 * 8}', "1024 + 4 * 8 is a term of C++", "1056"),
        ('{"dml2onnx": {1, 4, 8}}', "{1, 4, 8} is in the braces of C++", "[1, 4, 8]"),
        ('{"dml2onnx": nullptr}', "nullptr is a word of C++", "null"),
        ('{"dml2onnx": trueish}', "trueish is a word of C++", 'text in double quotes: "trueish"'),
        # the search for the number must not backtrack through all digits
        pytest.param(
            '{"dml2onnx": 0.' + "1" * 1_000_000 + "f}", "f is a number of C++", "1", id="many digits and a suffix"
        ),
        pytest.param(
            '{"dml2onnx": 0.' + "1" * 1_000_000 + " g}",
            '"g" found where a comma is missing',
            "a comma, or",
            id="many digits and a letter",
        ),
        ('{"dml2onnx": 1 "nodes": []}', '"nodes" found where a comma is missing', "a comma, or"),
        (r'{"dml2onnx": "C:\models"}', "a backslash in text escapes nothing", "two backslashes"),
        ('{"dml2onnx": "a\nb"}', "a string contains a line break or a tab", r"\n or \t"),
    ],
)
def test_syntax_of_other_languages(text: str, message: str, expected: str) -> None:
    with pytest.raises(UnreadableError) as raised:
        load_bytes(text.encode(), "model.json")
    [finding] = raised.value.diagnostics
    assert finding.code == "DML0007"
    assert message in finding.message
    assert finding.expected.startswith(expected)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16"])
def test_utf_16_with_and_without_byte_order_mark(encoding: str) -> None:
    with pytest.raises(UnreadableError) as raised:
        load_bytes('{\n"dml2onnx": 1}'.encode(encoding), "model.json")
    assert [finding.code for finding in raised.value.diagnostics] == ["DML0006"]
