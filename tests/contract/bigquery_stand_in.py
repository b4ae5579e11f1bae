"""A local stand-in of BigQuery's REST API, as far as the adapter uses it: jobs, their results, datasets.

Statements are translated to DuckDB and really run; the tables of INFORMATION_SCHEMA are made for the tests' dataset.
"""

from __future__ import annotations

import base64
import re
from datetime import UTC, date, datetime
from typing import Any

import duckdb
import sqlglot

from tests.contract.loopback import SHOP, Loopback, Statement

META = """
CREATE SCHEMA meta;
CREATE TABLE meta.TABLES AS SELECT 'shop' AS table_schema, 'things' AS table_name, 'BASE TABLE' AS table_type
UNION ALL SELECT 'shop', 'makers', 'BASE TABLE' UNION ALL SELECT 'shop', 'numbers', 'BASE TABLE'
UNION ALL SELECT 'shop', 'baskets', 'BASE TABLE' UNION ALL SELECT 'shop', 'dear', 'VIEW';
CREATE TABLE meta.TABLE_OPTIONS AS SELECT 'things' AS table_name, 'description' AS option_name,
'"Everything sold."' AS option_value UNION ALL SELECT 'makers', 'labels', '[]';
CREATE TABLE meta.__TABLES__ AS SELECT 'things' AS table_id, 3 AS row_count UNION ALL SELECT 'dear', 0;
CREATE TABLE meta.VIEWS AS SELECT 'shop' AS table_schema, 'dear' AS table_name,
'SELECT thing_id, price FROM `acme.shop.things` WHERE price > 100' AS view_definition;
CREATE TABLE meta.COLUMNS AS SELECT * FROM (VALUES
('things', 'thing_id', 'INT64', 'NO', 1, 'NULL', 'NEVER', 'NO', 'NO'),
('things', 'maker_id', 'INT64', 'YES', 2, 'NULL', 'NEVER', 'NO', 'NO'),
('things', 'price', 'NUMERIC(12, 2)', 'YES', 3, 'NULL', 'NEVER', 'NO', 'NO'),
('things', 'feeling', 'STRING', 'YES', 4, 'NULL', 'NEVER', 'NO', 'NO'),
('things', 'made_at', 'TIMESTAMP', 'YES', 5, 'NULL', 'NEVER', 'NO', 'YES'),
('things', 'mixedName', 'STRING', 'YES', 6, '''x''', 'NEVER', 'NO', 'NO'),
('makers', 'maker_id', 'INT64', 'NO', 1, 'NULL', 'NEVER', 'NO', 'NO'),
('makers', 'maker_name', 'STRING', 'NO', 2, 'NULL', 'NEVER', 'NO', 'NO'),
('numbers', 'n', 'INT64', 'YES', 1, 'NULL', 'NEVER', 'NO', 'NO'),
('baskets', 'basket_id', 'INT64', 'YES', 1, 'NULL', 'NEVER', 'NO', 'NO'),
('baskets', 'buyer', 'STRUCT<name STRING, city STRING>', 'YES', 2, 'NULL', 'NEVER', 'NO', 'NO'),
('baskets', 'items', 'ARRAY<STRUCT<sku STRING, count INT64>>', 'NO', 3, 'NULL', 'NEVER', 'NO', 'NO'),
('dear', 'thing_id', 'INT64', 'YES', 1, 'NULL', 'NEVER', 'NO', 'NO'),
('dear', 'price', 'NUMERIC(12, 2)', 'YES', 2, 'NULL', 'NEVER', 'NO', 'NO')
) AS c (table_name, column_name, data_type, is_nullable, ordinal_position, column_default, is_generated, is_hidden,
is_partitioning_column);
ALTER TABLE meta.COLUMNS ADD COLUMN generation_expression VARCHAR;
CREATE TABLE meta.COLUMN_FIELD_PATHS AS
SELECT 'things' AS table_name, 'price' AS field_path, 'In EUR.' AS description;
CREATE TABLE meta.KEY_COLUMN_USAGE AS SELECT * FROM (VALUES
('things', 'pk', 'thing_id', 1), ('makers', 'pk_m', 'maker_id', 1), ('things', 'fk', 'maker_id', 1)
) AS k (table_name, constraint_name, column_name, ordinal_position);
CREATE TABLE meta.TABLE_CONSTRAINTS AS SELECT * FROM (VALUES
('pk', 'PRIMARY KEY'), ('pk_m', 'PRIMARY KEY'), ('fk', 'FOREIGN KEY')) AS t (constraint_name, constraint_type);
CREATE TABLE meta.CONSTRAINT_COLUMN_USAGE AS SELECT * FROM (VALUES
('pk', 'shop', 'things', 'thing_id'), ('pk_m', 'shop', 'makers', 'maker_id'), ('fk', 'shop', 'makers', 'maker_id')
) AS u (constraint_name, table_schema, table_name, column_name);
CREATE TABLE meta.ROUTINES AS SELECT 'Mine' AS routine_name;
ALTER TABLE shop.things RENAME mixed_name TO "mixedName";
CREATE TABLE shop.baskets AS SELECT 1 AS basket_id, {'name': 'Ann', 'city': 'Turku'} AS buyer,
[{'sku': 'a', 'count': 2}, {'sku': 'b', 'count': 9007199254740993}] AS items;
"""
TYPES = {"INTEGER": "INTEGER", "BIGINT": "INTEGER", "HUGEINT": "INTEGER", "VARCHAR": "STRING", "DOUBLE": "FLOAT",
         "FLOAT": "FLOAT", "BOOLEAN": "BOOLEAN", "DATE": "DATE", "TIMESTAMP": "DATETIME", "BLOB": "BYTES",
         "TIMESTAMP WITH TIME ZONE": "TIMESTAMP"}  # fmt: skip
