"""Takes the pictures of the page for the documentation from a running Airflow.

`.venv/bin/python -m scripts.page_screenshots RUN_ID QUESTION_ID`, with the settings of that Airflow in the environment,
after the sample's batches have run. Needs Chromium.
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path

from PIL import Image

from nightshift_airflow.server import AirflowServer
from rag_core.settings import load_settings
from tests.chromium import Chromium

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images"
COLOURS = 256


def main() -> None:
    """Writes docs/images/page-*.png."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run_id", help="a finished run of a batch")
    parser.add_argument("question_id", help="a question of it that has a chart")
    parser.add_argument("--event", default="1", help="number of a drift event")
    parser.add_argument("--plan", help="id of a plan; else the first that is listed")
    options = parser.parse_args()
    server = AirflowServer(load_settings())
    with Chromium(width=1280, height=860) as browser:
        _log_in(browser, server)
        browser.open(f"{server.url}/plugin/nightshift")
        frame = "document.querySelector('iframe').contentDocument"
        browser.wait_for(f"{frame}.querySelector('.card') !== null")
        _shoot(browser, "today")
        page = f"{server.url}/nightshift"
        answer = f"{page}/runs/{options.run_id}/questions/{options.question_id}"
        _open(browser, answer)
        _shoot(browser, "answer")
        browser.prefer("dark")
        _open(browser, answer)
        _shoot(browser, "answer-dark")
        browser.prefer("light")
        _open(browser, f"{page}/drift")
        _shoot(browser, "drift")
        _open(browser, f"{page}/drift/{options.event}")
        _shoot(browser, "drift-event")
        _open(browser, f"{page}/plans")
        _shoot(browser, "plans")
        plan = options.plan or browser.run("document.querySelector('table a').href.split('/').pop()")
        _open(browser, f"{page}/plans/{plan}")
        _shoot(browser, "plan")
        browser.resize(390, 844, phone=True)
        _open(browser, answer)
        _shoot(browser, "phone")


def _log_in(browser: Chromium, server: AirflowServer) -> None:
    browser.open(f"{server.url}/")
    browser.wait_for("document.querySelector('input[name=username]') !== null")
    for name, text in zip(("username", "password"), server.credentials(), strict=True):
        browser.run(f"document.querySelector('input[name={name}]').focus()")
        browser.type(text)
    browser.run("document.querySelector('button[type=submit]').click()")
    browser.wait_for("document.querySelector('a[href$=\"plugin/nightshift\"]') !== null")


def _open(browser: Chromium, url: str) -> None:
    browser.open(url)
    browser.wait_for(
        "document.querySelector('h1') && [...document.images].every(i => i.complete && i.naturalWidth > 0)"
    )


def _shoot(browser: Chromium, name: str) -> None:
    path = FOLDER / f"page-{name}.png"
    browser.screenshot(path)
    # Flat colours: a palette keeps the file a third of its size.
    picture = Image.open(io.BytesIO(path.read_bytes())).convert("RGB")
    picture = picture.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    picture.save(path, optimize=True)


if __name__ == "__main__":
    main()
