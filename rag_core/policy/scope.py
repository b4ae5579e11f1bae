"""Names inside a query: the scopes they are looked up in, and what a column name means there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from sqlglot import exp

from rag_core.policy.access import Access, TableAccess
from rag_core.policy.fields import SuperFields
from rag_core.policy.names import asked_back, near_misses
from rag_core.policy.refusal import Refusal

# Hidden columns that every PostgreSQL table has; they tell of storage and of the names of partitions.
_SYSTEM_COLUMNS = frozenset({"tableoid", "ctid", "xmin", "xmax", "cmin", "cmax", "oid", "rowid", "_rowid_"})
# Of those, the ones that no row type of somebody's own can have as a field.
_ROW_COLUMNS = frozenset({"tableoid", "ctid", "xmin", "xmax", "cmin", "cmax"})
_FIELD_ACCESS = frozenset({"bigquery", "duckdb", "snowflake", "redshift"})
# Words that some dialects take as arguments where the parser sees a column, as in DATEDIFF(day, a, b).
_DATE_PARTS = frozenset(
    {
        "year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond", "microsecond",
        "nanosecond", "epoch", "dow", "doy", "isoyear", "isoweek", "isodow", "dayofweek", "dayofyear", "decade",
        "century", "millennium", "years", "quarters", "months", "weeks", "days", "hours", "minutes", "seconds",
        "dayofweekiso", "weekiso", "yearofweek", "yearofweekiso", "date", "time", "yyyy", "mm", "dd", "epoch_second",
    }
)  # fmt: skip


_TAKES_ALIASES = (exp.Ordered, exp.Tuple, exp.Distinct, exp.Group, exp.Rollup, exp.Cube, exp.GroupingSets)


def _holder(node: exp.Column) -> exp.Expr | None:
    """What a name stands in, parentheses aside."""
    holder = node.parent
    while isinstance(holder, exp.Paren):
        holder = holder.parent
    return holder


@dataclass
class Source:
    """One item of a FROM clause. `columns` maps keys of visible columns to the catalog columns they are, if any.

    An `open` source may have more columns than are known (table functions, pivots, unnamed expressions). `parts` tells
    what the columns of a derived table are made of, by key, `rest` what those are made of whose names are not known.
    """

    key: str
    columns: dict[str, str | None]
    open: bool = False
    access: TableAccess | None = None
    schema: str | None = None
    parts: dict[str, Parts] = field(default_factory=dict)
    rest: Parts = ()


# What a column is made of: expressions of queries, and columns of sources by their keys.
Parts = tuple[exp.Expr | tuple[Source, str], ...]


@dataclass
class Scope:
    """The names that one SELECT sees: its sources, its select aliases and the queries around it."""

    ctes: Mapping[str, Source]
    parent: Scope | None = None
    sources: list[Source] = field(default_factory=list)
    aliases: frozenset[str] = frozenset()
    merged: set[str] = field(default_factory=set)


@dataclass
class Output:
    """The columns that a query gives, by key in order; `open` where not all names are known.

    `parts` tells what each is made of, in the same order, also where there are no names; `rest` what columns are made
    of whose number is not known.
    """

    names: list[str]
    open: bool = False
    parts: list[Parts] = field(default_factory=list)
    rest: Parts = ()


def derived_source(key: str, output: Output, renamed: list[str] | None = None, *, opened: bool = False) -> Source:
    """The source that a query's output is in the FROM of another, its columns renamed from the first on."""
    names = list(output.names)
    for index, name in enumerate(renamed or ()):
        if index < len(names):
            names[index] = name
        else:
            names.append(name)
    source = Source(key, dict.fromkeys(name for name in names if name), open=output.open or opened, rest=output.rest)
    for index, made in enumerate(output.parts):
        if index < len(names) and names[index]:
            source.parts[names[index]] = source.parts.get(names[index], ()) + made
        else:
            source.rest += made
    return source


def chain(scope: Scope | None) -> Iterator[Scope]:
    """The scope and those around it, from the inside out."""
    while scope is not None:
        yield scope
        scope = scope.parent


