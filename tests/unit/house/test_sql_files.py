"""Our own SQL lives in files: each is one statement that parses and is used; migrations are numbered and unique."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp

from rag_core.connectors.migrations import read_migrations
from tests.unit.house.source import ROOT, calls, modules

QUERIES = sorted((ROOT / "sql" / "queries").rglob("*.sql"))
SCRIPTS = sorted((ROOT / "sql" / "scripts").glob("*.sql"))
MIGRATIONS = sorted((ROOT / "sql" / "migrations").glob("*.sql"))
# `%(name)s` is a value for psycopg, `{name}` an identifier that psycopg quotes, `%%` a percent sign.
VALUE = re.compile(r"%\((\w+)\)s")
IDENTIFIER = re.compile(r"\{(\w+)\}")
SQL_START = re.compile(
    r"\s*(SELECT\s.*\sFROM\s|INSERT\s+INTO\s|UPDATE\s.+\sSET\s|DELETE\s+FROM\s|TRUNCATE\s|COPY\s|GRANT\s|REVOKE\s|"
    r"(CREATE|ALTER|DROP)\s+(OR\s+REPLACE\s+)?(TABLE|VIEW|ROLE|INDEX|SCHEMA|DATABASE|EXTENSION)\s)",
    re.DOTALL,
)
# Calls of `execute` whose text is put together, how many in a file, and why none of them can carry foreign text.
PUT_TOGETHER = {
    "rag_core/connectors/duckdb.py": (2, "EXPLAIN before guarded SQL; SET takes no parameter, its text is escaped"),
    "rag_core/connectors/postgres.py": (1, "EXPLAIN before guarded SQL"),
    "rag_core/connectors/redshift.py": (1, "EXPLAIN before guarded SQL"),
    "rag_core/connectors/snowflake.py": (1, "EXPLAIN before guarded SQL"),
}
# Text like SQL that is no query of ours, and where it stands.
NO_FILE = {
    "rag_core/connectors/embedded.py": "creates a database, before there is anything to query",
    "rag_core/connectors/migrations.py": "keeps the list of migrations that the files are recorded in",
    "ingestion/eval_cli.py": "asks whether the database of an evaluation exists",
    "rag_core/schema/patch.py": "a frame that an expression is parsed in; it is never run",
    "rag_core/semantics/lineage.py": "a frame that an expression is parsed in; it is never run",
}


def _name(path: Path) -> str:
    return path.relative_to(ROOT / "sql").as_posix()


def _parse(text: str) -> list[exp.Expression]:
    # A name of its own for each value, as some are called like keywords; pgvector's operators are unknown to sqlglot.
    plain = IDENTIFIER.sub(r"\1", VALUE.sub(r"value_\1", text)).replace("%%", "%")
    plain = re.sub(r"<(#|=|-|\+)>", "-", plain)
    plain = re.sub(r"\boid ?\[\]", "text[]", plain)  # a type that sqlglot does not know
    return [found for found in sqlglot.parse(plain, dialect="postgres") if found is not None]


@pytest.mark.parametrize("path", QUERIES, ids=_name)
def test_a_query_file_holds_one_statement(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = _parse(text)
    assert len(found) == 1
    assert not re.search(r"%(?![(%])", text), "a percent sign must be doubled for psycopg"
    assert re.fullmatch(r"[a-z]+(_[a-z]+)+\.sql", path.name), "the name is a verb and an object"


@pytest.mark.parametrize("path", [*SCRIPTS, *MIGRATIONS], ids=_name)
def test_scripts_and_migrations_end_and_migrations_say_what_for(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.endswith(";\n")
    if path in MIGRATIONS:
        assert text.startswith("-- "), "say in the first line what it is for"


def test_migrations_are_numbered_and_unique() -> None:
    migrations = read_migrations()
    assert len(migrations) == len(MIGRATIONS)
    assert [migration.version for migration in migrations] == sorted({migration.version for migration in migrations})
    assert migrations[0].version == 1
    for migration in migrations:
        assert re.fullmatch(r"[a-z]+(_[a-z0-9]+)+", migration.name), migration.name
        ends = re.compile(r"^\s*(BEGIN|COMMIT|ROLLBACK)\s*;", re.IGNORECASE | re.MULTILINE)
        assert not ends.search(migration.text), "each migration runs in a transaction that `migrate` opens"


def _pattern(text: ast.JoinedStr) -> re.Pattern[str]:
    parts = (re.escape(str(part.value)) if isinstance(part, ast.Constant) else r"(\w*)" for part in text.values)
    return re.compile("".join(parts))


def _references(*functions: str) -> tuple[set[str], list[re.Pattern[str]]]:
    """Names that calls give as they are, and patterns of those that calls put together."""
    names, patterns = set(), []
    for module in modules():
        for call in calls(module.tree, *functions):
            for argument in call.args[:1]:
                pending: list[ast.AST] = [argument]
                while pending:
                    node = pending.pop()
                    if isinstance(node, ast.JoinedStr):
                        parts = (
                            re.escape(part.value) if isinstance(part, ast.Constant) else r"(\w*)"
                            for part in node.values
                        )
                        patterns.append(re.compile("".join(parts)))
                    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                        names.add(node.value)
                    else:
                        pending.extend(ast.iter_child_nodes(node))
    return names, patterns


def _literals() -> set[str]:
    return {
        node.value
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


NAMES = [path.relative_to(ROOT / "sql" / "queries").with_suffix("").as_posix() for path in QUERIES]


def test_every_file_that_code_names_exists() -> None:
    named, patterns = _references("statement", "template")
    assert {name for name in named if "/" in name} - set(NAMES) == set()
    assert [pattern.pattern for pattern in patterns if not any(pattern.fullmatch(name) for name in NAMES)] == []
    scripts, _ = _references("script")
    assert scripts - {path.stem for path in SCRIPTS} - {"search_path"} == set()


def test_every_query_file_is_used() -> None:
    literals = _literals()
    _, patterns = _references("statement", "template")

    def used(name: str) -> bool:
        if name in literals:
            return True
        found = [match[1] for pattern in patterns if (match := pattern.fullmatch(name)) and match.groups()]
        return any(part == "" or part in literals for part in found)

    assert [name for name in NAMES if not used(name)] == [], "delete it, or call it"


def _starts_like_sql(text: ast.JoinedStr) -> bool:
    plain = "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in text.values)
    return SQL_START.match(plain) is not None


def test_no_statement_is_built_as_a_string() -> None:
    """Identifiers go through psycopg's composables, values by parameter; neither through f-strings or `+`."""
    built = [
        f"{module.name}:{node.lineno}"
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.JoinedStr) and _starts_like_sql(node)
    ]
    assert built == []


def test_no_text_is_put_together_where_it_is_executed() -> None:
    found = Counter(
        module.name
        for module in modules()
        for call in calls(module.tree, "execute", "executemany", "copy")
        if call.args and isinstance(call.args[0], ast.JoinedStr | ast.BinOp)
    )
    assert dict(found) == {name: count for name, (count, _) in PUT_TOGETHER.items()}


def _docstrings(tree: ast.Module) -> set[int]:
    kinds = ast.Module | ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef
    nodes = (node for node in ast.walk(tree) if isinstance(node, kinds) and node.body)
    return {id(node.body[0].value) for node in nodes if isinstance(node.body[0], ast.Expr)}


def test_our_statements_stand_in_files() -> None:
    found = {
        module.name
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and SQL_START.match(node.value)
        and id(node) not in _docstrings(module.tree)
    }
    assert found == set(NO_FILE)
