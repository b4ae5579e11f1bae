"""Filters of the command line."""

from __future__ import annotations

import pytest

from rag_core.cli.search import describe_outcome, parse_filters
from rag_core.datamodel.evidence import Passage, Scores, SearchOutcome
from rag_core.errors import ConfigurationError


def test_filters_are_pairs_and_values_may_hold_equal_signs() -> None:
    assert parse_filters(["type=runbook", "q= a=b "]) == {"type": "runbook", "q": "a=b"}


@pytest.mark.parametrize("where", ["type", "=x", "type=", " = "])
def test_what_is_no_pair_is_refused(where: str) -> None:
    with pytest.raises(ConfigurationError, match="KEY=VALUE"):
        parse_filters([where])


def test_a_key_named_twice_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="twice"):
        parse_filters(["a=1", "a=2"])


def test_the_json_has_the_fields_of_the_contract() -> None:
    passage = Passage(rank=1, chunk_id=3, document_id="d", path="a.md", title="A", text="t", scores=Scores(rrf=0.1))
    described = describe_outcome(SearchOutcome(query="q", null_signal=False, passages=(passage,)))
    assert {"null_signal", "reason", "ambiguous", "results"} <= described.keys()
    assert {
        "rank", "chunk_id", "document_id", "path", "title", "document_type", "heading_path", "page", "text", "scores",
    } <= described["results"][0].keys()  # fmt: skip
