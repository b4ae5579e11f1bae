"""Office archives brought into the form that their readers know: another kind of the same format is no other text."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from xml.etree.ElementTree import ParseError, fromstring

from ingestion.errors import ConversionFault

_MAIN = {
    "docx": (b"/word/document.xml", b"openxmlformats-officedocument.wordprocessingml.document.main+xml"),
    "pptx": (b"/ppt/presentation.xml", b"openxmlformats-officedocument.presentationml.presentation.main+xml"),
}
# ISO/IEC 29500 names the same parts twice: Part 1 (strict) and Part 4 (transitional, which everybody writes).
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")
_STRICT_NAMES = ((b"/2006/extendedProperties", b"/2006/extended-properties"),)
_OVERRIDE = re.compile(rb"<Override\b[^>]*>")
_CONTENT_TYPE = re.compile(rb"(ContentType\s*=\s*[\"'])[^\"']*")
_MOVED = re.compile(rb"(</?w:)moveTo(?=[\s>/])")


def plain_office(data: bytes, kind: str) -> bytes:
    """The file as a plain document of its kind, the same bytes where it is one.

    Templates, slide shows and files with macros have another type for their main part, strict files other namespaces;
    text that was moved with changes tracked has an element of its own, which readers pass over.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        changed: dict[str, bytes] = {}
        for name in archive.namelist():
            if name.endswith((".xml", ".rels")):
                part = archive.read(name)
                plain = _plain(name, part, kind)
                if plain != part:
                    changed[name] = plain
        if not changed:
            return data
        with zipfile.ZipFile(whole := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as rewritten:
            for entry in archive.infolist():
                rewritten.writestr(entry.filename, changed.get(entry.filename) or archive.read(entry))
    return whole.getvalue()


def _plain(name: str, part: bytes, kind: str) -> bytes:
    part = _STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006/", part)
    for strict, transitional in _STRICT_NAMES:
        part = part.replace(strict, transitional)
    if name == "[Content_Types].xml" and kind in _MAIN:
        main, content_type = _MAIN[kind]

        def plain(override: re.Match[bytes]) -> bytes:
            if main not in override[0]:
                return override[0]
            return _CONTENT_TYPE.sub(rb"\1application/vnd." + content_type, override[0])

        return _OVERRIDE.sub(plain, part)
    return _MOVED.sub(rb"\1ins", part) if name.startswith("word/") else part


def slides_shown(data: bytes) -> tuple[bool, ...]:
    """Of each slide of a presentation, in order, whether it is shown. Raises ConversionFault (corrupt)."""
    shown = []
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            relations = fromstring(archive.read("ppt/_rels/presentation.xml.rels"))
            targets = {each.get("Id", ""): each.get("Target", "") for each in relations}
            for entry in fromstring(archive.read("ppt/presentation.xml")).iter():
                if entry.tag.endswith("}sldId"):
                    target = targets[next(value for name, value in entry.items() if name.endswith("}id"))]
                    slide = fromstring(archive.read(posixpath.normpath(posixpath.join("/ppt", target)).lstrip("/")))
                    shown.append(slide.get("show") not in ("0", "false"))
    except (KeyError, StopIteration, ParseError) as error:
        raise ConversionFault("corrupt", f"the presentation's list of slides is damaged ({error})") from None
    return tuple(shown)
