"""
### Detect schema drift

Takes a snapshot of the warehouse's schema and of the document index and compares them with what was accepted. Each
difference becomes an event in `nightshift.drift_event`, with the questions, metrics and queries that it touches; kept
plans follow proven renames; owners are told once an event over the channels in `NIGHTSHIFT_ALERTS__CHANNELS`.

Runs before the nightly batches and emits the asset `nightshift://warehouse-schema`. A batch asks before it runs which
of its questions a breaking change touches, and pauses those, waits for a decision, or fails, as its file says.

- **detect** fails only where the store is gone. A snapshot that fails half-way is tried again; after that it is
  recorded as incomplete and compared with nothing.
- **tell** fails with the reason where the snapshot was incomplete, or is held because many tables vanished at once
  (confirm it with `nightshift drift accept EVENT`). No question is paused for either.
"""

from __future__ import annotations

from airflow.sdk import Asset, dag, task

from nightshift_airflow.defaults import DEFAULT_ARGS, SCHEMA_ASSET


@dag(
    dag_id="detect_schema_drift",
    schedule="30 1 * * *",
    catchup=False,
    max_active_runs=1,
    default_args=DEFAULT_ARGS,
    doc_md=__doc__,
    tags=["nightshift", "warehouse"],
)
def detect_schema_drift() -> None:
    @task(outlets=[Asset(SCHEMA_ASSET)])
    def detect(**context: object) -> dict:
        from nightshift_airflow.context import is_last_try, open_context
        from nightshift_airflow.drift import look

        with open_context() as services:
            return look(services, last_try=is_last_try(context))

    @task
    def repair(found: dict) -> dict:
        from nightshift_airflow.context import open_context
        from nightshift_airflow.drift import follow

        with open_context() as services:
            return follow(services, found)

    @task(trigger_rule="all_done")
    def tell(found: dict, **context: object) -> list[str]:
        from nightshift_airflow.context import open_context
        from nightshift_airflow.drift import tell as tell_owners

        with open_context() as services:
            return tell_owners(services, found, context)

    found = detect()
    repair(found) >> tell(found)


detect_schema_drift()
