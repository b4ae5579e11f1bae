"""From the final state to the answer: its status, its text and what it rests on. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rag_core.datamodel.answer import Answer, AnswerStatus, Claim, Usage, Verdict
from rag_core.datamodel.evidence import Passage
from rag_core.datamodel.plan import Plan, Step
from rag_core.graph.state import Evidence, QuestionState, Request
from rag_core.workers.asks import counted_noun
from rag_core.workers.outcome import Fault, StepOutcome, latest
from rag_core.workers.quotes import coverage
from rag_core.workers.subjects import unspoken
from rag_core.workers.synthesizer import Draft, cite, compose
from rag_core.workers.words import content_words, plain

# Of a question's words, the share that quotes must hold where the question seems to be after a figure.
MIN_COVERAGE = 0.75
NEAREST = "The documents that come closest hold no sentence that answers this."
NOTHING = Verdict(supported=False, relevance=0.0, citation_accuracy=0.0)


def conclude(state: QuestionState, *, out_of_time: bool, max_steps: int) -> Answer:
    """The answer without trace and explanation."""
    plan, evidence = state["plan"], state.get("evidence", Evidence())
    outcomes = latest(state.get("outcomes", ()))
    draft = state.get("judged_draft", Draft())
    claims = state.get("claims", ())
    kept = [claim for claim in claims if claim.supported]
    verdict = state.get("verdict", NOTHING)
    status: AnswerStatus
    exhausted = out_of_time or len(state.get("outcomes", ())) >= max_steps
    # Where the model only read along, what it says of doubtful passages makes them no surer.
    written = _written(draft, kept) if plan.by_model else set()
    asked_back = bool(plan.clarification) and plan.complexity == "simple" and _is_doubted(outcomes)
    doubtful = not written and (asked_back or _is_doubtful(plan, evidence, kept))
    if plan.clarification and (doubtful or not kept):
        status, text = "needs_clarification", plan.clarification
    elif not plan.steps or doubtful:
        status, text = ("no_evidence", NEAREST) if plan.by_model else ("needs_model", not_understood(plan))
    elif kept:
        status, notes = _status_of_found(plan, outcomes, kept, claims, evidence, written, exhausted)
        status = "partial" if draft.missing else status
        text = compose(draft, claims, notes)
    else:
        status, text = _status_of_nothing(plan, outcomes, claims, exhausted)
    said = status in ("answered", "partial")
    used = sorted({marker for claim in kept for marker in claim.markers} | _table_markers(draft, said))
    return _answer(state, status, text).model_copy(
        update={
            "claims": claims if said else tuple(claim for claim in claims if not claim.supported),
            "citations": cite(evidence.sql, evidence.passages, used) if said else (),
            "sql": evidence.sql,
            "documents": evidence.passages,
            "findings": state.get("findings", ()),
            "verdict": verdict if said else verdict.model_copy(update={"supported": False, "relevance": 0.0}),
            "headline_value": draft.headline_value if said else None,
            "headline_unit": draft.headline_unit if said else "",
        }
    )


def _is_doubtful(plan: Plan, evidence: Evidence, kept: Sequence[Claim]) -> bool:
    """Whether a question after a figure that was not understood got only quotes that may be of something else.

    Documents may answer it, where their quotes hold nearly every word of it.
    """
    if plan.complexity != "simple":
        return False
    used = {marker for claim in kept for marker in claim.markers}
    quoted = [passage for passage in evidence.passages if passage.marker in used]
    if any(item.marker in used for item in evidence.sql):
        return False
    if not (plan.unmatched or plan.clarification):
        return bool(quoted) and not _speaks_of(quoted, counted_noun(plan.question))
    return coverage(plan.question, quoted) < MIN_COVERAGE


def _is_doubted(outcomes: Sequence[StepOutcome]) -> bool:
    """Whether a search found quotes of which it is not sure."""
    return any(item.search is not None and item.search.detail.get("doubt") for item in outcomes)


def _answer(state: QuestionState, status: AnswerStatus, text: str) -> Answer:
    request, plan = state["request"], state["plan"]
    return Answer(
        question=request.question,
        question_id=request.question_id,
        run_date=request.run_date,
        status=status,
        text=text,
        strategy=plan.strategy if plan.steps else "none",
        query_type=plan.query_type,
        verdict=NOTHING,
        usage=state.get("usage", Usage()),
        plan_id=plan.plan_id,
        run_id=request.run_id,
    )


def _written(draft: Draft, kept: Sequence[Claim]) -> set[str]:
    """Markers that the chat model's claims cite, of those that were kept."""
    by_model = {(claim.text, claim.markers) for claim in draft.written}
    return {marker for claim in kept if (claim.text, claim.markers) in by_model for marker in claim.markers}


