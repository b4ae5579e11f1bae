"""A local stand-in of the service that Snowflake's driver speaks to: login, statements, their state, their results.

Statements are translated to DuckDB and really run. The tables of INFORMATION_SCHEMA and the results of SHOW KEYS have
the columns that Snowflake documents; errors have Snowflake's numbers and words.
"""

from __future__ import annotations

import json
import re
import uuid
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import duckdb
import sqlglot
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers

from tests.contract.loopback import SHOP, Loopback, Statement

META = """
CREATE SCHEMA meta;
CREATE TABLE meta.columns AS SELECT * FROM (VALUES
('SHOP', 'THINGS', 'THING_ID', 'NUMBER', NULL, 38, 0, 'NO', 1, NULL, NULL),
('SHOP', 'THINGS', 'MAKER_ID', 'NUMBER', NULL, 38, 0, 'YES', 2, NULL, NULL),
('SHOP', 'THINGS', 'PRICE', 'NUMBER', NULL, 12, 2, 'YES', 3, NULL, 'In EUR.'),
('SHOP', 'THINGS', 'FEELING', 'TEXT', 10, NULL, NULL, 'YES', 4, NULL, NULL),
('SHOP', 'THINGS', 'MADE_AT', 'TIMESTAMP_LTZ', NULL, NULL, NULL, 'YES', 5, NULL, NULL),
('SHOP', 'THINGS', 'Mixed Name', 'TEXT', 16777216, NULL, NULL, 'YES', 6, '''x''', NULL),
('SHOP', 'MAKERS', 'MAKER_ID', 'NUMBER', NULL, 38, 0, 'NO', 1, NULL, NULL),
('SHOP', 'MAKERS', 'MAKER_NAME', 'TEXT', 16777216, NULL, NULL, 'NO', 2, NULL, NULL),
('SHOP', 'NUMBERS', 'N', 'NUMBER', NULL, 38, 0, 'YES', 1, NULL, NULL),
('SHOP', 'TENANTS', 'TENANT', 'TEXT', 16777216, NULL, NULL, 'YES', 1, NULL, NULL),
('SHOP', 'TENANTS', 'V', 'NUMBER', NULL, 38, 0, 'YES', 2, NULL, NULL),
('SHOP', 'EVENTS', 'EVENT_ID', 'NUMBER', NULL, 38, 0, 'YES', 1, NULL, NULL),
('SHOP', 'EVENTS', 'PAYLOAD', 'VARIANT', NULL, NULL, NULL, 'YES', 2, NULL, NULL),
('SHOP', 'DEAR', 'THING_ID', 'NUMBER', NULL, 38, 0, 'YES', 1, NULL, NULL),
('SHOP', 'DEAR', 'PRICE', 'NUMBER', NULL, 12, 2, 'YES', 2, NULL, NULL)
) AS c (table_schema, table_name, column_name, data_type, character_maximum_length, numeric_precision, numeric_scale,
is_nullable, ordinal_position, column_default, comment);
CREATE TABLE meta.tables AS SELECT * FROM (VALUES
('SHOP', 'THINGS', 'BASE TABLE', 3, 'Everything sold.'), ('SHOP', 'MAKERS', 'BASE TABLE', 2, ''),
('SHOP', 'NUMBERS', 'BASE TABLE', 100, NULL), ('SHOP', 'TENANTS', 'BASE TABLE', 3, NULL),
('SHOP', 'EVENTS', 'BASE TABLE', 2, NULL), ('SHOP', 'DEAR', 'VIEW', NULL, '')
) AS t (table_schema, table_name, table_type, row_count, comment);
CREATE TABLE meta.views AS SELECT 'SHOP' AS table_schema, 'DEAR' AS table_name,
'create or replace view shop.dear(thing_id, price) as SELECT thing_id, price FROM shop.things WHERE price > 100;'
AS view_definition;
CREATE TABLE meta.functions AS SELECT 'MINE' AS function_name, 'SHOP' AS function_schema;
ALTER TABLE shop.things RENAME mixed_name TO "Mixed Name";
CREATE TABLE meta.tenants AS SELECT * FROM (VALUES ('ANN', 1), ('BOB', 2), ('BOB', 3)) AS t (tenant, v);
CREATE VIEW shop.tenants AS SELECT * FROM meta.tenants WHERE tenant = getvariable('role');
CREATE TABLE shop.events AS SELECT * FROM (VALUES
(1, '{"kind": "sale", "amount": 10.10, "tags": ["a", "b"]}'::JSON), (2, NULL)) AS e (event_id, payload);
"""
KEY_COLUMNS = ("created_on", "database_name", "schema_name", "table_name", "column_name", "key_sequence",
               "constraint_name", "rely", "comment")  # fmt: skip
