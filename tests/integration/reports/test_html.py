"""The report as a file: nothing in it is made from data but text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from rag_core.batch.runner import BatchRunner
from rag_core.datamodel.evidence import ColumnMeaning, Finding
from rag_core.datamodel.question import Batch, Question
from tests.integration.batch.scripted import (
    RUN_DATE,
    ScriptedOrchestrator,
    passage,
    result_evidence,
    scripted_answer,
)
from tests.page_html import check_html

pytestmark = pytest.mark.integration

EVIL = (
    "<script>alert(1)</script><img src=x onerror=alert(2)></td></table><svg/onload=alert(3)>\"'&amp;`'; DROP TABLE x;--"
)
VOID = {"meta", "img", "br", "hr", "link", "input"}
SHAPES = {"polyline", "circle"}


class _Page(HTMLParser):
    """Counts elements and complains about what does not nest."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.ids: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in VOID | SHAPES, f"<{tag}/> is not closed in HTML"
        self.elements[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag, f"</{tag}> does not close what is open"

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read_page(path: str | None) -> _Page:
    """The report, parsed."""
    assert path is not None
    page = _Page()
    page.feed(Path(path).read_text(encoding="utf-8"))
    page.close()
    assert page.open == []
    return page


@pytest.fixture
def evil_report(make_runner: Callable[[ScriptedOrchestrator], BatchRunner]) -> str | None:
    """The report of a run in which every text is an attack."""
    columns: dict[str, tuple[str, list[Any]]] = {
        EVIL: ("text", [EVIL, "b"]),
        "n": ("numeric", [Decimal(5), Decimal(7)]),
    }
    meanings = (
        ColumnMeaning(name=EVIL, label=EVIL, role="dimension"),
        ColumnMeaning(name="n", label=EVIL, unit=EVIL, role="metric"),
    )
    evidence = result_evidence(columns, meanings=meanings)
    answer = scripted_answer(
        evidence,
        documents=[
            passage(
                f"{EVIL} quoted.",
                path=EVIL,
                title=EVIL,
                heading_path=(EVIL,),
                document_type=EVIL,
                metadata={"date": EVIL, "status": "superseded"},
            )
        ],
        text=f"{EVIL} [S1] [D1] [S9]\n\n[x](javascript:alert(4)) ![y](http://e.example/z.png)\n\n"
        f"| {EVIL} |\n| --- |\n| {EVIL} |",
        explanation=EVIL,
        findings=(Finding(code="x", severity="warning", message=EVIL),),
        headline_value=EVIL,
        headline_unit=EVIL,
    )
    failed = scripted_answer(status="failed", text=EVIL)
    batch = Batch(
        batch="evil",
        title=EVIL,
        description=EVIL,
        owner=EVIL,
        audience=EVIL,
        questions=(
            Question(question_id="a", text=EVIL, title=EVIL),
            Question(question_id="b", text=EVIL),
        ),
    )
    runner = make_runner(ScriptedOrchestrator({"a": answer, "b": failed}))
    return runner.run(batch, RUN_DATE).report_path


def test_no_element_is_made_from_data(evil_report: str | None) -> None:
    page = read_page(evil_report)
    assert page.elements["script"] == 1
    assert page.elements["svg"] == 0
    assert page.elements["img"] == 1
    assert {name for _, name, _ in page.attributes if name.startswith("on")} == set()
    for tag, name, value in page.attributes:
        if name in ("src", "href"):
            assert value.startswith(("#", "data:image/svg+xml;base64,")), (tag, value)
    assert "".join(page.text).count("DROP TABLE x") >= 10


def test_the_page_is_whole_and_its_links_lead_somewhere(evil_report: str | None) -> None:
    page = read_page(evil_report)
    assert len(page.ids) == len(set(page.ids))
    targets = [value[1:] for _, name, value in page.attributes if name == "href"]
    assert set(targets) <= set(page.ids)
    assert {"q-a-S1", "q-a-D1"} <= set(targets)
    assert "q-a-S9" not in targets
    assert all(value for tag, name, value in page.attributes if tag == "img" and name == "alt")


def test_it_is_html_as_the_standard_has_it(evil_report: str | None) -> None:
    assert evil_report is not None
    check_html(Path(evil_report).read_text(encoding="utf-8"))


def test_the_markdown_report_starts_neither_html_nor_a_link(evil_report: str | None) -> None:
    assert evil_report is not None
    text = Path(evil_report).with_suffix(".md").read_text(encoding="utf-8")
    assert "<script" not in text
    assert "<img" not in text
    assert "](javascript" not in text


def test_the_same_run_gives_the_same_report(make_runner: Callable[[ScriptedOrchestrator], BatchRunner]) -> None:
    evidence = result_evidence({"region": ("text", ["A", "B"]), "n": ("numeric", [Decimal(5), Decimal(7)])})
    runner = make_runner(ScriptedOrchestrator({"a": scripted_answer(evidence)}))
    batch = Batch(batch="same", title="Same", owner="t", questions=(Question(question_id="a", text="What?"),))
    run = runner.run(batch, RUN_DATE)
    first = Path(str(run.report_path)).read_text(encoding="utf-8")
    runner.finish(run.run_id)
    second = Path(str(run.report_path)).read_text(encoding="utf-8")
    without_time = [[line for line in text.splitlines() if "finished" not in line] for text in (first, second)]
    assert without_time[0] == without_time[1]
    assert "data:image/svg+xml;base64," in first
