"""HTML with tags nested thousands deep, which browsers show and parsers that recurse do not survive."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser

# Deeper than any page that was written for people; a recursive reader takes several frames a level.
MOST_WRAPPERS = 100
MOST_STRUCTURES = 30
# Elements that say nothing but where a piece of text begins and ends.
_WRAPPERS = frozenset({
    "address", "article", "aside", "blockquote", "body", "center", "details", "dialog", "div", "fieldset", "figure",
    "footer", "form", "header", "html", "main", "nav", "section", "summary",
})  # fmt: skip
_STRUCTURES = frozenset({"dl", "menu", "ol", "table", "ul"})
# Without an end of their own, or ended by what follows them: how many are open cannot be told by counting.
_NOT_COUNTED = frozenset({
    "area", "base", "br", "col", "dd", "dt", "embed", "head", "hr", "img", "input", "li", "link", "meta", "option", "p",
    "param", "rp", "rt", "source", "tbody", "td", "tfoot", "th", "thead", "tr", "track", "wbr",
})  # fmt: skip
_BREAK = "<p></p>"
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*)")


def flatten_html(text: str) -> str:
    """The page with tags left out that are nested too deep; a page that is not deep comes back as it is.

    What a left-out element holds stays where it is, apart from the text around it where the element was a block.
    """
    if not _is_deep(text):
        return text
    flattener = _Flattener()
    flattener.feed(text)
    flattener.close()
    return "".join(flattener.kept)


def _is_deep(text: str) -> bool:
    wrappers = structures = 0
    for match in _TAG.finditer(text):
        name, change = match[2].lower(), -1 if match[1] else 1
        if name in _STRUCTURES:
            structures = max(structures + change, 0)
        elif name not in _NOT_COUNTED:
            wrappers = max(wrappers + change, 0)
        if structures > MOST_STRUCTURES or wrappers > MOST_WRAPPERS:
            return True
    return False


class _Flattener(HTMLParser):
    """Copies a page tag by tag, without a tree and so without recursion."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.kept: list[str] = []
        # Names of the elements that are open and counted, each with whether its tags were kept.
        self._open: list[tuple[str, bool]] = []
        self._names: Counter[str] = Counter()
        self._wrappers = self._structures = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        whole = self.get_starttag_text() or ""
        if tag in _NOT_COUNTED:
            self.kept.append(whole)
            return
        structure = tag in _STRUCTURES
        kept = self._structures < MOST_STRUCTURES if structure else self._wrappers < MOST_WRAPPERS
        # A heading or a piece of code matters however deep it lies, and cannot hold another one.
        kept = kept or (tag in ("h1", "h2", "h3", "h4", "h5", "h6", "pre") and not self._names[tag])
        self._open.append((tag, kept))
        self._names[tag] += 1
        if kept:
            self._count(tag, 1)
            self.kept.append(whole)
        elif structure or tag in _WRAPPERS:
            self._part()

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.kept.append(self.get_starttag_text() or "")

    def handle_endtag(self, tag: str) -> None:
        if tag in _NOT_COUNTED:
            self.kept.append(f"</{tag}>")
            return
        # An end that nothing began is left to the reader; what was left open inside ends with what holds it.
        if not self._names[tag]:
            return
        while True:
            name, kept = self._open.pop()
            self._names[name] -= 1
            if kept:
                self._count(name, -1)
                self.kept.append(f"</{name}>")
            elif name in _WRAPPERS or name in _STRUCTURES:
                self._part()
            if name == tag:
                return

    def handle_data(self, data: str) -> None:
        self.kept.append(data)

    def handle_entityref(self, name: str) -> None:
        self.kept.append(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self.kept.append(f"&#{name};")

    def handle_decl(self, decl: str) -> None:
        self.kept.append(f"<!{decl}>")

    def _part(self) -> None:
        """Keeps the text before apart from the text after."""
        if self.kept[-1:] != [_BREAK]:
            self.kept.append(_BREAK)

    def _count(self, tag: str, change: int) -> None:
        if tag in _STRUCTURES:
            self._structures += change
        else:
            self._wrappers += change