IMPORTED_COLUMNS = ("created_on", "pk_database_name", "pk_schema_name", "pk_table_name", "pk_column_name",
                    "fk_database_name", "fk_schema_name", "fk_table_name", "fk_column_name", "key_sequence",
                    "update_rule", "delete_rule", "fk_name", "pk_name", "deferrability", "rely", "comment")  # fmt: skip
SHOWN: dict[str, tuple[tuple[str, ...], list[tuple[Any, ...]]]] = {
    "PRIMARY": (
        KEY_COLUMNS,
        [("", "DB1", "SHOP", "MAKERS", "MAKER_ID", 1, "PK_M", "false", None),
         ("", "DB1", "SHOP", "THINGS", "THING_ID", 1, "PK_T", "false", None)],
    ),
    "UNIQUE": (KEY_COLUMNS, [("", "DB1", "SHOP", "MAKERS", "MAKER_NAME", 1, "UQ_M", "false", None)]),
    "IMPORTED": (
        IMPORTED_COLUMNS,
        [("", "DB1", "SHOP", "MAKERS", "MAKER_ID", "DB1", "SHOP", "THINGS", "MAKER_ID", 1, "NO ACTION", "NO ACTION",
          "FK_T", "PK_M", "NOT DEFERRABLE", "false", None)],
    ),
}  # fmt: skip
TYPES = {"INTEGER": "fixed", "BIGINT": "fixed", "HUGEINT": "fixed", "DECIMAL": "fixed", "DOUBLE": "real",
         "FLOAT": "real", "VARCHAR": "text", "BOOLEAN": "boolean", "DATE": "date", "TIMESTAMP": "timestamp_ntz",
         "TIMESTAMP WITH TIME ZONE": "timestamp_ltz", "JSON": "variant"}  # fmt: skip
# Words of DuckDB's message, and Snowflake's number, SQLSTATE and words for the same.
ERRORS = (
    ("Ambiguous reference", 2028, "42601", "SQL compilation error:\nambiguous column name 'MAKER_ID'"),
    ("not found in FROM clause", 904, "42000", "SQL compilation error: error line 1 at position 7\ninvalid identifier"),
    ("Table with name", 2003, "42S02", "SQL compilation error:\nObject 'NOPE' does not exist or not authorized."),
    ("must appear in the GROUP BY", 979, "42601", "SQL compilation error:\n[THINGS.MAKER_ID] is not a valid group by"),
    ("Scalar Function", 2140, "42601", "SQL compilation error:\nUnknown function NOPE"),
    ("Conversion Error", 100038, "22018", "Numeric value 'xone' is not recognized"),
    ("Parser Error", 1003, "42000", "SQL compilation error:\nsyntax error line 1 at position 12 unexpected 'WHERE'."),
    ("INTERRUPT", 604, "57014", "SQL execution canceled"),
)  # fmt: skip


