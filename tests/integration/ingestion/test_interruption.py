"""A process that is killed in the middle, readers beside writers, and writers beside each other."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ingestion.config import IngestionRules
from ingestion.pipeline import ingest
from rag_core.connectors.memory_embedder import WordHashEmbedder
from rag_core.connectors.store import Store

pytestmark = pytest.mark.integration

_SCRIPT = """
import sys, time
from pathlib import Path
from ingestion import publishing, worker
from ingestion.config import IngestionRules
from ingestion.pipeline import ingest
from rag_core.connectors.memory_embedder import WordHashEmbedder
from rag_core.connectors.store import Store

class SlowEmbedder(WordHashEmbedder):
    def embed(self, texts):
        time.sleep(0.02)
        return super().embed(texts)

worker.DOCUMENTS_TOGETHER = 4  # many groups, so that a kill hits the middle of one
publishing.PUBLISHED_TOGETHER = 4
def tell(progress):
    print(progress.what, progress.done, progress.total, flush=True)
print("ready", flush=True)
ingest(Store(sys.argv[1]), SlowEmbedder(), [Path(sys.argv[2])], rules=IngestionRules(), on_progress=tell)
"""
_CONTENT = """
SELECT d.source, d.path, d.content_hash, d.state, d.metadata::text, c.ordinal, c.body, c.terms,
    (SELECT string_agg(w.ordinal || ' ' || w.embedding::text, ';' ORDER BY w.ordinal)
     FROM nightshift.chunk_window AS w WHERE w.chunk_no = c.chunk_no) AS windows,
    (SELECT string_agg(t.term || ' ' || p.frequency || ' ' || p.terms || ' ' || t.chunks, ';' ORDER BY t.term)
     FROM nightshift.posting AS p JOIN nightshift.term AS t USING (term_no) WHERE p.chunk_no = c.chunk_no) AS postings,
    (SELECT s.chunks || ' ' || s.terms FROM nightshift.index_state AS s) AS counts
FROM nightshift.document AS d LEFT JOIN nightshift.chunk AS c USING (document_no)
ORDER BY d.source, d.path, c.ordinal
"""


def content(store: Store) -> list[tuple[object, ...]]:
    with store.connection() as connection:
        return connection.execute(_CONTENT).fetchall()


def write_documents(folder: Path, count: int) -> None:
    for number in range(count):
        text = f"# Document {number}\n\n" + "\n\n".join(
            f"## Part {part}\n\n" + f"word{number % 7} fact{part} " * 60 for part in range(4)
        )
        (folder / f"doc{number:03d}.md").write_text(text, encoding="utf-8")


@pytest.mark.slow
def test_killed_at_ten_random_moments_and_repeated_the_index_is_the_same(
    make_store: Callable[[], Store], rules: IngestionRules, tmp_path: Path, repo_root: Path
) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    write_documents(folder, 120)
    undisturbed, disturbed = make_store(), make_store()
    ingest(undisturbed, WordHashEmbedder(), [folder], rules=rules)
    moments = random.Random(7)
    killed = 0
    left: list[tuple[int, int]] = []
    # Up to two groups of documents are staged; all are, and they are being judged; up to three groups are published.
    for phase in ["stage"] * 4 + ["judge"] * 2 + ["publish"] * 4:
        process = subprocess.Popen(
            [sys.executable, "-c", _SCRIPT, disturbed.dsn, str(folder)],
            cwd=repo_root,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        process.stdout.readline()
        if phase == "stage":
            for _ in range(4 * moments.randint(0, 2)):
                process.stdout.readline()
        else:
            wait_for = "documents" if phase == "judge" else "checked"
            groups = 4 * moments.randint(1, 3)
            for line in process.stdout:
                what, done, total = line.split()[0], *map(int, line.split()[-2:])
                if what == wait_for and done >= (total if phase == "judge" else groups):
                    break
                if what == "checked" and phase == "judge":  # all were staged by the run before
                    break
        time.sleep(moments.uniform(0.0, 0.05 if phase == "publish" else 0.2))
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
        process.stdout.close()
        with disturbed.connection() as connection:
            row = connection.execute(
                "SELECT (SELECT count(*) FROM nightshift.document WHERE state = 'ok'), "
                "(SELECT count(*) FROM nightshift.staged_document)"
            ).fetchone()
        assert row is not None
        left.append(row)
    assert killed >= 8, "the process finished too early for the test to mean anything"
    assert len(set(left)) >= 6, "the kills must find the index in different states"
    assert any(not published and staged for published, staged in left), "one kill before anything was published"
    assert sum(bool(published and staged) for published, staged in left) >= 2, "and some in the middle of publishing"
    ingest(disturbed, WordHashEmbedder(), [folder], rules=rules)
    assert content(disturbed) == content(undisturbed)
    with disturbed.connection() as connection:
        assert connection.execute("SELECT count(*) FROM nightshift.staged_chunk").fetchone() == (0,)


def test_a_reader_never_sees_half_of_a_document(store: Store, rules: IngestionRules, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    target = folder / "doc.md"

    def write(mark: str) -> None:
        target.write_text("\n\n".join(f"## Part {n}\n\n" + f"{mark} " * 200 for n in range(8)), encoding="utf-8")

    words = WordHashEmbedder()
    write("old")
    ingest(store, words, [folder], rules=rules)
    seen: set[tuple[int, ...]] = set()
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            with store.connection() as connection:
                row = connection.execute(
                    "SELECT count(*) FILTER (WHERE body LIKE '%old%'), count(*) FILTER (WHERE body LIKE '%new%') "
                    "FROM nightshift.chunk"
                ).fetchone()
            assert row is not None
            seen.add((int(row[0] > 0), int(row[1] > 0)))

    reader = threading.Thread(target=read)
    reader.start()
    for turn in range(6):
        write("new" if turn % 2 == 0 else "old")
        ingest(store, words, [folder], rules=rules)
    stop.set()
    reader.join()
    assert seen <= {(1, 0), (0, 1)}
    assert len(seen) == 2


def test_writers_beside_each_other_neither_deadlock_nor_miscount(
    store: Store, rules: IngestionRules, tmp_path: Path
) -> None:
    folders = []
    for number in range(4):
        folder = tmp_path / f"source{number}"
        folder.mkdir()
        write_documents(folder, 15)
        folders.append(folder)
    faults: list[BaseException] = []

    def work(folder: Path) -> None:
        try:
            ingest(store, WordHashEmbedder(), [folder], rules=rules)
        except BaseException as error:  # noqa: BLE001 - handed to the test
            faults.append(error)

    # The first run makes the index version; after that all write at once.
    ingest(store, WordHashEmbedder(), [folders[0] / "doc000.md"], rules=rules, source="first")
    threads = [threading.Thread(target=work, args=(folder,)) for folder in folders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    with store.connection() as connection:
        row = connection.execute(
            "SELECT (SELECT chunks FROM nightshift.index_state) - (SELECT count(*) FROM nightshift.chunk), "
            "(SELECT count(*) FROM nightshift.term AS t WHERE t.chunks <> "
            "(SELECT count(*) FROM nightshift.posting AS p WHERE p.term_no = t.term_no)), "
            "(SELECT count(*) FROM nightshift.document)"
        ).fetchone()
    assert row == (0, 0, 61)
