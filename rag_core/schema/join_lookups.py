"""A probe for joins that asks the warehouse only what was not looked up before."""

from __future__ import annotations

from rag_core.schema.join_probe import WarehouseProbe
from rag_core.schema.joins import Overlap
from rag_core.schema.lookups import Lookups


class KeptProbe:
    """Looks of a probe, kept.

    Args:
        probe: asks the warehouse.
        kept: what was looked up before; it is given what is looked up now.
        closed: tables that are not looked at.
    """

    def __init__(self, probe: WarehouseProbe, kept: Lookups, *, closed: frozenset[str] = frozenset()) -> None:
        self._probe = probe
        self._kept = kept
        self._closed = closed

    @property
    def left_out(self) -> int:
        """Looks that there was no time for."""
        return self._probe.left_out

    def __call__(self, left_table: str, left_column: str, right_table: str, right_column: str) -> Overlap | None:
        """As `WarehouseProbe`."""
        subject = f"{left_table}.{left_column} = {right_table}.{right_column}"
        known = self._kept.get("overlap", subject)
        if known is not None:
            return Overlap.model_validate(known)
        if left_table in self._closed or right_table in self._closed:
            return None
        found = self._probe(left_table, left_column, right_table, right_column)
        if found is not None:
            self._kept.put("overlap", subject, found.model_dump(mode="json"))
        return found

    def unique(self, table: str, column: str) -> bool | None:
        """As `WarehouseProbe.unique`."""
        subject = f"{table}.{column}"
        known: bool | None = self._kept.get("unique", subject)
        if known is None and table not in self._closed:
            known = self._probe.unique(table, column)
            if known is not None:
                self._kept.put("unique", subject, known)
        return known
