"""What a batch does about a schema change that touches its questions, on a real warehouse and store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from rag_core.batch.gate import BatchHeld, Gate, SchemaGate
from rag_core.batch.runner import BatchRunner
from rag_core.connectors.warehouses import open_warehouse
from rag_core.datamodel.drift import DriftRules
from rag_core.datamodel.question import Batch, Question
from rag_core.errors import ConfigurationError
from rag_core.schema.decisions import reject_events
from rag_core.schema.events import list_decisions, list_events
from tests.integration.schema.conftest import Playground
from tests.integration.schema.test_mend import World

pytestmark = pytest.mark.integration

RUN_DATE = date(2026, 7, 1)
PROFIT = Question(question_id="profit", text="What was profit last quarter?")
FREIGHT = Question(question_id="freight", text="What was freight last quarter?")
REBUILT = """
CREATE TABLE next (LIKE margins INCLUDING ALL);
INSERT INTO next SELECT * FROM margins;
ALTER TABLE next RENAME freight_cost TO {new};
DROP TABLE margins;
ALTER TABLE next RENAME TO margins;
"""


class Company(World):
    """The small company with a batch of two questions that was answered once, so that their plans are kept."""

    def __init__(self, playground: Playground, folder: Path) -> None:
        super().__init__(playground, folder)
        self.folder = folder
        self.outcome = self.run()
        assert self.states() == {"profit": "answered", "freight": "answered"}

    def batch(self, **head: Any) -> Batch:
        return Batch(batch="margins", title="Margins", owner="finance", questions=(PROFIT, FREIGHT), **head)

    def gate(self, rules: DriftRules | None = None) -> SchemaGate:
        return SchemaGate(self.playground.warehouse, self.playground.store, rules=rules or DriftRules())

    def runner(self, rules: DriftRules | None = None) -> BatchRunner:
        return BatchRunner(
            store=self.playground.store,
            orchestrator=lambda _: self.orchestrator(),
            reports_folder=self.folder,
            schema_gate=lambda: self.gate(rules),
        )

    def run(self, **head: Any) -> dict[str, str]:
        """One whole run; the answer's text of each question."""
        outcome = self.runner().run(self.batch(**head), RUN_DATE, publish=False)
        self.outcome = {item.question_id: item.answer for item in outcome.questions}
        self.status = {item.question_id: item.status for item in outcome.questions}
        return self.outcome

    def states(self) -> dict[str, str]:
        return dict(self.status)

    def events(self) -> dict[str, int]:
        """Numbers of the open events by kind."""
        return {event.change.kind: event.event_id for event in list_events(self.playground.store, state="open")}


@pytest.fixture
def company(playground: Playground, tmp_path: Path) -> Company:
    with playground.store.connection() as connection:
        connection.execute("TRUNCATE nightshift.batch_run CASCADE")
    return Company(playground, tmp_path)


def _held(gate: Gate) -> Sequence[str]:
    return [item.question_id for item in gate.held]


def test_just_the_touched_question_is_paused_with_a_reason(company: Company) -> None:
    company.playground.run("ALTER TABLE margins DROP freight_cost")
    company.playground.check()
    answers = company.run()
    assert company.states() == {"profit": "answered", "freight": "paused"}
    assert answers["freight"].startswith("Paused: column public.margins.freight_cost was removed, found on ")
    assert f"(event {company.events()['column_removed']})" in answers["freight"]


def test_proven_rename_pauses_nobody(company: Company) -> None:
    company.playground.run("ALTER TABLE margins RENAME profit_margin TO net_margin")
    company.playground.check()
    answers = company.run()
    assert company.states() == {"profit": "answered", "freight": "answered"}
    assert "net_margin has replaced it" in answers["profit"]


def test_changes_that_touch_no_question_of_the_batch_pause_nobody(company: Company) -> None:
    company.playground.run("ALTER TABLE regions DROP name; ALTER TABLE margins ADD note text")
    company.playground.check()
    company.run()
    assert company.states() == {"profit": "answered", "freight": "answered"}


def test_type_change_pauses_although_the_statement_would_still_run(company: Company) -> None:
    company.playground.run("ALTER TABLE margins ALTER freight_cost TYPE text")
    company.playground.check()
    answers = company.run()
    assert company.states() == {"profit": "answered", "freight": "paused"}
    assert "type changed (numeric(12,2) -> text)" in answers["freight"]


def test_accepted_change_frees_the_question_and_the_answer_is_honest(company: Company) -> None:
    company.playground.run("ALTER TABLE margins DROP freight_cost")
    company.playground.check()
    gate = company.gate().take_up(company.batch(), "accept", actor="ada")
    assert _held(gate) == []
    answers = company.run()
    assert company.states() == {"profit": "answered", "freight": "failed"}
    assert "freight_cost was removed" in answers["freight"]


def test_rejected_change_keeps_the_question_paused_until_it_is_undone(company: Company) -> None:
    company.playground.run("ALTER TABLE margins RENAME TO margins_old; CREATE TABLE margins (LIKE margins_old)")
    company.playground.run("ALTER TABLE margins DROP freight_cost")
    company.playground.check()
    reject_events(company.playground.store, [str(company.events()["column_removed"])], actor="ada")
    company.run()
    assert company.states()["freight"] == "paused"
    company.playground.run("DROP TABLE margins; ALTER TABLE margins_old RENAME TO margins")
    company.playground.check()
    company.run()
    assert company.states()["freight"] == "answered"


