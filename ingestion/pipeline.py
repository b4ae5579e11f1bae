"""The pipeline: joins the stages and records each document's state.

A run is planned (listing, comparison, moves), worked off in batches that stage their documents, judged, and finished
(publishing, pruning, upkeep). Each part is one function that takes and returns values, so that the command line and
Airflow do the same. A run that was killed is not resumed but repeated: what is published is unchanged by then, what is
staged is taken over, and vectors already computed are in the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import SecretStr

from ingestion import runs
from ingestion.checks import Judgement, judge_documents
from ingestion.config import IngestionRules
from ingestion.isolate import IsolatedConverter
from ingestion.packing import pack_postings
from ingestion.planning import plan_ingest
from ingestion.pruning import MAX_DELETE_SHARE, prune_documents, prune_refusal
from ingestion.publishing import publish_documents
from ingestion.scope import Root
from ingestion.versions import (
    IndexVersion,
    build_graph,
    maintain_index,
    serving_version,
)
from ingestion.worker import DocumentWorker
from rag_core.connectors.base import ChatModel, Embedder
from rag_core.connectors.store import Store
from rag_core.errors import ConfigurationError


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
    `prune_refused` says why nothing was pruned although it was asked for, or where; `notes` to which source a path
    belongs that would be another by its name.
    """

    run_id: str
    documents: dict[str, int]
    chunks: int
    embeddings_computed: int
    seconds: float
    documents_failed: tuple[runs.FailedDocument, ...]
    skipped: tuple[dict[str, str], ...] = ()
    prune_refused: str = ""
    notes: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether something in the run did not end well."""
        return bool(self.documents_failed or self.prune_refused)


OnProgress = Callable[[Progress], None]


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
    rules: IngestionRules,
    prune: bool = False,
    max_delete_share: float = MAX_DELETE_SHARE,
    on_progress: OnProgress | None = None,
) -> IngestOutcome:
    """Publishes what was judged, prunes documents that are gone where asked, keeps the index in good order, and closes
    the run.

    Nothing is pruned below a root whose listing was not complete or empty, nothing at all while documents of the run
    are unfinished, or where more than `max_delete_share` of the documents under the roots (and more than five, unless
    the share is 0) would go.
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
            removed = prune_documents(store, record, rules.sources)
        refused = "; ".join(filter(None, [refused, *record.hidden]))
    if counts.indexed or counts.moved or counts.partial or removed:
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
            "moved": counts.moved,
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
        notes=record.notes,
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
    retry: Root | None = None,
    chat_model: ChatModel | None = None,
    passwords: Sequence[SecretStr] = (),
    on_progress: OnProgress | None = None,
    on_build: Callable[[int, int], None] | None = None,
) -> IngestOutcome:
    """Brings the index up to date with the files below the paths, or with the one to `retry`: plan, batches, checks and
    finish in one call.
    """
    plan = plan_ingest(
        store, embedder, paths, rules=rules, source=source, retry=retry, chat_model=chat_model, on_build=on_build
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
        store,
        embedder,
        plan.run_id,
        rules=rules,
        prune=prune,
        max_delete_share=max_delete_share,
        on_progress=on_progress,
    )


def _serving(store: Store, embedder: Embedder) -> IndexVersion:
    version = serving_version(store)
    if version is None or version.model_id != embedder.model_id:
        serving = version.model_id if version else "no model"
        raise ConfigurationError(
            f"the index is served by {serving}, the embedding model set is {embedder.model_id}: plan a new ingest run"
        )
    return version
