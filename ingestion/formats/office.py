"""DOCX, PPTX and HTML through Docling: its document is walked item by item and turned into blocks."""

from __future__ import annotations

import html
import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from io import BytesIO
from typing import Any
from xml.etree.ElementTree import ParseError, fromstring

from ingestion.documents import Block
from ingestion.errors import ConversionFault
from ingestion.formats.office_parts import slides_shown
from ingestion.formats.tables import cell_text, split_row, table_block


@cache
def _converter() -> Any:
    """Docling's converter for the formats read here; made once a process, since the import takes seconds."""
    from docling.datamodel.base_models import InputFormat  # noqa: PLC0415 - heavy
    from docling.document_converter import DocumentConverter  # noqa: PLC0415 - heavy

    return DocumentConverter(allowed_formats=[InputFormat.DOCX, InputFormat.PPTX, InputFormat.HTML])


def docling_version() -> str:
    """Name and version of Docling, as recorded with each document."""
    return f"docling {version('docling-slim')}"


def read_with_docling(data: bytes, suffix: str) -> tuple[list[Block], tuple[str, ...]]:
    """Blocks of a DOCX, PPTX or HTML file, and warnings. Raises ConversionFault (corrupt) where Docling cannot read it.

    HTML must be UTF-8; what it says of its own encoding does not count.
    """
    from docling.datamodel.base_models import DocumentStream  # noqa: PLC0415 - heavy

    shown = slides_shown(data) if suffix == "pptx" else ()
    if suffix == "pptx" and not shown:
        return [], ()  # Docling takes it for broken
    # A byte order mark comes before what a page declares, which was true of the bytes and not of the text made of them.
    whole = b"\xef\xbb\xbf" + data if suffix == "html" else data
    stream = DocumentStream(name=f"document.{suffix}", stream=BytesIO(whole))
    result = _converter().convert(stream, raises_on_error=False)
    if result.status.value not in ("success", "partial_success"):
        problems = "; ".join(error.error_message for error in result.errors) or str(result.status.value)
        raise ConversionFault("corrupt", f"Docling cannot read it: {problems.splitlines()[0][:300]}")
    hidden = frozenset(number for number, seen in enumerate(shown, start=1) if not seen)
    blocks = list(docling_blocks(result.document, hidden))
    warnings = (f"hidden slides left out: {', '.join(map(str, sorted(hidden)))}",) if hidden else ()
    return blocks, warnings


def _layers(*names: str) -> set[Any]:
    from docling_core.types.doc import ContentLayer  # noqa: PLC0415 - heavy

    return {ContentLayer[name] for name in names}


def docling_blocks(document: Any, hidden: frozenset[int] = frozenset()) -> Iterator[Block]:
    """Blocks of a document that Docling made, in its reading order, without those of hidden pages.

    Speaker notes and footnotes are told, though Docling keeps them beside the body; reviewers' comments, running heads
    and feet, and what is hidden are not.
    """
    walk = _Walk(document)
    for item, _ in document.iterate_items(
        with_groups=True, included_content_layers=_layers("BODY", "NOTES", "FURNITURE")
    ):
        layer, label = item.content_layer.value, item.label.value
        pages = getattr(item, "prov", None)
        if pages and pages[0].page_no in hidden:
            continue  # Docling hides the slide and not its notes
        if label == "comment_section":
            walk.leave_out(item)
        elif layer != "furniture" or label == "footnote":
            yield from walk.take(item)
    yield from walk.close_list()


