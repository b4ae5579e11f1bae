"""The pipeline: joins the stages and records each document's state.

A run is planned (listing, comparison, moves), worked off in batches that stage their documents, judged, and finished
(publishing, pruning, upkeep). Each part is one function that takes and returns values, so that the command line and
Airflow do the same. A run that was killed is not resumed but repeated: what is published is unchanged by then, what is
staged is taken over, and vectors already computed are in the cache.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pydantic import SecretStr

from ingestion import runs
from ingestion.checks import Judgement, judge_documents
from ingestion.comparison import Comparison, KnownDocument, compare, is_below
from ingestion.config import IngestionRules
from ingestion.documents import SourceFile
from ingestion.index import document_id, move_document
from ingestion.isolate import IsolatedConverter
from ingestion.packing import pack_postings
from ingestion.pruning import MAX_DELETE_SHARE, prune_document, prune_refusal
from ingestion.publishing import publish_documents
from ingestion.sources import Discovery, discover
from ingestion.spelling import spell, unspell
from ingestion.staging import discard, settle, staged_versions
from ingestion.takeover import refuse_takeover
from ingestion.versions import (
    IndexVersion,
    build_graph,
    build_version,
    ensure_version,
    maintain_index,
    serving_version,
)
from ingestion.worker import DocumentWorker, pipeline_version, window_cutter
from rag_core.connectors.base import ChatModel, Embedder
from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.errors import ConfigurationError

logger = logging.getLogger(__name__)

# Listed but no documents: telling them one by one would bury what matters.
_QUIET_SKIPS = frozenset({"hidden", "excluded"})
_UNTRIED = "; unchanged, so not tried again: `nightshift documents retry ID` does it"
_FAILING_SKIPS = frozenset({"too_large", "unreadable", "broken_link"})


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


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: documents done of those that needed work, and vectors computed. `what` tells what is done."""

    done: int
    total: int
    embeddings: int
    what: str = "documents"


@dataclass(frozen=True, slots=True)
class IngestOutcome:
    """How a run ended. `documents` counts: discovered = unchanged + moved + indexed + partial + quarantined.

    `chunks` and `embeddings_computed` are of this run. `skipped` are files that are no documents, with the reason;
    `prune_refused` says why nothing was pruned although it was asked for.
    """

    run_id: str
    documents: dict[str, int]
    chunks: int
    embeddings_computed: int
    seconds: float
    documents_failed: tuple[runs.FailedDocument, ...]
    skipped: tuple[dict[str, str], ...] = ()
    prune_refused: str = ""

    @property
    def failed(self) -> bool:
        """Whether something in the run did not end well."""
        return bool(self.documents_failed or self.prune_refused)


OnProgress = Callable[[Progress], None]


