"""Filters of the command line."""

from __future__ import annotations

import pytest

from rag_core.cli.search import MAX_KEYS, _render, check_keys, describe_outcome, parse_filters
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


def test_a_key_that_no_document_has_is_refused_with_the_known_ones() -> None:
    check_keys({}, ())
    check_keys({"owner": "x"}, ("owner", "title"))
    check_keys({"anything": "x"}, ())  # no document is indexed yet: the search says so itself
    with pytest.raises(ConfigurationError) as caught:
        check_keys({"ownr": "x"}, ("document_type", "owner"))
    assert str(caught.value) == (
        "--where: no document has the key ownr (did you mean owner?); there are document_type, owner"
    )
    with pytest.raises(ConfigurationError, match=r"there are k00, .* and 5 more$"):
        check_keys({"zzz": "x"}, [f"k{number:02}" for number in range(MAX_KEYS + 5)])


def test_an_excerpt_is_plain_and_ends_between_words(capsys: pytest.CaptureFixture[str]) -> None:
    body = "# Freight\n\n**Terms** of [delivery](x.md) for `MS-200`:\n\n" + "strike " * 100
    passage = Passage(rank=1, chunk_id=3, document_id="d", path="a.md", title="A", text=body, scores=Scores(rrf=0.1))
    _render(SearchOutcome(query="q", null_signal=False, passages=(passage,)))
    shown = " ".join(capsys.readouterr().out.split())
    assert "Freight Terms of delivery for MS-200: strike strike" in shown
    assert shown.endswith("strike…")
    assert "**" not in shown
    assert "#" not in shown


def test_the_json_has_the_fields_of_the_contract() -> None:
    passage = Passage(rank=1, chunk_id=3, document_id="d", path="a.md", title="A", text="t", scores=Scores(rrf=0.1))
    described = describe_outcome(SearchOutcome(query="q", null_signal=False, passages=(passage,)))
    assert {"null_signal", "reason", "ambiguous", "results"} <= described.keys()
    assert {
        "rank", "chunk_id", "document_id", "path", "title", "document_type", "heading_path", "page", "text", "scores",
    } <= described["results"][0].keys()  # fmt: skip
