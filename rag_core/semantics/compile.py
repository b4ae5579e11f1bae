"""Compiles a metric query to one SELECT in the warehouse's dialect. Pure: sqlglot trees, never pasted values.

Figures of different tables are aggregated apart, stacked with UNION ALL and folded over the shared keys, so that no
join between two tables of facts can count a row twice; the period compared with is just one more stacked part.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date

from sqlglot import exp

from rag_core.datamodel.base import Record
from rag_core.datamodel.evidence import ColumnMeaning
from rag_core.datamodel.plan import MetricQuery
from rag_core.semantics.columns import BEFORE, ResultColumns, basis, result_columns
from rag_core.semantics.coverage import check_coverage, comparable_from, told_coverage
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.describe import describe_query
from rag_core.semantics.leaf_sql import LeafCompiler, Slice, day_literal, literal, value_condition
from rag_core.semantics.paths import SemanticError
from rag_core.semantics.ranking import counted, only_places, ordered, place_asked
from rag_core.semantics.sources import Group, choose_leaf, group_leaves, leaf_names, query_dimensions
from rag_core.semantics.spine import counts, is_zero, missing_rows, whole_until

__all__ = ["CompiledQuery", "compile_query"]

FIGURES, RESULT, ASKED = "figures", "result", "asked_for"


class CompiledQuery(Record):
    """A metric query as SQL. `meanings` follow the result's columns; `tables` are `schema.table`, sorted."""

    sql: str
    dialect: str
    meanings: tuple[ColumnMeaning, ...]
    description: str
    tables: tuple[str, ...]


@dataclass(frozen=True)
class Part:
    """A CTE of figures. `suffix` marks those of the period compared with, which is known from `since` on."""

    name: str
    group: Group
    suffix: str
    since: date | None


def compile_query(query: MetricQuery, model: SemanticModel, dialect: str) -> CompiledQuery:
    """The SELECT for a metric query.

    Raises SemanticError where the model cannot answer it: an unknown name, a dimension that a metric does not have, a
    join that would fan a measure out, a share or running total of what cannot be added up.
    """
    _check(query, model)
    leaves = LeafCompiler(model, dialect)
    cut = _slice(query)
    figures = (*query.metrics, *basis(query, model))
    names = tuple(dict.fromkeys(leaf for metric in figures for leaf in leaf_names(model, metric)))
    groups = group_leaves([choose_leaf(model, name, query_dimensions(query)) for name in names])
    check_coverage(query, model, groups, cut)
    told = told_coverage(query, model)
    columns = result_columns(query, model, groups)
    if _is_plain(query, model, groups) and missing_rows(query, model, groups, cut, leaves, ["part_1"]) is None:
        tree = ordered(leaves.select(groups[0], cut), query, model, columns)
    else:
        tree = _layered(query, model, groups, columns, leaves, cut)
    meanings = columns.meanings
    if query.count_rows:
        tree, meanings = counted(tree, query, model)
    if dialect == "bigquery":
        _plain_windows(tree)
    return CompiledQuery(
        sql=tree.sql(dialect=dialect, pretty=True),
        dialect=dialect,
        meanings=meanings,
        description=describe_query(query, model) + (f", {told}" if told else ""),
        tables=_tables(tree),
    )


def _plain_windows(tree: exp.Expr) -> None:
    """BigQuery takes no NULLS LAST in a window; what windows sort by here is never empty, or sorted down."""
    for window in tree.find_all(exp.Window):
        for term in window.args["order"].expressions if window.args.get("order") else ():
            term.set("nulls_first", not term.args.get("desc"))


def _tables(tree: exp.Expr) -> tuple[str, ...]:
    """The warehouse's tables in a statement, those of subqueries in the model's expressions too."""
    own = {cte.alias for cte in tree.find_all(exp.CTE)}
    found = {
        ".".join(part.name for part in table.parts)
        for table in tree.find_all(exp.Table)
        if table.db or table.name not in own
    }
    return tuple(sorted(found))


