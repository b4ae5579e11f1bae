"""Looks at the joins of a statement before anybody answers from it.

A foreign key vouches for itself. Any other join is judged by what is known of it (approved, rejected, waiting), by the
types of its sides, and by a bounded look at the values: does anything match at all, and are the values of one side
unique, so that no sum or count takes a row twice? What is wrong is a fault for the reflection to use, never an answer.
"""

from __future__ import annotations

import logging
import shlex
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, NamedTuple

import sqlglot
from sqlglot import exp

from rag_core.connectors.base import Warehouse
from rag_core.datamodel.base import Record
from rag_core.datamodel.catalog import Catalog, CatalogColumn
from rag_core.datamodel.query import GuardedSql, GuardVerdict, Limits
from rag_core.errors import QueryFault
from rag_core.policy.dialects import reader_for
from rag_core.policy.joins import VALUE
from rag_core.policy.names import name_rules
from rag_core.schema.join_probe import MAX_ROWS
from rag_core.schema.joins import Join
from rag_core.schema.types import same_family

logger = logging.getLogger(__name__)

JoinFaultKind = Literal["type_mismatch", "rejected", "needs_approval", "empty", "fan_out"]
# A look that takes longer than this says nothing; the question goes on without it.
PROBE_SECONDS = 5.0
LEAST_CONFIDENCE = 0.8


class Sides(NamedTuple):
    """Two tables with the columns that are compared, and the expression of each column that is, "" for the column."""

    left_table: str
    left_columns: tuple[str, ...]
    right_table: str
    right_columns: tuple[str, ...]
    left_forms: tuple[str, ...]
    right_forms: tuple[str, ...]


def _plain_sides(left: str, right: str) -> Sides:
    """The sides of a pair of `schema.table.column`."""
    (left_table, _, left_column), (right_table, _, right_column) = left.rpartition("."), right.rpartition(".")
    return Sides(left_table, (left_column,), right_table, (right_column,), ("",), ("",))


class JoinFault(Record):
    """What is wrong with a join; `left` and `right` as `schema.table(a, b)`.

    `code` is the fault's word: `join` where another statement may be right, `join_needs_approval` and `join_rejected`
    where people decide and nobody should try to get around them.
    """

    kind: JoinFaultKind
    left: str
    right: str
    message: str
    code: Literal["join", "join_needs_approval", "join_rejected"] = "join"


