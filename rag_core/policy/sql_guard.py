"""The SQL guard: the only way in which somebody's SQL becomes a statement that the warehouse may run.

Parse, one statement, a query at its root, every node known to only read, every table and column resolved and allowed,
every function judged; then a rewritten text, generated from what was checked, whose calls are judged once more. What
the guard does not judge (types, grouping) the database's EXPLAIN does. It fails closed: whatever it cannot place is
refused.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError

from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.query import GuardedSql, GuardVerdict
from rag_core.datamodel.understanding import Understanding
from rag_core.policy.access import Access
from rag_core.policy.dialects import STUMBLES, reader_for, writer_for
from rag_core.policy.findings import policy_findings
from rag_core.policy.functions import FunctionGuard
from rag_core.policy.growth import check_growth
from rag_core.policy.implied import ImpliedCalls
from rag_core.policy.joins import JoinGuard, JoinReader
from rag_core.policy.literals import plain_literals
from rag_core.policy.names import name_rules
from rag_core.policy.nodes import check_nodes, check_root
from rag_core.policy.refusal import Refusal
from rag_core.policy.resolve import Resolver
from rag_core.policy.rewrite import name_types, rewrite
from rag_core.policy.row_types import RowTypes
from rag_core.policy.rules import Policy
from rag_core.policy.spelling import plain_spelling
from rag_core.policy.understood import UnderstoodGuard
from rag_core.policy.views import ViewGuard
from rag_core.policy.words import shape_of, tamed

logger = logging.getLogger(__name__)

MAX_CHARACTERS = 100_000
# What is said where the guard has a fault of its own.
STUMBLED = "the statement cannot be judged"

# The parser warns about statements it does not understand; the guard refuses them, which says it better.
logging.getLogger("sqlglot").setLevel(logging.CRITICAL)


class SqlGuard:
    """Checks statements against one policy and one catalog. Safe to use from several threads.

    Args:
        policy: what may be read.
        catalog: the schema that names are resolved in.
        approved_joins: pairs of `schema.table.column` that somebody has approved, of those the policy asks about.
    """

    def __init__(self, policy: Policy, catalog: Catalog, *, approved_joins: Iterable[tuple[str, str]] = ()) -> None:
        self.policy = policy
        self.catalog = catalog
        self._rules = name_rules(catalog.dialect)
        self._access = Access(policy, catalog, self._rules)
        self._joins = JoinGuard(policy.joins.need_approval, approved_joins)
        self._access.offered = lambda table: self._views.reason(table) is None

    @cached_property
    def _functions(self) -> FunctionGuard:
        return FunctionGuard(self.policy.functions, self.catalog)

    @cached_property
    def _views(self) -> ViewGuard:
        return ViewGuard(self._access, self.catalog, self._rules, self._functions, self._implied)

    @cached_property
    def _implied(self) -> ImpliedCalls:
        return ImpliedCalls(self._functions, self.catalog)

    def check(self, sql: str, dialect: str | None = None) -> GuardVerdict:
        """The verdict on one statement.

        Args:
            sql: what somebody wrote.
            dialect: the dialect it is written in, where that is not the warehouse's; it is then translated.
        """
        written_in = dialect or self.catalog.dialect
        try:
            return self._check(sql, written_in)
        except Refusal as refusal:
            return GuardVerdict(
                allowed=False,
                code=refusal.code,
                message=refusal.message,
                dialect=written_in,
                suggestions=refusal.suggestions,
                scores=refusal.scores,
            )
        except RecursionError:
            return GuardVerdict(
                allowed=False, code="too_complex", message="the statement is nested too deeply", dialect=written_in
            )
        except Exception:
            # Nothing is known to come here; if something does, it is a fault of the guard's own, and nothing is run.
            logger.warning("the guard stumbled over a statement and refused it", exc_info=True)
            return GuardVerdict(allowed=False, code="unsupported_syntax", message=STUMBLED, dialect=written_in)

    def check_understood(
        self, query: GuardedSql, understood: Understanding, conditions: Mapping[str, str] | None = None
    ) -> None:
        """Judges what the database made of a statement that was allowed. Raises Refusal where that is more.

        `conditions` are those of the row filters of its tables: see `filter_probe`.
        """
        UnderstoodGuard(
            self.policy, self.catalog, self._access, self._views, query, understood, conditions or {}
        ).check()

    def filter_probe(self, table: str) -> GuardedSql | None:
        """A statement that reads just `schema.table` under the policy's row filters; None where there are none."""
        found = self.catalog.table(table)
        if found is None or not self._access.allow(found).row_filters:
            return None
        named = exp.Table(this=self._rules.identifier(found.name), db=self._rules.identifier(found.schema_name))
        return self.check(exp.select("1").from_(named).sql(dialect=self.catalog.dialect)).query

    @cached_property
    def visible_catalog(self) -> Catalog:
        """The catalog as questions may see it: no closed tables, no hidden columns, no views over hidden data."""
        tables = []
        for table in self.catalog.tables:
            try:
                access = self._access.allow(table)
                self._views.check(table)
            except Refusal:
                continue
            if access.hidden:
                seen = frozenset(access.visible.values())
                table = table.model_copy(
                    update={"columns": tuple(column for column in table.columns if column.name in seen)}
                )
            tables.append(table)
        return self.catalog.model_copy(update={"tables": tuple(tables)})

    def warnings(self) -> tuple[str, ...]:
        """Names in the policy that match nothing of the catalog, one sentence each."""
        return policy_findings(self.policy, self.catalog)

    # ------------------------------------------------------------------ inside

    def _check(self, sql: str, written_in: str) -> GuardVerdict:
        if not self.policy.schemas or not self.policy.tables.include:
            raise Refusal("policy_empty", "the policy allows no schema and no table, so nothing is run")
        tree = self._parse(sql, written_in)
        check_root(tree)
        functions = check_nodes(tree)
        for function in functions:
            if isinstance(function, (exp.Anonymous, exp.AnonymousAggFunc)):
                self._functions.check_called(function.name)
        check_growth(functions, self.policy.limits.max_bytes)
        resolver = Resolver(self._access, self._views, self._functions.check_attribute)
        resolver.resolve(tree)
        if self.catalog.dialect == "postgres":
            RowTypes(self._access, self._views).check(tree)
            name_types(tree)
        self._joins.check(tree, resolver)
        reader = JoinReader(tree, resolver)
        joins, derived_joins = reader.plain, reader.derived
        expression_joins = reader.expressions(self.catalog.dialect)
        own_limit = _own_limit(tree)
        holder = exp.Paren(this=tree)
        rewrite(resolver, self._rules)
        text = self._write(holder.this, translated=written_in != self.catalog.dialect)
        self._functions.check_text(text)
        self._implied.check(text, [access.table for _, access in resolver.places])
        tables, columns = tuple(sorted(resolver.tables)), tuple(sorted(resolver.columns))
        query = GuardedSql(
            text=text,
            dialect=self.catalog.dialect,
            tables=tables,
            columns=columns,
            limits=self.policy.limits,
            own_limit=own_limit,
            joins=joins,
            expression_joins=expression_joins,
            derived_joins=derived_joins,
            row_limited=tuple(
                sorted(
                    {
                        access.table.qualified_name
                        for _, access in resolver.places
                        if access.table.row_limited or access.row_filters
                    }
                )
            ),
        )
        return GuardVerdict(
            allowed=True,
            code="ok",
            message="allowed",
            dialect=written_in,
            tables=tables,
            columns=columns,
            query=query,
        )

    def _parse(self, sql: str, written_in: str) -> exp.Expr:
        if not sql.strip():
            raise Refusal("empty", "there is no statement")
        if len(sql) > MAX_CHARACTERS:
            raise Refusal("too_long", f"the statement is longer than {MAX_CHARACTERS:,} characters")
        if "\0" in sql:
            raise Refusal("syntax", "the statement holds a NUL character")
        if written_in == self.catalog.dialect == "postgres":
            sql = plain_literals(plain_spelling(sql))
        try:
            reader = reader_for(written_in, self.catalog.dialect)
        except ValueError:
            raise Refusal("unknown_dialect", f"{written_in} is not a known SQL dialect") from None
        try:
            parsed = reader.parse(sql, error_level=ErrorLevel.IMMEDIATE)
        except SqlglotError as error:
            raise Refusal("syntax", f"the statement cannot be parsed: {_first_line(error)}") from None
        except STUMBLES:
            # What it cannot read is not run.
            raise Refusal("syntax", "the statement cannot be parsed") from None
        statements = [tree for tree in parsed if tree is not None and not isinstance(tree, exp.Semicolon)]
        if not statements:
            raise Refusal("empty", "there is no statement")
        if len(statements) > 1:
            raise Refusal("multiple_statements", f"exactly one statement is run at a time, not {len(statements)}")
        return statements[0]

    def _write(self, tree: exp.Expr, *, translated: bool) -> str:
        """The statement's text, in which no text of the tree has become SQL."""
        same = tamed(tree, translated=translated)
        text = self._generate(tree)
        if same is not None:
            writer = writer_for(self.catalog.dialect)
            if shape_of(self._generate(same), writer) != shape_of(text, writer):
                raise Refusal("unsupported_syntax", "a text of the statement would be written as a part of it")
        return text

    def _generate(self, tree: exp.Expr) -> str:
        if self.catalog.dialect == "postgres":
            # It takes no empty parentheses, which the generator writes.
            for clock in list(tree.find_all(exp.CurrentTime)):
                if clock.this is None:
                    clock.replace(exp.Var(this="CURRENT_TIME"))
            for gathered in list(tree.find_all(exp.JSONObjectAgg)):
                _write_object_agg(gathered)
        try:
            return tree.sql(
                dialect=writer_for(self.catalog.dialect),
                comments=False,
                normalize_functions=False,
                copy=False,
                unsupported_level=ErrorLevel.RAISE,
            )
        except SqlglotError as error:
            raise Refusal("unsupported", f"the statement cannot be translated: {_first_line(error)}") from None
        except STUMBLES:
            # Arguments in places where the generator does not look for them.
            raise Refusal("unsupported", "the statement cannot be translated") from None


