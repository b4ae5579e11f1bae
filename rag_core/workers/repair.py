"""Puts one name for another in a statement that somebody approved, where the schema knows the right one. Pure.

What a model wrote is for `sql_repair`, which may take the same column of another table, and joins. Here that would
change what was approved: only the name that is gone is replaced, and everything else stays.
"""

from __future__ import annotations

import sqlglot
from sqlglot import exp


def replace_name(sql: str, wrong: str, right: str, *, dialect: str) -> str:
    """The statement with each use of a column or table called `wrong` called `right` instead.

    `right` may be qualified (`schema.table.column`, `schema.table`): of a column the last part is taken, since its
    table stands in the statement already. An output name the column gave itself is kept as an alias. A statement that
    cannot be parsed comes back unchanged.
    """
    try:
        tree = sqlglot.parse_one(sql, dialect=dialect)
    except sqlglot.errors.SqlglotError:
        return sql
    wrong_parts, right_parts = wrong.split("."), right.split(".")
    for table in list(tree.find_all(exp.Table)):
        if table.name.lower() == wrong_parts[-1].lower() and len(right_parts) <= 2 and not _is_column_path(right_parts):
            _rename_table(table, right_parts, wrong_parts[-1])
    for column in list(tree.find_all(exp.Column)):
        if column.name.lower() != wrong_parts[-1].lower():
            continue
        if len(wrong_parts) > 1 and column.table and column.table.lower() != wrong_parts[-2].lower():
            continue
        named = exp.to_identifier(right_parts[-1], quoted=not right_parts[-1].islower() or None)
        bare_output = isinstance(column.parent, exp.Select) and column.arg_key == "expressions"
        replacement = column.copy()
        replacement.set("this", named)
        column.replace(exp.alias_(replacement, column.name) if bare_output else replacement)
    return tree.sql(dialect=dialect)


def _is_column_path(parts: list[str]) -> bool:
    return len(parts) > 2


def _rename_table(table: exp.Table, right: list[str], wrong: str) -> None:
    if not table.alias:
        # Columns qualified by the old name must still find their table.
        table.set("alias", exp.TableAlias(this=exp.to_identifier(wrong)))
    table.set("this", exp.to_identifier(right[-1], quoted=not right[-1].islower() or None))
    if len(right) > 1:
        table.set("db", exp.to_identifier(right[-2]))
