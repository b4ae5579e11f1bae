"""Verdicts, codes and words of the guard, kind by kind."""

from __future__ import annotations

import pytest

from rag_core.datamodel.query import GuardVerdict
from rag_core.policy.rules import (
    ColumnMask,
    ColumnRules,
    FunctionRules,
    JoinRule,
    JoinRules,
    Policy,
    RowFilter,
    TableRules,
)
from rag_core.policy.sql_guard import SqlGuard
from tests.warehouse_world import world, world_policy

GUARD = SqlGuard(world_policy(), world())
OPEN = SqlGuard(Policy(version=1, schemas=("public", "sales")), world())


def check(sql: str, **changes: object) -> GuardVerdict:
    return SqlGuard(world_policy(**changes), world()).check(sql)


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("WITH d AS (DELETE FROM orders RETURNING *) SELECT count(*) FROM d", "write_in_cte"),
        ("SELECT * INTO copied FROM orders", "select_into"),
        ("SELECT 1; DROP TABLE orders", "multiple_statements"),
        ("COMMIT; CREATE TABLE x(i int)", "multiple_statements"),
        ("SELECT id FROM orders FOR UPDATE", "row_lock"),
        ("EXPLAIN ANALYZE SELECT wr()", "not_a_query"),
        ("LISTEN c", "not_a_query"),
        ("SET statement_timeout = 0", "not_a_query"),
        ("COPY (SELECT 1) TO PROGRAM 'id'", "not_a_query"),
        ("/* x */ DELETE FROM orders", "write"),
        ("SELECT nextval('sq')", "function_not_allowed"),
        ("SELECT leak()", "function_not_allowed"),
        ("SELECT no_such_function(1)", "function_not_allowed"),
        ("SELECT lo_import('x')", "function_not_allowed"),
        ("TABLE secrets", "table_excluded"),
        ("SELECT total FROM orders", "column_excluded"),
        ("SELECT 1 FROM orders JOIN (SELECT 1 AS total) x USING (total)", "column_excluded"),
        ("SELECT token FROM hidden.vault", "schema_not_allowed"),
        ("SELECT * FROM pg_class", "catalog_closed"),
        ("SELECT * FROM information_schema.columns", "catalog_closed"),
        ("SELECT 1::regclass", "catalog_closed"),
        ("SELECT * FROM elsewhere.public.orders", "catalog_closed"),
        ("SELECT 1 FROM orders, nope", "unknown_table"),
        ("SELECT z.id FROM orders o", "unknown_table"),
        ("SELECT custmer_id FROM orders", "unknown_column"),
        ("SELECT x.total FROM (SELECT * FROM orders) x", "unknown_column"),
        ("SELECT id FROM orders o JOIN customers c ON o.customer_id = c.id", "ambiguous_column"),
        ("SELECT customer_id, max(id) AS s FROM orders GROUP BY customer_id HAVING s > 1", "alias_not_allowed"),
        ("SELECT id AS s FROM orders WHERE s > 1", "alias_not_allowed"),
        ('SELECT "ID" FROM orders', "quoting"),
        ("SELECT $1", "parameter"),
        ("SELECT a FROM", "syntax"),
        ("", "empty"),
        ("SELECT '" + "x" * 100_001 + "'", "too_long"),
    ],
)
def test_refusals_have_a_code_and_a_sentence(sql: str, code: str) -> None:
    verdict = GUARD.check(sql)
    assert (verdict.allowed, verdict.code, verdict.query) == (False, code, None), verdict.message
    assert len(verdict.message) > 10