class JoinCheck:
    """Checks the joins of guarded statements; what the values told is kept for the life of the object.

    Safe to use from several threads.

    Args:
        warehouse: where the values are.
        check: the guard's decision on a statement, for the probes.
        catalog: the schema that names are resolved in.
        joins: what is known of joins that no key declares (`find_joins`, with what people decided); of the rest the
            values alone decide.
    """

    def __init__(
        self,
        warehouse: Warehouse,
        check: Callable[[str], GuardVerdict],
        catalog: Catalog,
        joins: Iterable[Join] = (),
    ) -> None:
        self._warehouse = warehouse
        self._check = check
        self._rules = name_rules(catalog.dialect)
        self._tables = {table.qualified_name: table for table in catalog.tables}
        self._declared = {
            frozenset((f"{table.qualified_name}.{left}", f"{key.target}.{right}"))
            for table in catalog.tables
            for key in table.foreign_keys
            for left, right in zip(key.columns, key.target_columns, strict=True)
        }
        self._joins: dict[frozenset[str], Join] = {}
        for join in joins:
            for left, right in zip(join.left_columns, join.right_columns, strict=True):
                pair = frozenset((f"{join.left_table}.{left}", f"{join.right_table}.{right}"))
                known = self._joins.get(pair)
                # Either side may be taken for the key: what people said comes first, then what tells more.
                self._joins[pair] = join if known is None else max(known, join, key=_weight)
        self._counts: dict[Sides, tuple[int, int, int, int, int] | None] = {}
        self._lock = threading.Lock()

    def fault(self, query: GuardedSql) -> JoinFault | None:
        """The first fault among the statement's joins, in order of their names; None where all hold."""
        for sides in self._sides(query):
            found = self._judge(sides)
            if found is not None and (found.kind != "fan_out" or _counts_rows(query)):
                return found
        for left, right in query.derived_joins:
            # Through a derived table other values may meet than the columns hold: only what people said counts.
            pair = frozenset((left, right))
            known = self._joins.get(pair)
            if pair in self._declared and (known is None or known.decided != "rejected"):
                continue
            found = self._judge_decisions(_plain_sides(left, right), [known])
            if found is not None and found.code != "join":
                return found
        return None

    def require(self, query: GuardedSql) -> None:
        """Raises QueryFault with the fault's code where a join of the statement does not hold."""
        found = self.fault(query)
        if found is not None:
            raise QueryFault(found.code, found.message)

    # ------------------------------------------------------------------ inside

    def _sides(self, query: GuardedSql) -> list[Sides]:
        """The pairs of columns by pair of tables: two tables may be joined on several columns."""
        pairs = [((left, ""), (right, "")) for left, right in query.joins]
        for join in query.expression_joins:
            forms = ["" if form == VALUE else form for form in (join.left_form, join.right_form)]
            pairs.append(((join.left, forms[0]), (join.right, forms[1])))
        by_tables: defaultdict[tuple[str, str], list[tuple[str, str, str, str]]] = defaultdict(list)
        for (left, left_form), (right, right_form) in pairs:
            left_table, _, left_column = left.rpartition(".")
            right_table, _, right_column = right.rpartition(".")
            if left_table in self._tables and right_table in self._tables:
                by_tables[left_table, right_table].append((left_column, right_column, left_form, right_form))
        found = []
        for (left, right), compared in sorted(by_tables.items()):
            left_columns, right_columns, left_forms, right_forms = zip(*compared, strict=True)
            found.append(Sides(left, left_columns, right, right_columns, left_forms, right_forms))
        return found

    def _judge(self, sides: Sides) -> JoinFault | None:
        left_table, left_columns, right_table, right_columns, left_forms, right_forms = sides
        pairs = [
            frozenset((f"{left_table}.{left}", f"{right_table}.{right}"))
            for left, right in zip(left_columns, right_columns, strict=True)
        ]
        known = [self._joins.get(pair) for pair in pairs]
        refused = any(join is not None and join.decided == "rejected" for join in known)
        if not refused and not self._declared.isdisjoint(pairs):
            return None
        for left, right, *forms in zip(left_columns, right_columns, left_forms, right_forms, strict=True):
            one, other = self._column(left_table, left), self._column(right_table, right)
            # The types of expressions are the database's own affair.
            if not any(forms) and one is not None and other is not None and not same_family(one.type, other.type):
                return _fault(
                    sides, "type_mismatch", f"{left} is {one.type} and {right} is {other.type}: they do not compare"
                )
        return self._judge_decisions(sides, known) or self._judge_values(sides)

    def _judge_decisions(self, sides: Sides, known: Iterable[Join | None]) -> JoinFault | None:
        for join in (item for item in known if item is not None):
            if join.status == "rejected":
                return _fault(
                    sides,
                    "rejected",
                    f"it must not be used: {join.reason}",
                    code="join_rejected" if join.decided == "rejected" else "join",
                )
            if join.status == "needs_approval" and join.confidence < LEAST_CONFIDENCE:
                approve = shlex.join(("nightshift", "schema", "approve-join", join.left, join.right))
                return _fault(
                    sides,
                    "needs_approval",
                    f"its confidence {join.confidence:.2f} is below {LEAST_CONFIDENCE} and nobody has approved it "
                    f"(`{approve}`): {join.reason}",
                    code="join_needs_approval",
                )
        return None

    def _judge_values(self, sides: Sides) -> JoinFault | None:
        counts = self._look(sides)
        if counts is None:
            return None
        left_rows, left_values, right_rows, right_values, matched = counts
        if left_rows and right_rows and matched == 0 and max(left_rows, right_rows) < MAX_ROWS:
            return _fault(sides, "empty", "no value of one side is found on the other")
        unique = self._is_unique(sides.left_table, sides.left_columns, sides.left_forms) or self._is_unique(
            sides.right_table, sides.right_columns, sides.right_forms
        )
        if not unique and left_values < left_rows and right_values < right_rows and matched:
            return _fault(
                sides,
                "fan_out",
                f"values repeat on both sides ({left_values} of {left_rows} rows differ on the left, {right_values} of "
                f"{right_rows} on the right), so that rows would be counted more than once: aggregate one side first",
            )
        return None

    def _is_unique(self, table: str, columns: tuple[str, ...], forms: tuple[str, ...]) -> bool:
        # A key says nothing of its expressions: lower(code) may repeat where code does not.
        bare = {column for column, form in zip(columns, forms, strict=True) if not form}
        return any(set(key.columns) <= bare for key in self._tables[table].keys)

    def _column(self, table: str, name: str) -> CatalogColumn | None:
        return self._tables[table].column(name)

    def _look(self, sides: Sides) -> tuple[int, int, int, int, int] | None:
        """Rows and different values of both sides, and values that both have, of bounded samples; None if unknown."""
        with self._lock:
            if sides in self._counts:
                return self._counts[sides]
        counts: tuple[int, int, int, int, int] | None = None
        verdict = self._check(self._statement(sides))
        if verdict.query is not None:
            seconds = min(PROBE_SECONDS, verdict.query.limits.timeout_seconds)
            bounded = verdict.query.model_copy(update={"limits": Limits(max_rows=1, timeout_seconds=seconds)})
            try:
                row = self._warehouse.execute(bounded).rows[0]
                counts = int(row[0]), int(row[1]), int(row[2]), int(row[3]), int(row[4])
            except QueryFault as fault:
                logger.info("the values of a join were not looked at: %s", fault.message)
        with self._lock:
            self._counts[sides] = counts
        return counts

    def _statement(self, sides: Sides) -> str:
        names = [f"v{number}" for number in range(len(sides.left_columns))]
        distinct: Mapping[str, exp.Select] = {
            side: exp.select(*(exp.column(name) for name in names)).distinct().from_(side) for side in ("l", "r")
        }
        matched = (
            exp.select(*(exp.column(name) for name in names))
            .from_("ld")
            .intersect(exp.select(*(exp.column(name) for name in names)).from_("rd"))
        )
        counts = (("l", "left_rows"), ("ld", "left_values"), ("r", "right_rows"), ("rd", "right_values"))
        query = exp.select(
            *(exp.alias_(_count_of(source).subquery(), alias) for source, alias in counts),
            exp.alias_(exp.select(exp.Count(this=exp.Star())).from_(matched.subquery("m")).subquery(), "matched"),
        )
        query = (
            query.with_("l", as_=self._rows(sides.left_table, sides.left_columns, sides.left_forms, names), copy=False)
            .with_("r", as_=self._rows(sides.right_table, sides.right_columns, sides.right_forms, names), copy=False)
            .with_("ld", as_=distinct["l"], copy=False)
            .with_("rd", as_=distinct["r"], copy=False)
        )
        return query.sql(dialect=self._warehouse.dialect)

    def _rows(self, table: str, columns: tuple[str, ...], forms: tuple[str, ...], names: list[str]) -> exp.Select:
        found = self._tables[table]
        values = [
            self._value(column, form) if form else exp.Column(this=self._rules.identifier(column))
            for column, form in zip(columns, forms, strict=True)
        ]
        rows = exp.select(*(exp.alias_(value, name) for value, name in zip(values, names, strict=True))).from_(
            exp.Table(this=self._rules.identifier(found.name), db=self._rules.identifier(found.schema_name))
        )
        for value in values:
            known = exp.Is(this=exp.paren(value.copy(), copy=False), expression=exp.Null())
            rows = rows.where(exp.Not(this=known), copy=False)
        return rows.limit(MAX_ROWS)

    def _value(self, column: str, form: str) -> exp.Expr:
        """The expression of a column, as the guard wrote it; what the guard then says of the probe counts."""
        value: exp.Expr = exp.maybe_parse(form, dialect=reader_for(self._rules.dialect, self._rules.dialect))
        for node in list(value.find_all(exp.Column)):
            node.replace(exp.Column(this=self._rules.identifier(column)))
        return value