def _write_object_agg(node: exp.JSONObjectAgg) -> None:
    """The generator knows neither its name in PostgreSQL nor all of its options."""
    if any(value for name, value in node.args.items() if name != "expressions"):
        raise Refusal(
            "unsupported_syntax",
            "JSON_OBJECTAGG with options is not read here",
            ("jsonb_object_agg(key, value)",),
        )
    node.replace(exp.Anonymous(this="JSON_OBJECTAGG", expressions=node.expressions))


def _own_limit(tree: exp.Expr) -> int | None:
    """The statement's own outermost LIMIT or FETCH where it is a plain number."""
    limit: Any = tree.args.get("limit")
    if limit is None and isinstance(tree, exp.Subquery):
        return _own_limit(tree.this)
    count = limit.args.get("count" if isinstance(limit, exp.Fetch) else "expression") if limit is not None else None
    return int(count.this) if isinstance(count, exp.Literal) and count.this.isdigit() else None


def _first_line(error: Exception) -> str:
    """What the parser says, without the names of its own classes."""
    details = getattr(error, "errors", None)
    if details:
        first = details[0]
        where = f" (line {first['line']}, column {first['col']})" if first.get("line") else ""
        told = str(first.get("description") or "invalid syntax").split("\n")[0]
        if "<class" in told:
            told = "something is missing"
        return f"{_TOKEN.sub(_token_text, told)}{where}"
    told = str(error).split("\n")[0][:200]
    return "a text, a name or a comment is not closed" if told.startswith("Error tokenizing") else told


_TOKEN = re.compile(r"<Token token_type: TokenType\.(\w+), text: (.*), line: .*>", re.DOTALL)


def _token_text(match: re.Match[str]) -> str:
    return "the end" if match[1] == "SENTINEL" else match[2]
