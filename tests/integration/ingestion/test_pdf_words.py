"""No word of a composed PDF is lost, whatever stands at the top and at the bottom of its pages."""

from __future__ import annotations

import io
import random
import re

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import simpleSplit
from reportlab.pdfgen import canvas

from ingestion.config import ConversionLimits
from ingestion.formats.pdf import read_pages
from ingestion.pdf_layout import layout_blocks

pytestmark = pytest.mark.integration
LIMITS = ConversionLimits()
SYLLABLES = ("ba", "do", "fe", "gil", "kam", "lo", "mu", "nor", "pi", "ros", "sta", "tre", "ul", "va", "wen", "zo")
BODY, BOLD = "Helvetica", "Helvetica-Bold"
TITLES = ("Invoice {}", "Step {}", "Appendix {} of the contract", "Week {}", "Unit {} | north")


class Sheets:
    """Pages drawn by chance, with all words but page numbers written down."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.stream = io.BytesIO()
        self.canvas = canvas.Canvas(self.stream, pagesize=A4, invariant=True)
        self.drawn: list[str] = []
        self.y = 0.0

    def word(self) -> str:
        if self.chance.random() < 0.15:
            return str(self.chance.randrange(1, 20_000))
        return "".join(self.chance.choices(SYLLABLES, k=self.chance.randrange(1, 4)))

    def words(self, least: int, most: int) -> str:
        return " ".join(self.word() for _ in range(self.chance.randrange(least, most + 1)))

    def put(self, text: str, x: float, y: float, font: str = BODY, size: float = 10) -> None:
        self.canvas.setFont(font, size)
        self.canvas.drawString(x, y, text)
        self.drawn.append(text)

    def heading(self, title: str) -> None:
        font, size = self.chance.choice([(BOLD, 14), (BOLD, 10), (BODY, 13), (BODY, 10)])
        self.put(title, 60, self.y, font, size)
        self.y -= 26

    def paragraph(self) -> None:
        for text in simpleSplit(self.words(4, 70).capitalize() + ".", BODY, 10, 470):
            self.put(text, 60, self.y)
            self.y -= 13
        self.y -= 9

    def listing(self) -> None:
        mark = self.chance.choice(["\u2022", "-", "{}."])
        for number in range(1, self.chance.randrange(3, 8)):
            self.put(f"{mark.format(number)} {self.words(2, 9)}", 66, self.y)
            self.y -= 13
        self.y -= 9

    def table(self) -> None:
        columns, rows = self.chance.randrange(2, 5), self.chance.randrange(3, 9)
        pitch, width = self.chance.choice([14, 19]), 470 / columns
        top = self.y + 11
        for _ in range(rows):
            for column in range(columns):
                self.put(self.words(1, 2), 62 + width * column, self.y)
            self.y -= pitch
        if self.chance.random() < 0.5:
            xs = [58 + width * column for column in range(columns + 1)]
            self.canvas.grid(xs, [top - pitch * row for row in range(rows + 1)])
        self.y -= 12


def compose(seed: int) -> tuple[bytes, set[str]]:
    """A PDF of one to six pages with or without heads, feet, page numbers, headings, lists and tables; its words."""
    chance = random.Random(seed)
    sheets = Sheets(chance)
    count = chance.randrange(1, 7)
    head = sheets.words(2, 6) if chance.random() < 0.6 else ""
    foot = sheets.words(2, 6) if chance.random() < 0.5 else ""
    title = chance.choice(TITLES) if chance.random() < 0.5 else ""
    counting, small = chance.random() < 0.5, chance.choice([8, 10])
    numbered = chance.choice(["", "{}", "Page {}", "{} / " + str(count)])
    repeated = sheets.words(5, 9).capitalize() + "." if chance.random() < 0.4 else ""
    for number in range(1, count + 1):
        sheets.y = 790.0
        if head:
            sheets.put(head, 60, 812, size=small)
        if foot:
            sheets.put(foot, 60, 30, size=small)
        if numbered:
            sheets.canvas.setFont(BODY, small)
            sheets.canvas.drawString(500, 30, numbered.format(number))
        if title:
            sheets.heading(title.format(number if counting else chance.randrange(1, 9_000)))
        if repeated:
            sheets.put(repeated, 60, sheets.y)
            sheets.y -= chance.choice([13, 26])
        while sheets.y > 230:
            chance.choice([sheets.paragraph, sheets.paragraph, sheets.listing, sheets.table])()
        if chance.random() < 0.5:
            sheets.put(sheets.words(1, 4), 60, chance.choice([60, 90]))
        sheets.canvas.showPage()
    sheets.canvas.save()
    return sheets.stream.getvalue(), set(re.findall(r"\w+", " ".join(sheets.drawn).lower()))


@pytest.mark.parametrize("seed", range(24))
def test_every_word_of_a_composed_pdf_is_found(seed: int) -> None:
    data, written = compose(seed)
    content = read_pages(data, LIMITS, None)
    blocks = layout_blocks(content.pages, content.outline)
    found = set(re.findall(r"\w+", " ".join(block.text for block in blocks).lower()))
    assert sorted(written - found) == []
