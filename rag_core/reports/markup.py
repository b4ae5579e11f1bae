"""Markdown of answers and passages -> HTML. Raw HTML in it is text: answers quote rows and documents."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from markdown_it import MarkdownIt
from markdown_it.token import Token

_MARKER = re.compile(r"\[([SD]\d+)\]")
# Links in quoted text are shown as text: a report opens nothing but itself.
_PARSER = (
    MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table").disable(["link", "image", "autolink"])
)

# Of a link an excerpt keeps the words.
_READER = MarkdownIt("commonmark", {"html": False}).enable("table")


def answer_html(text: str, *, anchor: str, markers: Iterable[str]) -> str:
    """An answer as HTML; a citation marker that is known becomes a link to `#<anchor>-<marker>`."""
    known = frozenset(markers)
    tokens = _PARSER.parse(text)
    for token in tokens:
        if token.type == "inline" and token.children:
            token.children = [part for child in token.children for part in _split(child, anchor, known)]
    rendered: str = _PARSER.renderer.render(tokens, _PARSER.options, {})
    return rendered.replace("<table>", '<div class="scroll"><table>').replace("</table>", "</table></div>")


def passage_html(text: str, quotes: Iterable[str]) -> str:
    """A passage as preformatted HTML with its quoted sentences marked."""
    found = [quote for quote in quotes if quote and quote in text]
    if not found:
        return escape(text)
    pattern = re.compile("|".join(re.escape(quote) for quote in sorted(found, key=len, reverse=True)))
    parts, position = [], 0
    for match in pattern.finditer(text):
        parts.append(escape(text[position : match.start()]))
        parts.append(f"<mark>{escape(match.group())}</mark>")
        position = match.end()
    parts.append(escape(text[position:]))
    return "".join(parts)


def plain_excerpt(text: str, length: int) -> str:
    """The beginning of a Markdown text in plain words: one line of at most `length` characters, cut between words."""
    parts: list[str] = []
    for token in _READER.parse(text):
        if token.type == "inline":
            words = "".join(_plain(child) for child in token.children or ())
            # A quoted row of a table has lost the header that would make it one.
            is_row = words.startswith("|") and words.endswith("|")
            parts.append(" · ".join(cell.strip() for cell in words.strip("|").split("|")) if is_row else words)
        elif token.type in ("fence", "code_block"):
            parts.append(token.content)
        elif token.type in ("td_close", "th_close"):
            parts.append(" · ")
        elif token.type == "tr_close":
            parts[-1:] = ["; "]
        elif token.nesting < 0:
            parts.append(" ")
    line = " ".join("".join(parts).split()).rstrip(";").rstrip()
    if len(line) <= length:
        return line
    # A word that is longer than the whole is cut; no other one is.
    return f"{line[: length - 1].rsplit(' ', 1)[0]}…"


def _plain(token: Token) -> str:
    return " " if token.type in ("softbreak", "hardbreak") else token.content


def _split(token: Token, anchor: str, known: frozenset[str]) -> list[Token]:
    if token.type != "text" or not _MARKER.search(token.content):
        return [token]
    parts: list[Token] = []
    position = 0
    for match in _MARKER.finditer(token.content):
        if match[1] not in known:
            continue
        parts.append(_text(token.content[position : match.start()]))
        link = Token("html_inline", "", 0)
        link.content = f'<a class="cite" href="#{escape(anchor)}-{match[1]}">{match[1]}</a>'
        parts.append(link)
        position = match.end()
    parts.append(_text(token.content[position:]))
    return parts


def _text(content: str) -> Token:
    token = Token("text", "", 0)
    token.content = content
    return token
