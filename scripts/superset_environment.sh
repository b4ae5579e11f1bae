#!/usr/bin/env bash
# Makes the environment of the tests with real BI clients: Apache Superset, and DuckDB with its postgres extension.
# Usage: scripts/superset_environment.sh FOLDER, then TEST_SUPERSET_ENVIRONMENT=FOLDER for pytest (see docs/evaluation.md).
# An environment of its own, as Superset's pins do not go with Nightshift's. Packages come from pip's registry.
set -euo pipefail

if [ $# -ne 1 ]; then
  echo "usage: $0 FOLDER" >&2
  exit 2
fi
folder=$1
here=$(cd "$(dirname "$0")/.." && pwd)
uv="$here/.venv/bin/uv"
[ -x "$uv" ] || { echo "$uv is missing: run make setup first" >&2; exit 2; }

[ -x "$folder/bin/python" ] || "$uv" venv --quiet --python "$("$here/.venv/bin/python" -c 'import sys; print(sys._base_executable)')" "$folder"
# rich and cachetools are imported by Superset though not required by it; with a later flask-caching it does not start.
# DuckDB's extension is usually fetched from its own server; the package holds the same file for just this release.
"$uv" pip install --quiet --python "$folder/bin/python" \
  "apache-superset>=6.1,<6.2" "psycopg2-binary>=2.9" "rich" "cachetools" "flask-caching==2.3.1" \
  "duckdb==1.5.5" "duckdb-extension-postgres-scanner==1.5.5"
echo "made: TEST_SUPERSET_ENVIRONMENT=$folder"
