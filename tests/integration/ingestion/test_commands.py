"""`nightshift ingest`, `documents list` and `documents retry`, and the steps of the DAG, over one store."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self, cast

import pytest

from ingestion.config import IngestionRules, SourceRules
from ingestion.scheduled import check_scheduled_ingest, ingest_group, plan_scheduled_ingest, publish_scheduled_ingest
from rag_core.cli import main
from rag_core.connectors.memory_embedder import WordHashEmbedder
from rag_core.connectors.store import Store
from rag_core.retrieval.search import HybridSearch
from rag_core.settings import Settings
from rag_core.wiring import Services
from tests.integration.ingestion.test_gate import LoudEmbedder, found

pytestmark = pytest.mark.integration

Command = Callable[..., tuple[int, dict[str, Any]]]


class FewServices:
    """What ingestion takes of the services, with an embedder without weights."""

    def __init__(self, store: Store, embedder: WordHashEmbedder, root: Path) -> None:
        self.store, self.embedder, self.chat_model = store, embedder, None
        self.settings = Settings()
        self._root = root

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def config_path(self, path: Path) -> Path:
        return self._root / path


@pytest.fixture(name="loud")
def fixture_loud() -> LoudEmbedder:
    return LoudEmbedder()


@pytest.fixture(name="services")
def fixture_services(store: Store, loud: LoudEmbedder, repo_root: Path) -> Services:
    return cast("Services", FewServices(store, loud, repo_root))


@pytest.fixture(name="command")
def fixture_command(services: Services, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs a command as the shell does; its exit code and its JSON."""
    monkeypatch.setattr("ingestion.cli.open_services", lambda: services)

    def run(*arguments: str) -> tuple[int, dict[str, Any]]:
        monkeypatch.setattr("sys.argv", ["nightshift", *arguments, "--json"])
        with pytest.raises(SystemExit) as stopped:
            main.run()
        told = capsys.readouterr()
        code = stopped.value.code
        assert "Traceback" not in told.err
        return (code if isinstance(code, int) else 0), json.loads(told.out or json.dumps({"error": told.err}))

    return run


def test_a_refused_document_is_counted_listed_and_can_be_retried(
    command: Command, store: Store, loud: LoudEmbedder, folder: Path
) -> None:
    assert command("ingest", str(folder))[0] == 0
    (folder / "leader.md").write_text("# No leader\n\nThe kraken leads.\n", encoding="utf-8")
    (folder / "empty.md").write_bytes(b"")
    (folder / "good.md").write_text("# Good\n\nA turtle.\n", encoding="utf-8")
    code, told = command("ingest", str(folder))
    assert code == 1
    assert told["documents"] == {
        "discovered": 5, "unchanged": 2, "moved": 0, "indexed": 1, "partial": 0, "removed": 0, "quarantined": 2,
    }  # fmt: skip
    assert {(each["path"], each["state"], each["stage"]) for each in told["documents_failed"]} == {
        ("empty.md", "empty", "convert"),
        ("leader.md", "quarantined", "quality"),
    }
    _, listed = command("documents", "list", "--state", "quarantined")
    (document,) = listed["documents"]
    assert (document["path"], document["stage"], document["chunks"]) == ("leader.md", "quality", 1)
    assert document["reason"] == "1 vectors of the wrong size or length"
    assert found(store, loud, "Restart the quorum") == {"leader.md"}

    # It stays refused as long as the cause is there, and a retry touches no other document.
    (folder / "disk.md").write_text("# Disk full\n\nChanged meanwhile.\n", encoding="utf-8")
    code, told = command("documents", "retry", document["document_id"])
    assert (code, told["documents"]["discovered"], told["documents"]["quarantined"]) == (1, 1, 1)
    loud.mended = True
    code, told = command("documents", "retry", document["document_id"])
    assert (code, told["documents"]["indexed"], told["documents_failed"]) == (0, 1, [])
    assert command("documents", "list", "--state", "quarantined")[1] == {"documents": []}
    assert found(store, loud, "kraken leads") == {"leader.md"}
    assert found(store, loud, "Changed meanwhile") == set()


def test_a_retry_of_what_is_not_there_says_so(command: Command, folder: Path) -> None:
    command("ingest", str(folder))
    code, told = command("documents", "retry", "nobody")
    assert code == 2
    assert "no document 'nobody'" in told["error"]
    (document,) = [each for each in command("documents", "list")[1]["documents"] if each["path"] == "disk.md"]
    (folder / "disk.md").unlink()
    code, told = command("documents", "retry", document["document_id"])
    assert code == 2
    assert "does not exist any more" in told["error"]


