"""What became of a strategy, from the final state of a question. Pure."""

from __future__ import annotations

from rag_core.graph.state import QuestionState
from rag_core.plans.fingerprint import question_key
from rag_core.plans.strategies import Choice, StrategyUse


def strategy_use(state: QuestionState, choice: Choice, milliseconds: float) -> StrategyUse:
    """The line of the log for a question that has ended.

    Reflection has helped where a step that a model was asked to mend brought something in the end; what code mended
    cost nothing and is not counted. Statements drawn besides a doubtful first one have helped where most agreed.
    """
    answer = state["answer"]
    outcomes = state.get("outcomes", ())
    asked_again = {item.step_id for item in outcomes if item.attempt > 1 and not item.repaired}
    helped = {item.step_id for item in outcomes if item.attempt > 1 and not item.repaired and item.fault is None}
    return StrategyUse(
        choice=choice,
        run_id=answer.run_id,
        question_id=answer.question_id or "",
        question_key=question_key(answer.question),
        model_calls=answer.usage.model_calls,
        tokens=answer.usage.prompt_tokens + answer.usage.completion_tokens,
        cost_usd=answer.usage.cost_usd,
        milliseconds=milliseconds,
        status=answer.status,
        reflected=bool(asked_again),
        reflection_helped=bool(helped),
        candidates=sum(item.candidates for item in outcomes),
        candidates_helped=any(item.agreeing > 1 for item in outcomes),
    )