@pytest.mark.parametrize(
    "sql",
    [
        "WITH secrets AS (SELECT 1 AS token) SELECT token FROM secrets",
        "SELECT json_build_object('a', id), age(created_at), make_date(2020, 1, 1), similarity('a', 'b') FROM orders",
        "SELECT cardinality(ARRAY[1]), jsonb_agg(id) FROM orders",
        "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY id) FROM orders",
        "SELECT count(*) FILTER (WHERE note IS NOT NULL) FROM orders",
        "SELECT DISTINCT ON (customer_id) * FROM orders ORDER BY customer_id, id",
        'SELECT "Order" FROM orders',
        "SELECT replace(note, 'a', 'b'), 'please DELETE FROM orders', \"update\" FROM orders",
        "WITH roles AS (SELECT id FROM orders UNION ALL SELECT id FROM customers), final AS (SELECT * FROM roles) "
        "SELECT * FROM final",
        "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 5) SEARCH DEPTH FIRST BY n SET o "
        "SELECT n FROM t ORDER BY o",
        "WITH summary (name, n) AS (SELECT note, count(*) FROM orders GROUP BY note) SELECT name FROM summary",
        "VALUES (1), (2)",
        "SELECT * FROM (VALUES (1, 'a')) AS v(n, t) WHERE t = 'a'",
        "-- why\nSELECT id FROM orders -- a note\n;",
        "SELECT x.a, x.b FROM orders, jsonb_to_recordset(payload) AS x(a int, b text)",
        "SELECT e ->> 'a' FROM orders, jsonb_array_elements(payload) e",
        "SELECT to_tsvector('english'::regconfig, note) FROM orders",
        "SELECT random(), gen_random_uuid(), clock_timestamp(), now(), current_date, current_user",
        'SELECT sales."OrderItem"."ItemId" FROM sales."OrderItem"',
        "SELECT id AS total FROM orders ORDER BY total",
        "SELECT date_trunc('month', created_at) AS m, count(*) FROM orders GROUP BY m ORDER BY (m)",
        "SELECT sum(id) OVER w FROM orders WINDOW w AS (PARTITION BY customer_id ORDER BY id)",
        "SELECT c.name FROM customers c WHERE EXISTS (SELECT 1 FROM orders WHERE customer_id = c.id)",
        "SELECT o.id FROM orders o, LATERAL (SELECT c.name FROM customers c WHERE c.id = o.customer_id) l",
        "SELECT id, name FROM orders JOIN customers USING (id)",
        'SELECT * FROM ((orders o JOIN customers c ON o.customer_id = c.id) JOIN sales."OrderItem" i ON true)',
        "SELECT public.orders.id FROM public.orders",
        "SELECT grouping(customer_id), count(*) FROM orders GROUP BY ROLLUP (customer_id)",
        "SELECT count(*) FROM orders HAVING count(*) > 1",
        "SELECT ROW(1, 2) = ROW(1, 2), (1, 2) < (2, 1), ARRAY[1, 2] && ARRAY[2], note ~* 'x' FROM orders",
        "SELECT $$DELETE FROM orders$$, E'a\\'b', U&'d\\0061t'",
        "SELECT extract(epoch FROM created_at), created_at AT TIME ZONE 'UTC', interval '3 days' FROM orders",
    ],
)
def test_honest_queries_are_allowed(sql: str) -> None:
    verdict = GUARD.check(sql)
    assert verdict.allowed, verdict.message
    assert verdict.query is not None
    assert GUARD.check(verdict.query.text).allowed, "what is run would not be let through again"


def test_tables_and_columns_are_told_as_the_catalog_spells_them() -> None:
    verdict = GUARD.check(
        'SELECT O.ID, i."Qty" FROM Orders O JOIN sales."OrderItem" i ON i."ItemId" = o.id WHERE customer_id > 1'
    )
    assert verdict.tables == ("public.orders", "sales.OrderItem")
    assert verdict.columns == (
        "public.orders.customer_id",
        "public.orders.id",
        "sales.OrderItem.ItemId",
        "sales.OrderItem.Qty",
    )


def test_a_name_that_lacks_its_quotes_is_told_with_them() -> None:
    verdict = GUARD.check("SELECT ItemId FROM sales.OrderItem")
    assert verdict.code == "quoting"
    assert verdict.suggestions == ('sales."OrderItem"."ItemId"', 'sales."OrderItem"')


def test_near_misses_are_proposed_with_their_likeness() -> None:
    verdict = GUARD.check("SELECT 1 FROM custmers")
    assert verdict.suggestions[0] == "public.customers"
    assert verdict.scores[0] > 0.8
    assert "did you mean public.customers?" in verdict.message
    assert "public.secret" not in str(GUARD.check("SELECT 1 FROM secretz")), "an excluded table must not be named"
    assert "total" not in str(GUARD.check("SELECT totl FROM orders")), "an excluded column must not be named"


def test_ambiguous_columns_name_their_tables() -> None:
    verdict = GUARD.check("SELECT id FROM orders JOIN customers ON true")
    assert verdict.message == "the column id is ambiguous: customers.id, orders.id"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM orders",
        "SELECT o FROM orders o",
        "SELECT orders FROM orders",
        "SELECT to_jsonb(o) FROM orders o",
        "SELECT (o).* FROM orders o",
        "SELECT x FROM orders AS x(a, b, c, d, e, f, g)",
        "SELECT * FROM orders NATURAL JOIN (SELECT 1 AS total) t",
        "SELECT * FROM ONLY orders TABLESAMPLE SYSTEM (50)",
        "SELECT j FROM (orders CROSS JOIN customers) j",
        "SELECT count(*) FROM orders",
        "SELECT public.orders.id FROM public.orders",
    ],
)
def test_a_table_with_a_hidden_column_becomes_what_may_be_seen(sql: str) -> None:
    query = GUARD.check(sql).query
    assert query is not None
    assert 'SELECT id, customer_id, note, created_at, "Order", "update", payload FROM' in query.text.replace(
        "ONLY ", ""
    )
    assert ".total" not in query.text
    assert "public.orders.total" not in query.columns


