"""The list of cases, one by one: which test makes each of them on a real PostgreSQL; and the cases that had none.

Numbers are those of the list that the drift detection was written for: A is what a change is, B is what is behind an
unknown name.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from rag_core.connectors.base import Warehouse
from rag_core.datamodel.drift import DriftRules
from rag_core.datamodel.query import GuardedSql, Limits
from rag_core.errors import QueryFault
from rag_core.schema.cache import CatalogCache
from rag_core.schema.decisions import accept_events
from rag_core.schema.mend import SchemaMender
from rag_core.schema.repair import pending_renames
from rag_core.workers.reflection import wrong_name
from tests.integration.schema.conftest import READER, Playground
from tests.integration.schema.test_drift_cases import CASES, ORDERS
from tests.named_tests import require_tests

pytestmark = pytest.mark.integration

# Case -> names of entries in CASES, or module:test.
WHERE: dict[str, tuple[str, ...]] = {
    "A1 one canonical form of types": ("the same types under other names", "serial is an integer with a default"),
    "A2 widened, narrowed": ("wider number", "wider text", "narrower number", "shorter text"),
    "A3 length removed": ("length removed", "text without a length"),
    "A4 another type": ("number to text", "date to timestamp", "boolean to number"),
    "A5 another order": ("another order of columns",),
    "A6 dropped and added again": ("dropped and added again",),
    "A7 column renamed": ("column renamed", "two columns swapped"),
    "A8 table renamed, moved": (
        "table renamed with all that hangs on it",
        "table moved to another schema",
        "table renamed and a column of it",
    ),
    "A9 rebuilt every night": ("rebuilt every night",),
    "A10 rebuilt with another name": ("test_drift_renames:test_probable_rename_needs_confirmation",),
    "A12 digits and words veto": ("test_drift_renames:test_near_names_are_no_renames",),
    "A13 two adds": ("two added, none removed",),
    "A15 renamed and changed": (
        "renamed and changed at once",
        "test_drift_renames:test_unproven_rename_with_another_type_is_listed_only",
    ),
    "A16 case of names": ("names that differ in case",),
    "A18 names that need quotes": ("names that need quotes",),
    "A19 enums": ("value added to an enum", "value of an enum renamed", "value of an enum removed", "enum in an array"),
    "A20 view definition": ("test_drift_cases:test_view_with_another_expression",),
    "A22 view does not follow": ("view does not follow its table", "view follows a renamed column"),
    "A23 partitions": ("new partition", "table becomes partitioned"),
    "A24 temporary, extension's, tools' tables": (
        "tables for a moment",
        "test_drift_cases:test_temporary_table_of_another_session",
        "test_drift_cases:test_tables_of_an_extension",
    ),
    "A25 access lost": (
        "test_drift_cases:test_lost_access_is_not_a_dropped_table",
        "test_drift_cases:test_access_to_one_column_lost",
        "test_case_list:test_a25_schema_that_closes_is_lost_access_and_no_dropped_table",
    ),
    "A26 snapshot fails half-way": (
        "test_drift_lifecycle:test_snapshot_that_fails_half_way",
        "test_drift_lifecycle:test_warehouse_that_cannot_be_reached",
        "test_drift_lifecycle:test_mass_disappearance_is_held_and_comes_back",
        "test_case_list:test_a26_connection_that_is_cut_in_the_middle_of_a_snapshot",
        "test_case_list:test_a26_statement_timeout_in_the_middle_of_a_snapshot",
    ),
    "A27 monitoring starts, stops": ("test_drift_cases:test_rules_change_what_is_watched",),
    "A28 first run": ("test_drift_lifecycle:test_first_run_is_a_baseline",),
    "A29 undone": (
        "test_drift_lifecycle:test_a_change_that_is_undone_closes_its_event",
        "test_drift_lifecycle:test_a_column_put_back_in_a_rebuilt_table_reverts",
    ),
    "A30 one event a difference": (
        "test_drift_lifecycle:test_one_event_a_difference_however_often_it_is_seen",
        "test_alerts:test_each_owner_is_told_once",
    ),
    "A32 keys": ("primary key widened", "primary key narrowed", "unique key dropped", "foreign key dropped"),
    "A33 history only": (
        "default written otherwise",
        "test_drift_cases:test_serial_to_identity_is_history_only",
        "test_case_list:test_a33_renamed_sequence_is_history_only",
    ),
    "A34 comments": (
        "comment on a table",
        "comment on a column",
        "test_case_list:test_a34_comment_changes_the_schema_that_prompts_are_made_of",
    ),
    "A35 open transaction": (
        "test_drift_cases:test_change_in_an_open_transaction_is_not_seen_and_blocks_nothing",
    ),
    "A36 two at once": ("test_drift_lifecycle:test_two_checks_at_once_take_one_snapshot",),
    "A37 columns of loading tools": ("columns of loading tools",),
    "B38 column that was there": ("test_unknown:test_renamed_column_is_drift_with_its_new_name",),
    "B39 invented name": (
        "test_unknown:test_invented_name_is_no_drift",
        "test_mend:test_name_that_a_model_invented_is_no_drift",
    ),
    "B41 one SQLSTATE, two meanings": (
        "test_case_list:test_b41_missing_from_clause_is_no_drift",
        "test_case_list:test_b41_lost_privilege_is_told_as_such",
        "test_unknown:test_name_that_is_there_is_a_fault_of_the_statement",
        "test_unknown:test_lost_access",
    ),
    "B42 many at once": (
        "test_unknown:test_many_questions_take_one_snapshot",
        "test_mend:test_many_questions_at_once_take_one_snapshot",
    ),
    "B43 accepted rename": (
        "test_case_list:test_b43_accepted_rename_changes_the_kept_schema_and_is_followed",
        "test_repair_plans:test_plan_is_repaired_and_runs",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", list(WHERE))
def test_every_case_has_its_test(case: str) -> None:
    for name in WHERE[case]:
        if ":" in name:
            require_tests((f"integration.schema.{name}",))
        else:
            assert name in CASES


def test_a25_schema_that_closes_is_lost_access_and_no_dropped_table(
    playground: Playground, reader_warehouse: Warehouse
) -> None:
    playground.run(ORDERS + f"GRANT SELECT ON orders TO {READER}")
    playground.run("CREATE SCHEMA ops; CREATE TABLE ops.incidents (id int); CREATE TABLE ops.services (id int)")
    playground.run(f"GRANT USAGE ON SCHEMA ops TO {READER}; GRANT SELECT ON ALL TABLES IN SCHEMA ops TO {READER}")
    playground.check()
    playground.run(f"REVOKE USAGE ON SCHEMA ops FROM {READER}")
    report = playground.check()
    assert [(item.kind, item.object, item.severity) for item in report.changes] == [
        ("access_lost", "ops.incidents", "breaking"),
        ("access_lost", "ops.services", "breaking"),
    ]
    assert playground.rows(
        "SELECT attributes -> 'closed_schemas' FROM nightshift.schema_snapshot ORDER BY snapshot_id DESC LIMIT 1"
    ) == [(["ops"],)]
    # A table that is dropped behind the closed door cannot be seen, so nothing is said of it.
    playground.run("DROP TABLE ops.services")
    assert playground.check().changes == ()
    playground.run(f"GRANT USAGE ON SCHEMA ops TO {READER}")
    opened = playground.check()
    assert ("access_gained", "ops.incidents") in [
        (item.kind, item.object) for item in opened.changes
    ] or opened.reverted
    assert "table_removed" not in [item.kind for item in opened.changes if item.object == "ops.incidents"]


def test_a26_connection_that_is_cut_in_the_middle_of_a_snapshot(
    playground: Playground, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server ends the session between two catalog queries."""
    playground.run(ORDERS)
    playground.check()
    playground.run("DROP TABLE orders")
    from rag_core.connectors.catalogs import postgres as catalog

    real = catalog.statement

    def cutting(name: str) -> object:
        if name == "catalog/postgres_list_columns":
            playground.owner.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        return real(name)

    monkeypatch.setattr(catalog, "statement", cutting)
    report = playground.check()
    assert (report.status, report.changes) == ("incomplete", ())
    monkeypatch.undo()
    assert playground.changes() == [("table_removed", "public.orders")]


