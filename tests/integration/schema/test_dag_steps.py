"""The steps that the drift DAG and the batch DAGs wire, with real services and without Airflow's processes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from nightshift_airflow.defaults import DECISIONS
from nightshift_airflow.drift import follow, look, request_of, take_up, tell
from rag_core.batch.definition import load_batch
from rag_core.batch.gate import Gate, HeldQuestion
from rag_core.batch.watch import SchemaNotChecked, touched_questions
from rag_core.errors import ServiceUnavailable
from rag_core.schema.events import list_events
from rag_core.settings import AlertSettings, BatchSettings, Settings, StoreSettings, WarehouseSettings
from rag_core.wiring import Services
from tests.integration.schema.conftest import Playground
from tests.integration.schema.test_mend import MODEL, ROWS

pytestmark = pytest.mark.integration

BATCH = """\
title: Margins
owner: finance
on_breaking_change: wait
questions:
  - {question_id: profit, text: What was profit last quarter?}
  - question_id: freight
    text: What was freight last quarter?
    expectations:
      - {kind: not_null, column: freight}
"""


@pytest.fixture
def services(playground: Playground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    with playground.store.connection() as connection:
        connection.execute("TRUNCATE nightshift.batch_run CASCADE")
    playground.run(ROWS)
    (tmp_path / "batches").mkdir()
    (tmp_path / "batches" / "margins.yaml").write_text(BATCH, encoding="utf-8")
    (tmp_path / "batches" / "broken.yaml").write_text("title: [", encoding="utf-8")
    (tmp_path / "model.yaml").write_text(MODEL, encoding="utf-8")
    (tmp_path / "policy.yaml").write_text("version: 1\nschemas: [public]\ndrift: {max_age_minutes: 60}\n", "utf-8")
    (tmp_path / "told_by_test.py").write_text("seen = []\ntell = seen.append\n")
    monkeypatch.syspath_prepend(tmp_path)
    settings = Settings(
        home=tmp_path / "home",
        store=StoreSettings(dsn=SecretStr(playground.store.dsn)),
        warehouse=WarehouseSettings(
            dsn=SecretStr(playground.dsn), policy=tmp_path / "policy.yaml", semantic_model=tmp_path / "model.yaml"
        ),
        batch=BatchSettings(folder=tmp_path / "batches"),
        alerts=AlertSettings(channels=["callback"], callback="told_by_test:tell"),
        _env_file=None,  # type: ignore[call-arg]
    )
    with Services(settings) as opened:
        yield opened


def _again(services: Services) -> Services:
    """The services of another process: nothing is kept of the schema."""
    return Services(services.settings)


def _run(services: Services, **more: Any) -> dict[str, str]:
    batch = load_batch(services.settings.batch.folder / "margins.yaml")
    outcome = services.batch_runner.run(batch, date(2026, 7, 1), **more)
    return {item.question_id: item.status for item in outcome.questions}


def test_night_with_a_change(services: Services, playground: Playground) -> None:
    first = look(services, last_try=False)
    assert (first["status"], first["problem"], first["documents"]["status"]) == ("baseline", "", "baseline")
    assert follow(services, first) == {}
    assert _run(services) == {"profit": "answered", "freight": "answered"}
    playground.run("ALTER TABLE margins RENAME profit_margin TO net_margin; ALTER TABLE margins DROP freight_cost")
    with _again(services) as night:
        found = look(night, last_try=False)
        assert (found["status"], found["changes"], found["breaking"]) == ("changed", 2, 2)
        assert found["questions"] == {"margins": ["profit", "freight"]}
        assert follow(night, found) == {"follows_model": 1}
        sent = tell(night, found, {"run_id": "r1"})
        assert sent == ["callback: finance"] or "callback: finance" in sent
        assert tell(night, found, {"run_id": "r2"}) == []
        assert _run(night) == {"profit": "answered", "freight": "paused"}
    affected = [item for event in list_events(playground.store) for item in event.change.affected]
    assert ("expectation", "freight:not_null:freight", "finance") in [(a.kind, a.id, a.owner) for a in affected]


def test_incomplete_snapshot_is_tried_again_and_then_told(services: Services, playground: Playground) -> None:
    look(services, last_try=False)
    nowhere = services.settings.model_copy(
        update={
            "warehouse": services.settings.warehouse.model_copy(
                update={"dsn": SecretStr("postgresql://nobody@127.0.0.1:1/nothing")}
            )
        }
    )
    with Services(nowhere) as night:
        with pytest.raises(ServiceUnavailable, match="incomplete"):
            look(night, last_try=False)
        found = look(night, last_try=True)
        assert (found["status"], found["changes"], found["questions"]) == ("incomplete", 0, {})
        assert follow(night, found) == {}
        with pytest.raises(SchemaNotChecked, match="compared with nothing, so no question is paused"):
            tell(night, found, {"run_id": "r"})
    assert list_events(playground.store) == ()


def test_held_snapshot_is_told_and_touches_no_question(services: Services, playground: Playground) -> None:
    playground.run("".join(f"CREATE TABLE t{number} (id int);" for number in range(8)))
    look(services, last_try=False)
    _run(services)
    playground.run("".join(f"DROP TABLE t{number};" for number in range(8)))
    with _again(services) as night:
        found = look(night, last_try=False)
        assert (found["status"], found["questions"]) == ("held", {})
        with pytest.raises(SchemaNotChecked, match="nightshift drift accept"):
            tell(night, found, {"run_id": "r"})
        assert _run(night) == {"profit": "answered", "freight": "answered"}


def test_only_a_batch_that_waits_asks_a_person() -> None:
    held = (HeldQuestion(question_id="freight", events=(3,), reason="gone"),)
    assert request_of(Gate(policy="wait", held=held, message="m"))["held"] == ["freight"]
    for gate in (Gate(policy="pause", held=held, message="m"), Gate(policy="wait")):
        assert request_of(gate) == {"held": [], "events": [], "message": ""}


def test_nothing_changed_touches_nobody(playground: Playground) -> None:
    assert touched_questions(playground.store, (), ()) == {}


@pytest.mark.airflow
def test_decision_that_cannot_be_carried_out_keeps_the_questions_paused(
    services: Services, playground: Playground
) -> None:
    from airflow.sdk.exceptions import AirflowFailException

    look(services, last_try=False)
    _run(services)
    playground.run("ALTER TABLE margins DROP freight_cost")
    with _again(services) as night:
        look(night, last_try=False)
        batch = load_batch(night.settings.batch.folder / "margins.yaml")
        started = night.batch_runner.start(batch, date(2026, 7, 1))
        run = {"run_id": started.run_id, **request_of(started.gate)}
        assert run["held"] == ["freight"]

        def decide(option: str, **more: Any) -> dict[str, Any]:
            return take_up(night, run, {"chosen_options": [option], **more}, DECISIONS)

        options = {choice: option for option, choice in DECISIONS.items()}
        told = decide(options["replace"], responded_by_user={"id": "1", "name": "ada"})
        assert told["paused"] == 1
        assert "has no single likely successor" in told["problem"]
        assert decide(options["replace"], params_input={"became": "nonsense"})["paused"] == 1
        with pytest.raises(AirflowFailException):
            decide(options["fail"], responded_by_user={"name": "ada"})
        assert list_events(playground.store, state="open")
