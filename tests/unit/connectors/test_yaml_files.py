"""Configuration files: errors name file, line and key."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_core.connectors.yaml_files import load_model
from rag_core.datamodel.question import Batch
from rag_core.errors import ConfigurationError


def _load(tmp_path: Path, text: str) -> Batch:
    path = tmp_path / "review.yaml"
    path.write_text(text, encoding="utf-8")
    return load_model(path, Batch, extra={"batch": "review"})


def test_a_file_becomes_a_model(tmp_path: Path) -> None:
    batch = _load(tmp_path, "title: Übersicht\nowner: ana\nquestions:\n  - {question_id: a, text: What was revenue?}\n")
    assert batch.title == "Übersicht"
    assert batch.questions[0].text == "What was revenue?"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "title: A\nowner: b\nquestions:\n  - question_id: a\n    texxt: What?\n",
            "5: questions.0.texxt: is no key here: did you mean text?",
        ),
        ("title: A\nowner: b\nquestions:\n  - question_id: Not An Id\n    text: What?\n", "4: questions.0.question_id"),
        ("title: A\nowner: b\nquestions: []\n", "3: questions: is empty"),
        ("title: A\nquestions:\n  - {question_id: a, text: What?}\n", "1: owner: is missing"),
        ("title: A\nowner: [b\n", "not YAML"),
        ("- just\n- a list\n", "must be a mapping"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        _load(tmp_path, text)
    assert message in str(caught.value)
    assert "review.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"absent\.yaml: there is no such file"):
        load_model(tmp_path / "absent.yaml", Batch)
