"""Reading the migration files."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_core.connectors.migrations import read_migrations
from rag_core.errors import ConfigurationError


def test_files_are_read_in_order_of_their_number(tmp_path: Path) -> None:
    (tmp_path / "0010_add_b.sql").write_text("SELECT 2;")
    (tmp_path / "0002_add_a.sql").write_text("SELECT 1;")
    assert [(migration.version, migration.name) for migration in read_migrations(tmp_path)] == [
        (2, "add_a"),
        (10, "add_b"),
    ]


def test_a_number_used_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "0002_add_a.sql").write_text("SELECT 1;")
    (tmp_path / "0002_add_b.sql").write_text("SELECT 1;")
    with pytest.raises(ConfigurationError, match="number 0002 is used twice"):
        read_migrations(tmp_path)


def test_a_name_without_a_number_is_refused(tmp_path: Path) -> None:
    (tmp_path / "add_a.sql").write_text("SELECT 1;")
    with pytest.raises(ConfigurationError, match="NNNN_verb_object"):
        read_migrations(tmp_path)
