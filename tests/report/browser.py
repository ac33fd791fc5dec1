"""A headless Chromium for tests, driven by its DevTools protocol: https://chromedevtools.github.io/devtools-protocol

Uses Qt WebEngine in ``.venv-browser``, which ``scripts/test.py`` creates, or else a Chromium or Chrome of the system.
Without a browser or a websocket client, tests that need one are skipped.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
QT_PYTHONS = (ROOT / ".venv-browser" / "bin" / "python", ROOT / ".venv-browser" / "Scripts" / "python.exe")
SYSTEM = ("chromium", "chromium-browser", "google-chrome", "chrome")
TIMEOUT = 60.0
SIZE = (1440, 900)


def command(port: int, profile: str) -> list[str]:
    """Returns the command that starts a browser; skips the test if there is none."""
    width, height = map(str, SIZE)
    for python in QT_PYTHONS:
        if python.exists():
            return [str(python), str(Path(__file__).with_name("qt_browser.py")), str(port), width, height]
    for name in SYSTEM:
        found = shutil.which(name)
        if found:
            options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-allow-origins=*", "--no-first-run"]
            window = [f"--window-size={width},{height}", f"--user-data-dir={profile}", "about:blank"]
            return [found, *options, f"--remote-debugging-port={port}", *window]
    pytest.skip("no headless Chromium: run scripts/test.py, which brings one, or install chromium")


class Browser:
    """One page of a running browser."""

    def __init__(self, address: str) -> None:
        import websocket

        self._socket = websocket.create_connection(address, timeout=TIMEOUT)
        self._number = 0
        self.problems: list[str] = []
        """Errors and warnings of the console and the network."""
        self.requests: list[str] = []
        for domain in ("Runtime", "Log", "Network", "Page"):
            self.call(f"{domain}.enable")
        self.resize(*SIZE)

    def close(self) -> None:
        self._socket.close()

    def resize(self, width: int, height: int, *, mobile: bool = False) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """Sends a command of the protocol, and returns its result."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv())
            if message.get("id") == self._number:
                assert "error" not in message, message
                result: dict[str, Any] = message["result"]
                return result
            self._event(message)

    def _event(self, message: dict[str, Any]) -> None:
        details = message.get("params", {})
        match message.get("method"):
            case "Runtime.exceptionThrown":
                self.problems.append(json.dumps(details["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if details["type"] in ("error", "warning", "assert"):
                self.problems.append(json.dumps(details["args"]))
            case "Log.entryAdded" if details["entry"]["level"] in ("error", "warning"):
                self.problems.append(json.dumps(details["entry"]))
            case "Network.requestWillBeSent":
                self.requests.append(details["request"]["url"])

    def open(self, path: Path) -> None:
        """Loads a file, and waits until it is drawn."""
        self.problems.clear()
        self.requests.clear()
        self.call("Page.navigate", url=path.as_uri())
        self.wait("document.readyState === 'complete' && location.protocol === 'file:'")
        self.settle()

    def run(self, script: str) -> Any:
        """Evaluates an expression."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, condition: str, seconds: float = TIMEOUT) -> None:
        """Waits until an expression is true."""
        end = time.monotonic() + seconds
        while not self.run(condition):
            assert time.monotonic() < end, f"never: {condition}"
            time.sleep(0.02)

    def settle(self) -> None:
        """Waits until changes are on the screen."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def click(self, x: float, y: float) -> None:
        """Clicks with the left button."""
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.settle()

    def click_on(self, selector: str) -> None:
        """Clicks in the middle of an element."""
        element = f"document.querySelector({json.dumps(selector)})"
        self.run(f"{element}.scrollIntoView({{block: 'center'}})")
        self.settle()
        box = self.run(
            f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])({element}.getBoundingClientRect())"
        )
        self.click(*box)

    def press(self, key: str, code: int) -> None:
        """Presses a key without text, by its name and its Windows key code."""
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)
        self.settle()

    def type(self, text: str) -> None:
        """Types text into the focused element."""
        for char in text:
            self.call("Input.dispatchKeyEvent", type="keyDown", key=char, text=char)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=char)
        self.settle()

    def prefer(self, **features: str) -> None:
        """Sets media features, such as ``prefers_color_scheme="dark"``."""
        media = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.call("Emulation.setEmulatedMedia", features=media)
        self.settle()

    def screenshot(self) -> bytes:
        """Returns the visible part as a PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])


Start = tuple[list[str], dict[str, str]]
"""A command that starts a browser, and its environment."""


@contextlib.contextmanager
def running(start: Callable[[int, str], Start] | None = None) -> Iterator[Browser]:
    """Runs a browser during the block; ``start`` selects another one, given a port and a profile."""
    pytest.importorskip("websocket", reason="the browser is driven with websocket-client")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        line, environment = start(port, profile) if start is not None else (command(port, profile), dict(os.environ))
        process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment)
        try:
            page = Browser(_address(port, process))
            yield page
            page.close()
        finally:
            process.kill()
            process.wait()


def _address(port: int, process: subprocess.Popen[str]) -> str:
    """Returns the address of the first page; skips the test if the browser cannot start, for want of libraries."""
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        if process.poll() is not None:
            assert process.stderr is not None
            pytest.skip(f"the browser does not start here: {process.stderr.read()[-300:]}")
        with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list") as answer:
            pages = [item for item in json.load(answer) if item["type"] == "page"]
            if pages:
                return str(pages[0]["webSocketDebuggerUrl"])
        time.sleep(0.05)
    pytest.skip("the browser does not answer here")
