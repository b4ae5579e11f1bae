"""Follows renames in SQL by exact resolution of names, changing nothing else of the text. Pure.

Each column is traced through scopes, subqueries and common table expressions to the table it comes from. A renamed
column that a SELECT hands on keeps its old name there (`amount AS amt`), so that whoever reads the result finds it.
What cannot be resolved for certain is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope, traverse_scope
from sqlglot.tokenizer_core import TokenType

from rag_core.datamodel.catalog import Catalog
from rag_core.policy.names import name_rules
from rag_core.schema.renames import Renames
from rag_core.schema.resolve import RepairFault, Resolver

__all__ = ["RepairFault", "Rewritten", "rewrite_sql"]

_CASTS = frozenset({"CAST", "TRY_CAST", "SAFE_CAST"})
_AFTER_PROJECTION = frozenset(
    {
        TokenType.COMMA,
        TokenType.FROM,
        TokenType.WHERE,
        TokenType.GROUP_BY,
        TokenType.HAVING,
        TokenType.ORDER_BY,
        TokenType.LIMIT,
        TokenType.UNION,
        TokenType.EXCEPT,
        TokenType.INTERSECT,
        TokenType.SEMICOLON,
        TokenType.INTO,
        TokenType.WINDOW,
        TokenType.OFFSET,
        TokenType.FETCH,
    }
)


class Rewritten(NamedTuple):
    """The statement after the renames; `edits` in the order of the text, `notes` on what changes for its readers."""

    sql: str
    edits: tuple[str, ...]
    notes: tuple[str, ...]


class _Edit(NamedTuple):
    start: int
    end: int
    text: str


def rewrite_sql(
    sql: str,
    dialect: str,
    renames: Renames,
    *,
    catalog: Catalog | None = None,
    search_path: tuple[str, ...] = ("public",),
) -> Rewritten:
    """Follows renames in one SELECT.

    Args:
        sql: the statement, written for the schema before the renames.
        dialect: sqlglot's name of its dialect.
        renames: tables and columns by their earlier names.
        catalog: the schema before the renames; it tells to which of several tables a bare column belongs.
        search_path: schemas of tables that are named without one.

    Raises:
        RepairFault: it cannot be parsed, is no single query, or a name cannot be resolved for certain.
    """
    if renames.empty:
        return Rewritten(sql, (), ())
    try:
        trees = [tree for tree in sqlglot.parse(sql, dialect=dialect) if tree is not None]
    except SqlglotError as error:
        raise RepairFault(f"the statement cannot be parsed: {str(error).splitlines()[0]}") from error
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        raise RepairFault("only a single query can be rewritten")
    rewriter = _Rewriter(sql, dialect, renames, catalog, search_path)
    try:
        rewriter.visit(trees[0])
    except SqlglotError as error:
        raise RepairFault(f"the names of the statement cannot be resolved: {str(error).splitlines()[0]}") from error
    return rewriter.finish()


class _Rewriter:
    """Collects the edits of one statement."""

    def __init__(
        self, sql: str, dialect: str, renames: Renames, catalog: Catalog | None, search_path: tuple[str, ...]
    ) -> None:
        self._sql = sql
        self._dialect = dialect
        self._rules = name_rules(dialect)
        key = self._rules.catalog_key
        self._renames = Renames(
            tables={key(table): new for table, new in renames.tables.items()},
            columns={(key(table), key(column)): new for (table, column), new in renames.columns.items()},
        )
        self._resolver = Resolver(self._rules, self._renames, catalog, search_path)
        self._edits: list[_Edit] = []
        self._notes: list[str] = []
        self._touched = {table for table, _ in self._renames.columns}

    def visit(self, tree: exp.Expr) -> None:
        """Collects the edits of every scope."""
        scopes = traverse_scope(tree)
        for scope in scopes:
            for column in list(scope.find_all(exp.Column)):
                self._visit_column(scope, column)
            self._visit_joins(scope)
            self._visit_whole_rows(scope)
        for scope in scopes:
            for node in scope.tables:
                self._visit_table(node, scope)
        if scopes:
            self._note_stars(scopes[-1])

    def finish(self) -> Rewritten:
        """Applies the edits to the text, from its end, and checks that the result still parses."""
        text = self._sql
        ordered = sorted(set(self._edits))
        for edit in reversed(ordered):
            text = text[: edit.start] + edit.text + text[edit.end :]
        try:
            sqlglot.parse_one(text, dialect=self._dialect)
        except SqlglotError as error:
            raise RepairFault("the rewritten statement cannot be parsed") from error
        said = tuple(f"{self._sql[edit.start : edit.end]} -> {edit.text}" for edit in ordered if edit.end > edit.start)
        return Rewritten(text, said, tuple(dict.fromkeys(self._notes)))

    # ------------------------------------------------------------------ columns

    def _visit_column(self, scope: Scope, column: exp.Column) -> None:
        if isinstance(column.this, exp.Star):
            return
        if self._names_output(scope, column):
            return
        origin = self._resolver.origin(scope, column)
        if origin is None:
            return
        new = self._renames.columns.get((origin.table, origin.column))
        if new is None:
            return
        identifier = column.this
        text = self._rules.written(new)
        self._replace(identifier, text)
        if _named_by(column):
            old = self._sql[identifier.meta["start"] : identifier.meta["end"] + 1]
            self._insert(self._projection_end(identifier), f" AS {old}")

    def _names_output(self, scope: Scope, column: exp.Column) -> bool:
        """Whether a bare name in ORDER BY means a column of the result, which keeps its name."""
        ordered = column.parent
        if column.table or not isinstance(ordered, exp.Ordered) or not isinstance(ordered.parent, exp.Order):
            return False
        query = ordered.parent.parent
        if not isinstance(query, exp.Query):
            return False
        name = self._rules.identifier_key(column.this)
        return any(self._resolver.output_name(projection) == name for projection in query.selects)

    # ------------------------------------------------------------------ tables and joins

    def _visit_table(self, node: exp.Table, scope: Scope) -> None:
        table = self._resolver.table_name(node)
        if table is None or table not in self._renames.tables:
            return
        if any(
            isinstance(item, Scope) for key, (item_node, item) in scope.selected_sources.items() if item_node is node
        ):
            return  # a common table expression of the same name
        old_schema = table.partition(".")[0]
        schema_name, _, name = self._renames.tables[table].partition(".")
        text = self._rules.written(name)
        schema_node = node.args.get("db")
        written = self._sql[node.this.meta["start"] : node.this.meta["end"] + 1]
        if schema_node is not None and schema_name != old_schema:
            self._replace(schema_node, self._rules.written(schema_name))
        elif schema_node is None and schema_name != old_schema:
            text = f"{self._rules.written(schema_name)}.{text}"
        if not node.alias:
            # Columns that are written with the table's name keep working.
            text = f"{text} AS {written}" if name != table.rpartition(".")[2] else text
        self._replace(node.this, text)
        for column in scope.columns:
            if column.args.get("db") is not None and self._rules.identifier_key(column.args["table"]) == node.name:
                raise RepairFault(f"column {column.sql(dialect=self._dialect)} is written with the schema of {table}")

    def _visit_joins(self, scope: Scope) -> None:
        for join in scope.expression.args.get("joins") or []:
            sources = [item for _, item in scope.selected_sources.values()]
            if join.args.get("method") == "NATURAL" and any(
                not isinstance(item, Scope) and self._resolver.table_name(item) in self._touched for item in sources
            ):
                raise RepairFault("a NATURAL JOIN would join by other columns after the rename")
            for identifier in join.args.get("using") or []:
                name = self._rules.identifier_key(identifier.this if isinstance(identifier, exp.Column) else identifier)
                self._visit_using(identifier, name, sources)

    def _visit_using(self, identifier: exp.Expression, name: str, sources: Sequence[exp.Expr | Scope]) -> None:
        later = set()
        for source in sources:
            if self._resolver.holds(source, name) is False:
                continue
            origin = self._resolver.through(source, name)
            later.add(self._renames.columns.get((origin.table, origin.column), name) if origin else name)
        if later == {name} or not later:
            return
        raise RepairFault(f"JOIN ... USING ({name}) names a column that has other names now")

    def _visit_whole_rows(self, scope: Scope) -> None:
        """A table's name used as a value hands on all columns under their names."""
        for column in scope.find_all(exp.Column):
            if column.table or isinstance(column.this, exp.Star):
                continue
            name = self._rules.identifier_key(column.this)
            for alias, (_, source) in scope.selected_sources.items():
                if isinstance(source, Scope) or self._resolver.fold_alias(scope, alias) != name:
                    continue
                if (
                    self._resolver.table_name(source) in self._touched
                    and self._resolver.holds(source, name) is not True
                ):
                    raise RepairFault(f"{name} stands for a whole row, whose fields have other names now")

    def _note_stars(self, scope: Scope) -> None:
        for name in sorted(self._starred(scope)):
            for (table, old), new in sorted(self._renames.columns.items()):
                if table == name:
                    self._notes.append(f"the result's column {old} is called {new} now, because it is read with *")

    def _starred(self, scope: Scope) -> set[str]:
        if scope.set_operation_scopes:
            return self._starred(scope.set_operation_scopes[0])
        if not self._resolver.has_star(scope):
            return set()
        found: set[str] = set()
        for _, source in scope.selected_sources.values():
            if isinstance(source, Scope):
                found |= self._starred(source)
            else:
                found.add(self._resolver.table_name(source) or "")
        return found

    # ------------------------------------------------------------------ names

    def _projection_end(self, identifier: exp.Expression) -> int:
        """Where the item of the SELECT list ends that begins with CAST, brackets or just this name."""
        tokens = sqlglot.tokenize(self._sql, read=self._dialect)
        place = next(index for index, token in enumerate(tokens) if token.start == identifier.meta["start"])
        first, depth = place, 0
        while first and tokens[first - 1].token_type == TokenType.DOT:
            first -= 2
        while first and (tokens[first - 1].token_type == TokenType.L_PAREN or tokens[first - 1].text.upper() in _CASTS):
            first -= 1
            depth += tokens[first].token_type == TokenType.L_PAREN
        end = tokens[place].end + 1
        for token in tokens[place + 1 :]:
            depth += token.token_type == TokenType.L_PAREN
            depth -= token.token_type == TokenType.R_PAREN
            if depth < 0 or (depth == 0 and token.token_type in _AFTER_PROJECTION):
                break
            end = token.end + 1
        return end

    def _insert(self, position: int, text: str) -> None:
        self._edits.append(_Edit(position, position, text))

    def _replace(self, identifier: exp.Expression, text: str) -> None:
        if "start" not in identifier.meta:
            raise RepairFault(f"{identifier.sql(dialect=self._dialect)} cannot be found in the text")
        start, end = identifier.meta["start"], identifier.meta["end"] + 1
        self._edits.append(_Edit(start, end, text))


def _named_by(column: exp.Column) -> bool:
    """Whether an item of a SELECT list has no alias and takes its name from this column, through casts too."""
    node: exp.Expression = column
    while isinstance(node.parent, exp.Cast | exp.Paren) and node.arg_key == "this":
        node = node.parent
    return isinstance(node.parent, exp.Select) and node.arg_key == "expressions"
