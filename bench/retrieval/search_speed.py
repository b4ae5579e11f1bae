"""Time of warm searches at growing numbers of chunks, without the question's embedding.

Usage: python -m bench.retrieval.search_speed STORE_DSN [--copies 2,20] [--keep]

STORE_DSN is a database that `nightshift eval retrieval --set scifact` has filled. For each number of copies its
documents are multiplied in a database of their own beside it (new numbers, vectors with a little noise, so that no two
are alike), which is dropped afterwards; with `--keep` it stays, and the next run uses it as it is. Prints one JSON
object; the last part holds the ratios between the first size and the last. Questions are first sentences of the set's
texts; eight passages with quotes are wanted.

Beside the time that passes, which grows with whatever else the machine does, it counts the processor's time that a
search takes in this process and in its server process together: on an idle machine the two are nearly the same.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from ingestion.versions import maintain_index, serving_version
from rag_core.connectors.base import Embedder
from rag_core.connectors.embedder import load_embedder
from rag_core.connectors.memory_embedder import WordHashEmbedder
from rag_core.connectors.migrations import migrate
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


SHARES: tuple[tuple[str, dict[str, str] | None], ...] = (
    ("unfiltered", None),
    ("0.4 %", {"share": "0.4"}),
    ("30 %", {"share": "30"}),
)
WARM_UP = 20


def main() -> None:
    """Prints the figures of every size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dsn")
    parser.add_argument("--copies", default="2,20")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    sizes = [_in_a_copy(options.dsn, int(each), keep=options.keep) for each in options.copies.split(",")]
    first, last = sizes[0]["figures"], sizes[-1]["figures"]
    print(
        json.dumps(
            {
                "sizes": sizes,
                "growth_of_chunks": round(sizes[-1]["chunks"] / sizes[0]["chunks"], 1),
                "growth_of_p95": {
                    label: {name: round(last[label][name] / first[label][name], 2) for name in ("p95_ms", "p95_cpu_ms")}
                    for label in first
                },
                "machine": f"{platform.machine()}, {os.cpu_count()} cores",
                "load": [round(each, 1) for each in os.getloadavg()],
                "measured_at": datetime.now(UTC).date().isoformat(),
            },
            indent=2,
        )
    )


def _in_a_copy(dsn: str, copies: int, *, keep: bool) -> dict[str, Any]:
    name = f"bench_{copies}"
    target = psycopg.conninfo.make_conninfo(dsn, dbname=name)
    source = str(psycopg.conninfo.conninfo_to_dict(dsn)["dbname"])
    with psycopg.connect(psycopg.conninfo.make_conninfo(dsn, dbname="postgres"), autocommit=True) as server:
        made = server.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone() is not None
        if made and not keep:
            server.execute(sql.SQL("DROP DATABASE {}").format(sql.Identifier(name)))
        if not (made and keep):
            server.execute(
                sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(source))
            )
            migrate(target)
            multiply(target, copies)
    migrate(target)
    try:
        return measure(target)
    finally:
        if not keep:
            with psycopg.connect(psycopg.conninfo.make_conninfo(dsn, dbname="postgres"), autocommit=True) as server:
                server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def multiply(dsn: str, copies: int) -> None:
    """Makes a database hold its documents this many times, and brings its index into order."""
    with psycopg.connect(dsn) as connection:
        connection.execute("SELECT setseed(0.5)")
        for text in MULTIPLY:
            connection.execute(text.format(last=copies - 1))
    store = Store(dsn)
    version = serving_version(store)
    assert version is not None
    maintain_index(store, version)
    store.close()


def measure(dsn: str) -> dict[str, Any]:
    """Times searches in a database."""
    # One connection, so that its server process can be asked for its time.
    store = Store(dsn, max_connections=1)
    with store.connection() as connection:
        process = connection.info.backend_pid
        texts = [row[0] for row in connection.execute("SELECT body FROM nightshift.chunk ORDER BY chunk_no LIMIT 2000")]
        chunks, windows, setting = connection.execute(
            "SELECT (SELECT count(*) FROM nightshift.chunk), (SELECT count(*) FROM nightshift.chunk_window), "
            "(SELECT model_setting FROM nightshift.index_version WHERE status = 'serving')"
        ).fetchone() or (0, 0, "")
    # First sentences stand in for questions of about fifteen words
    # (stripped as the search strips them: else it would not find their vectors at hand, and embed them).
    questions = [text.split(". ")[0][:120].strip() for text in texts[::10]]
    # An index made without a model's weights is as good for its time.
    words = setting.startswith("memory:")
    embedder: Embedder = WordHashEmbedder(dimensions=384) if words else load_embedder(setting, batch_size=32)
    search = HybridSearch(store, embedder)
    for question in questions:
        search._vectors.of(embedder, question)
    figures = {label: _time(search, questions, filters, process) for label, filters in SHARES}
    store.close()
    return {
        "chunks": chunks,
        "windows": windows,
        "vectors": setting,
        "searches": len(questions) - WARM_UP,
        "load": round(os.getloadavg()[0], 1),
        "figures": figures,
    }


def _time(
    search: HybridSearch, questions: list[str], filters: dict[str, str] | None, process: int
) -> dict[str, float | str]:
    scan = ""
    for question in questions[:WARM_UP]:
        scan = search.search(question, filters=filters).detail["scan"]
    passed, used = [], []
    for question in questions[WARM_UP:]:
        begin, own, server = time.perf_counter(), time.thread_time(), server_seconds(process)
        search.search(question, filters=filters)
        used.append((time.thread_time() - own + server_seconds(process) - server) * 1000)
        passed.append((time.perf_counter() - begin) * 1000)
    return {
        "p50_ms": round(percentile(passed, 0.5), 1),
        "p95_ms": round(percentile(passed, 0.95), 1),
        "p50_cpu_ms": round(percentile(used, 0.5), 1),
        "p95_cpu_ms": round(percentile(used, 0.95), 1),
        "scan": scan,
    }


def server_seconds(process: int) -> float:
    """Processor time of another process, as Linux counts it in nanoseconds; 0 where it does not say."""
    try:
        return int(Path(f"/proc/{process}/schedstat").read_text(encoding="ascii").split()[0]) / 1e9
    except OSError:
        return 0.0


if __name__ == "__main__":
    main()
