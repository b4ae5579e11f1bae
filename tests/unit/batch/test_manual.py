"""Questions that nobody keeps in a file: one a line, or CSV."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_core.batch.manual import MAX_BYTES, batch_from_csv, batch_from_file, batch_from_lines
from rag_core.errors import ConfigurationError


def test_pasted_lines_become_questions_with_stable_ids() -> None:
    first = batch_from_lines("What  was revenue?\n\n What was churn?\nwhat was revenue?\n")
    again = batch_from_lines("What was churn?\nWhat was revenue?")
    assert [question.text for question in first.questions] == ["What was revenue?", "What was churn?"]
    assert {question.question_id for question in first.questions} == {q.question_id for q in again.questions}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (" \n", "there is no question"),
        ("x" * 10_000, "has 10000 characters"),
        ("ok?\nno", "question 2 has 2 characters"),
        ("What\x00 is it?", r"question 1: the text holds the control character U\+0000"),
        ("\n".join(f"What is {number}?" for number in range(501)), "more questions than the 500"),
    ],
)
def test_pasted_lines_are_refused_with_a_reason(text: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        batch_from_lines(text)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_csv_has_questions_ids_and_titles(separator: str) -> None:
    rows = (
        ("question_id", "Question", "title", "note"),
        ("umsatz", "What was revenue in K\u00f6ln?", "Umsatz", "x"),
        ("", "And churn?", "", ""),
    )
    found = batch_from_csv("\ufeff" + "\r\n".join(separator.join(row) for row in rows))
    first, second = found.questions
    assert (first.question_id, first.text, first.title) == ("umsatz", "What was revenue in K\u00f6ln?", "Umsatz")
    assert (second.question_id, second.title) == (batch_from_lines("And churn?").questions[0].question_id, None)


def test_a_quoted_question_may_hold_commas_quotes_and_line_breaks() -> None:
    found = batch_from_csv('question\n"What was ""net"" revenue,\nand churn?"\n')
    assert [question.text for question in found.questions] == ['What was "net" revenue, and churn?']


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "needs a column named question"),
        ("a,b\n1,2", "needs a column named question; its header has: a,b"),
        ("question\n\n", "there is no question"),
        ('question\n"open', "is no CSV"),
        ("question,question_id\nWhat?,Not An Id", "question 2: 'Not An Id' is no id"),
        ("question,question_id\nWhat one?,a\nWhat two?,a", "question 3: the id a is used twice"),
        ("question\n" + "x" * 10_000, "question 2 has 10000 characters"),
        ("question\n" + "What?\n" * 500_000, "bytes are no list of questions"),
    ],
)
def test_csv_is_refused_with_the_row_and_the_reason(text: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message) as refused:
        batch_from_csv(text)
    assert "\n" not in str(refused.value)


def test_html_and_sql_in_a_question_are_text(tmp_path: Path) -> None:
    (tmp_path / "asked.csv").write_text("question\n<script>alert(1)</script>'; DROP TABLE x;--\n", encoding="utf-8")
    assert batch_from_file(tmp_path / "asked.csv").questions[0].text == "<script>alert(1)</script>'; DROP TABLE x;--"


def test_a_file_of_lines_is_read_and_a_large_or_missing_one_refused(tmp_path: Path) -> None:
    (tmp_path / "asked.txt").write_text("What was revenue?\n", encoding="utf-8")
    assert len(batch_from_file(tmp_path / "asked.txt").questions) == 1
    with pytest.raises(ConfigurationError, match="cannot be read: No such file"):
        batch_from_file(tmp_path / "none.csv")
    with (tmp_path / "large.csv").open("wb") as file:
        file.truncate(50_000_000)
    with pytest.raises(ConfigurationError, match=f"50,000,000 bytes are no list of questions: at most {MAX_BYTES:,}"):
        batch_from_file(tmp_path / "large.csv")
    (tmp_path / "latin.csv").write_bytes("question\nWas kostet Köln?".encode("latin-1"))
    with pytest.raises(ConfigurationError, match="is not text in UTF-8"):
        batch_from_file(tmp_path / "latin.csv")
