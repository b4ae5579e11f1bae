"""Batch files: what is read from them, and one clear line for everything that is wrong with one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from rag_core.batch.definition import find_batch, load_batch, load_batches
from rag_core.batch.file import batch_schema, schema_text
from rag_core.batch.skeleton import write_skeleton
from rag_core.errors import ConfigurationError

HEAD = "title: T\nowner: o\n"
ONE = HEAD + "questions:\n  - {question_id: a, text: What is it?}\n"


def _load(folder: Path, text: str, name: str = "some_batch") -> Any:
    path = folder / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    return load_batch(path)


def test_a_batch_is_named_after_its_file(tmp_path: Path) -> None:
    batch = _load(tmp_path, ONE)
    assert (batch.batch, batch.title, batch.owner, batch.timezone, batch.schedule) == (
        "some_batch",
        "T",
        "o",
        "UTC",
        None,
    )
    assert [question.question_id for question in batch.questions] == ["a"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ONE + "  - {question_id: a, text: And again?}\n", r"some_batch\.yaml:5: the question id a is used twice"),
        (HEAD + "ownr: x\nquestions: []\n", r"some_batch\.yaml:3: ownr: Extra inputs"),
        (HEAD + "questions: []\n", "at least 1 item"),
        ("title: T\nquestions:\n  - {question_id: a, text: What is it?}\n", "owner: Field required"),
        (ONE + "schedule: '0 25 * * *'\n", r":5: schedule: Value error, '25' is no hour of a schedule: use 0 to 23"),
        (ONE + "schedule: '@daily'\n", "has five fields"),
        (ONE + "timezone: Europe/Atlantis\n", "'Europe/Atlantis' is no time zone"),
        (HEAD + "questions:\n  - {question_id: A b, text: What is it?}\n", "question_id: String should match"),
        (HEAD + f"questions:\n  - {{question_id: a, text: {'x' * 10_000}}}\n", "text: String should have at most 2000"),
        (HEAD + 'questions:\n  - {question_id: a, text: "What\\0 is it?"}\n', r"control character U\+0000"),
        (HEAD + "questions:\n  - {question_id: a, text: 'What of {region}?'}\n", "{region} is neither a parameter"),
        (
            HEAD + "questions:\n  - {question_id: a, text: 'What of {r}?', for_each: {r: [x, y]}}\n",
            "the id a must hold {r}",
        ),
        (
            HEAD + "questions:\n  - {question_id: 'a_{r}', text: 'What of {r}?', for_each: {r: [X y, x-y]}}\n",
            "make the same id a_x_y",
        ),
        (
            HEAD + "questions:\n  - {question_id: a, text: What is it?, expectations: [{kind: bounds, column: x}]}\n",
            "the expectation bounds needs min or max",
        ),
        (
            HEAD + "questions:\n  - {question_id: a, text: What is it?, expectations: [{kind: nice}]}\n",
            "expectations.0.kind: Input should be",
        ),
        (
            HEAD + "questions:\n  - question_id: a\n    text: What is it?\n    expectations:\n"
            "      - {kind: agrees, column: x, question: b}\n",
            "names the question b, which the batch does not have",
        ),
        ("- a\n- b\n", "must be a mapping"),
        ("title: [\n", "not YAML"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message) as caught:
        _load(tmp_path, text)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path))


def test_an_owner_must_be_one_of_those_that_are_listed(tmp_path: Path) -> None:
    folder = tmp_path / "batches"
    folder.mkdir()
    (tmp_path / "owners.yaml").write_text("owners: {finance: Numbers, ops: Services}\n", encoding="utf-8")
    with pytest.raises(
        ConfigurationError, match=r"some_batch\.yaml:2: unknown owner o: .*owners\.yaml has finance, ops"
    ):
        _load(folder, ONE)
    assert _load(folder, ONE.replace("owner: o", "owner: ops")).owner == "ops"


def test_the_name_of_the_file_must_be_an_id(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="named after its file"):
        _load(tmp_path, ONE, "Some Batch")


def test_a_template_becomes_one_question_for_each_combination(tmp_path: Path) -> None:
    batch = _load(
        tmp_path,
        HEAD
        + """questions:
  - question_id: revenue_{region}_{year}
    title: Revenue of {region}
    text: What was {measure} of {region} in {year}, as of {last_month}?
    for_each:
      region: [Nordics, UK and Ireland]
      year: [2025, 2026]
    parameters: {measure: revenue}
    tags: [x]
""",
    )
    assert [question.question_id for question in batch.questions] == [
        "revenue_nordics_2025",
        "revenue_nordics_2026",
        "revenue_uk_and_ireland_2025",
        "revenue_uk_and_ireland_2026",
    ]
    last = batch.questions[-1]
    # The dates are filled in when the question is asked: the text, and with it the version, stays the same.
    assert last.text == "What was revenue of UK and Ireland in 2026, as of {last_month}?"
    assert (last.title, last.tags) == ("Revenue of UK and Ireland", ("x",))


def test_the_shipped_batches_are_valid_and_large_enough(repo_root: Path) -> None:
    batches = load_batches(repo_root / "config" / "batches")
    assert len(batches) >= 2
    assert all(len(batch.questions) >= 8 and batch.schedule for batch in batches)


def test_the_schema_file_is_that_of_the_model(repo_root: Path) -> None:
    written = (repo_root / "config" / "schemas" / "batch.schema.json").read_text(encoding="utf-8")
    assert written == schema_text(), "run `nightshift batch schema > config/schemas/batch.schema.json`"
    jsonschema.Draft202012Validator.check_schema(batch_schema())


def test_the_shipped_batches_satisfy_the_schema(repo_root: Path) -> None:
    schema = json.loads((repo_root / "config" / "schemas" / "batch.schema.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    for path in sorted((repo_root / "config" / "batches").glob("*.yaml")):
        content = YAML(typ="safe").load(path.read_text(encoding="utf-8"))
        assert list(validator.iter_errors(content)) == []
    assert list(validator.iter_errors({"title": "T", "owner": "o", "questions": [], "x": 1}))


def test_a_new_file_is_valid_as_it_stands_and_never_overwrites(tmp_path: Path) -> None:
    path = write_skeleton(tmp_path, "my_batch", title='Quotes " and: colons', owner="me: too")
    batch = load_batch(path)
    assert (batch.title, batch.owner) == ('Quotes " and: colons', "me: too")
    assert [question.question_id for question in batch.questions] == [
        "revenue_last_quarter",
        "revenue_nordics",
        "revenue_dach",
    ]
    with pytest.raises(ConfigurationError, match="exists already"):
        write_skeleton(tmp_path, "my_batch")
    with pytest.raises(ConfigurationError, match="named after its file"):
        write_skeleton(tmp_path, "My Batch")
    assert not (tmp_path / "My Batch.yaml").exists()


def test_an_unknown_batch_names_the_known_ones(tmp_path: Path) -> None:
    (tmp_path / "known.yaml").write_text(ONE, encoding="utf-8")
    with pytest.raises(ConfigurationError, match="it holds: known"):
        find_batch("unknown", tmp_path)
    with pytest.raises(ConfigurationError, match="no such file"):
        find_batch(str(tmp_path / "missing.yaml"), tmp_path)
    with pytest.raises(ConfigurationError, match="no such folder"):
        load_batches(tmp_path / "nowhere")
