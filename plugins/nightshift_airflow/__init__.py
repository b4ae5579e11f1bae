"""The only Airflow-aware library code: the DAGs' defaults and context, the page, and the local server."""
