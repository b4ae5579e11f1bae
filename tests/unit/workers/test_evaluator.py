from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from rag_core.datamodel.answer import Claim
from rag_core.datamodel.evidence import ColumnMeaning
from rag_core.workers.evaluator import evaluate, judge_claim
from tests.evidence import passage, sql_evidence

MARGIN = ColumnMeaning(name="net_margin", label="Net margin", unit="%", decimals=1, role="metric")
SERIES = sql_evidence(
    {"quarter": "date", "region": "text", "net_margin": "numeric"},
    (date(2025, 4, 1), "Nordics", Decimal("17.634")),
    (date(2025, 7, 1), "Nordics", Decimal("11.437")),
    meanings=(MARGIN,),
    task="Net margin by quarter, 2025, only region Nordics",
)
STANDARD = passage(
    "Service metrics are kept at full resolution for 90 days. Deletion jobs never run on a Monday.",
    title="Data retention standard",
    heading_path=("Periods",),
    metadata={"date": "2026-02-02"},
)


def judge(text: str, *markers: str, question: str = "", **sources: Any) -> Claim:
    sql = sources.get("sql", {"S1": SERIES})
    passages = sources.get("passages", {"D1": STANDARD})
    return judge_claim(Claim(text=text, markers=markers), sql, passages, question)


@pytest.mark.parametrize(
    "text",
    [
        "Net margin of Nordics was 11.4 % in Q3 2025.",
        "Net margin of Nordics was 11 % in Q3 2025.",
        "Net margin of Nordics fell by 6.2 points from 17.6 % in Q2 2025 to 11.4 % in Q3 2025.",
        "Net margin fell by 35.1 % from 17.6 % to 11.4 %.",
        "The average of the two quarters was 14.5 %.",
        "2 quarters are shown.",
    ],
)
def test_what_the_result_says_or_gives_by_a_stated_calculation_is_supported(text: str) -> None:
    judged = judge(text, "S1")
    assert judged.supported, judged.reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Net margin of Nordics was 12.4 % in Q3 2025.", "12.4 %"),
        ("Net margin of Nordics was 11.4 % in Q4 2025.", "Q4 2025"),
        ("Net margin of Iberia was 11.4 % in Q3 2025.", "Iberia"),
        ("Net margin of Nordics was 6.2 % in Q3 2025.", "6.2 %"),
        ("Net margin rose from 17.6 % to 11.4 %.", "direction"),
    ],
)
def test_what_it_does_not_say_is_not(text: str, reason: str) -> None:
    judged = judge(text, "S1")
    assert not judged.supported
    assert reason in judged.reason


def test_a_sentence_of_a_document_is_supported_and_its_reverse_is_not() -> None:
    assert judge("Service metrics are kept for 90 days.", "D1").supported
    assert not judge("Service metrics are kept for 30 days.", "D1").supported
    reverse = judge("Service metrics are not kept at full resolution for 90 days.", "D1")
    assert "negates" in reverse.reason


def test_words_that_are_not_the_sources_are_refused() -> None:
    judged = judge("Customers prefer cheaper gateways because rivals discount heavily.", "D1")
    assert judged.reason == "its words are not those of its source"


def test_a_date_of_the_metadata_counts() -> None:
    assert judge("The Data retention standard is of 2026-02-02.", "D1").supported


def test_citations_must_resolve_and_must_be_there() -> None:
    assert "S9" in judge("Net margin was 11.4 %.", "S9").reason
    assert judge("Net margin was 11.4 %.").reason == "it cites nothing"


def test_names_of_the_question_may_be_repeated() -> None:
    claim = "Net margin of Waalhaven was 11.4 %."
    assert not judge(claim, "S1").supported
    assert judge(claim, "S1", question="What was the margin of Waalhaven?").supported


def test_fractions_may_be_said_as_percent() -> None:
    evidence = sql_evidence({"share": "numeric"}, (Decimal("0.286"),))
    assert judge("The share was 28.6 %.", "S1", sql={"S1": evidence}).supported


def test_a_claim_may_join_a_figure_and_a_text() -> None:
    text = "Net margin of Nordics was 11.4 %, and metrics are kept for 90 days."
    assert judge(text, "S1", "D1").supported
    assert not judge(text, "S1").supported


def test_the_verdict_counts_what_was_refused() -> None:
    claims = [
        Claim(text="Net margin of Nordics was 11.4 % in Q3 2025.", markers=("S1",)),
        Claim(text="Net margin of Nordics was 99 %.", markers=("S1",)),
    ]
    judged, verdict = evaluate(claims, [SERIES], [], "What was the net margin of the Nordics?")
    assert [claim.supported for claim in judged] == [True, False]
    assert verdict.supported
    assert verdict.citation_accuracy == 0.5
    assert verdict.relevance == 1.0
    assert len(verdict.unsupported_claims) == 1


def test_nothing_supported_is_not_a_supported_answer() -> None:
    _, verdict = evaluate([Claim(text="It was 99 %.", markers=("S1",))], [SERIES], [], "What was it?")
    assert not verdict.supported
    assert verdict.citation_accuracy == 0.0
