"""Collecting models, and the places of their results."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import dml2onnx
from dml2onnx.batching.models import BatchModel, collect_models, with_unique_names
from dml2onnx.codes.running import BAD_LIST, SAME_OUTPUT
from tests.batching.graphs import native, record, write


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def places(models: list[BatchModel]) -> dict[str, str]:
    return {f"{item.path.as_posix()}:{item.graph or ''}": item.place.as_posix() for item in models}


def test_results_are_below_the_name_of_a_directory(tmp_path: Path) -> None:
    write(Path("models/a/one.json"), native())
    write(Path("models/two.json"), native())
    Path("models/readme.txt").write_text("no model")
    assert places(collect_models(["models"], None)) == {
        "models/a/one.json:": "models/a/one",
        "models/two.json:": "models/two",
    }
    absolute = collect_models([tmp_path / "models"], None)
    assert [item.place.as_posix() for item in absolute] == ["models/a/one", "models/two"]


def test_the_current_directory_has_no_name_and_the_output_is_not_searched() -> None:
    write(Path("a/one.json"), native())
    write(Path("out/earlier.json"), native())
    assert places(collect_models(["."], Path("out"))) == {"a/one.json:": "a/one"}


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_links_out_of_a_directory_are_reported() -> None:
    """They are not read, and do not hide models inside."""
    write(Path("models/one.json"), native())
    write(Path("other/secret.json"), native())
    Path("models/link.json").symlink_to(Path("other/secret.json").resolve())
    Path("models/inside.json").symlink_to("one.json")
    listed = collect_models(["models", "other"], None)
    assert [item.path.as_posix() for item in listed] == [
        "models/link.json",
        "models/inside.json",
        "other/secret.json",
    ]
    assert [item.problem.code if item.problem else "" for item in listed] == ["DML1020", "", ""]
    Path("other/secret.json").write_text('{"password": "12345"}', encoding="utf-8")
    (record,) = [item for item in dml2onnx.batch("models", do="check", jobs=1) if item.model == "models/link.json"]
    assert (record.status, record.sources) == ("unreadable", ())
    assert [item.code for item in record.diagnostics] == ["DML1020"]
    write(Path("other/secret.json"), native())
    listed = collect_models(["models"], None, (Path("other"),))
    assert [item.problem for item in listed] == [None, None]
    assert {item.status for item in dml2onnx.batch("models", do="check", jobs=1, allow_paths=["other"])} == {"passed"}


def test_contents_of_tensors_are_no_models() -> None:
    write(Path("models/one.json"), native())
    Path("models/one.bin").write_bytes(b"\1\2\3\4" * 4)
    dml2onnx.convert(dml2onnx.load("models/one.json"), "models/two.bin")
    assert places(collect_models(["models"], None)) == {
        "models/one.json:": "models/one",
        "models/two.bin:": "models/two",
    }


def test_recordings_have_their_graphs() -> None:
    record(Path("models/app"), ("net", "other"))
    write(Path("models/app/nested/one.json"), native())  # belongs to the recording
    expected = {
        "models/app/recording.json:net": "models/app/net",
        "models/app/recording.json:other": "models/app/other",
    }
    assert places(collect_models(["models"], None)) == expected
    assert places(collect_models(["models/app"], None)) == expected
    assert places(collect_models(["models/app/recording.json"], None)) == expected


def test_a_damaged_recording_is_one_model() -> None:
    write(Path("app/recording.json"), {"dml2onnx_recording": 9})
    assert places(collect_models(["app"], None)) == {"app/recording.json:": "app/recording"}


def test_lists_have_a_name_in_each_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(Path("models/one.json"), native())
    write(Path("models/two.json"), native())
    write(tmp_path.parent / "elsewhere" / "three.json", native())
    text = f"models/two.json\n\nmodels/gone.json\r\n{tmp_path.parent / 'elsewhere' / 'three.json'}\nmodels\nplain\n"
    Path("list.txt").write_text(text)
    listed = collect_models(["list.txt"], None)
    three = (tmp_path.parent / "elsewhere" / "three").relative_to(tmp_path.anchor)
    assert [item.place.as_posix() for item in listed] == [
        "models/two",
        "models/gone",
        three.as_posix(),
        "models/one",
        "plain",
    ]
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(os.fsencode(text))))
    assert collect_models(["-"], None) == listed


@pytest.mark.parametrize("contents", [None, b"a\0b\n"])
def test_files_that_are_no_lists(contents: bytes | None) -> None:
    if contents is not None:
        Path("list").write_bytes(contents)
    with pytest.raises(dml2onnx.UnreadableError) as caught:
        collect_models(["list"], None)
    assert [item.code for item in caught.value.diagnostics] == [BAD_LIST.id]


def test_no_two_models_share_an_output() -> None:
    write(Path("a/models/one.json"), native())
    write(Path("b/models/One.json"), native())
    dml2onnx.convert("a/models/one.json", "a/models/one.bin")
    listed = collect_models(["a/models", "b/models"], None)
    assert all(item.problem is None for item in listed)  # as long as nothing is written
    models = with_unique_names(listed)
    assert [str(item.path) for item in models if item.problem is None] == [str(Path("a/models/one.json"))]
    problems = [item.problem for item in models if item.problem is not None]
    assert [item.code for item in problems] == [SAME_OUTPUT.id] * 2
    assert all("one.json" in item.message for item in problems)


def test_work_instead_of_a_model_suggests_do() -> None:
    with pytest.raises(dml2onnx.UnreadableError, match=r"did you mean --do verify\?"):
        collect_models(["verify"], None)
