#!/usr/bin/env bash
# Starts a Celery worker, where the scheduler hands tasks to Celery.
set -euo pipefail
if [[ "${AIRFLOW__CORE__EXECUTOR:-}" != *CeleryExecutor* ]]; then
  echo "worker: set AIRFLOW_EXECUTOR=CeleryExecutor in .env, else the scheduler runs the tasks itself" >&2
  exit 2
fi
exec airflow celery worker
