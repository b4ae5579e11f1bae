"""
### Ingest documents

Finds the documents under the configured sources (`NIGHTSHIFT_INGESTION__SOURCES`), converts what is new or changed,
cuts it into chunks, embeds and stages them. An unchanged file costs nothing; a bad file is recorded with its reason
and the rest goes on. The pool `nightshift_embedding` bounds how many groups are embedded at the same time. Great
Expectations judges the new chunks; then the documents that passed are published, and only then searches find them. One
that did not pass stays as it was published last and is recorded with the reason. Emits the asset
`nightshift://documents`.
"""

from __future__ import annotations

from airflow.sdk import Asset, Param, dag, task

from nightshift_airflow.defaults import DEFAULT_ARGS, DOCUMENTS_A_GROUP, DOCUMENTS_ASSET, EMBEDDING_POOL


@dag(
    dag_id="ingest_documents",
    schedule="0 1 * * *",
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
    def plan(params: dict) -> dict:
        from ingestion.scheduled import plan_scheduled_ingest
        from nightshift_airflow.context import open_context

        with open_context() as services:
            return plan_scheduled_ingest(services, params["paths"], group_size=DOCUMENTS_A_GROUP)

    @task
    def groups_of(run: dict) -> list[dict]:
        return [{"run_id": run["run_id"], "group": group} for group in run["groups"]]

    @task(pool=EMBEDDING_POOL)
    def ingest(group: dict) -> int:
        from ingestion.scheduled import ingest_group
        from nightshift_airflow.context import open_context

        with open_context() as services:
            return ingest_group(services, group["run_id"], group["group"])

    # Where nothing has changed there is no group, and the mapped task counts as skipped.
    @task(trigger_rule="none_failed")
    def check(run: dict) -> dict:
        from ingestion.scheduled import check_scheduled_ingest
        from nightshift_airflow.context import open_context

        with open_context() as services:
            return check_scheduled_ingest(services, run["run_id"])

    @task(outlets=[Asset(DOCUMENTS_ASSET)])
    def publish(run: dict, params: dict) -> dict:
        from ingestion.scheduled import publish_scheduled_ingest
        from nightshift_airflow.context import open_context

        with open_context() as services:
            return publish_scheduled_ingest(services, run["run_id"], prune=params["prune"])

    run = plan()
    ingest.expand(group=groups_of(run)) >> check(run) >> publish(run)


ingest_documents()