def _check(query: MetricQuery, model: SemanticModel) -> None:
    """Raises for unknown names and for parts of a query that do not go together."""
    if not query.metrics:
        raise SemanticError("a metric query needs a metric")
    conditioned = [item.metric for item in query.conditions if item.metric != query.combine]
    for name in (*query.metrics, *conditioned):
        if name not in model.metrics:
            raise SemanticError(f"there is no metric called {name!r}")
    for name in query_dimensions(query):
        if name not in model.dimensions:
            raise SemanticError(f"there is no dimension called {name!r}")
    compared = query.comparison != "none"
    periods = query.grain is not None
    unfit = (
        (query.limit is not None and query.order is None, "a limit needs an order"),
        (bool(query.limit_by) and query.limit is None, "a ranking within groups needs a limit"),
        (
            bool(query.limit_by) and not set(query.limit_by) < set(query.dimensions),
            "a ranking within groups needs a dimension to rank",
        ),
        (any(not item.values for item in query.filters), "a filter needs a value"),
        (any(name not in query.metrics for name in conditioned), "a condition needs a metric of the query"),
        (query.place is not None and (query.order is None or query.limit is not None), "a place needs an order alone"),
        (query.count_rows and not (query.dimensions or periods), "what is counted needs a dimension or periods"),
        (query.combine != "none" and len(query.metrics) != 2, "two metrics are needed to compute with them"),
        (
            query.combine != "none"
            and (compared or query.share or query.running_total or query.average_over is not None),
            "two metrics are combined without comparison, share, running total and mean",
        ),
        (query.order_by != "value" and not compared, "an order by change needs a comparison"),
        ((query.comparison == "range") != (query.comparison_range is not None), "a range to compare with is missing"),
        (query.comparison == "range" and periods, "two periods cannot be compared and split into periods at once"),
        (query.share and (compared or query.running_total), "a share goes without comparison and running total"),
        (query.share and not query.dimensions, "a share needs a dimension to split by"),
        (query.running_total and not periods, "a running total needs periods: by day, week, month, quarter or year"),
        (query.running_total and compared, "a running total goes without comparison"),
        (
            query.average_over is not None and (periods or query.share or query.running_total or compared),
            "a mean over periods goes without periods, shares, running totals and comparisons",
        ),
    )
    for wrong, message in unfit:
        if wrong:
            raise SemanticError(message)


def _slice(query: MetricQuery) -> Slice:
    filters = query.filters
    if query.share:
        filters = tuple(item for item in filters if item.dimension not in query.dimensions)
    return Slice(
        query.dimensions, filters, query.average_over or query.grain, query.time_range, base=query.comparison_range
    )


def _is_plain(query: MetricQuery, model: SemanticModel, groups: list[Group]) -> bool:
    """Whether one SELECT does: figures of one table, nothing computed from them."""
    return (
        len(groups) == 1
        and not basis(query, model)
        and all(model.metrics[name].type not in ("ratio", "derived") for name in query.metrics)
        and query.comparison == "none"
        and query.combine == "none"
        and not query.count_rows
        and not (query.order and (query.dimensions or query.limit or query.place))
        and not (query.share or query.running_total or query.conditions or query.average_over)
        and not any(model.dimensions[name].order for name in query.dimensions)
    )


def _layered(
    query: MetricQuery,
    model: SemanticModel,
    groups: list[Group],
    columns: ResultColumns,
    leaves: LeafCompiler,
    cut: Slice,
) -> exp.Select:
    """CTEs: one for each group and shift, their fold, the computed columns; then conditions and order."""
    parts, ctes = _parts(query, model, groups, leaves, cut)
    wanted = missing_rows(query, model, groups, cut, leaves, [part.name for part in parts])
    if len(parts) == 1 and wanted is None:
        ctes = [(FIGURES, ctes[0][1])]
    else:
        if wanted is not None:
            ctes.append((ASKED, wanted))
        up_to = query.grain if query.comparison != "none" else None
        ctes.append((FIGURES, _fold(parts, cut.keys, up_to=up_to, asked=(ASKED,) if wanted is not None else ())))
    ctes.append((RESULT, columns.select(FIGURES)))
    if query.average_over is not None:
        ctes.append(("averages", columns.select_averages(RESULT)))
    shown = [exp.column(meaning.name) for meaning in columns.meanings]
    final = _kept(exp.Select().select(*shown).from_(exp.to_table(ctes[-1][0])), query, model)
    if query.limit is not None or query.place is not None:
        ctes.append(("ranked", only_places(final, query, columns)))
        final = exp.Select().select(*(column.copy() for column in shown)).from_("ranked").where(place_asked(query))
    final = ordered(final, query, model, columns)
    for name, tree in ctes:
        final = final.with_(name, as_=tree)
    return final


