"""Brings the store up: embedded server, databases, roles, migrations and, on the default, the sample company."""

from __future__ import annotations

import logging
from importlib.util import find_spec
from pathlib import Path

import psycopg
from psycopg import sql

from rag_core.connectors.dsn import backend_of, libpq_dsn, masked_dsn, parse_dsn
from rag_core.connectors.embedded import READER_ROLE, STORE_DATABASE, WAREHOUSE_DATABASE, EmbeddedPostgres
from rag_core.connectors.migrations import migrate, pending_migrations, read_migrations
from rag_core.connectors.sql_files import script, statement
from rag_core.connectors.store import connection_problem
from rag_core.datamodel.base import Record
from rag_core.errors import ConfigurationError, ServiceUnavailable
from rag_core.settings import Settings

logger = logging.getLogger(__name__)

BI_ROLE = "nightshift_bi"
# What is said of the embedded server where it does not run, in the place of an address.
STOPPED = "embedded (stopped)"


class ServiceStatus(Record):
    """What runs. DSNs carry no password; `migrated` is whether the store has every migration of this version."""

    store_dsn: str
    warehouse_dsn: str
    airflow_url: str | None
    migrated: bool
    running: bool
    detail: str = ""


def embedded_store_dsn(settings: Settings) -> str:
    """URL of the store on the embedded server; brings it up where it is not."""
    server = EmbeddedPostgres(settings.home)
    if server.start() or not (server.folder / "nightshift.ready").exists():
        _prepare_embedded(settings, server)
    return server.dsn(STORE_DATABASE)


def embedded_warehouse_dsn(settings: Settings) -> str:
    """URL of the sample warehouse, as the role that may only read."""
    embedded_store_dsn(settings)
    return EmbeddedPostgres(settings.home).dsn(WAREHOUSE_DATABASE, READER_ROLE)


def sample_documents_folder(settings: Settings) -> Path:
    """Where the sample company's documents are built."""
    return settings.home / "sample" / "documents"


def bring_up(settings: Settings) -> ServiceStatus:
    """Starts and migrates what the settings name. Safe to repeat.

    Raises ConfigurationError or ServiceUnavailable with one line that says what to do.
    """
    if settings.embedded_store or settings.embedded_warehouse:
        server = EmbeddedPostgres(settings.home)
        server.start()
        _prepare_embedded(settings, server)
    if not settings.embedded_store:
        dsn = _external_store_dsn(settings)
        try:
            migrate(dsn)
            ensure_bi_role(dsn)
        except psycopg.OperationalError as error:
            raise connection_problem(error, what="store (NIGHTSHIFT_STORE__DSN)") from error
        except psycopg.errors.InsufficientPrivilege as error:
            raise ConfigurationError(
                f"the store's role may not migrate it ({error.diag.message_primary}): "
                "use a role that owns the database, with the extension vector installed"
            ) from error
    return read_status(settings)


def take_down(settings: Settings) -> bool:
    """Stops the embedded server; returns whether it was running. External servers are left alone."""
    return EmbeddedPostgres(settings.home).stop()


def read_status(settings: Settings) -> ServiceStatus:
    """What runs and whether the store is migrated. Starts nothing."""
    server = EmbeddedPostgres(settings.home)
    running = server.running
    store = server.dsn(STORE_DATABASE) if settings.embedded_store and running else None
    if not settings.embedded_store:
        store = _external_store_dsn(settings)
    migrated, reachable, detail = _check_store(store)
    warehouse = server.dsn(WAREHOUSE_DATABASE, READER_ROLE) if running else STOPPED
    if settings.warehouse.dsn is not None:
        warehouse = settings.warehouse.dsn.get_secret_value()
    return ServiceStatus(
        store_dsn=masked_dsn(store) if store else STOPPED,
        warehouse_dsn=masked_dsn(warehouse) if "://" in warehouse else warehouse,
        airflow_url=None,
        migrated=migrated,
        running=reachable,
        detail=detail,
    )


def ensure_bi_role(store_dsn: str) -> None:
    """Creates the role for BI tools where it is missing and renews what it may see: the schema `reports`, no more."""
    with psycopg.connect(store_dsn, autocommit=True) as connection:
        known = connection.execute(statement("roles/find_role"), {"role": BI_ROLE}).fetchone()
        if known is None:
            try:
                connection.execute(script("create_bi_role").format(role=sql.Identifier(BI_ROLE)))
            except psycopg.errors.DuplicateObject:
                logger.info("role %s was created by another process", BI_ROLE)
        database = connection.info.dbname
        connection.execute(
            script("grant_bi_role").format(role=sql.Identifier(BI_ROLE), database=sql.Identifier(database))
        )


def ensure_reader_role(warehouse_owner_dsn: str) -> None:
    """Creates the read-only role of the embedded warehouse where it is missing and renews its grants."""
    with psycopg.connect(warehouse_owner_dsn, autocommit=True) as connection:
        known = connection.execute(statement("roles/find_role"), {"role": READER_ROLE}).fetchone()
        if known is None:
            try:
                connection.execute(script("create_reader_role").format(role=sql.Identifier(READER_ROLE)))
            except psycopg.errors.DuplicateObject:
                logger.info("role %s was created by another process", READER_ROLE)
        for (schema,) in connection.execute(statement("roles/list_user_schemas")).fetchall():
            connection.execute(
                script("grant_reader_role").format(role=sql.Identifier(READER_ROLE), schema=sql.Identifier(schema))
            )


def _prepare_embedded(settings: Settings, server: EmbeddedPostgres) -> None:
    marker = server.folder / "nightshift.ready"
    if settings.embedded_store:
        server.ensure_database(STORE_DATABASE)
        store = server.dsn(STORE_DATABASE)
        migrate(store)
        ensure_bi_role(store)
    if settings.embedded_warehouse:
        server.ensure_database(WAREHOUSE_DATABASE)
        owner = server.dsn(WAREHOUSE_DATABASE)
        _load_sample(owner)
        ensure_reader_role(owner)
    marker.touch()


def _load_sample(owner_dsn: str) -> None:
    if find_spec("sample") is None:
        logger.warning("the sample company is only in a checkout; set NIGHTSHIFT_WAREHOUSE__DSN to your warehouse")
        return
    from sample.warehouse.load import is_loaded, load_warehouse  # noqa: PLC0415 - only in a checkout

    if not is_loaded(owner_dsn):
        logger.info("loading the sample warehouse")
        load_warehouse(owner_dsn)


def _external_store_dsn(settings: Settings) -> str:
    if settings.store.dsn is None:
        raise ServiceUnavailable("the store is the embedded server")
    url = parse_dsn(settings.store.dsn.get_secret_value(), setting="NIGHTSHIFT_STORE__DSN")
    if backend_of(url) != "postgresql":
        raise ConfigurationError("NIGHTSHIFT_STORE__DSN must be a PostgreSQL URL: the store needs pgvector")
    return libpq_dsn(url)


def _check_store(dsn: str | None) -> tuple[bool, bool, str]:
    if dsn is None:
        return False, False, "the embedded server is not running"
    try:
        with psycopg.connect(dsn, connect_timeout=5, autocommit=True) as connection:
            pending = pending_migrations(connection, read_migrations())
    except psycopg.OperationalError as error:
        return False, False, str(connection_problem(error, what="store"))
    return not pending, True, f"{len(pending)} migrations pending" if pending else ""
