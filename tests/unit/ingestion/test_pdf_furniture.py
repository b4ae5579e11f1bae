"""Running heads, feet and page numbers against what only looks like them; each test draws pages of lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from ingestion.documents import Block
from ingestion.pdf_layout import Box, Page, TextLine, layout_blocks

BODY, BOLD = "Helvetica", "Helvetica-Bold"
SENTENCES = (
    "The gateway accepts readings from all meters of the region.",
    "Nobody has to confirm the alarm while the reserve is running.",
    "Each valve is checked once in a quarter by the shift leader.",
    "Old batteries go back to the depot where they were charged.",
    "The report names every outage that took longer than an hour.",
    "Cables under the road belong to the city and not to the plant.",
    "A second key lies in the safe of the control room in the east.",
    "Readings that arrive late are marked and counted the next day.",
)


def line(text: str, left: float, top: float, page: int, *, size: float = 10, font: str = BODY) -> TextLine:
    return TextLine(text, font, Box(left, top, left + 0.5 * size * len(text), top + size), page)


def paged(count: int, draw: Callable[[int], Sequence[TextLine]], *, top: float = 160) -> list[Page]:
    """Pages with a sentence of their own below, and what `draw` puts on each."""
    pages = []
    for number in range(1, count + 1):
        text = [line(SENTENCES[number - 1], 50, top, number), line("It is so.", 50, top + 14, number)]
        pages.append(Page(number, 600, 800, (*draw(number), *text)))
    return pages


def told(pages: Sequence[Page]) -> str:
    return "\n".join(block.text for block in layout_blocks(pages))


def headings(blocks: Sequence[Block]) -> list[str]:
    return [block.text for block in blocks if block.kind == "heading"]


@pytest.mark.parametrize(
    "texts",
    [
        ("Invoice 10471", "Invoice 10488", "Invoice 10502", "Invoice 10519"),
        ("Invoice 10471", "Invoice 10472", "Invoice 10473", "Invoice 10474"),
        ("Step 1", "Step 2", "Step 3", "Step 4"),
        ("Part 7 of the plan", "Part 8 of the plan", "Part 9 of the plan", "Part 10 of the plan"),
        ("Server 0 | 0 GB | active", "Server 40 | 40 GB | active", "Server 80 | 80 GB | active", "Server 7 | 7 GB | a"),
    ],
)
@pytest.mark.parametrize("font", [BODY, BOLD])
@pytest.mark.parametrize("gap", [4, 30])
def test_lines_that_differ_in_numbers_are_text(texts: Sequence[str], font: str, gap: float) -> None:
    pages = paged(4, lambda number: [line(texts[number - 1], 50, 60, number, font=font)], top=70 + gap)
    assert [text for text in texts if text not in told(pages)] == []


@pytest.mark.parametrize(("size", "font"), [(16, BOLD), (16, BODY), (10, BOLD)])
def test_what_is_set_larger_or_bolder_is_a_heading_though_it_counts_the_pages(size: float, font: str) -> None:
    pages = paged(4, lambda number: [line(f"Invoice {number}", 50, 50, number, size=size, font=font)])
    assert headings(layout_blocks(pages)) == [f"Invoice {number}" for number in range(1, 5)]


def test_a_list_over_pages_loses_no_row() -> None:
    rows = [f"Server {at} | {at} GB | active" for at in range(120)]
    pages = [
        Page(n + 1, 600, 800, tuple(line(rows[40 * n + at], 50, 40 + 18 * at, n + 1) for at in range(40)))
        for n in range(3)
    ]
    found = told(pages)
    assert [row for row in rows if row not in found] == []


@pytest.mark.parametrize("top", [40, 70])
def test_a_sentence_that_begins_two_pages_is_text_on_both(top: float) -> None:
    warning = "Warning: never open valve B while pump A is running."
    assert told(paged(2, lambda number: [line(warning, 50, top, number)])).count(warning) == 2


@pytest.mark.parametrize(("size", "font"), [(16, BODY), (10, BOLD)])
def test_two_pages_prove_nothing_for_a_heading(size: float, font: str) -> None:
    pages = paged(2, lambda number: [line("Change record", 50, 50, number, size=size, font=font)])
    assert headings(layout_blocks(pages)) == ["Change record", "Change record"]


@pytest.mark.parametrize("pitch", [14, 26])
def test_rows_of_a_table_that_recur_are_rows(pitch: float) -> None:
    def row(texts: Sequence[str], at: int, number: int) -> list[TextLine]:
        return [line(text, 50 + 150 * cell, 40 + pitch * at, number) for cell, text in enumerate(texts)]

    def draw(number: int) -> list[TextLine]:
        rows = [
            ("Site", "State", "Load"),
            ("depot", "idle", "0"),
            *((f"s{number}{n}", f"on{n}", "7") for n in range(6)),
        ]
        return [cell for at, texts in enumerate(rows) for cell in row(texts, at, number)]

    tables = [block.text for block in layout_blocks(paged(3, draw, top=400)) if block.kind == "table"]
    text = "\n".join(tables)
    assert text.count("| depot | idle | 0 |") == 3
    assert all(f"| s{number}{n} | on{n} | 7 |" in text for number in (1, 2, 3) for n in range(6))


@pytest.mark.parametrize("count", [2, 3, 6])
@pytest.mark.parametrize("top", [30, 770])
def test_a_running_head_or_foot_is_kept_once_beside_the_text_of_its_first_page(count: int, top: float) -> None:
    pages = paged(count, lambda number: [line("Larkspur handbook", 50, top, number)])
    blocks = layout_blocks(pages)
    assert [(block.text, block.page) for block in blocks if "Larkspur" in block.text] == [("Larkspur handbook", 1)]
    assert all(sentence in told(pages) for sentence in SENTENCES[:count])


def test_heads_of_left_and_right_pages_are_kept_once_each() -> None:
    heads = ("The author", "The work")
    text = told(paged(6, lambda number: [line(heads[number % 2], 50, 30, number, size=8)]))
    assert (text.count("The author"), text.count("The work")) == (1, 1)


@pytest.mark.parametrize("size", [10, 8])
def test_a_bold_head_of_three_pages_is_furniture(size: float) -> None:
    text = told(paged(3, lambda number: [line("Larkspur handbook", 50, 30, number, size=size, font=BOLD)]))
    assert text.count("Larkspur handbook") == 1


def test_a_title_on_each_page_is_the_heading_of_the_first() -> None:
    blocks = layout_blocks(paged(4, lambda number: [line("Incident handbook", 50, 30, number, size=18)]))
    assert headings(blocks) == ["Incident handbook"]
    assert blocks[0].text == "Incident handbook"


@pytest.mark.parametrize(
    "foot",
    [
        "{}",
        "- {} -",
        "Page {}",
        "page {} of 9",
        "{}/9",
        "Seite {} von 9",
        "p. {}",
        "P\u00e1gina {}",
        "\u7b2c {} \u9875",
    ],
)
@pytest.mark.parametrize("first", [1, 9, 97])
@pytest.mark.parametrize("font", [BODY, BOLD])
def test_page_numbers_that_count_the_pages_are_dropped(foot: str, first: int, font: str) -> None:
    feet = [foot.format(first + at) for at in range(4)]
    blocks = layout_blocks(paged(4, lambda number: [line(feet[number - 1], 280, 765, number, font=font)]))
    assert [block.text for block in blocks if block.text in feet] == []
    assert len(blocks) == 4


@pytest.mark.parametrize(
    ("foot", "kept"),
    [
        ("Larkspur handbook | {}", "Larkspur handbook | 1"),
        ("Larkspur handbook \u2013 Page {} of 4", "Larkspur handbook \u2013 Page 1 of 4"),
        ("Larkspur handbook, edition 2, page {}", "Larkspur handbook, edition 2, page 1"),
        ("{} | Larkspur handbook", "1 | Larkspur handbook"),
    ],
)
def test_a_foot_that_holds_the_page_number_is_kept_once(foot: str, kept: str) -> None:
    blocks = layout_blocks(paged(4, lambda number: [line(foot.format(number), 50, 765, number)]))
    assert [block.text for block in blocks if "Larkspur" in block.text] == [kept]


def test_small_print_that_counts_the_pages_is_kept_once() -> None:
    text = told(paged(4, lambda number: [line(f"Larkspur handbook {number}", 50, 765, number, size=8)]))
    assert text.count("Larkspur handbook") == 1


def test_page_numbers_that_begin_anew_are_dropped() -> None:
    numbers = (1, 2, 3, 1, 2, 3)
    blocks = layout_blocks(paged(6, lambda number: [line(str(numbers[number - 1]), 280, 765, number)]))
    assert len(blocks) == 6
    assert not any(block.text.strip().isdigit() for block in blocks)


def test_a_page_number_above_a_wide_margin_is_dropped() -> None:
    blocks = layout_blocks(paged(3, lambda number: [line(str(number + 4), 280, 660, number)]))
    assert len(blocks) == 3


@pytest.mark.parametrize("top", [400, 765])
@pytest.mark.parametrize("numbers", [("1500",), ("1500", "220"), ("1500", "220", "1500"), ("7", "7", "9")])
def test_numbers_that_do_not_count_the_pages_are_kept(numbers: Sequence[str], top: float) -> None:
    pages = paged(len(numbers), lambda number: [line(numbers[number - 1], 280, top, number)])
    assert set(numbers) <= set(told(pages).split())


def test_large_numbers_are_text_though_they_count_the_pages() -> None:
    text = told(paged(3, lambda number: [line(str(number), 50, 40, number, size=24)]))
    assert {"1", "2", "3"} <= set(text.split())


def test_a_number_of_thousands_of_digits_is_text() -> None:
    number = "9" * 5000
    assert number in told(paged(1, lambda page: [line(number, 50, 40, page, size=0.2)]))


def test_a_running_head_stays_one_where_text_runs_up_the_side() -> None:
    def draw(number: int) -> list[TextLine]:
        side = TextLine(f"Printed copy of page {number}", BODY, Box(10, 20, 20, 300), number)
        return [side, line("Larkspur handbook", 50, 30, number)]

    assert told(paged(4, draw)).count("Larkspur handbook") == 1