class _Walk:
    """A walk over Docling's items: gathers list items, and leaves out what was told as part of another item."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self._told: set[str] = set()
        self._items: list[str] = []
        self._page: int | None = None

    def leave_out(self, item: Any) -> None:
        """Neither the item nor what it holds is told."""
        self._told.update([item.self_ref, *(child.cref for child in item.children)])

    def take(self, item: Any) -> Iterator[Block]:
        """Blocks that are complete with this item."""
        children = [child.cref for child in getattr(item, "children", ())]
        if item.self_ref in self._told:
            self._told.update(children)
            return
        kind = item.label.value
        if kind == "list_item":
            text = item.text or _inline(self._document, item, self._told)
            if text.strip():
                self._items.append(_list_line(item, self._document, text))
            return
        if kind not in ("list", "ordered_list"):
            yield from self.close_list()
        provenance = getattr(item, "prov", None)
        self._page = provenance[0].page_no if provenance else self._page
        if kind == "table":
            self._told.update(children)
        block = self._block(item, kind)
        if block is not None and block.text.strip():
            yield block

    def close_list(self) -> Iterator[Block]:
        """The list that is open, if one is."""
        if self._items:
            yield Block("list", "\n".join(self._items), page=self._page)
        self._items = []

    def _block(self, item: Any, kind: str) -> Block | None:
        if kind == "table":
            return docling_table(item.data, self._document, self._page)
        if kind in ("picture", "chart"):
            return _chart(item, self._document, self._page)
        if kind == "inline":
            return Block("paragraph", _inline(self._document, item, self._told).strip(), page=self._page)
        text = getattr(item, "text", "")
        if kind == "title":
            return Block("heading", _one_line(text), level=1, page=self._page)
        if kind == "section_header":
            return Block("heading", _one_line(text), level=min(item.level + 1, 6), page=self._page)
        if kind == "code":
            return Block("code", text, page=self._page, language=_language(item))
        return Block("paragraph", text.strip(), page=self._page)


def _is_list_group(item: Any) -> bool:
    label = getattr(item, "label", None)
    return label is not None and label.value in ("list", "ordered_list")


def _list_line(item: Any, document: Any, text: str) -> str:
    depth = -1
    parent = item
    while parent.parent is not None:
        parent = parent.parent.resolve(document)
        depth += _is_list_group(parent)
    marker = item.marker if item.enumerated and item.marker else "-"
    return f"{'  ' * max(depth, 0)}{marker} {_one_line(text)}"


def _inline(document: Any, group: Any, skip: set[str]) -> str:
    """Text of an inline group, its pieces joined as they were written; code among them in backticks."""
    from docling_core.types.doc import CodeItem  # noqa: PLC0415 - heavy

    parts: list[str] = []
    for reference in group.children:
        child = reference.resolve(document)
        if _is_list_group(child):
            continue
        skip.add(child.self_ref)
        text = getattr(child, "text", "")
        if isinstance(child, CodeItem):
            text = f"`{text}`"
        elif not text and getattr(child, "children", None):
            text = _inline(document, child, skip)
        if text:
            parts.append(text)
    return re.sub(r"([(\[]) | (?=[.,;:!?)\]])", r"\1", " ".join(parts))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _language(item: Any) -> str:
    name = str(item.code_language.value) if item.code_language is not None else ""
    return "" if name == "unknown" else name.lower()


def _chart(item: Any, document: Any, page: int | None) -> Block | None:
    """The values behind a chart as a table; of other pictures nothing."""
    chart = getattr(getattr(item, "meta", None), "tabular_chart", None)
    if chart is None:
        return None
    table = docling_table(chart.chart_data, document, page)
    if table is None or not chart.title:
        return table
    # The corner is empty otherwise.
    text = table.text.replace("|  |", f"| {cell_text(chart.title)} |", 1)
    return replace(table, text=text, header="\n".join(text.split("\n")[: table.header.count("\n") + 1]))


def docling_table(data: Any, document: Any, page: int | None) -> Block | None:
    """A table of Docling's cells with each merged one once, at its first row and column."""
    cells = data.table_cells
    width, height = data.num_cols, data.num_rows
    grid = [[""] * width for _ in range(height)]
    heads: set[int] = set()
    for cell in cells:
        text = _cell_text(cell, document)
        if cell.start_row_offset_idx < height and cell.start_col_offset_idx < width:
            grid[cell.start_row_offset_idx][cell.start_col_offset_idx] = text
        if cell.column_header:
            heads.update(range(cell.start_row_offset_idx, cell.end_row_offset_idx))
    count = 0
    while count in heads:
        count += 1
    return table_block(grid, page=page, header_rows=min(max(count, 1), 3))


_RULE = re.compile(r"\|(?:\s*:?-{2,}:?\s*\|)+")
_EMPHASIS = re.compile(r"(\*\*|__|(?<!\w)[*_])(?=\S)(.+?)(?<=\S)\1(?!\w)")


def _cell_text(cell: Any, document: Any) -> str:
    """Text of a cell; a rich one comes as Markdown, whose emphasis only disturbs search."""
    if not hasattr(cell, "ref"):
        return str(cell.text)
    # A table within the cell comes as Markdown too: its words count, its rules and pipes do not.
    text = "\n".join(
        " ".join(entry for entry in split_row(line) if entry) if line.lstrip().startswith("|") else line
        for line in str(cell._get_text(doc=document)).split("\n")
        if not _RULE.fullmatch(line.strip())
    )
    return html.unescape(_EMPHASIS.sub(r"\2", text)).replace("\\_", "_")


def office_properties(data: bytes) -> dict[str, Any]:
    """What `docProps/core.xml` of an Office file states: title, author, subject, keywords, language, date."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            root = fromstring(archive.read("docProps/core.xml"))
    except (KeyError, ParseError, ValueError, zipfile.BadZipFile):
        return {}
    names = {name: name for name in ("title", "subject", "keywords", "language")} | {"creator": "author"}
    found: dict[str, Any] = {}
    for element in root:
        tag = element.tag.rpartition("}")[2]
        text = (element.text or "").strip()
        if text and tag in names:
            found[names[tag]] = text
        elif text and tag in ("created", "modified") and re.match(r"\d{4}-\d{2}-\d{2}", text):
            found["date"] = max(found.get("date", ""), text[:10])
    return found


def read_html_head(text: str) -> dict[str, Any]:
    """What the head of an HTML page states: title, author, description, date, language."""
    from bs4 import BeautifulSoup  # noqa: PLC0415 - heavy

    soup = BeautifulSoup(text[:200_000], "lxml")
    found: dict[str, Any] = {}
    if soup.title is not None and soup.title.get_text(strip=True):
        found["title"] = " ".join(soup.title.get_text().split())
    if soup.html is not None and soup.html.get("lang"):
        found["language"] = str(soup.html["lang"])
    for tag in soup.find_all("meta"):
        name = str(tag.get("name") or tag.get("property") or "").lower()
        content = str(tag.get("content") or "").strip()
        if name and content and name not in found:
            found[name] = content
    keep: Sequence[str] = (
        "title", "language", "author", "description", "keywords", "date", "subject", "owner", "status", "service",
        "document_type", "version", "last_reviewed",
    )  # fmt: skip
    dates = ("date", "dcterms.date", "dcterms.modified", "article:published_time")
    dated = next((found[name] for name in dates if name in found), "")
    if re.match(r"\d{4}-\d{2}-\d{2}", dated):
        found["date"] = dated[:10]
    return {key: found[key] for key in keep if key in found}
