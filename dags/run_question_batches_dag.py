"""
### Question batches

One DAG for each file in `config/batches`. A run answers the batch's questions in groups, judges all results with Great
Expectations, publishes what passed to the schema `reports` and writes the HTML report. A file that cannot be scheduled
leaves the others alone: its DAG has the tag `broken`, says what is wrong and runs nothing.

Questions that a breaking schema change touches are paused. Where the batch file says `on_breaking_change: wait`, the
task `decide` asks a person (in Airflow under Required Actions) and `take_up` carries the decision out in the same run,
while the other questions are answered.
"""

from __future__ import annotations

from datetime import datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from airflow.providers.standard.operators.hitl import HITLOperator
from airflow.sdk import DAG, Asset, DeadlineAlert, DeadlineReference, Param, SyncCallback, task
from airflow.sdk.exceptions import AirflowException
from airflow.timetables.trigger import CronTriggerTimetable

from nightshift_airflow.defaults import (
    DECISIONS,
    DEFAULT_ARGS,
    QUESTIONS_A_GROUP,
    REPORTS_ASSET,
    BatchFile,
    BrokenBatchFile,
    asset_of,
    sort_batch_files,
)


@task
def start(batch_path: str, params: dict, **context: object) -> dict:
    from nightshift_airflow.context import open_context, run_date_of
    from nightshift_airflow.drift import request_of
    from rag_core.batch.definition import load_batch

    with open_context() as services:
        batch = load_batch(batch_path)
        run_date = run_date_of(services, context, params["run_date"], timezone=batch.timezone)
        run = services.batch_runner.start(batch, run_date, group_size=QUESTIONS_A_GROUP)
        return {"run_id": run.run_id, "groups": [list(group) for group in run.groups], **request_of(run.gate)}


@task
def groups_of(run: dict) -> list[dict]:
    return [{"run_id": run["run_id"], "question_ids": group} for group in run["groups"]]


@task
def answer(group: dict) -> dict:
    from nightshift_airflow.context import open_context

    with open_context() as services:
        return services.batch_runner.answer(group["run_id"], group["question_ids"])


@task
def held_of(run: dict) -> list[str]:
    return [run["message"]] if run["held"] else []


@task
def take_up(decision: dict, run: dict) -> dict:
    from nightshift_airflow.context import open_context
    from nightshift_airflow.drift import take_up as carry_out

    with open_context() as services:
        return carry_out(services, run, decision, DECISIONS)


# Groups and decisions of which there are none are skipped; a failed one fails the run.
@task(trigger_rule="none_failed")
def publish(run: dict) -> dict:
    from nightshift_airflow.context import open_context

    with open_context() as services:
        outcome = services.batch_runner.finish(run["run_id"])
        services.copy_reports(outcome)
        return outcome.model_dump(mode="json", exclude={"questions"})


# What people were told stays told: a second try reaches those whom the first did not.
@task(retries=3, retry_delay=timedelta(minutes=2))
def tell(run: dict) -> list[str]:
    from nightshift_airflow.context import open_context
    from nightshift_airflow.notices import tell_run

    with open_context() as services:
        return tell_run(services, run["run_id"])


@task(retries=0)
def explain(problem: str) -> None:
    from rag_core.errors import ConfigurationError

    raise ConfigurationError(problem)


def schedule_of(head: BatchFile) -> Any:
    if head.after:
        return [Asset(asset_of(source)) for source in head.after]
    if head.schedule is None:
        return None
    timetable = CronTriggerTimetable(head.schedule, timezone=head.timezone)
    timetable.validate()
    return timetable


def start_of(head: BatchFile) -> datetime | None:
    if head.catch_up_from is None:
        return None
    return datetime.combine(head.catch_up_from, time.min, tzinfo=ZoneInfo(head.timezone))


def deadline_of(head: BatchFile) -> DeadlineAlert | None:
    if head.deadline_minutes is None:
        return None
    # From the moment the run was queued: a manual run has no other, and a night that is caught up is not late at once.
    return DeadlineAlert(
        reference=DeadlineReference.DAGRUN_QUEUED_AT,
        interval=timedelta(minutes=head.deadline_minutes),
        callback=SyncCallback(
            "nightshift_airflow.notices.deadline_missed",
            kwargs={"batch_path": head.path, "minutes": head.deadline_minutes},
        ),
    )


def ask_person(head: BatchFile) -> HITLOperator:
    return HITLOperator.partial(
        task_id="decide",
        subject=f"{head.title}: the warehouse's schema changed",
        options=list(DECISIONS),
        defaults=[next(iter(DECISIONS))],
        params={
            "became": Param(
                default="",
                type="string",
                format="multiline",
                maxLength=10_000,
                title="What it became",
                description="For what replaced it: EVENT = schema.table.column, a line for each event not plain.",
            )
        },
        response_timeout=timedelta(minutes=head.decision_minutes),
        execution_timeout=None,
    )


def build_dag(head: BatchFile) -> DAG:
    with DAG(
        dag_id=head.dag_id,
        dag_display_name=head.title,
        schedule=schedule_of(head),
        # Without a day to catch up from there is no start: the first run is the next one, not yesterday's.
        start_date=start_of(head),
        catchup=head.catch_up_from is not None,
        deadline=deadline_of(head),
        max_active_runs=1,
        default_args={**DEFAULT_ARGS, "owner": head.owner},
        doc_md=f"### {head.title}\n\n{head.description}\n\nDefined in `config/batches/{head.batch}.yaml`.",
        tags=["nightshift", "batch"],
        params={
            "run_date": Param(
                default=None,
                type=["null", "string"],
                format="date",
                description="The date that relative times refer to; empty takes the run's own.",
            )
        },
    ) as built:
        run = start(head.path)
        answered = answer.expand(group=groups_of(run))
        published = publish.override(outlets=[Asset(REPORTS_ASSET.format(batch=head.batch))])(run)
        # While somebody is asked about the questions that a schema change touches, the others are answered.
        decided = ask_person(head).expand(body=held_of(run))
        [answered, take_up.partial(run=run).expand(decision=decided.output)] >> published
        if head.notifies:
            published >> tell(run)
    return built


def build_broken_dag(broken: BrokenBatchFile) -> DAG:
    with DAG(
        dag_id=broken.dag_id,
        schedule=None,
        default_args=DEFAULT_ARGS,
        doc_md=f"### Cannot be scheduled\n\n{broken.problem}\n\nCheck it with `nightshift batch validate`.",
        tags=["nightshift", "batch", "broken"],
    ) as built:
        explain(broken.problem)
    return built


batch_files, broken_files = sort_batch_files()
for batch_file in batch_files:
    try:
        globals()[batch_file.dag_id] = build_dag(batch_file)
    except (AirflowException, ValueError) as error:
        reason = f"{batch_file.batch}.yaml: the schedule {batch_file.schedule!r} in {batch_file.timezone}: {error}"
        broken_files.append(BrokenBatchFile(batch_file.path, reason))
for broken_file in broken_files:
    globals()[broken_file.dag_id] = build_broken_dag(broken_file)
