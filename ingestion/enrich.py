"""Metadata of a document: what it states of itself, else what rules find. Where each value came from is recorded.

For each property the first of these that has a value gives it: frontmatter, a labelled line in the text ("Owner: ..."),
a property of the file format, a rule. Nothing that an author stated is overwritten. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime
from fnmatch import fnmatchcase
from typing import Any

from ingestion.config import EnrichmentRules, PropertyRule, TypeRule
from ingestion.documents import STATED_TYPE, ConvertedDocument, SourceFile
from ingestion.language import detect_language

_ISO = re.compile(r"((?:19|20)\d{2})-(\d{2})-(\d{2})")
_DATE_FORMATS = ("%d %B %Y", "%d %b %Y", "%B %d, %Y", "%b %d, %Y", "%B %d %Y", "%d.%m.%Y", "%Y/%m/%d", "%Y%m%d")
# Dates that tools write when they were told none: reportlab, python-docx's template, the zero of archives and clocks.
_PLACEHOLDER_DATES = frozenset({"2000-01-01", "2013-12-23", "2013-01-27", "1980-01-01", "1970-01-01", "1601-01-01"})
_PLACEHOLDER_NAMES = frozenset({"python-docx", "openpyxl", "anonymous", "unknown", "user", "admin", "root", ""})
_HEAD_BLOCKS = 40
_TEXT_CHARACTERS = 30_000


def enrich(document: ConvertedDocument, file: SourceFile, rules: EnrichmentRules) -> ConvertedDocument:
    """A document with title, document_type, service or subject, date, source, language, owner and status where known.

    Args:
        document: the document as converted; `origins` says what came from frontmatter and what from the format.
        file: where it was found; its path is evidence.
        rules: vocabulary and evidence, as in `config/ingestion.yaml`.

    Returns:
        The document with completed `metadata` (JSON values) and `origins` (frontmatter, text, format, rule or source).
    """
    found = _Found(document)
    head = "\n".join(block.text for block in document.blocks[:_HEAD_BLOCKS])[:_TEXT_CHARACTERS]
    shown = any(block.kind == "heading" and block.text == document.title for block in document.blocks)
    found.put("title", document.title, document.origins.get("title", "text" if shown else "rule"))
    vocabulary = {rule.document_type for rule in rules.types} | set(rules.aliases)
    for rule in rules.properties:
        value, origin = _property(rule, document, head)
        # Under another name than document_type stands many a word that is no type of ours.
        if rule.property == "document_type" and "document_type" not in document.metadata:
            value = value if _word(value) in vocabulary else None
        if value is not None:
            found.put(rule.property, value, origin)
    _settle_type(found, document, file, rules)
    _settle_date(found, file)
    _settle_service(found, file, head, rules)
    if "language" not in found.metadata:
        language = detect_language(head)
        if language:
            found.put("language", language, "rule")
    found.put("source", file.source, "source")
    return replace(document, metadata=found.metadata, origins=found.origins)


class _Found:
    """Metadata in the making."""

    def __init__(self, document: ConvertedDocument) -> None:
        self.metadata: dict[str, Any] = dict(document.metadata)
        self.origins: dict[str, str] = dict(document.origins)

    def put(self, key: str, value: Any, origin: str) -> None:
        self.metadata[key] = value
        self.origins[key] = origin

    def drop(self, key: str) -> None:
        self.metadata.pop(key, None)
        self.origins.pop(key, None)


def _property(rule: PropertyRule, document: ConvertedDocument, head: str) -> tuple[Any, str]:
    stated = {key.casefold().replace("-", "_").replace(" ", "_"): key for key in document.metadata}
    keys = [stated[key] for key in (rule.property, *rule.keys) if key in stated]
    usable = [key for key in keys if _usable(rule.property, document.metadata[key])]
    for key in usable:
        if document.origins.get(key) == "frontmatter":
            return _plain(document.metadata[key]), "frontmatter"
    for pattern in rule.lines:
        match = re.search(pattern, head, re.IGNORECASE | re.MULTILINE)
        if match and match.group(1).strip():
            return " ".join(match.group(1).split()), "text"
    for key in usable:
        return _plain(document.metadata[key]), document.origins.get(key, "format")
    return None, ""


def _word(value: Any) -> str:
    return re.sub(r"[\s\-]+", "_", value.strip().casefold()) if isinstance(value, str) else ""


def _usable(name: str, value: Any) -> bool:
    if name == "owner" and isinstance(value, str) and value.strip().casefold() in _PLACEHOLDER_NAMES:
        return False
    if name == "date" and isinstance(value, str) and value[:10] in _PLACEHOLDER_DATES:
        return False
    return value not in (None, "", [], {})


def _plain(value: Any) -> Any:
    """One text of a list of texts, since metadata is compared for equality in filters; other values as they are."""
    if isinstance(value, list) and value and all(isinstance(item, str | int) for item in value):
        return ", ".join(str(item) for item in value)
    return " ".join(value.split()) if isinstance(value, str) else value


def _settle_type(found: _Found, document: ConvertedDocument, file: SourceFile, rules: EnrichmentRules) -> None:
    stated = found.metadata.get("document_type")
    if isinstance(stated, str) and stated.strip():
        word, origin = _word(stated), found.origins.get("document_type", "frontmatter")
        found.put("document_type", rules.aliases.get(word, word), origin)
        if word in rules.aliases:
            found.put(STATED_TYPE, word, origin)
        return
    scores = list(type_scores(document, file, rules))
    if scores:
        name, score = max(scores, key=lambda item: item[1])
        if score >= rules.threshold:
            found.put("document_type", name, "rule")


def type_scores(document: ConvertedDocument, file: SourceFile, rules: EnrichmentRules) -> Iterator[tuple[str, float]]:
    """Points of each document type in the order of the rules; the first of equal ones wins."""
    path = "/" + file.relative_path.casefold()
    headings = [block.text for block in document.blocks if block.kind == "heading"]
    text = "\n".join(block.text for block in document.blocks if block.kind != "heading")[:_TEXT_CHARACTERS]
    for rule in rules.types:
        yield rule.document_type, _points(rule, path, document.title, headings, text, rules)


def _points(rule: TypeRule, path: str, title: str, headings: list[str], text: str, rules: EnrichmentRules) -> float:
    points = 0.0
    if any(fnmatchcase(path, glob) for glob in rule.paths):
        points += rules.path_weight
    if any(re.search(pattern, title, re.IGNORECASE) for pattern in rule.titles):
        points += rules.title_weight
    for pattern in rule.headings:
        compiled = re.compile(pattern, re.IGNORECASE)
        points += rules.heading_weight * any(compiled.search(heading) for heading in headings)
    for pattern in rule.phrases:
        points += rules.phrase_weight * bool(re.search(pattern, text, re.IGNORECASE))
    for pattern in rule.against:
        points -= rules.title_weight * sum(bool(re.search(pattern, place, re.IGNORECASE)) for place in (title, path))
    return points


def _settle_date(found: _Found, file: SourceFile) -> None:
    stated = found.metadata.get("date")
    iso = iso_date(stated)
    if iso and not (found.origins.get("date") == "format" and iso in _PLACEHOLDER_DATES):
        found.put("date", iso, found.origins["date"])
        return
    if found.origins.get("date") == "format":
        found.drop("date")
    if "date" in found.metadata:
        return
    for text in (str(found.metadata.get("title", "")), file.relative_path):
        iso = iso_date(text, anywhere=True)
        if iso:
            found.put("date", iso, "rule")
            return


def iso_date(value: Any, *, anywhere: bool = False) -> str:
    """A day as YYYY-MM-DD, or an empty text where the value does not name one unambiguously."""
    if not isinstance(value, str):
        return ""
    text = " ".join(value.split())
    for match in _ISO.finditer(text) if anywhere else filter(None, [_ISO.match(text)]):
        try:
            return date(*(int(part) for part in match.groups())).isoformat()
        except ValueError:
            continue
    if anywhere:
        return ""
    plain = re.sub(r"(?<=\d)(?:st|nd|rd|th)\b", "", text)
    for form in _DATE_FORMATS:
        try:
            return datetime.strptime(plain, form).date().isoformat()  # noqa: DTZ007 - a day has no zone
        except ValueError:
            continue
    return ""


def _settle_service(found: _Found, file: SourceFile, head: str, rules: EnrichmentRules) -> None:
    """A service that title or file name mention, else a folder that is named after one, else what the text is about."""
    if "service" in found.metadata:
        return
    for where in (str(found.metadata.get("title", "")), file.relative_path.rpartition("/")[2].replace("_", "-")):
        named = [name for name in rules.known_subjects if _mentions(where, name)]
        if named:
            # The longest name: `billing-api` rather than `billing`.
            found.put("service", max(named, key=lambda name: (len(name), name)), "rule")
            return
    for glob in rules.path_subjects:
        match = re.fullmatch(_subject_pattern(glob), "/" + file.relative_path)
        if match:
            found.put("service", match.group("subject"), "rule")
            return
    counts = sorted(((_mentions(head, name), name) for name in rules.known_subjects), key=lambda item: -item[0])
    if counts and counts[0][0] >= 2 and all(count * 2 <= counts[0][0] for count, _ in counts[1:]):
        found.put("service", counts[0][1], "rule")


def _mentions(place: str, name: str) -> int:
    spoken = re.escape(name).replace(r"\-", r"[\s\-]")
    return len(re.findall(rf"(?<![\w-]){spoken}(?!\w)", place, re.IGNORECASE))


def _subject_pattern(glob: str) -> str:
    parts = re.split(r"(\{subject\}|\*\*/|\*)", glob)
    known: Mapping[str, str] = {"{subject}": r"(?P<subject>[^/]+)", "*": r"[^/]*", "**/": r"(?:.*/)?"}
    return "".join(known.get(part, re.escape(part)) for part in parts)
