"""Order, places and counts of a result's rows. Pure; builds sqlglot trees only.

A limit counts places, not rows: what shares the last place stands there too, so that no name is left out by chance.
"""

from __future__ import annotations

from sqlglot import exp

from rag_core.datamodel.evidence import ColumnMeaning
from rag_core.datamodel.plan import MetricQuery
from rag_core.semantics.columns import ResultColumns
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.describe import counted_label
from rag_core.semantics.leaf_sql import literal

PLACE, COUNT = "place_in_group", "row_count"


def only_places(tree: exp.Select, query: MetricQuery, columns: ResultColumns) -> exp.Select:
    """The rows with their place among all or within their group; a window in a CTE, as not every dialect has QUALIFY.

    Rows without a value have no place.
    """
    tree = tree.where(exp.not_(exp.Is(this=exp.column(columns.order_column), expression=exp.Null())))
    term = by(exp.column(columns.order_column), descending=query.order == "descending", nulls_last=True)
    # "The second highest" is the next value below the highest, however many share that one.
    ranks: exp.Expr = exp.DenseRank() if query.place is not None else exp.Rank()
    place = exp.Window(
        this=ranks,
        partition_by=[exp.column(name) for name in query.limit_by],
        order=exp.Order(expressions=[term]),
    )
    return tree.select(exp.alias_(place, PLACE))


def place_asked(query: MetricQuery) -> exp.Expr:
    """The condition on the place of a row."""
    if query.place is not None:
        return exp.EQ(this=exp.column(PLACE), expression=exp.Literal.number(query.place))
    return exp.LTE(this=exp.column(PLACE), expression=exp.Literal.number(query.limit or 0))


def ordered(tree: exp.Select, query: MetricQuery, model: SemanticModel, columns: ResultColumns) -> exp.Select:
    """By the first metric where the query ranks, else by period and dimensions; ties always by the dimensions."""
    terms: list[exp.Expr] = [by(exp.column(name), nulls_last=True) for name in query.limit_by]
    if query.order is not None:
        terms.append(by(exp.column(columns.order_column), descending=query.order == "descending", nulls_last=True))
    if query.grain is not None:
        terms.append(by(exp.column(query.grain)))
    for name in (name for name in query.dimensions if name not in query.limit_by):
        order = model.dimensions[name].order
        if order:
            case = exp.Case()
            for index, value in enumerate(order):
                test = exp.EQ(this=exp.column(name), expression=literal(value, model.dimensions[name]))
                case = case.when(test, exp.Literal.number(index))
            terms.append(by(case.else_(exp.Literal.number(len(order)))))
        terms.append(by(exp.column(name), nulls_last=True))
    return tree.order_by(*terms) if terms else tree


def counted(tree: exp.Select, query: MetricQuery, model: SemanticModel) -> tuple[exp.Select, tuple[ColumnMeaning, ...]]:
    """How many rows there are instead of the rows, with what the number means. Rows without a name are not counted."""
    for name in query.dimensions:
        tree = tree.where(exp.not_(exp.Is(this=exp.column(name), expression=exp.Null())))
    ctes = tree.args.pop("with_", None) or tree.args.pop("with", None)
    tree.set("order", None)
    rows = exp.Subquery(this=tree, alias=exp.TableAlias(this=exp.to_identifier("found")))
    query_ = exp.Select().select(exp.alias_(exp.Count(this=exp.Star()), COUNT)).from_(rows)
    if ctes is not None:
        query_.set("with_", ctes)
    label = counted_label(query, model)
    return query_, (ColumnMeaning(name=COUNT, label=label, decimals=0, role="metric"),)


def by(expression: exp.Expr, *, descending: bool = False, nulls_last: bool = False) -> exp.Ordered:
    """A term of ORDER BY."""
    return exp.Ordered(this=expression, desc=descending, nulls_first=not nulls_last and descending)
