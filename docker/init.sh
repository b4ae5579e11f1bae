#!/usr/bin/env bash
# Migrates Airflow's metadata and the store. Runs before every start; where nothing is pending it changes nothing.
set -euo pipefail
airflow db migrate
nightshift up
