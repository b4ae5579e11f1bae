"""The nodes of the graph. Each takes the state and returns what it adds; what a node does stands in the workers."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from rag_core.datamodel.answer import TraceEntry, Usage
from rag_core.datamodel.evidence import Finding, SqlEvidence
from rag_core.datamodel.plan import MetricQuery, SearchStep, SqlStep
from rag_core.errors import BudgetExhausted, ModelFault
from rag_core.graph.bounds import is_late
from rag_core.graph.caches import counting_hits
from rag_core.graph.conclude import conclude, with_unread
from rag_core.graph.kept_searches import SearchRunner
from rag_core.graph.parameters import BindingGuard, fill_step, sql_values
from rag_core.graph.state import Evidence, QuestionState, Revision, StepTask
from rag_core.graph.strategist import Strategist
from rag_core.graph.supervisor import open_faults, ready_steps, worker_of
from rag_core.semantics.coverage import told_coverage
from rag_core.workers.evaluator import evaluate
from rag_core.workers.evidence_validator import schema_findings, validate_passages, validate_sql
from rag_core.workers.explain import explain
from rag_core.workers.handover import fill_step as fill_search
from rag_core.workers.merge import cited_passages
from rag_core.workers.outcome import Fault, StepOutcome, latest
from rag_core.workers.planner import Planner
from rag_core.workers.reflection import MAX_ANSWER_ATTEMPTS, decide
from rag_core.workers.repair import replace_name
from rag_core.workers.sql_worker import SqlWorker, feedback_on
from rag_core.workers.surroundings import look_around
from rag_core.workers.synthesizer import draft_answer, order_passages
from rag_core.workers.writer import write_draft


@dataclass(frozen=True, slots=True)
class Nodes:
    """The nodes with what they act through. `sql_worker` makes a worker over the schema as it is now."""

    planner: Planner
    strategist: Strategist
    sql_worker: Callable[[], SqlWorker]
    refresh_schema: Callable[[], object]
    search: SearchRunner
    question_seconds: float
    question_steps: int
    max_retries: int = 2

    def plan(self, state: QuestionState) -> dict[str, Any]:
        """Turns the question into a plan; a kept plan that came with the question is taken as it is."""
        started = _now()
        request = state["request"]
        if "plan" in state:
            kept = {"replayed": state["plan"].plan_id, "steps": [step.step_id for step in state["plan"].steps]}
            return {"deadline": time.monotonic() + self.question_seconds, "trace": (_entry("plan", started, kept),)}
        tables: list[str] = []
        if self.planner.chat_model is not None:
            tables = [table.qualified_name for table in self.sql_worker().catalog.tables]
        plan, usage, choice = self.strategist.plan(request, tables)
        detail = {
            "query_type": plan.query_type,
            "strategy": plan.strategy,
            "class": choice.question_class,
            "why": choice.why,
            "steps": [step.step_id for step in plan.steps],
            "unmatched": len(plan.unmatched),
        }
        return {
            "plan": plan,
            "choice": choice,
            "deadline": time.monotonic() + self.question_seconds,
            "usage": usage,
            "outcomes": (),
            "trace": (_entry("plan", started, detail),),
        }

    def supervise(self, state: QuestionState) -> dict[str, Any]:
        """Records what is done next; the routing itself is `route`."""
        started = _now()
        tasks = ready_steps(state["plan"], state.get("outcomes", ()), state.get("revisions", ()))
        detail = {"next": [f"{worker_of(step)}:{step.step_id}#{attempt}" for step, attempt, _ in tasks]}
        return {"trace": (_entry("supervise", started, detail),)}

    def route(self, state: QuestionState) -> list[StepTask]:
        """The steps to send to workers now, in the order of the plan; none where the question's bounds are used up."""
        outcomes = state.get("outcomes", ())
        if len(outcomes) >= self.question_steps or is_late(state["deadline"]):
            return []
        return [
            StepTask(
                request=state["request"],
                deadline=state["deadline"],
                step=step,
                attempt=attempt,
                repaired=repaired,
                previous=outcomes,
            )
            for step, attempt, repaired in ready_steps(state["plan"], outcomes, state.get("revisions", ()))
        ]

    def run_sql(self, task: StepTask) -> dict[str, Any]:
        """One attempt at an SQL step."""
        started = _now()
        step = task["step"]
        assert isinstance(step, SqlStep)
        worker = self.sql_worker()
        filled = fill_step(step, task["previous"], self.planner.semantic_model)
        if isinstance(filled, Fault):
            outcome = StepOutcome(step_id=step.step_id, attempt=task["attempt"], fault=filled)
            detail = {"step": step.step_id, "attempt": task["attempt"], "fault": filled.code}
            return {"outcomes": (outcome,), "trace": (_entry("sql_worker", started, detail),)}
        feedback = ""
        before = [outcome for outcome in latest(task["previous"]) if outcome.step_id == step.step_id]
        if before and before[0].fault is not None and step.sql is None:
            feedback = feedback_on(before[0].fault)
        guard: BindingGuard | None = None
        if step.bindings and step.metric_query is None:
            # A statement is mended as it was written, before its values: then it would run without them.
            guard = BindingGuard(worker.guard, sql_values(step, task["previous"]), dialect=worker.warehouse.dialect)
            worker = replace(worker, guard=guard, mend=None)
        with counting_hits() as hits:
            outcome, usage = worker.run(
                filled,
                run_date=task["request"].run_date,
                attempt=task["attempt"],
                repaired=task["repaired"],
                feedback=feedback,
                late=lambda: is_late(task["deadline"]),
            )
            outcome = look_around(filled, outcome, worker)
        detail = {"step": step.step_id, "attempt": task["attempt"], **hits.detail()}
        if outcome.fault is not None:
            detail["fault"] = outcome.fault.code
        elif outcome.sql is not None:
            detail |= {"rows": outcome.sql.result.row_count, "tables": list(outcome.sql.tables)}
        if outcome.candidates:
            detail |= {"candidates": outcome.candidates, "agreeing": outcome.agreeing}
        if usage.model_calls:
            detail["model_calls"] = usage.model_calls
            left_out = worker.known().left_out if worker.known is not None else 0
            # The card may lack a value or a join that there was no time to look up.
            detail |= {"lookups_left_out": left_out} if left_out else {}
        update: dict[str, Any] = {"outcomes": (outcome,), "usage": usage}
        if filled is not step:
            update["filled"] = (filled,)
        if guard is not None and guard.unbound is not None and outcome.sql is not None:
            update["unbound"] = ((step.step_id, guard.unbound),)
        return update | {"trace": (_entry("sql_worker", started, detail),)}

    def run_search(self, task: StepTask) -> dict[str, Any]:
        """One search step."""
        started = _now()
        step = task["step"]
        assert isinstance(step, SearchStep)
        step = fill_search(step, task["previous"])
        with counting_hits() as hits:
            outcome = self.search.run(step, attempt=task["attempt"])
        found = outcome.search
        detail = {
            "step": step.step_id,
            "passages": len(found.passages) if found else 0,
            "null_signal": found.null_signal if found else True,
            **hits.detail(),
        }
        return {"outcomes": (outcome,), "trace": (_entry("vector_worker", started, detail),)}

    def validate_evidence(self, state: QuestionState) -> dict[str, Any]:
        """The one point where results merge: gives markers and looks for what would mislead."""
        started = _now()
        plan, outcomes = state["plan"], {item.step_id: item for item in latest(state.get("outcomes", ()))}
        sql: list[SqlEvidence] = []
        findings: list[Finding] = []
        for step in plan.steps:
            outcome = outcomes.get(step.step_id)
            if outcome is None:
                continue
            if outcome.sql is not None:
                sql.append(outcome.sql.model_copy(update={"marker": f"S{len(sql) + 1}"}))
                findings += schema_findings(outcome.followed, sql[-1].marker)
        quoted = cited_passages(plan, state.get("outcomes", ()))
        catalog = self.sql_worker().catalog if any(item.strategy == "model" for item in sql) else None
        for evidence in sql:
            # A governed figure of nothing says that there is none; of a statement nobody approved it may be a mistake.
            findings += validate_sql(evidence, catalog, may_be_empty=evidence.strategy in ("metric", "verified"))
        disputes = validate_passages(plan.question, quoted)
        ordered = order_passages(quoted, disputes)
        marked = tuple(item.model_copy(update={"marker": f"D{index}"}) for index, item in enumerate(ordered, start=1))
        findings += validate_passages(plan.question, marked)
        detail = {
            "sql": len(sql),
            "passages": len(marked),
            "findings": [finding.code for finding in findings],
            "open_faults": [item.fault.code for item in open_faults(state.get("outcomes", ())) if item.fault],
        }
        return {
            "evidence": Evidence(sql=tuple(sql), passages=marked),
            "findings": tuple(findings),
            "revisions": (),
            "trace": (_entry("validate_evidence", started, detail),),
        }

    def after_validation(self, state: QuestionState) -> str:
        """`reflect` on a fault that has not been decided, `supervise` while steps can be done, else `synthesize`."""
        outcomes = state.get("outcomes", ())
        if len(outcomes) >= self.question_steps or is_late(state["deadline"]):
            return "synthesize"
        undecided = [item for item in open_faults(outcomes) if item.fault and not _is_decided(state, item)]
        if undecided:
            return "reflect"
        return "supervise" if ready_steps(state["plan"], outcomes) else "synthesize"

    def reflect(self, state: QuestionState) -> dict[str, Any]:
        """Decides on each open fault; revised steps go back to the supervisor."""
        started = _now()
        worker = self.sql_worker()
        has_model = worker.chat_model is not None and self.strategist.may_reflect(state["plan"])
        steps = {step.step_id: step for step in state["plan"].steps}
        revisions: list[Revision] = []
        decisions: list[str] = []
        notes: list[str] = []
        for outcome in open_faults(state.get("outcomes", ())):
            step, fault = steps[outcome.step_id], outcome.fault
            if fault is None or not isinstance(step, SqlStep) or _is_decided(state, outcome):
                continue
            by_model = step.metric_query is None and step.sql is None
            action = decide(fault, outcome.attempt, has_model=has_model, written_by_model=by_model)
            notes.append(_decision_key(outcome))
            decisions.append(f"{outcome.step_id}:{action.kind}")
            if action.kind == "stop" or outcome.attempt > self.max_retries:
                continue
            if fault.fault_class in ("unknown_table", "unknown_column"):
                self.refresh_schema()
            revised, repaired = step, ""
            if action.kind == "repair" and action.replace is not None and fault.sql is not None:
                repaired = f"{action.replace[0]} to {action.replace[1]}"
                sql = replace_name(fault.sql, *action.replace, dialect=worker.warehouse.dialect)
                revised = step.model_copy(update={"sql": sql, "metric_query": None})
            revisions.append(Revision(step=revised, attempt=outcome.attempt + 1, repaired=repaired))
        return {
            "revisions": tuple(revisions),
            "decided": tuple(notes),
            "trace": (_entry("reflect", started, {"decisions": decisions}),),
        }

    def after_reflection(self, state: QuestionState) -> str:
        """Back to the supervisor where something is to be done, else on."""
        more = state.get("revisions") or ready_steps(state["plan"], state.get("outcomes", ()))
        return "supervise" if more else "synthesize"

    def synthesize(self, state: QuestionState) -> dict[str, Any]:
        """Writes the claims: by code, and by the model too where it wrote a statement or code doubts its own quotes."""
        started = _now()
        evidence = state.get("evidence", Evidence())
        findings = state.get("findings", ())
        queries = _queries(state)
        draft = draft_answer(
            evidence.sql,
            evidence.passages,
            findings,
            queries,
            self.planner.spoken,
            state["plan"].question,
            {name: told_coverage(query, self.planner.semantic_model) for name, query in queries.items()},
        )
        usage = Usage()
        writer = "code"
        model = self.planner.chat_model
        if model is not None and draft.claims and _wants_model(state):
            try:
                written, usage = write_draft(
                    model, state["plan"].question, evidence.sql, evidence.passages, draft, state.get("feedback", "")
                )
                draft, writer = written, "model"
            except ModelFault as fault:
                # The claims that code wrote are true without a model; the fault is told in the trace.
                usage = getattr(fault, "usage", Usage(model_calls=1))
                writer = "code after a model fault"
            except BudgetExhausted:
                writer = "code, the budget of the model is used up"
        attempts = state.get("answer_attempts", 0) + 1
        detail = {"claims": len(draft.claims), "writer": writer, "attempt": attempts}
        return {
            "draft": draft,
            "answer_attempts": attempts,
            "usage": usage,
            "trace": (_entry("synthesize", started, detail),),
        }

    def evaluate(self, state: QuestionState) -> dict[str, Any]:
        """Judges each claim; the better of two answers stays."""
        started = _now()
        evidence = state.get("evidence", Evidence())
        question = state["request"].question
        claims, verdict = evaluate(state["draft"].claims, evidence.sql, evidence.passages, question)
        detail = {
            "claims": len(claims),
            "unsupported": len(verdict.unsupported_claims),
            "relevance": verdict.relevance,
            "citation_accuracy": verdict.citation_accuracy,
        }
        known = state.get("claims", ())
        kept_before = sum(claim.supported for claim in known)
        update: dict[str, Any] = {"trace": (_entry("evaluate", started, detail),)}
        if known and kept_before >= sum(claim.supported for claim in claims):
            return update  # a first answer is never replaced by one that is no better
        problems = [f"{claim.text} -- {claim.reason}" for claim in claims if not claim.supported]
        feedback = (
            "\nYour last answer had claims that the evidence does not carry:\n" + "\n".join(problems)
            if problems
            else ""
        )
        return update | {"claims": claims, "verdict": verdict, "judged_draft": state["draft"], "feedback": feedback}

    def after_evaluation(self, state: QuestionState) -> str:
        """Once more where a model's claims were refused and it may try again, else to the end."""
        again = (
            state["plan"].by_model
            and self.planner.chat_model is not None
            and self.max_retries > 0
            and any(not claim.supported for claim in state.get("claims", ()))
            and state.get("answer_attempts", 0) < MAX_ANSWER_ATTEMPTS
            and not is_late(state["deadline"])
        )
        return "synthesize" if again else "explain"

    def explain(self, state: QuestionState) -> dict[str, Any]:
        """Concludes: status, text, citations and the explanation in plain words."""
        started = _now()
        answer = conclude(state, out_of_time=is_late(state["deadline"]), max_steps=self.question_steps)
        answer = with_unread(answer, self.planner.unread)
        words = explain(
            state["plan"],
            state.get("outcomes", ()),
            state.get("findings", ()),
            state.get("claims", ()),
            state.get("usage", Usage()),
        )
        entry = _entry("explain", started, {"status": answer.status})
        trace = (*state.get("trace", ()), entry)
        timings: dict[str, float] = {}
        for item in trace:
            timings[item.node] = round(timings.get(item.node, 0.0) + item.ms, 3)
        final = answer.model_copy(update={"explanation": words, "trace": trace, "timings_ms": timings})
        return {"answer": final, "trace": (entry,)}


def _queries(state: QuestionState) -> dict[str, MetricQuery]:
    return {
        step.step_id: step.metric_query
        for step in (*state["plan"].steps, *state.get("filled", ()))
        if isinstance(step, SqlStep) and step.metric_query is not None
    }


def _wants_model(state: QuestionState) -> bool:
    """Whether a model says what was found beside code; a replay and a strategy without a model never ask one."""
    plan = state["plan"]
    if plan.by_model or state["request"].strategy != "auto" or plan.strategy == "replay":
        return plan.by_model
    return any(item.search is not None and item.search.detail.get("doubt") for item in state.get("outcomes", ()))


def _decision_key(outcome: StepOutcome) -> str:
    return f"{outcome.step_id}#{outcome.attempt}"


def _is_decided(state: QuestionState, outcome: StepOutcome) -> bool:
    return _decision_key(outcome) in state.get("decided", ())


def _now() -> tuple[datetime, float]:
    return datetime.now(UTC), time.perf_counter()


def _entry(node: str, started: tuple[datetime, float], detail: dict[str, Any]) -> TraceEntry:
    return TraceEntry(
        node=node, started_at=started[0], ms=round((time.perf_counter() - started[1]) * 1000, 3), detail=detail
    )
