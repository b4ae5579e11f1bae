"""Asks the questions over tables and texts, keeping each score in a file, and sums up by where the answers stand."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import fmean, quantiles

from rag_core.datamodel.answer import Answer
from rag_core.evaluation.hybrid_questions import ROUTES, HybridQuestion
from rag_core.evaluation.hybrid_scoring import HybridScore, score_hybrid
from rag_core.evaluation.score_files import open_scores, read_scores


def run_hybrid(
    questions: Sequence[HybridQuestion],
    ask: Callable[[HybridQuestion], Answer],
    path: Path,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> list[HybridScore]:
    """Scores of every question; what `path` holds already is not asked again."""
    kept = read_scores(path, HybridScore)
    done = {score.question_id for score in kept}
    wanted = {question.question_id for question in questions}
    work = [question for question in questions if question.question_id not in done]
    with open_scores(path) as keep:
        for number, question in enumerate(work, start=1):
            started = time.perf_counter()
            answer = ask(question)
            score = score_hybrid(question, answer, seconds=time.perf_counter() - started)
            keep(score)
            kept.append(score)
            if progress is not None:
                progress(number, len(work))
    return [score for score in kept if score.question_id in wanted]


def summarise_hybrid(scores: Iterable[HybridScore]) -> list[dict[str, object]]:
    """One row a route and one for all: counts of the verdicts, shares of `exact`, mean `f1`, seconds at p50 and p95.

    `partial_holds` are those of the partial answers that say the gold answer.
    """
    listed = list(scores)
    chosen = {route: [score for score in listed if score.route == route] for route in ROUTES} | {"all": listed}
    return [{"answer_in": route, **_figures(own)} for route, own in chosen.items() if own]


def _figures(scores: Sequence[HybridScore]) -> dict[str, object]:
    verdicts = Counter(score.verdict for score in scores)
    times = sorted(score.seconds for score in scores)
    cuts = quantiles(times, n=20, method="inclusive") if len(times) > 1 else times * 19
    return {
        "questions": len(scores),
        "right": verdicts["right"],
        "wrong": verdicts["wrong"],
        "partial": verdicts["partial"],
        "partial_holds": sum(score.verdict == "partial" and score.holds for score in scores),
        "nothing": verdicts["nothing"],
        "exact": round(sum(score.exact for score in scores) / len(scores), 3),
        "f1": round(fmean(score.f1 for score in scores), 3),
        "model_calls": round(fmean(score.model_calls for score in scores), 2),
        "p50_seconds": round(cuts[9], 3),
        "p95_seconds": round(cuts[18], 3),
    }
