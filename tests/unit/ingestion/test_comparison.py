"""What a listing means for the index."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ingestion.comparison import Comparison, KnownDocument, compare
from ingestion.documents import SourceFile
from ingestion.index import document_id
from ingestion.scope import Scope, Unseen
from rag_core.errors import ConfigurationError

ROOT = Path("/docs")
VERSION = "v1"


def file(path: str, content: str, *, source: str = "docs", root: Path = ROOT) -> SourceFile:
    return SourceFile(source, root, root / path, path, 1, content)


def known(
    path: str, content: str, *, state: str = "ok", version: str = VERSION, number: int = 1, stage: str = ""
) -> KnownDocument:
    key = document_id("docs", path)
    return KnownDocument(number, key, "docs", path, str(ROOT / path), content, version, state, stage, "")


def outcome(files: list[SourceFile], documents: list[KnownDocument], *hidden: Path) -> Comparison:
    scope = Scope((ROOT,), tuple(Unseen(path, "it is hidden") for path in hidden))
    return compare(files, documents, pipeline_version=VERSION, scope=scope)


def test_the_same_bytes_by_the_same_version_are_unchanged() -> None:
    found = outcome([file("a.md", "1")], [known("a.md", "1")])
    assert len(found.unchanged) == 1
    assert not found.work
    assert not found.gone
    assert not found.moved


@pytest.mark.parametrize("document", [known("a.md", "2"), known("a.md", "1", version="v0")])
def test_other_bytes_or_another_version_are_work(document: KnownDocument) -> None:
    found = outcome([file("a.md", "1")], [document])
    assert [each.relative_path for each in found.work] == ["a.md"]


def test_a_moved_file_keeps_its_document() -> None:
    found = outcome([file("new/a.md", "1")], [known("a.md", "1")])
    assert [(document.path, each.relative_path) for document, each in found.moved] == [("a.md", "new/a.md")]
    assert not found.work
    assert not found.gone


def test_a_copy_beside_the_original_is_a_new_document() -> None:
    found = outcome([file("a.md", "1"), file("b.md", "1")], [known("a.md", "1")])
    assert len(found.unchanged) == 1
    assert [each.relative_path for each in found.work] == ["b.md"]


def test_one_of_two_equal_files_deleted_leaves_the_other() -> None:
    found = outcome([file("b.md", "1")], [known("a.md", "1"), known("b.md", "1", number=2)])
    assert [each.relative_path for _, each in found.unchanged] == ["b.md"]
    assert [each.path for each in found.gone] == ["a.md"]
    assert found.moved == ()


def test_two_files_moved_at_once_are_paired_in_order() -> None:
    documents = [known("a.md", "1", number=1), known("b.md", "1", number=2)]
    found = outcome([file("x.md", "1"), file("y.md", "1")], documents)
    assert [(document.path, each.relative_path) for document, each in found.moved] == [
        ("a.md", "x.md"),
        ("b.md", "y.md"),
    ]


def test_a_file_moved_onto_a_known_path_changes_that_document() -> None:
    found = outcome([file("b.md", "1")], [known("a.md", "1", number=1), known("b.md", "2", number=2)])
    assert [each.relative_path for each in found.work] == ["b.md"]
    assert [each.path for each in found.gone] == ["a.md"]


def test_nothing_is_gone_where_the_listing_saw_nothing() -> None:
    documents = [known("a.md", "1"), known("sub/b.md", "2", number=2), known("subs/c.md", "3", number=3)]
    everywhere = outcome([file("d.md", "1")], documents, ROOT)
    assert not everywhere.gone
    assert not everywhere.moved
    assert everywhere.hidden == tuple(documents)
    below = outcome([], documents, ROOT / "sub")
    assert [each.path for each in below.gone] == ["a.md", "subs/c.md"]
    assert [each.path for each in below.hidden] == ["sub/b.md"]


def test_a_document_that_keeps_its_text_does_not_move_with_broken_bytes() -> None:
    kept = replace(known("a.md", "", state="empty", stage="convert"), kept=True)
    found = outcome([file("other.md", "")], [kept])
    assert (found.moved, found.gone) == ((), (kept,))
    assert [each.relative_path for each in found.work] == ["other.md"]


def test_documents_outside_the_roots_are_not_gone() -> None:
    found = compare(
        [file("sub/a.md", "1")],
        [known("other.md", "2")],
        pipeline_version=VERSION,
        scope=Scope((ROOT / "sub",)),
    )
    assert found.gone == ()


@pytest.mark.parametrize("state", ["encrypted", "corrupt", "quarantined"])
def test_states_that_follow_from_the_bytes_are_not_tried_again(state: str) -> None:
    found = outcome([file("a.pdf", "1")], [known("a.pdf", "1", state=state, stage="convert")])
    assert len(found.still_failing) == 1
    assert found.work == ()


@pytest.mark.parametrize("stage", ["machine", "enrich", "chunk", "embed", "quality", "index"])
def test_what_the_document_is_not_to_blame_for_is_tried_again(stage: str) -> None:
    found = outcome([file("a.pdf", "1")], [known("a.pdf", "1", state="quarantined", stage=stage)])
    assert [each.relative_path for each in found.work] == ["a.pdf"]


@pytest.mark.parametrize(("stage", "again"), [("embed", True), ("convert", False)])
def test_a_part_is_tried_again_where_the_embedding_model_lost_the_rest(stage: str, again: bool) -> None:
    found = outcome([file("a.pdf", "1")], [known("a.pdf", "1", state="partial", stage=stage)])
    assert (len(found.work), len(found.unchanged)) == ((1, 0) if again else (0, 1))


def test_two_files_that_would_be_one_document_are_refused() -> None:
    files = [file("a.md", "1"), file("a.md", "2", root=Path("/other"))]
    with pytest.raises(ConfigurationError, match="--source"):
        outcome(files, [])
