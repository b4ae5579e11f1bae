"""When a document counts as gone: only where a listing saw that no file stands for it, and then whatever lies there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ingestion.config import IngestionRules, SourceRules
from ingestion.listing import list_documents
from ingestion.pipeline import IngestOutcome, ingest
from rag_core.connectors.memory_embedder import WordHashEmbedder
from rag_core.connectors.store import Store
from tests.integration.ingestion.test_gate import found
from tests.integration.ingestion.test_pipeline import assert_consistent

pytestmark = pytest.mark.integration

Run = Callable[..., IngestOutcome]


def write(path: Path, word: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# {word}\n\nThe {word} is here.\n", encoding="utf-8")
    return path


@pytest.fixture(name="run")
def fixture_run(store: Store, words: WordHashEmbedder) -> Run:
    def run(*paths: Path, rules: IngestionRules | None = None, prune: bool = True, **options: object) -> IngestOutcome:
        return ingest(store, words, paths, rules=rules or IngestionRules(), prune=prune, **options)  # type: ignore[arg-type]

    return run


@pytest.fixture(name="two")
def fixture_two(tmp_path: Path) -> tuple[Path, Path]:
    """Twelve documents in one folder and three in another."""
    for number in range(12):
        write(tmp_path / "a" / f"a{number}.md", f"alpha{number}")
    for number in range(3):
        write(tmp_path / "b" / f"b{number}.md", f"beta{number}")
    return tmp_path / "a", tmp_path / "b"


@pytest.mark.parametrize("source", ["all", None])
def test_a_folder_that_lists_nothing_removes_nothing_and_is_told_by_name(
    run: Run, store: Store, two: tuple[Path, Path], source: str | None
) -> None:
    full, emptied = two
    run(*two, source=source)
    shutil.rmtree(emptied)
    emptied.mkdir()
    (full / "a1.md").unlink()
    outcome = run(*two, source=source)
    assert outcome.documents["removed"] == 1  # of the folder that is there
    assert outcome.failed
    assert outcome.prune_refused == (
        f"nothing was removed below {emptied}, where 3 known documents were not found: it lists no document"
    )
    assert len(list_documents(store)) == 14
    # Not asked to remove anything, the run has nothing to refuse.
    assert run(*two, source=source, prune=False).prune_refused == ""
    for number in range(3):
        write(emptied / f"b{number}.md", f"beta{number}")
    assert run(*two, source=source).documents["unchanged"] == 14


def test_a_folder_that_cannot_be_read_keeps_all_of_its_root(
    run: Run, store: Store, two: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    full, other = two
    write(full / "sub" / "c.md", "gamma")
    run(*two)
    (full / "a1.md").unlink()
    (other / "b1.md").unlink()
    real = os.scandir

    def fail(folder: str | os.PathLike[str]) -> object:
        if Path(folder) == full / "sub":
            raise OSError(5, "Input/output error")
        return real(folder)

    with monkeypatch.context() as patched:
        patched.setattr(os, "scandir", fail)
        outcome = run(*two)
    assert outcome.documents["removed"] == 1
    assert "2 known documents were not found: sub could not be read (Input/output error)" in outcome.prune_refused
    assert len(list_documents(store)) == 15
    assert run(*two).documents["removed"] == 1


def test_below_a_link_that_leads_nowhere_nothing_is_gone(
    run: Run, store: Store, words: WordHashEmbedder, two: tuple[Path, Path]
) -> None:
    folder, _ = two
    write(folder / ".rel" / "v1" / "x.md", "xray")
    write(folder / ".rel" / "v1" / "y.md", "yoke")
    (folder / "current").symlink_to(Path(".rel") / "v1")
    run(folder)
    (folder / ".rel" / "v1").rename(folder / ".rel" / "away")
    (folder / "a1.md").unlink()
    outcome = run(folder)
    assert outcome.documents["removed"] == 1
    assert f"below {folder / 'current'}, where 2 known documents" in outcome.prune_refused
    assert found(store, words, "xray") == {"current/x.md"}
    (folder / ".rel" / "away").rename(folder / ".rel" / "v1")
    assert run(folder).documents["unchanged"] == 13


def as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    write(path / "inner.md", "inner")


def as_link_outside(path: Path) -> None:
    path.unlink()
    path.symlink_to(write(path.parent.parent / "secret.md", "secret"))


def as_hidden_target(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize("change", [as_folder, as_link_outside, as_hidden_target])
def test_what_takes_the_place_of_a_file_is_not_the_document(
    run: Run, store: Store, words: WordHashEmbedder, two: tuple[Path, Path], change: Callable[[Path], None]
) -> None:
    folder, _ = two
    run(folder)
    change(folder / "a7.md")
    outcome = run(folder)
    assert (outcome.documents["removed"], outcome.prune_refused) == (1, "")
    assert found(store, words, "alpha7") == set()
    assert found(store, words, "secret") == set()
    assert_consistent(store)


@pytest.mark.parametrize(
    "sources", [SourceRules(exclude=("a7*",)), SourceRules(extensions=("txt",)), SourceRules(exclude=("private/*",))]
)
def test_what_the_rules_leave_out_by_now_is_removed(
    run: Run, store: Store, words: WordHashEmbedder, two: tuple[Path, Path], sources: SourceRules
) -> None:
    folder, _ = two
    write(folder / "private" / "p.md", "private")
    write(folder / "kept.txt", "kept")
    run(folder)
    before = {each["path"] for each in list_documents(store)}
    outcome = run(folder, rules=IngestionRules(sources=sources), max_delete_share=1.0)
    left = {each["path"] for each in list_documents(store)}
    assert outcome.documents["removed"] == len(before - left) > 0
    assert left == {
        "a7*": before - {"a7.md"},
        "private/*": before - {"private/p.md"},
    }.get("".join(sources.exclude), {"kept.txt"})


@pytest.mark.parametrize("content", ["# alpha7\n\nThe alpha7 is back.\n", "x" * 200])
def test_a_file_that_is_back_or_cannot_be_taken_stays(
    run: Run, store: Store, two: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    folder, _ = two
    run(folder)
    small = IngestionRules(sources=SourceRules(max_bytes=100))
    (folder / "a7.md").unlink()
    (folder / "a8.md").unlink()
    from ingestion import pipeline

    real = pipeline.judge_ingest

    def return_meanwhile(*arguments: object, **options: object) -> object:
        (folder / "a7.md").write_text(content, encoding="utf-8")
        return real(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(pipeline, "judge_ingest", return_meanwhile)
    outcome = run(folder, rules=small)
    assert outcome.documents["removed"] == 1
    assert {each["path"] for each in list_documents(store)} >= {"a7.md"}


@pytest.mark.parametrize(("name", "content"), [("big.md", "x" * 200), ("NOTES", "")])
def test_a_file_that_is_there_but_cannot_be_taken_is_told_and_kept(
    run: Run, store: Store, words: WordHashEmbedder, two: tuple[Path, Path], name: str, content: str
) -> None:
    folder, _ = two
    rules = IngestionRules(sources=SourceRules(max_bytes=100))
    (folder / name).write_text("The omega is here.\n", encoding="utf-8")
    run(folder, rules=rules)
    (folder / name).write_text(content, encoding="utf-8")
    outcome = run(folder, rules=rules)
    assert outcome.documents["removed"] == 0
    assert [(each.path, each.stage, each.kept) for each in outcome.documents_failed] == [(name, "discover", True)]
    assert found(store, words, "omega") == {name}


@pytest.mark.parametrize(("share", "removed"), [(0.0, 0), (0.2, 3)])
def test_a_share_of_none_removes_none(run: Run, two: tuple[Path, Path], share: float, removed: int) -> None:
    folder, _ = two
    run(folder)
    for number in range(3):
        (folder / f"a{number}.md").unlink()
    outcome = run(folder, max_delete_share=share)
    assert outcome.documents["removed"] == removed
    assert ("more than the 0 that one run may remove" in outcome.prune_refused) == (share == 0)