def test_without_hidden_columns_nothing_is_wrapped() -> None:
    query = OPEN.check("SELECT * FROM orders o -- keep").query
    assert query is not None
    assert query.text == "SELECT * FROM public.orders AS o"
    assert len(query.columns) == 8


def test_masked_columns_hold_no_value_anywhere() -> None:
    mask = ColumnRules(mask=(ColumnMask(column="public.customers.email", replace_with="(hidden)"),))
    query = check("SELECT email FROM customers WHERE email LIKE 'a%'", columns=mask).query
    assert query is not None
    assert "CAST('(hidden)' AS TEXT) AS email, country FROM public.customers" in query.text
    assert query.columns == ("public.customers.email",)
    nulls = ColumnRules(mask=(ColumnMask(column="*.orders.total"),))
    query = check("SELECT total FROM orders", columns=nulls).query
    assert query is not None
    assert "CAST(NULL AS DECIMAL(12, 2)) AS total" in query.text


def test_row_filters_hold_for_every_use_of_the_table() -> None:
    rules = (RowFilter(table="public.customers", where="country = 'SE' OR false"),)
    sql = "SELECT 1 FROM customers c WHERE c.id IN (SELECT id FROM customers)"
    query = check(sql, row_filters=rules).query
    assert query is not None
    assert query.text.count("FROM public.customers WHERE (country = 'SE' OR FALSE)") == 2
    filtered = check(sql, row_filters=rules).query
    assert filtered is not None
    assert filtered.row_limited == ("public.customers",)
    broken = (RowFilter(table="public.customers", where="tenant = 1"),)
    assert check(sql, row_filters=broken).code == "policy_error"


def test_views_over_hidden_data_are_hidden_unless_the_policy_names_them() -> None:
    for view in ("order_totals", "order_rows", "secret_view", "secret_matview"):
        assert GUARD.check(f"SELECT * FROM {view}").code == "table_excluded", view
    assert GUARD.check("SELECT * FROM order_ids").allowed
    named = TableRules(include=("*.*", "public.order_totals"), exclude=("public.secrets",))
    assert check("SELECT * FROM order_totals", tables=named).allowed
    assert OPEN.check("SELECT * FROM secret_view").allowed


def test_functions_follow_the_policys_lists() -> None:
    assert check("SELECT leak()", functions=FunctionRules(allow=("leak",))).allowed
    assert check("SELECT lower('A')", functions=FunctionRules(deny=("LOWER",))).code == "function_not_allowed"
    both = FunctionRules(allow=("leak",), deny=("leak",))
    assert check("SELECT leak()", functions=both).code == "function_not_allowed"


def test_a_policy_that_allows_nothing_lets_nothing_through() -> None:
    assert check("SELECT 1", schemas=()).code == "policy_empty"
    assert check("SELECT 1", tables=TableRules(include=())).code == "policy_empty"


@pytest.mark.parametrize(
    ("sql", "limit"),
    [
        ("SELECT id FROM orders LIMIT 20", 20),
        ("(SELECT id FROM orders LIMIT 20)", 20),
        ("SELECT id FROM orders FETCH FIRST 5 ROWS ONLY", 5),
        ("SELECT id FROM orders UNION SELECT id FROM customers LIMIT 3", 3),
        ("SELECT id FROM orders LIMIT 1000000 OFFSET 5", 1_000_000),
        ("SELECT id FROM orders LIMIT ALL", None),
        ("SELECT id FROM orders LIMIT (SELECT 5)", None),
        ("SELECT id FROM (SELECT id FROM orders LIMIT 5) s", None),
        ("VALUES (1), (2)", None),
    ],
)
def test_the_statements_own_limit_is_told(sql: str, limit: int | None) -> None:
    query = GUARD.check(sql).query
    assert query is not None
    assert query.own_limit == limit


def test_deep_nesting_ends_in_a_verdict() -> None:
    deep = "SELECT " + "(" * 3000 + "1" + ")" * 3000
    assert GUARD.check(deep).code in ("too_complex", "syntax")
    assert GUARD.check("SELECT 1 WHERE " + " AND ".join(["1 = 1"] * 400)).allowed