def plan_ingest(
    store: Store,
    embedder: Embedder,
    paths: Sequence[Path],
    *,
    rules: IngestionRules,
    source: str | None = None,
    batch_size: int = 100,
    only: str | None = None,
    chat_model: ChatModel | None = None,
    on_build: Callable[[int, int], None] | None = None,
) -> IngestPlan:
    """Lists the files, gives moved documents their new paths, and stores the work that is left in batches.

    `only` limits the run to the file of this path below its root. `chat_model` is asked about documents where the rules
    want it.

    A new embedding model's index is built here, before anything changes: the old one serves until it is complete.
    Raises ConfigurationError where a path does not exist or no document is below it.
    """
    if not paths:
        raise ConfigurationError("name at least one file or folder to ingest")
    discovery = discover(paths, source=source, rules=rules.sources)
    if only is not None:
        files = tuple(file for file in discovery.files if file.relative_path == only)
        # Nothing is known of the other files then, so none of them may count as gone.
        discovery = replace(discovery, files=files, skipped=(), complete=False)
    if not discovery.files:
        raise ConfigurationError(
            f"no document found in {', '.join(str(path) for path in paths)} "
            f"({len(discovery.skipped)} files were skipped): nothing was changed"
        )
    version = ensure_version(store, embedder)
    computed = build_version(store, embedder, version, window_cutter(embedder), on_progress=on_build)
    known = runs.known_documents(store, [file.source for file in discovery.files])
    if source is None:
        refuse_takeover(discovery.files, known)
    roots = [path.absolute() for path in paths]
    maker = pipeline_version(rules, chat_model)
    comparison = compare(
        discovery.files,
        known,
        pipeline_version=maker,
        roots=roots,
        complete=discovery.complete,
    )
    run_id = runs.new_run_id()
    for document, file in comparison.moved:
        move_document(store, document.document_id, file, run_id)
    _update_locations(store, [*comparison.unchanged, *comparison.still_failing])
    failing = tuple(
        runs.FailedDocument(document.path, document.state, document.stage, document.reason + _UNTRIED)
        for document, _ in comparison.still_failing
    ) + tuple(
        runs.FailedDocument(skip.relative_path, skip.reason, "discover", skip.detail)
        for skip in discovery.skipped
        if skip.reason in _FAILING_SKIPS
    )
    record = runs.RunRecord(
        run_id=run_id,
        complete=discovery.complete,
        discovered=len(discovery.files) + len(failing) - len(comparison.still_failing),
        unchanged=len(comparison.unchanged),
        moved=len(comparison.moved),
        known=sum(1 for document in known if is_below(unspell(document.location), roots)),
        seconds=0.0,
        gone=tuple(document.document_no for document in comparison.gone),
        failing=failing,
        skipped=tuple(
            {"path": skip.relative_path, "reason": skip.reason, "detail": skip.detail}
            for skip in discovery.skipped
            if skip.reason not in _QUIET_SKIPS
        ),
        computed=computed,
    )
    batches, staged = _save_plan(store, record, comparison, discovery, roots, version.version_no, batch_size, maker)
    return IngestPlan(
        run_id=run_id,
        batches=tuple(range(len(batches))),
        pending=sum(map(len, batches)),
        staged=staged,
        discovered=record.discovered,
        unchanged=record.unchanged,
        moved=record.moved,
    )


def ingest_batch(
    store: Store,
    embedder: Embedder,
    run_id: str,
    batch: int,
    *,
    rules: IngestionRules,
    chat_model: ChatModel | None = None,
    passwords: Sequence[SecretStr] = (),
    on_progress: OnProgress | None = None,
) -> int:
    """Works off what is left of one batch of a planned run and stages it; returns how many documents that were.

    `passwords` are tried on locked files, `chat_model` is asked where the rules want it.

    What goes wrong with a document becomes its state. Raises only what concerns all: an unreachable store, an index
    that another embedding model serves.
    """
    version = _serving(store, embedder)
    files = runs.open_items(store, run_id, batch)
    worker = DocumentWorker(store, embedder, rules, version, run_id, chat_model=chat_model)
    done = embeddings = 0
    with IsolatedConverter(rules.conversion, passwords=passwords) as converter:
        for _, computed in worker.work_off(files, converter):
            done += 1
            embeddings += computed
            if on_progress is not None:
                on_progress(Progress(done, len(files), embeddings))
    return done


def judge_ingest(store: Store, run_id: str, *, rules: IngestionRules) -> Judgement:
    """Lets Great Expectations judge what a run has staged; nothing is published that did not pass."""
    return judge_documents(store, run_id, max_tokens=rules.chunks.max_tokens)


