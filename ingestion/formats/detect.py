"""What a file is, by its content. The name only decides between kinds of text that look alike."""

from __future__ import annotations

import codecs
import io
import json
import re
import zipfile
from pathlib import PurePosixPath
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
_HTML_START = re.compile(
    r"\s*(?:<\?xml[^>]*\?>\s*|<!--(?:(?!-->).)*-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
_TAG = re.compile(r"</?(?:p|div|h[1-6]|table|tr|td|ul|ol|li|span|a|br|section|article)\b[^<>]*>", re.I)
_MARKDOWN = re.compile(r"^(?:#{1,6} \S|```|~~~|\|?[ :]*-{3,}[ :]*\||[-*] \S|\d+\. \S|>\s)", re.MULTILINE)
_NAMES: dict[str, Format] = {
    ".md": "markdown", ".markdown": "markdown", ".mdx": "markdown", ".html": "html", ".htm": "html",
    ".xhtml": "html", ".csv": "csv", ".tsv": "csv", ".yaml": "yaml", ".yml": "yaml", ".json": "json", ".jsonl": "json",
    ".ndjson": "json",
    ".txt": "text", ".text": "text", ".log": "text", ".rst": "text", ".adoc": "text",
}  # fmt: skip
_DECLARED = re.compile(
    rb"<meta\b[^>]*?\bcharset\s*=\s*[\"']?\s*([\w.:\-]+)|\A\s*<\?xml\b[^>]*?\bencoding\s*=\s*[\"']([\w.:\-]+)",
    re.IGNORECASE,
)
_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
_ACCENTED = "\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff\u0152\u0153\u0160\u0161\u017d\u017e\u0178"
# Bytes without a character, three accented letters in a row, Icelandic letters (which Turkish ones turn into), marks
# within words, and accented capitals after small letters.
_NOT_WESTERN = re.compile(
    rf"\ufffd|[{_ACCENTED}]{{3}}|[\u00d0\u00dd\u00de\u00f0\u00fd\u00fe]"
    rf"|[a-z{_ACCENTED}][\u00a1-\u00a6\u00a8\u00aa\u00ac\u00ae\u00af\u00b1-\u00b3\u00b5\u00b6\u00b8-\u00bf"
    rf"\u0192\u02c6\u2020\u2021\u2030][a-z{_ACCENTED}]|[a-z][\u00c0-\u00d6\u00d8-\u00de]"
)
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def detect_binary(data: bytes) -> Format | None:
    """The format of a binary document, or None where the file is text.

    Raises ConversionFault: unsupported for other binaries, encrypted for locked Office files, corrupt for broken ones.
    """
    start = data[:8192]
    if b"%PDF-" in start[:1024]:
        return "pdf"
    if start.startswith(b"PK\x03\x04") or start.startswith(b"PK\x05\x06"):
        return _office_format(data)
    if start.startswith(_OLE_MAGIC):
        if _ENCRYPTED_STREAM in data:
            raise ConversionFault("encrypted", "the Office file is locked with a password")
        raise ConversionFault("unsupported", "an Office format from before 2007; save it as docx, pptx or xlsx")
    if start.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")):
        return None
    if start.startswith(b"{\\rtf"):
        raise ConversionFault("unsupported", "RTF; save it as docx")
    if utf16_without_mark(start) is not None:
        return None
    if _looks_binary(start):
        raise ConversionFault("unsupported", "binary content of an unknown kind")
    return None


def _looks_binary(start: bytes) -> bool:
    """More than a few control bytes. A stray NUL in a text is stripped later, it does not make the file binary."""
    controls = len(_CONTROL.findall(start.decode("latin-1")))
    return controls > max(4, len(start) // 50)


def _office_format(data: bytes) -> Format:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
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
    unmarked = utf16_without_mark(data[:8192])
    if unmarked is not None:
        return data.decode(unmarked, "replace"), (f"the text is not UTF-8; read as {unmarked}",)
    declared = _declared_encoding(data)
    # Escape sequences of seven-bit encodings are ASCII, and so would pass for UTF-8.
    if declared is not None and declared.startswith(("iso2022", "hz")):
        return data.decode(declared, "replace"), ()
    try:
        return data.decode("utf-8"), ()
    except UnicodeDecodeError as error:
        broken = error.start
    if declared is not None and declared != "utf-8":
        return data.decode(declared, "replace"), ()
    if _SURROGATE.search(data):
        try:
            # UTF-16 that was turned into UTF-8 unit by unit: pairs are joined, lone ones are left for the cleaner.
            units = data.decode("utf-8", "surrogatepass").encode("utf-16-le", "surrogatepass")
            return units.decode("utf-16-le", "surrogatepass"), ()
        except UnicodeDecodeError:
            pass
    # One stray byte in a long UTF-8 text is damage, not another encoding.
    replaced = data.decode("utf-8", "replace")
    lost = replaced.count("\ufffd")
    if sum(byte > 127 for byte in data) > 4 * lost:
        return replaced, (f"{lost} bytes that are not UTF-8 were replaced, the first at byte {broken}",)
    import charset_normalizer  # noqa: PLC0415 - heavy

    encoding = "cp1252"
    if len(data) >= 64 and not _reads_as_western(data):
        best = charset_normalizer.from_bytes(data).best()
        encoding = best.encoding if best is not None else encoding
    return data.decode(encoding, "replace"), (f"the text is not UTF-8; read as {encoding}",)


def _declared_encoding(data: bytes) -> str | None:
    """Python's name of the encoding that the head of an HTML or XML text declares, None without one that is known."""
    match = _DECLARED.search(data, 0, 4096)
    if match is None:
        return None
    name = (match.group(1) or match.group(2)).decode("ascii").lower()
    try:
        # WHATWG Encoding Standard, 4.2: what calls itself Latin-1 or ASCII is read as Windows-1252.
        return codecs.lookup({"iso-8859-1": "cp1252", "latin1": "cp1252", "us-ascii": "cp1252"}.get(name, name)).name
    except LookupError:
        return None


def utf16_without_mark(start: bytes) -> str | None:
    """`utf-16-le` or `utf-16-be` where every other byte of mostly Latin text is NUL, else None."""
    pairs = len(start) // 2
    if pairs < 4:
        return None
    even, odd = start[: pairs * 2 : 2].count(0), start[1 : pairs * 2 : 2].count(0)
    for full, empty, encoding in ((even, odd, "utf-16-le"), (odd, even, "utf-16-be")):
        if empty > pairs * 0.7 and full == 0:
            return encoding
    return None


def _reads_as_western(data: bytes) -> bool:
    """Whether bytes that are not ASCII read as single accented letters within words, or as marks between words.

    The statistics of whole alphabets take a few French words for Baltic ones; letters of other alphabets turn into
    runs of accented ones or into marks inside of words here.
    """
    text = data.decode("cp1252", "replace")
    return not _NOT_WESTERN.search(text)


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
    if text.startswith(("---\n", "+++\n")) or len(_MARKDOWN.findall(text)) >= 3:
        return "markdown"
    return "text"


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
