from __future__ import annotations

import pytest

from rag_core.workers.outcome import Fault
from rag_core.workers.sql_repair.dialects import is_foreign_call, translate_calls
from rag_core.workers.sql_repair.mender import is_mendable, mend_statement
from rag_core.workers.sql_repair.shape import Shape


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("CURDATE()", "CURRENT_DATE"),
        ("GETDATE()", "CURRENT_TIMESTAMP"),
        ("DATEDIFF(sold_on, born)", "(CAST(sold_on AS DATE) - CAST(born AS DATE))"),
        ("DATEDIFF(day, born, sold_on)", "(CAST(sold_on AS DATE) - CAST(born AS DATE))"),
        ("DATEDIFF('week', born, sold_on)", "((CAST(sold_on AS DATE) - CAST(born AS DATE)) / 7)"),
        ("DATE_DIFF(sold_on, born, DAY)", "(CAST(sold_on AS DATE) - CAST(born AS DATE))"),
        ("TIMESTAMPDIFF(HOUR, a, b)",
         "FLOOR(EXTRACT(EPOCH FROM (CAST(b AS TIMESTAMP) - CAST(a AS TIMESTAMP))) / 3600)"),
        ("DATEADD(quarter, -2, sold_on)", "sold_on + INTERVAL '-6 MONTH'"),
        ("STRFTIME('%Y-%m', sold_on)", "TO_CHAR(CAST(sold_on AS TIMESTAMP), 'YYYY-MM')"),
        ("STRFTIME('%w', sold_on)", "CAST(EXTRACT(DOW FROM CAST(sold_on AS TIMESTAMP)) AS TEXT)"),
        ("DATE_FORMAT(sold_on, '%M %Y')", "TO_CHAR(CAST(sold_on AS TIMESTAMP), 'FMMonth YYYY')"),
        ("DATE('now', '-7 days')", "CAST((CURRENT_TIMESTAMP + INTERVAL '-7 DAYS') AS DATE)"),
        ("DATE('now', 'start of month')", "CAST(DATE_TRUNC('MONTH', CURRENT_TIMESTAMP) AS DATE)"),
        ("DATE_ADD(sold_on, 7)", "sold_on + INTERVAL '7 DAY'"),
        ("FROM_UNIXTIME(id)", "(TO_TIMESTAMP(id) AT TIME ZONE 'UTC')"),
        ("STRFTIME('%H:%M', id, 'unixepoch')",
         "TO_CHAR(CAST((TO_TIMESTAMP(id) AT TIME ZONE 'UTC') AS TIMESTAMP), 'HH24:MI')"),
        ("MODE(channel)", "MODE() WITHIN GROUP (ORDER BY channel)"),
        ("JULIANDAY('now')", "(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP) / 86400.0)"),
        ("QUARTER(sold_on)", "EXTRACT(QUARTER FROM CAST(sold_on AS TIMESTAMP))"),
        ("DAYOFWEEK(sold_on)", "(EXTRACT(DOW FROM CAST(sold_on AS TIMESTAMP)) + 1)"),
        ("DATE_TRUNC(sold_on, MONTH)", "DATE_TRUNC('MONTH', CAST(sold_on AS TIMESTAMP))"),
        ("ISNULL(amount, 0)", "COALESCE(amount, 0)"),
        ("CAST(amount AS UNSIGNED)", "CAST(amount AS BIGINT)"),
        # One call in another.
        ("DATEDIFF(CURDATE(), sold_on)", "(CAST(CURRENT_DATE AS DATE) - CAST(sold_on AS DATE))"),
    ],
)  # fmt: skip
def test_a_call_of_another_database_is_put_as_this_one_has_it(shape: Shape, written: str, meant: str) -> None:
    tree, mends = translate_calls(f"SELECT {written} FROM sales", shape)
    assert tree is not None
    assert tree.sql(dialect="postgres") == f"SELECT {meant} FROM sales"
    assert {mend.kind for mend in mends} == {"dialect"}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT DATE_TRUNC('month', sold_on) FROM sales",
        "SELECT id FROM sales WHERE channel = 'curdate()'",
        'SELECT "curdate" FROM sales',
        "SELECT STRFTIME('%Q', sold_on) FROM sales",  # a sign that has no equal
        "SELECT DATE('now', 'weekday 1') FROM sales",
        "SELECT DATEDIFF(fortnight, a, b) FROM sales WHERE DATEDIFF(a) > 1",
        "SELECT DATE_ADD(sold_on, INTERVAL '7 day') FROM sales",
        "SELECT MY_DATEDIFF(a, b) FROM sales",
    ],
)
def test_what_this_database_has_or_nobody_knows_stays(shape: Shape, sql: str) -> None:
    tree, mends = translate_calls(sql, shape)
    assert tree is None
    assert mends == []


def test_a_refused_function_is_put_otherwise_only_where_it_is_another_databases() -> None:
    def refused(name: str) -> Fault:
        message = f"the function {name} is not known to be harmless"
        return Fault(fault_class="policy", code="function_not_allowed", message=message)

    assert is_mendable(refused("strftime"))
    assert is_foreign_call(refused("getdate").message)
    for name in ("pg_sleep", "pg_read_file", "lo_import", "current_setting"):
        assert not is_mendable(refused(name))
    assert not is_mendable(Fault(fault_class="policy", code="column_excluded", message="strftime is excluded"))


def test_the_names_are_held_against_the_schema_after_the_calls(shape: Shape) -> None:
    told = Fault(fault_class="unknown_column", code="unknown_column", message='column "day" does not exist')
    found = mend_statement("SELECT DATEDIFF(day, soldon, CURDATE()) FROM sales", told, shape)
    assert found.sql == "SELECT (CAST(CURRENT_DATE AS DATE) - CAST(sales.sold_on AS DATE)) FROM sales"
