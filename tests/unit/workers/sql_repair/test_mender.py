from __future__ import annotations

import pytest

from rag_core.workers.outcome import Fault, FaultClass
from rag_core.workers.sql_repair.mender import MENDABLE, mend_statement, refine_divisions, refine_values
from rag_core.workers.sql_repair.shape import Shape


def fault(message: str = "unknown column", fault_class: FaultClass = "unknown_column") -> Fault:
    return Fault(fault_class=fault_class, code=fault_class, message=message)


@pytest.mark.parametrize(
    ("sql", "mended", "kinds"),
    [
        # A real column of the wrong one of two joined tables.
        (
            "SELECT s.first_name, SUM(s.amount) FROM sales s JOIN customers c ON s.customer_id = c.id "
            "GROUP BY s.first_name",
            "SELECT c.first_name, SUM(s.amount) FROM sales AS s JOIN customers AS c ON s.customer_id = c.id "
            "GROUP BY c.first_name",
            {"qualifier"},
        ),
        # The column's table is not read: it is joined along its key.
        (
            "SELECT city, SUM(amount) FROM sales GROUP BY city",
            "SELECT customers.city, SUM(amount) FROM sales JOIN customers ON sales.customer_id = customers.id "
            "GROUP BY city",
            {"missing_table"},
        ),
        # Qualified by a table that is not in FROM.
        (
            "SELECT COUNT(*) FROM sales WHERE customers.city = 'Bern'",
            "SELECT COUNT(*) FROM sales JOIN customers ON sales.customer_id = customers.id "
            "WHERE customers.city = 'Bern'",
            {"missing_table"},
        ),
        # No FROM at all.
        ("SELECT COUNT(book.bid)", "SELECT COUNT(book.bid) FROM book", {"missing_table"}),
        # Two tables that only a third one joins.
        (
            "SELECT w.name, b.title FROM writer w JOIN book b ON w.bid = b.bid",
            "SELECT w.name, b.title FROM writer AS w JOIN wrote ON w.wid = wrote.wid JOIN book AS b "
            "ON wrote.bid = b.bid",
            {"bridge"},
        ),
        # Keys of different things are no join: the table that is linked has what was asked of the other.
        (
            "SELECT w.born, COUNT(s.bid), s.name FROM writer w JOIN sales s ON w.wid = s.bid GROUP BY w.born",
            "SELECT w.born, COUNT(s.bid), w.name FROM writer AS w JOIN wrote AS s ON w.wid = s.wid GROUP BY w.born",
            {"join_condition", "qualifier"},
        ),
        # The condition names a column that is not there, the key says how they are joined.
        (
            "SELECT b.title FROM book b JOIN sales s ON b.id = s.book_id",
            "SELECT b.title FROM book AS b JOIN sales AS s ON b.bid = s.bid",
            {"join_condition"},
        ),
        # Near misses: of a column, of a table, with the table's name in front.
        ("SELECT titel FROM book", "SELECT book.title AS titel FROM book", {"column_name"}),
        ("SELECT title FROM books", "SELECT title FROM book", {"table_name"}),
        ("SELECT books.title FROM books", "SELECT books.title FROM book AS books", {"table_name"}),
        ("SELECT b.book_title FROM book b", "SELECT b.title AS book_title FROM book AS b", {"column_name"}),
        # The name of another table's key means the column that refers to it.
        ("SELECT book_id FROM notes", "SELECT notes.bid AS book_id FROM notes", {"column_name"}),
        # An aliased table is named by its own name.
        ("SELECT sales.amount FROM sales AS s", "SELECT s.amount FROM sales AS s", {"alias"}),
        # All that is asked of a table stands in another one.
        (
            "SELECT reader, AVG(stars) FROM sales GROUP BY reader",
            "SELECT reader, AVG(stars) FROM notes GROUP BY reader",
            {"table_name"},
        ),
        # The name of an output where only columns may stand.
        (
            "SELECT bid, SUM(amount) AS total FROM sales GROUP BY bid HAVING total > 5",
            "SELECT bid, SUM(amount) AS total FROM sales GROUP BY bid HAVING SUM(amount) > 5",
            {"alias"},
        ),
        # Text in double quotes is a value.
        (
            'SELECT id FROM customers WHERE city = "Bern"',
            "SELECT id FROM customers WHERE city = 'Bern'",
            {"literal"},
        ),
        # A subquery does not hand on what is asked of it.
        (
            "WITH t AS (SELECT s.bid, SUM(s.amount) AS total FROM sales s GROUP BY s.bid) "
            "SELECT t.channel, t.total FROM t",
            "WITH t AS (SELECT s.bid, SUM(s.amount) AS total, s.channel FROM sales AS s GROUP BY s.bid, s.channel) "
            "SELECT t.channel, t.total FROM t",
            {"projection"},
        ),
    ],
)  # fmt: skip
def test_names_are_held_against_the_schema(shape: Shape, sql: str, mended: str, kinds: set[str]) -> None:
    found = mend_statement(sql, fault(), shape)
    assert found.sql == mended
    assert {mend.kind for mend in found.mends} == kinds
    assert 0 < found.confidence < 1


