"""Whether the guard has a verdict on anything: `python -m bench.schema.guard_fuzz --data FOLDER [--seconds 60]`.

Gold statements of defog with tokens dropped, swapped, doubled and thrown in, in all five dialects; counts the verdicts,
and prints the statements over which the guard itself stumbles (it refuses them, but should know why).
"""

from __future__ import annotations

import argparse
import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bench.schema.gold import described, statements
from rag_core.policy.rules import ColumnRules, JoinRule, JoinRules, Policy, RowFilter
from rag_core.policy.sql_guard import STUMBLED, SqlGuard

DIALECTS = ("postgres", "redshift", "snowflake", "bigquery", "duckdb")
_TOKEN = re.compile(r"\w+|'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|::|<=|>=|<>|!=|\|\||\s+|.", re.DOTALL)
_WORDS = r"""
SELECT FROM WHERE ANY ALL SOME LATERAL ONLY ROWS UNNEST ( ) [ ] { } . .. , ; :: : * - -- /* */ ' " ` @ $1 ? |
|| && -> ->> => := = <> ! ~ % ^ # INTERVAL CAST AS IN NOT NULL IS CASE WHEN THEN ELSE END OVER PARTITION BY
ORDER LIMIT FETCH FIRST WITH TIES OFFSET RECURSIVE UNION INTERSECT EXCEPT DISTINCT ON USING NATURAL JOIN LEFT
CROSS APPLY PIVOT UNPIVOT FOR TABLESAMPLE QUALIFY WINDOW VALUES ROW ARRAY STRUCT MAP TABLE EXISTS BETWEEN LIKE
SIMILAR TO ESCAPE EXTRACT AT TIME ZONE WITHIN GROUP FILTER IGNORE NULLS HAVING GROUPING SETS CUBE ROLLUP DATE
TIMESTAMP $$ $q$ 1e5 0x1 1. .5 JSON_TABLE XMLTABLE COLLATE OPERATOR START CONNECT PRIOR MATCH_RECOGNIZE
EXPLAIN SET SHOW CALL EXECUTE \ é
"""
_PIECES = (
    " ONLY (", " FROM ONLY (x", " USING (", " USING < ", " substring(a SIMILAR b ESCAPE", " COLLATION FOR (",
    " AT LOCAL", " AT TIME ZONE ", " IS NORMALIZED", " U&'\\0041'", " E'\\'", " FROM LATERAL .", " FROM ANY..",
    " PIVOT (", " = ANY (", " (VALUES (1))", " WITHIN GROUP (", " EXTRACT(", " GENERATE_SERIES(1, ", " REPEAT('x', ",
    "::", " INTERVAL '1", ".*", " AS t(a, b", " FETCH FIRST ROWS ", " ROWS FROM (", " OVER (", " GROUPING SETS ((",
    " TABLE ", " .", ". ",
)  # fmt: skip
_THROWN_IN = _WORDS.split()


def mangled(statement: str, chance: random.Random) -> str:
    """The statement with one to five of its tokens dropped, swapped, doubled, replaced, or others thrown in."""
    tokens = _TOKEN.findall(statement)
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 5))):
        if not tokens:
            break
        place, other = chance.randrange(len(tokens)), chance.randrange(len(tokens))
        match chance.choice(("drop", "swap", "double", "throw in", "throw in", "piece", "replace", "cut")):
            case "drop":
                del tokens[place]
            case "swap":
                tokens[place], tokens[other] = tokens[other], tokens[place]
            case "double":
                tokens.insert(place, tokens[other])
            case "throw in":
                tokens.insert(place, f" {chance.choice(_THROWN_IN)} ")
            case "piece":
                tokens.insert(place, chance.choice(_PIECES))
            case "replace":
                tokens[place] = chance.choice(_THROWN_IN)
            case _:
                tokens = tokens[: place + 1]
    return "".join(tokens)


def guards(folder: Path, dialect: str) -> list[tuple[SqlGuard, list[str]]]:
    """A guard for each database, whose policy has a rule of every kind, and the statements to mangle."""
    written_in = dialect if dialect in ("snowflake", "bigquery") else "postgres"
    found: dict[str, list[str]] = {}
    for database, sql in statements(folder, written_in):
        found.setdefault(database, []).append(sql)
    return [(_guard(folder, database, written_in, dialect), written) for database, written in found.items()]


def _guard(folder: Path, database: str, written_in: str, dialect: str) -> SqlGuard:
    catalog = described(folder, database, written_in).model_copy(update={"dialect": dialect})
    first, second, third = (f'"{table.schema_name}"."{table.name}"' for table in catalog.tables[:3])
    hidden, joined = catalog.tables[0].columns[-1].name, catalog.tables[2].columns[0].name
    policy = Policy(
        version=1,
        schemas=tuple(sorted({table.schema_name for table in catalog.tables})),
        columns=ColumnRules(exclude=(f'{first}."{hidden}"',)),
        row_filters=(RowFilter(table=second, where="1 = 1"),),
        joins=JoinRules(need_approval=(JoinRule(left=f'{third}."{joined}"', right=f'{first}."{hidden}"'),)),
    )
    return SqlGuard(policy, catalog)


def mangled_statements(data: Path, dialect: str, seed: int) -> Iterator[tuple[SqlGuard, str]]:
    """Endless statements with the guard to ask, the same ones for the same seed; `data` is the folder of defog."""
    chance = random.Random(f"{dialect} {seed}")
    known = guards(data / "defog", dialect)
    while True:
        guard, written = chance.choice(known)
        yield guard, mangled(chance.choice(written), chance)


def main() -> None:
    """Prints the verdicts of each dialect by code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds defog")
    parser.add_argument("--seconds", type=float, default=60, help="for all dialects together")
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    for dialect in DIALECTS:
        codes: Counter[str] = Counter()
        until = time.monotonic() + wanted.seconds / len(DIALECTS)
        for guard, sql in mangled_statements(wanted.data, dialect, wanted.seed):
            if time.monotonic() > until:
                break
            verdict = guard.check(sql)
            codes[verdict.code] += 1
            if verdict.message == STUMBLED:
                print(f"{dialect}: stumbled over {sql!r}")
        print(f"{dialect}: {codes.total():,} statements, {codes.most_common()}", flush=True)


if __name__ == "__main__":
    main()
