"""PDF files to lines, by docling-parse, one page at a time.

docling-parse is the parser under Docling's own model-free pipeline; asking it directly adds the ruling lines of
tables, keeps one page in memory, and lets a page that fails be named while the others are kept.
"""

from __future__ import annotations

import base64
import io
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

from ingestion.config import ConversionLimits
from ingestion.errors import ConversionFault
from ingestion.formats.pdf_frame import Frame, find_frame, without_odd_turns
from ingestion.pdf_gutters import find_gutters, may_join_cells
from ingestion.pdf_lines import Page, TextLine
from ingestion.pdf_spacing import close_up, may_be_spaced
from ingestion.pdf_tables import crossed_borders, split_at_borders

_LOCK = b"/Encrypt"
_STREAM = re.compile(
    rb"/Filter\s*\[?\s*((?:/ASCII85Decode\s*)?/FlateDecode)\s*\]?[^>]*>>\s*stream\r?\n(.*?)endstream", re.DOTALL
)
_MOST_UNPACKED = 16 * 1024 * 1024
_INFO = re.compile(rb"/Info\s+(\d+)\s+(\d+)\s+R")
_ENTRY = rb"/%s\s*(\((?:[^()\\]|\\.|\([^()]*\))*\)|<[0-9A-Fa-f\s]*>)"
_ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}


def pdf_converter() -> str:
    """Name and version of the PDF parser, as recorded with each document."""
    return f"docling-parse {version('docling-parse')}"


@dataclass(frozen=True, slots=True)
class PdfContent:
    """What was read of a PDF: its pages, how many there are, which failed, which show nothing at all, which hold text
    outside of what a viewer shows (that was left out), and the level of each bookmark by its title.
    """

    pages: tuple[Page, ...]
    count: int
    failed: tuple[int, ...]
    blank: tuple[int, ...]
    cropped: tuple[int, ...]
    outline: Mapping[str, int]


def read_pages(data: bytes, limits: ConversionLimits, password: str | None) -> PdfContent:
    """Pages with their lines of text and ruling lines.

    Raises ConversionFault: encrypted (no or a wrong password), corrupt, too_large (pages), or corrupt where no page at
    all can be read.
    """
    from docling_core.types.doc.page import PdfPageBoundaryType  # noqa: PLC0415 - heavy
    from docling_parse.pdf_parser import ContentConfig, ContentLevel, DoclingPdfParser  # noqa: PLC0415 - heavy

    # By the crop box the parser would drop lines that are cut a little.
    boundary = PdfPageBoundaryType.MEDIA_BOX
    try:
        stream = io.BytesIO(without_odd_turns(data))
        document = DoclingPdfParser(loglevel="fatal").load(stream, boundary_type=boundary, password=password)
        count = document.number_of_pages()
    except RuntimeError:
        if _LOCK in data:
            how = "the password given does not open it" if password else "a password is needed"
            raise ConversionFault("encrypted", f"the PDF is locked; {how}") from None
        raise ConversionFault("corrupt", "the PDF's structure cannot be read") from None
    if count > limits.max_pages:
        raise ConversionFault("too_large", f"{count} pages, the limit is {limits.max_pages}")
    wanted = ContentConfig(
        char_cells_content_level=ContentLevel.SKIP,
        word_cells_content_level=ContentLevel.SKIP,
        line_cells_content_level=ContentLevel.COMPUTE_AND_MATERIALIZE,
        shapes_content_level=ContentLevel.COMPUTE_AND_MATERIALIZE,
        bitmaps_content_level=ContentLevel.COMPUTE_AND_MATERIALIZE,
        include_bitmap_bytes=False,
    )
    with_characters = wanted.model_copy(update={"char_cells_content_level": ContentLevel.COMPUTE_AND_MATERIALIZE})
    with_words = wanted.model_copy(update={"word_cells_content_level": ContentLevel.COMPUTE_AND_MATERIALIZE})
    fonts = _font_names(data)
    pages: list[Page] = []
    failed: list[int] = []
    cropped: list[int] = []
    for number in range(1, count + 1):
        try:
            parsed = document.get_page(number, content_config=wanted)
            frame = find_frame(parsed.dimension, parsed.textline_cells)
            page = _page(number, parsed, frame, fonts)
            shown = tuple(line for line in page.lines if frame.shows(line.box))
            if len(shown) < len(page.lines):
                cropped.append(number)
                page = replace(page, lines=shown)
            if any(may_be_spaced(line.text) for line in page.lines):
                parsed = document.get_page(number, content_config=with_characters)
                characters = _text_lines(number, parsed.char_cells, frame, fonts, blank=True)
                closed = [close_up(line, characters) if may_be_spaced(line.text) else line for line in page.lines]
                page = replace(page, lines=tuple(closed))
            crossing = any(crossed_borders(line, page.rules) for line in page.lines)
            if crossing or may_join_cells(page.lines):
                # The parser joins cells that stand close together; their words tell them apart.
                parsed = document.get_page(number, content_config=with_words)
                words = _text_lines(number, parsed.word_cells, frame, fonts)
                lines = split_at_borders(page.lines, words, page.rules)
                gutters = find_gutters(lines, words)
                page = replace(page, lines=tuple(split_at_borders(lines, words, gutters)), gutters=tuple(gutters))
            pages.append(page)
        except (RuntimeError, ValueError, IndexError, MemoryError):
            failed.append(number)
        document.unload_pages((number, number + 1))
    outline: dict[str, int] = {}
    for title, level in _bookmarks(document):
        outline.setdefault(title, level)
    document.unload()
    blank = [page.number for page in pages if not (page.lines or page.rules or page.images)]
    if blank and has_damaged_stream(data):
        # The parser passes over a content stream that it cannot unpack, without a word.
        failed = sorted(failed + blank)
        blank = []
    if count and len(failed) == count:
        raise ConversionFault("corrupt", "no page of the PDF can be read")
    return PdfContent(tuple(pages), count, tuple(failed), tuple(blank), tuple(cropped), outline)


