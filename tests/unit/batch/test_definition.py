"""Batch files: what is read from them, and one clear line for everything that is wrong with one."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from rag_core.batch.definition import find_batch, load_batch, load_batches, read_batch
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
        (
            ONE + "  - {question_id: a, text: And again?}\n",
            r"some_batch\.yaml:5: question a, question_id: the question id a is used twice",
        ),
        (HEAD + "ownr: x\nquestions: []\n", r"some_batch\.yaml:3: ownr: is no key here: did you mean owner\?"),
        (HEAD + "questions: []\n", "questions: is empty"),
        ("title: T\nquestions:\n  - {question_id: a, text: What is it?}\n", "owner: is missing"),
        (ONE + "schedule: '0 25 * * *'\n", r":5: schedule: '25' is no hour of a schedule: use 0 to 23"),
        (ONE + "schedule: '@daily'\n", "has five fields"),
        (ONE + "timezone: Europe/Atlantis\n", "'Europe/Atlantis' is no time zone"),
        (
            HEAD + "questions:\n  - {question_id: A b, text: What is it?}\n",
            "question A b, question_id: 'A b' may hold lower-case letters",
        ),
        (
            HEAD + f"questions:\n  - {{question_id: a, text: {'x' * 10_000}}}\n",
            "question a, text: has 10000 characters; at most 2000 are allowed",
        ),
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
            "question a, expectation 1, kind: must be one of bounds, .*, not 'nice'",
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


MANY = """\
titel: T
owner: [a, b]
schedule: "0 25 * * *"
after: [documents]
pdf: perhaps
budget: {minutes: -1}
questions:
  - {question_id: a, text: What is it?}
  - {question_id: a, text: And again?}
  - question_id: Bad Id
    text: 12
    chart: bars
  - question_id: b
    text: What of {one} and {two}?
  - just text
  - question_id: c
    text: What was it?
    expectations:
      - {kind: bounds, column: x}
      - {kind: row_cuont, min: 1}
      - {kind: agrees, column: x, question: nobody}
"""


def test_all_that_is_wrong_with_a_file_is_told_at_once_in_plain_words(tmp_path: Path) -> None:
    path = tmp_path / "many.yaml"
    path.write_text(MANY, encoding="utf-8")
    batch, problems = read_batch(path)
    assert batch is None
    assert [str(problem).removeprefix(f"{path}:") for problem in problems] == [
        "1: titel: is no key here: did you mean title?",
        "2: owner: must be text, not a list",
        "3: schedule: '25' is no hour of a schedule: use 0 to 23, *, a-b or */n",
        "5: pdf: must be true or false, not 'perhaps'",
        "6: budget, minutes: is -1 and must be more than 0",
        "9: question a, question_id: the question id a is used twice",
        "10: question Bad Id, question_id: 'Bad Id' may hold lower-case letters, digits and _ only, beginning with a "
        "letter",
        "11: question Bad Id, text: must be text, not the number 12: put it in quotes",
        "12: question Bad Id, chart: must be one of auto, line, bar, table, none, not 'bars': did you mean bar?",
        "13: question b: {one}, {two} is neither a parameter, nor a list of for_each, nor a date",
        "15: question 5: must be a mapping of keys and values, not 'just text'",
        "19: question c, expectation 1: the expectation bounds needs min or max",
        "20: question c, expectation 2, kind: must be one of bounds, row_count, not_null, unique, null_share, type, "
        "not_empty, contains_text, freshness, sum, agrees, row_count_history, change, not 'row_cuont': did you mean "
        "row_count?",
        "21: question c, expectation 3, question: the expectation agrees names the question nobody, which the batch "
        "does not have",
    ]
    with pytest.raises(ConfigurationError, match=r"many\.yaml:1: titel: .*\(and 13 more\)$"):
        load_batch(path)


def test_rules_that_join_keys_are_told_beside_mistakes_of_others(tmp_path: Path) -> None:
    path = tmp_path / "joined.yaml"
    path.write_text(
        ONE + "schedule: '0 5 * * *'\nafter: [documents]\npdf: 3\nnotify: {email: [nobody, a@b.example, 'x y@z']}\n",
        encoding="utf-8",
    )
    said = " ".join(str(problem) for problem in read_batch(path)[1])
    assert "pdf: must be true or false, not the number 3" in said
    assert "a batch has a schedule or an `after`, not both" in said
    assert "'nobody' is no mail address" in said
    assert "'x y@z' is no mail address" in said


@pytest.mark.parametrize(
    "text",
    [
        ONE.replace("text: What is it?", f"text: {value}")
        for value in ("12", "[a]", "{a: b}", "", "true", "2026-01-01", "12.5")
    ]
    + [
        f"{HEAD}{key}: {value}\n"
        for key in ("questions", "budget", "notify", "after", "timezone", "decision_minutes", "catch_up_from", "pdf")
        for value in ("-1", "[[1]]", "{a: {b: c}}", "text", "''", "1.5")
        if (key, value) != ("notify", "text")
    ],
)
def test_no_mistake_is_told_in_the_words_of_a_library(tmp_path: Path, text: str) -> None:
    path = tmp_path / "some_batch.yaml"
    path.write_text(text, encoding="utf-8")
    batch, problems = read_batch(path)
    assert batch is None
    assert problems
    for problem in problems:
        assert problem.line is not None
        assert not re.search(r"[Ii]nput|[Vv]alue error|dictionary|tuple|string|pattern|instance", str(problem)), problem


def test_an_owner_must_be_one_of_those_that_are_listed(tmp_path: Path) -> None:
    folder = tmp_path / "batches"
    folder.mkdir()
    (tmp_path / "owners.yaml").write_text("owners: {finance: Numbers, ops: Services}\n", encoding="utf-8")
    with pytest.raises(
        ConfigurationError, match=r"some_batch\.yaml:2: owner: unknown owner o: .*owners\.yaml has finance, ops"
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
