"""What can be said of the worker without a database."""

from __future__ import annotations

from pathlib import Path

from ingestion.documents import SourceFile
from ingestion.worker import BYTES_TOGETHER, DOCUMENTS_TOGETHER, grouped


def file(name: str, size: int) -> SourceFile:
    return SourceFile("s", Path("s"), Path("s") / name, name, size, "0" * 64)


def test_groups_are_bounded_in_number_and_size_and_lose_nothing() -> None:
    files = [file(f"{n}.md", 100) for n in range(70)] + [file("big.pdf", 3 * BYTES_TOGETHER), file("z.md", 1)]
    groups = list(grouped(files))
    assert [each for group in groups for each in group] == files
    assert all(len(group) <= DOCUMENTS_TOGETHER for group in groups)
    assert [len(group) for group in groups] == [32, 32, 6, 1, 1]
    assert all(len(group) == 1 or sum(each.size for each in group) <= BYTES_TOGETHER for group in groups)


def test_no_files_make_no_group() -> None:
    assert list(grouped([])) == []