class SnowflakeStandIn(Loopback):
    """Serves the database DB1 with the schema SHOP."""

    def __init__(self) -> None:
        self.database = duckdb.connect(":memory:")
        self.database.execute(SHOP + META)
        self.sessions: dict[str, dict[str, Any]] = {}
        self.statements: dict[str, Statement | tuple[tuple[str, ...], list[tuple[Any, ...]]]] = {}
        self.parameters: list[dict[str, Any]] = []
        self.aborted: list[str] = []
        super().__init__()

    @property
    def dsn(self) -> str:
        """URL for the adapter."""
        return f"snowflake://ann:secret@acme/DB1/SHOP?role=READER&host=127.0.0.1&port={self.port}&protocol=http"

    def answer(
        self, method: str, path: str, query: dict[str, str], headers: dict[str, str], body: dict[str, Any]
    ) -> tuple[int, dict[str, Any]]:
        """Routes a request as Snowflake's service does."""
        if path.startswith("/session/v1/login-request"):
            return 200, self._log_in(query, body["data"])
        parts = path.strip("/").split("/")
        if path == "/queries/v1/query-request":
            return 200, self._query(headers, body)
        if parts[0] == "monitoring":
            return 200, _done({"queries": [self._state(parts[-1])]})
        if parts[0] == "queries" and parts[-1] == "result":
            return 200, self._result(parts[1])
        if parts[0] == "queries" and parts[-1] == "abort-request" and len(parts) == 3 and parts[1] != "v1":
            self.aborted.append(parts[1])
            running = self.statements.get(parts[1])
            if isinstance(running, Statement):
                running.stop()
        return 200, _done(None)

    # ------------------------------------------------------------------ inside

    def _log_in(self, query: dict[str, str], data: dict[str, Any]) -> dict[str, Any]:
        if data.get("PASSWORD") != "secret":
            return {"data": None, "code": "390100", "message": "Incorrect username or password was specified.",
                    "success": False}  # fmt: skip
        token = uuid.uuid4().hex
        session = {str(key).upper(): value for key, value in data.get("SESSION_PARAMETERS", {}).items()}
        self.sessions[token] = {**session, "ROLE": query.get("roleName", "PUBLIC")}
        return _done(
            {
                "token": token,
                "masterToken": token,
                "sessionId": len(self.sessions),
                "validityInSeconds": 3600,
                "masterValidityInSeconds": 14400,
                "serverVersion": "9.40.0",
                "parameters": [{"name": "TIMEZONE", "value": session.get("TIMEZONE", "UTC")}],
                "sessionInfo": {"databaseName": "DB1", "schemaName": "SHOP", "roleName": query.get("roleName")},
            }
        )

    def _query(self, headers: dict[str, str], body: dict[str, Any]) -> dict[str, Any]:
        lowered = {key.lower(): value for key, value in headers.items()}
        session = self.sessions[lowered["authorization"].split('"')[1]]
        known = {key: value for key, value in session.items() if key != "TRANSACTION"}
        self.parameters.append({**known, **(body.get("parameters") or {})})
        identity = str(uuid.uuid4())
        try:
            self.statements[identity] = self._start(body["sqlText"], session)
        except sqlglot.errors.SqlglotError:
            return _failed(identity, "Parser Error")
        if body.get("asyncExec"):
            return {"data": {"queryId": identity, "getResultUrl": f"/queries/{identity}/result",
                             "queryAbortsAfterSecs": 300}, "code": "333334",
                    "message": "Asynchronous execution in progress.", "success": True}  # fmt: skip
        return self._result(identity)

    def _start(self, text: str, session: dict[str, Any]) -> Any:
        shown = re.match(r"SHOW (\w+) KEYS IN DATABASE", text)
        if shown is not None:
            return SHOWN[shown[1]]
        explained = text.removeprefix("EXPLAIN USING JSON ")
        if text in ("BEGIN", "COMMIT", "ROLLBACK"):
            # What a session writes in a transaction is seen by others at its end.
            cursor = session.setdefault("TRANSACTION", self.database.cursor())
            if text != "BEGIN":
                del session["TRANSACTION"]
            return Statement(cursor, text)
        tree = normalize_identifiers(sqlglot.parse_one(explained, read="snowflake"), dialect="snowflake")
        sql = tree.sql(dialect="duckdb")
        sql = re.sub(r"information_schema\.", "meta.", sql, flags=re.IGNORECASE)
        cursor = session.get("TRANSACTION") or self.database.cursor()
        cursor.execute(f"SET TimeZone = '{session.get('TIMEZONE', 'UTC')}'")
        cursor.execute(f"SET VARIABLE role = '{session['ROLE']}'")
        cursor.execute("SET search_path = 'shop'")
        if "CURRENT_DATABASE()" in text.upper():
            return ("DATABASE_NAME", "SCHEMA_NAME"), [("DB1", "SHOP")]
        if explained != text:
            try:
                cursor.execute("EXPLAIN " + sql)
            except duckdb.Error:
                return Statement(cursor, sql)
            plan = {"GlobalStats": {"partitionsTotal": 1, "partitionsAssigned": 1, "bytesAssigned": 4096},
                    "Operations": [[{"id": 0, "operation": "Result"}]]}  # fmt: skip
            return ("content",), [(json.dumps(plan),)]
        return Statement(cursor, sql)

    def _state(self, identity: str) -> dict[str, Any]:
        running = self.statements[identity]
        if not isinstance(running, Statement) or (running.done.is_set() and running.error is None):
            return {"id": identity, "status": "SUCCESS"}
        if not running.done.is_set():
            return {"id": identity, "status": "RUNNING"}
        number, _, words = _error(str(running.error))
        return {"id": identity, "status": "FAILED_WITH_ERROR", "errorCode": f"{number:06d}", "errorMessage": words}

    def _result(self, identity: str) -> dict[str, Any]:
        running = self.statements[identity]
        if isinstance(running, Statement):
            running.done.wait()
            if running.error is not None:
                return _failed(identity, str(running.error))
            columns = [_column(name, str(kind)) for name, kind, *_ in running.description]
            rows = running.rows
        else:
            columns = [_column(name, "VARCHAR") for name in running[0]]
            rows = running[1]
        cells = [[_cell(cell) for cell in row] for row in rows]
        return _done(
            {
                "queryId": identity,
                "parameters": [],
                "rowtype": columns,
                "rowset": cells,
                "total": len(cells),
                "returned": len(cells),
                "queryResultFormat": "json",
                "statementTypeId": 4096,
                "finalDatabaseName": "DB1",
                "finalSchemaName": "SHOP",
            }
        )