def test_another_dialect_is_translated_to_the_warehouses() -> None:
    verdict = GUARD.check("SELECT `id` FROM orders", "bigquery")
    assert verdict.query is not None
    assert (verdict.dialect, verdict.query.dialect) == ("bigquery", "postgres")
    assert verdict.query.text == 'SELECT "id" FROM (SELECT id, customer_id, note, created_at, "Order", "update", ' + (
        "payload FROM public.orders) AS orders"
    )
    assert GUARD.check("SELECT 1", "klingon").code == "unknown_dialect"


def test_the_visible_catalog_holds_what_questions_may_see() -> None:
    visible = GUARD.visible_catalog
    names = [table.qualified_name for table in visible.tables]
    assert names == ["public.orders", "public.customers", "public.order_ids", "sales.OrderItem"]
    orders = visible.table("public.orders")
    assert orders is not None
    assert orders.column("total") is None


def test_names_of_the_policy_that_match_nothing_are_told() -> None:
    rules = TableRules(exclude=("public.secrets", "public.secretz"))
    guard = SqlGuard(world_policy(tables=rules, schemas=("public", "nowhere")), world())
    assert guard.warnings() == (
        "schemas: nowhere is not there, or holds nothing that this role can see",
        "tables.exclude: public.secretz matches nothing that this role can see",
    )


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 FROM orders o JOIN customers c ON c.id = o.customer_id",
        "SELECT 1 FROM orders o, customers c WHERE (o.customer_id) = c.id",
        "SELECT 1 FROM orders WHERE customer_id IN (SELECT c.id AS x FROM customers c)",
        "SELECT 1 FROM customers c WHERE EXISTS (SELECT 1 FROM orders WHERE customer_id = c.id)",
    ],
)
def test_joins_that_need_approval_wait_for_it(sql: str) -> None:
    pair = ("public.orders.customer_id", 'public."customers".ID')
    rules = JoinRules(need_approval=(JoinRule(left=pair[0], right=pair[1]),))
    assert check(sql, joins=rules).code == "join_needs_approval"
    assert SqlGuard(world_policy(joins=rules), world(), approved_joins=[(pair[1], pair[0])]).check(sql).allowed
    assert check("SELECT 1 FROM orders o JOIN customers c ON c.id = o.id", joins=rules).allowed
    same = JoinRules(need_approval=(JoinRule(left="public.orders.id", right="public.customers.id"),))
    for joined in ("JOIN customers USING (id)", "NATURAL JOIN customers"):
        assert check(f"SELECT 1 FROM orders {joined}", joins=same).code == "join_needs_approval"


@pytest.mark.parametrize(
    "condition",
    [
        "lower(o.note) = lower(c.email)",
        "o.note::text = c.email",
        "o.note || '' = c.email",
        "coalesce(o.note, '') = coalesce(c.email, 'x')",
        "o.note IN (c.email, 'x')",
        "o.note = ANY(ARRAY[c.email])",
        "(o.note, 1) = (c.email, 1)",
        "o.note LIKE c.email",
        "o.note BETWEEN c.email AND c.email",
        "o.note >= c.email AND o.note <= c.email",
        "NOT o.note <> c.email",
        "o.note IS NOT DISTINCT FROM c.email",
        "CASE WHEN o.note = c.email THEN true END",
    ],
)
def test_no_form_of_a_join_gets_around_its_approval(condition: str) -> None:
    rules = JoinRules(need_approval=(JoinRule(left="public.orders.note", right="public.customers.email"),))
    for sql in (
        f"SELECT 1 FROM orders o JOIN customers c ON {condition}",
        f"SELECT {condition} FROM orders o, customers c",
    ):
        assert check(sql, joins=rules).code == "join_needs_approval", sql
    assert check("SELECT 1 FROM orders o, customers c WHERE o.note = 'a' AND c.email = 'b'", joins=rules).allowed


@pytest.mark.parametrize(
    ("condition", "forms"),
    [
        ("lower(o.note) = lower(c.email)", ("lower(joined_value)", "lower(joined_value)")),
        ("c.email = o.note::varchar", ("joined_value", "CAST(joined_value AS VARCHAR)")),
        ("trim(o.note) || '-' = c.email", ("joined_value", "TRIM(joined_value) || '-'")),
        ("o.note = c.email", None),
        ('o.note || o."update" = c.email', None),
        ('lower(o.note) = lower(o."update")', None),
        ("lower(o.note) = 'a'", None),
        ("o.id = (SELECT max(c2.id) FROM customers c2)", None),
    ],
)
def test_joins_on_expressions_are_told(condition: str, forms: tuple[str, str] | None) -> None:
    query = check(f"SELECT 1 FROM orders o JOIN customers c ON {condition}").query
    assert query is not None
    told = [(join.left_form, join.right_form) for join in query.expression_joins]
    assert told == ([forms] if forms is not None else [])
