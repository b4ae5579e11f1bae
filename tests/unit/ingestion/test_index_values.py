"""Values on their way into PostgreSQL."""

from __future__ import annotations

import json
from datetime import date

import pytest

from ingestion.documents import Chunk
from ingestion.embed import is_usable, text_hash
from ingestion.index import as_date, attributes, clean_text, clean_value, document_id, prepare_chunk


def test_nul_is_dropped_and_a_lone_surrogate_replaced() -> None:
    assert clean_text("a\x00b") == "ab"
    assert clean_text("a\ud800b") == "a\ufffdb"
    assert clean_text("pair \U0001f600 stays") == "pair \U0001f600 stays"


def test_values_are_cleaned_through_and_through() -> None:
    cleaned = clean_value({"a\x00": ["x\x00", {"b": float("nan"), "c": float("inf")}], "d": 1.5})
    assert cleaned == {"a": ["x", {"b": None, "c": None}], "d": 1.5}
    json.dumps(cleaned, allow_nan=False)


def test_a_document_id_is_short_whatever_the_path() -> None:
    assert len(document_id("s", "x" * 10_000)) == 32
    assert document_id("a", "b") != document_id("ab", "")


def test_attributes_hold_each_scalar_without_regard_to_case() -> None:
    pairs = attributes("docs", "A/b.md", "ok", {"service": "Billing-API", "tags": ["X", "y"], "n": 3, "deep": {"k": 1}})
    assert ("service", "billing-api") in pairs
    assert ("tags", "x") in pairs
    assert ("tags", "y") in pairs
    assert ("n", "3") in pairs
    assert ("path", "a/b.md") in pairs
    assert all(name != "deep" for name, _ in pairs)


def test_a_value_that_no_filter_can_name_is_left_out() -> None:
    assert all(name != "long" for name, _ in attributes("s", "p", "ok", {"long": "x" * 5_000}))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2024-01-02", date(2024, 1, 2)),
        ("2024-01-02T10:00:00Z", date(2024, 1, 2)),
        ("soon", None),
        (None, None),
        ("1.10", None),
        (20240102, date(2024, 1, 2)),
    ],
)
def test_dates_are_read_where_they_are_dates(value: object, expected: date | None) -> None:
    assert as_date(value) == expected


@pytest.mark.parametrize(
    "vector", [[1.0], [float("nan"), 0.0], [float("inf"), 1.0], [0.0, 0.0]], ids=["short", "nan", "inf", "zero"]
)
def test_a_vector_that_cannot_be_stored_is_told(vector: list[float]) -> None:
    assert not is_usable(vector, 2)
    assert is_usable([0.6, 0.8], 2)


def test_chunks_of_equal_text_have_equal_digests_whatever_their_place() -> None:
    first = prepare_chunk(Chunk(0, "text", "Title", ("a",), None, 3), [])
    second = prepare_chunk(Chunk(7, "text", "Title", ("b",), 2, 3), [])
    other = prepare_chunk(Chunk(0, "text", "Other", ("a",), None, 3), [])
    assert first.digest == second.digest != other.digest
    assert text_hash("a") != text_hash("b")


def test_a_type_is_found_by_the_word_of_the_author_too() -> None:
    pairs = attributes("docs", "a.md", "ok", {"document_type": "standard", "document_type_stated": "policy"})
    assert [pair for pair in pairs if pair[0].startswith("document_type")] == [
        ("document_type", "standard"),
        ("document_type", "policy"),
    ]
