"""What can be said of the worker without a database."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingestion import worker
from ingestion.config import IngestionRules
from ingestion.documents import SourceFile
from ingestion.worker import BYTES_TOGETHER, DOCUMENTS_TOGETHER, grouped, pipeline_version


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


@pytest.mark.parametrize(
    ("changed", "same"),
    [
        ({"conversion": {"layout_models": "/models"}}, False),
        ({"conversion": {"max_rows": 10}}, False),
        ({"chunks": {"max_tokens": 300}}, False),
        ({"chunks": {"overlap": 0}}, False),
        ({"enrichment": {"title_weight": 5.0}}, False),
        ({"conversion": {"seconds": 5.0}}, True),
        ({"conversion": {"memory_megabytes": 4_096}}, True),
        ({"sources": {"exclude": ["*.tmp"]}}, True),
    ],
)
def test_other_options_are_another_version_where_they_change_what_comes_out(
    changed: dict[str, object], same: bool
) -> None:
    assert (pipeline_version(IngestionRules.model_validate(changed)) == pipeline_version(IngestionRules())) is same


@pytest.mark.parametrize("name", ["CONVERTER_VERSION", "CHUNKER_VERSION", "TOKENS_VERSION"])
def test_other_code_is_another_version(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = pipeline_version(IngestionRules())
    monkeypatch.setattr(worker, name, "another")
    assert pipeline_version(IngestionRules()) != before
