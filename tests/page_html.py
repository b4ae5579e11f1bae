"""A strict reading of the page's HTML: what does not nest, repeats an id or leads nowhere is an error."""

from __future__ import annotations

from collections import Counter
from html.parser import HTMLParser

VOID = {"meta", "img", "br", "hr", "link", "input"}
SHAPES = {"polyline", "circle"}
# Attributes that a control or a picture needs before somebody who does not see it can use it.
LABELLED = {"input", "textarea", "select"}


class PageHtml(HTMLParser):
    """Counts elements and complains about what is not well formed."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.ids: list[str] = []
        self.words: list[str] = []
        self.levels: list[int] = []
        self.controls: list[dict[str, str]] = []
        self.labels: set[str] = set()
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Counts an element that begins."""
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> repeats an attribute"
        values = {name: value or "" for name, value in attrs}
        self.elements[tag] += 1
        self.attributes += [(tag, name, value) for name, value in values.items()]
        self.ids += [values["id"]] if "id" in values else []
        if tag in ("h1", "h2", "h3"):
            self.levels.append(int(tag[1]))
        if tag in LABELLED and values.get("type") != "hidden":
            self.controls.append(values)
        if tag == "label":
            self.labels.add(values["for"])
        if tag == "p":
            assert "p" not in self.open, "a paragraph in a paragraph"
        if tag in ("div", "ul", "table", "pre", "dl", "section", "article", "form"):
            assert "p" not in self.open, f"<{tag}> in a paragraph"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Only shapes close themselves."""
        assert tag in SHAPES, f"<{tag}/> is not closed in HTML"
        self.elements[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        """What ends must be what is open."""
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag, f"</{tag}> does not close what is open"

    def handle_data(self, data: str) -> None:
        """Keeps the text."""
        self.words.append(data)

    @property
    def text(self) -> str:
        """All text of the page."""
        return " ".join("".join(self.words).split())


def check_html(text: str) -> None:
    """Reads a document as the HTML standard says, any parse error being one, and asks for names that can be read out.

    Links, buttons, summaries and regions need a text or a label, pictures an alternative, tables headers with a scope.
    """
    import html5lib

    tree = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(text)
    for element in tree.iter():
        if element.tag in ("a", "button", "summary") or element.get("role") == "region":
            named = element.get("aria-label") or "".join(element.itertext()).strip()
            assert named, f"<{element.tag}> has no name"
        if element.tag == "img":
            assert element.get("alt"), "a picture without an alternative"
        if element.tag == "iframe":
            assert element.get("title"), "a frame without a title"
        if element.tag == "table":
            assert element.find("thead") is not None, "a table without headers"
        if element.get("tabindex") == "0":
            assert element.get("role") or element.tag == "pre", f"<{element.tag}> takes the focus and says not why"
    labels = {(element.tag, element.get("aria-label")) for element in tree.iter("nav")}
    assert len(labels) == len(list(tree.iter("nav"))), "two navigations of the same name"


def check_page(text: str) -> PageHtml:
    """The page, read strictly, with what every page of ours must have."""
    check_html(text)
    page = PageHtml(text)
    assert text.startswith("<!doctype html>")
    assert ("html", "lang", "en") in page.attributes
    assert page.elements["h1"] == page.elements["main"] == page.elements["title"] == 1
    assert len(page.ids) == len(set(page.ids)), "an id comes twice"
    assert page.levels[:1] == [1]
    assert all(after - before <= 1 for before, after in zip(page.levels, page.levels[1:], strict=False)), page.levels
    ids = set(page.ids)
    for _, name, value in page.attributes:
        if name in ("aria-labelledby", "aria-describedby", "list", "for"):
            assert value in ids, f"{name}={value} leads nowhere"
        if name == "href" and value.startswith("#"):
            assert value[1:] in ids, f"{value} leads nowhere"
        assert not name.startswith("on"), "a script in an attribute"
        assert name != "style", "a style in an attribute"
    for control in page.controls:
        assert control.get("id") in page.labels or control.get("aria-label"), f"{control} has no label"
    assert all(value for tag, name, value in page.attributes if tag == "img" and name == "alt")
    assert ("a", "class", "skip") in page.attributes or page.elements["nav"] == 0
    return page