def test_a_bare_name_of_two_tables_is_given_the_one_that_the_join_makes_equal(shape: Shape) -> None:
    found = mend_statement(
        "SELECT bid FROM book JOIN notes ON book.bid = notes.bid", fault("ambiguous", "ambiguous_column"), shape
    )
    assert found.sql == "SELECT book.bid FROM book JOIN notes ON book.bid = notes.bid"
    assert found.confidence == 0.95


@pytest.mark.parametrize(
    ("message", "sql", "mended"),
    [
        (
            'column "sales.channel" must appear in the GROUP BY clause or be used in an aggregate function',
            "SELECT channel, SUM(amount) FROM sales",
            "SELECT channel, SUM(amount) FROM sales GROUP BY channel",
        ),
        (
            'column "sales.sold_on" must appear in the GROUP BY clause or be used in an aggregate function',
            "SELECT AVG(amount) FROM sales ORDER BY sold_on LIMIT 1",
            "SELECT AVG(amount) FROM sales LIMIT 1",
        ),
        (
            "aggregate functions are not allowed in WHERE",
            "SELECT bid FROM sales WHERE channel = 'web' AND COUNT(*) > 2 GROUP BY bid",
            "SELECT bid FROM sales WHERE channel = 'web' GROUP BY bid HAVING COUNT(*) > 2",
        ),
        (
            "aggregate functions are not allowed in GROUP BY",
            "SELECT bid, COUNT(*) AS n FROM sales GROUP BY bid, n",
            "SELECT bid, COUNT(*) AS n FROM sales GROUP BY bid",
        ),
        (
            "for SELECT DISTINCT, ORDER BY expressions must appear in select list",
            "SELECT DISTINCT bid FROM sales ORDER BY amount DESC",
            "SELECT bid FROM sales GROUP BY bid ORDER BY MAX(amount) DESC",
        ),
        (
            "more than one row returned by a subquery used as an expression",
            "SELECT title FROM book WHERE bid = (SELECT bid FROM sales)",
            "SELECT title FROM book WHERE bid IN (SELECT bid FROM sales)",
        ),
        ("division by zero", "SELECT 1 / stars FROM notes", "SELECT 1 / NULLIF(stars, 0) FROM notes"),
        (
            'invalid reference to FROM-clause entry for table "b"',
            "SELECT b.title FROM book b, writer w JOIN wrote r ON r.bid = b.bid",
            "SELECT b.title FROM book AS b CROSS JOIN writer AS w JOIN wrote AS r ON r.bid = b.bid",
        ),
    ],
)
def test_grouping_and_form_are_mended_by_what_the_database_says(
    shape: Shape, message: str, sql: str, mended: str
) -> None:
    assert mend_statement(sql, fault(message, "syntax"), shape).sql == mended


