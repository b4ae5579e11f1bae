"""Database URLs in the forms that drivers and readers want."""

from __future__ import annotations

import pytest

from rag_core.connectors.dsn import backend_of, libpq_dsn, masked_dsn, parse_dsn, socket_dsn
from rag_core.errors import ConfigurationError


def test_libpq_form_drops_the_driver_and_keeps_odd_passwords() -> None:
    url = parse_dsn("postgresql+psycopg://ana:p%40ss%2Fword@db.example:5433/store?sslmode=require", setting="X")
    assert libpq_dsn(url) == "postgresql://ana:p%40ss%2Fword@db.example:5433/store?sslmode=require"


def test_a_socket_folder_is_a_parameter() -> None:
    dsn = socket_dsn("/var/run/a folder", "store", "postgres")
    assert libpq_dsn(parse_dsn(dsn, setting="X")) == "postgresql://postgres@/store?host=%2Fvar%2Frun%2Fa+folder"


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://ana:geheim@db/store",
        "snowflake://ana:geheim@account/db?private_key=geheim",
        "bigquery://project?credentials_base64=geheim",
        "postgresql://db/store?password=geheim",
    ],
)
def test_masked_form_has_no_secret(dsn: str) -> None:
    assert "geheim" not in masked_dsn(dsn)


def test_text_that_is_no_url_names_the_setting_and_not_the_value() -> None:
    with pytest.raises(ConfigurationError, match="NIGHTSHIFT_STORE__DSN is not a database URL") as caught:
        parse_dsn("host=db password=geheim", setting="NIGHTSHIFT_STORE__DSN")
    assert "geheim" not in str(caught.value)


def test_postgres_is_an_alias() -> None:
    assert backend_of(parse_dsn("postgresql+psycopg://db/x", setting="X")) == "postgresql"
