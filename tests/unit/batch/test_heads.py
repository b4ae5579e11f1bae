"""What a batch waits for, whom it tells, and what it may be."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_core.batch.definition import load_batch
from rag_core.errors import ConfigurationError

HEAD = "title: T\nowner: finance\n{more}\nquestions:\n  - {{question_id: revenue, text: What was revenue?}}\n"


def _write(folder: Path, name: str, more: str) -> Path:
    path = folder / f"{name}.yaml"
    path.write_text(HEAD.format(more=more), encoding="utf-8")
    return path


def test_a_batch_may_wait_for_documents_schema_and_other_batches(tmp_path: Path) -> None:
    _write(tmp_path, "first", 'schedule: "0 2 * * *"')
    batch = load_batch(_write(tmp_path, "second", "after: [documents, warehouse_schema, first]"))
    assert batch.after == ("documents", "warehouse_schema", "first")


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ("after: [nobody]", r"second\.yaml:3: .*waits for nobody, which is no batch"),
        ("after: [second]", r"second\.yaml:3: .*waits for itself"),
        ('after: [documents]\nschedule: "0 2 * * *"', "a schedule or an `after`, not both"),
        ("notify: {email: ['a@b, c@d']}", "is no mail address"),
        ('notify: {email: ["a@b\\nBcc: c@d"]}', "is no mail address"),
        ("notify: {when: sometimes}", "trouble"),
        ("catch_up_from: 2026-07-01", "catch_up_from needs a schedule"),
        ("deadline_minutes: 0", "deadline_minutes"),
        ("plan_policy: any", "plan_policy"),
        ("principal: ''", "principal"),
    ],
)
def test_a_head_that_cannot_work_is_refused_in_one_line(tmp_path: Path, more: str, reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason) as refused:
        load_batch(_write(tmp_path, "second", more))
    assert "\n" not in str(refused.value)


def test_batches_that_wait_for_each_other_are_refused(tmp_path: Path) -> None:
    _write(tmp_path, "one", "after: [two]")
    _write(tmp_path, "three", "after: [one]")
    with pytest.raises(ConfigurationError, match="the batch waits for itself"):
        load_batch(_write(tmp_path, "two", "after: [three]"))
