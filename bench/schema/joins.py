"""Inferred joins against what is known: `python -m bench.schema.joins --data FOLDER` (the shared data's folder).

Northwind and the sample: with foreign keys hidden, what `find_joins` calls usable is compared with the keys. Defog's
databases: with all keys hidden that they declare, against the joins that their gold statements use. A join that gold
uses between two columns that both refer to the same third key (`a.did = b.did`) is right where both are found to refer
to that key. A join that is found and that no key declares and no gold statement uses counts as wrong in the column
"precision", and as right in "reviewed" where a person looked at it and wrote it into `reviewed_joins.txt`.
"""

from __future__ import annotations

import argparse
import itertools
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from bench.schema.databases import load_defog, load_northwind, load_sample, open_policy, server, without_foreign_keys
from bench.schema.gold import questions, readings
from rag_core.connectors.base import Warehouse
from rag_core.datamodel.catalog import Catalog
from rag_core.errors import QueryFault
from rag_core.policy.sql_guard import SqlGuard
from rag_core.schema.join_probe import WarehouseProbe
from rag_core.schema.joins import Join, find_joins
from rag_core.schema.knowledge import JOIN_SECONDS, SchemaKnowledge

Pair = frozenset[str]


class Measured(NamedTuple):
    """Precision and recall of the usable joins, and what was missed and what was too much."""

    found: int
    right: int
    wanted: int
    recalled: int
    reviewed: int
    missed: tuple[str, ...]
    extra: tuple[str, ...]

    @property
    def precision(self) -> float:
        """Share of the joins found that are right."""
        return self.right / self.found if self.found else 0.0

    @property
    def reviewed_precision(self) -> float:
        """The same with the joins that a person has looked at."""
        return (self.right + self.reviewed) / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        """Share of the joins wanted that are found."""
        return self.recalled / self.wanted if self.wanted else 0.0


def infer(warehouse: Warehouse, catalog: Catalog) -> tuple[Join, ...]:
    """The joins of a catalog, with values looked up through the guard."""
    guard = SqlGuard(open_policy(catalog), catalog)
    probe = WarehouseProbe(warehouse, guard.check, catalog)
    return find_joins(catalog, probe, unique=probe.unique)


def pair(left: str, right: str) -> Pair:
    """Two columns in no order."""
    return frozenset((left, right))


def declared(catalog: Catalog) -> set[Pair]:
    """The pairs that foreign keys declare; a key of several columns is several pairs."""
    return {
        pair(f"{table.qualified_name}.{left}", f"{key.target}.{right}")
        for table in catalog.tables
        for key in table.foreign_keys
        for left, right in zip(key.columns, key.target_columns, strict=True)
        if key.target != table.qualified_name
    }


def usable(joins: Iterable[Join]) -> set[Pair]:
    """The pairs that may be used without approval."""
    return {
        pair(f"{join.left_table}.{left}", f"{join.right_table}.{right}")
        for join in joins
        if join.status == "usable"
        for left, right in zip(join.left_columns, join.right_columns, strict=True)
    }


def reviewed_joins(database: str) -> set[Pair]:
    """The joins of a database that a person found to be right."""
    text = (Path(__file__).parent / "reviewed_joins.txt").read_text(encoding="utf-8")
    lines = (line.partition(": ") for line in text.splitlines() if not line.startswith("#"))
    return {frozenset(sides.split(" = ")) for name, _, sides in lines if name == database}


def judge(database: str, found: set[Pair], wanted: set[Pair], implied: set[Pair]) -> Measured:
    """Compares; `implied` are pairs that follow from the wanted ones and are no mistakes."""
    reached = closed(found)
    right = wanted | implied
    seen = reviewed_joins(database)
    return Measured(
        found=len(found),
        right=len(found & right),
        wanted=len(wanted),
        recalled=len(wanted & reached),
        reviewed=len((found - right) & seen),
        missed=tuple(sorted(" = ".join(sorted(item)) for item in wanted - reached)),
        extra=tuple(sorted(" = ".join(sorted(item)) for item in found - right - seen)),
    )