def _is_whole(step: Step, plan: Plan) -> bool:
    return plain(step.task.strip(" ?.")) == plain(plan.question.strip(" ?."))


def _table_markers(draft: Draft, said: bool) -> set[str]:
    return {block.table_marker for block in draft.blocks if block.table_marker} if said else set()


def _speaks_of(passages: Sequence[Passage], noun: str | None) -> bool:
    """Whether the passages hold the thing that the question counts; sentences on anything else count nothing."""
    if noun is None:
        return True
    text = " ".join(f"{item.title} {' '.join(item.heading_path)} {item.text}" for item in passages)
    return set(content_words(noun)) <= set(content_words(text))


def not_understood(plan: Plan) -> str:
    """What a person is told where nothing in the question could be placed."""
    if plan.unmatched:
        words = ", ".join(f'"{word}"' for word in plan.unmatched)
        return f"This needs a chat model. What was not understood: {words}."
    noun = counted_noun(plan.question)
    if noun is not None:
        return f'This needs a chat model. What was not understood: "{noun}".'
    return "This needs a chat model: no metric, dimension or document was recognised in the question."


def _status_of_found(
    plan: Plan,
    outcomes: Sequence[StepOutcome],
    kept: Sequence[Claim],
    claims: Sequence[Claim],
    evidence: Evidence,
    written: Collection[str],
    exhausted: bool,
) -> tuple[AnswerStatus, list[str]]:
    """`answered` where each step brought claims that hold and nothing was left out; else `partial`, and why.

    `written` are the markers that a chat model's kept claims cite: what it chose to say is not doubted as a quote is.
    """
    notes: list[str] = []
    used = {marker for claim in kept for marker in claim.markers}
    by_step = {item.step_id: item for item in outcomes}
    said = {item.step_id for item in evidence.sql if item.marker in used}
    said |= {item.step_id for item in evidence.passages if item.marker in used}
    # A step whose result went into one that is said needs no sentence of its own.
    said |= {name for step in plan.steps if step.step_id in said for name in step.depends_on}
    for step in plan.steps:
        outcome = by_step.get(step.step_id)
        if step.step_id in said:
            doubt = str(outcome.search.detail.get("doubt") or "") if outcome and outcome.search else ""
            if doubt and not any(item.marker in written for item in evidence.passages if item.step_id == step.step_id):
                notes.append(f'Not sure that this answers "{step.task}": {doubt}')
            continue
        if said and _is_whole(step, plan) and (step.kind == "search" or not plan.unmatched):
            continue  # the one question was asked of both sources, and the other answers it
        if step.kind == "search":
            notes.append(f"The documents say nothing on this: {step.task}")
        elif outcome is not None and outcome.fault is not None:
            notes.append(f"Not answered: {step.task} ({_reason(outcome.fault)})")
        elif outcome is not None and outcome.sql is not None and outcome.sql.result.rows:
            notes.append(f"Not answered: {step.task} (there is a result, and no sentence on it that it carries)")
        else:
            notes.append(f"The warehouse has nothing on this: {step.task}")
    if any(step.kind == "search" for step in plan.steps) and not any(step.kind == "sql" for step in plan.steps):
        quoted = [item for item in evidence.passages if item.marker in used]
        found = [passage for item in outcomes if item.search is not None for passage in item.search.passages]
        names = unspoken(plan.question, quoted, found)
        if names:
            notes.append(f"The passages do not mention {', '.join(names)}")
    if (
        plan.unmatched
        and not written
        and not any(item.marker in used for item in evidence.sql if item.strategy == "model")
    ):
        notes.append(f"Not understood: {', '.join(plan.unmatched)}")
    if exhausted:
        notes.append("The question's budget of time or steps was used up")
    removed = len(claims) - len(kept)
    partial = bool(notes) or removed > 0
    return ("partial" if partial else "answered"), notes


