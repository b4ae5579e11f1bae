"""The document index in PostgreSQL with pgvector, as search reads it. Writing is `ingestion.index`'s work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, Generic, LiteralString, NamedTuple, TypeVar

import psycopg
from psycopg import sql
from psycopg.rows import class_row

from rag_core.connectors.sql_files import statement, template
from rag_core.errors import ServiceUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rag_core.connectors.store import Store

# Below this number of vectors an exact scan is as fast as the graph and finds everything (docs/evaluation.md).
EXACT_SCAN_WINDOWS = 20_000

Answer = TypeVar("Answer")
Rows = list[tuple[Any, ...]]

# (name, value) pairs that a document must have, all of them; values in lower case, as attributes are stored.
Filters = Sequence[tuple[str, str]]
# (term, segment, positions, frequencies): the latter two as big-endian two-byte integers.
PostingBlock = tuple[int, int, bytes, bytes]


@dataclass(frozen=True, slots=True)
class ServingVersion:
    """The index version that answers: its embedding model, whether the graph of its vectors is built, and the limits of
    its null signal (None: not calibrated)."""

    version_no: int
    model_id: str
    model_setting: str
    dimensions: int
    has_graph: bool
    null_threshold: float | None
    null_coverage_weight: float | None
    null_breadth_share: float | None


@dataclass(frozen=True, slots=True)
class IndexState:
    """Counts over the index at one moment. `generation` changes whenever anything in it does."""

    generation: int
    chunks: int
    terms: int
    serving: ServingVersion | None


class Candidate(NamedTuple):
    """A chunk that a leg found, with what ranking needs of it and its document. Hundreds are made for each search."""

    chunk_no: int
    document_no: int
    ordinal: int
    source: str
    path: str
    title: str
    document_type: str | None
    service: str | None
    document_date: date | None
    status: str | None


@dataclass(frozen=True, slots=True)
class StoredPassage:
    """A chunk with what is known of its document."""

    chunk_no: int
    body: str
    context: str
    heading_path: list[str]
    page: int | None
    ordinal: int
    kind: str
    document_no: int
    document_id: str
    path: str
    source: str
    title: str
    document_type: str | None
    service: str | None
    owner: str | None
    language: str | None
    document_date: date | None
    status: str | None
    state: str
    metadata: dict[str, Any]


def vector_text(vector: Sequence[float]) -> str:
    """A vector as pgvector reads it."""
    return "[" + ",".join(f"{value:.7g}" for value in vector) + "]"


class Pending(Generic[Answer]):
    """A question that is on its way to the server, so that the next one can follow without waiting for its answer."""

    def __init__(self, cursor: psycopg.Cursor | None, understand: Callable[[Rows], Answer]) -> None:
        self._cursor = cursor
        self._understand = understand

    def read(self) -> Answer:
        """Waits for the answer. To be called once."""
        return self._understand(self._cursor.fetchall() if self._cursor else [])


class IndexReader:
    """Reads of one search, all on the same snapshot, so that no document is seen in half.

    What gives a `Pending` is sent and not yet waited for: questions that do not need one another's answers share a
    round trip. Each of them costs the client and the server about as much as a small statement itself.
    """

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection

    def state(self) -> Pending[IndexState]:
        """Counts and the serving index version."""
        return Pending(self._connection.execute(statement("search/select_index_state")), _index_state)

    def terms(self, terms: Iterable[str]) -> Pending[dict[str, tuple[int, int]]]:
        """term -> (number, chunks that hold it), for those that the index knows."""
        cursor = self._connection.execute(statement("search/select_terms"), {"terms": sorted(terms)})
        return Pending(cursor, lambda rows: {term: (term_no, chunks) for term, term_no, chunks in rows})

    def segments(self) -> list[tuple[int, int]]:
        """(number, last chunk it covers) of each segment of packed postings, in the order of their chunks."""
        return self._connection.execute(statement("search/select_segments")).fetchall()

    def segment_columns(self, segments: Sequence[int]) -> list[tuple[int, bytes, bytes, bytes]]:
        """(number, chunk numbers, document numbers, lengths), the latter three as big-endian four-byte integers."""
        if not segments:
            return []
        with self._connection.cursor(binary=True) as cursor:
            cursor.execute(statement("search/select_segment_columns"), {"segments": list(segments)})
            return cursor.fetchall()

    def count_chunks(self, after: int) -> int:
        """Chunks numbered above `after`."""
        row = self._connection.execute(statement("postings/count_unpacked"), {"after": after}).fetchone()
        return int(row[0]) if row else 0

    def tombstones(self) -> list[int]:
        """Numbers of chunks that are gone though a segment may hold them, in order."""
        return [row[0] for row in self._connection.execute(statement("search/select_tombstones")).fetchall()]

    def blocks(self, terms: Sequence[int]) -> list[PostingBlock]:
        """Packed postings of these terms in every segment."""
        with self._connection.cursor(binary=True) as cursor:
            cursor.execute(statement("search/select_blocks"), {"terms": list(terms)})
            return cursor.fetchall()

    def score_unpacked(
        self, weights: Mapping[int, float], norm: tuple[float, float], after: int, *, depth: int | None
    ) -> list[tuple[int, int, float]]:
        """The `depth` best (chunk_no, document_no, BM25 score) of chunks numbered above `after`; all where None.

        `weights`: term number -> weight; `norm` is bm25.length_norm's.
        """
        parameters = {
            "terms": list(weights),
            "weights": list(weights.values()),
            "base": norm[0],
            "slope": norm[1],
            "after": after,
            "depth": depth,
        }
        rows = self._connection.execute(statement("search/score_unpacked"), parameters).fetchall()
        return [(chunk_no, document_no, float(score)) for chunk_no, document_no, score in rows]

    def filtered_documents(self, filters: Filters) -> list[int]:
        """Numbers of the documents that have all of these attributes, in order; values are compared as they are."""
        cursor = self._connection.execute(statement("search/select_filtered_documents"), _filter_values(filters))
        return [row[0] for row in cursor.fetchall()]

    def count_windows(self, version_no: int, filters: Filters = ()) -> int:
        """Vectors of an index version, of all documents or of those that a filter keeps."""
        if not filters:
            row = self._connection.execute(statement("search/count_windows"), {"version": version_no}).fetchone()
        else:
            row = self._connection.execute(
                statement("search/count_filtered_windows"), {"version": version_no, **_filter_values(filters)}
            ).fetchone()
        return int(row[0]) if row else 0

    def nearest(
        self,
        vector: Sequence[float],
        serving: ServingVersion,
        *,
        depth: int,
        exact: bool,
        filters: Filters = (),
        documents: str = "",
    ) -> Pending[list[tuple[int, float]]]:
        """The `depth` nearest (chunk_no, cosine of its best window), best first; approximate unless `exact`.

        An exact scan of a filtered set is led to its vectors by the numbers in `documents`, an array as PostgreSQL
        writes it; the graph meets vectors of all documents and asks of each whether its document passes `filters`.
        """
        # A chunk has up to a handful of windows: more of them are fetched than chunks are wanted.
        parameters: dict[str, Any] = {
            "vector": vector_text(vector),
            "version": serving.version_no,
            "windows": depth * 2,
            "depth": depth,
        }
        suffix = "_filtered" if filters else ""
        query: LiteralString | sql.Composed
        prepare: bool | None = None
        if exact:
            query = statement(f"search/select_nearest_exact{suffix}")
            if filters:
                parameters["documents"] = documents
                # PostgreSQL looks numbers up in a hash table only where it plans with the list at hand.
                prepare = False
        else:
            self._connection.execute(statement("search/set_graph_scan"))
            parameters |= _filter_values(filters)
            if len(filters) == 1:
                suffix = "_filtered_once"
                parameters["name"], parameters["value"] = filters[0]
            query = template(f"search/select_nearest_approximate{suffix}").format(
                dimensions=sql.Literal(serving.dimensions), version=sql.Literal(serving.version_no)
            )
        cursor = self._connection.execute(query, parameters, prepare=prepare)
        return Pending(cursor, lambda rows: [(chunk_no, float(cosine)) for chunk_no, cosine in rows])

    def candidates(self, chunks: Sequence[int]) -> Pending[dict[int, Candidate]]:
        """What ranking needs of these chunks, by number; texts are left where they are."""
        cursor = None
        if chunks:
            cursor = self._connection.execute(statement("search/select_candidates"), {"numbers": list(chunks)})
        return Pending(cursor, lambda rows: {row[0]: Candidate._make(row) for row in rows})

    def covered_terms(self, terms: Sequence[int], chunks: Sequence[int]) -> Pending[dict[int, set[int]]]:
        """Which of the terms, by number, each of these chunks holds; chunks without any are left out."""
        cursor = None
        if terms and chunks:
            cursor = self._connection.execute(
                statement("search/select_covered_terms"), {"terms": sorted(terms), "chunks": sorted(set(chunks))}
            )
        return Pending(cursor, lambda rows: {chunk_no: set(held) for chunk_no, held in rows})

    def vocabulary(self) -> tuple[dict[str, int], dict[str, int]]:
        """Document types and services of the index, each with the number of its documents."""
        rows = self._connection.execute(statement("search/select_vocabulary")).fetchall()
        types = {value: count for kind, value, count in rows if kind == "document_type"}
        services = {value: count for kind, value, count in rows if kind == "service"}
        return types, services

    def passages(self, chunks: Sequence[int]) -> dict[int, StoredPassage]:
        """Stored chunks by number."""
        if not chunks:
            return {}
        with self._connection.cursor(row_factory=class_row(StoredPassage)) as cursor:
            cursor.execute(statement("search/select_passages"), {"numbers": list(chunks)})
            return {passage.chunk_no: passage for passage in cursor.fetchall()}


def _index_state(rows: Rows) -> IndexState:
    if not rows:
        return IndexState(0, 0, 0, None)
    generation, chunks, terms, version_no, *rest = rows[0]
    serving = None if version_no is None else ServingVersion(version_no, *rest)
    return IndexState(generation, chunks, terms, serving)


def _filter_values(filters: Filters) -> dict[str, Any]:
    return {
        "names": [name for name, _ in filters],
        "values": [value for _, value in filters],
        "wanted": len(filters),
    }


@contextmanager
def open_reader(store: Store) -> Iterator[IndexReader]:
    """A reader on one snapshot of the index; nothing can be written through it.

    Raises ServiceUnavailable where the store is lost while it is read.
    """
    try:
        with store.connection() as connection, connection.pipeline():
            connection.execute(statement("search/begin_snapshot"))
            yield IndexReader(connection)
    except psycopg.OperationalError as error:
        if is_lost(error):
            told = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
            raise ServiceUnavailable(f"the store was lost during a search ({told}): try again") from error
        raise


def is_lost(error: psycopg.OperationalError) -> bool:
    """Whether an error means that the server is gone; others of its class are a full disk or a deadlock."""
    state = error.sqlstate
    return state is None or state.startswith("08") or state in {"57P01", "57P02", "57P03"}