@pytest.mark.parametrize(
    ("sql", "mended"),
    [
        (
            "SELECT 1 FROM sales WHERE sold_on LIKE '2026%'",
            "SELECT 1 FROM sales WHERE CAST(sold_on AS TEXT) LIKE '2026%'",
        ),
        ("SELECT 1 FROM book WHERE pages > 300", "SELECT 1 FROM book WHERE CAST(pages AS DECIMAL) > 300"),
        ("SELECT 1 FROM book WHERE pages = 300", "SELECT 1 FROM book WHERE pages = '300'"),
        (
            "SELECT 1 FROM book WHERE printed >= CURRENT_DATE - INTERVAL '5 years'",
            "SELECT 1 FROM book WHERE printed >= EXTRACT(YEAR FROM CURRENT_DATE - INTERVAL '5 YEARS')",
        ),
        ("SELECT 1 FROM sales WHERE returned = 1", "SELECT 1 FROM sales WHERE returned = TRUE"),
        ("SELECT SUM(returned) FROM sales", "SELECT SUM(CAST(returned AS INT)) FROM sales"),
        ("SELECT AVG(pages) FROM book", "SELECT AVG(CAST(pages AS DECIMAL)) FROM book"),
        (
            "SELECT EXTRACT(DAY FROM sold_on - born) FROM sales, writer",
            "SELECT (sold_on - born) FROM sales, writer",
        ),
    ],
)  # fmt: skip
def test_kinds_that_do_not_go_together_are_cast(shape: Shape, sql: str, mended: str) -> None:
    found = mend_statement(sql, fault("operator does not exist: date ~~ unknown", "type"), shape)
    assert found.sql == mended
    assert {mend.kind for mend in found.mends} == {"cast"}


def test_another_dialects_statement_and_open_brackets_are_read(shape: Shape) -> None:
    found = mend_statement("SELECT COUNT(* FROM sales", fault("syntax error", "syntax"), shape)
    assert found.mends == ()
    found = mend_statement("SELECT `title` FROM `book` WHERE (bid > 3", fault("syntax error", "syntax"), shape)
    assert found.sql == 'SELECT "title" FROM "book" WHERE (bid > 3)'


@pytest.mark.parametrize(
    ("sql", "mended"),
    [
        (
            "SELECT DATEDIFF(sold_on, born) FROM sales, writer",
            "SELECT (CAST(sold_on AS DATE) - CAST(born AS DATE)) FROM sales, writer",
        ),
        (
            "SELECT COUNT(*) FROM sales WHERE sold_on >= DATE_SUB(CURDATE(), INTERVAL 1 MONTH)",
            "SELECT COUNT(*) FROM sales WHERE sold_on >= (CURRENT_DATE - INTERVAL '1 MONTH')",
        ),
        (
            "SELECT DATEADD(month, -1, GETDATE()) FROM sales",
            "SELECT CURRENT_TIMESTAMP + INTERVAL '-1 MONTH' FROM sales",
        ),
    ],
)
def test_a_function_of_another_dialect_is_written_as_this_one_has_it(shape: Shape, sql: str, mended: str) -> None:
    name = next(word for word in ("datediff", "curdate", "dateadd") if word in sql.lower())
    found = mend_statement(sql, fault(f"function {name}(date, date) does not exist", "type"), shape)
    assert found.sql == mended


def test_a_refusal_is_never_mended_around(shape: Shape) -> None:
    sql = "SELECT titel FROM book"
    assert mend_statement(sql, fault("column is excluded", "policy"), shape).sql == sql
    assert not MENDABLE & {"policy", "timeout", "too_large", "budget", "needs_model", "impossible"}


def test_what_nothing_is_like_stays_as_it_is(shape: Shape) -> None:
    for sql in ("SELECT email FROM writer", "SELECT doi FROM book", "SELECT x.gate FROM sales x", "not a statement"):
        assert mend_statement(sql, fault(), shape).sql == sql


