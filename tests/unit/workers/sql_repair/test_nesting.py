from __future__ import annotations

import pytest

from rag_core.workers.outcome import Fault, FaultClass
from rag_core.workers.sql_repair.mender import mend_statement
from rag_core.workers.sql_repair.shape import Shape

WINDOW = "window functions are not allowed in WHERE"
NESTED = "aggregate function calls cannot be nested"
IN_WHERE = "aggregate functions are not allowed in WHERE"
MANY = "subquery has too many columns"


def fault(message: str, fault_class: FaultClass = "syntax") -> Fault:
    return Fault(fault_class=fault_class, code=fault_class, message=message)


@pytest.mark.parametrize(
    ("message", "sql", "mended"),
    [
        (
            WINDOW,
            "SELECT bid, RANK() OVER (ORDER BY amount DESC) AS r FROM sales "
            "WHERE RANK() OVER (ORDER BY amount DESC) <= 3 AND amount > 1 ORDER BY r LIMIT 5",
            "SELECT bid, r FROM (SELECT bid, RANK() OVER (ORDER BY amount DESC) AS r FROM sales WHERE amount > 1) "
            "AS _t WHERE r <= 3 ORDER BY r LIMIT 5",
        ),
        (
            WINDOW,
            "SELECT s.bid FROM sales s WHERE ROW_NUMBER() OVER (ORDER BY s.amount DESC) <= 3 ORDER BY s.bid",
            "SELECT bid FROM (SELECT s.bid, ROW_NUMBER() OVER (ORDER BY s.amount DESC) AS _w FROM sales AS s) AS _t "
            "WHERE _w <= 3 ORDER BY bid",
        ),
        (
            NESTED,
            "SELECT AVG(COUNT(id)) AS mean FROM sales WHERE amount > 1 GROUP BY bid",
            "SELECT AVG(of_group_1) AS mean FROM (SELECT COUNT(id) AS of_group_1 FROM sales WHERE amount > 1 "
            "GROUP BY bid) AS by_group",
        ),
        (
            IN_WHERE,
            "SELECT title FROM book WHERE printed > AVG(printed)",
            "SELECT title FROM book WHERE printed > (SELECT AVG(printed) FROM book)",
        ),
        (
            IN_WHERE,
            "SELECT b.title FROM book b JOIN notes n ON n.bid = b.bid WHERE b.printed = MAX(b.printed)",
            "SELECT b.title FROM book AS b JOIN notes AS n ON n.bid = b.bid "
            "WHERE b.printed = (SELECT MAX(b.printed) FROM book AS b)",
        ),
        # Groups are judged after they are formed.
        (
            IN_WHERE,
            "SELECT bid FROM sales WHERE SUM(amount) > 3 GROUP BY bid",
            "SELECT bid FROM sales GROUP BY bid HAVING SUM(amount) > 3",
        ),
        (
            MANY,
            "SELECT title FROM book WHERE bid IN (SELECT bid, amount FROM sales)",
            "SELECT title FROM book WHERE bid IN (SELECT bid FROM sales)",
        ),
    ],
)
def test_values_of_several_rows_stand_where_rows_are_judged(shape: Shape, message: str, sql: str, mended: str) -> None:
    assert mend_statement(sql, fault(message), shape).sql == mended


@pytest.mark.parametrize(
    ("message", "sql"),
    [
        # Beside a group's own name, or of all rows, it is not told which groups are meant.
        (NESTED, "SELECT bid, MAX(SUM(amount)) FROM sales GROUP BY bid"),
        (NESTED, "SELECT AVG(SUM(amount)) FROM sales"),
        (WINDOW, "SELECT * FROM sales WHERE ROW_NUMBER() OVER (ORDER BY amount) < 3"),
        (WINDOW, "SELECT bid FROM sales WHERE ROW_NUMBER() OVER (ORDER BY amount) < 3 ORDER BY sold_on"),
        (MANY, "SELECT title FROM book WHERE bid IN (SELECT id, amount FROM sales)"),
    ],
)
def test_what_is_not_told_stays_as_it_is(shape: Shape, message: str, sql: str) -> None:
    assert mend_statement(sql, fault(message), shape).mends == ()


