"""Measures of a ranking against judgements. Pure; rankings are lists of document keys, best first, without repeats.

Sources: nDCG with gain = grade and discount log2(rank + 1), as trec_eval and BEIR count it; the others are standard.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

# A document of this grade or more answers the question by itself; lower ones only belong to the subject.
CRITICAL_GRADE = 2


@dataclass(frozen=True, slots=True)
class Judged:
    """A ranking with what is known of its query.

    `grades` are those of the relevant documents by key (2 answers by itself, 1 belongs to the subject), `topics` the
    part of the question that each of them is about; a document without one is a topic of its own.
    """

    ranking: Sequence[str]
    grades: Mapping[str, int]
    topics: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Measured:
    """Means over queries, between 0 and 1; latencies in milliseconds.

    `recall_10` counts all relevant documents, `critical_source_recall` those alone that answer, `topic_coverage` the
    topics of the relevant documents, each among the first ten. Success and reciprocal rank look for documents that
    answer.
    """

    queries: int
    ndcg_10: float
    recall_10: float
    mrr: float
    success_5: float
    critical_source_recall: float
    topic_coverage: float
    p50_ms: float
    p95_ms: float


def ndcg(ranking: Sequence[str], grades: Mapping[str, int], at: int = 10) -> float:
    """Normalised discounted cumulative gain of the first `at`; 0 where nothing is judged relevant."""
    gained = sum(grades.get(key, 0) / math.log2(rank + 1) for rank, key in enumerate(ranking[:at], start=1))
    best = sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:at]
    ideal = sum(grade / math.log2(rank + 1) for rank, grade in enumerate(best, start=1))
    return gained / ideal if ideal else 0.0


def recall(ranking: Sequence[str], relevant: Iterable[str], at: int = 10) -> float:
    """Share of the relevant documents among the first `at`; 0 where there are none."""
    wanted = set(relevant)
    return len(wanted & set(ranking[:at])) / len(wanted) if wanted else 0.0


def reciprocal_rank(ranking: Sequence[str], relevant: Iterable[str]) -> float:
    """1 / rank of the first relevant document, 0 where none is found."""
    wanted = set(relevant)
    return next((1.0 / rank for rank, key in enumerate(ranking, start=1) if key in wanted), 0.0)


def success(ranking: Sequence[str], relevant: Iterable[str], at: int = 5) -> float:
    """1 where a relevant document is among the first `at`, else 0."""
    return 1.0 if set(relevant) & set(ranking[:at]) else 0.0


def coverage(ranking: Sequence[str], relevant: Iterable[str], topics: Mapping[str, str], at: int = 10) -> float:
    """Share of the relevant documents' topics of which the first `at` hold a document; 0 where there are none."""
    wanted = set(relevant)
    found = {topics.get(key, key) for key in ranking[:at] if key in wanted}
    return len(found) / len({topics.get(key, key) for key in wanted}) if wanted else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of them lie, by nearest rank; 0 for none."""
    if not values:
        return 0.0
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, math.ceil(share * len(ordered)) - 1))]


def measure(judged: Sequence[Judged], milliseconds: Sequence[float]) -> Measured:
    """Means over queries.

    Documents that answer are those of grade 2, or of the best grade of their query where it is lower.
    """
    columns: list[tuple[float, ...]] = []
    for each in judged:
        ranking = each.ranking
        positive = {key: grade for key, grade in each.grades.items() if grade > 0}
        top = max(positive.values(), default=0)
        answers = [key for key, grade in positive.items() if grade >= min(top, CRITICAL_GRADE)]
        columns.append(
            (
                ndcg(ranking, positive),
                recall(ranking, positive),
                reciprocal_rank(ranking, answers),
                success(ranking, answers),
                recall(ranking, answers),
                coverage(ranking, positive, each.topics),
            )
        )
    means = [math.fsum(column) / len(columns) for column in zip(*columns, strict=True)] if columns else [0.0] * 6
    names = ("ndcg_10", "recall_10", "mrr", "success_5", "critical_source_recall", "topic_coverage")
    return Measured(
        queries=len(judged),
        p50_ms=percentile(milliseconds, 0.5),
        p95_ms=percentile(milliseconds, 0.95),
        **dict(zip(names, means, strict=True)),
    )
