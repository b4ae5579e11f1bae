from __future__ import annotations

from rag_core.workers.outcome import Fault
from rag_core.workers.repair import replace_name
from rag_core.workers.sql_repair.mender import mend_statement
from rag_core.workers.sql_repair.shape import Shape
from tests.unit.workers.sql_repair.conftest import shape

__all__ = ["shape"]


def test_a_column_is_renamed_where_it_is_used_and_keeps_its_name_outside() -> None:
    sql = (
        "SELECT c.churn_on, count(*) FROM public.churn_events AS c WHERE c.churn_on > '2026-01-01' GROUP BY c.churn_on"
    )
    mended = replace_name(sql, "churn_on", "public.churn_events.churned_on", dialect="postgres")
    assert mended == (
        "SELECT c.churned_on AS churn_on, COUNT(*) FROM public.churn_events AS c "
        "WHERE c.churned_on > '2026-01-01' GROUP BY c.churned_on"
    )


def test_a_column_of_another_table_is_left_alone() -> None:
    sql = "SELECT a.name, b.name FROM a JOIN b ON a.id = b.id"
    assert "a.name" in replace_name(sql, "b.name", "b.title", dialect="postgres")
    assert "b.title" in replace_name(sql, "b.name", "b.title", dialect="postgres")


def test_an_approved_statement_keeps_its_table_where_another_one_has_a_column_of_the_old_name(shape: Shape) -> None:
    sql = "SELECT writer.name, book.name FROM writer JOIN book ON writer.wid = book.bid"
    renamed = replace_name(sql, "book.name", "public.book.title", dialect="postgres")
    assert "book.title AS name" in renamed
    # What a model wrote is read otherwise: the column is real and was asked of the wrong table.
    fault = Fault(fault_class="unknown_column", code="unknown_column", message="unknown column book.name", sql=sql)
    assert "book.title" not in mend_statement(sql, fault, shape).sql


def test_a_table_is_renamed_and_columns_still_find_it() -> None:
    mended = replace_name("SELECT ordr.id FROM ordr", "ordr", "public.orders", dialect="postgres")
    assert mended == "SELECT ordr.id FROM public.orders AS ordr"


def test_a_mixed_case_name_is_quoted() -> None:
    mended = replace_name("SELECT targetamount FROM t", "targetamount", "TargetAmount", dialect="postgres")
    assert mended == 'SELECT "TargetAmount" AS targetamount FROM t'


def test_what_cannot_be_parsed_is_left_as_it_is() -> None:
    assert replace_name("SELECT FROM WHERE (", "a", "b", dialect="postgres") == "SELECT FROM WHERE ("
