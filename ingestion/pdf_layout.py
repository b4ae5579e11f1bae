"""Structure of a PDF from its lines: pure functions over text, font, size, box and page.

Coordinates are points from the top left corner of the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from ingestion.documents import Block


@dataclass(frozen=True, slots=True)
class Box:
    """Left, top, right and bottom in points, y growing downwards."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class TextLine:
    """A run of text in one font on one line of a page."""

    text: str
    font: str
    box: Box
    page: int

    @property
    def size(self) -> float:
        """Height of the line's box in points, which follows the font size."""
        return self.box.bottom - self.box.top


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its size, its lines in the order of the content stream, its drawn shapes and its number of images."""

    number: int
    width: float
    height: float
    lines: tuple[TextLine, ...]
    rules: tuple[Box, ...] = ()
    images: int = 0


def layout_blocks(pages: Sequence[Page]) -> list[Block]:
    """Blocks of a document in reading order."""
    blocks: list[Block] = []
    sizes = [line.size for page in pages for line in page.lines]
    body = median(sizes) if sizes else 0.0
    for page in pages:
        for line in page.lines:
            bold = "bold" in line.font.lower()
            if line.size > body * 1.15 or (bold and line.size >= body * 0.98):
                blocks.append(Block("heading", line.text, level=2, page=page.number))
            elif blocks and blocks[-1].kind == "paragraph" and blocks[-1].page == page.number:
                blocks[-1] = Block("paragraph", f"{blocks[-1].text} {line.text}", page=page.number)
            else:
                blocks.append(Block("paragraph", line.text, page=page.number))
    return blocks
