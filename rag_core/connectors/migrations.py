"""Forward-only numbered migrations of the store."""

from __future__ import annotations

import hashlib
import logging
import re
from dataclasses import dataclass
from pathlib import Path

import psycopg

from rag_core.connectors.sql_files import files_root, literal
from rag_core.errors import ConfigurationError

logger = logging.getLogger(__name__)

# One number for all Nightshift processes: two that start together must not migrate at once.
MIGRATION_LOCK = 7_410_250_615
_FILE_NAME = re.compile(r"^(?P<version>\d{4})_(?P<name>[a-z0-9_]+)\.sql$")


@dataclass(frozen=True)
class Migration:
    """One file of `sql/migrations`; `digest` is the SHA-256 of its text."""

    version: int
    name: str
    text: str
    digest: str


def read_migrations(folder: Path | None = None) -> tuple[Migration, ...]:
    """All migrations in order of their number; raises ConfigurationError on a bad name or a number used twice."""
    found: dict[int, Migration] = {}
    for path in sorted((folder or files_root() / "sql" / "migrations").glob("*.sql")):
        match = _FILE_NAME.match(path.name)
        if match is None:
            raise ConfigurationError(f"migration {path.name}: the name must be NNNN_verb_object.sql")
        text = path.read_text(encoding="utf-8")
        version = int(match["version"])
        if version in found:
            raise ConfigurationError(f"migration {path.name}: number {version:04d} is used twice")
        found[version] = Migration(version, match["name"], text, hashlib.sha256(text.encode()).hexdigest())
    return tuple(found[version] for version in sorted(found))


def pending_migrations(connection: psycopg.Connection, migrations: tuple[Migration, ...]) -> tuple[Migration, ...]:
    """Those not yet applied. Raises ConfigurationError where an applied file was changed afterwards."""
    row = connection.execute("SELECT to_regclass('nightshift.schema_migration')").fetchone()
    if row is None or row[0] is None:
        return migrations
    applied: dict[int, str] = dict(
        connection.execute("SELECT version, digest FROM nightshift.schema_migration").fetchall()
    )
    for migration in migrations:
        known = applied.get(migration.version)
        if known is not None and known != migration.digest:
            raise ConfigurationError(
                f"migration {migration.version:04d}_{migration.name} was changed after it had been applied: "
                "restore the file and put the change into a new migration"
            )
    return tuple(migration for migration in migrations if migration.version not in applied)


def migrate(dsn: str, migrations: tuple[Migration, ...] | None = None) -> list[str]:
    """Applies what is pending, each migration in a transaction of its own, under a lock. Returns their names.

    The caller's role must own the database; the extension `vector` must be available on the server.
    """
    wanted = read_migrations() if migrations is None else migrations
    done: list[str] = []
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", (MIGRATION_LOCK,))
        try:
            for migration in pending_migrations(connection, wanted):
                with connection.transaction():
                    connection.execute(literal(migration.text))
                    connection.execute(
                        "INSERT INTO nightshift.schema_migration (version, name, digest) VALUES (%s, %s, %s)",
                        (migration.version, migration.name, migration.digest),
                    )
                done.append(f"{migration.version:04d}_{migration.name}")
                logger.info("applied migration %04d_%s", migration.version, migration.name)
        finally:
            connection.execute("SELECT pg_advisory_unlock(%s)", (MIGRATION_LOCK,))
    return done
