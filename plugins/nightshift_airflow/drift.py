"""The steps of the schema checks for Airflow: look, follow renames, tell owners, and take up what a person decided."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rag_core.errors import ConfigurationError, ServiceUnavailable

if TYPE_CHECKING:
    from rag_core.batch.gate import Choice, Gate
    from rag_core.wiring import Services

logger = logging.getLogger(__name__)

ACTOR = "airflow"
NOBODY = "nobody, in the time given"


def look(services: Services, *, last_try: bool) -> dict[str, Any]:
    """One check of the warehouse's schema and of the document index; counts and the questions it touches by batch.

    A snapshot that fails half-way is tried again: ServiceUnavailable is raised unless this is the last try.
    """
    from rag_core.batch.watch import readable_batches, watch_schema  # noqa: PLC0415 - heavy

    found = watch_schema(
        services.warehouse,
        services.store,
        rules=services.policy.drift,
        model=services.semantic_model,
        batches=readable_batches(services.config_path(services.settings.batch.folder)),
        actor=ACTOR,
        profiler=services.profiler,
    )
    report = found.warehouse
    if report.status == "incomplete" and not last_try:
        raise ServiceUnavailable(f"the snapshot of the warehouse's schema is incomplete: {report.reason}")
    severities = [change.severity for change in report.changes]
    return {
        "snapshot_id": report.snapshot_id,
        "status": report.status,
        "changes": len(report.changes),
        "breaking": severities.count("breaking"),
        "open_events": report.open_events,
        "documents": {"status": found.documents.status, "changes": len(found.documents.changes)},
        "questions": {batch: list(ids) for batch, ids in found.questions.items()},
        "problem": found.problem,
    }


def follow(services: Services, found: Mapping[str, Any]) -> dict[str, int]:
    """Repairs the kept plans that proven renames break; counts by outcome. Nothing is done where nothing changed."""
    from rag_core.batch.watch import follow_renames  # noqa: PLC0415 - heavy

    if found["status"] != "changed":
        return {}
    now = services.catalog_cache.current()
    plans, _, _ = follow_renames(services.store, services.warehouse, services.guard.check, now)
    outcomes = [plan.outcome for plan in plans]
    return {outcome: outcomes.count(outcome) for outcome in sorted(set(outcomes))}


def tell(services: Services, found: Mapping[str, Any], context: Mapping[str, Any]) -> list[str]:
    """Sends the alerts that are due over the configured channels, and returns them as `channel: owner`.

    Raises SchemaNotChecked at the end where the snapshot could not be compared, so that the run says so.
    """
    from rag_core.batch.watch import SchemaNotChecked  # noqa: PLC0415 - heavy
    from rag_core.schema.alerts import send_alerts  # noqa: PLC0415 - heavy

    sent = send_alerts(services.store, services.alert_channels(context))
    if found["problem"]:
        raise SchemaNotChecked(str(found["problem"]))
    return [f"{channel}: {alert.owner}" for channel, alert in sent]


def request_of(gate: Gate) -> dict[str, Any]:
    """What a run keeps of the questions that it holds: their ids, the events, and what a person is asked."""
    waits = bool(gate.held) and gate.policy == "wait"
    return {
        "held": [item.question_id for item in gate.held] if waits else [],
        "events": [event.event_id for event in gate.events] if waits else [],
        "message": gate.message if waits else "",
    }


def take_up(
    services: Services, run: Mapping[str, Any], decision: Mapping[str, Any], choices: Mapping[str, str]
) -> dict[str, Any]:
    """Carries out what a person chose in Airflow, in the run that waited for it; returns counts by status.

    A decision that cannot be carried out keeps the questions paused, and `problem` says why: the answers to the others
    are not lost for it. Fails the task for good where the person let the batch fail.

    Args:
        services: of this process.
        run: as `start` returned it, with `run_id`, `held` and `events`.
        decision: what Airflow's operator gives: `chosen_options`, `params_input` and `responded_by_user`.
        choices: Airflow's options as choices of the gate.
    """
    from airflow.sdk.exceptions import AirflowFailException  # noqa: PLC0415 - heavy

    from rag_core.batch.gate import BatchHeld  # noqa: PLC0415 - heavy

    chosen: Sequence[str] = decision["chosen_options"]
    if len(chosen) != 1 or chosen[0] not in choices:
        raise ConfigurationError(f"{', '.join(chosen) or 'nothing'} is no decision: choose one of {', '.join(choices)}")
    person = decision.get("responded_by_user") or {}
    choice: Choice = choices[chosen[0]]  # type: ignore[assignment]
    actor = str(person.get("name") or person.get("id") or NOBODY)
    became = str((decision.get("params_input") or {}).get("became") or "")
    runner, run_id, held, events = services.batch_runner, run["run_id"], run["held"], run["events"]
    try:
        return runner.take_up(run_id, held, choice, actor=actor, became=became, events=events)
    except BatchHeld as error:
        raise AirflowFailException(str(error)) from error
    except ConfigurationError as error:
        logger.warning("the decision of %s cannot be carried out: %s", actor, error)
        return {**runner.take_up(run_id, held, "keep", actor=actor, events=events), "problem": str(error)}
