"""Fill the answers of ``sample/facts.yaml`` by running each fact's SQL on a loaded sample warehouse.

Questions, wordings, SQL, story and place are written by hand in the file; only ``answer`` and ``headline`` are made.

    python -m sample.warehouse.write_facts "host=... dbname=..."
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row
from ruamel.yaml import YAML
from ruamel.yaml.representer import RoundTripRepresenter
from ruamel.yaml.scalarstring import LiteralScalarString

from sample.warehouse.load import is_loaded

FACTS = Path(__file__).resolve().parents[1] / "facts.yaml"


class _Representer(RoundTripRepresenter):
    """Writes ``null`` where ruamel would write nothing."""


_Representer.add_representer(
    type(None), lambda representer, _: representer.represent_scalar("tag:yaml.org,2002:null", "null")
)

Scalar = str | int | bool | None


class FactsError(Exception):
    """The facts cannot be answered: the database does not hold the sample of the file's seed."""


def read_facts(path: Path = FACTS) -> dict[str, Any]:
    """The facts file as plain values: ``as_of`` (date), ``seed`` (int), ``warehouse`` (a list of facts)."""
    facts: dict[str, Any] = YAML(typ="safe").load(path)
    return facts


def answer_sql(connection: psycopg.Connection[Any], statement: str) -> list[dict[str, Scalar]]:
    """Run one gold query read-only and return its rows by column name.

    Decimals and dates are text, so that no reader turns them into floats or other types.
    """
    with connection.transaction(), connection.cursor(row_factory=dict_row) as cursor:
        cursor.execute("SET TRANSACTION READ ONLY")
        cursor.execute("SET LOCAL TIME ZONE 'UTC'")
        cursor.execute(statement.encode())
        return [{name: _scalar(value) for name, value in row.items()} for row in cursor.fetchall()]


def headline_of(answer: list[dict[str, Scalar]]) -> Scalar:
    """The value a reader looks for first: the last column of an answer of one row, else None."""
    return next(reversed(answer[0].values())) if len(answer) == 1 else None


def _scalar(value: object) -> Scalar:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"a gold query returned {type(value).__name__}: cast it to numeric, integer, text or date")


def write_facts(conninfo: str, path: Path = FACTS) -> int:
    """Answer every fact anew and rewrite the file; return how many facts it holds.

    Raises ``FactsError`` if the database does not hold the sample of this generator version and of the file's seed.
    """
    yaml = YAML()
    yaml.Representer = _Representer
    yaml.width = 110
    yaml.indent(mapping=2, sequence=4, offset=2)
    document = yaml.load(path)
    if not is_loaded(conninfo, seed=document["seed"]):
        raise FactsError(f"the database does not hold the sample of seed {document['seed']}: load it first")
    with psycopg.connect(conninfo, autocommit=True) as connection:
        for fact in document["warehouse"]:
            _fill(fact, answer_sql(connection, fact["sql"]))
    with path.open("w", encoding="utf-8") as file:
        yaml.dump(document, file)
    return len(document["warehouse"])


def _fill(fact: Any, answer: list[dict[str, Scalar]]) -> None:
    fact["sql"] = LiteralScalarString(fact["sql"])
    fact["answer"] = [dict(row) for row in answer]
    fact["headline"] = headline_of(answer)


def stale_facts(facts: Mapping[str, Any], connection: psycopg.Connection[Any]) -> list[str]:
    """The ids of the facts whose stored answer or headline differs from what their SQL returns now."""
    stale: list[str] = []
    for fact in facts["warehouse"]:
        answer = answer_sql(connection, fact["sql"])
        if answer != fact["answer"] or headline_of(answer) != fact["headline"]:
            stale.append(fact["id"])
    return stale


def main(argv: Sequence[str] | None = None) -> int:
    """Run the SQL of sample/facts.yaml on a loaded sample warehouse and write the answers into the file."""
    parser = argparse.ArgumentParser(prog="python -m sample.warehouse.write_facts", description=main.__doc__)
    parser.add_argument("conninfo", help="libpq connection string of the loaded sample warehouse")
    arguments = parser.parse_args(argv)
    try:
        count = write_facts(arguments.conninfo)
    except (FactsError, psycopg.Error) as error:
        sys.stderr.write(f"facts not written: {error}\n")
        return 1
    sys.stdout.write(f"{count} facts answered\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
