"""Exported documents: each has a file of its own, under a name that can be written."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from ingestion.export_names import export_names, write_export
from rag_core.errors import ConfigurationError


def names(*documents: tuple[str, str]) -> list[str]:
    listed = [(f"{number}abcdef012", source, path) for number, (source, path) in enumerate(documents)]
    given = export_names(listed)
    assert given == export_names(reversed(listed))
    return [given[key].as_posix() for key, _, _ in listed]


def test_a_document_keeps_its_path_and_ends_in_md() -> None:
    assert names(("docs", "a/b.md"), ("docs", "c.pdf"), ("docs", "LICENSE"), ("x/y", "d.MD")) == [
        "docs/a/b.md",
        "docs/c.pdf.md",
        "docs/LICENSE.md",
        "x_y/d.MD",
    ]


@pytest.mark.parametrize(
    ("documents", "expected"),
    [
        ([("s", "LICENSE"), ("s", "LICENSE.md")], ["s/LICENSE-0abcdef0.md", "s/LICENSE.md"]),
        ([("s", "Read.md"), ("s", "read.md")], ["s/Read.md", "s/read-1abcdef0.md"]),
        ([("s", "a.MD"), ("s", "a.md")], ["s/a-0abcdef0.md", "s/a.md"]),
        ([("a/b", "x.md"), ("a_b", "x.md")], ["a_b/x.md", "a_b/x-1abcdef0.md"]),
        ([("s", "a"), ("s", "a.md/b.md")], ["s/a-0abcdef0.md", "s/a.md/b.md"]),
    ],
)
def test_no_two_documents_are_one_file(documents: list[tuple[str, str]], expected: list[str]) -> None:
    assert names(*documents) == expected


@pytest.mark.parametrize("path", ["n" * 253 + ".x", "\u00e4" * 127 + ".md", "n" * 255, "\U0001f40b" * 63 + ".html"])
def test_a_name_that_is_too_long_is_cut_and_stays_one(tmp_path: Path, path: str) -> None:
    given = export_names([("0123456789ab", "s", path), ("ba9876543210", "s", path[:-1] + "y")])
    assert len(set(given.values())) == 2
    for key, name in given.items():
        write_export(tmp_path, name, key)
        assert (tmp_path / name).read_text() == key


def test_no_path_leaves_the_target(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="would leave"):
        write_export(tmp_path / "target", PurePosixPath("s/../../x.md"), "text")
    assert not (tmp_path / "x.md").exists()


@pytest.mark.parametrize("source", ["..", ".", ""])
def test_names_that_mean_a_folder_are_written_otherwise(tmp_path: Path, source: str) -> None:
    assert names((source, "a.md"), ("s", "../b.md"), ("s", "x/.")) == ["_/a.md", "s/_/b.md", "s/x/_.md"]
    for name in names((source, "a.md"), ("_", "a.md")):
        write_export(tmp_path, PurePosixPath(name), "text")
    assert len(list(tmp_path.rglob("*.md"))) == 2