def _counts_rows(query: GuardedSql) -> bool:
    """Whether rows that stand twice would change a figure: sums, averages and counts that are not of different values.

    A list that repeats a row can be seen to do so; a total cannot.
    """
    tree = sqlglot.parse_one(query.text, read=query.dialect)
    return any(not isinstance(node.this, exp.Distinct) for node in tree.find_all(exp.Sum, exp.Avg, exp.Count))


def _count_of(source: str) -> exp.Select:
    return exp.select(exp.Count(this=exp.Star())).from_(source)


def _weight(join: Join) -> tuple[bool, bool, bool, float]:
    return join.decided is not None, join.decided == "rejected", join.status == "usable", join.confidence


def _told(columns: tuple[str, ...], forms: tuple[str, ...]) -> list[str]:
    return [form.replace(VALUE, column) if form else column for column, form in zip(columns, forms, strict=True)]


def _fault(
    sides: Sides,
    kind: JoinFaultKind,
    why: str,
    *,
    code: Literal["join", "join_needs_approval", "join_rejected"] = "join",
) -> JoinFault:
    left = f"{sides.left_table}({', '.join(_told(sides.left_columns, sides.left_forms))})"
    right = f"{sides.right_table}({', '.join(_told(sides.right_columns, sides.right_forms))})"
    message = f"the join of {left} with {right}: {why}"
    return JoinFault(kind=kind, left=left, right=right, message=message, code=code)
