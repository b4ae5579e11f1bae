"""The PDF report: data is shown as it is, and nothing in it is evaluated."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from rag_core.datamodel.answer import Answer, Usage, Verdict
from rag_core.datamodel.evidence import ColumnMeaning
from rag_core.datamodel.question import Batch, Question
from rag_core.datamodel.report import QuestionOutcome
from rag_core.reports.bundle import AnsweredQuestion, RunBundle
from rag_core.reports.pdf import MAX_ROWS, render_pdf, text_blocks
from tests.evidence import sql_evidence

EVIL = '#eval("1+1") #let x = 1 *bold* _it_ $x^2$ `raw` [link](http://e.example) <b>b</b> \\u{202e} @ref = head // gone'


def _bundle(text: str, *, rows: int = 3, state: Any = "published", title: str = "Review") -> RunBundle:
    question = Question(question_id="revenue", text="What was revenue by region?")
    meanings = (
        ColumnMeaning(name="region", label="Region", role="dimension"),
        ColumnMeaning(name="revenue", label="Revenue", unit="EUR", decimals=2, role="metric"),
    )
    cells = [(f"Region {number} {EVIL}", Decimal(number)) for number in range(rows)]
    answer = Answer(
        question=question.text,
        question_id="revenue",
        run_date=date(2026, 7, 1),
        status="answered",
        text=text,
        strategy="metric",
        query_type="sql",
        verdict=Verdict(supported=True),
        sql=(sql_evidence({"region": "text", "revenue": "numeric"}, *cells, meanings=meanings),),
        explanation=EVIL,
    )
    outcome = QuestionOutcome(
        question_id="revenue", status="answered", strategy="metric", state=state, answer=text, reason="a bound was left"
    )
    moment = datetime(2026, 7, 1, 3, tzinfo=UTC)
    return RunBundle(
        run_id="r",
        batch=Batch(batch="review", title=title, owner="finance", questions=(question,)),
        run_date=date(2026, 7, 1),
        started_at=moment,
        finished_at=moment,
        published=True,
        items=(AnsweredQuestion(question=question, answer=answer, outcome=outcome),),
        usage=Usage(),
    )


def _read(pdf: bytes) -> str:
    from io import BytesIO

    from docling_parse.pdf_parser import DoclingPdfParser

    document = DoclingPdfParser(loglevel="fatal").load(BytesIO(pdf))
    pages = [document.get_page(number) for number in range(1, document.number_of_pages() + 1)]
    return " ".join(cell.text for page in pages for cell in page.textline_cells)


def test_a_report_is_a_pdf_with_the_answer_its_rows_and_its_statement() -> None:
    said = _read(render_pdf(_bundle("Revenue was **5.00 EUR** in Berlin. [S1]"), {}))
    for part in ("What was revenue by region?", "5.00 EUR", "Berlin", "Revenue (EUR)", "finance", "1 July 2026"):
        assert part in said, part


def _pages(pdf: bytes) -> list[str]:
    from io import BytesIO

    from docling_parse.pdf_parser import DoclingPdfParser

    document = DoclingPdfParser(loglevel="fatal").load(BytesIO(pdf))
    pages = [document.get_page(number) for number in range(1, document.number_of_pages() + 1)]
    return [" ".join(cell.text for cell in page.textline_cells) for page in pages]


def _with(bundle: RunBundle, *, rows: list[tuple[Any, ...]], columns: dict[str, str], text: str) -> RunBundle:
    (item,) = bundle.items
    answer = item.answer.model_copy(update={"text": text, "sql": (sql_evidence(columns, *rows),)})
    question = item.question.model_copy(update={"chart": "none"})
    changed = item.model_copy(update={"answer": answer, "question": question})
    return bundle.model_copy(update={"items": (changed,)})


def test_rows_that_the_answer_shows_are_not_set_twice() -> None:
    rows: list[tuple[Any, ...]] = [(date(2026, 1, 1), Decimal(41)), (date(2026, 4, 1), Decimal(57))]
    columns = {"quarter": "date", "orders": "bigint"}
    table = "So it was.\n\n| Quarter | Orders |\n| --- | ---: |\n| Q1 2026 | 41 |\n| Q2 2026 | 57 |"
    said = _read(render_pdf(_with(_bundle(""), rows=rows, columns=columns, text=table), {}))
    assert said.count("57") == 1
    assert "2 rows, shown with the answer" in said
    for other in (table.replace("57", "58"), table.rsplit("\n", 1)[0], "Orders rose."):
        said = _read(render_pdf(_with(_bundle(""), rows=rows, columns=columns, text=other), {}))
        assert "shown with the answer" not in said
        assert "2026-04-01" in said


@pytest.mark.parametrize("lines", [0, 10, 20, 30])
def test_a_table_that_fits_on_a_page_is_not_broken(lines: int) -> None:
    rows: list[tuple[Any, ...]] = [(f"place {number:02}", Decimal(number)) for number in range(20)]
    text = "\n\n".join(f"Line {number}." for number in range(lines))
    pages = _pages(render_pdf(_with(_bundle(""), rows=rows, columns={"place": "text", "n": "bigint"}, text=text), {}))
    holding = [page for page in pages if "place 0" in page or "place 1" in page]
    assert len(holding) == 1
    assert all(f"place {number:02}" in holding[0] for number in range(20))


def test_a_title_is_the_heading_and_the_text_stands_below() -> None:
    bundle = _bundle("It rose.")
    (item,) = bundle.items
    question = item.question.model_copy(update={"title": "Revenue, by region"})
    said = _read(render_pdf(bundle.model_copy(update={"items": (item.model_copy(update={"question": question}),)}), {}))
    assert said.count("Revenue, by region") == 2  # at a glance, and above the answer
    assert said.count("What was revenue by region?") == 1


def test_nothing_in_the_data_is_taken_for_markup() -> None:
    said = _read(render_pdf(_bundle(EVIL, title=EVIL), {}))
    for part in ('#eval("1+1")', "#let x = 1", "$x^2$", "@ref", "// gone", "<b>b</b>"):
        assert part in said, part


@pytest.mark.parametrize(
    "text", ["", "\x00\x07\ud800", "中文 العربية Žluťoučký Ελληνικά 🙂", "a" * 20_000, "| a |\n|---|\n| b |"]
)
def test_any_text_can_be_set(text: str) -> None:
    assert render_pdf(_bundle(text), {}).startswith(b"%PDF-")


def test_what_the_checks_kept_back_is_not_on_paper() -> None:
    said = _read(render_pdf(_bundle("Revenue was 5.00 EUR. [S1]", state="quarantined"), {}))
    assert "a bound was left" in said
    assert "5.00" not in said


def test_rows_beyond_a_pages_worth_are_counted_not_shown() -> None:
    said = _read(render_pdf(_bundle("Rows. [S1]", rows=MAX_ROWS + 7), {}))
    assert f"{MAX_ROWS + 7} rows, 7 not shown" in said


def test_the_same_run_gives_the_same_bytes() -> None:
    assert render_pdf(_bundle("Revenue. [S1]"), {}) == render_pdf(_bundle("Revenue. [S1]"), {})


def test_blocks_keep_lists_tables_code_and_emphasis() -> None:
    found = text_blocks(
        "# H\n\nOne **two** `three`\n\n- a\n  - b\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n```\n\n> q"
    )
    assert [(block["kind"], block.get("depth")) for block in found] == [
        ("heading", 0),
        ("paragraph", 0),
        ("item", 1),
        ("item", 2),
        ("table", None),
        ("code", None),
        ("paragraph", 0),
    ]
    assert found[1]["runs"][1] == {"text": "two", "style": "strong"}
    assert [[cell[0]["text"] for cell in row] for row in found[4]["rows"]] == [["x", "y"], ["1", "2"]]
    assert found[5]["text"] == "code"
