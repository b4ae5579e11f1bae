"""Asks the matcher every question it should answer or refuse, and counts right, refused and wrong-but-confident.

    python -m bench.semantics.run --dsn postgresql://... [--sets facts,kinds,...] [--verbose]

The warehouse must hold the sample (`python -m sample.warehouse.load`). Nothing is sampled: all wordings are asked.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import psycopg
from ruamel.yaml import YAML

from bench.semantics.comparison import same_rows
from rag_core.datamodel.plan import MetricQuery
from rag_core.semantics.compile import compile_query
from rag_core.semantics.match import Match, Matcher
from rag_core.semantics.model import load_semantic_model
from rag_core.semantics.values import DimensionValues, ValueIndex, value_statement

ROOT = Path(__file__).resolve().parents[2]
RUN_DATE = date(2026, 7, 1)


@dataclass(frozen=True)
class Case:
    """One wording with the rows that answer it; `rows` None where it must be refused.

    `exact`: a ranking is right only with just these rows, none left out and none besides.
    """

    case_id: str
    text: str
    rows: tuple[tuple[Any, ...], ...] | None
    ordered: bool
    exact: bool = False


def main(argv: list[str] | None = None) -> int:
    """Runs the sets that are asked for; ends with 1 where one answer is wrong but confident."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dsn", required=True)
    parser.add_argument("--sets", default="facts,paraphrases,refusals,holdout,fresh,kinds,unseen")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args(argv)
    wrong = 0
    with psycopg.connect(arguments.dsn, autocommit=True) as connection:
        connection.execute("SET default_transaction_read_only = on")
        connection.execute("SET TIME ZONE 'UTC'")
        bench = Bench(connection)
        for name in arguments.sets.split(","):
            cases = list(getattr(bench, name)())
            figures = bench.run(cases, verbose=arguments.verbose)
            wrong += figures["wrong"]
            line = json.dumps({"set": name, **figures}) if arguments.json else _line(name, figures)
            sys.stdout.write(line + "\n")
    return 1 if wrong else 0


def _read(name: str | Path) -> Any:
    return YAML(typ="safe").load((Path(__file__).parent / name).read_text(encoding="utf-8"))


def _line(name: str, figures: dict[str, Any]) -> str:
    asked = figures["asked"]
    share = 100 * figures["right"] / asked if asked else 0.0
    return (
        f"{name}: {asked} wordings, {figures['right']} right ({share:.1f} %), {figures['refused']} refused, "
        f"{figures['wrong']} wrong but confident; {figures['median_ms']:.1f} ms a question (median)"
    )


