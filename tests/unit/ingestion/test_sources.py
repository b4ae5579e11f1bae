"""Discovery on real folders: order, hashes, links, what is left out and why."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ingestion.config import SourceRules
from ingestion.roots import find_roots
from ingestion.scope import Root, Scope, Unseen
from ingestion.sources import Discovery, discover

RULES = SourceRules()
_told: list[tuple[str, str]] = []


@pytest.fixture(scope="module")
def accesses() -> Iterator[list[tuple[str, str]]]:
    """What is opened and listed from now on: the event's name and the path. A hook of Python's stays for good."""
    watching = True

    def note(event: str, arguments: tuple[object, ...]) -> None:
        if watching and event in ("open", "os.scandir"):
            _told.append((event, str(arguments[0])))

    sys.addaudithook(note)
    yield _told
    watching = False


def listing(*paths: Path, source: str | None = None, rules: SourceRules = RULES) -> Discovery:
    roots, _ = find_roots(paths, source=source)
    return discover(roots, rules=rules)


def test_files_come_sorted_and_hashed(tmp_path: Path) -> None:
    for name in ("b.md", "a.md", "sub/c.md"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"text of {name}")
    found = listing(tmp_path, source="docs")
    assert [file.relative_path for file in found.files] == ["a.md", "b.md", "sub/c.md"]
    assert found.files[2].content_hash == hashlib.sha256(b"text of sub/c.md").hexdigest()
    assert found.files[0].size == len("text of a.md")
    assert {file.source for file in found.files} == {"docs"}
    assert found.scope == Scope((tmp_path,))
    assert found.skipped == ()


def test_the_hash_does_not_know_the_time(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("same")
    before = listing(tmp_path).files[0].content_hash
    os.utime(path, (1, 1))
    assert listing(tmp_path).files[0].content_hash == before


def test_a_single_file_may_be_a_root(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("x")
    (tmp_path / "b.md").write_text("y")
    found = listing(path)
    assert [(file.relative_path, file.source) for file in found.files] == [("a.md", tmp_path.name)]


def test_links_that_leave_or_loop_are_reported_and_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    root = tmp_path / "root"
    (root / "inner").mkdir(parents=True)
    (root / "inner" / "kept.md").write_text("kept")
    (root / "away").symlink_to(outside)
    (root / "file.md").symlink_to(outside / "secret.md")
    (root / "inner" / "up").symlink_to(root)
    (root / "self").symlink_to(root / "self")
    (root / "gone.md").symlink_to(root / "nowhere.md")
    found = listing(root)
    assert [file.relative_path for file in found.files] == ["inner/kept.md"]
    assert {(skip.relative_path, skip.reason) for skip in found.skipped} == {
        ("away", "link_outside"),
        ("file.md", "link_outside"),
        ("inner/up", "link_loop"),
        ("self", "link_loop"),
        ("gone.md", "broken_link"),
    }
    assert found.scope.unseen == (
        Unseen(root / "gone.md", "the link cannot be followed"),
        Unseen(root / "inner" / "up", "the link cannot be followed"),
        Unseen(root / "self", "the link cannot be followed"),
    )


def test_a_folder_is_listed_once_whatever_links_lead_to_it(tmp_path: Path) -> None:
    (tmp_path / "b" / ".releases" / "5").mkdir(parents=True)
    (tmp_path / "b" / "x.md").write_text("x")
    (tmp_path / "b" / ".releases" / "5" / "y.md").write_text("y")
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "current").symlink_to(tmp_path / "b" / ".releases" / "5")
    (tmp_path / "also").symlink_to(tmp_path / "current")
    (tmp_path / "copy.md").symlink_to(tmp_path / "b" / "x.md")
    found = listing(tmp_path)
    # Under its own path where it has one that counts, else under the first link's.
    assert [file.relative_path for file in found.files] == ["also/y.md", "b/x.md", "copy.md"]
    assert {(skip.relative_path, skip.reason) for skip in found.skipped} == {
        ("a", "link_again"),
        ("b/.releases", "hidden"),
        ("current", "link_again"),
    }
    assert found.scope.unseen == ()


def test_two_equal_files_in_two_folders_are_two_documents(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.md").write_text("x")
    (tmp_path / "b" / "hard.md").hardlink_to(tmp_path / "a" / "x.md")
    found = listing(tmp_path)
    assert [file.relative_path for file in found.files] == ["a/x.md", "b/hard.md", "b/x.md"]


def test_folders_that_all_link_to_one_another_cost_no_more_than_they_hold(tmp_path: Path) -> None:
    names = [f"f{number:02}" for number in range(12)]  # 12! ways through them
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.md").write_text(name)
        for other in names:
            if other != name:
                (tmp_path / name / f"to-{other}").symlink_to(tmp_path / other)
    found = listing(tmp_path)
    assert [file.relative_path for file in found.files] == [f"{name}/x.md" for name in names]
    assert len(found.skipped) == 12 * 11


def test_what_is_left_out_has_a_reason(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "a.md").write_text("x")
    (tmp_path / "big.md").write_text("x" * 20)
    (tmp_path / "old.md").write_text("x")
    (tmp_path / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    (tmp_path / "ok.md").write_text("x")
    found = listing(tmp_path, rules=SourceRules(max_bytes=10, exclude=("old*",)))
    assert [file.relative_path for file in found.files] == ["ok.md"]
    assert [(skip.relative_path, skip.reason) for skip in found.skipped] == [
        (".git", "hidden"),
        ("big.md", "too_large"),
        ("old.md", "excluded"),
        ("photo.png", "unsupported"),
    ]


def test_content_wins_over_the_name(tmp_path: Path) -> None:
    (tmp_path / "report.dat").write_bytes(b"%PDF-1.7\n")
    (tmp_path / "NOTES").write_text("plain words")
    (tmp_path / "blob").write_bytes(bytes(range(256)))
    found = listing(tmp_path)
    assert [file.relative_path for file in found.files] == ["NOTES", "report.dat"]


def test_an_unreadable_folder_makes_the_listing_incomplete(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    (closed / "a.md").write_text("x")
    (tmp_path / "b.md").write_text("y")
    closed.chmod(0)
    try:
        if os.access(closed, os.R_OK):
            pytest.skip("this user may read everything")
        found = listing(tmp_path)
    finally:
        closed.chmod(0o700)
    assert found.scope.unseen == (Unseen(tmp_path, "closed could not be read (Permission denied)"),)
    assert [(skip.relative_path, skip.reason) for skip in found.skipped] == [("closed", "unreadable")]


def test_a_listing_that_fails_is_incomplete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.md").write_text("x")
    real = os.scandir

    def fail(folder: str | os.PathLike[str]) -> object:
        if Path(folder).name == "sub":
            raise OSError(5, "Input/output error")
        return real(folder)

    monkeypatch.setattr(os, "scandir", fail)
    found = listing(tmp_path)
    assert found.scope.unseen == (Unseen(tmp_path, "sub could not be read (Input/output error)"),)
    assert found.skipped[0].reason == "unreadable"
    assert [file.relative_path for file in found.files] == ["a.md"]


def test_a_root_that_lists_nothing_or_is_gone_hides_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.md").write_text("x")
    (tmp_path / "empty").mkdir()
    roots = [Root(tmp_path / name, name) for name in ("a", "empty", "nowhere")]
    found = discover(roots, rules=RULES)
    assert [file.relative_path for file in found.files] == ["x.md"]
    assert found.scope.covers(tmp_path / "a" / "y.md")
    for name in ("empty", "nowhere"):
        assert not found.scope.covers(tmp_path / name / "y.md")
        assert found.scope.veil(tmp_path / name / "y.md") is not None


def test_a_file_that_is_there_but_cannot_be_taken_now_is_not_gone(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    (tmp_path / "big.md").write_text("x" * 20)
    (tmp_path / "NOTES").write_text("")
    (tmp_path / "old.log9").write_text("")
    found = listing(tmp_path, rules=SourceRules(max_bytes=10))
    hidden = [name for name in ("a.md", "big.md", "NOTES", "old.log9") if not found.scope.covers(tmp_path / name)]
    assert hidden == ["big.md", "NOTES"]


def test_names_alone_are_listed_as_the_documents_are(tmp_path: Path) -> None:
    for name in ("a.md", "sub/b.md", "NOTES"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("words")
    full, names = listing(tmp_path), discover([Root(tmp_path, tmp_path.name)], rules=RULES, hashed=False)
    assert [replace(file, content_hash="") for file in full.files] == list(names.files)
    assert (full.skipped, full.scope) == (names.skipped, names.scope)


def test_rules_see_the_path_below_the_source_wherever_the_listing_begins(tmp_path: Path) -> None:
    for name in ("docs/sub/a.md", "docs/sub/drafts/b.md", "docs/sub/link-target.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "docs" / "top.md").write_text("top")
    (tmp_path / "docs" / "sub" / "up.md").symlink_to(tmp_path / "docs" / "top.md")
    rules = SourceRules(exclude=("sub/drafts*",))
    below = discover([Root(tmp_path / "docs" / "sub", "docs", "sub")], rules=rules).files
    whole = discover([Root(tmp_path / "docs", "docs")], rules=rules).files
    assert [file for file in whole if file.relative_path.startswith("sub/")] == list(below)
    assert [file.relative_path for file in below] == ["sub/a.md", "sub/link-target.md", "sub/up.md"]


def test_names_that_are_not_utf8_can_be_stored_and_stay_two(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9s")
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    for name in (b"caf\xe9.md", b"caf\xe8.md", b"caf\xe9.bin"):
        (folder / os.fsdecode(name)).write_bytes(name)
    found = listing(folder)
    assert [file.relative_path for file in found.files] == ["caf\\xe8.md", "caf\\xe9.md"]
    assert [file.path.read_bytes() for file in found.files] == [b"caf\xe8.md", b"caf\xe9.md"]
    assert {file.source for file in found.files} == {"caf\\xe9s"}
    assert [skip.relative_path for skip in found.skipped] == ["caf\\xe9.bin"]


def test_two_overlapping_roots_give_each_file_once(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.md").write_text("x")
    found = listing(tmp_path, tmp_path / "sub", source="one")
    assert len(found.files) == 1


def test_each_folder_is_listed_and_each_file_read_once(tmp_path: Path, accesses: list[tuple[str, str]]) -> None:
    for number in range(200):
        path = tmp_path / f"{number % 4}" / f"{number:04}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    accesses.clear()
    found = listing(tmp_path)
    assert len(found.files) == 200
    folders = [tmp_path, *(tmp_path / str(number) for number in range(4))]
    wanted = [("os.scandir", str(folder)) for folder in folders] + [("open", str(file.path)) for file in found.files]
    assert sorted(access for access in accesses if access[1].startswith(str(tmp_path))) == sorted(wanted)
