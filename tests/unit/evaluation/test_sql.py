from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from rag_core.connectors.base import PLAIN, Decoding
from rag_core.datamodel.answer import Usage
from rag_core.datamodel.query import QueryResult, ResultColumn
from rag_core.evaluation.sql_questions import SqlQuestion, read_gold, sample_questions
from rag_core.evaluation.sql_runs import SqlScore, summarise_sql
from rag_core.evaluation.sql_systems import KeptReplies, OneStatement
from rag_core.workers.result_match import holds_result, same_result


def result(*rows: tuple[Any, ...]) -> QueryResult:
    width = len(rows[0]) if rows else 1
    return QueryResult(columns=tuple(ResultColumn(name=f"c{n}", type="text") for n in range(width)), rows=rows)


def test_rows_and_columns_may_come_in_any_order_unless_the_order_is_asked() -> None:
    gold = result(("a", 1), ("b", 2))
    assert same_result(gold, result((2, "b"), (1, "a")))
    assert not same_result(gold, result((2, "b"), (1, "a")), ordered=True)
    assert same_result(gold, result((1, "a"), (2, "b")), ordered=True)


def test_values_stay_with_their_row() -> None:
    assert not same_result(result(("a", 1), ("b", 2)), result(("a", 2), ("b", 1)))


@pytest.mark.parametrize(
    ("gold", "given", "same"),
    [
        (Decimal("2.50"), 2.5, True),
        (1, Decimal("1.00001"), True),
        (1, Decimal("1.001"), False),
        (date(2026, 1, 1), datetime(2026, 1, 1, tzinfo=UTC), True),
        (date(2026, 1, 1), datetime(2026, 1, 1, 1, tzinfo=UTC), False),
        ("x ", "x", True),
        ("x", "X", False),
        (None, 0, False),
        (True, 1, False),
    ],
)
def test_a_cell_is_the_same_whatever_its_type(gold: Any, given: Any, same: bool) -> None:
    assert same_result(result((gold,)), result((given,))) is same


def test_more_columns_hold_the_answer_and_are_not_it() -> None:
    gold, given = result(("a",), ("b",)), result(("a", 1), ("b", 2))
    assert holds_result(gold, given)
    assert not same_result(gold, given)
    assert not holds_result(given, gold)


def test_an_empty_result_is_only_an_empty_one() -> None:
    assert same_result(result(), result())
    assert not same_result(result(("a",)), result())


def test_a_gold_cell_holds_several_statements_and_choices_of_columns() -> None:
    cell = "SELECT {a, b}, n FROM t GROUP BY {}; SELECT a FROM u;"
    assert list(read_gold(cell)) == [
        "SELECT a, n FROM t GROUP BY a",
        "SELECT b, n FROM t GROUP BY b",
        "SELECT a, b, n FROM t GROUP BY a, b",
        "SELECT a FROM u",
    ]


def question(number: int, category: str, database: str = "d") -> SqlQuestion:
    return SqlQuestion(question_id=f"q{number:03}", database=database, category=category, text="?", gold=("SELECT 1",))


def test_a_sample_keeps_each_categorys_share_and_another_seed_draws_others() -> None:
    asked = [question(n, "a" if n < 60 else "b", "xy"[n % 2]) for n in range(90)]
    chosen = sample_questions(asked, 30)
    assert len(chosen) == 30
    assert sum(item.category == "a" for item in chosen) == 20
    assert {item.database for item in chosen} == {"x", "y"}
    assert [item.database for item in chosen] == sorted(item.database for item in chosen)
    other = sample_questions(asked, 30, seed=1)
    assert not {item.question_id for item in chosen} & {item.question_id for item in other}
    assert len(sample_questions(asked, 0)) == 90


def score(first: str, final: str, *, answerable: bool = True, system: str = "s") -> SqlScore:
    return SqlScore.model_validate(
        {
            "question_id": "q",
            "database": "d",
            "category": "c",
            "system": system,
            "answerable": answerable,
            "first": first,
            "final": final,
            "holds": final == "right",
            "repaired": "",
            "fault": "",
            "sql": "",
            "first_sql": "",
            "model_calls": 1,
            "tokens": 1,
            "seconds": 1.0,
        }
    )


def test_what_was_lost_is_counted_apart_from_what_was_won() -> None:
    scores = [
        score("right", "right"),
        score("failed", "right"),
        score("right", "wrong"),
        score("failed", "failed"),
        score("failed", "withheld"),
        score("wrong", "wrong", answerable=False),
        score("failed", "withheld", answerable=False),
    ]
    (row,) = summarise_sql(scores)
    assert (row["right"], row["failing"], row["withheld"], row["wrong"]) == (0.4, 0.2, 0.2, 0.2)
    assert (row["first_right"], row["first_failing"]) == (0.4, 0.6)
    assert (row["right_after_repair"], row["regressions"]) == (1, 1)
    assert (row["unanswerable"], row["abstained"]) == (2, 0.5)


class Counting:
    """A model that counts how often it is asked."""

    model_id = "counting"
    asked = 0

    def complete(
        self, system: str, user: str, output: type[BaseModel], decoding: Decoding = PLAIN
    ) -> tuple[Any, Usage]:
        self.asked += 1
        return output.model_validate({"sql_query": f"SELECT {len(user)}; "}), Usage(model_calls=1)


def test_a_reply_is_paid_for_once_even_after_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    model = Counting()
    kept = KeptReplies(model, path)
    first, _ = kept.complete("s", "question", OneStatement)
    path.write_text(path.read_text() + '{"key": "cut o')
    again = KeptReplies(model, path)
    second, usage = again.complete("s", "question", OneStatement)
    assert (first, model.asked, usage.model_calls) == (second, 1, 1)
    assert again.statements == ["SELECT 8"]
    again.complete("s", "another question", OneStatement)
    assert model.asked == 2
    KeptReplies(model, path).complete("s", "another question", OneStatement)
    assert model.asked == 2
