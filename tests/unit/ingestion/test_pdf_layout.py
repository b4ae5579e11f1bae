"""Structure of a PDF from lines alone; each test draws a page of lines."""

from __future__ import annotations

from collections.abc import Sequence

from ingestion.documents import Block
from ingestion.pdf_layout import Box, Page, TextLine, layout_blocks
from ingestion.pdf_tables import split_at_borders

BODY = "Helvetica"
BOLD = "Helvetica-Bold"


def line(
    text: str, left: float, top: float, *, size: float = 10, font: str = BODY, page: int = 1, width: float | None = None
) -> TextLine:
    return TextLine(text, font, Box(left, top, left + (width or 0.5 * size * len(text)), top + size), page)


def column(
    texts: Sequence[str], left: float, top: float, *, pitch: float = 14, width: float | None = None, page: int = 1
) -> list[TextLine]:
    return [line(text, left, top + pitch * at, width=width, page=page) for at, text in enumerate(texts)]


def page(lines: Sequence[TextLine], *, number: int = 1, rules: Sequence[Box] = ()) -> Page:
    return Page(number, 600, 800, tuple(lines), tuple(rules))


def told(blocks: Sequence[Block]) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in blocks]


def test_headings_by_size_and_weight_get_levels() -> None:
    lines = [
        line("The whole document", 50, 100, size=20, font=BOLD),
        *column(["Some text that is long enough to be the body of it.", "And a second line of it."], 50, 150),
        line("A chapter", 50, 200, size=14, font=BOLD),
        *column(["More text of the body, which is set in the usual size."], 50, 230),
        line("A bold line", 50, 270, font=BOLD),
        *column(["Even more text of the body, set in the usual size too."], 50, 300),
    ]
    headings = [(b.text, b.level) for b in layout_blocks([page(lines)]) if b.kind == "heading"]
    assert headings == [("The whole document", 1), ("A chapter", 2), ("A bold line", 3)]


def test_bookmarks_settle_what_is_a_heading() -> None:
    lines = column(["Plain words", "and a text below it that goes on."], 50, 100, pitch=40)
    blocks = layout_blocks([page(lines)], {"Plain words": 2})
    assert (blocks[0].kind, blocks[0].level) == ("heading", 2)


def test_lines_become_paragraphs_and_cut_words_are_joined() -> None:
    lines = column(
        ["The retention of all docu-", "ments is ninety days, and self-",
         "service is possible for every-", "body in the team."],
        50, 100, width=180,
    )  # fmt: skip
    lines += column(["A second paragraph stands apart."], 50, 180)
    whole = "The retention of all documents is ninety days, and self-service is possible for everybody in the team."
    assert told(layout_blocks([page(lines)])) == [
        ("paragraph", whole),
        ("paragraph", "A second paragraph stands apart."),
    ]


def test_a_word_that_occurs_with_its_hyphen_keeps_it() -> None:
    lines = column(["A fail-over is planned and the fail-", "over is tested each month by us."], 50, 100, width=180)
    whole = "A fail-over is planned and the fail-over is tested each month by us."
    assert layout_blocks([page(lines)])[0].text == whole


def test_two_columns_are_read_one_after_the_other_below_what_spans_them() -> None:
    left = [f"left line number {n} fills its column" for n in range(12)]
    right = [f"right line number {n} fills its column" for n in range(12)]
    lines = [
        line("A title over both of the columns of this page", 50, 60, size=18, font=BOLD, width=500),
        *column(left, 50, 120, width=230),
        *column(right, 320, 120, width=230),
    ]
    blocks = layout_blocks([page(sorted(lines, key=lambda item: item.box.top))])
    text = " ".join(block.text for block in blocks)
    assert blocks[0].kind == "heading"
    assert text.index("left line number 11") < text.index("right line number 0")


def test_columns_of_right_to_left_text_begin_at_the_right() -> None:
    word = "\u0645\u0631\u062d\u0628\u0627"
    lines = column([f"{word} {word} {word} \u0623 {n}" for n in range(10)], 320, 100, width=230)
    lines += column([f"{word} {word} {word} \u0628 {n}" for n in range(10)], 50, 100, width=230)
    text = " ".join(block.text for block in layout_blocks([page(lines)]))
    assert text.index("\u0623 9") < text.index("\u0628 0")


