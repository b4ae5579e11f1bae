"""Whom a schema change touches: what breaks, and what may silently give another answer. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from rag_core.datamodel.drift import Affected, Change, ChangeKind, Effect, Lineage
from rag_core.datamodel.question import Question

# Changes after which a statement over the object still runs, but may say something else.
SILENT: frozenset[ChangeKind] = frozenset(
    {
        "type_narrowed",
        "type_changed",
        "column_recreated",
        "table_recreated",
        "became_nullable",
        "generation_changed",
        "enum_value_added",
        "enum_value_removed",
        "enum_value_renamed",
        "enum_order_changed",
        "primary_key_changed",
        "unique_key_removed",
        "foreign_key_removed",
        "foreign_key_changed",
        "view_definition_changed",
        "table_kind_changed",
    }
)
_BREAKING: frozenset[ChangeKind] = frozenset(
    {"table_removed", "table_renamed", "table_moved", "column_removed", "column_renamed", "access_lost"}
)
# Changes of columns that matter to whoever reads all columns without naming them.
_ORDERED: frozenset[ChangeKind] = frozenset(
    {"column_added", "column_order_changed", "column_removed", "column_renamed"}
)


def find_affected(changes: Sequence[Change], lineage: Iterable[Lineage]) -> tuple[Change, ...]:
    """The changes, each with the plans, metrics, dimensions, verified queries and expectations that it touches.

    A change of a column touches those that name the column; a change of a table those that read the table. What reads
    with `*` is touched by columns that come, go or move.
    """
    by_table: defaultdict[str, list[Lineage]] = defaultdict(list)
    by_column: defaultdict[str, list[Lineage]] = defaultdict(list)
    by_star: defaultdict[str, list[Lineage]] = defaultdict(list)
    for entry in lineage:
        for table in dict.fromkeys(entry.tables):
            by_table[table].append(entry)
        for column in dict.fromkeys(entry.columns):
            by_column[column].append(entry)
        for table in dict.fromkeys(entry.reads_all):
            by_star[table].append(entry)
    return tuple(_with_affected(change, by_table, by_column, by_star) for change in changes)


def expectation_lineage(
    questions: Iterable[Question], plans: Iterable[Lineage], owner: str = ""
) -> tuple[Lineage, ...]:
    """Lineage of the expectations of standing questions: each rests on what the plan of its question reads.

    Its id is `question:kind:column`, as a batch file names them.
    """
    by_question = {plan.question_id: plan for plan in plans if plan.question_id is not None}
    found = []
    for question in questions:
        plan = by_question.get(question.question_id)
        if plan is None:
            continue
        for expectation in question.expectations:
            name = ":".join(part for part in (question.question_id, expectation.kind, expectation.column) if part)
            found.append(plan.model_copy(update={"kind": "expectation", "id": name, "owner": owner or plan.owner}))
    return tuple(found)


def _with_affected(
    change: Change,
    by_table: defaultdict[str, list[Lineage]],
    by_column: defaultdict[str, list[Lineage]],
    by_star: defaultdict[str, list[Lineage]],
) -> Change:
    found: dict[tuple[str, str, str], Affected] = {}
    named = change.kind in SILENT or change.kind in _BREAKING
    if named:
        entries = by_table[change.table] if change.column is None else by_column[change.object]
        effect: Effect = "breaks" if change.kind in _BREAKING else "may_change_answer"
        for entry in entries:
            found.setdefault(_key(entry), _affected(entry, effect))
    if change.kind in _ORDERED:
        for entry in by_star[change.table]:
            found.setdefault(_key(entry), _affected(entry, "may_change_answer"))
    if not found:
        return change
    return change.model_copy(update={"affected": tuple(found[key] for key in sorted(found))})


def _key(entry: Lineage) -> tuple[str, str, str]:
    return (entry.kind, entry.id, entry.question_id or "")


def _affected(entry: Lineage, effect: Effect) -> Affected:
    return Affected(
        plan_id=entry.id if entry.kind == "plan" else None,
        question_id=entry.question_id,
        metric=entry.id if entry.kind == "metric" else None,
        kind=entry.kind,
        id=entry.id,
        owner=entry.owner,
        effect=effect,
    )