def test_a_retry_converts_a_document_again_although_nothing_has_changed(
    command: Command, store: Store, loud: LoudEmbedder, folder: Path
) -> None:
    command("ingest", str(folder))
    before = {each["path"]: each for each in command("documents", "list")[1]["documents"]}
    code, told = command("documents", "retry", before["disk.md"]["document_id"])
    assert (code, told["documents"]["indexed"], told["documents"]["discovered"]) == (0, 1, 1)
    assert told["embeddings_computed"] == 0
    after = {each["path"]: each for each in command("documents", "list")[1]["documents"]}
    assert after["disk.md"].pop("indexed_at") > before["disk.md"].pop("indexed_at")
    assert after == before


def test_the_steps_of_the_dag_do_what_the_command_does(
    services: Services, store: Store, loud: LoudEmbedder, folder: Path
) -> None:
    (folder / "bad.md").write_text("# Bad\n\nA kraken.\n", encoding="utf-8")
    run = plan_scheduled_ingest(services, [str(folder)], group_size=3)
    assert run["groups"] == [0, 1]
    for group in run["groups"]:
        ingest_group(services, run["run_id"], group)
    assert check_scheduled_ingest(services, run["run_id"]) == {"passed": 3, "refused": 1}
    assert HybridSearch(store, loud).search("kraken").passages == ()
    told = publish_scheduled_ingest(services, run["run_id"], prune=True)
    assert (told["documents"]["indexed"], told["documents"]["quarantined"], told["documents_failed"]) == (3, 1, 1)
    assert found(store, loud, "Restart the quorum") == {"leader.md"}
    assert found(store, loud, "kraken") == set()
    (folder / "bad.md").unlink()
    # Where nothing is left to do there is no group, and the other steps still end well.
    run = plan_scheduled_ingest(services, [str(folder)], group_size=3)
    assert run["groups"] == []
    assert check_scheduled_ingest(services, run["run_id"]) == {"passed": 0, "refused": 0}
    told = publish_scheduled_ingest(services, run["run_id"], prune=True)
    assert (told["documents"]["unchanged"], told["documents"]["removed"]) == (3, 1)


def test_an_export_writes_each_document_and_names_what_it_could_not(
    command: Command, folder: Path, tmp_path: Path
) -> None:
    (folder / "LICENSE").write_text("Free for walruses.\n", encoding="utf-8")
    (folder / "LICENSE.md").write_text("# Licence\n\nFree for turtles.\n", encoding="utf-8")
    long = "n" * 252 + ".md"
    (folder / long).write_text("# Long\n\nA name.\n", encoding="utf-8")
    command("ingest", str(folder))
    target = tmp_path / "out"
    code, told = command("documents", "export", str(target))
    assert (code, told["written"], told["failed"]) == (0, 6, [])
    texts = {name: (target / name).read_text(encoding="utf-8") for name in told["files"]}
    assert len(texts) == 6
    assert "turtles" in texts["docs/LICENSE.md"]
    (walrus,) = [name for name, text in texts.items() if "walruses" in text]
    listed = {each["path"]: each["document_id"] for each in command("documents", "list")[1]["documents"]}
    # One alone is written where it stands among all.
    alone = tmp_path / "alone"
    assert command("documents", "export", str(alone), "--id", listed["LICENSE"])[1]["files"] == [walrus]
    (target / "docs" / "disk.md").unlink()
    (target / "docs" / "disk.md").mkdir()
    code, told = command("documents", "export", str(target))
    assert (code, told["written"], [each["path"] for each in told["failed"]]) == (1, 5, ["disk.md"])


def test_a_path_inside_a_known_folder_is_a_part_of_it(
    command: Command, store: Store, loud: LoudEmbedder, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "x.md").write_text("# Xray\n\nThe first walrus.\n", encoding="utf-8")
    command("ingest", str(folder))
    (folder / "sub" / "x.md").write_text("# Xray\n\nThe second turtle.\n", encoding="utf-8")
    code, told = command("ingest", str(folder / "sub" / "x.md"))
    assert (code, told["documents"]["indexed"]) == (0, 1)
    assert told["notes"] == [f"{folder}/sub/x.md is sub/x.md of the known source 'docs'; --source makes another"]
    assert (found(store, loud, "turtle"), found(store, loud, "walrus")) == ({"sub/x.md"}, set())
    monkeypatch.chdir(folder / "sub")
    for path in ("..", ".", "x.md", "../sub/../disk.md"):
        code, told = command("ingest", path)
        assert (code, told["documents"]["unchanged"]) == (0, told["documents"]["discovered"])
    assert {each["source"] for each in command("documents", "list")[1]["documents"]} == {"docs"}
    # What is removed below it is removed of the source, and no more.
    (folder / "sub" / "y.md").write_text("# Yoke\n\nA heron.\n", encoding="utf-8")
    command("ingest", ".")
    (folder / "sub" / "x.md").unlink()
    (folder / "disk.md").unlink()
    assert command("ingest", ".", "--prune")[1]["documents"]["removed"] == 1
    paths = {each["path"] for each in command("documents", "list")[1]["documents"]}
    assert paths == {"disk.md", "leader.md", "market.md", "sub/y.md"}
    # Only a name that is given makes another source; after that the path is known as both.
    assert command("ingest", ".", "--source", "mine")[1]["documents"]["indexed"] == 1
    assert {each["source"] for each in command("documents", "list")[1]["documents"]} == {"docs", "mine"}
    for name in ("..", ".", ""):
        code, told = command("ingest", ".", "--source", name)
        assert code == 2
        assert "is no name" in told["error"]