def test_right_to_left_runs_are_put_in_logical_order() -> None:
    lines = [
        line("\u0648", 268, 100, width=6),
        line("\u0628\u0644\u063a\u0629", 300, 100, width=40),
        line("R", 280, 100, width=8),
        line("Python", 224, 100, width=44),
    ]
    assert layout_blocks([page(lines)])[0].text == "\u0628\u0644\u063a\u0629 R \u0648 Python"


def test_lists_with_marks_numbers_and_levels() -> None:
    lines = [
        line("\u2022 First point that runs on to", 60, 100),
        line("a second line", 72, 114),
        line("\u2022 Second point", 60, 128),
        line("\u2013 Below it", 80, 142),
        line("1. One", 60, 200),
        line("2. Two", 60, 214),
    ]
    blocks = layout_blocks([page(lines)])
    assert told(blocks) == [
        ("list", "- First point that runs on to a second line\n- Second point\n  - Below it"),
        ("list", "1. One\n2. Two"),
    ]


def test_a_list_numbered_without_full_stops_is_a_list_and_a_lone_number_is_not() -> None:
    lines = column(["1 Stop the writers.", "2 Promote the replica.", "3 Start the writers."], 50, 100)
    assert told(layout_blocks([page(lines)])) == [
        ("list", "1. Stop the writers.\n2. Promote the replica.\n3. Start the writers.")
    ]
    alone = column(["1 reason was enough to begin with it,", "and that was the end."], 50, 100)
    assert layout_blocks([page(alone)])[0].kind == "paragraph"


def test_bullets_of_a_symbol_font_are_bullets() -> None:
    lines = [TextLine("\u221e Point one", "SymbolMT", Box(60, 100, 160, 110), 1), line("\u2022 Point two", 60, 114)]
    assert layout_blocks([page(lines)])[0].text == "- Point one\n- Point two"


GRID_X, GRID_Y = (50.0, 200.0, 350.0), (100.0, 120.0, 140.0, 160.0)


def grid(top: float = 0.0) -> list[Box]:
    across = [Box(GRID_X[0], y + top, GRID_X[-1], y + top) for y in GRID_Y]
    down = [Box(x, GRID_Y[0] + top, x, GRID_Y[-1] + top) for x in GRID_X]
    return across + down


def cells(top: float = 0.0, page_number: int = 1) -> list[TextLine]:
    texts = (("Region", "Days"), ("Nordics", "5"), ("DACH", "4"))
    return [
        line(text, GRID_X[at] + 4, GRID_Y[row] + 5 + top, page=page_number)
        for row, pair in enumerate(texts)
        for at, text in enumerate(pair)
    ]


def test_ruled_tables() -> None:
    above, below = "Text above the table, on a line of its own.", "Text below."
    lines = [*column([above], 50, 60), *cells(), *column([below], 50, 200)]
    assert told(layout_blocks([page(lines, rules=grid())])) == [
        ("paragraph", above),
        ("table", "| Region | Days |\n| --- | --- |\n| Nordics | 5 |\n| DACH | 4 |"),
        ("paragraph", below),
    ]


def test_cells_that_a_parser_joined_are_cut_at_the_border() -> None:
    joined = line("Region Days", 150, 105, width=100)
    words = [line("Region", 150, 105, width=40), line("Days", 210, 105, width=40)]
    assert [part.text for part in split_at_borders([joined], words, grid())] == ["Region", "Days"]
    apart = line("Region", 54, 105)
    assert split_at_borders([apart], words, grid()) == [apart]


def test_a_table_goes_on_over_a_page_without_its_header_twice() -> None:
    pages = [page(cells(500), rules=grid(500)), page(cells(page_number=2), number=2, rules=grid())]
    (table,) = layout_blocks(pages)
    assert table.text.count("Region") == 1
    assert table.text.count("Nordics") == 2
    assert table.page == 1


def test_a_frame_around_text_is_no_table() -> None:
    frame = [Box(40, 90, 560, 90), Box(40, 200, 560, 200), Box(40, 90, 40, 200), Box(560, 90, 560, 200)]
    lines = column(["A note in a frame that tells of something,", "in two lines of text."], 50, 100)
    assert [block.kind for block in layout_blocks([page(lines, rules=frame)])] == ["paragraph"]


