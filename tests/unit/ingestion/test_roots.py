"""What paths mean: one folder is one source, however its path is written and wherever in it a path leads."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ingestion.roots import KnownRoot, absolute, find_roots
from ingestion.scope import Root
from rag_core.errors import ConfigurationError


@pytest.fixture(name="docs")
def fixture_docs(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    (docs / "sub" / "deep").mkdir(parents=True)
    for name in ("x.md", "sub/x.md", "sub/deep/x.md"):
        (docs / name).write_text(name)
    return docs


def root_of(path: Path, *known: KnownRoot, source: str | None = None) -> Root:
    (root,), _ = find_roots([path], known, source=source)
    return root


@pytest.mark.parametrize("written", [".", "../docs/sub/..", "sub/../../docs", "sub/deep/../..", "../docs/./", "sub/.."])
def test_every_way_of_writing_a_folder_gives_its_own_name(
    docs: Path, monkeypatch: pytest.MonkeyPatch, written: str
) -> None:
    monkeypatch.chdir(docs)
    assert root_of(Path(written)) == Root(docs, "docs")
    monkeypatch.chdir(docs / "sub")
    assert root_of(Path("..")) == root_of(docs / "sub" / "..") == Root(docs, "docs")


def test_what_is_above_a_link_is_what_the_system_says(docs: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "link").symlink_to(docs / "sub")
    assert absolute(tmp_path / "elsewhere" / "link" / "..") == docs
    assert os.path.samefile(tmp_path / "elsewhere" / "link" / "..", docs)  # noqa: PTH121 - one call for both
    # A link keeps its name: a source may be called after it.
    assert absolute(tmp_path / "elsewhere" / "." / "link") == tmp_path / "elsewhere" / "link"


@pytest.mark.parametrize("source", ["", " ", ".", "..", " .. "])
def test_a_source_cannot_be_called_so(docs: Path, source: str) -> None:
    with pytest.raises(ConfigurationError, match="is no name"):
        find_roots([docs], source=source)


def test_a_path_below_a_known_folder_is_that_source(docs: Path) -> None:
    known = KnownRoot("docs", docs)
    roots, notes = find_roots([docs / "sub", docs / "sub" / "x.md", docs / "x.md", docs], [known])
    assert roots == (
        Root(docs / "sub", "docs", "sub"),
        Root(docs / "sub" / "x.md", "docs", "sub/x.md"),
        Root(docs / "x.md", "docs", "x.md"),
        Root(docs, "docs"),
    )
    assert {root.base for root in roots} == {docs}
    # What its name says already need not be told.
    assert len(notes) == 2
    assert all("known source 'docs'" in note for note in notes)


def test_the_folder_of_a_source_with_another_name_is_that_source(docs: Path) -> None:
    (root,), (note,) = find_roots([docs], [KnownRoot("all", docs)])
    assert root == Root(docs, "all")
    assert note == f"{docs} is the folder of the known source 'all'; --source makes another"


def test_only_a_name_given_makes_another_source(docs: Path) -> None:
    known = KnownRoot("docs", docs)
    assert root_of(docs / "sub", known, source="mine") == Root(docs / "sub", "mine")
    assert root_of(docs / "sub" / "x.md", known, source="mine") == Root(docs / "sub" / "x.md", "mine", "x.md")
    # The name of the source that it is makes none.
    assert root_of(docs / "sub" / "x.md", known, source="docs") == Root(docs / "sub" / "x.md", "docs", "sub/x.md")


def test_nothing_known_means_the_own_name(docs: Path, tmp_path: Path) -> None:
    elsewhere = KnownRoot("other", tmp_path / "other")
    assert root_of(docs / "sub", elsewhere) == Root(docs / "sub", "sub")
    assert root_of(docs / "sub" / "x.md", elsewhere) == Root(docs / "sub" / "x.md", "sub", "x.md")
    assert root_of(Path("/"), elsewhere) == Root(Path("/"), "root")


def test_the_innermost_folder_counts_and_of_its_sources_the_one_of_its_name(docs: Path) -> None:
    outer, inner = KnownRoot("docs", docs), KnownRoot("sub", docs / "sub")
    assert root_of(docs / "sub" / "deep", outer, inner) == Root(docs / "sub" / "deep", "sub", "deep")
    twins = [KnownRoot("a", docs), KnownRoot("docs", docs)]
    assert root_of(docs, *twins) == Root(docs, "docs")
    with pytest.raises(ConfigurationError, match=r"several sources \(a, docs\)"):
        root_of(docs / "sub", *twins)
    assert root_of(docs / "sub", *twins, source="a") == Root(docs / "sub", "a", "sub")
    nameless = KnownRoot("..", docs / "sub" / "..")
    assert root_of(docs / "sub", twins[1], nameless) == Root(docs / "sub", "docs", "sub")


def test_a_folder_is_known_by_any_way_to_it(docs: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(docs)
    assert root_of(link, KnownRoot("docs", docs)) == Root(link, "docs")
    assert root_of(docs / "sub", KnownRoot("docs", link)) == Root(docs / "sub", "docs", "sub")


@pytest.mark.parametrize("inner_first", [True, False])
def test_folders_inside_one_another_are_one_source_in_one_run(docs: Path, inner_first: bool) -> None:
    paths = [docs / "sub", docs] if inner_first else [docs, docs / "sub"]
    roots, _ = find_roots(paths)
    assert set(roots) == {Root(docs, "docs"), Root(docs / "sub", "docs", "sub")}
    assert [root.path for root in roots] == paths


def test_a_missing_path_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no such file or folder") as told:
        find_roots([tmp_path / "nowhere"])
    assert "\n" not in str(told.value)
