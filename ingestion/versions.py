"""Index versions: one for each embedding model. A new one is built beside the serving one and then takes its place."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import psycopg
from psycopg import sql

from ingestion.documents import Chunk
from ingestion.embed import embed_texts, text_hash
from ingestion.packing import pack_postings
from rag_core.connectors.base import Embedder
from rag_core.connectors.pgvector import EXACT_SCAN_WINDOWS
from rag_core.connectors.sql_files import statement, template
from rag_core.connectors.store import Store
from rag_core.errors import ConfigurationError

logger = logging.getLogger(__name__)

CHUNKS_TOGETHER = 200
_VACUUMS = (
    "vacuum_postings",
    "vacuum_blocks",
    "vacuum_windows",
    "vacuum_terms",
    "vacuum_chunks",
    "vacuum_documents",
    "vacuum_staged_documents",
    "vacuum_staged_chunks",
)


@dataclass(frozen=True, slots=True)
class IndexVersion:
    """An index version; only the serving one is searched."""

    version_no: int
    model_id: str
    dimensions: int
    status: str


def serving_version(store: Store) -> IndexVersion | None:
    """The version that is searched, None before the first ingest."""
    with store.connection() as connection:
        row = connection.execute(statement("index/select_serving_version")).fetchone()
    return None if row is None else IndexVersion(*row)


def ensure_version(store: Store, embedder: Embedder) -> IndexVersion:
    """The version of the embedder's model, made where it is missing: serving if it is the first, else building.

    Raises ConfigurationError where vectors of another length are stored under the model's name.
    """
    with store.connection() as connection:
        connection.execute(statement("index/lock_index_state"))
        row = connection.execute(statement("index/select_index_version"), {"model_id": embedder.model_id}).fetchone()
        if row is not None:
            version = IndexVersion(*row)
            if version.dimensions != embedder.dimensions:
                raise ConfigurationError(
                    f"the index of {version.model_id} holds vectors of {version.dimensions} dimensions, "
                    f"the model gives {embedder.dimensions}: use another name for another model"
                )
            if version.status == "retired":
                connection.execute(statement("index/reopen_index_version"), {"version_no": version.version_no})
                return IndexVersion(version.version_no, version.model_id, version.dimensions, "building")
            return version
        serving = connection.execute(statement("index/select_serving_version")).fetchone()
        status = "serving" if serving is None else "building"
        added = connection.execute(
            statement("index/insert_index_version"),
            {
                "model_id": embedder.model_id,
                "model_setting": getattr(embedder, "setting", embedder.model_id),
                "dimensions": embedder.dimensions,
                "max_tokens": embedder.max_tokens,
                "status": status,
            },
        ).fetchone()
        if added is None:
            raise RuntimeError("an insert returned no row")
        return IndexVersion(int(added[0]), embedder.model_id, embedder.dimensions, status)


def build_version(
    store: Store,
    embedder: Embedder,
    version: IndexVersion,
    windows: Callable[[Chunk], list[str]],
    *,
    on_progress: Callable[[int, int], None] | None = None,
) -> int:
    """Embeds every chunk for a version that is being built and makes it the serving one; the old one serves until then.

    It takes up where an earlier build was stopped. Chunks that other processes add meanwhile are embedded too, and the
    change of place happens only while nothing is missing. A version that serves already gets what it lacks, so that no
    chunk stays out of its searches. Returns the number of vectors computed.
    """
    computed = done = 0
    while True:
        with store.connection() as connection:
            rows = connection.execute(
                statement("index/select_chunks_without_windows"),
                {"wanted": version.version_no, "chunks": CHUNKS_TOGETHER},
            ).fetchall()
        if not rows:
            if version.status == "serving" or _take_over(store, version):
                break
            continue
        texts = {chunk_no: windows(Chunk(0, body, context, (), None, 0)) for chunk_no, _, body, context in rows}
        result = embed_texts(store, embedder, (text for parts in texts.values() for text in parts))
        computed += result.computed
        if result.broken and version.status == "serving":
            logger.warning("%d texts still get no usable vector; the next run tries again", len(result.broken))
            break
        if result.broken:
            raise ConfigurationError(
                f"the embedding model {embedder.model_id} gives no usable vector for {len(result.broken)} texts; "
                "the index of the model before goes on serving"
            )
        copied = [
            (chunk_no, document_no, ordinal, text_hash(text))
            for chunk_no, document_no, _, _ in rows
            for ordinal, text in enumerate(texts[chunk_no])
        ]
        _insert_windows(store, version, copied)
        if version.status == "serving":
            logger.warning("%d chunks were missing from the index that serves; they are searched now", len(rows))
        done += len(rows)
        if on_progress is not None:
            on_progress(done, done + _missing(store, version))
    return computed


def _missing(store: Store, version: IndexVersion) -> int:
    with store.connection() as connection:
        row = connection.execute(
            statement("index/count_chunks_without_windows"), {"wanted": version.version_no}
        ).fetchone()
    return int(row[0]) if row else 0


def _insert_windows(store: Store, version: IndexVersion, rows: Sequence[tuple[int, int, int, bytes]]) -> None:
    with store.connection() as connection:
        connection.execute(statement("index/lock_index_state"))
        connection.execute(
            statement("index/insert_windows"),
            {
                "version_no": version.version_no,
                "chunks": [row[0] for row in rows],
                "documents": [row[1] for row in rows],
                "ordinals": [row[2] for row in rows],
                "digests": [row[3] for row in rows],
            },
        )


def _take_over(store: Store, version: IndexVersion) -> bool:
    with store.connection() as connection:
        connection.execute(statement("index/lock_index_state"))
        row = connection.execute(
            statement("index/count_chunks_without_windows"), {"wanted": version.version_no}
        ).fetchone()
        if row is None or row[0]:
            return False
        old = connection.execute(statement("index/retire_serving_version")).fetchone()
        connection.execute(statement("index/serve_index_version"), {"version_no": version.version_no})
        if old is not None:
            connection.execute(statement("index/delete_windows"), {"version_no": old[0]})
            connection.execute(
                template("index/drop_graph").format(index=sql.Identifier("nightshift", graph_name(int(old[0]))))
            )
        connection.execute(statement("index/update_index_state"), {"chunks": 0, "terms": 0})
    return True


def graph_name(version_no: int) -> str:
    """Name of a version's HNSW index."""
    return f"chunk_window_graph_{version_no}"


