"""The part of a catalog that the policy opens: what is hidden or masked must not even be named in a prompt."""

from __future__ import annotations

from rag_core.datamodel.catalog import Catalog, CatalogTable
from rag_core.policy.access import Access
from rag_core.policy.names import name_rules
from rag_core.policy.refusal import Refusal
from rag_core.policy.rules import Policy


def visible_catalog(policy: Policy, catalog: Catalog) -> Catalog:
    """The catalog with only the tables and columns that a statement may read unmasked; view definitions left out."""
    access = Access(policy, catalog, name_rules(catalog.dialect))
    tables = []
    for table in access.known_tables():
        try:
            tables.append(_visible_table(access, table))
        except Refusal:
            continue  # a table that is refused does not exist for prompts
    return catalog.model_copy(update={"tables": tuple(tables)})


def _visible_table(access: Access, table: CatalogTable) -> CatalogTable:
    allowed = access.allow(table)
    names = set(allowed.visible.values()) - set(allowed.masks)
    return table.model_copy(
        update={
            "columns": tuple(column for column in table.columns if column.name in names),
            "keys": tuple(key for key in table.keys if set(key.columns) <= names),
            "foreign_keys": tuple(key for key in table.foreign_keys if set(key.columns) <= names),
            "definition": None,
        }
    )
