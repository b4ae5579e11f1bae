"""Conversion of one file into blocks, whatever it is called.

Formats are told apart by content. Docling reads DOCX, PPTX, HTML and (through docling-parse) PDF; Markdown, YAML, JSON,
CSV and XLSX have readers of their own, because Docling was measured to lose something there (see `formats`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

from ingestion.config import ConversionLimits
from ingestion.documents import Block, ConvertedDocument, DocumentState, SourceFile
from ingestion.errors import ConversionFault
from ingestion.formats import markdown, office, pdf, pdf_models, sheets, structured
from ingestion.formats.archive import check_inflated
from ingestion.formats.detect import Format, decode_text, detect_binary, detect_text
from ingestion.formats.embedded import Embedded
from ingestion.formats.nesting import flatten_html
from ingestion.formats.office_parts import plain_office
from ingestion.frontmatter import split_frontmatter
from ingestion.pdf_layout import Page, layout_blocks

CONVERTER_VERSION = "6"
"""Counts up whenever the same bytes would give other blocks; part of a document's key."""

_STAMP = 25
"""Characters that a scanned page may carry without being a page of text."""
# A full stop before anything else belongs to the name.
_ENDINGS = re.compile(r"(?<=.)(?:\.(?:md|markdown|html?|txt|ya?ml|json))?\.[A-Za-z][A-Za-z0-9]{0,7}\Z")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class _Draft:
    """What a reader made of a file, before it is checked and cleaned."""

    blocks: Sequence[Block]
    converter: str
    metadata: dict[str, Any] = field(default_factory=dict)
    origin: str = "format"
    warnings: tuple[str, ...] = ()
    pages: int | None = None
    partial: str = ""
    no_text: str = ""
    removed: int = 0
    embedded: Embedded = field(default_factory=Embedded)
    titled: bool = True
    """Whether the first heading may be the title; the keys of a configuration are none."""


def convert(
    file: SourceFile,
    *,
    limits: ConversionLimits,
    password: str | None = None,
    on_read: Callable[[str, int], None] | None = None,
) -> ConvertedDocument:
    """Reads a file into blocks and what it states of itself.

    The file is read once: what is stored of it is of one moment, whoever writes to it meanwhile, and `content_hash`
    tells of which. Never raises for what is in a file: every outcome is a state, with the reason. A file that cannot be
    read (it vanished, say) ends in the state quarantined at stage `machine`.

    Args:
        file: a file as discovered.
        limits: bounds on rows, pages, characters and unpacked bytes.
        password: opens locked PDFs.
        on_read: told the hash and size of what was read before anything is made of it.
    """
    try:
        data = file.path.read_bytes()
    except OSError as error:
        reason = f"the file cannot be read ({error.strerror or type(error).__name__})"
        return ConvertedDocument("quarantined", _stem(file), converter=_nightshift(""), reason=reason, stage="machine")
    digest = hashlib.sha256(data).hexdigest()
    if on_read is not None:
        on_read(digest, len(data))
    try:
        document = _finish(file, _read(file, data, limits, password), limits)
    except ConversionFault as fault:
        document = ConvertedDocument(fault.state, _stem(file), converter=_nightshift(""), reason=fault.reason)
    return replace(document, content_hash=digest, size=len(data))


def _read(file: SourceFile, data: bytes, limits: ConversionLimits, password: str | None) -> _Draft:
    if not data:
        raise ConversionFault("empty", "the file has no bytes")
    kind = detect_binary(data)
    if kind == "pdf":
        return _read_pdf(data, limits, password)
    if kind is not None:
        return _read_office(data, kind, limits)
    text, warnings = decode_text(data)
    embedded = Embedded()
    text = embedded.leave_out(text)
    if len(text) > limits.max_characters:
        raise ConversionFault("too_large", f"{len(text)} characters, the limit is {limits.max_characters}")
    # Readers put a replacement character for NUL, or take the text for something else.
    nulls = text.count("\0")
    text = text.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")
    name = PurePosixPath(file.relative_path).name
    draft = _read_text(text, name, detect_text(text, name), limits)
    return replace(draft, warnings=warnings + draft.warnings, removed=nulls, embedded=embedded)


