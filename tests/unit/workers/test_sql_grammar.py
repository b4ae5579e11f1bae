from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import pytest
import sqlglot

from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable
from rag_core.policy.rules import Policy
from rag_core.policy.sql_guard import SqlGuard
from rag_core.workers.sql_functions import FUNCTIONS, TYPES
from rag_core.workers.sql_grammar import MOST_CHARACTERS, alternatives, build_grammar
from tests.gbnf import Grammar


def table(name: str, *columns: str, schema: str = "public", readable: bool = True) -> CatalogTable:
    made = tuple(CatalogColumn(name=column, type="text") for column in columns)
    return CatalogTable(schema_name=schema, name=name, columns=made, readable=readable)


def catalog(*tables: CatalogTable, dialect: str = "postgres", path: tuple[str, ...] = ("public",)) -> Catalog:
    taken = datetime(2026, 1, 1, tzinfo=UTC)
    return Catalog(dialect=dialect, database="d", taken_at=taken, tables=tables, search_path=path)


SHOP = catalog(
    table("orders", "order_id", "customer_id", "ordered_on", "amount", "status"),
    table("customers", "customer_id", "name", "region", "Full Name"),
    table("secrets", "salary", readable=False),
)


def reply(sql: str) -> str:
    return json.dumps({"sql_query": sql, "explanation": "a sum", "confidence": 0.9}, ensure_ascii=False)


@pytest.fixture(scope="module")
def shop() -> Grammar:
    return Grammar(build_grammar("", SHOP, {}))


WRITTEN = (
    "SELECT COUNT(*) AS n FROM orders",
    "SELECT DISTINCT customers.region FROM public.customers ORDER BY customers.region ASC NULLS LAST LIMIT 10 "
    "OFFSET 5",
    "SELECT customers.name, SUM(orders.amount) AS revenue FROM orders JOIN customers ON orders.customer_id = "
    "customers.customer_id WHERE orders.status IN ('paid', 'sent') AND NOT orders.amount IS NULL GROUP BY "
    "customers.name HAVING SUM(orders.amount) > 100.5 ORDER BY revenue DESC LIMIT 3",
    "SELECT customers.\"Full Name\" FROM customers WHERE customers.\"name\" ILIKE '%o''neil%'",
    "WITH q1 AS (SELECT orders.customer_id AS who, COUNT(orders.order_id) AS n FROM orders GROUP BY "
    "orders.customer_id), q2 AS (SELECT AVG(q1.n) AS mean FROM q1) SELECT q1.who FROM q1 CROSS JOIN q2 WHERE q1.n"
    " > q2.mean",
    "SELECT q1.* FROM (SELECT orders.amount, RANK() OVER (PARTITION BY orders.customer_id ORDER BY orders.amount "
    "DESC) AS place FROM orders) AS q1 WHERE q1.place <= 3",
    "SELECT AVG(orders.amount) OVER (ORDER BY orders.ordered_on ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) FROM "
    "orders",
    "SELECT CASE WHEN orders.amount > 10 THEN 'high' ELSE 'low' END AS size, COUNT(*) FILTER (WHERE orders.status"
    " = 'paid') FROM orders GROUP BY orders.amount > 10",
    "SELECT DATE_TRUNC('month', orders.ordered_on) AS month FROM orders WHERE orders.ordered_on >= DATE "
    "'2026-01-01' AND orders.ordered_on < CURRENT_DATE - INTERVAL '1 year' AND EXTRACT(YEAR FROM "
    "orders.ordered_on) = 2025 GROUP BY DATE_TRUNC('month', orders.ordered_on)",
    "SELECT (SUM(CASE WHEN orders.status = 'paid' THEN 1 ELSE 0 END)::numeric / NULLIF(COUNT(*), 0)) * 100 FROM "
    "orders",
    "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY orders.amount) FROM orders",
    "SELECT STRING_AGG(DISTINCT customers.name, ', ' ORDER BY customers.name) FROM customers",
    "SELECT customers.name FROM customers JOIN (SELECT customers.region FROM customers WHERE customers.name = 'Ada') "
    "AS q1 ON customers.region = q1.region",
    "SELECT customers.name FROM customers WHERE EXISTS (SELECT orders.order_id FROM orders WHERE "
    "orders.customer_id = customers.customer_id) OR customers.customer_id NOT IN (SELECT orders.customer_id FROM "
    "orders)",
    "SELECT customers.name FROM customers UNION ALL SELECT orders.status FROM orders ORDER BY name",
    "SELECT ROUND(orders.amount::numeric(10,2), 1), CAST(orders.amount AS REAL) FROM orders",
    "SELECT CAST(orders.amount AS INTEGER) FROM orders WHERE orders.amount BETWEEN -5 AND 10 + 2",
)  # fmt: skip