# Words of DuckDB's message, and BigQuery's for the same.
ERRORS = (
    ("Ambiguous reference", "Column name maker_id is ambiguous at [1:8]"),
    ("not found in FROM clause", "Unrecognized name: nope at [1:8]"),
    ("Table with name", "Not found: Table acme:shop.nope was not found in location EU"),
    ("must appear in the GROUP BY", "SELECT list expression references column maker_id which is neither grouped nor "
     "aggregated at [1:8]"),
    ("Scalar Function", "Function not found: nope at [1:42]"),
    ("Conversion Error", "Bad int64 value: xone"),
    ("duplicate", "Duplicate column names in the result are not supported when a destination table is present. Found "
     "duplicate(s): a"),
    ("Parser Error", "Syntax error: Unexpected keyword WHERE at [1:13]"),
)  # fmt: skip


class BigQueryStandIn(Loopback):
    """Serves one dataset `shop` of the project `acme` on loopback."""

    def __init__(self) -> None:
        self.database = duckdb.connect(":memory:")
        self.database.execute(SHOP + META)
        self.jobs: dict[str, dict[str, Any]] = {}
        self.cancelled: list[str] = []
        super().__init__()

    @property
    def dsn(self) -> str:
        """URL for the adapter."""
        return f"bigquery://acme/shop?api_endpoint={self.url}&maximum_bytes_billed=5000&location=EU"

    def answer(
        self, method: str, path: str, query: dict[str, str], headers: dict[str, str], body: dict[str, Any]
    ) -> tuple[int, dict[str, Any]]:
        """Datasets, a new job, a job's state, its rows, or its end."""
        parts = path.strip("/").split("/")
        if parts[-1] == "datasets":
            reference = {"datasetId": "shop", "projectId": "acme"}
            return 200, {"datasets": [{"id": "acme:shop", "datasetReference": reference}]}
        if parts[-1] == "cancel":
            self.cancelled.append(parts[-2])
            self.jobs[parts[-2]]["statement"].stop()
            return 200, {"job": self._resource(parts[-2])}
        if method == "POST":
            return self._begin(body)
        if "queries" in parts:
            return self._rows(parts[-1], query)
        return 200, self._resource(parts[-1])

    # ------------------------------------------------------------------ inside

    def _begin(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        configuration = body["configuration"]
        dry = bool(configuration.get("dryRun"))
        identity = body.get("jobReference", {}).get("jobId", f"job{len(self.jobs)}")
        cursor = self.database.cursor()
        zone = next((item["value"] for item in configuration["query"].get("connectionProperties", [])
                     if item["key"] == "time_zone"), "UTC")  # fmt: skip
        cursor.execute(f"SET TimeZone = '{zone}'")
        try:
            sql = self._translated(configuration["query"]["query"])
            # BigQuery compiles a statement before it makes a job of it, but not what a script does.
            if not sql.startswith("BEGIN"):
                cursor.execute("EXPLAIN " + sql)
        except (duckdb.Error, sqlglot.errors.SqlglotError) as error:
            return _refusal(str(error) if isinstance(error, duckdb.Error) else "Parser Error")
        self.jobs[identity] = {
            "configuration": configuration,
            "dry": dry,
            "statement": Statement(cursor, "SELECT 1" if dry else sql),
        }
        return 200, self._resource(identity)

    def _translated(self, text: str) -> str:
        local = re.sub(r"`acme`\.`shop`\.(?:INFORMATION_SCHEMA\.|(?=__))", "meta.", text)
        local = local.replace("`acme.shop.", "`shop.").replace("`acme`.shop.", "shop.")
        if local.startswith("BEGIN TRANSACTION;"):
            return "; ".join(part.sql(dialect="duckdb") for part in sqlglot.parse(local, read="bigquery") if part)
        tree = sqlglot.parse_one(local, read="bigquery")
        for kind in tree.find_all(sqlglot.exp.DataType):
            if kind.is_type("decimal") and not kind.expressions:
                kind.replace(sqlglot.exp.DataType.build("decimal(38, 9)"))
        names = [item.alias_or_name for item in getattr(tree, "selects", [])]
        if len(names) != len(set(names)):
            raise duckdb.BinderException("duplicate")
        return tree.sql(dialect="duckdb")

    def _resource(self, identity: str) -> dict[str, Any]:
        job = self.jobs[identity]
        running: Statement = job["statement"]
        status: dict[str, Any] = {"state": "DONE" if job["dry"] or running.done.is_set() else "RUNNING"}
        if running.done.is_set() and running.error is not None:
            status["errorResult"] = _words(str(running.error))
        return {
            "id": f"acme:EU.{identity}",
            "jobReference": {"projectId": "acme", "jobId": identity, "location": "EU"},
            "configuration": job["configuration"],
            "status": status,
            "statistics": {"totalBytesProcessed": "2048", "query": {"totalBytesProcessed": "2048"}},
        }

    def _rows(self, identity: str, query: dict[str, str]) -> tuple[int, dict[str, Any]]:
        running: Statement = self.jobs[identity]["statement"]
        reference = {"projectId": "acme", "jobId": identity, "location": "EU"}
        if not running.done.wait(min(float(query.get("timeoutMs", 1000)), 1000) / 1000):
            return 200, {"jobReference": reference, "jobComplete": False}
        if running.error is not None:
            return _refusal(str(running.error))
        kinds = [_field(str(name), kind) for name, kind, *_ in running.description]
        return 200, {
            "jobReference": reference,
            "jobComplete": True,
            "schema": {"fields": kinds},
            "totalRows": str(len(running.rows)),
            "rows": [
                {"f": [{"v": _cell(cell, kind)} for cell, kind in zip(row, kinds, strict=True)]} for row in running.rows
            ],
        }


def _field(name: str, kind: Any) -> dict[str, Any]:
    text = str(kind)
    if text.endswith("[]"):
        return {**_field(name, kind.children[0][1]), "mode": "REPEATED"}
    if text.startswith("STRUCT"):
        fields = [_field(child, inner) for child, inner in kind.children]
        return {"name": name, "type": "RECORD", "mode": "NULLABLE", "fields": fields}
    return {"name": name, "type": "NUMERIC" if text.startswith("DECIMAL") else TYPES[text], "mode": "NULLABLE"}


def _cell(value: Any, field: dict[str, Any]) -> Any:
    if field["mode"] == "REPEATED":
        return [{"v": _cell(item, {**field, "mode": "NULLABLE"})} for item in value or ()]
    if value is None:
        return None
    if field["type"] == "RECORD":
        return {"f": [{"v": _cell(value[inner["name"]], inner)} for inner in field["fields"]]}
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, datetime) and field["type"] == "TIMESTAMP":
        return str(round((value - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1_000_000))
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, float):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(str(value), repr(value))
    return str(value)


def _words(message: str) -> dict[str, Any]:
    words = next((told for known, told in ERRORS if known in message), message)
    return {"reason": "invalidQuery", "message": words, "location": "query"}


def _refusal(message: str) -> tuple[int, dict[str, Any]]:
    error = _words(message)
    return 400, {"error": {"code": 400, "message": error["message"], "errors": [error], "status": "INVALID_ARGUMENT"}}