def _done(data: Any) -> dict[str, Any]:
    return {"data": data, "code": None, "message": None, "success": True}


def _error(message: str) -> tuple[int, str, str]:
    for words, number, state, told in ERRORS:
        if words in message:
            return number, state, told
    return 603, "XX000", message


def _failed(identity: str, message: str) -> dict[str, Any]:
    number, state, words = _error(message)
    data = {"errorCode": f"{number:06d}", "sqlState": state, "queryId": identity, "internalError": False}
    return {"data": data, "code": f"{number:06d}", "message": words, "success": False}


def _column(name: str, kind: str) -> dict[str, Any]:
    base, _, rest = kind.partition("(")
    sizes = [int(part) for part in re.findall(r"\d+", rest)]
    # DuckDB keeps the spelling of its own tables; an unquoted name is upper case in Snowflake.
    name = name.upper() if name.islower() else name
    answer = {"name": name, "database": "DB1", "schema": "SHOP", "table": "", "nullable": True, "type": TYPES[base],
              "byteLength": None, "length": None, "scale": None, "precision": None, "collation": None}  # fmt: skip
    if answer["type"] == "fixed":
        answer["precision"], answer["scale"] = sizes if base == "DECIMAL" else (38, 0)
    elif str(answer["type"]).startswith("timestamp"):
        answer["precision"], answer["scale"] = 0, 9
    elif answer["type"] == "text":
        answer["length"] = answer["byteLength"] = 16777216
    return answer


def _cell(value: Any) -> str | None:
    """A cell as Snowflake's JSON results write it: days and seconds since 1970 for dates and times."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, datetime):
        aware = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
        return f"{Decimal(str(aware.timestamp())):.9f}"
    if isinstance(value, date):
        return str((value - date(1970, 1, 1)).days)
    if isinstance(value, float):
        return {"nan": "NaN", "inf": "inf"}.get(str(value), repr(value))
    return str(value)