@pytest.mark.parametrize("sql", WRITTEN)
def test_what_analysts_write_is_in_the_language_and_passes_the_guard(shop: Grammar, sql: str) -> None:
    far, complete = shop.reaches(reply(sql))
    assert complete, reply(sql)[far - 30 : far + 30]
    sqlglot.parse_one(sql, dialect="postgres")
    verdict = SqlGuard(Policy(version=1, schemas=("public",)), SHOP).check(sql)
    assert verdict.allowed, verdict.message


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM invoices",
        "SELECT COUNT(*) FROM orders JOIN invoices ON orders.order_id = 1",
        "SELECT orders.price FROM orders",
        "SELECT orders.name FROM orders",  # a column of another table
        "SELECT name FROM customers",  # of no table at all
        "SELECT o.amount FROM orders AS o",
        "SELECT SUM(orders.amounts) FROM orders",
        "SELECT customers_2.name FROM customers AS customers_2",
        "SELECT secrets.salary FROM secrets",
        "SELECT PG_READ_FILE('x') FROM orders",
        "SELECT orders.amount FROM orders; DROP TABLE orders",
        "DELETE FROM orders",
        "SELECT COUNT(*) FROM orders GROUP BY statsu",
        "SELECT 1",
    ],
)
def test_what_does_not_exist_or_may_not_be_is_not_in_the_language(shop: Grammar, sql: str) -> None:
    assert not shop.accepts(reply(sql))


def test_a_statement_cannot_leave_its_json(shop: Grammar) -> None:
    sql = "SELECT orders.amount FROM orders WHERE orders.status = '%s'"
    bare = '{"sql_query": "' + sql + '", "explanation": "", "confidence": 1.0}'
    assert shop.accepts(bare % "paid")
    for text in ('a"', "a\\", "a\n"):
        assert not shop.accepts(bare % text)


def test_tables_of_one_name_in_two_schemas_keep_their_columns_apart() -> None:
    two = catalog(table("orders", "amount", schema="shop"), table("orders", "weight", schema="depot"), path=())
    grammar = Grammar(build_grammar("", two, {}))
    assert grammar.accepts(reply("SELECT shop_orders.amount FROM shop.orders AS shop_orders"))
    assert grammar.accepts(reply("SELECT depot_orders.weight FROM depot.orders AS depot_orders"))
    assert not grammar.accepts(reply("SELECT shop_orders.weight FROM shop.orders AS shop_orders"))
    assert not grammar.accepts(reply("SELECT orders.weight FROM depot.orders"))


def test_names_that_need_quotes_are_quoted_within_the_json() -> None:
    odd = catalog(table("Order Lines", "Unit Price", "größe", 'say "hi"', "select"))
    grammar = Grammar(build_grammar("", odd, {}))
    for column in ('"Unit Price"', '"größe"', '"say ""hi"""', '"select"'):
        assert grammar.accepts(reply(f'SELECT "Order Lines".{column} FROM "Order Lines"')), column
    assert not grammar.accepts(reply('SELECT "Order Lines".unit FROM "Order Lines"'))


