"""``samples/web``, as described in ``docs/web.md``, in a Chromium with WebGPU and WebNN."""

from __future__ import annotations

import contextlib
import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import dml2onnx
from tests.report.browser import Browser, running
from tests.runtimes import browser

ROOT = Path(__file__).resolve().parent.parent
ORT = browser.DIRECTORY / "ort"
PATIENCE = 150
"""Timeout of a backend in seconds; without a GPU WebGPU compiles shaders and computes on the CPU."""
MODELS = {"wasm": "onnx", "webgpu": "webgpu", "webnn": "webnn"}
"""The files that the page loads, and their targets."""


class Files(http.server.SimpleHTTPRequestHandler):
    """The samples, compiled models, and ONNX Runtime, from three directories."""

    def __init__(self, *given: object, models: Path, **named: object) -> None:
        self.extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".mjs": "text/javascript"}
        self.places = {"/ort/": ORT, "/models/": models}
        super().__init__(*given, directory=str(ROOT / "samples"), **named)  # type: ignore[arg-type]

    def translate_path(self, path: str) -> str:
        for start, place in self.places.items():
            if path.startswith(start):
                return str(place / Path(path.partition("?")[0]).name)
        return super().translate_path(path)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the page, with models for its backends."""
    if not ORT.is_dir():
        pytest.skip("no ONNX Runtime Web: python scripts/_web.py fetches it")
    place = tmp_path_factory.mktemp("models")
    graph = dml2onnx.load(ROOT / "samples" / "digits" / "model.json")
    for name, target in MODELS.items():
        dml2onnx.compile(graph, target=target).save(place / f"{name}.onnx")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, models=place))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/web/?ort=/ort/&models=/models/&device=cpu&patience={PATIENCE}"
    server.shutdown()
    server.server_close()


@contextlib.contextmanager
def chromium(*options: str) -> Iterator[Browser]:
    """Starts a Chromium with these options; skips the test if there is none."""
    try:
        program, environment = browser.executable()
    except RuntimeError as error:
        pytest.skip(str(error))
    fixed = ["--headless", "--no-sandbox", "--no-first-run", "--disable-dev-shm-usage", "--remote-allow-origins=*"]

    def start(port: int, profile: str) -> tuple[list[str], dict[str, str]]:
        own = [f"--remote-debugging-port={port}", f"--user-data-dir={profile}", *options]
        return [str(program), *fixed, *own, "about:blank"], environment

    with running(start) as page:
        yield page


@pytest.fixture(scope="module")
def complete() -> Iterator[Browser]:
    """A browser with all backends."""
    with chromium(browser.WEBNN, *browser.SWIFTSHADER) as page:
        yield page


def shown(page: Browser, address: str) -> dict[str, str]:
    """Returns the table and the texts of the page once it is done."""
    page.call("Page.navigate", url=address)
    page.wait("/^(Done|Failed)/.test(document.getElementById('state')?.textContent)", 2 * PATIENCE)
    rows = "[...document.querySelectorAll('tr')].map((row) => [...row.cells].map((cell) => cell.textContent))"
    facts = dict(page.run(rows))
    texts = page.run("['state', 'problem', 'answers'].map((id) => [id, document.getElementById(id).textContent])")
    return {**facts, **dict(texts)}


@pytest.mark.parametrize("name", ["wasm", "webgpu", "webnn"])
def test_each_backend_reads_the_digits(name: str, complete: Browser, address: str) -> None:
    page = shown(complete, f"{address}&on={name}")
    assert page["problem"] == ""
    assert page["runs on"] == name
    assert page["read right"] == "355 of 360"
    assert page["the browser has"] == "webnn, webgpu, wasm"


def test_the_best_is_chosen(complete: Browser, address: str) -> None:
    assert shown(complete, address)["runs on"] == "webnn"


def test_a_browser_without_webnn_and_webgpu_uses_wasm(address: str) -> None:
    with chromium() as page:
        texts = shown(page, address)
    assert (texts["runs on"], texts["the browser has"], texts["problem"]) == ("wasm", "wasm", "")


def test_a_model_that_webnn_refuses_runs_on_the_next(complete: Browser, address: str) -> None:
    # simulates a WebNN that does not build graphs: ONNX Runtime would never return
    script = "MLGraphBuilder.prototype.build = async () => { throw new Error('not built') }"
    added = complete.call("Page.addScriptToEvaluateOnNewDocument", source=script)
    page = shown(complete, address)
    complete.call("Page.removeScriptToEvaluateOnNewDocument", identifier=added["identifier"])
    assert page["problem"] == "webnn: not built\n"
    assert (page["runs on"], page["read right"]) == ("webgpu", "355 of 360")
