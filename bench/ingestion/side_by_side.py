"""LangChain's ingestion beside ours: the same Markdown files, the same weights, the same embedded PostgreSQL.

Usage: PYTHONPATH=SIDE python -m bench.ingestion.side_by_side DATA [COUNT]

SIDE holds what is not part of Nightshift; made once with
`uv pip install --target SIDE --no-deps langchain-postgres langchain-text-splitters langchain-huggingface
langchain-classic`. DATA is the folder with `devops/files` and `scifact/corpus.jsonl`.

LangChain: `RecursiveCharacterTextSplitter` in the model's own tokens (what the model takes, 40 of overlap),
`HuggingFaceEmbeddings`, `PGVector`, and `index()` with an SQL record manager. Ours: `ingest` with the shipped rules.
The two cut texts differently, so the first run is compared by vectors a second; then a run with nothing changed, and
one after a sentence was added at the end of each of five documents.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

from bench.ingestion.setting import (
    MODEL,
    Spent,
    copy_documents,
    embedded_server,
    empty_store,
    measured,
    report,
    temporary_folder,
)
from ingestion.config import load_rules
from ingestion.pipeline import ingest
from rag_core.connectors.embedder import load_embedder
from rag_core.connectors.store import Store

INSTALL = (
    "uv pip install --target SIDE --no-deps langchain-postgres langchain-text-splitters langchain-huggingface "
    "langchain-classic, then PYTHONPATH=SIDE"
)


def main() -> None:
    data, count = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 200
    try:
        import langchain_classic  # noqa: F401
        import langchain_huggingface  # noqa: F401
        import langchain_postgres  # noqa: F401
    except ImportError as error:
        sys.exit(f"{error.name} is not installed: {INSTALL}")
    embedder = load_embedder(MODEL)
    embedder.embed(["the weights are loaded before anything is measured"])
    with temporary_folder() as folder, embedded_server() as server, empty_store(server, "ours") as store:
        files = copy_documents(data, folder, count)
        server.ensure_database("theirs")
        theirs = LangChain(server.dsn("theirs"), embedder._folder)
        figures: dict[str, Any] = {"documents": len(files)}
        for step in ("first run", "nothing changed", "five documents changed"):
            if step.startswith("five"):
                for path in files[:5]:
                    path.write_text(path.read_text(encoding="utf-8") + "\nOne sentence more.\n", encoding="utf-8")
            figures[step] = {"langchain": theirs.run(folder, files), "nightshift": ours(store, embedder, folder)}
    report("side_by_side", figures)


def ours(store: Store, embedder: Any, folder: Path) -> dict[str, Any]:
    spent = Spent()
    rules = load_rules(Path("config/ingestion.yaml"))
    with measured(spent):
        outcome = ingest(store, embedder, [folder], rules=rules, source="bench")
    return figures_of(spent, outcome.embeddings_computed)


def figures_of(spent: Spent, vectors: int) -> dict[str, Any]:
    return {
        "seconds": round(spent.seconds, 2),
        "processor": round(spent.processor, 2),
        "vectors_computed": vectors,
        "vectors_a_second": round(vectors / spent.seconds, 1),
        "vectors_a_processor_second": round(vectors / spent.processor, 1),
    }


class LangChain:
    """LangChain's pipeline as its documentation puts it together."""

    def __init__(self, dsn: str, model: Path) -> None:
        from langchain_classic.indexes import SQLRecordManager
        from langchain_huggingface import HuggingFaceEmbeddings
        from langchain_postgres import PGVector
        from langchain_text_splitters import RecursiveCharacterTextSplitter
        from sqlalchemy import URL
        from transformers import AutoTokenizer

        warnings.simplefilter("ignore")
        import psycopg

        parts = psycopg.conninfo.conninfo_to_dict(dsn)
        url = URL.create(
            "postgresql+psycopg",
            username=str(parts.get("user", "postgres")),
            database=str(parts["dbname"]),
            query={"host": str(parts["host"])},
        )
        self.computed = 0
        counting = self

        class Counting(HuggingFaceEmbeddings):  # type: ignore[misc, valid-type]
            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                counting.computed += len(texts)
                vectors: list[list[float]] = super().embed_documents(texts)
                return vectors

        embeddings = Counting(
            model_name=str(model), model_kwargs={"device": "cpu"}, encode_kwargs={"normalize_embeddings": True}
        )
        embeddings.embed_query("the weights are loaded before anything is measured")
        self._store = PGVector(embeddings, collection_name="bench", connection=url.render_as_string(False))
        self._manager = SQLRecordManager("bench", db_url=url.render_as_string(False))
        self._manager.create_schema()
        self._splitter = RecursiveCharacterTextSplitter.from_huggingface_tokenizer(
            AutoTokenizer.from_pretrained(str(model)), chunk_size=254, chunk_overlap=40
        )

    def run(self, folder: Path, files: list[Path]) -> dict[str, Any]:
        """One indexing run over all files."""
        from langchain_core.documents import Document
        from langchain_core.indexing import index

        self.computed = 0
        spent = Spent()
        with measured(spent):
            documents = [
                Document(path.read_text(encoding="utf-8"), metadata={"source": str(path.relative_to(folder))})
                for path in files
            ]
            chunks = self._splitter.split_documents(documents)
            index(
                chunks,
                self._manager,
                self._store,
                cleanup="incremental",
                source_id_key="source",
                key_encoder="sha256",
            )
        return figures_of(spent, self.computed)


if __name__ == "__main__":
    main()