def maintain_index(store: Store, version: IndexVersion) -> bool:
    """Packs postings, refreshes visibility and statistics, and builds the graph; returns whether it was built now."""
    pack_postings(store)
    with psycopg.connect(store.dsn, autocommit=True) as connection:
        for name in _VACUUMS:
            connection.execute(statement(f"index/{name}"))
    return build_graph(store, version)


def build_graph(store: Store, version: IndexVersion) -> bool:
    """Builds a version's graph where there are vectors enough and it is not there; returns whether it was built now.

    It is built beside the writes; where another process is building it, this one does not.
    """
    with psycopg.connect(store.dsn, autocommit=True) as connection:
        locked = connection.execute(statement("index/lock_graph")).fetchone()
        if locked is None or not locked[0]:
            return False
        row = connection.execute(
            statement("index/select_graph_need"),
            {"wanted": version.version_no, "name": graph_name(version.version_no)},
        ).fetchone()
        windows, exists, valid = row if row is not None else (0, False, False)
        index = sql.Identifier("nightshift", graph_name(version.version_no))
        if exists and not valid:  # a build that was killed leaves one behind that nothing uses
            connection.execute(template("index/drop_graph").format(index=index))
            exists = False
        if exists or windows <= EXACT_SCAN_WINDOWS:
            return False
        connection.execute(statement("index/set_graph_memory"))
        connection.execute(
            template("index/create_graph").format(
                index=sql.Identifier(graph_name(version.version_no)),
                dimensions=sql.Literal(version.dimensions),
                version=sql.Literal(version.version_no),
            )
        )
        return True
