"""Types that are tables count as the tables."""

from __future__ import annotations

import pytest

from rag_core.policy.sql_guard import SqlGuard
from tests.warehouse_world import world, world_policy

GUARD = SqlGuard(world_policy(), world())


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT NULL::secrets", "table_excluded"),
        ("SELECT NULL::public.secrets", "table_excluded"),
        ('SELECT NULL::"public"."secrets"', "table_excluded"),
        ("SELECT CAST(NULL AS SECRETS)", "table_excluded"),
        ("SELECT '{}'::secrets[]", "table_excluded"),
        ("SELECT '{}'::_secrets", "table_excluded"),
        ("SELECT CAST(ARRAY[NULL] AS public._secrets)", "table_excluded"),
        ("SELECT '(x)'::secrets", "table_excluded"),
        ("SELECT to_jsonb(NULL::secrets)", "table_excluded"),
        ("SELECT * FROM customers WHERE (NULL::secrets) IS NULL", "table_excluded"),
        ("SELECT * FROM jsonb_to_recordset('[]') AS t (a secrets)", "table_excluded"),
        ("SELECT NULL::secret_view", "table_excluded"),
        ("SELECT NULL::hidden.vault", "schema_not_allowed"),
        ("SELECT NULL::orders", "column_excluded"),
        ("SELECT to_jsonb(ROW(1, 2)::orders)", "column_excluded"),
        ("SELECT NULL::pg_authid", "catalog_closed"),
        ("SELECT NULL::pg_catalog.pg_authid", "catalog_closed"),
        ("SELECT NULL::pg_catalog._pg_authid", "catalog_closed"),
        ("SELECT NULL::information_schema.tables", "catalog_closed"),
        ("SELECT NULL::pg_temp.x", "catalog_closed"),
    ],
)
def test_types_of_hidden_tables_are_refused(sql: str, code: str) -> None:
    verdict = GUARD.check(sql)
    assert verdict.code == code, verdict


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT NULL::customers",
        "SELECT NULL::public.segment, '1'::pg_lsn, 1::pg_catalog.int4, 'a'::\"char\"",
        "SELECT '1'::int::text, '{1}'::int[], 1::numeric(5, 2), '2024-01-01'::timestamp with time zone, 'a'::name",
        'SELECT NULL::sales."OrderItem"',
    ],
)
def test_other_types_are_allowed(sql: str) -> None:
    verdict = GUARD.check(sql)
    assert verdict.allowed, verdict.message