def _status_of_nothing(
    plan: Plan, outcomes: Sequence[StepOutcome], claims: Sequence[Claim], exhausted: bool
) -> tuple[AnswerStatus, str]:
    faults = [item.fault for item in outcomes if item.fault is not None]
    if faults and len(faults) == len(outcomes):
        return _status_of_fault(faults[0])
    if exhausted:
        return "failed", "The question's budget of time or steps was used up before anything was found."
    if faults:
        status, text = _status_of_fault(faults[0])
        return status, text
    if claims:
        return "no_evidence", f"Nothing that could be said was carried by the evidence: {claims[0].reason}."
    if any(item.sql is not None and item.sql.result.rows for item in outcomes):
        return "no_evidence", "There is a result, and no sentence on it that it carries."
    reasons = [item.search.reason for item in outcomes if item.search is not None and item.search.null_signal]
    if reasons:
        return "no_evidence", f"No document answers this ({reasons[0] or 'nothing in the index is close'})."
    if any(item.search is not None for item in outcomes):
        return "no_evidence", NEAREST
    return "no_evidence", f"The warehouse holds nothing on this: {plan.steps[0].task}."


def _status_of_fault(fault: Fault) -> tuple[AnswerStatus, str]:
    if fault.fault_class == "policy":
        return "refused", f"The policy does not allow this: {_reason(fault)}."
    if fault.fault_class == "empty":
        return "no_evidence", f"The warehouse holds nothing on this: {_reason(fault)}."
    if fault.fault_class == "needs_model":
        return "needs_model", f"This needs a chat model: {_reason(fault)}."
    return "failed", f"The question could not be answered: {_reason(fault)}."


def _reason(fault: Fault) -> str:
    return " ".join(fault.message.split()).rstrip(".")


def failed_answer(request: Request, reason: str) -> Answer:
    """The answer to a question that ended before its plan or its end."""
    return Answer(
        question=request.question,
        question_id=request.question_id,
        run_date=request.run_date,
        status="failed",
        text=f"The question could not be answered: {reason.rstrip('.')}.",
        strategy="none",
        query_type="none",
        verdict=NOTHING,
        explanation=f"The run of this question ended early: {reason.rstrip('.')}.",
        run_id=request.run_id,
    )


def with_unread(answer: Answer, dimensions: Sequence[str]) -> Answer:
    """An answer for which something was not understood, with the dimensions whose values the role may not read."""
    if answer.status != "needs_model" or not dimensions:
        return answer
    note = (
        f"This role may not read the values of {', '.join(dimensions)}: a word that is one of them is not recognised."
    )
    return answer.model_copy(update={"text": f"{answer.text} {note}"})


def without_model(answer: Answer, reason: str) -> Answer:
    """An answer that was found without the chat model because its budget is used up: says so."""
    note = f"The chat model was not asked ({reason})."
    told = {"explanation": f"{answer.explanation} {note}".strip()}
    if answer.status in ("needs_model", "partial", "failed", "no_evidence", "needs_clarification"):
        told["text"] = f"{answer.text} {note}"
    return answer.model_copy(update=told)