def finish_ingest(
    store: Store,
    embedder: Embedder,
    run_id: str,
    *,
    prune: bool = False,
    max_delete_share: float = MAX_DELETE_SHARE,
    on_progress: OnProgress | None = None,
) -> IngestOutcome:
    """Publishes what was judged, prunes documents that are gone where asked, keeps the index in good order, and closes
    the run.

    Nothing is pruned after an incomplete listing, while documents of the run are unfinished, or where more than
    `max_delete_share` of the documents under the roots (and more than five) would go.
    """
    record = runs.load_run(store, run_id)
    version = _serving(store, embedder)

    def report(done: int, total: int) -> None:
        if on_progress is not None:
            on_progress(Progress(done, total, 0, "checked documents"))

    publish_documents(store, run_id, version_no=version.version_no, on_progress=report)
    counts = runs.count_run(store, run_id)
    removed, refused = 0, ""
    if prune:
        refused = prune_refusal(record, counts, max_delete_share)
        if not refused:
            removed = sum(1 for number in record.gone if prune_document(store, number))
    if counts.indexed or counts.partial or removed:
        maintain_index(store, version)
    else:
        # What a run that was killed after publishing has left to do.
        pack_postings(store)
        build_graph(store, version)
    outcome = IngestOutcome(
        run_id=run_id,
        documents={
            "discovered": record.discovered,
            "unchanged": record.unchanged,
            "moved": record.moved,
            "indexed": counts.indexed,
            "partial": counts.partial,
            "removed": removed,
            "quarantined": counts.failed + counts.staged + counts.unfinished + len(record.failing),
        },
        chunks=counts.chunks,
        embeddings_computed=counts.embeddings + record.computed,
        seconds=round(record.seconds, 3),
        documents_failed=(*record.failing, *counts.failures),
        skipped=record.skipped,
        prune_refused=refused,
    )
    runs.save_outcome(store, run_id, removed, asdict(outcome))
    return outcome


def ingest(
    store: Store,
    embedder: Embedder,
    paths: Sequence[Path],
    *,
    rules: IngestionRules,
    source: str | None = None,
    prune: bool = False,
    max_delete_share: float = MAX_DELETE_SHARE,
    only: str | None = None,
    chat_model: ChatModel | None = None,
    passwords: Sequence[SecretStr] = (),
    on_progress: OnProgress | None = None,
    on_build: Callable[[int, int], None] | None = None,
) -> IngestOutcome:
    """Brings the index up to date with the files below the paths: plan, batches, checks and finish in one call."""
    plan = plan_ingest(
        store, embedder, paths, rules=rules, source=source, only=only, chat_model=chat_model, on_build=on_build
    )
    done = embeddings = 0
    for batch in plan.batches:
        latest = Progress(0, 0, 0)

        def report(progress: Progress, before: tuple[int, int] = (done, embeddings)) -> None:
            nonlocal latest
            latest = progress
            if on_progress is not None:
                done_so_far, computed_so_far = before[0] + progress.done, before[1] + progress.embeddings
                on_progress(Progress(done_so_far, plan.pending, computed_so_far))

        ingest_batch(
            store,
            embedder,
            plan.run_id,
            batch,
            rules=rules,
            chat_model=chat_model,
            passwords=passwords,
            on_progress=report,
        )
        done += latest.done
        embeddings += latest.embeddings
    judge_ingest(store, plan.run_id, rules=rules)
    return finish_ingest(
        store, embedder, plan.run_id, prune=prune, max_delete_share=max_delete_share, on_progress=on_progress
    )


def _save_plan(
    store: Store,
    record: runs.RunRecord,
    comparison: Comparison,
    discovery: Discovery,
    roots: Sequence[Path],
    version_no: int,
    batch_size: int,
    made_by: str,
) -> tuple[list[list[SourceFile]], int]:
    """Settles what earlier runs have staged and saves the plan, together, so that nobody comes between.

    Returns the batches and how many documents are staged already.
    """
    found = {document_id(file.source, file.relative_path) for file in discovery.files}
    with store.connection() as connection:
        connection.execute(statement("index/lock_index_state"))
        adoption = settle(
            staged_versions(connection, [file.source for file in discovery.files]),
            comparison.work,
            found,
            pipeline_version=made_by,
            version_no=version_no,
            roots=roots,
            complete=discovery.complete,
        )
        discard(connection, adoption.discarded)
        staged: list[SourceFile] = []
        work: list[SourceFile] = []
        for file in comparison.work:
            done = document_id(file.source, file.relative_path) in adoption.adopted
            (staged if done else work).append(file)
        batches = [work[at : at + batch_size] for at in range(0, len(work), batch_size)]
        runs.save_run(connection, record, roots, batches, staged)
    return batches, len(staged)


def _serving(store: Store, embedder: Embedder) -> IndexVersion:
    version = serving_version(store)
    if version is None or version.model_id != embedder.model_id:
        serving = version.model_id if version else "no model"
        raise ConfigurationError(
            f"the index is served by {serving}, the embedding model set is {embedder.model_id}: plan a new ingest run"
        )
    return version


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