def test_aligned_tables_without_lines() -> None:
    rows = [("Service", "Owner", "Tier"), ("billing", "Billing", "1"), ("portal", "Platform", "2")]
    rows.append(("depot", "Devices", "2"))
    places = [(text, 50 + 150 * at, 100 + 16 * row) for row, texts in enumerate(rows) for at, text in enumerate(texts)]
    lines = [line(*place) for place in places]
    lines.append(line("hardware too", 200, 100 + 16 * 4 - 4))
    (table,) = layout_blocks([page(lines)])
    assert table.text.splitlines() == [
        "| Service | Owner | Tier |", "| --- | --- | --- |", "| billing | Billing | 1 |", "| portal | Platform | 2 |",
        "| depot | Devices hardware too | 2 |",
    ]  # fmt: skip


def test_running_heads_are_told_once_and_page_numbers_are_dropped() -> None:
    pages = []
    for number in (1, 2, 3):
        lines = [
            line("Larkspur handbook", 50, 30, page=number),
            *column([f"Text of page {number} that tells something.", "And one line more."], 50, 120, page=number),
            line(f"Page {number} of 3", 280, 770, page=number),
        ]
        pages.append(page(lines, number=number))
    blocks = layout_blocks(pages)
    text = " ".join(block.text for block in blocks)
    assert [(block.text, block.page) for block in blocks if "handbook" in block.text] == [("Larkspur handbook", 1)]
    assert "of 3" not in text
    assert all(f"Text of page {number}" in text for number in (1, 2, 3))


def test_text_that_happens_to_recur_at_the_top_of_pages_is_kept() -> None:
    pages = []
    for number in (1, 2):
        other = ["Here is what page one says.", "And now what page two says."][number - 1]
        pages.append(
            page(
                column([other, f"Step {number} is done by the team.", "So it is."], 50, 60, page=number), number=number
            )
        )
    text = " ".join(block.text for block in layout_blocks(pages))
    assert "Step 1" in text
    assert "Step 2" in text


def test_a_number_in_the_last_row_of_a_table_is_no_page_number() -> None:
    (table,) = layout_blocks([page(cells(500), rules=grid(500))])
    assert table.text.endswith("| DACH | 4 |")


def test_what_stands_once_in_the_margin_is_kept() -> None:
    lines = [line("Letterhead of the company", 50, 20, size=7), *column(["Body text of the only page."] * 3, 50, 120)]
    blocks = layout_blocks([page(lines)])
    assert "Letterhead" not in blocks[0].text
    assert "Letterhead of the company" in blocks[-1].text


def test_a_paragraph_goes_on_over_a_page() -> None:
    first = column(["This sentence begins on one page and it", "does not end there because it"], 50, 700, width=300)
    second = column(["goes on here."], 50, 100, page=2)
    blocks = layout_blocks([page(first), page(second, number=2)])
    whole = "This sentence begins on one page and it does not end there because it goes on here."
    assert told(blocks) == [("paragraph", whole)]
    assert blocks[0].page == 1


def test_monospaced_lines_are_code_with_their_indentation() -> None:
    code = [("if full:", 50), ("clean()", 70)]
    lines = [line(text, left, 100 + 12 * at, font="Courier") for at, (text, left) in enumerate(code)]
    lines += column(["And then comes text that tells what was done, which is long."] * 2, 50, 160)
    assert told(layout_blocks([page(lines)]))[0] == ("code", "if full:\n    clean()")


def test_a_raised_number_does_not_make_a_heading_of_its_line() -> None:
    lines = column([f"line {n} of a text that goes on and on over the page" for n in range(6)], 50, 100, pitch=12)
    tall = lines[3]
    lines[3] = TextLine(tall.text + " 2", tall.font, Box(50, tall.box.top - 3, tall.box.right, tall.box.bottom), 1)
    assert [block.kind for block in layout_blocks([page(lines)])] == ["paragraph"]


def test_a_caption_is_no_heading() -> None:
    lines = [line("Figure 2: Distribution of pages", 50, 100, font=BOLD)]
    lines += column(["The text below the figure is longer than the caption."] * 3, 50, 140)
    assert layout_blocks([page(lines)])[0].kind == "paragraph"


def test_text_up_the_side_of_a_page_does_not_disturb() -> None:
    side = TextLine("arXiv:2206.01062", BODY, Box(10, 200, 20, 500), 1)
    blocks = layout_blocks([page([side, *column(["One line of text.", "And another."], 50, 100)])])
    assert told(blocks) == [("paragraph", "One line of text. And another."), ("paragraph", "arXiv:2206.01062")]


def test_no_pages_no_blocks() -> None:
    assert layout_blocks([]) == []
    assert layout_blocks([page([])]) == []
