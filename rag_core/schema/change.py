"""Makes changes: identity, severity and order of what differs between two snapshots. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from rag_core.datamodel.drift import Change, ChangeKind, DriftRules, DriftSeverity, RenameCandidate

SEVERITIES: dict[ChangeKind, DriftSeverity] = {
    "table_added": "compatible",
    "table_removed": "breaking",
    "table_renamed": "breaking",
    "table_moved": "breaking",
    "table_recreated": "breaking",
    "table_kind_changed": "risky",
    "column_added": "compatible",
    "column_removed": "breaking",
    "column_renamed": "breaking",
    "column_recreated": "risky",
    "column_order_changed": "cosmetic",
    "type_widened": "compatible",
    "type_narrowed": "risky",
    "type_changed": "breaking",
    "became_nullable": "risky",
    "became_not_null": "compatible",
    "default_changed": "cosmetic",
    "generation_changed": "risky",
    "comment_changed": "cosmetic",
    "enum_value_added": "compatible",
    "enum_value_removed": "breaking",
    "enum_value_renamed": "breaking",
    "enum_order_changed": "risky",
    "primary_key_changed": "breaking",
    "unique_key_added": "compatible",
    "unique_key_removed": "breaking",
    "foreign_key_added": "compatible",
    "foreign_key_removed": "risky",
    "foreign_key_changed": "breaking",
    "partition_key_changed": "cosmetic",
    "view_definition_changed": "risky",
    "access_lost": "breaking",
    "access_gained": "compatible",
    "monitoring_started": "cosmetic",
    "monitoring_stopped": "cosmetic",
    "mass_disappearance": "breaking",
}
_RANK = {"breaking": 0, "risky": 1, "compatible": 2, "cosmetic": 3}


class ChangeMaker:
    """Makes changes with the severities of the rules."""

    def __init__(self, rules: DriftRules) -> None:
        self._severities = {**SEVERITIES, **rules.severities}
        self._configured = frozenset(rules.severities)

    def make(
        self,
        kind: ChangeKind,
        table: str,
        column: str | None = None,
        *,
        before: str | None = None,
        after: str | None = None,
        confidence: float = 1.0,
        candidates: tuple[RenameCandidate, ...] = (),
        milder: DriftSeverity | None = None,
    ) -> Change:
        """One change of a table, or of a column where one is named.

        Args:
            kind: what happened.
            table: `schema.table`, under its earlier name.
            column: the column's earlier name.
            before: how it was, as text.
            after: how it is, as text.
            confidence: 1 for what the catalog proves.
            candidates: what it may have become.
            milder: severity of this case where the rules do not name the kind.
        """
        severity = milder if milder is not None and kind not in self._configured else self._severities[kind]
        name = table if column is None else f"{table}.{column}"
        return Change(
            change_id=change_id(name, kind, before, after),
            kind=kind,
            object=name,
            before=before,
            after=after,
            severity=severity,
            confidence=confidence,
            candidates=candidates,
            table=table,
            column=column,
        )


def change_id(name: str, kind: str, before: str | None, after: str | None) -> str:
    """Fingerprint of a change: 16 hexadecimal digits, equal whenever the same difference is found."""
    text = json.dumps([name, kind, before, after], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def in_order(changes: Iterable[Change]) -> tuple[Change, ...]:
    """The gravest first, then by name and kind; each change once."""
    unique = {change.change_id: change for change in changes}
    return tuple(
        sorted(unique.values(), key=lambda item: (_RANK[item.severity], item.object, item.kind, item.change_id))
    )