def _bookmarks(document: Any) -> Iterator[tuple[str, int]]:
    """Titles and levels of the bookmarks, from the top."""
    try:
        root = document.get_table_of_contents()
    except (RuntimeError, ValueError, TypeError):
        return
    pending = [(entry, 1) for entry in reversed(root.children)] if root is not None else []
    while pending:
        entry, level = pending.pop()
        if entry.text and entry.text.strip():
            yield entry.text.strip(), min(level, 6)
        pending.extend((child, level + 1) for child in reversed(entry.children))


def _font_names(data: bytes) -> dict[str, str]:
    """Font names by resource name. For the fonts that every reader has, docling-parse gives the resource's name."""
    names: dict[str, str] = {}
    for body in re.findall(rb"<<[^<>]*?/BaseFont[^<>]*>>", data):
        base = re.search(rb"/BaseFont\s*/([^\s/<>\[\]()]+)", body)
        name = re.search(rb"/Name\s*/([^\s/<>\[\]()]+)", body)
        if base and name:
            names[name.group(1).decode("latin-1")] = base.group(1).decode("latin-1")
    return names


def _page(number: int, parsed: Any, frame: Frame, fonts: Mapping[str, str]) -> Page:
    rules = []
    for shape in parsed.shapes:
        xs = [point[0] for point in shape.points]
        ys = [point[1] for point in shape.points]
        if xs:
            rules.append(frame.box(min(xs), min(ys), max(xs), max(ys)))
    lines = _text_lines(number, parsed.textline_cells, frame, fonts)
    return Page(number, frame.width, frame.height, lines, tuple(rules), len(parsed.bitmap_resources))


def _text_lines(
    number: int, cells: Any, frame: Frame, fonts: Mapping[str, str], *, blank: bool = False
) -> tuple[TextLine, ...]:
    """Cells as lines, with coordinates from the top; without such as hold no text, unless `blank` asks for them."""
    lines = []
    for cell in cells:
        if blank or cell.text.strip():
            name = cell.font_name.lstrip("/")
            box = cell.rect.to_bounding_box()
            font = fonts.get(name, name).rpartition("+")[2]
            lines.append(TextLine(cell.text, font, frame.box(box.l, box.b, box.r, box.t), number))
    return tuple(lines)


def has_damaged_stream(data: bytes) -> bool:
    """Whether a compressed stream of the file cannot be unpacked. Of locked files nothing can be said."""
    if _LOCK in data:
        return False
    for match in _STREAM.finditer(data):
        filters = match.group(1)
        body = match.group(2)
        try:
            if b"ASCII85Decode" in filters:
                body = base64.a85decode(body.strip().removesuffix(b"~>"))
            # The first bytes that come out prove nothing, the last do; but no more is held than a block.
            unpacker = zlib.decompressobj()
            rest = unpacker.decompress(body, _MOST_UNPACKED)
            if len(rest) < _MOST_UNPACKED and not unpacker.eof:
                return True
        except (zlib.error, ValueError):
            return True
    return False


def read_properties(data: bytes) -> dict[str, Any]:
    """Title, author, subject, keywords and date of the document information dictionary, where it stands in the clear.

    ISO 32000-1, 14.3.3. docling-parse gives only XMP, which many writers leave out.
    """
    references = _INFO.findall(data)
    if not references or _LOCK in data:
        return {}
    number, generation = references[-1]
    start = re.search(rb"(?:^|[\r\n ])%s\s+%s\s+obj\b" % (number, generation), data)
    if start is None:
        return {}
    body = data[start.end() : start.end() + 8192].split(b"endobj", 1)[0]
    found: dict[str, Any] = {}
    for name, key in ((b"Title", "title"), (b"Author", "author"), (b"Subject", "subject"), (b"Keywords", "keywords")):
        match = re.search(_ENTRY % name, body, re.DOTALL)
        text = _pdf_string(match.group(1)).strip() if match else ""
        if text and text.lower() not in ("untitled", "unspecified", "anonymous", "(anonymous)", "(unspecified)"):
            found[key] = text
    for name in (b"ModDate", b"CreationDate"):
        match = re.search(rb"/%s\s*\(D:(\d{4})(\d{2})(\d{2})" % name, body)
        if match:
            found["date"] = "-".join(part.decode() for part in match.groups())
            break
    return found


def _pdf_string(raw: bytes) -> str:
    if raw.startswith(b"<"):
        digits = re.sub(rb"\s", b"", raw[1:-1])
        value = bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode("ascii"))
    else:
        value = re.sub(rb"\\([0-7]{1,3}|.)", _unescape, raw[1:-1], flags=re.DOTALL)
    if value.startswith(b"\xfe\xff"):
        return value[2:].decode("utf-16-be", "replace")
    return value.decode("utf-8") if _is_utf8(value) else value.decode("latin-1")


def _unescape(match: re.Match[bytes]) -> bytes:
    what = match.group(1)
    return bytes([int(what, 8) & 255]) if what[:1].isdigit() else _ESCAPES.get(what, what)


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
