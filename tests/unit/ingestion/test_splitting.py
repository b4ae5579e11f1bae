"""Cutting single blocks."""

from __future__ import annotations

import re

from ingestion.documents import Block
from ingestion.formats.tables import split_row
from ingestion.splitting import Splitter, split_sentences


def spans(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]


def test_sentences_end_where_sentences_end() -> None:
    text = "It fails, e.g. at night. Wait 2.5 s. Then retry! Really? Yes."
    assert split_sentences(text) == ["It fails, e.g. at night.", "Wait 2.5 s.", "Then retry!", "Really?", "Yes."]


def test_sentences_of_scripts_without_spaces_are_cut_too() -> None:
    assert split_sentences("\u78c1\u76d8\u6ee1\u3002\u6e05\u7406\u3002") == [
        "\u78c1\u76d8\u6ee1\u3002",
        "\u6e05\u7406\u3002",
    ]


def test_parts_are_the_text_again() -> None:
    text = "one two  three\tfour five six seven"
    parts = Splitter(spans, 3).cut(text)
    assert "".join(part for part, _ in parts) == text
    assert all(count <= 3 for _, count in parts)


def test_a_row_is_cut_at_pipes_that_are_not_escaped() -> None:
    assert split_row(r"| a \| b | c |") == [r"a \| b", "c"]


def test_list_items_are_pieces() -> None:
    pieces = Splitter(spans, 50).pieces(Block("list", "- one\n  - two\n- three"), 0)
    assert [piece.text for piece in pieces] == ["- one", "  - two", "- three"]


def test_indentation_of_cut_code_is_kept() -> None:
    pieces = Splitter(spans, 12).pieces(Block("code", "if a:\n    " + "b = 1; " * 12), 0)
    assert pieces[1].text.startswith("    b = 1")
    rebuilt = "".join(("\n" if p.joiner == "\n" else "") + p.text for p in pieces).lstrip("\n")
    assert rebuilt == "if a:\n    " + "b = 1; " * 12