def _parts(
    query: MetricQuery, model: SemanticModel, groups: list[Group], leaves: LeafCompiler, cut: Slice
) -> tuple[list[Part], list[tuple[str, exp.Expr]]]:
    """A CTE of figures for each group and, where periods are compared, for each of the two."""
    parts: list[Part] = []
    ctes: list[tuple[str, exp.Expr]] = []
    for shift in ("none",) if query.comparison == "none" else ("none", query.comparison):
        for group in groups:
            name = f"part_{len(parts) + 1}"
            moved = replace(cut, shift=shift)
            since = None if shift == "none" else comparable_from(model, group, moved)
            parts.append(Part(name, group, "" if shift == "none" else BEFORE, since))
            ctes.append((name, leaves.select(group, moved)))
    return parts, ctes


def _kept(final: exp.Select, query: MetricQuery, model: SemanticModel) -> exp.Select:
    """The rows that the query keeps, before any of them has a place."""
    for item in query.filters if query.share else ():
        if item.dimension in query.dimensions:
            final = final.where(value_condition(exp.column(item.dimension), item, model.dimensions[item.dimension]))
    if query.order is not None and not query.keep_empty:
        for name in query.dimensions:  # a row without a product is no product to be ranked
            final = final.where(exp.not_(exp.Is(this=exp.column(name), expression=exp.Null())))
    for condition in query.conditions:
        kind = {">": exp.GT, ">=": exp.GTE, "<": exp.LT, "<=": exp.LTE, "=": exp.EQ}[condition.operator]
        final = final.where(kind(this=exp.column(condition.metric), expression=literal(condition.value)))
    over = whole_until(query)
    if over is not None:
        final = final.where(exp.LT(this=exp.column(query.grain or ""), expression=day_literal(over, "date")))
    return final


def _fold(parts: list[Part], keys: tuple[str, ...], *, up_to: str | None, asked: tuple[str, ...] = ()) -> exp.Select:
    """Stacks the parts and folds them over their keys; without keys each part is one row.

    `up_to` names the period: those that only the shifted part knows, because they have not come yet, are left out.
    `asked` are CTEs of keys that the result must have, whether there are figures for them or not.
    """
    if not keys:
        return _side_by_side(parts)
    stacked: exp.Expr | None = None
    for part, name in (*((part, part.name) for part in parts), *((None, name) for name in asked)):
        row = exp.Select().select(*(exp.column(key) for key in keys), *_stacked_columns(part, parts)).from_(name)
        stacked = row if stacked is None else exp.Union(this=stacked, expression=row, distinct=False)
    assert stacked is not None
    folded = exp.Select().select(*(exp.column(key) for key in keys))
    for part in parts:
        for leaf in part.group.leaves:
            value: exp.Expr = exp.Max(this=exp.column(leaf.name + part.suffix))
            if is_zero(leaf):
                value = exp.Coalesce(this=value, expressions=[exp.Literal.number(0)])
            if part.since is not None and up_to is not None:
                known = exp.GTE(this=exp.column(up_to), expression=day_literal(part.since, "date"))
                value = exp.Case().when(known, value)
            folded = folded.select(exp.alias_(value, leaf.name + part.suffix))
    folded = folded.from_(exp.alias_(exp.Subquery(this=stacked), "stacked", table=True))
    folded = folded.group_by(*(exp.column(key) for key in keys))
    if up_to is not None:
        latest = exp.Select().select(exp.Max(this=exp.column(up_to))).from_(asked[0] if asked else parts[0].name)
        folded = folded.where(exp.LTE(this=exp.column(up_to), expression=latest.subquery()))
    return folded


def _stacked_columns(own: Part | None, parts: list[Part]) -> list[exp.Expr]:
    """A column for each figure of all parts: the part's own ones, typed NULLs for the others."""
    columns: list[exp.Expr] = []
    for part in parts:
        for leaf in part.group.leaves:
            if part is own:
                columns.append(exp.alias_(exp.column(leaf.name), leaf.name + part.suffix))
            else:
                kind = "bigint" if counts(leaf.source.expression) else "decimal"
                columns.append(exp.alias_(exp.cast(exp.Null(), kind), leaf.name + part.suffix))
    return columns


def _side_by_side(parts: list[Part]) -> exp.Select:
    query = exp.Select()
    for index, part in enumerate(parts):
        query = query.select(
            *(exp.alias_(exp.column(leaf.name, table=part.name), leaf.name + part.suffix) for leaf in part.group.leaves)
        )
        query = query.from_(part.name) if index == 0 else query.join(part.name, join_type="CROSS")
    return query
