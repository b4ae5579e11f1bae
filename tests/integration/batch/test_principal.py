"""A batch asks the warehouse as its principal, so that the database's own row policies decide what it sees."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import psycopg
import pytest
from pydantic import SecretStr

from rag_core.batch.definition import load_batch
from rag_core.connectors.embedded import EmbeddedPostgres
from rag_core.errors import ConfigurationError
from rag_core.provision import ensure_reader_role
from rag_core.settings import Settings, StoreSettings, WarehouseSettings
from rag_core.wiring import Services
from sample.warehouse.load import load_warehouse
from tests.integration.batch.scripted import RUN_DATE

pytestmark = pytest.mark.integration

# The principal sees the orders of one channel; the login sees all.
POLICIES = """
DROP ROLE IF EXISTS web_team;
CREATE ROLE web_team;
GRANT USAGE ON SCHEMA public TO web_team;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO web_team;
GRANT web_team TO nightshift_reader;
ALTER TABLE public.orders ENABLE ROW LEVEL SECURITY;
CREATE POLICY all_orders ON public.orders TO nightshift_reader USING (current_user = 'nightshift_reader');
CREATE POLICY web_orders ON public.orders TO web_team USING (channel = 'web');
"""
REVENUE = """
SELECT sum(order_total) FROM public.orders
WHERE order_date >= '2026-04-01' AND order_date < '2026-07-01' AND ({filter})
"""
BATCH = """title: Revenue
owner: finance
{head}
questions:
  - {{question_id: orders, text: How many orders were there last quarter?}}
"""


@pytest.fixture(scope="module")
def owner_dsn(pg_server: EmbeddedPostgres) -> str:
    pg_server.ensure_database("warehouse_principals")
    dsn = pg_server.dsn("warehouse_principals")
    load_warehouse(dsn)
    ensure_reader_role(dsn)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(POLICIES)
    return dsn


@pytest.fixture
def services(owner_dsn: str, store_dsn: str, tmp_path: Path) -> Iterator[Services]:
    reader = owner_dsn.replace("postgres@", "nightshift_reader@")
    settings = Settings(
        home=tmp_path,
        store=StoreSettings(dsn=SecretStr(store_dsn)),
        warehouse=WarehouseSettings(dsn=SecretStr(reader)),
    )
    with Services(settings) as opened:
        yield opened


def _asked(services: Services, folder: Path, head: str) -> Decimal:
    path = folder / "by_principal.yaml"
    path.write_text(BATCH.format(head=head), encoding="utf-8")
    outcome = services.batch_runner.run(load_batch(path), RUN_DATE, publish=False)
    [question] = outcome.questions
    assert question.status == "answered", question.answer
    return Decimal(str(question.headline_value))


def test_the_principal_sees_its_rows_and_the_login_all(services: Services, owner_dsn: str, tmp_path: Path) -> None:
    with psycopg.connect(owner_dsn) as connection:
        counts = [
            connection.execute(REVENUE.replace("sum(order_total)", "count(*)").format(filter=rows)).fetchone()
            for rows in ("true", "channel = 'web'")
        ]
    everything, web = (Decimal(row[0]) for row in counts if row is not None)
    assert 0 < web < everything
    assert _asked(services, tmp_path, "principal: web_team") == web
    assert _asked(services, tmp_path, "") == everything
    assert _asked(services, tmp_path, "principal: web_team") == web


def test_a_principal_that_the_login_may_not_be_is_refused(services: Services, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"cannot be asked as nobody_of_that_name: .*does not exist"):
        _asked(services, tmp_path, "principal: nobody_of_that_name")
    # The owner of the server is a role that exists, and the login is no member of it.
    with pytest.raises(ConfigurationError, match="cannot be asked as postgres: permission denied"):
        _asked(services, tmp_path, "principal: postgres")


def test_a_principal_with_credentials_of_its_own_uses_them(services: Services, owner_dsn: str, tmp_path: Path) -> None:
    with psycopg.connect(owner_dsn, autocommit=True) as connection:
        connection.execute("ALTER ROLE web_team LOGIN")
    own = owner_dsn.replace("postgres@", "web_team@")
    warehouse = services.settings.warehouse.model_copy(update={"principals": {"web": SecretStr(own)}})
    with Services(services.settings.model_copy(update={"warehouse": warehouse})) as opened:
        assert _asked(opened, tmp_path, "principal: web") < _asked(opened, tmp_path, "")
