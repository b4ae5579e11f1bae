"""Ingestion of 1,000 documents end to end against bare `SentenceTransformer.encode` on the very same windows.

Usage: python -m bench.ingestion.throughput DATA [COUNT]

DATA is the folder with `devops/files` and `scifact/corpus.jsonl`. Both sides run in one process with the same weights
and on as many cores as OMP_NUM_THREADS allows. Half of the windows are encoded before the ingest and half after it, so
that a machine that grows slower or faster weighs on both. `share_of_bare_encode` above 1 means that the whole of
ingestion (hashing, conversion, frontmatter, chunks, vectors, postings, commit) took less time than encode alone.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import torch

from bench.ingestion.setting import (
    MODEL,
    Spent,
    copy_documents,
    embedded_server,
    empty_store,
    measured,
    peak_megabytes,
    report,
    sampled_memory,
    server_processor,
    temporary_folder,
)
from ingestion.chunk import chunk_document, windows
from ingestion.config import IngestionRules, load_rules
from ingestion.convert import convert
from ingestion.enrich import enrich
from ingestion.pipeline import ingest
from ingestion.scope import Root
from ingestion.sources import discover
from rag_core.connectors.embedder import SentenceEmbedder, load_embedder


def main() -> None:
    data, count = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1_000
    rules = load_rules(Path("config/ingestion.yaml"))
    embedder = load_embedder(MODEL)
    embedder.embed(["the weights are loaded before anything is measured"])
    with temporary_folder() as folder, embedded_server() as server, empty_store(server, "throughput") as store:
        copy_documents(data, folder, count)
        texts = wanted_windows(folder, rules, embedder)
        model = embedder._load()
        bare, whole = Spent(), Spent()
        half = len(texts) // 2
        with measured(bare):
            model.encode(texts[:half], normalize_embeddings=True)
        memory_of_encode = peak_megabytes()["process"]
        with measured(whole), sampled_memory(os.getpid(), str(server.folder)) as peak:
            outcome = ingest(store, embedder, [folder], rules=rules, source="bench")
        with measured(bare):
            model.encode(texts[half:], normalize_embeddings=True)
        with store.connection() as connection:
            row = connection.execute("SELECT count(*) FROM nightshift.chunk_window").fetchone()
        server_seconds = server_processor("throughput")
    assert outcome.documents["indexed"] == count, outcome.documents
    assert row is not None
    report(
        "throughput",
        {
            "documents": count,
            "chunks": outcome.chunks,
            "windows": row[0],
            "windows_encoded_bare": len(texts),
            "threads": torch.get_num_threads(),
            "bare_encode": {"seconds": round(bare.seconds, 1), "processor": round(bare.processor, 1)},
            "ingestion": {
                "seconds": round(whole.seconds, 1),
                "processor": round(whole.processor, 1),
                "processor_of_server": round(server_seconds, 1),
            },
            "share_of_bare_encode": round(bare.seconds / whole.seconds, 2),
            "share_of_bare_encode_by_processor": round(bare.processor / (whole.processor + server_seconds), 2),
            "peak_megabytes": peak_megabytes() | {"process_before_ingestion": memory_of_encode},
            "peak_megabytes_of_all_at_once": peak.megabytes(),
        },
    )


def wanted_windows(folder: Path, rules: IngestionRules, embedder: SentenceEmbedder) -> list[str]:
    """The distinct windows that ingestion embeds, in the order of a shuffle by their hash: like halves."""
    found: dict[str, None] = {}
    for file in discover([Root(folder.absolute(), "bench")], rules=rules.sources).files:
        document = enrich(convert(file, limits=rules.conversion), file, rules.enrichment)
        for chunk in chunk_document(
            document,
            token_spans=embedder.token_spans,
            max_tokens=rules.chunks.max_tokens,
            overlap=rules.chunks.overlap,
        ):
            found.update(dict.fromkeys(windows(chunk, embedder.token_spans, embedder.max_tokens)))
    texts = sorted(found, key=len)
    return texts[0::2] + texts[1::2]


if __name__ == "__main__":
    main()