def test_batch_fails_where_its_file_says_so(company: Company) -> None:
    company.playground.run("ALTER TABLE margins DROP freight_cost")
    company.playground.check()
    runs = company.playground.rows("SELECT count(*) FROM nightshift.batch_run")
    with pytest.raises(BatchHeld, match="freight_cost was removed"):
        company.runner().start(company.batch(on_breaking_change="fail"), RUN_DATE)
    assert company.playground.rows("SELECT count(*) FROM nightshift.batch_run") == runs


def test_policy_file_decides_where_the_batch_file_is_silent(company: Company) -> None:
    company.playground.run("ALTER TABLE margins DROP freight_cost")
    rules = DriftRules(on_breaking="fail")
    company.playground.check(rules=rules)
    with pytest.raises(BatchHeld):
        company.gate(rules).look(company.batch())
    assert _held(company.gate(rules).look(company.batch(on_breaking_change="pause"))) == ["freight"]
    assert _held(company.gate(rules).look(company.batch(on_breaking_change="answer"))) == []


def test_waiting_batch_takes_the_decision_up_in_the_same_run(company: Company) -> None:
    """The likely successor is confirmed, and the question is answered from it with a note."""
    company.playground.run(REBUILT.format(new="freight_costs"))
    company.playground.check()
    runner = company.runner()
    run = runner.start(company.batch(on_breaking_change="wait"), RUN_DATE, publish=False)
    assert _held(run.gate) == ["freight"]
    assert run.groups == (("profit",),)
    assert "perhaps" in run.gate.message or "has probably replaced" in run.gate.message
    assert "touches `freight`" in run.gate.message
    runner.answer(run.run_id, run.groups[0])
    counts = runner.take_up(run.run_id, ["freight"], "replace", actor="ada")
    assert counts["answered"] == 1
    outcome = runner.finish(run.run_id)
    answers = {item.question_id: item.answer for item in outcome.questions}
    assert "freight_costs has replaced it" in answers["freight"]
    decision = list_decisions(company.playground.store)[0]
    assert (decision.decision, decision.actor) == ("accept", "ada")


def test_person_names_the_successor(company: Company) -> None:
    company.playground.run(REBUILT.format(new="haulage"))
    company.playground.check()
    event = company.events()["column_removed"]
    runner = company.runner()
    run = runner.start(company.batch(on_breaking_change="wait"), RUN_DATE, publish=False)
    with pytest.raises(ConfigurationError, match="no single likely successor"):
        runner.take_up(run.run_id, ["freight"], "replace", actor="ada")
    with pytest.raises(ConfigurationError, match="not one that this batch waits for"):
        runner.take_up(run.run_id, ["freight"], "replace", actor="ada", became="99 = public.margins.haulage")
    counts = runner.take_up(run.run_id, ["freight"], "replace", actor="ada", became=f"{event} = haulage")
    assert counts["answered"] == 1


def test_kept_questions_are_paused_rows_and_a_refused_batch_fails(company: Company) -> None:
    company.playground.run("ALTER TABLE margins DROP freight_cost")
    company.playground.check()
    runner = company.runner()
    run = runner.start(company.batch(on_breaking_change="wait"), RUN_DATE, publish=False)
    with pytest.raises(BatchHeld, match="ada decided"):
        runner.take_up(run.run_id, ["freight"], "fail", actor="ada")
    assert runner.take_up(run.run_id, ["freight"], "keep", actor="ada")["paused"] == 1
    runner.answer(run.run_id, ["profit"])
    states = {item.question_id: item.status for item in runner.finish(run.run_id).questions}
    assert states == {"profit": "answered", "freight": "paused"}
    assert company.events()  # nothing was decided


def test_batch_checks_the_schema_itself_where_nobody_did_of_late_or_it_changed_since(company: Company) -> None:
    def look(**rules: int) -> int:
        before = company.checks()
        assert _held(company.gate(DriftRules(**rules)).look(company.batch())) == held
        return company.checks() - before

    held: list[str] = []
    assert look() == 0
    assert look(max_age_minutes=0) == 1
    company.playground.run("ALTER TABLE margins DROP freight_cost")
    held = ["freight"]
    assert look() == 1
    assert look() == 0


def test_schema_that_cannot_be_checked_pauses_nobody(company: Company) -> None:
    company.playground.run("ALTER TABLE margins DROP freight_cost")
    nowhere = open_warehouse("postgresql://nobody@127.0.0.1:1/nothing")
    gate = SchemaGate(nowhere, company.playground.store, rules=DriftRules(max_age_minutes=0))
    found = gate.look(company.batch())
    nowhere.close()
    assert _held(found) == []
    assert found.note.startswith("The schema could not be checked before this run: ")


def test_mass_disappearance_that_is_held_pauses_nobody(company: Company) -> None:
    company.playground.run("".join(f"CREATE TABLE t{number} (id int);" for number in range(6)))
    company.playground.check()
    company.playground.run("".join(f"DROP TABLE t{number};" for number in range(6)))
    assert company.playground.check().status == "held"
    assert _held(company.gate().look(company.batch())) == []
