"""Structure-aware chunks of at most a number of tokens, and the windows in which a chunk is embedded.

A chunk never crosses a heading, except that small neighbouring sections below one parent are put together with their
heading lines kept in the text. Neighbouring chunks of a section overlap in whole sentences or lines of prose.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from ingestion.documents import Block, BlockKind, Chunk, ConvertedDocument
from ingestion.splitting import Piece, Splitter, TokenSpans

CHUNKER_VERSION = "1"
"""Counts up whenever the same blocks would give other chunks; part of a document's key."""

SPECIAL_TOKENS = 2
"""What an embedding model adds to a text; a chunk leaves room for it."""
_SEPARATOR = "\n\n"


@dataclass(slots=True)
class _Section:
    """Blocks below one heading. `path` ends with that heading; `empty` are headings without text put before it."""

    path: tuple[str, ...]
    level: int
    blocks: list[Block] = field(default_factory=list)
    page: int | None = None


def chunk_document(
    document: ConvertedDocument, *, token_spans: TokenSpans, max_tokens: int = 600, overlap: int = 100
) -> tuple[Chunk, ...]:
    """Chunks of a document, in order.

    Args:
        document: a converted document; one without blocks gives no chunk.
        token_spans: character spans of a text's tokens, the embedding model's own.
        max_tokens: bound on context, text and the two special tokens together.
        overlap: tokens at most that a chunk repeats of the chunk before it, within one section.

    Returns:
        Chunks numbered from 0. Raises ValueError for an overlap that leaves no room for new text.
    """
    if max_tokens < 16 or not 0 <= overlap <= max_tokens // 2:
        raise ValueError(f"an overlap of {overlap} tokens does not fit chunks of {max_tokens}; use at most half")
    room = max_tokens - SPECIAL_TOKENS
    counter = Splitter(token_spans, room)
    chunks: list[Chunk] = []
    for group in _grouped(_sections(document.blocks), counter, room):
        context, context_tokens = _context(document.title, group.path, counter, room)
        splitter = Splitter(token_spans, room - context_tokens)
        pieces = list(_group_pieces(group, splitter))
        for packed in _pack(pieces, splitter, overlap):
            text = _render(packed)
            tokens = counter.count(compose(context, text))
            chunks.append(Chunk(len(chunks), text, context, group.path, _page(packed), tokens, _kind(packed)))
    return tuple(chunks)


def _sections(blocks: Sequence[Block]) -> list[_Section]:
    sections: list[_Section] = []
    stack: list[tuple[int, str]] = []
    current = _Section((), 0)
    for block in blocks:
        if block.kind != "heading":
            current.blocks.append(block)
            continue
        empty = not current.blocks and current.path
        if not (empty and current.level == block.level):
            stack = [entry for entry in stack if entry[0] < block.level]
            if current.blocks or (empty and current.level > block.level):
                sections.append(current)
        stack.append((block.level, block.text))
        current = _Section(tuple(text for _, text in stack), block.level, page=block.page)
    if current.blocks or current.path:
        sections.append(current)
    return sections


@dataclass(slots=True)
class _Group:
    """Sections that are chunked together below `parent`, whose heading the chunks carry."""

    parent: tuple[str, ...]
    sections: list[_Section]
    tokens: int

    @property
    def path(self) -> tuple[str, ...]:
        return self.parent if len(self.sections) > 1 else self.sections[0].path


def _grouped(sections: Sequence[_Section], counter: Splitter, room: int) -> Iterator[_Group]:
    """Puts small sections below one parent together, up to half a chunk.

    A few lines below the parent's own heading, such as a byline, go with the first section below it.
    """
    small, tiny, most = room // 5, room // 10, room // 2
    group: _Group | None = None
    for section in sections:
        tokens = sum(counter.count(block.text) for block in section.blocks) + 12
        if group is not None and group.tokens + tokens <= most and len(section.path) > 1:
            first = group.sections[0]
            lead = len(group.sections) == 1 and group.tokens <= tiny and section.path[:-1] == first.path
            if lead:
                group.parent = first.path
            beside = section.path[:-1] == group.parent and (tokens <= small or group.tokens <= small)
            if lead or beside:
                group.sections.append(section)
                group.tokens += tokens
                continue
        if group is not None:
            yield group
        group = _Group(section.path[:-1], [section], tokens)
    if group is not None:
        yield group


