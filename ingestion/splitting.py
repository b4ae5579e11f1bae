"""Cutting one block into pieces that fit a number of tokens. Pure; the tokens are the embedding model's own.

A piece is text with its token count and the way it is joined to the piece before. Prose is cut at sentences, lists at
items, code at blank lines and lines, tables at rows; only what is longer than the limit by itself is cut further, at
words, and where there are none, at tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ingestion.documents import Block, BlockKind
from ingestion.formats.tables import split_row

TokenSpans = Callable[[str], list[tuple[int, int]]]
PieceKind = Literal["text", "code", "row", "heading"]

# The escapes are the full stops and question marks of Chinese, Japanese and Arabic, and closing quotation marks.
_SENTENCE = re.compile(
    "(?<=[.!?\u3002\uff01\uff1f\u061f])[\"'\u201d\u2019)\\]]*\\s+(?=\\S)|(?<=[\u3002\uff01\uff1f])(?=\\S)"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|no|fig|dr|mr|mrs|ms|st|z\.b|bzw|ca|(?-i:[A-Z]))\.\Z", re.IGNORECASE
)
_LONGEST_WORD = 100
"""Characters above which a word piece tokenizer gives up on a word and calls it unknown, as a single token."""
_CHARACTERS_PER_TOKEN = 2


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a block. `block` numbers the block it came from, `joiner` stands before it within the same block.

    A `row` piece carries the `header` of its table, which is written once where rows of it begin.
    """

    text: str
    tokens: int
    block: int
    kind: PieceKind = "text"
    block_kind: BlockKind = "paragraph"
    joiner: str = "\n\n"
    page: int | None = None
    header: str = ""
    header_tokens: int = 0
    language: str = ""
    fence: str = "```"


