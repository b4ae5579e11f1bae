"""Database URLs: one spelling for people, the forms that drivers want, and a form without secrets for output."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from rag_core.errors import ConfigurationError

WAREHOUSE_BACKENDS = ("postgresql", "redshift", "snowflake", "bigquery", "duckdb")


def parse_dsn(dsn: str, *, setting: str) -> URL:
    """Parses an SQLAlchemy URL; raises ConfigurationError that names the setting and never repeats the value."""
    try:
        return make_url(dsn)
    except (ArgumentError, ValueError):
        raise ConfigurationError(
            f"{setting} is not a database URL such as postgresql://user:password@host:5432/name"
        ) from None


def backend_of(url: URL) -> str:
    """The database's name without a driver: `postgresql` for `postgresql+psycopg`; `postgres` is an alias."""
    name = url.get_backend_name()
    return "postgresql" if name == "postgres" else name


def libpq_dsn(url: URL) -> str:
    """The URL as libpq (psycopg) reads it: no driver name, hosts that are folders as a parameter."""
    query = {key: value for key, value in url.query.items() if isinstance(value, str)}
    credentials = ""
    if url.username:
        credentials = quote(url.username, safe="")
        if url.password:
            credentials += ":" + quote(str(url.password), safe="")
        credentials += "@"
    port = f":{url.port}" if url.port else ""
    tail = "?" + urlencode(query) if query else ""
    return f"postgresql://{credentials}{url.host or ''}{port}/{url.database or ''}{tail}"


def socket_dsn(folder: str, database: str, user: str) -> str:
    """URL of a database on a server that listens on a unix socket in `folder`."""
    return f"postgresql://{user}@/{database}?{urlencode({'host': folder})}"


def masked_dsn(dsn: str) -> str:
    """The URL with its password and secret-looking parameters replaced, for output."""
    try:
        url = make_url(dsn)
    except (ArgumentError, ValueError):
        return "***"
    secret_words = ("password", "token", "secret", "key", "credential", "passcode")
    hidden = {
        key: "***" if any(word in key.lower() for word in secret_words) else value for key, value in url.query.items()
    }
    return url.set(query=hidden).render_as_string(hide_password=True)
