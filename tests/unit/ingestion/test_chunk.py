"""Chunks: within the limit whatever comes in, structure kept, nothing lost."""

from __future__ import annotations

import itertools
import re
from collections import Counter

import pytest

from ingestion.chunk import SPECIAL_TOKENS, chunk_document, compose, windows
from ingestion.documents import Block, Chunk, ConvertedDocument
from ingestion.formats.tables import table_block


def spans(text: str) -> list[tuple[int, int]]:
    """A word piece tokenizer in small: pieces of five letters, signs alone, words over 100 letters as one unknown."""
    found: list[tuple[int, int]] = []
    for match in re.finditer(r"\w+|[^\w\s]", text):
        start, end = match.span()
        if end - start > 100:
            found.append((start, end))
        else:
            found.extend((at, min(at + 5, end)) for at in range(start, end, 5))
    return found


def document(*blocks: Block, title: str = "Disk full") -> ConvertedDocument:
    return ConvertedDocument("ok", title, blocks)


def cut(*blocks: Block, max_tokens: int = 100, overlap: int = 20, title: str = "Disk full") -> tuple[Chunk, ...]:
    chunks = chunk_document(document(*blocks, title=title), token_spans=spans, max_tokens=max_tokens, overlap=overlap)
    for chunk in chunks:
        assert chunk.text.strip()
        assert chunk.tokens == len(spans(compose(chunk.context, chunk.text))) or len(chunk.text) > 100
        assert chunk.tokens <= max_tokens - SPECIAL_TOKENS
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    return chunks


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


SENTENCES = [f"Sentence number {number} tells about one thing and then it ends." for number in range(60)]


def test_a_short_document_is_one_chunk_with_its_title_as_context() -> None:
    (chunk,) = cut(Block("paragraph", "Free some space."))
    assert (chunk.text, chunk.context, chunk.heading_path) == ("Free some space.", "Disk full", ())


def test_no_blocks_no_chunks() -> None:
    assert cut() == ()


def test_long_text_is_cut_at_sentences_and_overlaps_in_whole_sentences() -> None:
    chunks = cut(Block("heading", "Steps", level=2), Block("paragraph", " ".join(SENTENCES)))
    assert len(chunks) > 3
    for before, after in itertools.pairwise(chunks):
        assert after.text.startswith("Sentence number")
        first = after.text.split(".")[0] + "."
        assert first in before.text
    told = set(words(" ".join(chunk.text for chunk in chunks)))
    assert told >= set(words(" ".join(SENTENCES)))


def test_the_overlap_is_at_most_what_was_asked_for() -> None:
    chunks = cut(Block("paragraph", " ".join(SENTENCES)), overlap=30)
    for before, after in itertools.pairwise(chunks):
        repeated = 0
        while before.text.endswith(after.text[: repeated + 1]) or after.text[: repeated + 1] in before.text:
            repeated += 1
            if repeated >= len(after.text):
                break
        assert 0 < len(spans(after.text[:repeated])) <= 30 + 2


def test_no_overlap_when_none_is_asked_for() -> None:
    chunks = cut(Block("paragraph", " ".join(SENTENCES)), overlap=0)
    assert Counter(words(" ".join(chunk.text for chunk in chunks))) == Counter(words(" ".join(SENTENCES)))


def test_the_overlap_never_crosses_a_heading() -> None:
    first = " ".join(SENTENCES[:12])
    second = " ".join(SENTENCES[12:24])
    chunks = cut(
        Block("heading", "One", level=2), Block("paragraph", first), Block("heading", "Two", level=2),
        Block("paragraph", second),
    )  # fmt: skip
    for chunk in chunks:
        own = first if chunk.heading_path == ("One",) else second
        assert set(re.findall(r"\d+", chunk.text)) <= set(re.findall(r"\d+", own))


