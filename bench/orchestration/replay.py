"""Replay of a batch against the bare cost of what it asks: `python -m bench.orchestration.replay [--questions 200]`.

Runs on the configured store and warehouse (the embedded sample by default; ingest its documents first). The planted
facts' questions are answered once, so that their plans are kept; then a batch of them is replayed in groups of 20, each
answer staged, and after each group its statements and searches are run bare, one after the other: guarded statements
through the warehouse, searches through the index, by objects of their own with cold caches, so that both meet the same
load. Prints the ratio of the sums and the model calls. Judging and publishing the run is not part of it.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import time
from itertools import zip_longest

from bench.orchestration.run import cases
from rag_core.batch.runner import BatchRunner
from rag_core.datamodel.answer import Answer
from rag_core.datamodel.question import Batch, Question
from rag_core.graph.build import Orchestrator
from rag_core.plans.fingerprint import question_key
from rag_core.plans.store import PlanStore
from rag_core.retrieval.search import HybridSearch
from rag_core.wiring import Services, open_services


def main() -> None:
    """Prints one line of figures; with `--profile` also where the time between went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--side-by-side", type=int, action="append", help="questions at a time; may be given again")
    parser.add_argument("--changed", action="store_true", help="as on a night when documents have changed")
    parser.add_argument("--profile", action="store_true", help="print the functions that took most")
    options = parser.parse_args()
    with open_services() as services:
        orchestrator = _orchestrator(services, keep_searches=not options.changed)
        asked = _mixed()
        kept: list[str] = []
        for question in asked:
            if len(kept) == options.questions:
                break
            # Asked as `replay` it is answered just where a plan of it holds already.
            answer = orchestrator.answer(question, run_date=services.run_date(), strategy="replay")
            if answer.status == "failed":
                answer = orchestrator.answer(question, run_date=services.run_date())
            if answer.status in ("answered", "partial") and answer.plan_id:
                kept.append(question)
        for width in options.side_by_side or [services.settings.warehouse.max_concurrent_statements]:
            _measure(services, kept, width=width, profile=options.profile, keep_searches=not options.changed)


def _mixed() -> list[str]:
    """Questions of every kind in turn: figures, documents, and both."""
    by_kind: dict[str, list[str]] = {}
    for kind, _, question in cases(wordings=True):
        by_kind.setdefault(kind, []).append(question)
    rows = zip_longest(*by_kind.values())
    return list(dict.fromkeys(question for row in rows for question in row if question is not None))


def _orchestrator(services: Services, *, keep_searches: bool) -> Orchestrator:
    return Orchestrator(
        warehouse=services.warehouse,
        guard=services.guard,
        catalog_cache=services.catalog_cache,
        semantic_model=services.semantic_model,
        values=services.values,
        search=HybridSearch(services.store, services.embedder, today=services.run_date()),
        embedder=services.embedder,
        store=services.store,
        chat_model=services.chat_model,
        keep_searches=keep_searches,
    )


def _measure(services: Services, questions: list[str], *, width: int, profile: bool, keep_searches: bool) -> None:
    orchestrator = _orchestrator(services, keep_searches=keep_searches)
    search = HybridSearch(services.store, services.embedder)
    day, guard, plans = services.run_date(), services.guard, PlanStore(services.store)
    orchestrator.answer(questions[0], run_date=day)  # imports and first connections are nobody's
    search.search(questions[0])
    services.embedder.embed(questions[:1])  # nor is the loading of the model, which a replay does not need
    listed = tuple(Question(question_id=f"q{at}", text=text) for at, text in enumerate(questions))
    batch = Batch(batch="replay_bench", title="Replay", owner="bench", questions=listed)
    runner = BatchRunner(
        store=services.store,
        orchestrator=lambda _: orchestrator,
        reports_folder=services.settings.home / "reports",
        side_by_side=width,
    )
    run = runner.start(batch, day, publish=False)
    bare = replay = used = needed = embedding = 0.0
    answers: dict[str, Answer] = {}
    searches = statements = 0
    profiler = cProfile.Profile(time.process_time) if profile else None
    for group in run.groups:
        started, cpu = time.perf_counter(), time.process_time()
        if profiler:
            profiler.enable()
        runner.answer(run.run_id, group, progress=answers.__setitem__)
        if profiler:
            profiler.disable()
        replay, used = replay + time.perf_counter() - started, used + time.process_time() - cpu
        found = [answers[name] for name in group]
        verdicts = [guard.check(item.sql) for answer in found for item in answer.sql]
        steps = [
            step for answer in found if (kept := plans.find(question_key(answer.question))) for step in kept.plan.steps
        ]
        started, cpu = time.perf_counter(), time.process_time()
        for verdict in verdicts:
            assert verdict.query is not None
            services.warehouse.execute(verdict.query)
        for step in steps:
            if step.kind == "search":
                begun = time.perf_counter()
                services.embedder.embed([step.query])
                embedding += time.perf_counter() - begun
                search.search(step.query, top=step.top, filters=step.filters or None)
                searches += 1
        bare, needed = bare + time.perf_counter() - started, needed + time.process_time() - cpu
        statements += len(verdicts)
    calls = sum(answer.usage.model_calls for answer in answers.values())
    replayed = sum("replayed" in answer.trace[0].detail for answer in answers.values())
    print(
        f"{len(questions)} questions, {replayed} replayed, {statements} statements, {searches} searches, {calls} calls"
    )
    print(f"wall: replay {replay:.2f} s ({width} side by side), bare {bare:.2f} s, ratio {replay / bare:.2f}")
    at_hand = bare - embedding
    print(f"bare with the vectors at hand {at_hand:.2f} s, ratio {replay / at_hand:.2f}")
    print(f"CPU of this process: replay {used:.2f} s, bare {needed:.2f} s")
    if profiler:
        pstats.Stats(profiler).sort_stats("cumulative").print_stats(70)


if __name__ == "__main__":
    main()
