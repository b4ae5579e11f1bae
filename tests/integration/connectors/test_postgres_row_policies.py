"""Views over tables with row policies: whether rows are hidden depends on whose policies decide."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from rag_core.connectors.base import Warehouse
from rag_core.connectors.embedded import EmbeddedPostgres
from rag_core.connectors.warehouses import open_warehouse
from rag_core.policy.rules import Policy
from rag_core.policy.sql_guard import SqlGuard

pytestmark = pytest.mark.integration

# The table's owner sees all of it; the clerk, who owns a view too, and the reader see what the policy lets them.
SCHEMA = """
DROP ROLE IF EXISTS row_owner;
DROP ROLE IF EXISTS row_clerk;
DROP ROLE IF EXISTS row_reader;
CREATE ROLE row_owner;
CREATE ROLE row_clerk;
CREATE ROLE row_reader LOGIN;
GRANT USAGE, CREATE ON SCHEMA public TO row_owner, row_clerk, row_reader;
SET ROLE row_owner;
CREATE TABLE tenants (tenant text, v integer);
INSERT INTO tenants VALUES ('row_clerk', 1), ('row_reader', 2), ('row_reader', 3), ('other', 4);
ALTER TABLE tenants ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON tenants USING (tenant = current_user::text);
CREATE TABLE plain (v integer);
INSERT INTO plain VALUES (1), (2), (3), (4);
GRANT SELECT ON tenants, plain TO row_clerk, row_reader;
CREATE VIEW of_owner AS SELECT v FROM tenants;
CREATE VIEW of_plain AS SELECT v FROM plain;
CREATE VIEW of_invoker WITH (security_invoker = on) AS SELECT v FROM tenants;
CREATE VIEW over_invoker AS SELECT v FROM of_invoker;
CREATE VIEW invoker_over_invoker WITH (security_invoker) AS SELECT v FROM of_invoker;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO row_clerk, row_reader;
SET ROLE row_clerk;
CREATE VIEW of_clerk AS SELECT v FROM tenants;
CREATE VIEW over_owner AS SELECT v FROM of_owner;
GRANT SELECT ON of_clerk, over_owner TO row_reader;
RESET ROLE;
CREATE VIEW of_superuser AS SELECT v FROM tenants;
CREATE VIEW over_clerk AS SELECT v FROM of_clerk;
GRANT SELECT ON of_superuser, over_clerk TO row_reader;
"""


@pytest.fixture
def warehouse(pg_server: EmbeddedPostgres) -> Iterator[Warehouse]:
    pg_server.ensure_database("row_policies")
    with psycopg.connect(pg_server.dsn("row_policies"), autocommit=True) as connection:
        connection.execute(SCHEMA)
    opened = open_warehouse(pg_server.dsn("row_policies", "row_reader"))
    yield opened
    opened.close()
    with psycopg.connect(pg_server.dsn("row_policies"), autocommit=True) as connection:
        connection.execute("DROP OWNED BY row_owner, row_clerk, row_reader CASCADE")


def test_a_view_that_shows_some_rows_only_says_so(warehouse: Warehouse) -> None:
    catalog = warehouse.snapshot()
    guard = SqlGuard(Policy(version=1, schemas=("public",)), catalog)
    hidden, limited = set(), set()
    for table in catalog.tables:
        query = guard.check(f"SELECT count(*) AS n FROM {table.name}").query
        assert query is not None
        result = warehouse.execute(query)
        # The database itself is the judge: four rows are there.
        hidden |= {table.name} if result.rows[0][0] < 4 else set()
        limited |= {table.name} if result.row_limited else set()
    assert len(catalog.tables) == 11
    assert limited == hidden
    assert {"tenants", "of_invoker", "over_invoker", "invoker_over_invoker", "of_clerk", "over_clerk"} <= hidden
    assert not {"plain", "of_plain", "of_owner", "over_owner", "of_superuser"} & hidden
