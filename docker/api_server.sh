#!/usr/bin/env bash
# Writes the login of Airflow's page and starts the api-server.
set -euo pipefail
python docker/write_login.py "$AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE"
exec airflow api-server