@pytest.mark.parametrize("dialect", FUNCTIONS)
def test_every_function_of_a_dialect_is_one_that_the_guard_lets_through(dialect: str) -> None:
    guard = SqlGuard(
        Policy(version=1, schemas=("main",)), catalog(table("t", "c", schema="main"), dialect=dialect, path=("main",))
    )
    mark = '"' if dialect == "snowflake" else ""
    source, column = f"{mark}main{mark}.{mark}t{mark}", f"{mark}c{mark}"
    arguments = ("{0}", "{0}, {0}", "{0}, {0}, {0}", "", "'day', {0}", "'day', {0}, {0}", "DAY, {0}, {0}", "{0}, DAY")
    for name in FUNCTIONS[dialect]:
        given = (form.format(column) for form in (*arguments, "{0}, INTERVAL 1 DAY"))
        assert any(guard.check(" ".join(("SELECT", f"{name}({some})", "FROM", source))).allowed for some in given), name
    assert set(TYPES) == set(FUNCTIONS)


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("duckdb", "SELECT MEDIAN(orders.amount) FROM main.orders"),
        ("redshift", "SELECT DATEDIFF('day', orders.amount, CURRENT_DATE) FROM main.orders"),
        ("bigquery", "SELECT DATE_TRUNC(orders.amount, MONTH) FROM main.orders WHERE orders.amount > INTERVAL 3 DAY"),
        ("snowflake", 'SELECT DATEDIFF(day, "orders"."amount", CURRENT_DATE) FROM "main"."orders"'),
    ],
)
def test_each_dialect_has_its_own_words(dialect: str, sql: str) -> None:
    other = catalog(table("orders", "amount", schema="main"), dialect=dialect, path=())
    if dialect == "snowflake":
        sql = sql.replace("(day,", "(DAY,")
    assert Grammar(build_grammar("", other, {})).accepts(reply(sql))


def test_a_wide_table_stays_bounded_and_a_place_has_few_ways_on() -> None:
    names = [f"measure_{number:04d}_{'abcdefgh'[number % 8] * 5}" for number in range(1_500)]
    text = build_grammar("", catalog(table("wide", *names)), {})
    assert len(text) < 3 * MOST_CHARACTERS
    grammar = Grammar(text)
    assert grammar.accepts(reply(f"SELECT wide.{names[777]} FROM wide"))
    assert not grammar.accepts(reply("SELECT wide.measure_9999 FROM wide"))
    (columns,) = [line for line in text.splitlines() if line.startswith("columns-1 ")]
    # A decoder keeps a state for each alternative: never more than there are next letters.
    assert _most_alternatives(columns.partition(" ::= ")[2]) <= 10


def _most_alternatives(body: str) -> int:
    counts, most = [1], 1
    for token in re.findall(r'"(?:\\.|[^"\\])*"|[()|]', body):
        if token == "(":
            counts.append(1)
        elif token == ")":
            most = max(most, counts.pop())
        elif token == "|":
            counts[-1] += 1
    return max(most, *counts)


def test_of_a_schema_that_is_too_large_what_speaks_for_the_task_is_kept() -> None:
    many = [
        table(f"archive_{number}", *(f"column_{number}_{at}_{'x' * 20}" for at in range(200))) for number in range(20)
    ]
    small = table("parcels", "parcel_id", "weight")
    text = build_grammar("What is the mean weight of our parcels?", catalog(*many, small), {})
    assert len(text) < 3 * MOST_CHARACTERS
    assert Grammar(text).accepts(reply("SELECT AVG(parcels.weight) FROM parcels"))


def test_a_schema_without_columns_has_no_grammar_and_the_same_schema_always_the_same() -> None:
    assert build_grammar("", catalog(table("hidden", "salary", readable=False)), {}) == ""
    assert build_grammar("one", SHOP, {}) == build_grammar("another", SHOP, {})


def test_words_share_their_beginnings() -> None:
    assert alternatives({"day": "", "days": "", "month": ""}) == '"day" ("s")? | "month"'
    assert alternatives({"a.": "columns-1", "ab.": "columns-2"}) == '"a" ("." columns-1 | "b." columns-2)'
