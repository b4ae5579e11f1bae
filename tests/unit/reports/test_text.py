"""How values, changes, answers and passages are written."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from rag_core.datamodel.evidence import ColumnMeaning, Passage, Scores
from rag_core.datamodel.question import Question
from rag_core.reports.markdown import harmless, plain_line
from rag_core.reports.markup import answer_html, passage_html, plain_excerpt
from rag_core.reports.numbers import describe_change, format_value
from rag_core.reports.rows import (
    clean_text,
    heading_of,
    headings_below,
    plain_title,
    split_headline,
    typed_values,
    with_unit,
)
from rag_core.reports.sparkline import draw_sparkline


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"),
        (True, "yes"),
        (1234567, "1,234,567"),
        (Decimal("1234.5"), "1,234.5"),
        (0.1, "0.1"),
        (Decimal("NaN"), "NaN"),
        (9007199254740993, "9,007,199,254,740,993"),
        (date(2026, 7, 1), "2026-07-01"),
        (datetime(2026, 7, 1, 5, 6, 7, tzinfo=UTC), "2026-07-01 05:06+00:00"),
        ("<b>", "<b>"),
    ],
)
def test_values(value: Any, shown: str) -> None:
    assert format_value(value) == shown


@pytest.mark.parametrize(
    ("now", "before", "words"),
    [
        (Decimal(110), Decimal(100), "+10.0 %"),
        (90, 100, "−10.0 %"),
        (5, 5, "unchanged"),
        (5, 0, None),
        ("5", 4, None),
        (-5, -10, "+50.0 %"),
        (float("nan"), 1, None),
    ],
)
def test_changes(now: Any, before: Any, words: str | None) -> None:
    assert describe_change(now, before) == words


def test_a_citation_becomes_a_link_only_where_its_evidence_is() -> None:
    html = answer_html("It fell. [S1] [D9]", anchor="q-a", markers=["S1"])
    assert html == '<p>It fell. <a class="cite" href="#q-a-S1">S1</a> [D9]</p>\n'


def test_an_answer_makes_neither_elements_nor_links() -> None:
    html = answer_html("<b>x</b> [y](http://e.example) ![z](u) <http://e.example>", anchor="q", markers=[])
    assert "<b>" not in html
    assert "<a" not in html
    assert "<img" not in html


def test_quotes_are_marked_in_their_passage_and_nothing_else() -> None:
    assert passage_html("A <b>. B & C.", ["B & C.", "", "not there"]) == "A &lt;b&gt;. <mark>B &amp; C.</mark>"
    assert passage_html("<i>", []) == "&lt;i&gt;"


def test_markdown_of_data_means_nothing() -> None:
    assert plain_line("# a\n*b* [c](d) <e>") == "\\# a \\*b\\* \\[c\\](d) &lt;e>"
    assert harmless("[c](javascript:d) <e>\n| a |") == "[c]\\(javascript:d) &lt;e>\n| a |"


def test_headlines_are_numbers_only_where_they_are_finite() -> None:
    assert split_headline(Decimal("1.10")) == (Decimal("1.10"), "1.10")
    assert split_headline(float("inf")) == (None, "inf")
    assert split_headline(True) == (None, "True")
    assert split_headline(None) == (None, None)


def test_cells_keep_their_exact_values() -> None:
    assert typed_values(0.1)[:2] == ("0.1", Decimal("0.1"))
    assert typed_values(2**70)[1] == Decimal(2**70)
    assert typed_values(datetime(2026, 7, 1, 5)) == (  # noqa: DTZ001 - a database may hand out moments without zone
        "2026-07-01T05:00:00",
        None,
        None,
        datetime(2026, 7, 1, 5, tzinfo=UTC),
        None,
    )
    assert typed_values(False) == ("False", None, None, None, False)
    assert typed_values(Decimal("NaN"))[:2] == ("NaN", None)


def test_texts_that_postgresql_cannot_hold_are_mended() -> None:
    assert clean_text("a\x00b\ud800") == "a\ufffdb?"


def test_a_unit_is_said_once() -> None:
    assert with_unit(ColumnMeaning(name="t", label="Support tickets", unit="tickets")) == "Support tickets"
    assert with_unit(ColumnMeaning(name="r", label="Revenue", unit="EUR")) == "Revenue (EUR)"


def test_a_sparkline_needs_two_values_and_says_what_it_shows() -> None:
    assert draw_sparkline([1.0]) is None
    drawn = draw_sparkline([1.0, 3.0, 2.0], unit='"EUR"')
    assert drawn is not None
    assert 'points="3.0,25.0 60.0,3.0 117.0,14.0"' in drawn
    assert 'aria-label="3 runs, from 1 &#34;EUR&#34; to 2 &#34;EUR&#34;"' in drawn
    flat = draw_sparkline([5.0, 5.0])
    assert flat is not None
    assert 'points="3.0,14.0 117.0,14.0"' in flat


def test_a_title_names_the_dates_that_each_run_fills_in() -> None:
    question = Question(question_id="revenue", text="What was revenue by month in {last_year}?")
    assert plain_title(question) == "What was revenue by month in last year?"
    assert plain_title(question.model_copy(update={"title": "Revenue of {this_quarter}"})) == "Revenue of this quarter"


@pytest.mark.parametrize(
    ("text", "length", "shown"),
    [
        ("It rose.", 100, "It rose."),
        (
            "# Terms\n\n- **Air** freight\n- `MS-200`, see [the list](x.md)",
            100,
            "Terms Air freight MS-200, see the list",
        ),
        ("| Route | Days |\n| --- | ---: |\n| Sea | 19 |\n| Air | 2 |", 100, "Route · Days; Sea · 19; Air · 2"),
        ("| Sea, Gothenburg | 19 days |", 100, "Sea, Gothenburg · 19 days"),
        ("one two three", 9, "one two…"),
        ("one two three", 13, "one two three"),
        ("<b>bold</b> & more", 100, "<b>bold</b> & more"),
        ("", 100, ""),
    ],
)
def test_an_excerpt_is_plain_words(text: str, length: int, shown: str) -> None:
    assert plain_excerpt(text, length) == shown


def test_a_title_stands_above_the_text_that_was_asked() -> None:
    question = Question(question_id="a", text="What was revenue in {last_month}?", title="Revenue of {last_month}")
    assert heading_of(question, "What was revenue in June 2026?") == (
        "Revenue of last month",
        "What was revenue in June 2026?",
    )
    bare = Question(question_id="a", text="What was revenue?")
    assert heading_of(bare, "What was revenue?") == ("What was revenue?", "")
    same = Question(question_id="a", text="What was revenue?", title="what was revenue? ")
    assert heading_of(same, "What was revenue?") == ("what was revenue? ", "")


@pytest.mark.parametrize(
    ("title", "path", "below"),
    [("Terms", ("Terms", "Air"), ("Air",)), ("Terms", ("Air", "Terms"), ("Air", "Terms")), ("", (), ())],
)
def test_a_document_s_title_is_said_once(title: str, path: tuple[str, ...], below: tuple[str, ...]) -> None:
    passage = Passage(
        rank=1, chunk_id=1, document_id="d", path="a.md", title=title, text="t", heading_path=path, scores=Scores(rrf=1)
    )
    assert headings_below(passage) == below