class Splitter:
    """Splits blocks for one tokenizer and one limit in tokens."""

    def __init__(self, token_spans: TokenSpans, limit: int) -> None:
        self._token_spans = token_spans
        self.limit = limit

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Token spans, with a word that the tokenizer takes for one unknown token cut into short stretches.

        Otherwise a text without spaces counts as a single token however long it is.
        """
        spans: list[tuple[int, int]] = []
        for start, end in self._token_spans(text):
            if end - start <= _LONGEST_WORD:
                spans.append((start, end))
            else:
                step = _CHARACTERS_PER_TOKEN
                spans.extend((at, min(at + step, end)) for at in range(start, end, step))
        return spans

    def count(self, text: str) -> int:
        """Number of tokens of a text."""
        return len(self.spans(text))

    def pieces(self, block: Block, number: int) -> list[Piece]:
        """Pieces of a block, each at most `limit` tokens (fences and table header included)."""
        if block.kind == "table":
            return self._table(block, number)
        if block.kind == "code":
            return self._code(block, number)
        return [
            Piece(text, tokens, number, "text", block.kind, joiner if at else "\n\n", block.page)
            for at, (text, tokens, joiner) in enumerate(self._prose(block))
        ]

    def _prose(self, block: Block) -> Iterator[tuple[str, int, str]]:
        """Items of a list, sentences of other prose, with what joins each to the one before."""
        by_line = block.kind == "list"
        for unit in block.text.split("\n") if by_line else split_sentences(block.text):
            tokens = self.count(unit)
            joiner = "\n" if by_line else " "
            if tokens <= self.limit:
                if unit.strip():
                    yield unit.rstrip(), tokens, joiner
                continue
            for part in split_sentences(unit) if by_line else unit.split("\n"):
                for text, count in self.cut(part):
                    yield text, count, joiner
                    joiner = ""
                joiner = " " if by_line else "\n"

    def cut(self, text: str) -> list[tuple[str, int]]:
        """A text in parts of at most `limit` tokens, cut before a word where there is one, else between tokens.

        Joined without anything between them the parts are the text again.
        """
        spans = self.spans(text)
        if len(spans) <= self.limit:
            return [(text, len(spans))] if text.strip() else []
        parts: list[tuple[str, int]] = []
        start = at = 0
        while start < len(spans):
            end = min(start + self.limit, len(spans))
            if end < len(spans):
                end = _word_start(text, spans, start, end)
            until = spans[end][0] if end < len(spans) else len(text)
            parts.append((text[at:until], end - start))
            start, at = end, until
        return parts

    def _code(self, block: Block, number: int) -> list[Piece]:
        fence = "```"
        while fence in block.text:
            fence += "`"
        fences = self.count(f"{fence}{block.language}\n{fence}")
        inner = Splitter(self._token_spans, max(self.limit - fences, 8))
        pieces: list[Piece] = []
        for line in block.text.split("\n"):
            for at, (part, tokens) in enumerate(inner.cut(line) or [(line.rstrip(), 0)]):
                joiner = "" if at else "\n"
                pieces.append(
                    Piece(part, tokens, number, "code", "code", joiner, block.page, "", fences, block.language, fence)
                )
        return pieces

    def _table(self, block: Block, number: int) -> list[Piece]:
        body = block.text.removeprefix(block.header).strip("\n") if block.header else block.text
        rows = [row for row in body.split("\n") if row.strip()]
        header = block.header
        header_tokens = self.count(header)
        if not rows:
            header, rows, header_tokens = "", header.split("\n"), 0
        counts = [self.count(row) for row in rows]
        # A header that leaves no room for rows would be repeated for nothing: each cell is told with its column's name.
        if header_tokens > self.limit // 2 or any(header_tokens + tokens > self.limit for tokens in counts):
            return self._records(block, rows, number)
        return [
            Piece(row, tokens, number, "row", "table", "\n", block.page, header, header_tokens)
            for row, tokens in zip(rows, counts, strict=True)
        ]

    def _records(self, block: Block, rows: Sequence[str], number: int) -> list[Piece]:
        """Rows as `name: value` entries, in pieces of a third of the limit, so that chunks can be filled with them.

        Every piece of a row begins with the row's first value.
        """
        names = _column_names(block.header)
        bound = max(self.limit // 3, 16)
        pieces: list[Piece] = []
        for row in rows:
            cells = split_row(row)
            key = next((cell for cell in cells if cell), "")[:80]
            line: list[str] = []
            tokens = 0
            for name, cell in zip(names + [""] * (len(cells) - len(names)), cells, strict=False):
                for part, _ in self.cut(cell) if cell else []:
                    entry = f"{name}: {part.strip()}" if name else part.strip()
                    cost = self.count(entry) + 1
                    if line and tokens + cost > bound:
                        pieces.append(self._record("; ".join(line), number, block.page))
                        line, tokens = ([key] if key and key != part else []), 0
                        tokens = self.count(key) + 1 if line else 0
                    line.append(entry)
                    tokens += cost
            if line:
                pieces.append(self._record("; ".join(line), number, block.page))
        return [piece for whole in pieces for piece in self._bounded(whole)]

    def _record(self, text: str, number: int, page: int | None) -> Piece:
        return Piece(text, self.count(text), number, "text", "table", "\n", page)

    def _bounded(self, piece: Piece) -> list[Piece]:
        return [
            Piece(text, tokens, piece.block, piece.kind, piece.block_kind, piece.joiner, piece.page)
            for text, tokens in self.cut(piece.text)
        ]


def _word_start(text: str, spans: Sequence[tuple[int, int]], start: int, end: int) -> int:
    """The last token at or before `end` that begins a word, not nearer to `start` than half the way; else `end`."""
    for position in range(end, start + (end - start) // 2, -1):
        at = spans[position][0]
        if at == 0 or text[at - 1].isspace():
            return position
    return end


def split_sentences(text: str) -> list[str]:
    """Sentences of a text, in order; nothing is dropped but the spaces between them."""
    sentences: list[str] = []
    start = 0
    for match in _SENTENCE.finditer(text):
        if _ABBREVIATION.search(text, start, match.start()):
            continue
        sentences.append(text[start : match.end()].strip())
        start = match.end()
    sentences.append(text[start:].strip())
    return [sentence for sentence in sentences if sentence]


def _column_names(header: str) -> list[str]:
    lines = [line for line in header.split("\n") if not re.fullmatch(r"[|\s:\-]+", line)]
    rows = [split_row(line) for line in lines]
    width = max((len(row) for row in rows), default=0)
    padded = [row + [""] * (width - len(row)) for row in rows]
    return [" ".join(dict.fromkeys(filter(None, column))) for column in zip(*padded, strict=True)]