def _read_text(text: str, name: str, kind: Format, limits: ConversionLimits) -> _Draft:
    if kind in ("markdown", "text"):
        split = split_frontmatter(text)
        body = markdown.strip_erb(split.body) if name.lower().endswith(".erb") else split.body
        blocks = markdown.read_markdown(body) if kind == "markdown" else _paragraphs(body)
        if split.broken:
            blocks.insert(0, Block("code", split.broken, language=split.notation))
        blocks = blocks or _told(split.metadata)
        return _Draft(blocks, _nightshift("markdown-it"), split.metadata, "frontmatter", split.warnings)
    if kind == "html":
        text = flatten_html(text)
        blocks, _ = office.read_with_docling(text.encode("utf-8", "replace"), "html")
        stated = office.read_html_head(text)
        if not blocks and ("title" in stated or "description" in stated):
            blocks = _told(stated)
        return _Draft(blocks, _nightshift(office.docling_version()), stated)
    if kind == "csv":
        blocks, warnings = sheets.read_csv(text, limits)
        return _Draft(blocks, _nightshift("csv"), warnings=warnings)
    read = structured.read_yaml if kind == "yaml" else structured.read_json
    blocks, stated, warnings = read(text)
    structured.check_size(blocks, limits.max_cells)
    # What such a file says of itself at its top is as explicit as frontmatter.
    return _Draft(blocks, _nightshift(kind), stated, "frontmatter", warnings, titled=False)


def _told(stated: dict[str, Any]) -> list[Block]:
    """What a page without a text states of itself, such as a stub of a catalog, as its text."""
    lines = [f"- {path}: {value}" for path, value in structured.leaves("", stated)]
    return [Block("list", "\n".join(lines))] if lines else []


def _read_office(data: bytes, kind: Format, limits: ConversionLimits) -> _Draft:
    check_inflated(data, limits.max_inflated_bytes)
    data = plain_office(data, kind)
    if kind == "xlsx":
        blocks, stated, warnings = sheets.read_xlsx(data, limits)
        return _Draft(blocks, _nightshift("openpyxl"), stated, "format", warnings)
    blocks, warnings = office.read_with_docling(data, kind)
    stated = office.office_properties(data)
    return _Draft(blocks, _nightshift(office.docling_version()), stated, "format", warnings)


def _read_pdf(data: bytes, limits: ConversionLimits, password: str | None) -> _Draft:
    content = pdf.read_pages(data, limits, password)
    converter = _nightshift(pdf.pdf_converter())
    warnings: tuple[str, ...] = ()
    blocks: list[Block] | None = None
    partial = ""
    if limits.layout_models is not None:
        missing = pdf_models.missing_for_models(limits.layout_models)
        if missing:
            warnings = (f"read from its lines, without layout models: {missing}",)
        else:
            blocks, partial = pdf_models.read_with_models(data, limits.layout_models, password)
            converter = _nightshift(pdf_models.models_converter())
    if content.failed:
        partial = f"{len(content.failed)} of {content.count} pages cannot be read: {_listed(content.failed)}"
    scans = [page.number for page in content.pages if page.images and not _holds_text(page)] if blocks is None else []
    # A cover or a last page may be a picture; one between pages of text is missing.
    missing_text = any(1 < number < content.count for number in scans) or len(scans) * 2 >= content.count
    if scans and not partial and missing_text:
        partial = f"{len(scans)} of {content.count} pages are images; text recognition is needed: {_listed(scans)}"
    elif scans:
        warnings += (f"pages that are images with hardly a word: {_listed(scans)}",)
    if content.blank:
        warnings += (f"pages that show nothing: {_listed(content.blank)}",)
    if content.cropped:
        warnings += (f"text outside of what the page shows was left out: {_listed(content.cropped)}",)
    return _Draft(
        layout_blocks(content.pages, content.outline) if blocks is None else blocks,
        converter,
        pdf.read_properties(data),
        warnings=warnings,
        pages=content.count,
        partial=partial,
        no_text="pages are images; text recognition is needed" if scans else "the pages hold no text",
    )


