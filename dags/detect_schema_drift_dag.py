"""
### Detect schema drift

Takes a snapshot of the warehouse's schema, compares it with the last one, records each difference as an event in
`nightshift.drift_event` and refreshes the cached schema. Runs before the nightly batches and emits the asset
`nightshift://warehouse-schema`.
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
    def detect() -> dict:
        from nightshift_airflow.context import open_context
        from rag_core.schema.drift import detect_drift
        from rag_core.semantics.lineage import model_lineage

        with open_context() as services:
            lineage = model_lineage(services.semantic_model)
            report = detect_drift(services.warehouse, services.store, rules=services.policy.drift, lineage=lineage)
            return {"snapshot_id": report.snapshot_id, "status": report.status, "changes": len(report.changes)}

    detect()


detect_schema_drift()
