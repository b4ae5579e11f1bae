"""Lines that are set with wide spaces between their letters, or in capitals with narrow ones between words. Pure.

The parser tells words apart by the gaps between characters, so that a heading set `I N C I D E N T` falls into letters
that no search finds, and one in small capitals becomes a single word, since a space is narrow beside such wide letters.
The characters themselves tell: word spaces are characters too, or gaps wider than the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

from ingestion.pdf_lines import TextLine

_LEAST_GAP = 0.04
"""Gap between letters, as a share of the line's height, below which a line is not set wide."""
_WORD_GAP = 0.5
"""What a gap must have beyond the usual one, as a share of the line's height, to part words."""


_CAPITAL_GAP = 0.2
"""What a gap between capitals must have beyond the usual one, as a share of the line's height, to part words."""
_LONG_CAPITALS = 12
"""Letters of a word in capitals that may well be two."""


def may_be_spaced(text: str) -> bool:
    """Whether a line falls into single letters, three tenths of its pieces or more, or has a long word in capitals."""
    pieces = text.split()
    if any(len(piece) >= _LONG_CAPITALS and piece.isalpha() and piece.isupper() for piece in pieces):
        return True
    return len(pieces) > 3 and sum(len(piece) == 1 and piece.isalpha() for piece in pieces) * 10 >= 3 * len(pieces)


def close_up(line: TextLine, characters: Sequence[TextLine]) -> TextLine:
    """The line with its words put together, or the line itself where its letters stand as usual.

    Args:
        line: a line as the parser put it together.
        characters: the characters of its page, spaces included, each as a line of its own.
    """
    box = line.box
    inside = [
        each
        for each in characters
        if box.top - 1 <= (each.box.top + each.box.bottom) / 2 <= box.bottom + 1
        and box.left - 1 <= (each.box.left + each.box.right) / 2 <= box.right + 1
    ]
    inside.sort(key=lambda each: each.box.left)
    letters = [each for each in inside if each.text.strip()]
    if "".join(each.text for each in letters) != "".join(line.text.split()) or len(letters) < 4:
        return line  # another direction, or characters of a neighbour
    spaces = [(each.box.left + each.box.right) / 2 for each in inside if not each.text.strip()]
    gaps = [after.box.left - before.box.right for before, after in pairwise(letters)]
    parted = [any(before.box.left < at < after.box.right for at in spaces) for before, after in pairwise(letters)]
    within = [gap for gap, apart in zip(gaps, parted, strict=True) if not apart]
    usual = median(within) if within else 0.0
    if usual < _LEAST_GAP * line.size:
        return _part_capitals(line, letters, [gap > usual + _CAPITAL_GAP * line.size for gap in gaps])
    text = letters[0].text
    for letter, gap, apart in zip(letters[1:], gaps, parted, strict=True):
        text += (" " if apart or gap > usual + _WORD_GAP * line.size else "") + letter.text
    return replace(line, text=text)


def _part_capitals(line: TextLine, letters: Sequence[TextLine], wide: Sequence[bool]) -> TextLine:
    """The line with a space more at each wide gap within a long word in capitals."""
    if any(len(letter.text) != 1 for letter in letters):
        return line  # ligatures: which character stands where cannot be told
    words: list[str] = []
    at = 0
    for word in line.text.split():
        parted = word
        if len(word) >= _LONG_CAPITALS and word.isalpha() and word.isupper():
            pairs = zip(word[1:], wide[at : at + len(word) - 1], strict=True)
            parted = word[0] + "".join((" " if apart else "") + letter for letter, apart in pairs)
        words.append(parted)
        at += len(word)
    return line if words == line.text.split() else replace(line, text=" ".join(words))
