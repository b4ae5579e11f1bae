"""Recall of schema cards on defog's questions: `python -m bench.schema.cards --data FOLDER [--share .4] [--missed]`.

A card may take a share of the tokens that the whole schema takes as CREATE TABLE statements. Counted is, question by
question, the share of the tables and columns of its gold statement that stand on the card; of several gold statements
the nearest one counts.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from bench.schema.databases import load_defog, open_policy, server
from bench.schema.gold import Reading, questions, readings
from bench.schema.joins import infer
from rag_core.connectors.base import Warehouse
from rag_core.datamodel.catalog import Catalog
from rag_core.policy.sql_guard import SqlGuard
from rag_core.schema.card import CHARACTERS_PER_TOKEN, build_card
from rag_core.schema.card_values import read_card_values
from rag_core.schema.joins import Join


class Recall(NamedTuple):
    """Shares of gold tables and columns on the card, and tokens of the card as a share of the schema's."""

    tables: float
    columns: float
    tokens: float


def on_card(card: str, catalog: Catalog) -> tuple[set[str], set[str]]:
    """Tables and columns that a card names, as the catalog spells them."""
    tables: set[str] = set()
    columns: set[str] = set()
    by_head = {f"{table.schema_name}.{table.name}".replace('"', ""): table for table in catalog.tables}
    current = None
    for line in card.splitlines():
        if line.startswith("Joins:"):
            break
        if line.startswith("  ") and current is not None:
            name = line.strip().split(" ")[0].strip('"')
            columns.add(f"{current.qualified_name}.{name}")
        elif line:
            current = by_head.get(line.split(" -- ")[0].replace('"', ""))
            if current is not None:
                tables.add(current.qualified_name)
    return tables, columns


def definition(catalog: Catalog) -> str:
    """The whole schema as CREATE TABLE statements with keys: what a prompt without cards would hold."""
    statements = []
    for table in catalog.tables:
        lines = [f"  {column.name} {column.type}{'' if column.nullable else ' NOT NULL'}" for column in table.columns]
        lines += [f"  PRIMARY KEY ({', '.join(key.columns)})" for key in table.keys if key.primary]
        lines += [
            f"  FOREIGN KEY ({', '.join(key.columns)}) REFERENCES {key.target} ({', '.join(key.target_columns)})"
            for key in table.foreign_keys
        ]
        statements.append(f"CREATE TABLE {table.qualified_name} (\n" + ",\n".join(lines) + "\n);")
    return "\n".join(statements)


def share(wanted: frozenset[str], found: set[str]) -> float:
    """Share of the wanted ones that are found; 1 where none are wanted."""
    return len(wanted & found) / len(wanted) if wanted else 1.0


def measure(
    text: str,
    gold: list[Reading],
    catalog: Catalog,
    budget_share: float,
    values: Mapping[str, tuple[str, ...]],
    joins: tuple[Join, ...],
) -> Recall:
    """The recall of one question's card."""
    whole = len(definition(catalog))
    card = build_card(
        text, catalog, tokens=int(whole * budget_share / CHARACTERS_PER_TOKEN), values=values, joins=joins
    )
    tables, columns = on_card(card, catalog)
    best = max(gold, key=lambda item: (share(item.tables, tables), share(item.columns, columns)))
    return Recall(share(best.tables, tables), share(best.columns, columns), len(card) / whole)


def mean(recalls: list[Recall]) -> Recall:
    """The means of many questions."""
    return Recall(*(sum(values) / len(values) for values in zip(*recalls, strict=True)))


def main() -> None:
    """Prints a Markdown table: with and without values and joins."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with defog")
    parser.add_argument("--share", type=float, default=0.4, help="share of the whole schema's tokens")
    parser.add_argument("--missed", action="store_true", help="list the questions whose card lacks something")
    arguments = parser.parse_args()
    folder = arguments.data / "defog"
    kinds = ("names only", "with values", "with values and joins")
    found: dict[str, dict[str, list[Recall]]] = {kind: {} for kind in kinds}
    missed: Counter[str] = Counter()
    with server() as started:
        for database, warehouse in load_defog(started, arguments.data).items():
            _measure_database(folder, database, warehouse, arguments.share, found, missed)
            warehouse.close()
    print("| cards | questions | tables | columns | tokens of the schema |\n|---|---|---|---|---|")
    for kind, by_database in found.items():
        every = [recall for recalls in by_database.values() for recall in recalls]
        total = mean(every)
        print(f"| {kind} | {len(every)} | {total.tables:.3f} | {total.columns:.3f} | {total.tokens:.2f} |")
    for database, recalls in found[kinds[-1]].items():
        part = mean(recalls)
        print(f"| {database} | {len(recalls)} | {part.tables:.3f} | {part.columns:.3f} | {part.tokens:.2f} |")
    if arguments.missed:
        for text in sorted(missed):
            print(text)


def _measure_database(
    folder: Path,
    database: str,
    warehouse: Warehouse,
    budget_share: float,
    found: dict[str, dict[str, list[Recall]]],
    missed: Counter[str],
) -> None:
    catalog = warehouse.snapshot()
    guard = SqlGuard(open_policy(catalog), catalog)
    values = read_card_values(catalog, warehouse, guard.check)
    joins = infer(warehouse, catalog)
    for question in questions(folder):
        gold = readings(question, guard) if question.database == database else []
        if not gold:
            continue
        sets = (({}, ()), (values, ()), (values, joins))
        for kind, (known, linked) in zip(found, sets, strict=True):
            recall = measure(question.text, gold, catalog, budget_share, known, linked)
            found[kind].setdefault(database, []).append(recall)
        if recall.tables < 1 or recall.columns < 1:
            missed[f"{database} {recall.tables:.2f} {recall.columns:.2f}: {question.text}"] += 1


if __name__ == "__main__":
    main()
