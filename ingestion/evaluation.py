"""Collections with questions and judgements, and a measured run of search over each of them.

The data lies outside the repository except for the questions of `bench/retrieval`; a collection is indexed once into a
database of its own beside the store, so that it never mixes with the user's documents.
"""

from __future__ import annotations

import csv
import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from ruamel.yaml import YAML

from ingestion.config import IngestionRules
from ingestion.corpora import CorpusText, load_corpus
from ingestion.pipeline import ingest
from rag_core.connectors.base import Embedder, PassageSearch
from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.datamodel.evidence import SearchOutcome
from rag_core.errors import ConfigurationError
from rag_core.retrieval.measures import Judged, Measured, measure
from rag_core.retrieval.relevance import Evidence, NullLimits, calibrate
from rag_core.retrieval.search import HybridSearch
from rag_core.retrieval.tuning import SearchTuning

SETS = ("scifact", "devops", "sample", "musique", "hotpotqa", "2wiki")
# Ways of searching: the mode, and whether the question's types and services count.
LEGS = {
    "bm25": ("bm25", False),
    "dense": ("dense", False),
    "hybrid": ("hybrid", False),
    "hybrid+classification": ("hybrid", True),
}
_MULTIHOP_FILES = {"musique": "musique_200", "hotpotqa": "hotpotqa_200", "2wiki": "2wikimultihopqa_164"}
# Chunks asked for: enough that ten different documents are among them.
DEPTH = 100


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """A question with the grade (1 related, 2 answers) and the topic of each relevant document's key."""

    query_id: str
    text: str
    grades: Mapping[str, int]
    kind: str = ""
    topics: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents as texts, or as files below `folder`, with questions.

    `key` maps a document's path in the index to the key that judgements use.
    """

    name: str
    queries: tuple[JudgedQuery, ...]
    texts: tuple[CorpusText, ...] = ()
    folder: Path | None = None
    key: Callable[[str], str] = str


@dataclass(frozen=True, slots=True)
class LegResult:
    """What one way of searching reached, and the queries whose best answers are not among the first five."""

    leg: str
    measured: Measured
    missed: tuple[str, ...]


def load_collection(name: str, *, data: Path, repository: Path, split: str = "test") -> Collection:
    """Reads a collection.

    Args:
        name: one of SETS.
        data: folder with `scifact`, `devops` and `multihop`.
        repository: folder with `bench/retrieval` and `sample`.
        split: which of SciFact's judgements: test, or train for tuning.

    Raises ConfigurationError where the data is missing.
    """
    if name not in SETS:
        raise ConfigurationError(f"unknown set {name!r}: use {', '.join(SETS)}")
    try:
        if name == "scifact":
            return _scifact(data / "scifact", split)
        if name == "devops":
            return _devops(data / "devops" / "files", repository / "bench" / "retrieval" / "devops_queries.jsonl")
        if name == "sample":
            return _sample(repository / "sample")
        return _multihop(name, data / "multihop" / f"{_MULTIHOP_FILES[name]}.jsonl")
    except FileNotFoundError as error:
        raise ConfigurationError(f"the set {name} needs {error.filename}: say where it lies with --data") from None


def index_collection(
    store: Store,
    embedder: Embedder,
    collection: Collection,
    *,
    rules: IngestionRules,
    on_progress: Callable[[int, int], None] | None = None,
) -> None:
    """Brings the collection's own index up to date; costs nothing where it is."""
    if collection.folder is not None:
        ingest(
            store,
            embedder,
            [collection.folder],
            rules=rules,
            source=collection.name,
            on_progress=None if on_progress is None else lambda each: on_progress(each.done, each.total),
        )
    else:
        load_corpus(store, embedder, collection.name, collection.texts, rules=rules, on_progress=on_progress)


def run_queries(
    store: Store,
    embedder: Embedder,
    collection: Collection,
    leg: str,
    *,
    on_query: Callable[[int, int], None] | None = None,
) -> LegResult:
    """Asks every question one way (of LEGS) and measures the ranking of documents, each at its first chunk's place.

    Latencies include the question's vector.
    """
    mode, classification = LEGS[leg]
    search = HybridSearch(store, embedder, tuning=SearchTuning(classification=classification))
    judged: list[Judged] = []
    milliseconds: list[float] = []
    missed: list[str] = []
    for number, query in enumerate(collection.queries, start=1):
        started = time.perf_counter()
        outcome = search.search(query.text, top=DEPTH, mode=mode)
        milliseconds.append((time.perf_counter() - started) * 1000)
        ranking = list(dict.fromkeys(collection.key(passage.path) for passage in outcome.passages))
        judged.append(Judged(ranking, query.grades, query.topics))
        best = max(query.grades.values(), default=0)
        if not {key for key, grade in query.grades.items() if grade == best} & set(ranking[:5]):
            missed.append(f"{query.query_id} {query.text}")
        if on_query is not None:
            on_query(number, len(collection.queries))
    return LegResult(leg, measure(judged, milliseconds), tuple(missed))


@dataclass(frozen=True, slots=True)
class NullResult:
    """How well the null signal tells questions of the collection from foreign ones, as shares of each.

    `best` are the limits that would tell them best, with the shares they reach.
    """

    questions: int
    foreign: int
    answered: float
    refused: float
    best: NullLimits
    best_answered: float
    best_refused: float


