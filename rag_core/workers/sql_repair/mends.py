"""What was done to a statement: each mend with its kind, what stood there before and after, and how sure it is."""

from __future__ import annotations

from typing import Literal

from rag_core.datamodel.base import Record

MendKind = Literal[
    "table_name",
    "column_name",
    "qualifier",
    "ambiguous",
    "alias",
    "missing_table",
    "join_condition",
    "bridge",
    "projection",
    "literal",
    "dialect",
    "cast",
    "group_by",
    "having",
    "distinct",
    "syntax",
    "value",
    "division",
]


class Mend(Record):
    """One change of a statement. `confidence` is between 0 and 1: how likely what was meant stands there now."""

    kind: MendKind
    before: str
    after: str
    confidence: float


class MendedStatement(Record):
    """A statement after its mends; without mends it is the one that was given, letter for letter."""

    sql: str
    mends: tuple[Mend, ...] = ()

    @property
    def confidence(self) -> float:
        """The product of the mends' confidences, 1 without any."""
        product = 1.0
        for mend in self.mends:
            product *= mend.confidence
        return round(product, 3)
