"""The fixtures of the batch tests: reports are made by runs."""

from __future__ import annotations

from tests.integration.batch.conftest import bi_connection, connection, make_runner, store

__all__ = ["bi_connection", "connection", "make_runner", "store"]