def test_a_single_file_makes_no_source_of_its_folder(command: Command, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "alone.md").write_text("# Alone\n\nA wren.\n", encoding="utf-8")
    command("ingest", str(tmp_path / "alone.md"))
    assert command("ingest", str(folder))[1]["notes"] == []
    assert command("ingest", str(tmp_path / "alone.md"), "--source", "mine")[1]["documents"]["indexed"] == 1
    sources = {(each["source"], each["path"]) for each in command("documents", "list")[1]["documents"]}
    assert sources == {(tmp_path.name, "alone.md"), ("mine", "alone.md"), *(("docs", name) for name in (
        "disk.md", "leader.md", "market.md"))}  # fmt: skip


def test_a_document_with_a_bad_name_does_not_stop_the_export(
    command: Command, store: Store, folder: Path, tmp_path: Path
) -> None:
    command("ingest", str(folder))
    with store.connection() as connection:  # as versions before made it of `nightshift ingest ..`
        connection.execute(
            "UPDATE nightshift.document SET source = '..', document_id = 'twin', "
            "location = replace(location, 'disk.md', 'sub/../disk.md') WHERE path = 'disk.md'"
        )
    code, told = command("documents", "export", str(tmp_path / "out"))
    assert (code, told["written"], told["failed"]) == (0, 3, [])
    assert sorted(told["files"]) == ["_/disk.md", "docs/leader.md", "docs/market.md"]
    # A link in the target that leads out of it is no place to write to; the others are written.
    (tmp_path / "aside").mkdir()
    target = tmp_path / "linked"
    target.mkdir()
    (target / "_").symlink_to(tmp_path / "aside")
    code, told = command("documents", "export", str(target))
    assert (code, told["written"], [each["path"] for each in told["failed"]]) == (1, 2, ["disk.md"])
    assert list((tmp_path / "aside").iterdir()) == []
    # The folder has a source of its own by now, and the other one goes.
    counts = command("ingest", str(folder), "--prune")[1]["documents"]
    assert (counts["indexed"], counts["removed"], counts["unchanged"]) == (1, 1, 2)
    assert {each["source"] for each in command("documents", "list")[1]["documents"]} == {"docs"}


@pytest.mark.parametrize("name", [".hidden.md", "link.md"])
def test_a_retry_looks_at_the_named_file_alone(
    command: Command, store: Store, loud: LoudEmbedder, folder: Path, tmp_path: Path, name: str
) -> None:
    (tmp_path / "outside.md").write_text("# Outside\n\nA walrus.\n", encoding="utf-8")
    path = folder / name
    if name == "link.md":
        path.symlink_to(tmp_path / "outside.md")
    else:
        path.write_text("# Inside\n\nA walrus.\n", encoding="utf-8")
    command("ingest", str(path))
    (document,) = command("documents", "list")[1]["documents"]
    embedded = loud.embedded
    code, told = command("documents", "retry", document["document_id"])
    assert (code, told["documents"]["discovered"], told["documents"]["indexed"]) == (0, 1, 1)
    assert loud.embedded == embedded
    assert len(command("documents", "list")[1]["documents"]) == 1


def test_a_retry_that_finds_nothing_forgets_nothing(
    command: Command, services: Services, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command("ingest", str(folder))
    (document,) = [each for each in command("documents", "list")[1]["documents"] if each["path"] == "disk.md"]
    small = IngestionRules(sources=SourceRules(max_bytes=10))
    with monkeypatch.context() as patched:
        patched.setattr("ingestion.cli.load_rules", lambda path: small)
        code, told = command("documents", "retry", document["document_id"])
    assert code == 2
    assert "disk.md: too_large" in told["error"]
    assert command("ingest", str(folder))[1]["documents"]["unchanged"] == 3
