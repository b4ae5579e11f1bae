from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from rag_core.datamodel.evidence import SqlEvidence
from rag_core.datamodel.plan import SqlStep
from rag_core.datamodel.query import QueryResult, ResultColumn
from rag_core.errors import BudgetExhausted, ModelFault
from rag_core.workers.outcome import Fault, FaultClass, StepOutcome
from rag_core.workers.sql_candidates import NO_AGREEMENT, TEMPERATURE, choose, doubtful, settled
from rag_core.workers.sql_settle import MENDED_EMPTY
from rag_core.workers.sql_worker import SqlThought
from tests.question_world import ScriptedModel, open_world

STEP = SqlStep(step_id="s1", task="How many orders?")
DAY = date(2026, 7, 1)


def found(*rows: Any, sql: str = "", confidence: float = 1.0, repaired: str = "") -> StepOutcome:
    result = QueryResult(columns=(ResultColumn(name="n", type="bigint"),), rows=tuple((row,) for row in rows))
    evidence = SqlEvidence(marker="", step_id="s1", task="t", sql=sql, result=result, confidence=confidence)
    return StepOutcome(step_id="s1", sql=evidence, repaired=repaired)


def failed(fault_class: FaultClass = "unknown_column", code: str = "unknown_column") -> StepOutcome:
    return StepOutcome(step_id="s1", fault=Fault(fault_class=fault_class, code=code, message="no", sql="SELECT x"))


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (found(7), False),
        (found(7, repaired="column name: a to b"), True),
        (found(7, confidence=0.4), True),
        (found(), True),
        (found(None, 0), True),
        (failed(), True),
        (failed("empty", MENDED_EMPTY), True),
        (failed("policy", "function_not_allowed"), False),
        (failed("timeout", "timeout"), False),
        (failed("impossible", "no_table"), False),
    ],
)
def test_only_a_doubtful_first_statement_is_followed_by_others(outcome: StepOutcome, expected: bool) -> None:
    assert doubtful(outcome) is expected


def test_what_most_bring_is_taken_and_a_statement_that_ran_as_written_before_a_mended_one() -> None:
    drawn = [found(1, sql="a"), found(2, sql="b", repaired="x", confidence=0.6), found(2, sql="c")]
    taken = choose(drawn)
    assert taken.sql is not None
    assert (taken.sql.sql, taken.agreeing, taken.candidates) == ("c", 2, 3)
    assert taken.sql.confidence == pytest.approx(0.53)


def test_an_agreement_of_mended_statements_keeps_the_confidence_of_a_mended_one() -> None:
    taken = choose([found(2, sql="b", repaired="x", confidence=0.3), found(2, sql="c", repaired="y", confidence=0.6)])
    assert taken.sql is not None
    assert (taken.sql.sql, taken.sql.confidence) == ("b", 0.3)


@pytest.mark.parametrize("others", [[found(2), found(3)], [failed(), found(2)], [found(2), found(2), found(1)]])
def test_without_a_majority_the_first_one_stays_with_less_confidence(others: list[StepOutcome]) -> None:
    taken = choose([found(1, confidence=0.8), *others])
    assert taken.sql is not None
    assert (taken.sql.result.rows[0][0], taken.sql.confidence, taken.agreeing) == (1, 0.4, 1)


def test_without_a_majority_a_first_one_that_failed_is_no_answer() -> None:
    taken = choose([failed(), found(2), found(3)])
    assert taken.sql is None
    assert taken.fault is not None
    assert (taken.fault.fault_class, taken.fault.code, taken.fault.sql) == ("impossible", NO_AGREEMENT, "SELECT x")


def test_no_statement_is_drawn_that_could_change_nothing() -> None:
    assert settled([found(1), found(1)], 3)
    assert not settled([found(1), found(2)], 3)
    assert not settled([found(1), found(1)], 5)
    assert not settled([failed(), failed()], 3)


def thought(sql: str, confidence: float = 1.0) -> SqlThought:
    return SqlThought(sql_query=sql, explanation="", confidence=confidence)


def asked(folder: Path, *replies: Any, candidates: int = 3, **more: Any) -> tuple[StepOutcome, int, ScriptedModel]:
    model = ScriptedModel(SqlThought=replies)
    worker = open_world(folder, chat_model=model, candidates=candidates)._sql_worker()
    outcome, usage = worker.run(STEP, run_date=DAY, **more)
    return outcome, usage.model_calls, model


ALL = "SELECT COUNT(*) AS n FROM main.orders"
WRONG = "SELECT COUNT(*) AS n FROM main.orders WHERE total < 0"
MISSPELT = "SELECT COUNT(*) AS n FROM main.ordrs"


def test_a_first_statement_without_doubt_costs_one_call(tmp_path: Path) -> None:
    outcome, calls, model = asked(tmp_path, thought(ALL))
    assert (outcome.candidates, calls) == (0, 1)
    assert model.decodings[0].draw == 0


def test_two_that_agree_end_it_and_the_second_is_drawn_warm(tmp_path: Path) -> None:
    outcome, calls, model = asked(tmp_path, thought(MISSPELT), thought(ALL))
    assert outcome.sql is not None
    assert outcome.sql.sql.startswith("SELECT COUNT(*) AS n")
    assert (outcome.repaired, outcome.agreeing, outcome.candidates, calls) == ("", 2, 2, 2)
    assert [(item.draw, item.temperature) for item in model.decodings] == [(0, 0.0), (1, TEMPERATURE)]


def test_a_first_one_that_says_nothing_is_outvoted(tmp_path: Path) -> None:
    outcome, calls, _ = asked(tmp_path, thought(WRONG), thought(ALL), thought(f"{ALL} WHERE TRUE"))
    assert outcome.sql is not None
    assert (outcome.sql.result.rows[0][0] > 0, outcome.agreeing, calls) == (True, 2, 3)


def test_every_candidate_is_guarded_and_a_refused_or_malformed_one_has_no_vote(tmp_path: Path) -> None:
    outcome, calls, _ = asked(tmp_path, thought(MISSPELT), thought("SELECT * FROM main.secrets"), ModelFault("no JSON"))
    assert outcome.sql is not None
    assert outcome.repaired
    assert (outcome.agreeing, outcome.candidates, calls) == (1, 3, 3)
    assert outcome.sql.confidence <= 0.3


def test_a_refusal_of_the_policy_is_not_followed_by_other_statements(tmp_path: Path) -> None:
    outcome, calls, _ = asked(tmp_path, thought("SELECT pg_read_file('x') FROM main.orders"))
    assert outcome.fault is not None
    assert (outcome.fault.fault_class, calls) == ("policy", 1)


def test_an_empty_budget_judges_by_the_statements_that_there_are(tmp_path: Path) -> None:
    outcome, calls, _ = asked(tmp_path, thought(MISSPELT), BudgetExhausted("tokens"))
    assert outcome.sql is not None
    assert (outcome.candidates, outcome.agreeing, calls) == (0, 0, 1)


def test_a_question_whose_time_is_up_draws_nothing_more(tmp_path: Path) -> None:
    outcome, calls, _ = asked(tmp_path, thought(MISSPELT), late=lambda: True)
    assert (outcome.candidates, calls) == (0, 1)


def test_an_attempt_after_a_fault_and_a_single_candidate_draw_nothing(tmp_path: Path) -> None:
    assert asked(tmp_path, thought(MISSPELT), attempt=2)[0].candidates == 0
    assert asked(tmp_path, thought(MISSPELT), candidates=1)[0].candidates == 0
