"""The report in a real browser: citations open their evidence, nothing runs over the edge, nothing is fetched."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from decimal import Decimal
from html import unescape
from pathlib import Path

import pytest

from rag_core.batch.runner import BatchRunner
from rag_core.datamodel.question import Question
from tests.chromium import CONTRAST, Chromium, find_chromium
from tests.integration.batch.scripted import (
    RUN_DATE,
    ScriptedOrchestrator,
    make_batch,
    passage,
    result_evidence,
    scripted_answer,
)

pytestmark = [pytest.mark.integration, pytest.mark.browser]

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PROBE = """<script>addEventListener("load", function () {
  document.title = [document.documentElement.scrollWidth, innerWidth,
    performance.getEntriesByType("resource").filter(function (r) { return !r.name.startsWith("data:"); }).length,
    Array.from(document.images).every(function (i) { return i.complete && i.naturalWidth > 0; })].join(" ");
});</script>"""


@pytest.fixture
def open_page(tmp_path: Path) -> Callable[[str, int], str]:
    """Opens a URL at a width in pixels and returns the page as the browser has it."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("Chromium is not installed")

    def open_at(url: str, width: int) -> str:
        command = [chromium, *FLAGS, f"--user-data-dir={tmp_path / 'chromium'}", f"--window-size={width},900"]
        done = subprocess.run([*command, "--dump-dom", url], capture_output=True, text=True, timeout=120, check=True)
        return done.stdout

    return open_at


@pytest.fixture
def report(make_runner: Callable[[ScriptedOrchestrator], BatchRunner]) -> Path:
    """A report with a chart, a wide table and long words."""
    wide = {f"column_{number}": ("text", ["x" * 40, "y" * 40]) for number in range(12)}
    ranking = result_evidence({"region": ("text", ["A" * 60, "B"]), "n": ("numeric", [Decimal(5), Decimal(70_000)])})
    long_word = "supercalifragilistic" * 12
    answers = {
        "a": scripted_answer(ranking, text="| r | n |\n| --- | ---: |\n| " + "A" * 60 + " | 5 |\n\nSo. [S1]"),
        "b": scripted_answer(
            result_evidence(wide), documents=[passage(f"It was {long_word}.")], text=f"{long_word} [D1]"
        ),
    }
    questions = [Question(question_id=name, text=f"What about {long_word}?") for name in answers]
    outcome = make_runner(ScriptedOrchestrator(answers)).run(make_batch("browser", questions), RUN_DATE)
    return Path(str(outcome.report_path))


def test_a_citation_opens_its_passage(report: Path, open_page: Callable[[str, int], str]) -> None:
    assert '<details class="evidence" open="">' not in open_page(report.as_uri(), 1100)
    opened = open_page(f"{report.as_uri()}#q-b-D1", 1100)
    assert opened.count('<details class="evidence" open="">') == 1
    assert opened.index('<details class="evidence" open="">') < opened.index('id="q-b-D1"')


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_their_ground(report: Path, scheme: str) -> None:
    if find_chromium() is None:
        pytest.skip("Chromium is not installed")
    with Chromium() as browser:
        browser.prefer(scheme)
        browser.open(report.as_uri())
        browser.run("document.querySelectorAll('details').forEach(item => { item.open = true; })")
        assert browser.run(CONTRAST) == []


@pytest.mark.parametrize("width", [500, 1100])
def test_nothing_runs_over_the_edge_and_nothing_is_fetched(
    report: Path, open_page: Callable[[str, int], str], width: int
) -> None:
    probed = report.with_name("probed.html")
    probed.write_text(report.read_text(encoding="utf-8").replace("</body>", f"{PROBE}</body>"), encoding="utf-8")
    page = open_page(probed.as_uri(), width)
    title = unescape(page.split("<title>")[1].split("</title>")[0])
    content, window, fetched, drawn = title.split(" ")
    assert int(content) <= int(window)
    assert fetched == "0"
    assert drawn == "true"
