"""No harm done: thousands of composed attacks; those that the guard lets pass run for real while a watcher looks on."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from rag_core.datamodel.query import GuardedSql, Limits, cell_to_json
from rag_core.errors import QueryFault
from rag_core.policy.judged import JudgedWarehouse, tells
from rag_core.policy.sql_guard import SqlGuard
from tests.attacks import (
    DISGUISES,
    EXPRESSION_POSITIONS,
    FROM_POSITIONS,
    HARMFUL_EXPRESSIONS,
    HARMFUL_SOURCES,
    HARMFUL_STATEMENTS,
    LEAK_ROUTES,
    SPELLINGS,
)
from tests.warehouse_world import world_policy

if TYPE_CHECKING:
    from rag_core.connectors.base import Warehouse

pytestmark = [pytest.mark.integration, pytest.mark.slow]

SENTINELS = ("SECRET-", "918273645", "pg_class")
SEED = 20260701


def _spoiled(text: str, dice: random.Random) -> str:
    """The same SQL written otherwise: case, comments and white space between words."""
    words = text.split(" ")
    spoiled = []
    for word in words:
        if "'" not in word and '"' not in word and "$" not in word and dice.random() < 0.5:
            word = "".join(letter.upper() if dice.random() < 0.5 else letter for letter in word)
        spoiled.append(word)
    gap = dice.choice((" ", "  ", "\n", "\t", " /**/ ", " /* ; */ ", " -- x\n"))
    if any(mark in text for mark in ("'", '"', "$", "--")):
        return " ".join(spoiled)
    return gap.join(spoiled)


def attacks() -> Iterator[str]:
    """Composed attacks, the same every time."""
    dice = random.Random(SEED)
    expressions = [item for items in HARMFUL_EXPRESSIONS.values() for item in items]
    expressions += [*LEAK_ROUTES["expression"], *SPELLINGS]
    sources = [item for items in HARMFUL_SOURCES.values() for item in items] + list(LEAK_ROUTES["source"])
    for template in EXPRESSION_POSITIONS.values():
        for expression in expressions:
            yield template.replace("{e}", expression)
    for template in FROM_POSITIONS.values():
        for source in sources:
            yield template.replace("{f}", source)
    for disguise in DISGUISES.values():
        for statement in HARMFUL_STATEMENTS:
            yield disguise.replace("{s}", statement)
    for _ in range(3000):
        # One position inside another, written oddly.
        inner = dice.choice(list(EXPRESSION_POSITIONS.values())).replace("{e}", dice.choice(expressions))
        if dice.random() < 0.5:
            inner = dice.choice(list(FROM_POSITIONS.values())).replace("{f}", dice.choice(sources))
        if dice.random() < 0.5:
            whole = dice.choice(list(FROM_POSITIONS.values())).replace("{f}", f"({inner}) s")
        else:
            whole = dice.choice(list(EXPRESSION_POSITIONS.values())).replace("{e}", f"({inner})")
        yield dice.choice(list(DISGUISES.values())).replace("{s}", _spoiled(whole, dice))


class Watcher:
    """Looks at the database from a connection of its own."""

    def __init__(self, dsn: str) -> None:
        self._connection = psycopg.connect(dsn, autocommit=True)
        self._connection.execute("LISTEN c")

    def state(self) -> dict[str, Any]:
        """Everything that an attack could have changed."""

        def one(sql: str) -> Any:
            return self._connection.execute(sql.encode()).fetchall()

        return {
            "orders": one("SELECT count(*), md5(string_agg(o::text, '|' ORDER BY id)) FROM public.orders o"),
            "customers": one("SELECT count(*), md5(string_agg(c::text, '|' ORDER BY id)) FROM public.customers c"),
            "secrets": one("SELECT token FROM public.secrets"),
            "sequence": one("SELECT last_value, is_called FROM public.sq"),
            "relations": one("SELECT relname, relkind, relacl::text FROM pg_class WHERE oid >= 16384 ORDER BY oid"),
            "functions": one("SELECT proname, prosrc FROM pg_proc WHERE oid >= 16384 ORDER BY oid"),
            "roles": one("SELECT rolname, rolconfig FROM pg_roles ORDER BY rolname"),
            "database settings": one("SELECT setconfig FROM pg_db_role_setting ORDER BY setdatabase, setrole"),
            "large objects": one("SELECT count(*) FROM pg_largeobject_metadata"),
            "advisory locks": one("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"),
            "cursors": one("SELECT count(*) FROM pg_prepared_xacts"),
            "stats reset": one("SELECT stats_reset FROM pg_stat_database WHERE datname = current_database()"),
            "reload": one("SELECT pg_conf_load_time()"),
        }

    def notifications(self) -> list[str]:
        """What was sent on the channel since the last look."""
        return [item.payload for item in self._connection.notifies(timeout=0.2)]

    def close(self) -> None:
        self._connection.close()


def test_attacks_do_no_harm(world_dsn: str, world_warehouse: Warehouse) -> None:
    policy = world_policy(limits=Limits(max_rows=200, max_bytes=200_000, timeout_seconds=3))
    guard = SqlGuard(policy, world_warehouse.snapshot())
    assert tells(world_warehouse)
    judged = JudgedWarehouse(world_warehouse, lambda: guard)
    watcher = Watcher(world_dsn)
    composed = list(dict.fromkeys(attacks()))
    assert len(composed) >= 5_000
    settings = _settings(world_warehouse)
    before = watcher.state()
    passed = ran = 0
    for sql in composed:
        verdict = guard.check(sql)
        if verdict.query is None:
            continue
        passed += 1
        assert "public.secrets" not in verdict.tables, sql
        assert "public.orders.total" not in verdict.columns, sql
        try:
            judged.explain(verdict.query)
            result = judged.execute(verdict.query)
        except QueryFault:
            continue
        ran += 1
        told = str([[cell_to_json(cell) for cell in row] for row in result.rows])
        assert not any(sentinel in told for sentinel in SENTINELS), (sql, verdict.query.text)
    assert watcher.state() == before
    assert watcher.notifications() == []
    assert _settings(world_warehouse) == settings
    watcher.close()
    # The routes that may run do run, or nothing would have been proved.
    assert ran >= 100, f"{len(composed)} attacks, {passed} passed the guard, {ran} ran"


def _settings(warehouse: Warehouse) -> list[tuple[Any, ...]]:
    """Settings of the adapter's own pooled connection, as the next query finds them; asked past the guard."""
    names = "'statement_timeout', 'role', 'search_path', 'transaction_read_only', 'TimeZone', 'lock_timeout'"
    query = GuardedSql(
        text=f"SELECT name, setting FROM pg_settings WHERE name IN ({names}) "
        "UNION ALL SELECT 'user', current_user ORDER BY 1",
        dialect="postgres",
        limits=Limits(timeout_seconds=3),
    )
    return list(warehouse.execute(query).rows)
