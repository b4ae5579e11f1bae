"""Moved documents: what follows from the path is that of the new one, and no text is embedded twice."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from ingestion.config import EnrichmentRules, IngestionRules, PropertyRule, TypeRule
from ingestion.listing import list_documents
from ingestion.pipeline import ingest
from rag_core.connectors.memory_embedder import WordHashEmbedder
from rag_core.connectors.store import Store
from rag_core.retrieval.search import HybridSearch
from tests.integration.ingestion.test_pipeline import assert_consistent

pytestmark = pytest.mark.integration

RULES = IngestionRules(
    enrichment=EnrichmentRules(
        types=(
            TypeRule(document_type="runbook", paths=("*/runbooks/*",)),
            TypeRule(document_type="incident", paths=("*/incidents/*",)),
        ),
        properties=(PropertyRule(property="owner", keys=("team",)),),
        known_subjects=("alert-router",),
        path_subjects=("/**/runbooks/{subject}/*", "/**/incidents/{subject}/*"),
    )
)
# All that a document has in the index but for numbers, times and runs.
_INDEX = """
SELECT d.document_id, d.source, d.path, d.location, d.content_hash, d.size_bytes, d.pipeline_version,
    d.lexical_version, d.state, d.stage, d.reason, d.title, d.document_type, d.service, d.owner, d.language,
    d.document_date, d.status, d.pages, d.converter, d.metadata::text, d.origins::text, d.warnings::text, d.enriched,
    (SELECT string_agg(a.name || '=' || a.value, ';' ORDER BY a.name, a.value)
     FROM nightshift.document_attribute AS a WHERE a.document_no = d.document_no),
    c.ordinal, c.body, c.context, c.heading_path, c.page, c.kind, c.tokens, c.terms,
    (SELECT string_agg(w.ordinal || ' ' || w.embedding::text, ';' ORDER BY w.ordinal)
     FROM nightshift.chunk_window AS w WHERE w.chunk_no = c.chunk_no),
    (SELECT string_agg(t.term || ' ' || p.frequency || ' ' || p.terms, ';' ORDER BY t.term)
     FROM nightshift.posting AS p JOIN nightshift.term AS t USING (term_no) WHERE p.chunk_no = c.chunk_no)
