"""
### Ingest documents

Finds the documents under the configured sources (`NIGHTSHIFT_INGESTION__SOURCES`), converts what is new or changed,
cuts it into chunks, embeds and indexes them. An unchanged file costs nothing; a bad file is recorded with its reason
and the rest goes on. The new chunks are checked before the run succeeds. Emits the asset `nightshift://documents`.
"""

from __future__ import annotations

import pendulum
from airflow.sdk import Asset, Param, dag, task

from nightshift_airflow.defaults import DEFAULT_ARGS, DOCUMENTS_A_GROUP, DOCUMENTS_ASSET


@dag(
    dag_id="ingest_documents",
    schedule="0 1 * * *",
    start_date=pendulum.datetime(2026, 1, 1, tz="UTC"),
    catchup=False,
    max_active_runs=1,
    default_args=DEFAULT_ARGS,
    doc_md=__doc__,
    tags=["nightshift", "documents"],
    params={
        "paths": Param(
            default=[],
            type="array",
            items={"type": "string", "minLength": 1},
            description="Folders or files, one a line; empty takes the configured sources.",
        ),
        "prune": Param(default=False, type="boolean", description="Remove documents whose files are gone."),
    },
)
def ingest_documents() -> None:
    @task
    def discover(params: dict) -> list[dict]:
        from ingestion.pipeline import plan_scheduled_ingest
        from nightshift_airflow.context import open_context

        with open_context() as services:
            return plan_scheduled_ingest(services, params["paths"], prune=params["prune"], group_size=DOCUMENTS_A_GROUP)

    @task
    def ingest_group(group: dict) -> dict:
        from ingestion.pipeline import ingest_group as run
        from nightshift_airflow.context import open_context

        with open_context() as services:
            return run(services, group)

    @task(outlets=[Asset(DOCUMENTS_ASSET)])
    def check_and_finish(groups: list[dict], results: list[dict]) -> dict:
        from ingestion.pipeline import finish_scheduled_ingest
        from nightshift_airflow.context import open_context

        with open_context() as services:
            return finish_scheduled_ingest(services, groups, list(results))

    groups = discover()
    check_and_finish(groups, ingest_group.expand(group=groups))


ingest_documents()
