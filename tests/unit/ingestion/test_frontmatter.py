"""Frontmatter: split off before conversion, tolerant, values as they are written."""

from __future__ import annotations

import json

import pytest

from ingestion.frontmatter import split_frontmatter


def test_metadata_and_body_are_parted() -> None:
    split = split_frontmatter("---\ntitle: Disk full\nservice: api\n---\n# Body\n\n---\n\nmore\n")
    assert split.metadata == {"title": "Disk full", "service": "api"}
    assert split.body == "# Body\n\n---\n\nmore\n"
    assert split.warnings == ()


def test_values_stay_as_they_are_written() -> None:
    block = "date: 2024-01-02\nversion: 1.10\non: yes\ncode: 007\ncount: 12\ntime: 10:30\n"
    block += "done: true\nnone:\ntags: [a, 1.0]\n"
    metadata = split_frontmatter(f"---\n{block}---\n").metadata
    assert json.loads(json.dumps(metadata)) == {
        "date": "2024-01-02",
        "version": "1.10",
        "on": "yes",
        "code": "007",
        "count": 12,
        "time": "10:30",
        "done": True,
        "none": None,
        "tags": ["a", "1.0"],
    }


@pytest.mark.parametrize(
    "text", ["\ufeff---\r\ntitle: A\r\n---\r\nB\r\n", "---\rtitle: A\r---\rB\r", "---  \ntitle: A\n...\nB\n"]
)
def test_marks_and_line_ends_do_not_matter(text: str) -> None:
    split = split_frontmatter(text)
    assert split.metadata == {"title": "A"}
    assert split.body == "B\n"


@pytest.mark.parametrize(
    "text",
    [
        "First paragraph.\n\n---\n\nSecond.\n\n---\n\nThird.\n",
        "---\n\nOnly text between rules.\n\n---\n\nMore.\n",
        "---\n# A heading\n---\ntext\n",
        "---\nnever: closed\n",
        "",
    ],
)
def test_rules_in_the_body_are_no_frontmatter(text: str) -> None:
    split = split_frontmatter(text)
    assert split.metadata == {}
    assert split.warnings == ()
    assert split.body == text


@pytest.mark.parametrize(
    ("block", "line", "words"),
    [
        ("a: 1\nb: 2\na: 3\n", 4, "occurs twice"),
        ("a: 1\nb:\n\tc: 2\n", 4, "tab"),
        ('a: 1\nb: "open\nc: 3\n', 3, "not closed"),
        ("a: 1\nb: *nobody\n", 3, "alias"),
        ("a: 1\nb: c: d\n", 3, "mapping values"),
        ("a: 1\n? [x]\n: 2\n", 3, "key"),
    ],
)
def test_broken_frontmatter_is_left_out_with_its_line(block: str, line: int, words: str) -> None:
    split = split_frontmatter(f"---\n{block}---\nbody\n")
    assert split.metadata == {}
    assert split.body == "body\n"
    assert split.broken == block.strip("\n")
    (warning,) = split.warnings
    assert f"line {line}:" in warning
    assert words in warning


def test_an_empty_block_is_frontmatter_without_metadata() -> None:
    split = split_frontmatter("---\n---\nbody")
    assert (split.metadata, split.body, split.warnings) == ({}, "body", ())


def test_aliases_that_unfold_without_end_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    text = "\n".join(lines)
    split = split_frontmatter(f"---\n{text}\n---\nbody")
    assert split.metadata == {}
    assert "too many values" in split.warnings[0]


def test_nested_values_and_block_texts_survive() -> None:
    split = split_frontmatter("---\nowner: {team: Data, since: 2024-01-02}\nnote: |\n  one\n  two\n---\n")
    assert split.metadata == {"owner": {"team": "Data", "since": "2024-01-02"}, "note": "one\ntwo\n"}


def test_folded_texts_are_folded_without_control_characters() -> None:
    split = split_frontmatter("---\nsummary: >\n  one\n  two\n\n  three\n---\n")
    assert split.metadata == {"summary": "one two\nthree\n"}


def test_merge_keys_are_taken_in() -> None:
    split = split_frontmatter("---\nbase: &b {team: ops, tier: 1}\nowner: {<<: *b, tier: 2}\n---\n")
    assert split.metadata["owner"] == {"team": "ops", "tier": 2}


def test_blank_lines_may_come_before_frontmatter() -> None:
    split = split_frontmatter("\n \n---\ntitle: Disk full\nservice: api\n---\n# Body\n")
    assert (split.metadata, split.body) == ({"title": "Disk full", "service": "api"}, "# Body\n")


@pytest.mark.parametrize("text", ["\n---\nNote: mind the gap\n---\nx\n", "\n---\na: b: c\n---\nx\n", "\n---\ntext\n"])
def test_after_blank_lines_only_faultless_properties_count(text: str) -> None:
    split = split_frontmatter(text)
    assert (split.metadata, split.body, split.warnings) == ({}, text, ())


TOML = (
    '+++\ntitle = "Disk full"\ndate = 2024-01-02\nversion = 1.10\ndraft = false\nweight = 3\n[params]\nowner = "Data"\n'
)


def test_toml_between_plus_signs_is_frontmatter() -> None:
    split = split_frontmatter(f"{TOML}+++\n# Body\n\n+++\n")
    assert (split.body, split.warnings) == ("# Body\n\n+++\n", ())
    assert json.loads(json.dumps(split.metadata)) == {
        "title": "Disk full",
        "date": "2024-01-02",
        "version": "1.10",
        "draft": False,
        "weight": 3,
        "params": {"owner": "Data"},
    }


def test_moments_in_toml_are_told_in_iso_8601() -> None:
    split = split_frontmatter("+++\nat = [2024-01-02T03:04:05+02:00, 07:30:00]\n+++\n")
    assert split.metadata == {"at": ["2024-01-02T03:04:05+02:00", "07:30:00"]}


@pytest.mark.parametrize(("block", "line"), [("a = 1\nb = c\n", 3), ("a = 1\na = 2\n", 3), ('a = 1\nb = "x\n', 3)])
def test_broken_toml_is_left_out_with_its_line(block: str, line: int) -> None:
    split = split_frontmatter(f"+++\n{block}+++\nbody\n")
    assert (split.metadata, split.body, split.broken, split.notation) == ({}, "body\n", block.strip("\n"), "toml")
    assert split.warnings[0].startswith(f"frontmatter ignored: line {line}: ")


@pytest.mark.parametrize(
    "text", ["+++\nOnly text between signs.\n+++\nx\n", "+++\na = 1\nnever closed\n", "+++ a\nb\n"]
)
def test_plus_signs_in_the_body_are_no_frontmatter(text: str) -> None:
    split = split_frontmatter(text)
    assert (split.metadata, split.body, split.warnings) == ({}, text, ())
