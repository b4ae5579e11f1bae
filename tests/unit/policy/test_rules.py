"""Policy files: what parses, and what is said of what does not."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from ruamel.yaml import YAML

from rag_core.errors import ConfigurationError
from rag_core.policy.rules import load_policy, policy_schema, split_name


def write(folder: Path, text: str) -> Path:
    path = folder / "policy.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_shipped_policy_parses_and_agrees_with_its_schema(repo_root: Path) -> None:
    path = repo_root / "config" / "schema_policy.yaml"
    policy = load_policy(path)
    assert policy.schemas == ("public", "ops")
    assert policy.tables.exclude == ("public.pii_raw",)
    assert policy.limits.max_rows == 10_000
    schema = json.loads((repo_root / "config/schemas/schema_policy.schema.json").read_text(encoding="utf-8"))
    assert schema == policy_schema(), "write policy_schema() to the file again"
    jsonschema.validate(json.loads(json.dumps(YAML(typ="safe").load(path.read_text(encoding="utf-8")))), schema)


def test_everything_that_a_policy_can_say(tmp_path: Path) -> None:
    policy = load_policy(
        write(
            tmp_path,
            """
version: 1
schemas: [public]
tables: {include: ["public.*"], exclude: [public.raw_*]}
columns:
  exclude: ["*.*.ssn"]
  mask: [{column: public.people.email, replace_with: hidden}, {column: public.people.phone}]
row_filters: [{table: public.orders, where: tenant_id = 7}]
functions: {allow: [my_round], deny: [random]}
limits: {max_rows: 5, max_bytes: 1000, timeout_seconds: 1.5}
joins: {need_approval: [{left: public.a.x, right: public.b.y}]}
""",
        )
    )
    assert policy.columns.mask[0].replace_with == "hidden"
    assert policy.columns.mask[1].replace_with is None
    assert policy.row_filters[0].where == "tenant_id = 7"
    assert policy.limits.timeout_seconds == 1.5
    assert policy.joins.need_approval[0].right == "public.b.y"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("version: 1\nschemas: []\n", "line 2, schemas: is empty"),
        ("version: 1\nschemas: [a]\ntables:\n  include: []\n", "line 4, tables.include: is empty"),
        ("version: 1\n", "schemas: Field required"),
        ("schemas: [a]\n", "version: Field required"),
        ("version: 2\nschemas: [a]\n", "line 1, version"),
        ("version: 1\nschemas: [a]\nshemas: [b]\n", "line 3, shemas: is not a key of a policy"),
        ("version: 1\nschemas: public\n", "line 2, schemas"),
        ("version: 1\nschemas: [a]\ntables:\n  exclude:\n    - orders\n", "line 5, tables.exclude.0"),
        (
            "version: 1\nschemas: [a]\ncolumns:\n  exclude: [a.b]\n",
            "columns.exclude.0: 'a.b' must be schema",
        ),
        ("version: 1\nschemas: [a]\nlimits:\n  max_rows: 0\n", "line 3, limits"),
        ("version: 1\nschemas: [a]\nlimits:\n  max_rows: many\n", "line 4, limits.max_rows"),
        ("version: 1\nschemas: [a]\nversion: 1\n", "line 3: found duplicate key"),
        ("version: 1\nschemas: [a\n", "line 3"),
        ("- a\n", "line 1: must be a mapping"),
        ("", "line 1: must be a mapping"),
    ],
)
def test_what_does_not_parse_lets_nothing_through(tmp_path: Path, text: str, said: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ConfigurationError) as caught:
        load_policy(path)
    message = str(caught.value)
    assert said in message
    assert str(path) in message
    assert "\n" not in message


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"nowhere\.yaml cannot be read"):
        load_policy(tmp_path / "nowhere.yaml")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigurationError, match="not UTF-8"):
        load_policy(tmp_path / "binary.yaml")


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("a.b", ("a", "b")),
        ('sales."Order Items".x', ("sales", "Order Items", "x")),
        ('"a.b"."say ""hi"""', ("a.b", 'say "hi"')),
        ("ops.*", ("ops", "*")),
        ("größe.tabelle", ("größe", "tabelle")),
    ],
)
def test_dotted_names(name: str, parts: tuple[str, ...]) -> None:
    assert split_name(name) == parts


@pytest.mark.parametrize("name", ["", ".", "a.", ".a", "a..b", 'a."b', "a b.c"])
def test_names_that_are_none(name: str) -> None:
    with pytest.raises(ValueError, match=r"dotted name|ends with a dot"):
        split_name(name)