def _holds_text(page: Page) -> bool:
    """Whether a page has more than a stamp or a page number."""
    return sum(len(line.text) for line in page.lines) > _STAMP


def _listed(pages: Sequence[int]) -> str:
    return ", ".join(map(str, pages[:20])) + (", ..." if len(pages) > 20 else "")


def _paragraphs(text: str) -> list[Block]:
    parts = re.split(r"\n[ \t]*\n", text)
    return [Block("paragraph", part.strip("\n")) for part in parts if part.strip()]


def _finish(file: SourceFile, draft: _Draft, limits: ConversionLimits) -> ConvertedDocument:
    """Strips what no database takes, and settles title and state."""
    cleaner = _Cleaner(draft.removed)
    blocks = tuple(_cleaned(block, cleaner, draft.embedded) for block in draft.blocks)
    blocks = tuple(block for block in blocks if block.text.strip())
    metadata: dict[str, Any] = cleaner.value(draft.metadata)
    warnings = tuple(cleaner.text(warning) for warning in draft.warnings)
    if draft.embedded.files:
        warnings += (draft.embedded.warning(),)
    if cleaner.removed:
        warnings += (f"{cleaner.removed} characters that cannot be stored (NUL, lone surrogates) were removed",)
    if sum(len(block.text) for block in blocks) > limits.max_characters:
        reason = f"the text is longer than {limits.max_characters} characters"
        return ConvertedDocument("too_large", _stem(file), converter=draft.converter, reason=reason)
    state, reason = _state(draft, blocks)
    return ConvertedDocument(
        state=state,
        title=_title(file, metadata, blocks if draft.titled else ()),
        blocks=blocks,
        metadata=metadata,
        origins=dict.fromkeys(metadata, draft.origin),
        warnings=warnings,
        converter=draft.converter,
        pages=draft.pages,
        reason=reason,
    )


def _cleaned(block: Block, cleaner: _Cleaner, embedded: Embedded) -> Block:
    text = embedded.leave_out(cleaner.text(block.text))
    # The lines that a table begins with, as they now are.
    header = "\n".join(text.split("\n")[: block.header.count("\n") + 1]) if block.header else ""
    return replace(block, text=text, header=header)


def _state(draft: _Draft, blocks: Sequence[Block]) -> tuple[DocumentState, str]:
    if not blocks:
        if draft.pages is not None:
            return "no_text", draft.no_text
        return "empty", "the file holds no text"
    return ("partial", draft.partial) if draft.partial else ("ok", "")


def _title(file: SourceFile, metadata: dict[str, Any], blocks: Sequence[Block]) -> str:
    stated = metadata.get("title")
    if isinstance(stated, int) and not isinstance(stated, bool):
        stated = str(stated)  # a year, say
    headings = [block for block in blocks if block.kind == "heading"]
    if isinstance(stated, str) and stated.strip():
        stated = " ".join(stated.split())
        # A page's title often carries the site's name behind the heading.
        shown = (heading.text for heading in headings[:1] + [item for item in headings if item.level == 1][:1])
        return next((text for text in shown if len(text) > 3 and stated.startswith(text)), stated)
    if headings:
        first = headings[0]
        lone = sum(heading.level == first.level for heading in headings) == 1
        if first.level == 1 or (blocks[0] is first and lone):
            return first.text
    return _stem(file)


def _stem(file: SourceFile) -> str:
    """The file's name as a title: without its endings, words apart."""
    name = PurePosixPath(file.relative_path).name
    words = re.sub(r"[-_]+", " ", _ENDINGS.sub("", name)).strip() or name
    return words[0].upper() + words[1:] if words.islower() else words


def _nightshift(reader: str) -> str:
    return f"nightshift {CONVERTER_VERSION}" + (f" ({reader})" if reader else "")


class _Cleaner:
    """Removes NUL characters and lone surrogates, which PostgreSQL and its driver refuse, and counts them."""

    def __init__(self, removed: int) -> None:
        self.removed = removed

    def text(self, text: str) -> str:
        cleaned, count = _UNSTORABLE.subn("", text)
        self.removed += count
        return cleaned

    def value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {self.text(str(key)): self.value(item) for key, item in value.items()}
        return value