def test_a26_statement_timeout_in_the_middle_of_a_snapshot(
    playground: Playground, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A catalog that somebody holds locked keeps the snapshot waiting until its time is over."""
    from rag_core.connectors import postgres

    playground.run(ORDERS)
    playground.check()
    playground.run("ALTER TABLE orders ADD later int")
    monkeypatch.setattr(postgres, "SNAPSHOT_SECONDS", 1.0)
    with psycopg.connect(playground.dsn) as other:
        other.execute("LOCK TABLE pg_catalog.pg_partitioned_table IN ACCESS EXCLUSIVE MODE")
        report = playground.check()
        other.rollback()
    monkeypatch.undo()
    assert (report.status, report.changes) == ("incomplete", ())
    assert playground.changes() == [("column_added", "public.orders.later")]


def test_a33_renamed_sequence_is_history_only(playground: Playground) -> None:
    playground.run("CREATE TABLE t (a serial)")
    playground.check()
    playground.run("ALTER SEQUENCE t_a_seq RENAME TO numbers")
    report = playground.check()
    assert [(item.kind, item.severity) for item in report.changes] in ([], [("default_changed", "cosmetic")])
    assert report.open_events == 0


def test_a34_comment_changes_the_schema_that_prompts_are_made_of(playground: Playground) -> None:
    playground.run(ORDERS)
    playground.check()
    cache = CatalogCache(playground.warehouse)
    before = cache.fingerprint
    playground.run("COMMENT ON COLUMN orders.amt IS 'In EUR'")
    report = playground.check()
    assert [(item.kind, item.severity) for item in report.changes] == [("comment_changed", "cosmetic")]
    assert report.open_events == 0
    table = cache.refresh().table("public.orders")
    assert table is not None
    assert [column.comment for column in table.columns if column.name == "amt"] == ["In EUR"]
    assert cache.fingerprint != before


def _refusal(playground: Playground, sql: str) -> QueryFault:
    """What the database itself says of a statement that no guard has looked at."""
    query = GuardedSql(text=sql, dialect="postgres", tables=(), columns=(), limits=Limits())
    with pytest.raises(QueryFault) as caught:
        playground.warehouse.execute(query)
    return caught.value


def test_b41_missing_from_clause_is_no_drift(playground: Playground) -> None:
    playground.run(ORDERS)
    playground.check()
    sql = "SELECT customers.name FROM orders"
    fault = _refusal(playground, sql)
    assert (fault.code, fault.sqlstate) == ("unknown_table", "42P01")
    name = wrong_name(fault.message)
    assert name == "customers"
    mender = SchemaMender(playground.warehouse, playground.store, CatalogCache(playground.warehouse))
    mended = mender.mend(sql, name)
    assert (mended.sql, mended.drift) == (None, False)
    gone = _refusal(playground, "SELECT count(*) FROM customers")
    assert (gone.code, gone.sqlstate) == ("unknown_table", "42P01")


def test_b41_lost_privilege_is_told_as_such(playground: Playground, reader_warehouse: Warehouse) -> None:
    playground.run(ORDERS + f"GRANT SELECT ON orders TO {READER}")
    playground.check()
    playground.run(f"REVOKE SELECT ON orders FROM {READER}")
    fault = _refusal(playground, "SELECT count(*) FROM orders")
    assert (fault.code, fault.sqlstate) == ("permission", "42501")


def test_b43_accepted_rename_changes_the_kept_schema_and_is_followed(playground: Playground) -> None:
    playground.run(ORDERS)
    playground.check()
    cache = CatalogCache(playground.warehouse)
    before = cache.fingerprint
    playground.run(
        "DROP TABLE orders; CREATE TABLE orders (order_id int PRIMARY KEY, customer_id int NOT NULL, "
        "amt numeric(10,2), note varchar(20), placed_on date, paid boolean)"
    )
    change = playground.change()
    now = cache.refresh()
    assert cache.fingerprint != before
    assert pending_renames(playground.store, now).empty  # nobody has confirmed it
    accept_events(playground.store, [change.change_id], actor="ada")
    assert pending_renames(playground.store, now).columns == {("public.orders", "cust_id"): "customer_id"}


def test_clock_of_the_machine_that_jumps_makes_no_event(playground: Playground) -> None:
    """A check that is dated before the last one, and one years later."""
    from rag_core.schema.drift import detect_drift

    playground.run(ORDERS)
    start = datetime(2026, 7, 1, tzinfo=UTC)
    statuses = [
        detect_drift(playground.warehouse, playground.store, now=start + timedelta(days=days)).status
        for days in (0, -400, 3_000, 1)
    ]
    assert statuses == ["baseline", "unchanged", "unchanged", "unchanged"]
    playground.run("ALTER TABLE orders DROP note")
    report = detect_drift(playground.warehouse, playground.store, now=start - timedelta(days=9_000))
    assert [change.kind for change in report.changes] == ["column_removed"]


def test_role_without_any_permission_is_no_dropped_schema(playground: Playground, reader_warehouse: Warehouse) -> None:
    """All grants are gone at once: access is lost, nothing was dropped, whatever the share that vanished."""
    playground.run("".join(f"CREATE TABLE t{number} (id int);" for number in range(8)))
    playground.run(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {READER}")
    playground.check(rules=DriftRules())
    playground.run(f"REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {READER}")
    assert {kind for kind, _ in playground.changes()} == {"access_lost"}
