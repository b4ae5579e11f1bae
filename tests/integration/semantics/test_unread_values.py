"""Values that the role lost: what is not recognised for that reason is said, and not called unknown."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from rag_core.connectors.warehouses import open_warehouse
from rag_core.graph.build import create_orchestrator
from rag_core.policy.rules import Policy
from rag_core.policy.sql_guard import SqlGuard
from rag_core.schema.cache import CatalogCache
from rag_core.semantics.model import load_semantic_model
from rag_core.semantics.values import read_values
from tests.question_world import WordSearch

if TYPE_CHECKING:
    from rag_core.connectors.base import Warehouse
    from rag_core.connectors.embedded import EmbeddedPostgres

pytestmark = pytest.mark.integration

SCHEMA = """
CREATE TABLE public.regions (code text PRIMARY KEY, name text);
INSERT INTO public.regions VALUES ('NOR', 'Nordics'), ('IBE', 'Iberia');
CREATE TABLE public.orders (id integer PRIMARY KEY, region_code text, day date, total numeric);
INSERT INTO public.orders VALUES (1, 'NOR', '2026-01-15', 1200), (2, 'IBE', '2026-03-15', 300);
DO $$BEGIN CREATE ROLE unread_reader LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END$$;
GRANT SELECT ON public.regions, public.orders TO unread_reader;
"""
MODEL = """\
version: 1
dialect: postgres
entities:
  regions: {table: public.regions, primary_key: [code], grain: one row a region}
  orders: {table: public.orders, primary_key: [id], grain: one row an order}
joins:
  - {from: orders, to: regions, columns: {region_code: code}}
time_dimensions:
  ordered_on: {label: Order date, entity: orders, column: day}
dimensions:
  region: {label: Region, entity: regions, expression: name}
metrics:
  revenue: {label: Revenue, entity: orders, expression: sum(total), time: ordered_on, unit: EUR}
"""
ASKED = "What was the revenue of the Nordics in 2026?"


@pytest.fixture
def warehouse(pg_server: EmbeddedPostgres) -> Iterator[Warehouse]:
    pg_server.ensure_database("unread")
    with psycopg.connect(pg_server.dsn("unread"), autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO PUBLIC")
        connection.execute(SCHEMA)
    opened = open_warehouse(pg_server.dsn("unread", "unread_reader"))
    yield opened
    opened.close()


def revoke(pg_server: EmbeddedPostgres) -> None:
    with psycopg.connect(pg_server.dsn("unread"), autocommit=True) as connection:
        connection.execute("REVOKE SELECT ON public.regions FROM unread_reader")


@pytest.mark.parametrize("when", ["never", "before the values are read", "after the values were read"])
def test_a_lost_table_is_not_permitted(
    warehouse: Warehouse, pg_server: EmbeddedPostgres, tmp_path: Path, when: str
) -> None:
    path = tmp_path / "semantic_model.yaml"
    path.write_text(MODEL, encoding="utf-8")
    model = load_semantic_model(path)
    if when.startswith("before"):
        revoke(pg_server)
    cache = CatalogCache(warehouse)
    guard = SqlGuard(Policy(version=1, schemas=("public",)), cache.current())
    values = read_values(model, warehouse, guard)
    if when.startswith("after"):
        revoke(pg_server)
    parts = {"guard": guard, "catalog_cache": cache, "values": values, "search": WordSearch(())}
    answer = create_orchestrator(warehouse=warehouse, semantic_model=model, **parts).answer(
        ASKED, run_date=date(2026, 7, 1)
    )
    if when == "never":
        assert (answer.status, values.not_permitted) == ("answered", ())
    elif when.startswith("before"):
        assert values.not_permitted == ("region",)
        assert "This role may not read the values of Region" in answer.text
    else:
        # The word is recognised by what was read; the database itself then refuses.
        assert answer.status == "refused"
        assert "permission denied" in answer.text
