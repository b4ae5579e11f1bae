"""What a file is, by its content. The name only decides between kinds of text that look alike."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path, PurePosixPath
from typing import Literal

from ingestion.errors import ConversionFault

Format = Literal["pdf", "docx", "pptx", "xlsx", "html", "markdown", "csv", "yaml", "json", "text"]

_OLE_MAGIC = bytes.fromhex("d0cf11e0a1b11ae1")
_ENCRYPTED_STREAM = "EncryptedPackage".encode("utf-16-le")
_OFFICE_PARTS: tuple[tuple[str, Format], ...] = (
    ("word/document.xml", "docx"),
    ("ppt/presentation.xml", "pptx"),
    ("xl/workbook.xml", "xlsx"),
)
_HTML_START = re.compile(r"\s*(?:<\?xml[^>]*\?>\s*|<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S)
_TAG = re.compile(r"</?(?:p|div|h[1-6]|table|tr|td|ul|ol|li|span|a|br|section|article)\b[^>]*>", re.I)
_MARKDOWN = re.compile(r"^(?:#{1,6} \S|```|~~~|\|?[ :]*-{3,}[ :]*\||[-*] \S|\d+\. \S|>\s)", re.MULTILINE)
_NAMES: dict[str, Format] = {
    ".md": "markdown", ".markdown": "markdown", ".mdx": "markdown", ".html": "html", ".htm": "html",
    ".xhtml": "html", ".csv": "csv", ".tsv": "csv", ".yaml": "yaml", ".yml": "yaml", ".json": "json",
    ".txt": "text", ".text": "text", ".log": "text", ".rst": "text", ".adoc": "text",
}  # fmt: skip
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def detect_binary(path: Path) -> Format | None:
    """The format of a binary document, or None where the file is text.

    Raises ConversionFault: unsupported for other binaries, encrypted for locked Office files, corrupt for broken ones.
    """
    with path.open("rb") as stream:
        start = stream.read(8192)
    if b"%PDF-" in start[:1024]:
        return "pdf"
    if start.startswith(b"PK\x03\x04") or start.startswith(b"PK\x05\x06"):
        return _office_format(path)
    if start.startswith(_OLE_MAGIC):
        if _ENCRYPTED_STREAM in path.read_bytes():
            raise ConversionFault("encrypted", "the Office file is locked with a password")
        raise ConversionFault("unsupported", "an Office format from before 2007; save it as docx, pptx or xlsx")
    if start.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")):
        return None
    if start.startswith(b"{\\rtf"):
        raise ConversionFault("unsupported", "RTF; save it as docx")
    if _looks_binary(start):
        raise ConversionFault("unsupported", "binary content of an unknown kind")
    return None


def _looks_binary(start: bytes) -> bool:
    """More than a few control bytes. A stray NUL in a text is stripped later, it does not make the file binary."""
    controls = len(_CONTROL.findall(start.decode("latin-1")))
    return controls > max(4, len(start) // 50)


def _office_format(path: Path) -> Format:
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise ConversionFault("corrupt", f"the archive of the Office file cannot be read ({error})") from None
    for part, kind in _OFFICE_PARTS:
        if part in names:
            return kind
    if "[Content_Types].xml" in names:
        raise ConversionFault("unsupported", "an Office file of another kind than docx, pptx or xlsx")
    raise ConversionFault("unsupported", "an archive; unpack it and ingest its files")


def decode_text(data: bytes) -> tuple[str, tuple[str, ...]]:
    """Text of bytes in an unknown encoding, with warnings where it had to be guessed or bytes were replaced."""
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if data.startswith(mark):
            text = data.decode(encoding, "replace")
            return text, (() if "\ufffd" not in text else (f"bytes that are not {encoding} were replaced",))
    try:
        return data.decode("utf-8"), ()
    except UnicodeDecodeError as error:
        broken = error.start
    # One stray byte in a long UTF-8 text is damage, not another encoding.
    replaced = data.decode("utf-8", "replace")
    lost = replaced.count("\ufffd")
    if sum(byte > 127 for byte in data) > 4 * lost:
        return replaced, (f"{lost} bytes that are not UTF-8 were replaced, the first at byte {broken}",)
    import charset_normalizer  # noqa: PLC0415 - heavy

    best = charset_normalizer.from_bytes(data).best()
    encoding = best.encoding if best is not None and len(data) >= 64 else "cp1252"
    return data.decode(encoding, "replace"), (f"the text is not UTF-8; read as {encoding}",)


def detect_text(text: str, name: str) -> Format:
    """The format of a text. `name` is the file's name; `page.html.md.erb` counts as Markdown."""
    path = PurePosixPath(name.lower())
    suffixes = [suffix for suffix in path.suffixes if suffix != ".erb"]
    named = _NAMES.get(suffixes[-1]) if suffixes else None
    if _HTML_START.match(text) and named not in ("yaml", "csv"):
        return "html"
    if named == "html":
        return "html" if _TAG.search(text) else "markdown"
    stripped = text.strip().removeprefix("\ufeff")
    if named != "csv" and stripped[:1] in ("{", "[") and stripped[-1:] in ("}", "]") and _is_json(stripped):
        return "json"
    if named == "json":
        return "json"
    if named is not None and named != "text":
        return named
    if text.startswith("---\n") or len(_MARKDOWN.findall(text)) >= 3:
        return "markdown"
    return "text"


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