def test_a_windows_output_name_in_where_leads_around_the_query(shape: Shape) -> None:
    sql = "SELECT bid, RANK() OVER (ORDER BY amount DESC) AS r FROM sales WHERE r <= 3"
    first = mend_statement(sql, fault("r is a name of the select list"), shape)
    second = mend_statement(first.sql, fault(WINDOW), shape)
    assert second.sql == (
        "SELECT bid, r FROM (SELECT bid, RANK() OVER (ORDER BY amount DESC) AS r FROM sales) AS _t WHERE (r) <= 3"
    )


def test_what_only_our_own_spelling_cures_is_respelt_once(shape: Shape) -> None:
    told = fault('syntax error at or near "("')
    assert (
        mend_statement("SELECT CURRENT_DATE() - 3 FROM sales", told, shape).sql == "SELECT CURRENT_DATE - 3 FROM sales"
    )
    assert mend_statement("SELECT CURRENT_DATE - 3 FROM sales", told, shape).mends == ()


@pytest.mark.parametrize(
    ("message", "sql", "mended"),
    [
        ("operator does not exist: text + text", "SELECT first_name + city FROM customers",
         "SELECT first_name || city FROM customers"),
        ("invalid input syntax for type timestamp",
         "SELECT id FROM sales WHERE DATE_TRUNC('month', sold_on) = '2023-03'",
         "SELECT id FROM sales WHERE DATE_TRUNC('MONTH', sold_on) = '2023-03-01'"),
        ("function to_date(date, unknown) does not exist", "SELECT TO_DATE(sold_on, 'YYYY-MM-DD') FROM sales",
         "SELECT CAST(sold_on AS DATE) FROM sales"),
        ("function to_timestamp(date) does not exist", "SELECT TO_TIMESTAMP(sold_on) FROM sales",
         "SELECT CAST(sold_on AS TIMESTAMP) FROM sales"),
        ("function string_agg(bigint, unknown) does not exist", "SELECT STRING_AGG(id, ',') FROM sales",
         "SELECT STRING_AGG(CAST(id AS TEXT), ',') FROM sales"),
        ("invalid input syntax for type date", "SELECT id FROM sales WHERE sold_on > CURRENT_DATE - '1 month'",
         "SELECT id FROM sales WHERE sold_on > CURRENT_DATE - INTERVAL '1 month'"),
        ("operator does not exist: timestamp = integer",
         "SELECT id FROM sales WHERE DATE_TRUNC('quarter', sold_on) = 1",
         "SELECT id FROM sales WHERE EXTRACT(QUARTER FROM sold_on) = 1"),
    ],
)  # fmt: skip
def test_texts_are_joined_and_times_compared_by_their_part(shape: Shape, message: str, sql: str, mended: str) -> None:
    assert mend_statement(sql, fault(message, "type"), shape).sql == mended


@pytest.mark.parametrize(
    ("order", "meant"),
    [
        ("sold_on", "DATE_TRUNC('MONTH', sold_on)"),  # the groups are formed by it
        ("amount DESC", "MAX(amount) DESC"),
        ("amount", "MIN(amount)"),
    ],
)
def test_groups_are_ordered_without_being_split(shape: Shape, order: str, meant: str) -> None:
    sql = (
        "SELECT DATE_TRUNC('MONTH', sold_on) AS m, COUNT(*) FROM sales GROUP BY DATE_TRUNC('MONTH', sold_on) ORDER BY "
    )
    told = fault('column "sales.x" must appear in the GROUP BY clause')
    found = mend_statement(sql + order, told, shape).sql
    assert found.split(" NULLS")[0] == sql + meant
