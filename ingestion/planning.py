"""What a run has to do: which files there are, what became of the documents known, and the work in batches."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ingestion import runs
from ingestion.comparison import SEARCHABLE_STATES, Comparison, KnownDocument, compare
from ingestion.config import IngestionRules
from ingestion.documents import SourceFile
from ingestion.index import document_id, move_document
from ingestion.retry import forget_version
from ingestion.roots import NO_NAMES, find_roots, known_roots
from ingestion.scope import Root, Scope
from ingestion.sources import Discovery, SkippedFile, discover
from ingestion.spelling import spell, unspell
from ingestion.staging import discard, settle, staged_versions
from ingestion.takeover import refuse_takeover
from ingestion.versions import build_version, ensure_version
from ingestion.worker import pipeline_version, window_cutter
from rag_core.connectors.base import ChatModel, Embedder
from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.errors import ConfigurationError

logger = logging.getLogger(__name__)

# Listed but no documents: telling them one by one would bury what matters.
_QUIET_SKIPS = frozenset({"hidden", "excluded"})
_UNTRIED = "; unchanged, so not tried again: `nightshift documents retry ID` does it"
_FAILING_SKIPS = frozenset({"too_large", "unreadable", "broken_link"})
_SHOWN_SKIPS = 3


@dataclass(frozen=True, slots=True)
class IngestPlan:
    """A planned run: ids and counts only. `batches` are numbers for `ingest_batch`, `pending` the documents in them;
    `staged` are documents on which a run before has done the work.
    """

    run_id: str
    batches: tuple[int, ...]
    pending: int
    staged: int
    discovered: int
    unchanged: int
    moved: int


def plan_ingest(
    store: Store,
    embedder: Embedder,
    paths: Sequence[Path],
    *,
    rules: IngestionRules,
    source: str | None = None,
    batch_size: int = 100,
    retry: Root | None = None,
    chat_model: ChatModel | None = None,
    on_build: Callable[[int, int], None] | None = None,
) -> IngestPlan:
    """Lists the files, gives moved documents their new paths, and stores the work that is left in batches.

    `retry` is a single document to process whatever its state, in place of `paths`. `chat_model` is asked about
    documents where the rules want it.

    A new embedding model's index is built here, before anything changes: the old one serves until it is complete.
    Raises ConfigurationError where a path does not exist or no document is below any.
    """
    roots, notes = ((retry,), ()) if retry is not None else _roots(store, paths, source)
    discovery = discover(roots, rules=rules.sources)
    if not discovery.files:
        raise ConfigurationError(
            f"no document found in {', '.join(spell(root.path) for root in roots)} "
            f"({_summary(discovery.skipped)}): nothing was changed"
        )
    version = ensure_version(store, embedder)
    computed = build_version(store, embedder, version, window_cutter(embedder), on_progress=on_build)
    if retry is not None:
        for file in discovery.files:
            forget_version(store, document_id(file.source, file.relative_path))
    # What once got no name of its own is of no source that could be listed: it is gone wherever its files are.
    known = runs.known_documents(store, [*(root.source for root in roots), *NO_NAMES])
    if source is None and retry is None:
        refuse_takeover(discovery.files, known)
    maker = pipeline_version(rules, chat_model)
    comparison = compare(discovery.files, known, pipeline_version=maker, scope=discovery.scope)
    run_id = runs.new_run_id()
    for document, file in comparison.moved:
        move_document(store, document.document_id, file, run_id)
    _update_locations(store, [*comparison.unchanged, *comparison.still_failing])
    failing = _failing(comparison, discovery)
    record = runs.RunRecord(
        run_id=run_id,
        complete=not discovery.scope.unseen,
        discovered=len(discovery.files) + len(failing) - len(comparison.still_failing),
        unchanged=len(comparison.unchanged),
        moved=len(comparison.moved),
        known=sum(1 for document in known if discovery.scope.covers(unspell(document.location))),
        seconds=0.0,
        gone=tuple(document.document_no for document in comparison.gone),
        failing=failing,
        skipped=tuple(
            {"path": skip.relative_path, "reason": skip.reason, "detail": skip.detail}
            for skip in discovery.skipped
            if skip.reason not in _QUIET_SKIPS
        ),
        computed=computed,
        roots=roots,
        hidden=_hidden(comparison.hidden, discovery.scope),
        notes=notes,
    )
    batches, staged = _save_plan(store, record, comparison, discovery, version.version_no, batch_size, maker)
    return IngestPlan(
        run_id=run_id,
        batches=tuple(range(len(batches))),
        pending=sum(map(len, batches)),
        staged=staged,
        discovered=record.discovered,
        unchanged=record.unchanged,
        moved=record.moved,
    )


def _roots(store: Store, paths: Sequence[Path], source: str | None) -> tuple[tuple[Root, ...], tuple[str, ...]]:
    if not paths:
        raise ConfigurationError("name at least one file or folder to ingest")
    roots, notes = find_roots(paths, known_roots(store, paths), source=source)
    for note in notes:
        logger.info("%s", note)
    return roots, notes


def _summary(skipped: Sequence[SkippedFile]) -> str:
    if len(skipped) > _SHOWN_SKIPS:
        return f"{len(skipped)} files were skipped"
    told = (f"{each.relative_path}: {each.reason} {each.detail}".rstrip() for each in skipped)
    return "; ".join(told) or "nothing is there"


def _failing(comparison: Comparison, discovery: Discovery) -> tuple[runs.FailedDocument, ...]:
    """What failed before and does so still, and what could not be listed, with what is kept of it."""
    hidden = {document.document_id: document for document in comparison.hidden}
    failed = [
        runs.FailedDocument(document.path, document.state, document.stage, document.reason + _UNTRIED, document.kept)
        for document, _ in comparison.still_failing
    ]
    for skip in discovery.skipped:
        document = hidden.get(document_id(skip.source, skip.relative_path))
        if skip.reason in _FAILING_SKIPS or (skip.reason == "unsupported" and document is not None):
            kept = document is not None and (document.kept or document.state in SEARCHABLE_STATES)
            failed.append(runs.FailedDocument(skip.relative_path, skip.reason, "discover", skip.detail, kept))
    return tuple(failed)


def _hidden(documents: Sequence[KnownDocument], scope: Scope) -> tuple[str, ...]:
    """A line for each place that hides documents from the listing."""
    veils = Counter(veil for document in documents if (veil := scope.veil(unspell(document.location))) is not None)
    return tuple(
        f"nothing was removed below {spell(veil.path)}, where {count} known documents were not found: {veil.reason}"
        for veil, count in veils.items()
    )


def _save_plan(
    store: Store,
    record: runs.RunRecord,
    comparison: Comparison,
    discovery: Discovery,
    version_no: int,
    batch_size: int,
    made_by: str,
) -> tuple[list[list[SourceFile]], int]:
    """Settles what earlier runs have staged and saves the plan, together, so that nobody comes between.

    Returns the batches and how many documents are staged already.
    """
    found = {document_id(file.source, file.relative_path) for file in discovery.files}
    moved = [file for _, file in comparison.moved]
    wanted = [*comparison.work, *moved]
    with store.connection() as connection:
        connection.execute(statement("index/lock_index_state"))
        adoption = settle(
            staged_versions(connection, [root.source for root in record.roots]),
            wanted,
            found,
            pipeline_version=made_by,
            version_no=version_no,
            scope=discovery.scope,
        )
        discard(connection, adoption.discarded)
        staged: list[SourceFile] = []
        work: list[SourceFile] = []
        for file in wanted:
            done = document_id(file.source, file.relative_path) in adoption.adopted
            (staged if done else work).append(file)
        batches = [work[at : at + batch_size] for at in range(0, len(work), batch_size)]
        runs.save_run(
            connection, record, batches, staged, {document_id(file.source, file.relative_path) for file in moved}
        )
    return batches, len(staged)


def _update_locations(store: Store, pairs: Sequence[tuple[KnownDocument, SourceFile]]) -> None:
    changed = [
        (document.document_no, location)
        for document, file in pairs
        if document.location != (location := spell(file.path))
    ]
    if changed:
        with store.connection() as connection:
            connection.execute(
                statement("documents/update_locations"),
                {"documents": [number for number, _ in changed], "locations": [path for _, path in changed]},
            )
