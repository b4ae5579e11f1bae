"""A document as Markdown with its frontmatter, and back."""

from __future__ import annotations

from ingestion.documents import Block, ConvertedDocument
from ingestion.export import enriched_markdown
from ingestion.frontmatter import split_frontmatter

DOCUMENT = ConvertedDocument(
    "ok",
    'A "quoted" title: with a colon',
    (
        Block("heading", "Head", level=2),
        Block("paragraph", "Text with --- inside."),
        Block("code", "echo '```'\n", language="sh"),
    ),
    metadata={"version": "1.10", "on": "yes", "date": "2024-01-02", "tags": ["a", "b"], "pages": 3},
)


def test_the_frontmatter_comes_back_as_it_went() -> None:
    split = split_frontmatter(enriched_markdown(DOCUMENT))
    assert split.metadata == {"title": DOCUMENT.title, **DOCUMENT.metadata}
    assert split.warnings == ()


def test_blocks_become_markdown_and_code_stays_verbatim() -> None:
    text = enriched_markdown(DOCUMENT)
    assert "\n## Head\n" in text
    assert "````sh\necho '```'\n" in text


def test_the_same_document_gives_the_same_text() -> None:
    assert enriched_markdown(DOCUMENT) == enriched_markdown(DOCUMENT)


def test_a_name_that_is_no_plain_word_comes_back_too() -> None:
    odd = {
        "yes": "no",
        "1": "one",
        "a: b": ["x\u2028y", "\x85", "naïve 日本 🎉", ""],
        "m": {"k": {"n": None}},
        "t": True,
    }
    document = ConvertedDocument("ok", "T", (), metadata=odd)
    split = split_frontmatter(enriched_markdown(document))
    assert split.metadata == {"title": "T", **odd}
