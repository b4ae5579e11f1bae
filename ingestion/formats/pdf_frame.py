"""From docling-parse's coordinates of a page to ours: what a viewer shows of it, turned until its text stands upright.

The parser turns a page by its own /Rotate, but knows nothing of one inherited from the page tree, which leaves the text
lying; and a page that was scanned or laid out sideways lies in any viewer. The lines themselves tell how they run.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ingestion.pdf_lines import Box

_ROTATE = re.compile(rb"(/Rotate\s+)([-+]?\d+)(?![\d.]|\s+\d+\s+R\b)")


@dataclass(frozen=True, slots=True)
class Frame:
    """The visible part of a page in points from the lower left corner of its media box, as the parser counts, and the
    quarter turns to the right after which its text stands upright.
    """

    left: float
    bottom: float
    right: float
    top: float
    turns: int = 0

    @property
    def width(self) -> float:
        """Width of the upright page in points."""
        return self.top - self.bottom if self.turns % 2 else self.right - self.left

    @property
    def height(self) -> float:
        """Height of the upright page in points."""
        return self.right - self.left if self.turns % 2 else self.top - self.bottom

    def box(self, left: float, bottom: float, right: float, top: float) -> Box:
        """The parser's box on the upright page, counted from its top left corner."""
        if self.turns == 1:
            return Box(bottom - self.bottom, left - self.left, top - self.bottom, right - self.left)
        if self.turns == 2:
            return Box(self.right - right, bottom - self.bottom, self.right - left, top - self.bottom)
        if self.turns == 3:
            return Box(self.top - top, self.right - right, self.top - bottom, self.right - left)
        return Box(left - self.left, self.top - top, right - self.left, self.top - bottom)

    def shows(self, box: Box) -> bool:
        """Whether the middle of a box of the upright page is visible."""
        x, y = (box.left + box.right) / 2, (box.top + box.bottom) / 2
        return 0 <= x <= self.width and 0 <= y <= self.height


def find_frame(dimension: Any, cells: Iterable[Any]) -> Frame:
    """The frame of a page by its dimension and cells of text, as docling-parse gives them for the media box."""
    media, crop = dimension.media_bbox, dimension.crop_bbox
    left, right = max(crop.l, media.l), min(crop.r, media.r)
    bottom, top = max(crop.b, media.b), min(crop.t, media.t)
    if left >= right or bottom >= top:
        left, bottom, right, top = media.l, media.b, media.r, media.t
    return Frame(left - media.l, bottom - media.b, right - media.l, top - media.b, _turns(cells))


def _turns(cells: Iterable[Any]) -> int:
    """Quarter turns to the right that set most characters upright."""
    ways: Counter[int] = Counter()
    for cell in cells:
        across, up = cell.rect.r_x1 - cell.rect.r_x0, cell.rect.r_y1 - cell.rect.r_y0
        lying = abs(across) < abs(up)
        ways[(1 if up > 0 else 3) if lying else (0 if across >= 0 else 2)] += len(cell.text.strip())
    way, most = ways.most_common(1)[0] if ways else (0, 0)
    return way if most * 2 > ways.total() else 0


def without_odd_turns(data: bytes) -> bytes:
    """A PDF whose pages are turned by quarters only. Viewers pass over any other /Rotate (ISO 32000-1, table 30, allows
    none); the parser turns the page by it, and its lines fall apart.
    """

    def mended(match: re.Match[bytes]) -> bytes:
        turn = match.group(2)
        return match.group(1) + (turn if len(turn) < 10 and int(turn) % 90 == 0 else b"0".rjust(len(turn)))

    return _ROTATE.sub(mended, data)