def test_a_table_of_200_rows_keeps_its_header_on_every_chunk_and_the_limit() -> None:
    rows = [["Service", "Owner", "Tier"], *([f"service-{n}", f"team {n % 7}", str(n % 3)] for n in range(200))]
    block = table_block(rows)
    assert block is not None
    chunks = cut(
        Block("heading", "Catalogue", level=1), Block("heading", "Services", level=2), block, max_tokens=256, overlap=50
    )
    assert len(chunks) > 5
    for chunk in chunks:
        assert chunk.text.startswith("| Service | Owner | Tier |\n| --- | --- | --- |\n")
        assert chunk.text.count("| Service |") == 1
        assert chunk.kind == "table"
        assert chunk.heading_path == ("Catalogue", "Services")
    told = [row for chunk in chunks for row in chunk.text.split("\n")[2:]]
    assert told == block.text.split("\n")[2:]  # each row once, none lost


def test_a_header_longer_than_the_limit_is_told_with_every_cell() -> None:
    names = [f"measurement of property {n}" for n in range(150)]
    rows = [names, *([f"value {n} of row {row}" for n in range(150)] for row in range(3))]
    block = table_block(rows)
    assert block is not None
    chunks = cut(block, max_tokens=120, overlap=20)
    text = "\n".join(chunk.text for chunk in chunks)
    for row in range(3):
        assert f"measurement of property 149: value 149 of row {row}" in text
    assert min(chunk.tokens for chunk in chunks[:-1]) > 40  # not cut down to a few tokens each


def test_a_single_row_longer_than_the_limit_is_still_told_whole() -> None:
    long = " ".join(f"word{n}" for n in range(300))
    block = table_block([["Name", "Text"], ["a", long]])
    assert block is not None
    text = " ".join(chunk.text for chunk in cut(block))
    assert set(words(long)) <= set(words(text))


def test_only_headings_give_one_chunk() -> None:
    chunks = cut(
        Block("heading", "Plan", level=1), Block("heading", "Before", level=2), Block("heading", "During", level=2),
        Block("heading", "After", level=2), title="Plan",
    )  # fmt: skip
    assert len(chunks) == 1
    assert {"Plan", "Before", "During", "After"} <= set(words(f"{chunks[0].context} {chunks[0].text}"))


def test_one_heading_alone_is_a_chunk() -> None:
    (chunk,) = cut(Block("heading", "Only this", level=1), title="Only this")
    assert chunk.text == "Only this"


def test_consecutive_headings_all_stand_in_the_path() -> None:
    (chunk,) = cut(
        Block("heading", "Operations", level=1), Block("heading", "Storage", level=2),
        Block("heading", "Disk full", level=3), Block("paragraph", "Free some space."), title="Handbook",
    )  # fmt: skip
    assert chunk.heading_path == ("Operations", "Storage", "Disk full")
    assert chunk.context == "Handbook > Operations > Storage > Disk full"
    (same,) = cut(Block("heading", "A", level=2), Block("heading", "B", level=2), Block("paragraph", "text"))
    assert same.heading_path == ("A", "B")


def test_a_heading_without_text_before_a_higher_one_is_not_lost() -> None:
    chunks = cut(
        Block("heading", "One", level=1), Block("paragraph", "text"), Block("heading", "Empty", level=2),
        Block("heading", "Two", level=1), Block("paragraph", "more"),
    )  # fmt: skip
    assert any("Empty" in chunk.text for chunk in chunks)


def test_code_that_fits_is_not_cut() -> None:
    code = "\n".join(f"step_{n} = run({n})" for n in range(8))
    prose = " ".join(SENTENCES[:5])
    chunks = cut(Block("paragraph", prose), Block("code", code, language="python"), Block("paragraph", prose))
    assert any(f"```python\n{code}\n```" in chunk.text for chunk in chunks)


def test_code_that_holds_a_fence_gets_a_longer_one() -> None:
    (chunk,) = cut(Block("code", "```sh\nls\n```", language="markdown"))
    assert chunk.text == "````markdown\n```sh\nls\n```\n````"


def test_long_code_is_cut_at_lines_each_part_fenced() -> None:
    lines = [f"    value_{n} = compute({n})" for n in range(60)]
    chunks = cut(Block("code", "\n".join(lines), language="python"), overlap=0)
    assert len(chunks) > 2
    told: list[str] = []
    for chunk in chunks:
        assert chunk.text.startswith("```python\n")
        assert chunk.text.endswith("\n```")
        told += chunk.text.split("\n")[1:-1]
    assert told == lines


