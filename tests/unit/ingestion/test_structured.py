"""YAML and JSON: nothing lost of what they hold, and key names that are no titles."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ingestion.config import ConversionLimits, SourceRules
from ingestion.convert import convert
from ingestion.documents import ConvertedDocument, SourceFile
from ingestion.formats.structured import read_json, read_yaml


def leaf_lines(text: str) -> list[str]:
    blocks, _, _ = read_yaml(text)
    return [line for block in blocks if block.kind == "list" for line in block.text.split("\n")]


def test_folded_texts_hold_no_control_characters() -> None:
    assert leaf_lines("a:\n  long: >\n    one\n    two\n\n    three\n") == ["- a.long: one two three"]


def test_merge_keys_stand_among_the_keys() -> None:
    text = "base: &b\n  retries: 3\n  host: x\nprod:\n  <<: *b\n  host: y\nboth:\n  <<: [{a: 1, z: 1}, {a: 2}]\n"
    assert leaf_lines(text)[2:] == ["- prod.retries: 3", "- prod.host: y", "- both.a: 1", "- both.z: 1"]


def test_a_merge_key_at_the_top_is_read() -> None:
    blocks, _, warnings = read_yaml("<<: {a: 1}\nb:\n  c: 2\n")
    assert warnings == ()
    assert any("- b.c: 2" in block.text for block in blocks)


def test_empty_yaml_documents_are_left_out_and_a_lone_value_is_told_once() -> None:
    blocks, _, _ = read_yaml("---\na: {b: 1}\n---\n# nothing\n---\nc: {d: 2}\n")
    assert [block.text for block in blocks if block.level == 1] == ["Document 1", "Document 2"]
    blocks, _, _ = read_yaml("only a scalar\n")
    assert [block.text for block in blocks] == ["only a scalar"]


def test_a_key_that_an_object_has_twice_keeps_both_values() -> None:
    blocks, _, warnings = read_json('{"a": 1, "b": {"x": 1, "x": 2, "x": 3}, "a": 5}')
    text = "\n".join(block.text for block in blocks)
    for line in ("- a: 1", "- a (2): 5", "- b.x: 1", "- b.x (2): 2", "- b.x (3): 3"):
        assert line in text.split("\n")
    assert warnings == ("the key 'a' occurs twice in one object", "the key 'x' occurs twice in one object")


@pytest.mark.parametrize("text", ["[]", "{}", " [ ] "])
def test_json_without_values_is_empty(text: str) -> None:
    assert read_json(text)[0] == []


def read(tmp_path: Path, name: str, text: str) -> ConvertedDocument:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return convert(SourceFile("docs", tmp_path, path, name, len(text), "0" * 64), limits=ConversionLimits())


@pytest.mark.parametrize(
    ("name", "text", "title"),
    [
        ("docker-compose.yml", "services:\n  web: {image: x}\n", "Docker compose"),
        ("alert_rules.json", json.dumps({"groups": [{"name": "disk", "rules": [1, {"a": 2}]}]}), "Alert rules"),
        ("page.yaml", "title: Disk full\nsteps:\n  one: {run: df}\n", "Disk full"),
    ],
)
def test_the_first_key_of_a_configuration_is_no_title(tmp_path: Path, name: str, text: str, title: str) -> None:
    assert read(tmp_path, name, text).title == title


def test_a_number_that_is_stated_as_title_is_the_title(tmp_path: Path) -> None:
    assert read(tmp_path, "plan.md", "---\ntitle: 2024\n---\n# Goals\n\ntext\n").title == "2024"


@pytest.mark.parametrize("name", ["events.jsonl", "events.ndjson", "events.json"])
def test_json_lines_are_a_table(tmp_path: Path, name: str) -> None:
    assert Path(name).suffix.lstrip(".") in SourceRules().extensions
    document = read(tmp_path, name, '{"id": 1, "what": "started"}\n\n{"id": 2, "what": "ended"}\n')
    assert [block.text for block in document.blocks] == ["| id | what |\n| --- | --- |\n| 1 | started |\n| 2 | ended |"]


def codes(text: str) -> list[str]:
    return [block.text for block in read_yaml(text)[0] if block.kind == "code"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        # At the head: the file's own comment is apart, the one right above the first key belongs to it.
        ("# Owner: team N\n\n# low\nfoo:\n  bar: 1\n", ["# Owner: team N", "# low\nfoo:\n  bar: 1"]),
        ("# Owner: team N\n---\nfoo: 1\n", ["# Owner: team N", "foo: 1"]),
        ("--- # x\n# y\nfoo: 1\n", ["# x", "# y\nfoo: 1"]),
        # Nothing but comments.
        ("# replicas: 3\n\n  # image: needle\n", ["# replicas: 3\n# image: needle"]),
        ("---\n# only\n", ["# only"]),
        # Lists, lone values and braces.
        ("# head\n- a\n# mid\n- b\n# tail\n", ["# head\n- a\n# mid\n- b\n# tail"]),
        ("# head\n\nlone # beside\n# tail\n", ["# head", "lone", "# beside\n# tail"]),
        ("# head\n\n{a: {b: 1}} # beside\n", ["# head", "{a: {b: 1}}", "# beside"]),
        # Each document of several, and one that holds comments alone.
        (
            "# one\na: 1\n# after\n---\n# two\nb: 2\n...\n# end\n---\n# none\n---\n\n# three\n\nc: {d: 1}\n",
            ["# one\na: 1\n# after", "# two\nb: 2", "# end", "# none\n# three", "c: {d: 1}"],
        ),
        # Between keys: right above a key it is the key's, else it ends what comes before.
        ("a: {b: 1}\n# of a\n\n# of c\nc: {d: 2}\n", ["a: {b: 1}\n# of a", "# of c\nc: {d: 2}"]),
        ("a: |\n  # text\n\n  more\nb: 1\n", ["a: |\n  # text\n\n  more\nb: 1"]),
    ],
)
def test_no_comment_is_lost(text: str, told: list[str]) -> None:
    assert codes(text) == told


def test_prose_keeps_the_comments_around_it_and_is_read_as_prose() -> None:
    sentence = "Freight is included in the list price of every gateway that is sold."
    text = f"# Owner: supply chain\ntitle: Freight\ntext: {sentence}\n# Review in May\n"
    blocks = read_yaml(text)[0]
    assert [(block.kind, block.text) for block in blocks] == [
        ("code", "# Owner: supply chain"),
        ("list", "- title: Freight"),
        ("paragraph", sentence),
        ("code", "# Review in May"),
    ]


@pytest.mark.parametrize("comment", ["  # above", "# above"])
def test_prose_with_comments_among_its_keys_is_kept_as_written(comment: str) -> None:
    sentence = "Freight is included in the list price of every gateway that is sold."
    text = f"title: Freight\npart:\n{comment}\n  text: {sentence}\n"
    assert f"part:\n{comment}\n  text: {sentence}" in codes(text)


def test_headings_within_a_text_are_no_comments() -> None:
    sentence = "Freight is included in the list price of every gateway that is sold."
    blocks = read_yaml(f"title: Freight\ntext: |\n  # Who pays\n\n  {sentence}\n")[0]
    assert [block.kind for block in blocks] == ["list", "paragraph"]
