"""Renames that nothing proves: words, vetoes, and the measured set of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from bench.drift.run_renames import THRESHOLD, measure, read_pairs
from rag_core.schema.profiles import profile_of
from rag_core.schema.rename import (
    RenameScore,
    RenameSubject,
    ValueProfile,
    propose_renames,
    score_rename,
)
from rag_core.schema.words import edit_distance, match_words, name_tokens


def subject(name: str, **more: object) -> RenameSubject:
    values: dict[str, object] = {"name": name, "type": "text", "previous": "a", "next": "b", "place": 3, "table": "t"}
    return RenameSubject.model_validate({**values, **more})


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("cust_id", ("customer", "id")),
        ("CustomerID", ("customer", "id")),
        ("custid", ("customer", "id")),
        ("order dates", ("order", "date")),
        ("q1_sales", ("q", "1", "sale")),
        ("zip_code", ("postal", "code")),
        ("größe", ("grosse",)),
        ("status", ("status",)),
    ],
)
def test_words_of_a_name(name: str, words: tuple[str, ...]) -> None:
    assert name_tokens(name) == words


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("q1_sales", "q2_sales"),
        ("sales_2024", "sales_2025"),
        ("ship_date", "shop_date"),
        ("address1", "address2"),
        ("gross_margin", "net_margin"),
        ("created_at", "updated_at"),
    ],
)
def test_vetoes(before: str, after: str) -> None:
    score = score_rename(subject(before), subject(after))
    assert score.vetoed
    assert score.score == 0.0
    assert score.reason


def test_everything_counts() -> None:
    best = score_rename(subject("amt"), subject("amount")).score
    assert best > score_rename(subject("amt"), subject("amount", place=9, previous="y", next=None)).score
    assert best > score_rename(subject("amt"), subject("amount", nullable=False)).score
    assert best > score_rename(subject("amt", type="varchar(9)"), subject("amount", type="varchar(5)")).score
    other = score_rename(subject("amt", comment="Money paid"), subject("amount", comment="Height of the roof")).score
    assert best > other
    same = ValueProfile(null_share=0.1, distinct_share=0.5, sample=frozenset("abc"))
    foreign = ValueProfile(null_share=0.9, distinct_share=0.1, sample=frozenset("xyz"))
    alike = score_rename(subject("amt", profile=same), subject("amount", profile=same)).score
    assert alike > score_rename(subject("amt", profile=same), subject("amount", profile=foreign)).score


def test_another_type_is_never_proposed() -> None:
    assert score_rename(subject("amt", type="numeric"), subject("amount", type="text")).score < THRESHOLD


def test_only_a_single_good_pair_is_proposed() -> None:
    good, poor = RenameScore(0.9, ""), RenameScore(0.6, "")
    assert propose_renames([[good, poor]], 0.8)[0].target == 0
    assert propose_renames([[good, good]], 0.8)[0].target is None
    assert [item.target for item in propose_renames([[good], [good]], 0.8)] == [None, None]
    assert propose_renames([[poor]], 0.8)[0].target is None
    refused = propose_renames([[good, good]], 0.8, frozenset({(0, 0)}))[0]
    assert (refused.target, [index for index, _ in refused.candidates]) == (1, [1])


@pytest.mark.parametrize("name", ["rename_pairs.yaml", "rename_pairs_second.yaml"])
def test_measured_pairs(repo_root: Path, name: str) -> None:
    pairs = read_pairs(repo_root / "bench" / "drift" / name)
    precision, recall, wrong = measure(pairs)
    assert len(pairs) >= 48
    assert precision >= 0.9, wrong
    assert recall >= 0.8, wrong


@pytest.mark.parametrize("name", ["rename_pairs.yaml", "rename_pairs_second.yaml"])
def test_values_add_to_the_measured_pairs(repo_root: Path, name: str) -> None:
    pairs = read_pairs(repo_root / "bench" / "drift" / name)
    without, with_values = measure(pairs), measure(pairs, values=True)
    assert with_values[0] >= without[0] >= 0.9
    assert with_values[1] >= without[1]


def test_named_pairs_of_the_facts(repo_root: Path) -> None:
    pairs = read_pairs(repo_root / "bench" / "drift" / "rename_pairs_facts.yaml")
    precision, _, wrong = measure(pairs)
    assert precision == 1.0
    # "A differing dictionary word vetoes" holds for this true one too: a person maps it, or the catalog proves it.
    assert [(pair["before"], pair["after"]) for pair, _ in wrong] == [("profit_margin", "net_margin")]


def _subject(name: str, values: Sequence[object] | None) -> RenameSubject:
    profile = profile_of(values) if values is not None else None
    return RenameSubject(name=name, type="integer", table="t", place=3, profile=profile)


def test_same_values_propose_a_doubtful_name_and_other_values_none() -> None:
    same, other = range(100), range(1_000, 1_100)
    assert score_rename(_subject("op_cost", None), _subject("operating_cost", None)).score < THRESHOLD
    assert score_rename(_subject("op_cost", same), _subject("operating_cost", same)).score >= THRESHOLD
    assert score_rename(_subject("cust_id", same), _subject("customer_id", other)).score < THRESHOLD
    assert score_rename(_subject("cust_id", None), _subject("customer_id", None)).score >= THRESHOLD


def test_values_never_undo_a_veto_and_few_values_say_nothing() -> None:
    same = range(100)
    assert score_rename(_subject("q1_sales", same), _subject("q2_sales", same)).vetoed
    flags = [0, 1] * 50
    assert score_rename(_subject("op_cost", flags), _subject("operating_cost", flags)).score < THRESHOLD


def test_edit_distance_counts_swaps_once() -> None:
    assert edit_distance("recieved", "received") == 1
    assert edit_distance("", "abc") == 3
    assert edit_distance("abc", "abc") == 0


def test_words_without_a_partner_are_named() -> None:
    match = match_words(name_tokens("order_id"), name_tokens("order_item_id"))
    assert (match.missing, match.added, match.inner) == ((), ("item",), True)