def _group_pieces(group: _Group, splitter: Splitter) -> Iterator[Piece]:
    number = 0
    for section in group.sections:
        # A heading that the context tells already is not told again, unless there is nothing else.
        if section.path != group.path or not section.blocks:
            marks = "#" * max(section.level, 1) + " " if section.path != group.path else ""
            for text, tokens in splitter.cut(marks + section.path[-1]):
                yield Piece(text, tokens, number, "heading", "heading", _SEPARATOR, section.page)
            number += 1
        for block in section.blocks:
            yield from splitter.pieces(block, number)
            number += 1


def _context(title: str, path: tuple[str, ...], counter: Splitter, room: int) -> tuple[str, int]:
    """Title and headings in one line, of at most a third of the room: the nearest headings are kept longest."""
    names = list(path)
    if title.strip() and (not names or names[0].casefold() != title.casefold()):
        names.insert(0, title)
    names = [" ".join(name.split()) for name in names]
    bound = max(room // 3, 4)
    while len(names) > 1 and counter.count(" > ".join(names)) > bound:
        names.pop(1 if len(names) > 2 else 0)
    text = " > ".join(names)
    if counter.count(text) > bound:
        text = Splitter(counter._token_spans, bound).cut(text)[0][0]
    return text, counter.count(text)


def _pack(pieces: Sequence[Piece], splitter: Splitter, overlap: int) -> Iterator[list[Piece]]:
    """Fills chunks with pieces. Code and tables that fit a chunk are not begun in one that they do not fit."""
    sizes: dict[int, int] = {}
    for piece in pieces:
        extra = 0 if piece.block in sizes else piece.header_tokens
        sizes[piece.block] = sizes.get(piece.block, 0) + piece.tokens + extra
    current: list[Piece] = []
    used = 0
    carried = 0
    for piece in pieces:
        cost = _cost(piece, current)
        begins = not current or current[-1].block != piece.block
        whole = begins and piece.kind in ("code", "row") and sizes[piece.block] <= splitter.limit
        needs = max(cost, sizes[piece.block]) if whole else cost
        if len(current) > carried and used + needs > splitter.limit:
            heading = _trailing_headings(current)
            yield current[: len(current) - len(heading)]
            current = heading or _tail(current, splitter, overlap)
            # What is whole stays whole: the overlap gives way to it.
            carried = len(current)
            used = sum(_cost(p, current[:at]) for at, p in enumerate(current))
            whole_cost = max(_cost(piece, current), sizes[piece.block] if whole else 0)
            if current and not heading and used + whole_cost > splitter.limit:
                current, used, carried = [], 0, 0
            carried = 0 if heading else carried
            cost = _cost(piece, current)
        current.append(piece)
        used += cost
    if len(current) > carried:
        yield current


def _cost(piece: Piece, before: Sequence[Piece]) -> int:
    opens = not before or before[-1].block != piece.block or before[-1].kind != piece.kind
    return piece.tokens + (piece.header_tokens if opens else 0)


def _trailing_headings(pieces: Sequence[Piece]) -> list[Piece]:
    """Headings at the end of a chunk belong to what follows them."""
    count = 0
    while count < len(pieces) - 1 and pieces[len(pieces) - 1 - count].kind == "heading":
        count += 1
    return list(pieces[len(pieces) - count :])


def _tail(pieces: Sequence[Piece], splitter: Splitter, overlap: int) -> list[Piece]:
    """The last pieces of prose or code, up to `overlap` tokens; nothing from before a heading and no table rows."""
    tail: list[Piece] = []
    used = 0
    for piece in reversed(pieces):
        if piece.kind in ("heading", "row") or piece.block_kind == "table" or overlap == 0:
            break
        if used + piece.tokens > overlap:
            if not tail and piece.kind == "text":
                tail.append(_last_tokens(piece, splitter, overlap))
            break
        tail.insert(0, piece)
        used += piece.tokens
    if tail and tail[0].kind == "code" and used + tail[0].header_tokens > overlap:
        return []
    return tail


def _last_tokens(piece: Piece, splitter: Splitter, overlap: int) -> Piece:
    """The end of a piece: whole words where there are some in the second half of the overlap, else tokens."""
    spans = splitter.spans(piece.text)
    first = len(spans) - overlap
    for position in range(first, len(spans) - overlap // 2):
        if piece.text[spans[position][0] - 1].isspace():
            first = position
            break
    text = piece.text[spans[first][0] :]
    return replace(piece, text=text, tokens=len(spans) - first)


def _render(pieces: Sequence[Piece]) -> str:
    parts: list[str] = []
    previous: Piece | None = None
    for piece in pieces:
        same = previous is not None and previous.block == piece.block and previous.kind == piece.kind
        if previous is not None and not same and previous.kind == "code":
            parts.append("\n" + previous.fence)
        if previous is not None:
            parts.append(piece.joiner if same else _SEPARATOR)
        if not same and piece.kind == "row" and piece.header:
            parts.append(piece.header + "\n")
        if not same and piece.kind == "code":
            parts.append(f"{piece.fence}{piece.language}\n")
        parts.append(piece.text)
        previous = piece
    if previous is not None and previous.kind == "code":
        parts.append("\n" + previous.fence)
    return "".join(parts).strip("\n")


def _page(pieces: Sequence[Piece]) -> int | None:
    return next((piece.page for piece in pieces if piece.page is not None), None)


def _kind(pieces: Sequence[Piece]) -> BlockKind:
    kinds = {piece.block_kind for piece in pieces}
    return kinds.pop() if len(kinds) == 1 else "paragraph"


def compose(context: str, text: str) -> str:
    """A text with its context before it, as it is embedded and counted."""
    return f"{context}{_SEPARATOR}{text}" if context else text


def windows(chunk: Chunk, token_spans: TokenSpans, max_tokens: int, *, overlap: int = 100) -> list[str]:
    """Texts of at most `max_tokens` tokens that together cover a chunk, each with the chunk's context before it.

    Args:
        chunk: the chunk to embed.
        token_spans: the embedding model's tokens.
        max_tokens: what the model takes without its special tokens.
        overlap: tokens that a window repeats of the one before, at most a third of a window.
    """
    counter = Splitter(token_spans, max_tokens)
    whole = compose(chunk.context, chunk.text)
    if counter.count(whole) <= max_tokens:
        return [whole]
    context = chunk.context
    if counter.count(context) > max_tokens // 3:
        context = Splitter(token_spans, max(max_tokens // 3, 1)).cut(context)[0][0]
    room = max_tokens - counter.count(context)
    spans = counter.spans(chunk.text)
    step_back = min(overlap, room // 3)
    texts: list[str] = []
    start = 0
    while True:
        end = min(start + room, len(spans))
        if end < len(spans):
            end = _boundary(chunk.text, spans, start + room // 2, end)
        texts.append(compose(context, chunk.text[spans[start][0] : spans[end - 1][1]]))
        if end == len(spans):
            return texts
        start = max(_boundary(chunk.text, spans, end - step_back, end - step_back + step_back // 2), start + 1)


def _boundary(text: str, spans: Sequence[tuple[int, int]], least: int, most: int) -> int:
    """The last token in [least, most] that begins a word; `most` where none does."""
    for position in range(most, least - 1, -1):
        at = spans[position][0]
        if at == 0 or text[at - 1].isspace():
            return position
    return most