def read_foreign(repository: Path) -> list[str]:
    """Questions that no collection here can answer."""
    path = repository / "bench" / "retrieval" / "foreign_questions.txt"
    return [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def judge_null_signal(search: PassageSearch, collection: Collection, foreign: Sequence[str]) -> NullResult:
    """Asks the collection's questions and the foreign ones, and looks at the null signal alone."""
    own = [search.search(query.text, top=1) for query in collection.queries]
    other = [search.search(text, top=1) for text in foreign]
    best, best_answered, best_refused = calibrate(
        [_evidence(each) for each in own],
        [_evidence(each) for each in other],
    )
    return NullResult(
        questions=len(own),
        foreign=len(other),
        answered=sum(not each.null_signal for each in own) / len(own),
        refused=sum(each.null_signal for each in other) / len(other),
        best=best,
        best_answered=best_answered,
        best_refused=best_refused,
    )


def _evidence(outcome: SearchOutcome) -> Evidence:
    detail = outcome.detail
    return Evidence(detail["best_cosine"], detail["words_covered"], breadth=detail["mean_cosine"])


def save_limits(store: Store, model_id: str, limits: NullLimits, calibration: Mapping[str, Any]) -> bool:
    """Stores the limits of the null signal with the index of a model; returns whether there is such an index."""
    with store.connection() as connection:
        connection.execute(statement("index/lock_index_state"))
        changed = connection.execute(
            statement("index/update_null_limits"),
            {
                "threshold": limits.threshold,
                "weight": limits.coverage_weight,
                "breadth": limits.breadth_share,
                "calibration": json.dumps(calibration),
                "model_id": model_id,
            },
        ).rowcount
        connection.execute(statement("index/update_index_state"), {"chunks": 0, "terms": 0})
    return bool(changed)


def markdown_table(name: str, results: Sequence[LegResult]) -> str:
    """The figures as a Markdown table."""
    lines = [
        f"| {name} | nDCG@10 | recall@10 | MRR | Success@5 | critical sources | topic coverage | p50 / p95 ms |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for each in results:
        m = each.measured
        values = (m.ndcg_10, m.recall_10, m.mrr, m.success_5, m.critical_source_recall, m.topic_coverage)
        cells = " | ".join(f"{value:.3f}" for value in values)
        lines.append(f"| {each.leg} | {cells} | {m.p50_ms:.1f} / {m.p95_ms:.1f} |")
    return "\n".join(lines)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as stream:
        for line in stream:
            if line.strip():
                yield json.loads(line)


def _scifact(folder: Path, split: str) -> Collection:
    texts = tuple(CorpusText(each["_id"], each["title"], each["text"]) for each in _lines(folder / "corpus.jsonl"))
    grades: dict[str, dict[str, int]] = {}
    with (folder / f"qrels_{split}.tsv").open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream, delimiter="\t"):
            grades.setdefault(row["query-id"], {})[row["corpus-id"]] = int(row["score"])
    queries = tuple(
        JudgedQuery(each["_id"], each["text"], grades[each["_id"]])
        for each in _lines(folder / "queries.jsonl")
        if each["_id"] in grades
    )
    return Collection("scifact", queries, texts)


def _devops(folder: Path, queries: Path) -> Collection:
    if not folder.is_dir():
        raise FileNotFoundError(2, "no such folder", str(folder))
    judged = tuple(
        JudgedQuery(
            each["id"],
            each["query"],
            each["relevant"],
            each["kind"],
            # Collections of one organisation each: a subject is covered where every one that treats it is heard.
            {key: PurePosixPath(key).parts[0] for key in each["relevant"]},
        )
        for each in _lines(queries)
    )
    return Collection("devops", judged, folder=folder)


def _sample(folder: Path) -> Collection:
    """The sample's facts that stand in documents: each wording is a question, its sources are the answers."""
    queries: list[JudgedQuery] = []
    for name in ("facts_ops.yaml", "facts_business.yaml"):
        facts = YAML(typ="safe").load((folder / name).read_text(encoding="utf-8"))
        for fact in facts.get("documents") or []:
            grades = {_stem_key(place["path"]): 2 for place in fact["where"]}
            for number, text in enumerate([fact["question"], *fact.get("wording", [])]):
                queries.append(JudgedQuery(f"{fact['id']}.{number}", text, grades, "fact"))
    return Collection("sample", tuple(queries), folder=folder / "documents", key=_stem_key)


def _stem_key(path: str) -> str:
    """A path without its ending: the sample's sources are text, its documents have many formats."""
    return str(PurePosixPath(path).with_suffix(""))


def _multihop(name: str, path: Path) -> Collection:
    """All paragraphs of all questions as one collection; those marked as supporting are relevant.

    A title is a topic: a question of several hops needs a paragraph of each.
    """
    texts: dict[str, CorpusText] = {}
    queries: list[JudgedQuery] = []
    for each in _lines(path):
        grades: dict[str, int] = {}
        topics: dict[str, str] = {}
        for paragraph in each["paragraphs"]:
            digest = hashlib.sha256(f"{paragraph['title']}\x00{paragraph['text']}".encode()).hexdigest()[:16]
            texts.setdefault(digest, CorpusText(digest, paragraph["title"], paragraph["text"]))
            if paragraph["is_supporting"]:
                grades[digest] = 2
                topics[digest] = paragraph["title"]
        if grades:
            queries.append(JudgedQuery(each["id"], each["question"], grades, "multihop", topics))
    return Collection(name, tuple(queries), tuple(texts.values()))
