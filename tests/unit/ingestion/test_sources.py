"""Discovery on real folders: order, hashes, links, what is left out and why."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

import pytest

from ingestion.config import SourceRules
from ingestion.sources import discover
from rag_core.errors import ConfigurationError

RULES = SourceRules()


def test_files_come_sorted_and_hashed(tmp_path: Path) -> None:
    for name in ("b.md", "a.md", "sub/c.md"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"text of {name}")
    found = discover([tmp_path], source="docs", rules=RULES)
    assert [file.relative_path for file in found.files] == ["a.md", "b.md", "sub/c.md"]
    assert found.files[2].content_hash == hashlib.sha256(b"text of sub/c.md").hexdigest()
    assert found.files[0].size == len("text of a.md")
    assert {file.source for file in found.files} == {"docs"}
    assert found.complete
    assert found.skipped == ()


def test_the_hash_does_not_know_the_time(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("same")
    before = discover([tmp_path], rules=RULES).files[0].content_hash
    os.utime(path, (1, 1))
    assert discover([tmp_path], rules=RULES).files[0].content_hash == before


def test_a_single_file_may_be_a_root(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("x")
    (tmp_path / "b.md").write_text("y")
    found = discover([path], rules=RULES)
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
    found = discover([root], rules=RULES)
    assert [file.relative_path for file in found.files] == ["inner/kept.md"]
    assert {(skip.relative_path, skip.reason) for skip in found.skipped} == {
        ("away", "link_outside"),
        ("file.md", "link_outside"),
        ("inner/up", "link_loop"),
        ("self", "link_loop"),
        ("gone.md", "broken_link"),
    }
    assert found.complete


def test_a_link_within_the_root_is_followed(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.md").write_text("x")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    found = discover([tmp_path], rules=RULES)
    assert [file.relative_path for file in found.files] == ["a/x.md", "b/x.md"]


def test_what_is_left_out_has_a_reason(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "a.md").write_text("x")
    (tmp_path / "big.md").write_text("x" * 20)
    (tmp_path / "old.md").write_text("x")
    (tmp_path / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    (tmp_path / "ok.md").write_text("x")
    found = discover([tmp_path], rules=SourceRules(max_bytes=10, exclude=("old*",)))
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
    found = discover([tmp_path], rules=RULES)
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
        found = discover([tmp_path], rules=RULES)
    finally:
        closed.chmod(0o700)
    assert not found.complete
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
    found = discover([tmp_path], rules=RULES)
    assert not found.complete
    assert found.skipped[0].reason == "unreadable"
    assert [file.relative_path for file in found.files] == ["a.md"]


def test_a_missing_root_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no such file or folder"):
        discover([tmp_path / "nowhere"], rules=RULES)


def test_a_name_that_is_not_utf8_can_be_stored(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/caf\xe9.md"
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_WRONLY)
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    os.write(descriptor, b"text")
    os.close(descriptor)
    (file,) = discover([tmp_path], rules=RULES).files
    assert file.relative_path == "caf\ufffd.md"
    assert file.path.read_text() == "text"


def test_two_overlapping_roots_give_each_file_once(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.md").write_text("x")
    found = discover([tmp_path, tmp_path / "sub"], source="one", rules=RULES)
    assert len(found.files) == 1


def test_many_small_files_are_quick(tmp_path: Path) -> None:
    for number in range(1_000):
        (tmp_path / f"{number:04}.md").write_text("x")
    started = time.monotonic()
    found = discover([tmp_path], rules=RULES)
    assert len(found.files) == 1_000
    # Far above what it takes (0.05 s), far below what a slow way would take.
    assert time.monotonic() - started < 2.0
