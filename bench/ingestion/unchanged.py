"""A second run over 10,000 unchanged files, and the same texts when every vector is in the cache.

Usage: python -m bench.ingestion.unchanged [FILES] [CACHED]

Writes FILES small Markdown files, ingests them with an embedder that costs nothing (the first run is not the subject),
and measures the second and third run: listing, hashing every byte, comparing with the index. Then forgets CACHED
documents' versions, so that they are converted, chunked and written again with vectors from the cache: the cost of
everything but the embedding model.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.ingestion.setting import Spent, embedded_server, empty_store, measured, report, temporary_folder
from ingestion.config import IngestionRules, load_rules
from ingestion.pipeline import ingest
from rag_core.connectors.memory_embedder import WordHashEmbedder

WORDS = ("disk", "queue", "gateway", "restart", "alert", "invoice", "meter", "token", "deploy", "region", "broker")


class FreeEmbedder(WordHashEmbedder):
    """One vector for all texts."""

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """The same unit vector again and again."""
        self.embedded += len(texts)
        return [[1.0, *[0.0] * (self.dimensions - 1)] for _ in texts]


def main() -> None:
    files = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    cached = int(sys.argv[2]) if len(sys.argv) > 2 else 2_000
    rules = load_rules(Path("config/ingestion.yaml"))
    embedder = FreeEmbedder(dimensions=384)
    with temporary_folder() as folder, embedded_server() as server, empty_store(server, "unchanged") as store:
        write_files(folder, files)
        first, second, third, again = Spent(), Spent(), Spent(), Spent()

        def run(spent: Spent, rules: IngestionRules = rules) -> dict[str, int]:
            with measured(spent):
                return ingest(store, embedder, [folder], rules=rules, source="bench").documents

        indexed = run(first)["indexed"]
        unchanged = (run(second)["unchanged"], run(third)["unchanged"])
        with store.connection() as connection:
            connection.execute(
                "UPDATE nightshift.document SET pipeline_version = '' WHERE document_no IN "
                "(SELECT document_no FROM nightshift.document ORDER BY document_no LIMIT %s)",
                (cached,),
            )
        before = embedder.embedded
        with measured(again):
            rewritten = ingest(store, embedder, [folder], rules=rules, source="bench")
    assert indexed == files
    assert unchanged == (files, files)
    assert rewritten.documents["indexed"] == cached
    assert embedder.embedded == before
    best = min(second.seconds, third.seconds)
    report(
        "unchanged",
        {
            "files": files,
            "second_run": {"seconds": round(second.seconds, 2), "processor": round(second.processor, 2)},
            "third_run": {"seconds": round(third.seconds, 2), "processor": round(third.processor, 2)},
            "files_a_second": round(files / best),
            "files_a_processor_second": round(files / min(second.processor, third.processor)),
            "first_run_documents_a_second": round(files / first.seconds, 1),
            "first_run_documents_a_processor_second": round(files / first.processor, 1),
            "written_again_with_cached_vectors": {
                "documents": cached,
                "documents_a_second": round(cached / again.seconds, 1),
                "documents_a_processor_second": round(cached / again.processor, 1),
            },
        },
    )


def write_files(folder: Path, count: int) -> None:
    """Files of about two kilobytes in folders of a hundred."""
    draw = random.Random(1)
    for number in range(count):
        path = folder / f"part{number // 100:03d}" / f"note{number:05d}.md"
        path.parent.mkdir(exist_ok=True)
        sections = "\n\n".join(
            f"## Part {part}\n\n" + " ".join(draw.choice(WORDS) for _ in range(80)) + "." for part in range(3)
        )
        path.write_text(f"# Note {number}\n\n{sections}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
