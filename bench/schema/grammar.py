"""The grammar of a model's SQL: `python -m bench.schema.grammar --data FOLDER [--model URL]`.

How many gold statements of defog, put with the whole names of their tables, are in the language; how large a grammar is
and how long it takes to make, by columns; and, of a llama.cpp server, how fast it writes under one and under a schema.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import httpx
import sqlglot
from sqlglot import exp
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, traverse_scope

from bench.schema.gold import described
from rag_core.connectors.chat_model_output import schema_of
from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable
from rag_core.evaluation.sql_questions import read_questions
from rag_core.workers.sql_grammar import build_grammar
from rag_core.workers.sql_worker import SqlThought
from tests.gbnf import Grammar

WIDTHS = (50, 200, 1_500)
TABLE_COLUMNS = 20
TASKS = (
    "the number of rows of table_1",
    "the mean of measure_5 by state_4 in table_0",
    "the five largest amount_2 of table_1",
    "rows of table_1 of the last 30 days by month",
)


def spell_out(sql: str, catalog: Catalog) -> str:
    """A statement in the grammar's form: whole names of tables, and q1, q2 for what it makes itself."""
    tree = qualify(
        sqlglot.parse_one(sql, dialect="postgres"),
        schema={table.name: {item.name: item.type for item in table.columns} for table in catalog.tables},
        dialect="postgres",
        quote_identifiers=False,
        expand_stars=False,
        validate_qualify_columns=False,
    )
    made = {cte.alias: f"q{number}" for number, cte in enumerate(tree.find_all(exp.CTE), start=1)}
    for scope in traverse_scope(tree):
        _rename(scope, made)
    for cte in tree.find_all(exp.CTE):
        cte.set("alias", exp.TableAlias(this=exp.to_identifier(made[cte.alias])))
    for alias in tree.find_all(exp.Alias):
        alias.args["alias"].set("quoted", False)
    return tree.sql(dialect="postgres")


def _rename(scope: Scope, made: dict[str, str]) -> None:
    called: dict[str, str] = {}
    seen: Counter[str] = Counter()
    for alias, (node, source) in scope.selected_sources.items():
        name = node.name if isinstance(node, exp.Table) else ""
        if isinstance(source, exp.Table):
            seen[name] += 1
            called[alias] = name if seen[name] == 1 else f"{name}_{seen[name]}"
        else:
            called[alias] = made.setdefault(name or f"({alias})", f"q{len(made) + 1}")
            if name:
                node.set("this", exp.to_identifier(called[alias]))
        bare = isinstance(node, exp.Table) and seen[name] < 2
        node.set("alias", None if bare else exp.TableAlias(this=exp.to_identifier(called[alias])))
    for column in scope.columns:
        if column.table in called:
            column.set("table", exp.to_identifier(called[column.table]))


def cover_gold(folder: Path) -> tuple[int, int]:
    """Gold statements in the language, the first of each question, and how many there are."""
    grammars: dict[str, tuple[Catalog, Grammar]] = {}
    inside, asked = 0, read_questions(folder / "questions")
    for question in asked:
        if question.database not in grammars:
            catalog = described(folder, question.database, "postgres")
            grammars[question.database] = catalog, Grammar(build_grammar("", catalog, {}))
        catalog, grammar = grammars[question.database]
        reply = {"sql_query": spell_out(question.gold[0], catalog), "explanation": "", "confidence": 1.0}
        inside += grammar.accepts(json.dumps(reply, ensure_ascii=False))
    return inside, len(asked)


def made_schema(columns: int) -> Catalog:
    """A schema of so many columns: tables of twenty, from 1,000 columns on a single wide one."""
    width = columns if columns >= 1_000 else TABLE_COLUMNS
    kinds = ("state", "measure", "amount", "opened_on")
    tables = tuple(
        CatalogTable(
            schema_name="public",
            name=f"table_{number}",
            columns=tuple(CatalogColumn(name=f"{kinds[at % 4]}_{at}", type="text") for at in range(width)),
        )
        for number in range(max(1, columns // width))
    )
    taken = datetime(2026, 7, 1, tzinfo=UTC)
    return Catalog(dialect="postgres", database="made", taken_at=taken, tables=tables, search_path=("public",))


def write(url: str, task: str, catalog: Catalog, body: dict[str, Any]) -> tuple[float, float]:
    """Tokens a second that the server wrote, and seconds from request to reply."""
    names = "\n".join(
        f"{table.name}({', '.join(item.name for item in table.columns[:20])})" for table in catalog.tables
    )
    rule = "Write one PostgreSQL SELECT as JSON with sql_query, explanation, confidence. Write columns as table.column."
    asked = {
        "messages": [{"role": "user", "content": f"{rule}\n{names[:3_000]}\n\nQuestion: {task}"}],
        "temperature": 0,
    }
    started = time.perf_counter()
    reply = httpx.post(
        f"{url}/chat/completions", json={**asked, "max_tokens": 200, **body}, timeout=600
    ).raise_for_status()
    seconds = time.perf_counter() - started
    return float(reply.json()["timings"]["predicted_per_second"]), seconds


def main() -> None:
    """Prints coverage, sizes and speeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds defog")
    parser.add_argument("--model", help="base URL of a llama.cpp server, with /v1")
    given = parser.parse_args()
    print("gold statements in the language: {} of {}".format(*cover_gold(given.data / "defog")))
    for columns in WIDTHS:
        catalog = made_schema(columns)
        started = time.process_time()
        grammar = build_grammar("", catalog, {})
        line = (
            f"{columns} columns: {len(grammar):,} characters, {(time.process_time() - started) * 1000:.0f} ms to make"
        )
        if given.model:
            schema = {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema_of(SqlThought)}}
            for name, body in (("schema", {"response_format": schema}), ("grammar", {"grammar": grammar})):
                speeds = [write(given.model, task, catalog, body) for task in TASKS]
                rate, seconds = median(item[0] for item in speeds), median(item[1] for item in speeds)
                line += f"; {name} {rate:.1f} tokens a second, {seconds:.1f} s a reply"
        print(line)


if __name__ == "__main__":
    main()
