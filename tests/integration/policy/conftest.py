"""The world of `tests.warehouse_world`, built on a real PostgreSQL with rows whose hidden values can be recognised."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import psycopg
import pytest

from rag_core.connectors.warehouses import open_warehouse

if TYPE_CHECKING:
    from rag_core.connectors.base import Warehouse
    from rag_core.connectors.embedded import EmbeddedPostgres

SCHEMA = """
CREATE SCHEMA sales;
CREATE SCHEMA hidden;
CREATE SEQUENCE public.sq;
CREATE TABLE hidden.vault (token text);
INSERT INTO hidden.vault VALUES ('SECRET-vault-71f3');
CREATE TABLE public.orders (
    id integer PRIMARY KEY, customer_id integer, note text, created_at timestamptz, total numeric(20, 2),
    "Order" integer, "update" text, payload jsonb
);
INSERT INTO public.orders
SELECT g, g % 3, 'note ' || g, '2026-01-01'::timestamptz + g * interval '1 day', 918273645.11, g, 'u', '{"a": 1}'
FROM generate_series(1, 5) AS g;
CREATE TABLE public.customers (id integer PRIMARY KEY, name text, email text, country text);
INSERT INTO public.customers SELECT g, 'name ' || g, 'mail' || g, 'SE' FROM generate_series(1, 3) AS g;
CREATE TABLE public.secrets (token text);
INSERT INTO public.secrets VALUES ('SECRET-token-71f3');
CREATE TABLE sales."OrderItem" ("ItemId" integer, "Qty" integer);
CREATE VIEW public.order_ids AS SELECT id FROM public.orders;
CREATE VIEW public.order_totals AS SELECT total FROM public.orders;
CREATE VIEW public.order_rows AS SELECT to_jsonb(o.*) AS t FROM public.orders AS o;
CREATE VIEW public.secret_view AS SELECT token FROM public.secrets;
CREATE MATERIALIZED VIEW public.secret_matview AS SELECT token FROM public.secret_view;
CREATE FUNCTION public.leak() RETURNS text LANGUAGE sql STABLE SECURITY DEFINER
AS 'SELECT token FROM public.secrets LIMIT 1';
CREATE FUNCTION public.leak(public.orders) RETURNS text LANGUAGE sql STABLE SECURITY DEFINER
AS 'SELECT token FROM public.secrets LIMIT 1';
CREATE FUNCTION public.wr() RETURNS integer LANGUAGE sql VOLATILE
AS 'INSERT INTO public.orders (id) VALUES (99) RETURNING id';
"""


@pytest.fixture(scope="session")
def world_dsn(pg_server: EmbeddedPostgres) -> str:
    """The world as its owner, a superuser: no grant protects anything, only the guard and the transaction do."""
    pg_server.ensure_database("world")
    dsn = pg_server.dsn("world")
    with psycopg.connect(dsn, autocommit=True) as connection:
        if connection.execute("SELECT to_regclass('public.orders')").fetchone() == (None,):
            connection.execute(SCHEMA)
    return dsn


@pytest.fixture(scope="session")
def world_warehouse(world_dsn: str) -> Iterator[Warehouse]:
    """The world behind the adapter."""
    warehouse = open_warehouse(world_dsn)
    yield warehouse
    warehouse.close()
