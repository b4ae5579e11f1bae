-- The store: `nightshift` holds what the product works with, `reports` what BI tools read.
CREATE EXTENSION IF NOT EXISTS vector;

CREATE SCHEMA IF NOT EXISTS nightshift;
CREATE SCHEMA IF NOT EXISTS reports;

COMMENT ON SCHEMA nightshift IS 'Working tables of Nightshift; not for BI tools';
COMMENT ON SCHEMA reports IS 'Published answers, evidence, checks and runs; read by BI tools';

CREATE TABLE nightshift.schema_migration (
    version integer PRIMARY KEY,
    name text NOT NULL,
    digest text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
);
