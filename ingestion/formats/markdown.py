"""Markdown to blocks, by markdown-it. Text stays as written; code stays verbatim with its language.

Docling's Markdown reader is not used here: it loses the language of code fences and writes `|` in cells as `&#124;`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.utils import normalizeReference
from markdown_it.token import Token

from ingestion.documents import Block
from ingestion.formats.tables import table_block

# Wherever text may be hostile, what is opened is sought once: a pattern that is tried again from each opening, or from
# each place within one, takes a time that grows with the square of the text.
_ERB = (re.compile(r"<%(?!%)"), re.compile(r"%>[ \t]*"))
_COMMENT = (re.compile(r"<!--"), re.compile(r"-->"))
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)", re.DOTALL)
# Only HTML's own names: `<namespace>` and the like are placeholders that the author wants read.
_TAG = re.compile(
    r"</?(?:a|abbr|b|big|blockquote|br|button|caption|center|code|col|colgroup|dd|del|details|div|dl|dt|em|figure|"
    r"figcaption|font|footer|h[1-6]|header|hr|i|iframe|img|ins|kbd|li|main|mark|nav|ol|p|picture|pre|q|s|samp|section|"
    r"small|source|span|strike|strong|style|sub|summary|sup|svg|path|table|tbody|td|tfoot|th|thead|tr|u|ul|var|video)"
    # Attributes have values, but for a few: `a<b and c>d` compares.
    r"(?:\s+(?:[\w:@.\-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'<>]+)|open|hidden|disabled|controls|checked|reversed))*\s*/?>",
    re.IGNORECASE,
)
_SCRIPT = re.compile(r"<(script|style)\b.*?(?:</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_PREFORMATTED = re.compile(r"\s*<pre\b[^>]*>(.*?)(?:</pre\s*>(.*)|\Z)", re.IGNORECASE | re.DOTALL)
_PRE_LANGUAGE = re.compile(r"\b(?:lang=|class=[\"']?(?:language-|lang-))[\"']?([\w+#.\-]+)", re.IGNORECASE)
_HTML_PART = re.compile(r"<(/?)(table|h[1-6])\b[^<>]*>", re.IGNORECASE)
_HTML_ROW = re.compile(r"<tr\b[^<>]*>(.*?)(?=<tr\b|</tr\b|\Z)", re.IGNORECASE | re.DOTALL)
_HTML_CELL = re.compile(r"<t[dh]\b[^<>]*>(.*?)(?=<t[dh]\b|</t[dh]\b|\Z)", re.IGNORECASE | re.DOTALL)
_PICTURE_TEXT = re.compile(r"<img\b[^<>]*?\salt\s*=\s*(?:\"([^\"<>]*)\"|'([^'<>]*)')", re.IGNORECASE)
_CELL_END = re.compile(r"</t[dh]\s*>(?=\s*<t[dh]\b)", re.IGNORECASE)
# A code span, which is left alone, or a link by reference, in whose text may be code.
_REFERENCE = re.compile(
    r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)|\[((?:[^\[\]\\]|\\.)+)\](?:\[((?:[^\[\]\\]|\\.)*)\])?(?![\[(:])", re.DOTALL
)
_BREAK = re.compile(r"<br\s*/?>|</(?:p|div|li|tr|h[1-6]|summary|details)>", re.IGNORECASE)
_SHORTCODE = re.compile(r"\{\{[<%]\s{0,99}.{0,1000}?[>%]\}\}|^:::?:?.*$", re.MULTILINE)
_LANGUAGE = re.compile(r"[\w+#.\-]+")
_LONGEST_HEADING = 2_000
"""Characters past which a heading is taken as written: its marks are looked for again and again within it."""


def strip_erb(text: str) -> str:
    """Drops the code of ERB tags and keeps the text around them; `<%%` is the escape for a literal `<%`."""
    return _without(text, _ERB).replace("<%%", "<%").replace("%%>", "%>")


def _without(text: str, marks: tuple[re.Pattern[str], re.Pattern[str]]) -> str:
    """The text without what stands between an opening and the closing next to it, both included."""
    opens, closes = marks
    kept: list[str] = []
    position = 0
    while opening := opens.search(text, position):
        closing = closes.search(text, opening.end())
        if closing is None:
            break
        kept.append(text[position : opening.start()])
        position = closing.end()
    return "".join([*kept, text[position:]])


def read_markdown(text: str) -> list[Block]:
    """Blocks of a Markdown text without frontmatter."""
    # Text stays as written, so that only headings are parsed further than into blocks.
    parser = MarkdownIt("commonmark", {"maxNesting": 50}).enable("table").disable("inline")
    lines = text.split("\n")
    environment: dict[str, Any] = {}
    tokens = parser.parse(text, environment)
    for before, inline in pairwise(tokens):
        if before.type == "heading_open" and len(inline.content) <= _LONGEST_HEADING:
            inline.children = []
            parser.inline.parse(inline.content, parser, environment, inline.children)
    blocks = [block for block in _walk(tokens, lines) if block.text.strip()]
    targets = {label: str(entry["href"]) for label, entry in environment.get("references", {}).items()}
    if not targets:
        return blocks
    return [
        block if block.kind in ("code", "heading") else replace(block, text=_with_targets(block.text, targets))
        for block in blocks
    ]


def _with_targets(text: str, targets: Mapping[str, str]) -> str:
    """Links by reference as links with their target, since the definitions themselves belong to no block."""

    def linked(match: re.Match[str]) -> str:
        label = match.group(3) or match.group(2)
        target = targets.get(normalizeReference(label)) if label else None
        return match.group(0) if target is None else f"[{match.group(2)}]({target})"

    return _REFERENCE.sub(linked, text)


def _walk(tokens: Sequence[Token], lines: list[str]) -> Iterator[Block]:
    position = 0
    while position < len(tokens):
        token = tokens[position]
        end = _closing(tokens, position)
        inner = tokens[position : end + 1]
        if token.type == "heading_open":
            yield Block("heading", plain_text(tokens[position + 1]), level=int(token.tag[1]))
        elif token.type in ("fence", "code_block"):
            yield _code(token)
        elif token.type == "table_open":
            block = _table(inner)
            if block is not None:
                yield block
        elif token.type in ("bullet_list_open", "ordered_list_open"):
            yield from _container(inner, lines, "list")
        elif token.type == "blockquote_open":
            yield from _container(inner, lines, "quote")
        elif token.type == "paragraph_open" and token.map:
            yield Block("paragraph", clean_inline("\n".join(lines[token.map[0] : token.map[1]]).strip()))
        elif token.type == "html_block":
            yield from _html_blocks(token.content)
        position = end + 1


def _closing(tokens: Sequence[Token], start: int) -> int:
    if tokens[start].nesting != 1:
        return start
    depth = 0
    for position in range(start, len(tokens)):
        depth += tokens[position].nesting
        if depth == 0:
            return position
    return len(tokens) - 1


def _container(tokens: Sequence[Token], lines: list[str], kind: str) -> Iterator[Block]:
    """A list or quote as written; code and tables inside it become blocks of their own, in their place."""
    span = tokens[0].map
    if span is None:
        return
    start = span[0]
    for position, token in enumerate(tokens):
        if token.map is None or token.type not in ("fence", "code_block", "table_open"):
            continue
        yield from _written(lines[start : token.map[0]], kind)
        inner = tokens[position : _closing(tokens, position) + 1]
        block = _table(inner) if token.type == "table_open" else _code(token)
        if block is not None:
            yield block
        start = token.map[1]
    yield from _written(lines[start : span[1]], kind)


def _written(lines: list[str], kind: str) -> Iterator[Block]:
    text = "\n".join(line.rstrip() for line in lines if line.strip())
    if kind == "quote":
        text = re.sub(r"^ {0,3}> ?", "", text, flags=re.MULTILINE)
        yield Block("quote", clean_inline(text))
    elif text:
        yield Block("list", clean_inline(text))


def _code(token: Token) -> Block:
    match = _LANGUAGE.match(token.info.strip().lstrip("{").lstrip("."))
    return Block("code", token.content.removesuffix("\n"), language=match.group(0) if match else "")


def _table(tokens: Sequence[Token]) -> Block | None:
    rows: list[list[str]] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and rows:
            rows[-1].append(clean_inline(token.content))
    return table_block(rows)


def clean_inline(text: str) -> str:
    """Inline Markdown without entities, tags and comments; code spans are left alone."""
    return _outside_spans(text, _outside_code).strip("\n")


def _outside_spans(text: str, change: Callable[[str], str]) -> str:
    """A text with a change made everywhere but in its code spans."""
    parts: list[str] = []
    position = 0
    for match in _CODE_SPAN.finditer(text):
        parts.append(change(text[position : match.start()]))
        parts.append(match.group(0))
        position = match.end()
    parts.append(change(text[position:]))
    return "".join(parts)


def _outside_code(text: str) -> str:
    text = _SHORTCODE.sub("", _SCRIPT.sub("", _without(text, _COMMENT)))
    return html.unescape(_TAG.sub("", _BREAK.sub(" ", text)))


def _html_blocks(markup: str) -> Iterator[Block]:
    """Blocks of HTML between Markdown: headings, preformatted text as code, tables as tables, the rest as text."""
    markup = _SCRIPT.sub("", _without(markup, _COMMENT))
    written = _PREFORMATTED.match(markup)
    if written is not None:
        language = _PRE_LANGUAGE.search(markup, 0, markup.find("\n") if "\n" in markup else len(markup))
        code = html.unescape(_TAG.sub("", written.group(1))).strip("\n")
        yield Block("code", code, language=language.group(1) if language else "")
        markup = written.group(2) or ""
    position = 0
    for start, end, name, inner in _html_parts(markup):
        yield Block("paragraph", _html_text(markup[position:start]))
        block = _html_table(inner) if name == "table" else _html_heading(inner, int(name[1]))
        if block is not None:
            yield block
        position = end
    yield Block("paragraph", _html_text(markup[position:]))


def _html_parts(markup: str) -> Iterator[tuple[int, int, str, str]]:
    """Start, end, name and inner markup of each table and of each heading that is in none."""
    opened: re.Match[str] | None = None
    nested = False
    for tag in _HTML_PART.finditer(markup):
        name = tag[2].lower()
        if not tag[1]:
            if opened is None or opened[2].lower() != "table":
                opened, nested = tag, False
            elif name == "table":
                nested = True
        elif opened is not None and name == opened[2].lower():
            # A table in a table has no grid.
            if not nested:
                yield opened.start(), tag.end(), name, markup[opened.end() : tag.start()]
            opened = None


def _html_table(inner: str) -> Block | None:
    rows = [_HTML_CELL.findall(row) for row in _HTML_ROW.findall(inner)]
    return table_block([[_html_text(cell).replace("\n", " ") for cell in row] for row in rows])


def _html_heading(inner: str, level: int) -> Block | None:
    """A heading by its words, else by those of its pictures, such as a project's name in its logo."""
    pictures = (html.unescape(double or single) for double, single in _PICTURE_TEXT.findall(inner))
    text = " ".join((_html_text(inner) or " ".join(pictures)).split())
    return Block("heading", text, level=level) if text else None


def _html_text(markup: str) -> str:
    text = html.unescape(_TAG.sub("", _BREAK.sub("\n", _CELL_END.sub(" | ", markup))))
    return "\n".join(line.strip() for line in text.split("\n") if line.strip())


def plain_text(inline: Token) -> str:
    """The text of an inline token without Markdown's marks, or as written where it was not parsed."""
    if not inline.children:
        return " ".join(clean_inline(inline.content).split())
    parts = []
    for child in inline.children or ():
        if child.type in ("text", "text_special", "code_inline"):
            parts.append(child.content)
        elif child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif child.type == "image":
            parts.append(child.content)
    return re.sub(r"\s+", " ", "".join(parts)).strip()
