"""Runs questions through systems, keeping each score in a file so that a run that stopped goes on where it was."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, quantiles

from rag_core.datamodel.answer import Answer
from rag_core.evaluation.questions import EvalQuestion
from rag_core.evaluation.score_files import open_scores, read_scores
from rag_core.evaluation.scoring import Score, score_answer

System = Callable[[str], Answer]
TIERS = ("simple", "moderate", "complex")


def run_questions(
    questions: Sequence[EvalQuestion],
    systems: Mapping[str, System],
    path: Path,
    *,
    model: str = "",
    progress: Callable[[int, int], None] | None = None,
) -> list[Score]:
    """Scores of every question by every system; what `path` holds already, of the same chat model, is not asked again.

    The systems answer each question one after the other, so that a machine's changing load meets all of them.
    """
    kept = [score for score in read_scores(path, Score) if score.model == model]
    done = {(score.system, score.question_id) for score in kept}
    wanted = {(system, question.question_id) for system in systems for question in questions}
    work = [(question, name) for question in questions for name in systems if (name, question.question_id) not in done]
    with open_scores(path) as keep:
        for number, (question, name) in enumerate(work, start=1):
            started = time.perf_counter()
            answer = systems[name](question.text)
            score = score_answer(question, answer, system=name, seconds=time.perf_counter() - started, model=model)
            keep(score)
            kept.append(score)
            if progress is not None:
                progress(number, len(work))
    return [score for score in kept if (score.system, score.question_id) in wanted]


def summarise(scores: Iterable[Score]) -> list[dict[str, object]]:
    """One row a system and tier, and one for all tiers: shares of 1, means, and seconds at p50 and p95."""
    listed = list(scores)
    rows: list[dict[str, object]] = []
    for system in dict.fromkeys(score.system for score in listed):
        own = [score for score in listed if score.system == system]
        for tier in (*TIERS, "all"):
            chosen = [score for score in own if tier in (score.tier, "all")]
            if chosen:
                rows.append({"system": system, "tier": tier, **_figures(chosen)})
    return rows


def _figures(scores: Sequence[Score]) -> dict[str, object]:
    count = len(scores)
    claims = sum(score.claims for score in scores)
    times = sorted(score.seconds for score in scores)
    cuts = quantiles(times, n=20, method="inclusive") if count > 1 else [times[0]] * 19
    return {
        "questions": count,
        "right": _share(sum(score.verdict == "right" for score in scores), count),
        "wrong": _share(sum(score.verdict == "wrong" for score in scores), count),
        "hallucination": _share(sum(score.unsupported for score in scores), claims),
        "silent_failure": _share(sum(score.silent for score in scores), count),
        "source_recall": _mean([score.source_recall for score in scores]),
        "mrr": _mean([score.reciprocal_rank for score in scores]),
        "success_at_5": _mean([None if score.success is None else float(score.success) for score in scores]),
        "citation_accuracy": _mean([score.citation_accuracy for score in scores]),
        "topic_coverage": _mean([score.held / score.points for score in scores if score.points]),
        "steps": _mean([float(score.steps) for score in scores]),
        "model_calls": _mean([float(score.model_calls) for score in scores]),
        "tokens": _mean([float(score.tokens) for score in scores]),
        "cost_usd": round(sum(score.cost_usd for score in scores), 4),
        "p50_seconds": round(cuts[9], 3),
        "p95_seconds": round(cuts[18], 3),
    }


def _share(part: int, whole: int) -> float:
    return round(part / whole, 3) if whole else 0.0


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(fmean(known), 3) if known else None


def to_markdown(rows: Sequence[Mapping[str, object]]) -> str:
    """A Markdown table of rows with the same keys; empty without rows."""
    if not rows:
        return ""
    names = list(rows[0])
    lines = [f"| {' | '.join(name.replace('_', ' ') for name in names)} |", f"|{'---|' * len(names)}"]
    lines += [f"| {' | '.join('' if row[name] is None else str(row[name]) for name in names)} |" for row in rows]
    return "\n".join(lines)
