"""nightshift_airflow."""
