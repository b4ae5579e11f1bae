from __future__ import annotations

import pytest

from rag_core.plans.strategies import StrategyStats, choose, reflection_helps

CLASS = "figures, one part, partly understood"


def stats(strategy: str, uses: int, good: float, calls: float, **more: int) -> StrategyStats:
    return StrategyStats(
        question_class=CLASS,
        strategy=strategy,
        uses=uses,
        score=good * uses,
        model_calls=calls,
        tokens=calls * 1000,
        milliseconds=10,
        **more,
    )


def test_rules_decide_until_enough_is_known() -> None:
    choice = choose(CLASS, ("model", "metric"), [stats("model", 50, 0.1, 3), stats("metric", 7, 1.0, 0)], "why")
    assert (choice.strategy, choice.why) == ("model", "rule: why")
    assert choice.expected_model_calls == 3


@pytest.mark.parametrize(
    ("model", "metric", "chosen"),
    [
        (stats("model", 20, 0.2, 3), stats("metric", 20, 0.5, 0), "metric"),
        (stats("model", 20, 0.5, 3), stats("metric", 20, 0.5, 0), "metric"),
        (stats("model", 20, 0.6, 3), stats("metric", 20, 0.5, 0), "model"),
        (stats("model", 20, 0.45, 0), stats("metric", 20, 0.5, 0), "model"),
    ],
)
def test_the_better_way_is_taken_and_of_two_alike_the_cheaper(
    model: StrategyStats, metric: StrategyStats, chosen: str
) -> None:
    choice = choose(CLASS, ("model", "metric"), [model, metric], "why")
    assert choice.strategy == chosen
    assert choice.why.startswith("rule" if chosen == "model" else "learned: metric did well in 50% of 20 uses")


def test_other_classes_say_nothing() -> None:
    known = [stats("model", 50, 0, 1), stats("metric", 50, 1, 1)]
    others = [item.model_copy(update={"question_class": "x"}) for item in known]
    choice = choose(CLASS, ("model", "metric"), others, "why")
    assert choice.strategy == "model"
    assert choice.expected_tokens == 4_500


def test_reflection_is_left_out_where_it_never_helped() -> None:
    assert reflection_helps(CLASS, [stats("model", 9, 0.5, 3, reflected=7)])
    assert not reflection_helps(CLASS, [stats("model", 90, 0.5, 3, reflected=30, reflection_helped=2)])
    assert reflection_helps(CLASS, [stats("model", 90, 0.5, 3, reflected=30, reflection_helped=3)])
