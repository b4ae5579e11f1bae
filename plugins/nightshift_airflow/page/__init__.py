"""The page in Airflow: what the night brought, and the decisions that wait for a person."""
