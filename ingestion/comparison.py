"""What a listing means for the index: a pure comparison of files found with documents known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ingestion.documents import SourceFile
from ingestion.index import document_id
from ingestion.scope import Scope, is_below
from ingestion.spelling import unspell
from rag_core.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class KnownDocument:
    """A document of the index, as far as a comparison needs it. `kept` says that it failed and that what was published
    of it before still answers.
    """

    document_no: int
    document_id: str
    source: str
    path: str
    location: str
    content_hash: str
    pipeline_version: str
    state: str
    stage: str
    reason: str
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """Each file found is in exactly one of `unchanged`, `still_failing`, `moved` (with the document that it was) and
    `work` (new, changed, or failed before by no fault of its own); `gone` are documents under the roots that no file
    stands for any more, `hidden` those of which the listing cannot say that.
    """

    unchanged: tuple[tuple[KnownDocument, SourceFile], ...]
    still_failing: tuple[tuple[KnownDocument, SourceFile], ...]
    moved: tuple[tuple[KnownDocument, SourceFile], ...]
    work: tuple[SourceFile, ...]
    gone: tuple[KnownDocument, ...]
    hidden: tuple[KnownDocument, ...]


# States that follow from the bytes: the same bytes end in them again, so trying once more is useless.
SETTLED_STATES = frozenset({"empty", "no_text", "encrypted", "corrupt", "too_large", "unsupported"})
# Stage at which a quarantined document's own bytes are to blame: it is tried again by name, or when it changes.
_SETTLED_STAGE = "convert"
# Stage of a document that lacks chunks for which the embedding model gave no usable vector.
_UNEMBEDDED_STAGE = "embed"
# States whose document can be searched.
SEARCHABLE_STATES = frozenset({"ok", "partial"})


def compare(
    files: Sequence[SourceFile],
    known: Iterable[KnownDocument],
    *,
    pipeline_version: str,
    scope: Scope,
) -> Comparison:
    """Compares by content hash and pipeline version; times of files play no part.

    Args:
        files: what the listing found.
        known: all documents of the sources that the files belong to.
        pipeline_version: a document made by another version is converted again.
        scope: what was listed; documents outside it, or where it saw nothing, are never gone and have never moved.

    A file is a moved document where a gone document of the same source had the same bytes; several are paired in the
    order of their paths. Raises ConfigurationError where two files would be the same document.
    """
    by_id = {document.document_id: document for document in known}
    unchanged: list[tuple[KnownDocument, SourceFile]] = []
    failing: list[tuple[KnownDocument, SourceFile]] = []
    work: list[SourceFile] = []
    found: dict[str, SourceFile] = {}
    for file in files:
        key = document_id(file.source, file.relative_path)
        if key in found:
            raise ConfigurationError(
                f"{found[key].path} and {file.path} would both be {file.relative_path} of source {file.source!r}: "
                "ingest them one at a time with different --source names"
            )
        found[key] = file
        document = by_id.get(key)
        if document is None or not _same(document, file, pipeline_version):
            work.append(file)
        elif _is_settled(document):
            failing.append((document, file))
        elif document.state in SEARCHABLE_STATES and document.stage != _UNEMBEDDED_STAGE:
            unchanged.append((document, file))
        else:
            work.append(file)
    missing = [
        document
        for key, document in sorted(by_id.items(), key=lambda item: (item[1].source, item[1].path))
        if key not in found and is_below(unspell(document.location), scope.roots)
    ]
    gone = [document for document in missing if scope.covers(unspell(document.location))]
    hidden = [document for document in missing if not scope.covers(unspell(document.location))]
    moved, work, gone = _pair_moves(work, gone, by_id)
    return Comparison(tuple(unchanged), tuple(failing), tuple(moved), tuple(work), tuple(gone), tuple(hidden))


def _pair_moves(
    work: list[SourceFile], gone: list[KnownDocument], by_id: dict[str, KnownDocument]
) -> tuple[list[tuple[KnownDocument, SourceFile]], list[SourceFile], list[KnownDocument]]:
    free: dict[tuple[str, str], list[KnownDocument]] = {}
    for document in gone:
        if not document.kept:  # its text is not that of the bytes, which may be those of any broken file
            free.setdefault((document.source, document.content_hash), []).append(document)
    moved: list[tuple[KnownDocument, SourceFile]] = []
    rest: list[SourceFile] = []
    taken: set[str] = set()
    for file in work:
        candidates = free.get((file.source, file.content_hash))
        # A known document at the new path is changed in place: its own record must not be lost.
        if candidates and document_id(file.source, file.relative_path) not in by_id:
            document = candidates.pop(0)
            taken.add(document.document_id)
            moved.append((document, file))
        else:
            rest.append(file)
    return moved, rest, [document for document in gone if document.document_id not in taken]


def _is_settled(document: KnownDocument) -> bool:
    """Whether trying the same bytes again is useless; what the machine, a model or a check did may end otherwise."""
    return document.state in SETTLED_STATES or (document.state == "quarantined" and document.stage == _SETTLED_STAGE)


def _same(document: KnownDocument, file: SourceFile, pipeline_version: str) -> bool:
    return document.content_hash == file.content_hash and document.pipeline_version == pipeline_version