def test_names_that_differ_in_a_number_are_never_taken_for_one_another(shape: Shape) -> None:
    assert mend_statement("SELECT title2 FROM book", fault(), shape).mends == ()


@pytest.mark.parametrize(
    ("sql", "mended"),
    [
        ("SELECT id FROM sales WHERE channel = 'Web'", "SELECT id FROM sales WHERE channel = 'web'"),
        (
            "SELECT id FROM sales WHERE channel IN ('Web', 'store')",
            "SELECT id FROM sales WHERE channel IN ('web', 'store')",
        ),
        # Another column holds the value.
        (
            "SELECT s.id FROM sales s WHERE s.channel = 'bern'",
            "SELECT s.id FROM sales AS s JOIN customers ON s.customer_id = customers.id WHERE customers.city = 'Bern'",
        ),
    ],
)
def test_a_value_is_spelt_and_placed_as_it_is_held(shape: Shape, sql: str, mended: str) -> None:
    assert refine_values(sql, shape).sql == mended


def test_a_value_that_is_held_or_not_known_is_left_alone(shape: Shape) -> None:
    for sql in (
        "SELECT id FROM sales WHERE channel = 'web'",
        "SELECT id FROM customers WHERE first_name = 'Ada'",
        "SELECT id FROM sales WHERE channel = 'radio'",
        "SELECT id FROM sales WHERE LOWER(channel) = 'WEB'",
    ):
        assert refine_values(sql, shape).mends == ()


def test_whole_numbers_are_divided_exactly(shape: Shape) -> None:
    found = refine_divisions("SELECT COUNT(*) / COUNT(DISTINCT bid) FROM sales", shape)
    assert found.sql == "SELECT CAST(COUNT(*) AS DECIMAL) / COUNT(DISTINCT bid) FROM sales"
    for sql in ("SELECT printed / 10 FROM book", "SELECT SUM(amount) / COUNT(*) FROM sales"):
        assert refine_divisions(sql, shape).mends == ()


@pytest.mark.parametrize(
    ("sql", "mended"),
    [
        (
            "SELECT order.id FROM sales AS order JOIN customers AS User ON order.customer_id = User.id "
            "ORDER BY order.id",
            'SELECT "order".id FROM sales AS "order" JOIN customers AS "user" ON "order".customer_id = "user".id '
            'ORDER BY "order".id',
        ),
        ("SELECT check.title FROM book AS check", 'SELECT "check".title FROM book AS "check"'),
        # An output may be called so, but nothing may refer to it.
        (
            "SELECT SUM(amount) AS order, channel AS user FROM sales GROUP BY user ORDER BY order",
            'SELECT SUM(amount) AS "order", channel AS "user" FROM sales GROUP BY "user" ORDER BY "order"',
        ),
        (
            "WITH user AS (SELECT id FROM sales) SELECT user.id FROM user",
            'WITH "user" AS (SELECT id FROM sales) SELECT "user".id FROM "user"',
        ),
        (
            "SELECT limit.id FROM (SELECT id FROM sales) AS limit",
            'SELECT "limit".id FROM (SELECT id FROM sales) AS "limit"',
        ),
    ],
)
def test_a_key_word_that_a_statement_takes_for_a_name_is_quoted_wherever_it_stands(
    shape: Shape, sql: str, mended: str
) -> None:
    found = mend_statement(sql, fault('syntax error at or near "."', "syntax"), shape)
    assert (found.sql, {mend.kind for mend in found.mends}) == (mended, {"alias"})


def test_names_that_are_no_key_words_or_are_quoted_already_stay_as_they_are(shape: Shape) -> None:
    for sql in ("SELECT s.id FROM sales AS s", 'SELECT "order".id FROM sales AS "order"'):
        assert mend_statement(sql, fault("syntax error", "syntax"), shape).mends == ()