class Bench:
    """The cases and the machinery to answer them on one warehouse."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.connection = connection
        self.model = load_semantic_model(ROOT / "config" / "semantic_model.yaml")
        self.matcher = Matcher(self.model, self._values())

    def _values(self) -> ValueIndex:
        found = []
        for name, dimension in self.model.dimensions.items():
            if not dimension.read_values:
                continue
            cells = [row[0] for row in self._execute(value_statement(self.model, name, "postgres"))]
            values = tuple(sorted((cell for cell in cells if cell is not None), key=str))
            found.append(DimensionValues(dimension=name, values=values, has_empty=None in cells))
        return ValueIndex(dimensions=tuple(found))

    def _execute(self, sql: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(sql).fetchall()

    def facts(self) -> Iterator[Case]:
        """The planted facts of the sample that SQL answers, in their three wordings."""
        document = _read(ROOT / "sample" / "facts.yaml")
        for fact in document["warehouse"]:
            if fact["kind"] != "sql":
                continue
            rows = tuple(tuple(row.values()) for row in fact["answer"])
            ordered = "limit" in fact["sql"].lower()
            for number, text in enumerate([fact["question"], *fact["wording"]]):
                yield Case(f"{fact['id']}.{number}", text, rows, ordered)

    def paraphrases(self) -> Iterator[Case]:
        """Questions of our own with gold as a metric query or as SQL."""
        yield from self._questions("paraphrases.yaml")

    def refusals(self) -> Iterator[Case]:
        """Questions that must not be answered as complete."""
        for number, text in enumerate(_read("refusals.yaml")["questions"]):
            yield Case(f"R{number + 1:03}", text, None, ordered=False)

    def holdout(self) -> Iterator[Case]:
        """Questions and refusals that the rules were not made from."""
        yield from self._questions("holdout.yaml")
        for number, text in enumerate(_read("holdout.yaml")["refusals"]):
            yield Case(f"HR{number + 1:02}", text, None, ordered=False)

    def fresh(self) -> Iterator[Case]:
        """Questions and refusals of 2026-12-01, written before the matcher was seen with them."""
        yield from self._questions("fresh.yaml")
        for number, text in enumerate(_read("fresh.yaml")["refusals"]):
            yield Case(f"NR{number + 1:02}", text, None, ordered=False)

    def kinds(self) -> Iterator[Case]:
        """Questions by the kind of reading that goes wrong, with SQL written by hand as the truth."""
        yield from self._by_hand("kinds.yaml", "K")

    def unseen(self) -> Iterator[Case]:
        """The same kinds in other words, that no rule was made from."""
        yield from self._by_hand("unseen.yaml", "U")

    def _by_hand(self, name: str, mark: str) -> Iterator[Case]:
        shared = ", ".join(f"{cte} AS ({sql})" for cte, sql in _read("kinds.yaml")["ctes"].items())
        for number, entry in enumerate(_read(name)["questions"]):
            sql = entry.get("sql")
            rows = None if sql is None else tuple(self._execute(f"WITH {shared} {sql}"))
            leads = bool(entry.get("leads", False))
            yield Case(f"{mark}{number + 1:03} {entry['kind']}", entry["text"], rows, ordered=leads, exact=not leads)

    def _questions(self, name: str) -> Iterator[Case]:
        for entry in _read(name)["questions"]:
            sql = entry.get("sql")
            if sql is None:
                query = MetricQuery.model_validate(entry["query"])
                sql = compile_query(query, self.model, "postgres").sql
            rows = tuple(self._execute(sql))
            ordered = "limit" in sql.lower()
            for number, text in enumerate(entry["wordings"]):
                yield Case(f"{entry['id']}.{number}", text, rows, ordered)

    def run(self, cases: list[Case], *, verbose: bool) -> dict[str, Any]:
        """Counts of the outcomes and the median time of matching."""
        counts = {"asked": len(cases), "right": 0, "refused": 0, "wrong": 0}
        times: list[float] = []
        for case in cases:
            begun = time.perf_counter()
            match = self.matcher.match(case.text, RUN_DATE)
            times.append((time.perf_counter() - begun) * 1000)
            outcome, note = self._judge(case, match)
            counts[outcome] += 1
            if verbose and (outcome == "wrong" or (outcome == "refused" and case.rows is not None)):
                sys.stdout.write(f"  {outcome:8} {case.case_id} {case.text}\n           {note}\n")
        return {**counts, "median_ms": sorted(times)[len(times) // 2] if times else 0.0}

    def _judge(self, case: Case, match: Match) -> tuple[str, str]:
        if not match.complete:
            outcome = "right" if case.rows is None else "refused"
            return outcome, match.reason
        if match.verified is not None:
            sql, note = match.verified.sql, f"verified query {match.verified.name}"
        else:
            assert match.query is not None
            compiled = compile_query(match.query, self.model, "postgres")
            sql, note = compiled.sql, compiled.description
        if case.rows is None:
            return "wrong", note
        rows = self._execute(sql)
        expected = case.rows
        if match.query is not None and match.query.order is not None and not case.exact:
            # "The best products" says no number, "the best product" says one: the ranking must begin the same way.
            shorter = min(len(rows), len(expected))
            rows, expected = rows[:shorter], expected[:shorter]
            if shorter == 0 or (match.query.limit is not None and shorter < min(match.query.limit, len(case.rows))):
                return "wrong", note
            return ("right" if same_rows(expected, rows, ordered=True) else "wrong"), note
        if same_rows(case.rows, rows, ordered=case.ordered):
            return "right", note
        return "wrong", f"{note}: {rows[:3]} instead of {case.rows[:3]}"


if __name__ == "__main__":
    sys.exit(main())
