"""A headless Chromium driven over its DevTools protocol: no more than the tests need, and no further library."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
)

# Texts whose contrast with their ground is below the 4.5 that WCAG asks for (AA), with what they are and how little.
CONTRAST = """(() => {
  const parse = c => c.match(/[\\d.]+/g).map(Number);
  const f = v => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; };
  const light = ([r, g, b]) => { return .2126 * f(r) + .7152 * f(g) + .0722 * f(b); };
  const ground = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] === 1) return c; } return [255, 255, 255]; };
  const bad = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || e.closest('.skip, .unseen, script')) continue;
    const a = light(parse(getComputedStyle(e).color)), b = light(ground(e));
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) bad.push([e.className || e.tagName, e.textContent.slice(0, 30), ratio.toFixed(2)]);
  }
  return bad;
})()"""


def find_chromium() -> str | None:
    """Path of the browser, None where there is none."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


class Chromium:
    """One browser with one tab; a context manager."""

    def __init__(self, *, width: int = 1280, height: int = 900) -> None:
        self._size = (width, height)
        self._number = 0
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> Chromium:
        from websockets.sync.client import connect

        binary = find_chromium()
        assert binary is not None
        self._profile = tempfile.mkdtemp(prefix="nscr")
        width, height = self._size
        self._process = subprocess.Popen(
            [binary, *FLAGS, f"--user-data-dir={self._profile}", f"--window-size={width},{height}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        port = self._wait_for_port()
        tabs = httpx.get(f"http://127.0.0.1:{port}/json").json()
        address = next(tab["webSocketDebuggerUrl"] for tab in tabs if tab["type"] == "page")
        self._open = ExitStack()
        self._socket = self._open.enter_context(connect(address, max_size=None, open_timeout=60))
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.resize(width, height)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._profile, ignore_errors=True)

    def _wait_for_port(self, seconds: float = 60.0) -> int:
        deadline = time.monotonic() + seconds
        path = Path(self._profile) / "DevToolsActivePort"
        while time.monotonic() < deadline:
            if path.exists() and path.read_text().strip():
                return int(path.read_text().split()[0])
            assert self._process.poll() is None, "Chromium ended while starting"
            time.sleep(0.1)
        raise TimeoutError("Chromium did not open its port")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command of the protocol; what the browser reports meanwhile is kept in `events`."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv(timeout=120))
            if message.get("id") == self._number:
                assert "error" not in message, message
                found: dict[str, Any] = message["result"]
                return found
            self.events.append(message)

    def resize(self, width: int, height: int, *, scale: float = 1, phone: bool = False) -> None:
        """The size of the window in CSS pixels."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=phone
        )

    def prefer(self, scheme: str) -> None:
        """Light or dark."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def without_script(self, off: bool = True) -> None:
        """Switches JavaScript of pages off."""
        self.call("Emulation.setScriptExecutionDisabled", value=off)

    def open(self, url: str) -> None:
        """Loads a page and waits for it."""
        self.call("Page.navigate", url=url)
        self.wait_for("document.readyState === 'complete' && location.href !== 'about:blank'")

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        reply = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in reply:
            raise AssertionError(reply["exceptionDetails"]["exception"].get("description", reply))
        return reply["result"].get("value")

    def wait_for(self, script: str, seconds: float = 60.0) -> Any:
        """Returns when the expression is true; its errors while a page loads count as false."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                found = self.run(script)
            except AssertionError:
                found = None
            if found:
                return found
            time.sleep(0.15)
        raise TimeoutError(f"never true: {script}; the page says: {self.text()[:2000]}")

    def text(self) -> str:
        """The text that the page shows."""
        return str(self.run("document.body ? document.body.innerText : ''") or "")

    def type(self, text: str) -> None:
        """Types into what has the focus."""
        self.call("Input.insertText", text=text)

    def press(self, key: str, code: int, text: str = "") -> None:
        """Presses a key; `text` is what it writes."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, text=text)

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        """A PNG of the window, or of the whole page."""
        reply = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(reply["data"]))
