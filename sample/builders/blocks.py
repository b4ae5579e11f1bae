"""Markdown as a list of blocks: the one input of every writer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token


@dataclass(frozen=True)
class Run:
    text: str
    bold: bool = False
    italic: bool = False
    code: bool = False


Runs = tuple[Run, ...]


@dataclass(frozen=True)
class Heading:
    level: int
    runs: Runs


@dataclass(frozen=True)
class Paragraph:
    runs: Runs


@dataclass(frozen=True)
class Listing:
    ordered: bool
    items: tuple[tuple[int, Runs], ...]
    """Depth from 0, and the text of the item."""


@dataclass(frozen=True)
class Table:
    header: tuple[Runs, ...]
    rows: tuple[tuple[Runs, ...], ...]


@dataclass(frozen=True)
class Code:
    language: str
    text: str


Block = Heading | Paragraph | Listing | Table | Code


@dataclass
class Section:
    """A heading (None before the first one) and the blocks below it, up to the next heading of any level."""

    heading: Heading | None
    blocks: list[Block] = field(default_factory=list)


def plain(runs: Runs) -> str:
    return "".join(run.text for run in runs)


@lru_cache(maxsize=1)
def markdown_parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table")


def parse_blocks(body: str) -> list[Block]:
    tokens = markdown_parser().parse(body)
    return list(_read_blocks(tokens))


def group_sections(blocks: Sequence[Block]) -> list[Section]:
    sections = [Section(None)]
    for block in blocks:
        if isinstance(block, Heading):
            sections.append(Section(block))
        else:
            sections[-1].blocks.append(block)
    return [section for section in sections if section.heading or section.blocks]


def _read_blocks(tokens: list[Token]) -> Iterator[Block]:
    position = 0
    while position < len(tokens):
        token = tokens[position]
        end = _closing(tokens, position)
        inner = tokens[position + 1 : end]
        match token.type:
            case "heading_open":
                yield Heading(int(token.tag[1:]), _runs(inner[0]))
            case "paragraph_open":
                yield Paragraph(_runs(inner[0]))
            case "bullet_list_open" | "ordered_list_open":
                yield Listing(token.type == "ordered_list_open", tuple(_items(inner)))
            case "table_open":
                rows = list(_rows(inner))
                yield Table(rows[0], tuple(rows[1:]))
            case "blockquote_open":
                yield from _read_blocks(inner)
            case "fence" | "code_block":
                yield Code(token.info.strip(), token.content.rstrip("\n"))
            case "hr":
                pass
            case other:
                raise ValueError(f"a sample source uses Markdown that no writer knows: {other}")
        position = end + 1


def _closing(tokens: list[Token], position: int) -> int:
    if tokens[position].nesting != 1:
        return position
    depth = 0
    for index in range(position, len(tokens)):
        depth += tokens[index].nesting
        if depth == 0:
            return index
    raise ValueError("unbalanced Markdown tokens")


def _items(tokens: list[Token]) -> Iterator[tuple[int, Runs]]:
    depth = 0
    for token in tokens:
        if token.type.endswith("_list_open"):
            depth += 1
        elif token.type.endswith("_list_close"):
            depth -= 1
        elif token.type == "inline":
            yield depth, _runs(token)
        elif token.type in {"fence", "code_block"}:
            yield depth, (Run(token.content.strip(), code=True),)


def _rows(tokens: list[Token]) -> Iterator[tuple[Runs, ...]]:
    cells: list[Runs] = []
    for token in tokens:
        if token.type == "inline":
            cells.append(_runs(token))
        elif token.type == "tr_close":
            yield tuple(cells)
            cells = []


def _runs(token: Token) -> Runs:
    runs: list[Run] = []
    bold = italic = False
    for child in token.children or []:
        match child.type:
            case "strong_open" | "strong_close":
                bold = child.nesting == 1
            case "em_open" | "em_close":
                italic = child.nesting == 1
            case "softbreak" | "hardbreak":
                runs.append(Run(" ", bold, italic))
            case "text":
                runs.append(Run(child.content, bold, italic))
            case "code_inline":
                runs.append(Run(child.content, bold, italic, code=True))
            case "link_open" | "link_close":
                pass
            case other:
                raise ValueError(f"a sample source uses inline Markdown that no writer knows: {other}")
    return tuple(run for run in runs if run.text)
