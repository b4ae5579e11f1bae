"""Time of warm searches at a given number of chunks, without the question's embedding.

Usage: python bench/retrieval/search_speed.py STORE_DSN COPIES

STORE_DSN is a database that `nightshift eval retrieval --set scifact` has filled. Its documents are multiplied in a
database of their own beside it (new numbers, vectors with a little noise, so that no two are alike), which is dropped
afterwards. Prints one JSON object. The questions are the set's own; every tenth has a filter.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from datetime import UTC, datetime

import psycopg
from psycopg import sql

from ingestion.versions import maintain_index, serving_version
from rag_core.connectors.embedder import load_embedder
from rag_core.connectors.store import Store
from rag_core.retrieval.measures import percentile
from rag_core.retrieval.search import HybridSearch

MULTIPLY = (
    "CREATE TEMP TABLE copies AS SELECT n FROM generate_series(1, {last}) AS n",
    "CREATE TEMP TABLE base AS SELECT max(document_no) AS d, (SELECT max(chunk_no) FROM nightshift.chunk) AS c "
    "FROM nightshift.document",
    "INSERT INTO nightshift.document (document_no, document_id, source, path, location, content_hash, size_bytes, "
    "pipeline_version, lexical_version, state, title) OVERRIDING SYSTEM VALUE "
    "SELECT document_no + n * b.d, document_id || '-' || n, source, path || '-' || n, location, content_hash, "
    "size_bytes, pipeline_version, lexical_version, state, title FROM nightshift.document, copies, base AS b",
    "INSERT INTO nightshift.chunk (chunk_no, document_no, ordinal, body, context, heading_path, kind, tokens, terms, "
    "text_hash) OVERRIDING SYSTEM VALUE SELECT chunk_no + n * b.c, document_no + n * b.d, ordinal, body, context, "
    "heading_path, kind, tokens, terms, text_hash FROM nightshift.chunk, copies, base AS b",
    "INSERT INTO nightshift.posting SELECT term_no, chunk_no + n * b.c, document_no + n * b.d, frequency, terms "
    "FROM nightshift.posting, copies, base AS b",
    "INSERT INTO nightshift.chunk_window SELECT version_no, chunk_no + n * b.c, ordinal, document_no + n * b.d, "
    "l2_normalize(embedding + (SELECT array_agg((random() - 0.5) * 0.03 + 0 * (g + chunk_no))::vector::halfvec "
    "FROM generate_series(1, vector_dims(embedding::vector)) AS g)) FROM nightshift.chunk_window, copies, base AS b",
    "UPDATE nightshift.term SET chunks = chunks * ({last} + 1)",
    "UPDATE nightshift.index_state SET chunks = chunks * ({last} + 1), terms = terms * ({last} + 1)",
    "INSERT INTO nightshift.document_attribute SELECT document_no, 'share', CASE WHEN document_no % 250 = 0 THEN '0.4' "
    "WHEN document_no % 10 < 3 THEN '30' ELSE 'rest' END FROM nightshift.document",
)


def main() -> None:
    dsn, copies = sys.argv[1], int(sys.argv[2])
    name = f"bench_{copies}"
    target = psycopg.conninfo.make_conninfo(dsn, dbname=name)
    source = psycopg.conninfo.conninfo_to_dict(dsn)["dbname"]
    with psycopg.connect(psycopg.conninfo.make_conninfo(dsn, dbname="postgres"), autocommit=True) as server:
        server.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(name)))
        server.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(str(source)))
        )
    try:
        print(json.dumps(measure(target, copies)))
    finally:
        with psycopg.connect(psycopg.conninfo.make_conninfo(dsn, dbname="postgres"), autocommit=True) as server:
            server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def measure(dsn: str, copies: int) -> dict[str, object]:
    started = time.monotonic()
    with psycopg.connect(dsn) as connection:
        connection.execute("SELECT setseed(0.5)")
        for text in MULTIPLY:
            connection.execute(text.format(last=copies - 1))
    store = Store(dsn)
    version = serving_version(store)
    assert version is not None
    graph = maintain_index(store, version)
    built = time.monotonic() - started
    with store.connection() as connection:
        texts = [row[0] for row in connection.execute("SELECT body FROM nightshift.chunk ORDER BY chunk_no LIMIT 2000")]
        counts = connection.execute(
            "SELECT (SELECT count(*) FROM nightshift.chunk), (SELECT count(*) FROM nightshift.chunk_window)"
        ).fetchone()
    # First sentences stand in for questions of about fifteen words.
    questions = [text.split(". ")[0][:120] for text in texts[::10]]
    embedder = load_embedder("packaged:all-minilm-l6-v2", batch_size=32)
    search = HybridSearch(store, embedder)
    figures: dict[str, object] = {}
    for label, filters in (("unfiltered", None), ("0.4 %", {"share": "0.4"}), ("30 %", {"share": "30"})):
        for question in questions:
            search._vector_of(embedder, question)
        for question in questions[:20]:
            search.search(question, filters=filters)
        milliseconds = []
        for question in questions[20:]:
            begin = time.perf_counter()
            search.search(question, filters=filters)
            milliseconds.append((time.perf_counter() - begin) * 1000)
        figures[label] = {
            "p50_ms": round(percentile(milliseconds, 0.5), 1),
            "p95_ms": round(percentile(milliseconds, 0.95), 1),
        }
    store.close()
    return {
        "chunks": counts[0] if counts else 0,
        "windows": counts[1] if counts else 0,
        "graph_built": graph,
        "preparation_seconds": round(built, 1),
        "searches": len(questions) - 20,
        "figures": figures,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "measured_at": datetime.now(UTC).date().isoformat(),
    }


if __name__ == "__main__":
    main()
