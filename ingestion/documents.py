"""Values that the stages of ingestion hand to one another."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

DocumentState = Literal[
    "ok", "partial", "empty", "no_text", "encrypted", "corrupt", "too_large", "unsupported", "quarantined"
]
BlockKind = Literal["heading", "paragraph", "list", "table", "code", "quote"]

# Metadata that keeps the author's own word for a document's type where the rules have another one for it.
STATED_TYPE = "document_type_stated"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file found under a source. `relative_path` uses `/`; `content_hash` is the SHA-256 of its bytes, in hex."""

    source: str
    root: Path
    path: Path
    relative_path: str
    size: int
    content_hash: str


@dataclass(frozen=True, slots=True)
class Block:
    """One structural piece of a document, as Markdown text.

    `level` is the heading's (1-6), 0 elsewhere. A table's `text` is the whole Markdown table, header and all; `header`
    the lines it begins with (header row and rule), which are repeated on every part of it. `language` belongs to code
    blocks; a code block's text is the code itself, without fences. `page` counts from 1 where the format has pages.
    """

    kind: BlockKind
    text: str
    level: int = 0
    page: int | None = None
    header: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class ConvertedDocument:
    """A document after conversion.

    `metadata` holds JSON values only; `origins` says for each key where the value came from (frontmatter, text,
    format, rule, source, model). `converter` names what converted it, with version. `reason` explains a state other
    than ok, `stage` says whether the bytes are to blame for it (convert) or the machine (machine), where the same bytes
    may end otherwise. `content_hash` (SHA-256, hex) and `size` are those of the bytes that were read, empty and 0 where
    none were.
    """

    state: DocumentState
    title: str
    blocks: tuple[Block, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    converter: str = ""
    pages: int | None = None
    reason: str = ""
    stage: Literal["convert", "machine"] = "convert"
    content_hash: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document of at most the configured number of tokens.

    `text` is what is stored, shown and quoted; `context` (title and heading path) is put before it for embedding and
    for BM25. `tokens` counts context and text together in the embedding model's tokens.
    """

    ordinal: int
    text: str
    context: str
    heading_path: tuple[str, ...]
    page: int | None
    tokens: int
    kind: BlockKind = "paragraph"