class ColumnReader:
    """Finds out what column names mean, and notes the columns that are read.

    `columns` are the catalog columns read so far; `replaced_columns` are nodes that name a schema although their table
    is going to be a subquery; `hidden` are the keys of hidden columns of the tables so far; `seen` holds the ids of
    the nodes that were resolved; `meanings` gives the catalog column that a node is, by the node's id, and `bound` the
    sources and keys that it may be (None for all of a source's columns).
    `check_attribute` judges names after a point that no column is known for.
    """

    def __init__(self, access: Access, check_attribute: Callable[[str], None]) -> None:
        self.access = access
        self.check_attribute = check_attribute
        self.rules = access.rules
        self.dialect = access.rules.dialect
        self.seen: set[int] = set()
        self.columns: dict[str, None] = {}
        self.replaced_columns: list[exp.Column] = []
        self.hidden: set[str] = set()
        self.meanings: dict[int, str] = {}
        self.bound: dict[int, list[tuple[Source, str | None]]] = {}

    def read(self, node: exp.Column, scope: Scope, *, aliases_first: bool) -> None:
        """Resolves a column node. Raises Refusal."""
        self.seen.add(id(node))
        if isinstance(node.this, exp.Star):
            source = self._qualified_source(node, scope)
            if source is not None:
                self.touch_all(source)
                self.bound[id(node)] = [(source, None)]
            return
        key = self.rules.identifier_key(node.this)
        if node.args.get("table") is not None:
            self._qualified(node, key, scope)
        else:
            self._unqualified(node, key, scope, aliases_first=aliases_first)

    def _qualified(self, node: exp.Column, key: str, scope: Scope) -> None:
        source = self._qualified_source(node, scope)
        if source is None:
            self._check_sequence(key)
            return
        self.bound[id(node)] = [(source, key)]
        if key in source.columns:
            self._mean(node, self.touch(source, key))
            return
        self.check_hidden(source, key, node.name)
        self._check_sequence(key)
        if source.open and key not in _SYSTEM_COLUMNS:
            self.check_open(source, key)
            return
        self.refuse(node.name, [source], source.key)

    def _check_sequence(self, key: str) -> None:
        """Snowflake: `name.NEXTVAL` moves a sequence on, which no rollback takes back."""
        if self.dialect == "snowflake" and key.upper() == "NEXTVAL":
            raise Refusal("function_not_allowed", "NEXTVAL moves a sequence on: leave it out")

    def _qualified_source(self, node: exp.Column, scope: Scope) -> Source | None:
        table = self.rules.identifier_key(node.args["table"])
        schema = node.args.get("db")
        schema_key = self.rules.identifier_key(schema) if schema is not None else None
        for source in (source for here in chain(scope) for source in here.sources):
            if source.key == table and (schema_key is None or source.schema == schema_key):
                if schema is not None and source.access is not None and source.access.restricted:
                    self.replaced_columns.append(node)
                return source
        if self.dialect in _FIELD_ACCESS:
            # a.b.c may be fields of a struct column a; the outermost name is then an ordinary column.
            parts = [node.args[name] for name in ("catalog", "db", "table") if node.args.get(name) is not None]
            keys = [self.rules.identifier_key(part) for part in parts]
            if len(parts) > 1 and not any(keys[0] in item.columns for here in chain(scope) for item in here.sources):
                row = self.whole_row(keys[0], scope)
                if row is not None:
                    self._field_of_row(row, keys[1], parts[1].name)
                    self._bind_field(node, [(row, keys[1])])
                    return None
            outermost = exp.Column(this=parts[0].copy())
            self._unqualified(outermost, keys[0], scope, aliases_first=False)
            self._bind_field(node, self.bound.pop(id(outermost), []))
            return None
        known = sorted({source.key for source in scope.sources if source.key})
        raise Refusal(
            "unknown_table",
            f"{node.args['table'].name} is not a table or alias of this query"
            + (f"; it has {', '.join(known)}" if known else ""),
            tuple(known),
        )

    def _bind_field(self, node: exp.Column, bound: list[tuple[Source, str | None]]) -> None:
        """Notes the column that a field is taken of."""
        self.bound[id(node)] = bound
        if self.dialect == "redshift":
            SuperFields(self.bound).check(node, node.name)

    def _field_of_row(self, source: Source, key: str, name: str) -> None:
        """`alias.column.field`: only this column of the source is read."""
        if key in source.columns:
            self.touch(source, key)
            return
        self.check_hidden(source, key, name)
        if not source.open:
            self.refuse(name, [source], source.key)

    def _unqualified(self, node: exp.Column, key: str, scope: Scope, *, aliases_first: bool) -> None:
        # PostgreSQL: in ORDER BY and DISTINCT ON a bare name means the output column, inside an expression the input's.
        if aliases_first and key in scope.aliases and isinstance(_holder(node), _TAKES_ALIASES):
            return
        for here in chain(scope):
            found = [source for source in here.sources if key in source.columns]
            if len(found) > 1 and key not in here.merged:
                names = tuple(sorted(f"{source.key}.{node.name}" for source in found))
                raise Refusal("ambiguous_column", f"the column {node.name} is ambiguous: {', '.join(names)}", names)
            if found:
                self.bound[id(node)] = [(source, key) for source in found]
                for source in found:
                    self._mean(node, self.touch(source, key))
                return
            for source in here.sources:
                self.check_hidden(source, key, node.name)
        if key in scope.aliases:
            self._check_alias(node, scope)
            return
        row = self.whole_row(key, scope)
        if row is not None:
            self.touch_all(row)
            self.bound[id(node)] = [(row, None)]
            return
        sources = [source for here in chain(scope) for source in here.sources]
        self.bound[id(node)] = [(source, key) for source in sources if source.open]
        if any(source.open for source in sources) and key not in _SYSTEM_COLUMNS:
            return
        if key.lower() in _DATE_PARTS and isinstance(node.parent, exp.Func):
            return
        self.refuse(node.name, sources)

    def _check_alias(self, node: exp.Column, scope: Scope) -> None:
        """Select aliases exist in PostgreSQL only as whole items of GROUP BY, ORDER BY and DISTINCT ON."""
        if self.dialect == "postgres" and not isinstance(_holder(node), _TAKES_ALIASES):
            raise Refusal(
                "alias_not_allowed",
                f"{node.name} is a name of the select list, which cannot be used here: repeat its expression",
            )

    def whole_row(self, key: str, scope: Scope) -> Source | None:
        """The source that an unqualified name means as a row, if any."""
        return next((source for here in chain(scope) for source in here.sources if source.key == key and key), None)

    def touch(self, source: Source, key: str) -> str | None:
        """Notes that a column of a source is read; gives its name in the catalog, None where it is computed."""
        name = source.columns[key]
        if name is None or source.access is None:
            return None
        column = f"{source.access.table.qualified_name}.{name}"
        self.columns[column] = None
        return column

    def _mean(self, node: exp.Column, column: str | None) -> None:
        if column is not None:
            self.meanings.setdefault(id(node), column)

    def touch_all(self, source: Source) -> None:
        """Notes that all visible columns of a source are read."""
        for key in source.columns:
            self.touch(source, key)

    def check_hidden(self, source: Source, key: str, name: str) -> None:
        """Raises Refusal where the name means a column of the source that must not be seen."""
        reason = source.access.hidden.get(key) if source.access is not None else None
        if reason is None or source.access is None:
            return
        table = source.access.table
        if reason == "unreadable":
            raise Refusal("not_permitted", f"this role may not read the column {name} of {table.qualified_name}")
        if reason == "computed":
            raise Refusal(
                "column_excluded",
                f"the column {name} of {table.qualified_name} is computed from one that the policy hides: "
                "the policy would have to name it under columns.show",
            )
        raise Refusal("column_excluded", f"the policy excludes the column {name} of {table.qualified_name}")

    def check_open(self, source: Source, key: str) -> None:
        """Judges a name that is no known column of a source with unknown ones. Raises Refusal for a function."""
        if self.dialect == "redshift" and source.access is None:
            SuperFields(self.bound).check_column(source, key, key)
        self.check_attribute(key)

    def check_field(self, key: str, value: exp.Expr) -> None:
        """Judges a name after a value. Raises Refusal for a function, and for what every row of a table has."""
        if self.dialect == "redshift":
            SuperFields(self.bound).check(value, key)
        # PostgreSQL looks through a cast that changes nothing: `(t::t).tableoid` is `t.tableoid`.
        if key in _ROW_COLUMNS and self.dialect not in _FIELD_ACCESS:
            raise Refusal("unknown_column", f"{key} tells of storage and is no column of a query")
        self.check_attribute(key)

    def refuse(self, name: str, sources: list[Source], qualifier: str | None = None) -> NoReturn:
        """Raises the Refusal for a column that none of the sources has, with near misses."""
        written = f"{qualifier}.{name}" if qualifier else name
        pairs: list[tuple[str, str]] = []
        for source in sources:
            for column in (item for item in source.columns.values() if item is not None):
                prefix = self.rules.written(source.access.table.name) if source.access else source.key
                pairs.append((column, f"{prefix}.{self.rules.written(column)}"))
            pairs.extend(
                (key, f"{source.key}.{key}" if source.key else key)
                for key, item in source.columns.items()
                if item is None and key
            )
        same = sorted({text for column, text in pairs if column.lower() == name.lower()})
        if same:
            raise Refusal(
                "quoting",
                f"there is no column {written}: the name is written {' or '.join(same)}",
                tuple(same),
                (1.0,) * len(same),
            )
        found = near_misses(name, pairs)
        raise Refusal(
            "unknown_column",
            f"unknown column {written}{asked_back(found)}",
            tuple(item.name for item in found),
            tuple(item.score for item in found),
        )
