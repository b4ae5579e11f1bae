#!/usr/bin/env bash
# Databases and roles of the compose file's PostgreSQL; its image runs this once, on an empty data folder.
# Each database has an owner of its own; the roles for questions and for BI tools may only read.
set -euo pipefail

admin=(psql -v ON_ERROR_STOP=1 --no-psqlrc -q -U "$POSTGRES_USER")

"${admin[@]}" -d postgres \
  -v nightshift="$STORE_PASSWORD" -v airflow="$AIRFLOW_DB_PASSWORD" -v warehouse="$WAREHOUSE_OWNER_PASSWORD" \
  -v reader="$READER_PASSWORD" -v bi="$BI_PASSWORD" <<'SQL'
CREATE ROLE nightshift LOGIN PASSWORD :'nightshift';
CREATE ROLE airflow LOGIN PASSWORD :'airflow';
CREATE ROLE warehouse_owner LOGIN PASSWORD :'warehouse';

CREATE ROLE nightshift_reader LOGIN PASSWORD :'reader' NOSUPERUSER NOCREATEDB NOCREATEROLE;
ALTER ROLE nightshift_reader SET default_transaction_read_only = on;
ALTER ROLE nightshift_reader SET statement_timeout = '120s';
ALTER ROLE nightshift_reader SET log_error_verbosity = 'terse';

CREATE ROLE nightshift_bi LOGIN PASSWORD :'bi' NOSUPERUSER NOCREATEDB NOCREATEROLE CONNECTION LIMIT 20;
ALTER ROLE nightshift_bi SET default_transaction_read_only = on;
ALTER ROLE nightshift_bi SET statement_timeout = '60s';
ALTER ROLE nightshift_bi SET idle_in_transaction_session_timeout = '60s';
ALTER ROLE nightshift_bi SET search_path = reports;

CREATE DATABASE nightshift OWNER nightshift;
CREATE DATABASE airflow OWNER airflow;
CREATE DATABASE warehouse OWNER warehouse_owner;
REVOKE CONNECT ON DATABASE nightshift, airflow, warehouse FROM PUBLIC;
GRANT CONNECT ON DATABASE warehouse TO nightshift_reader;
GRANT CONNECT ON DATABASE nightshift TO nightshift_bi;
SQL

# Only a superuser may install it; the store's own migrations then find it there.
"${admin[@]}" -d nightshift -c 'CREATE EXTENSION IF NOT EXISTS vector'