FROM nightshift.document AS d LEFT JOIN nightshift.chunk AS c USING (document_no)
ORDER BY d.source, d.path, c.ordinal
"""
_CONTENTS = [
    "# Restart\n\nRestart the unit and wait.\n",
    "no heading, so the name is the title\n\nIt holds two parts.\n",
    "# Restart\n\nRestart the unit and wait.\n",  # the same bytes as the first
    "---\ntitle: Stated\nservice: stated-service\nteam: core\n---\n\nEverything is stated here.\n",
    "name,amount\nturtle,1\nheron,2\n",
    "key: value\nother: [1, 2]\n",
    "# Alert\n\nThe alert router repeats itself, says the alert router.\n",
    "%PDF-1.4 and nothing else",
    "",
]
_TEXTS = len(_CONTENTS) - 2
"""The rest holds none: such a file keeps what was known at its path, so that it comes to a new path only."""
_PLACES = ["", "runbooks/billing-api/", "runbooks/metering-store/", "incidents/billing-api/", "archive/2024-03-01-"]
_STEMS = ["restart", "alert-router-notes", "2025-02-03_review", "Plan.v2"]
_SUFFIXES = [".md", ".txt", ".csv", ".yaml", ".json"]


def index(store: Store) -> list[tuple[object, ...]]:
    with store.connection() as connection:
        return connection.execute(_INDEX).fetchall()


def test_a_moved_document_is_found_by_what_its_new_path_says(
    store: Store, words: WordHashEmbedder, tmp_path: Path
) -> None:
    folder = tmp_path / "docs"
    old = folder / "docs" / "runbooks" / "billing-api" / "restart.md"
    new = folder / "docs" / "incidents" / "metering-store" / "again.md"
    for path in (old, new):
        path.parent.mkdir(parents=True)
    old.write_text("# Restart\n\nRestart the unit.\n", encoding="utf-8")
    (folder / "other.md").write_text("# Other\n\nSomething else.\n", encoding="utf-8")
    ingest(store, words, [folder], rules=RULES)
    (before,) = [each for each in list_documents(store) if each["service"] == "billing-api"]
    embedded = words.embedded
    old.rename(new)
    outcome = ingest(store, words, [folder], rules=RULES)
    assert outcome.documents == {
        "discovered": 2, "unchanged": 1, "moved": 1, "indexed": 0, "partial": 0, "removed": 0, "quarantined": 0,
    }  # fmt: skip
    assert (words.embedded, outcome.embeddings_computed) == (embedded, 0)
    (after,) = [each for each in list_documents(store) if each["path"].endswith("again.md")]
    assert (before["document_type"], after["document_type"], after["service"]) == (
        "runbook", "incident", "metering-store",
    )  # fmt: skip
    search = HybridSearch(store, words)
    for filters, expected in [({"service": "metering-store"}, ["docs/incidents/metering-store/again.md"]), ({}, None)]:
        passages = [each.path for each in search.search("restart unit", filters=filters).passages]
        assert passages == expected if expected else "docs/incidents/metering-store/again.md" in passages
    assert search.search("restart unit", filters={"service": "billing-api"}).passages == ()
    assert ingest(store, words, [folder], rules=RULES).documents["unchanged"] == 2


def test_a_run_that_dies_after_a_move_leaves_the_rest_to_the_next(
    store: Store, words: WordHashEmbedder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "plain.txt").write_text("No heading here.\n", encoding="utf-8")
    ingest(store, words, [folder], rules=RULES)
    (folder / "plain.txt").rename(folder / "other.txt")

    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("ingestion.planning._save_plan", die)
        with pytest.raises(KeyboardInterrupt):
            ingest(store, words, [folder], rules=RULES)
    assert [each["path"] for each in list_documents(store)] == ["other.txt"]
    assert ingest(store, words, [folder], rules=RULES).documents["indexed"] == 1
    assert [each["title"] for each in list_documents(store)] == ["Other"]


@pytest.mark.parametrize("seed", range(3))
def test_after_any_moves_the_index_is_that_of_a_fresh_run(
    make_store: Callable[[], Store], tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    folder = tmp_path / "docs"
    places = [f"{place}{stem}{suffix}" for place in _PLACES for stem in _STEMS for suffix in _SUFFIXES]
    at = dict(enumerate(chance.sample(places, len(_CONTENTS))))
    for number, path in at.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(_CONTENTS[number], encoding="utf-8")
    lived, fresh = make_store(), make_store()
    words = WordHashEmbedder()
    ingest(lived, words, [folder], rules=RULES)
    for _ in range(3):
        # Some go to new places, and two or three change places in a circle.
        moving = chance.sample(sorted(at), 5)
        circle = [number for number in moving if number < _TEXTS][: chance.randint(2, 3)]
        targets = dict(zip(circle, [at[number] for number in [*circle[1:], circle[0]]], strict=True))
        free = [place for place in places if place not in at.values()]
        targets |= {number: free.pop(chance.randrange(len(free))) for number in moving if number not in targets}
        for number in moving:
            (folder / at[number]).rename(tmp_path / str(number))
        for number, path in targets.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / str(number)).rename(folder / path)
        at |= targets
        ingest(lived, words, [folder], rules=RULES, prune=True, max_delete_share=1.0)
        assert_consistent(lived)
    ingest(fresh, WordHashEmbedder(), [folder], rules=RULES)
    assert [row[2:9] for row in index(lived)] == [row[2:9] for row in index(fresh)]
    for mine, other in zip(index(lived), index(fresh), strict=True):
        assert mine == other