@pytest.mark.parametrize(
    "text",
    [
        "QmFzZTY0" * 500,
        "\u78c1\u76d8\u7a7a\u95f4\u4e0d\u8db3" * 200,
        "\u0e1e\u0e37\u0e49\u0e19\u0e17\u0e35\u0e48\u0e14\u0e34\u0e2a\u0e01\u0e4c" * 200,
        "a" * 250,
        "\U0001f600" * 400,
    ],
)
def test_text_without_spaces_is_split_hard_and_nothing_of_it_is_lost(text: str) -> None:
    chunks = cut(Block("paragraph", text), overlap=0)
    assert "".join(chunk.text for chunk in chunks) == text
    assert all(len(chunk.text) <= 2 * 5 * 100 for chunk in chunks)


def test_small_sections_of_one_parent_are_put_together_with_their_headings() -> None:
    blocks = [Block("heading", "Runbook", level=1), Block("paragraph", "Intro words " * 12)]
    for name in ("Meaning", "Impact", "Checks"):
        blocks += [Block("heading", name, level=2), Block("paragraph", f"{name} is told here.")]
    chunks = cut(*blocks, max_tokens=400, title="Runbook")
    together = next(chunk for chunk in chunks if "Impact is told here." in chunk.text)
    assert "## Meaning\n\nMeaning is told here." in together.text
    assert together.heading_path == ("Runbook",)


def test_sections_of_different_parents_stay_apart() -> None:
    chunks = cut(
        Block("heading", "A", level=1), Block("heading", "A1", level=2), Block("paragraph", "alpha"),
        Block("heading", "B", level=1), Block("heading", "B1", level=2), Block("paragraph", "beta"),
    )  # fmt: skip
    assert [chunk.heading_path for chunk in chunks] == [("A", "A1"), ("B", "B1")]


def test_a_context_that_is_too_long_keeps_the_nearest_heading() -> None:
    blocks = [Block("heading", f"{'very long heading ' * 8}{level}", level=level) for level in range(1, 6)]
    (chunk,) = cut(*blocks, Block("heading", "Here", level=6), Block("paragraph", "text"))
    assert chunk.context.endswith("Here")
    assert len(spans(chunk.context)) <= 98 // 3


def test_pages_are_those_of_the_first_words() -> None:
    chunks = cut(Block("paragraph", " ".join(SENTENCES[:10]), page=3), Block("paragraph", " ".join(SENTENCES), page=4))
    assert chunks[0].page == 3
    assert chunks[-1].page == 4


@pytest.mark.parametrize(("max_tokens", "overlap"), [(600, 400), (10, 0), (100, -1)])
def test_sizes_that_cannot_work_are_refused(max_tokens: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="overlap"):
        chunk_document(document(), token_spans=spans, max_tokens=max_tokens, overlap=overlap)


def test_windows_fit_the_model_and_cover_every_word() -> None:
    (chunk, *_) = cut(Block("heading", "Steps", level=2), Block("paragraph", " ".join(SENTENCES)), max_tokens=600)
    texts = windows(chunk, spans, 200)
    assert len(texts) > 2
    assert all(len(spans(text)) <= 200 for text in texts)
    assert all(text.startswith("Disk full > Steps\n\n") for text in texts)
    assert set(words(chunk.text)) <= set(words(" ".join(texts)))


def test_tails_that_differ_give_windows_that_differ() -> None:
    start = " ".join(SENTENCES[:40])
    one, other = (Chunk(0, f"{start} {tail}", "T", (), None, 0) for tail in ("The end is red.", "The end is blue."))
    assert windows(one, spans, 254)[:-1] == windows(other, spans, 254)[:-1]
    assert windows(one, spans, 254)[-1] != windows(other, spans, 254)[-1]


def test_a_chunk_that_fits_is_one_window() -> None:
    assert windows(Chunk(0, "text", "Title", (), None, 3), spans, 254) == ["Title\n\ntext"]


def test_a_window_survives_a_context_longer_than_itself() -> None:
    texts = windows(Chunk(0, " ".join(SENTENCES[:5]), "heading " * 80, (), None, 0), spans, 60)
    assert all(len(spans(text)) <= 60 for text in texts)
