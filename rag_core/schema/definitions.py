"""Whether two texts of a view say the same. Pure."""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from rag_core.schema.renames import Renames
from rag_core.schema.rewrite import RepairFault, rewrite_sql


def same_definition(before: str | None, after: str | None, renames: Renames, dialect: str) -> bool:
    """Whether a view reads the same, apart from white space and from renames of what it reads; tables have no text.

    PostgreSQL rewrites the text of a view when a table or column below it is renamed; its rows stay the same.
    """
    if before is None or after is None or before.split() == after.split():
        return True
    if renames.empty:
        return False
    try:
        followed = rewrite_sql(before, dialect, renames).sql
        return _normal(followed, dialect, renames) == _normal(after, dialect, renames)
    except (RepairFault, SqlglotError):
        return False


def _normal(text: str, dialect: str, renames: Renames) -> str:
    """The statement without aliases that say nothing and without those that keep a table's earlier name."""
    tree = sqlglot.parse_one(text, dialect=dialect)
    earlier = {name.rpartition(".")[2] for name in renames.tables}
    for alias in list(tree.find_all(exp.Alias)):
        if isinstance(alias.this, exp.Column) and alias.this.name == alias.alias:
            alias.replace(alias.this)
    for table in tree.find_all(exp.Table):
        if table.alias and (table.alias == table.name or table.alias in earlier):
            for column in tree.find_all(exp.Column):
                if column.table == table.alias:
                    column.set("table", exp.to_identifier(table.name))
            table.set("alias", None)
    return tree.sql(dialect=dialect, comments=False)