def closed(pairs: set[Pair]) -> set[Pair]:
    """The pairs, and those of columns that are equal to the same column."""
    groups: list[set[str]] = []
    for item in pairs:
        touching = [group for group in groups if group & item]
        groups = [group for group in groups if not group & item] + [set(item).union(*touching)]
    return {frozenset(two) for group in groups for two in itertools.combinations(sorted(group), 2)}


def measure_declared(database: str, warehouse: Warehouse) -> Measured:
    """With foreign keys hidden, against the foreign keys."""
    catalog = warehouse.snapshot()
    wanted = declared(catalog)
    return judge(database, usable(infer(warehouse, without_foreign_keys(catalog))), wanted, closed(wanted))


def gold_joins(folder: Path, database: str, guard: SqlGuard) -> Counter[Pair]:
    """The pairs that gold statements join on, with the number of questions that use each."""
    used: Counter[Pair] = Counter()
    for question in questions(folder):
        if question.database == database:
            used.update({frozenset(item) for reading in readings(question, guard) for item in reading.joins})
    return used


def measure_gold(folder: Path, database: str, warehouse: Warehouse) -> Measured:
    """With foreign keys hidden, against the joins of the gold statements."""
    catalog = warehouse.snapshot()
    wanted = set(gold_joins(folder, database, SqlGuard(open_policy(catalog), catalog)))
    found = usable(infer(warehouse, without_foreign_keys(catalog)))
    return judge(database, found, wanted, closed(wanted) | closed(declared(catalog)))


def gold_faults(
    folder: Path, database: str, warehouse: Warehouse, seconds: float
) -> tuple[int, Counter[str], list[str]]:
    """Statements of gold with a join, the kinds of fault that the run-time check finds in them, and its words.

    `seconds` is the time for looking the schema's joins up; with 0 only those of the statements are looked up.
    """
    catalog = without_foreign_keys(warehouse.snapshot())
    guard = SqlGuard(open_policy(catalog), catalog)
    schema = SchemaKnowledge(warehouse, None, policy=lambda: guard.policy, join_seconds=seconds)
    joined, kinds, words = 0, Counter[str](), []
    for question in questions(folder):
        for sql in question.statements if question.database == database else ():
            query = guard.check(sql).query
            if query is None or not query.joins:
                continue
            joined += 1
            try:
                schema.require(query, catalog, guard.check)
            except QueryFault as fault:
                kinds[fault.code] += 1
                words.append(fault.message)
    return joined, kinds, sorted(set(words))


def main() -> None:
    """Prints a Markdown table and what was missed or too much."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with northwind and defog")
    arguments = parser.parse_args()
    measured: dict[str, Measured] = {}
    # By the time that there is for the whole schema: the usual one, and none.
    faults: dict[tuple[str, float], tuple[int, Counter[str], list[str]]] = {}
    with server() as started:
        measured["northwind"] = measure_declared("northwind", load_northwind(started, arguments.data))
        measured["sample"] = measure_declared("sample", load_sample(started))
        for name, warehouse in load_defog(started, arguments.data).items():
            measured[f"defog {name}"] = measure_gold(arguments.data / "defog", name, warehouse)
            for seconds in (JOIN_SECONDS, 0.0):
                faults[name, seconds] = gold_faults(arguments.data / "defog", name, warehouse, seconds)
            warehouse.close()
    print("| database | usable joins found | precision | reviewed | wanted | recall |\n|---|---|---|---|---|---|")
    for name, item in measured.items():
        precisions = f"{item.precision:.2f} | {item.reviewed_precision:.2f}"
        print(f"| {name} | {item.found} | {precisions} | {item.wanted} | {item.recall:.2f} |")
    print("\n| gold statements of | seconds for the schema | with a join | with a fault found |\n|---|---|---|---|")
    for (name, seconds), (joined, kinds, _) in faults.items():
        told = ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items()))
        print(f"| {name} | {seconds:.0f} | {joined} | {told} |")
    print()
    for (name, _), (_, _, words) in faults.items():
        for text in words:
            print(f"{name}: fault: {text}")
    for name, item in measured.items():
        for kind, pairs in (("missed", item.missed), ("not known to be right", item.extra)):
            for text in pairs:
                print(f"{name}: {kind}: {text}")


if __name__ == "__main__":
    main()
