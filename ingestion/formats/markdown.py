"""Markdown to blocks, by markdown-it. Text stays as written; code stays verbatim with its language.

Docling's Markdown reader is not used here: it loses the language of code fences and writes `|` in cells as `&#124;`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ingestion.documents import Block
from ingestion.formats.tables import table_block

_ERB = re.compile(r"<%(?!%).*?-?%>[ \t]*", re.DOTALL)
_CODE_SPAN = re.compile(r"(`+)(?!`)(.*?)(?<!`)\1(?!`)", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
# Only HTML's own names: `<namespace>` and the like are placeholders that the author wants read.
_TAG = re.compile(
    r"</?(?:a|abbr|b|big|blockquote|br|button|caption|center|code|col|colgroup|dd|del|details|div|dl|dt|em|figure|"
    r"figcaption|font|footer|h[1-6]|header|hr|i|iframe|img|ins|kbd|li|main|mark|nav|ol|p|picture|pre|q|s|samp|section|"
    r"small|source|span|strike|strong|style|sub|summary|sup|svg|path|table|tbody|td|tfoot|th|thead|tr|u|ul|var|video)"
    r"(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_BREAK = re.compile(r"<br\s*/?>|</(?:p|div|li|tr|h[1-6]|summary|details)>", re.IGNORECASE)
_SHORTCODE = re.compile(r"\{\{[<%]\s*/?.*?[>%]\}\}|^:::?:?.*$", re.MULTILINE)
_LANGUAGE = re.compile(r"[\w+#.\-]+")


def strip_erb(text: str) -> str:
    """Drops the code of ERB tags and keeps the text around them; `<%%` is the escape for a literal `<%`."""
    return _ERB.sub("", text).replace("<%%", "<%").replace("%%>", "%>")


def read_markdown(text: str) -> list[Block]:
    """Blocks of a Markdown text without frontmatter."""
    parser = MarkdownIt("commonmark", {"maxNesting": 50}).enable("table")
    lines = text.split("\n")
    return [block for block in _walk(parser.parse(text), lines) if block.text.strip()]


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
            yield Block("paragraph", _html_text(token.content))
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
    parts: list[str] = []
    position = 0
    for match in _CODE_SPAN.finditer(text):
        parts.append(_outside_code(text[position : match.start()]))
        parts.append(match.group(0))
        position = match.end()
    parts.append(_outside_code(text[position:]))
    return "".join(parts).strip("\n")


def _outside_code(text: str) -> str:
    text = _SHORTCODE.sub("", _COMMENT.sub("", text))
    return html.unescape(_TAG.sub("", _BREAK.sub(" ", text)))


def _html_text(markup: str) -> str:
    text = html.unescape(_TAG.sub("", _BREAK.sub("\n", _COMMENT.sub("", markup))))
    return "\n".join(line.strip() for line in text.split("\n") if line.strip())


def plain_text(inline: Token) -> str:
    """The text of an inline token without Markdown's marks."""
    parts = []
    for child in inline.children or ():
        if child.type in ("text", "code_inline"):
            parts.append(child.content)
        elif child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif child.type == "image":
            parts.append(child.content)
    return re.sub(r"\s+", " ", "".join(parts)).strip()
