"""What of a policy does nothing: names that match no table or column of the catalog."""

from __future__ import annotations

from rag_core.datamodel.catalog import Catalog
from rag_core.policy.access import matches, pattern
from rag_core.policy.rules import Policy


def policy_findings(policy: Policy, catalog: Catalog) -> tuple[str, ...]:
    """One sentence for each rule whose name is not in the catalog, in the order of the policy file.

    A misspelt exclusion protects nothing; one of a table that the role cannot see anyway is harmless.
    """
    tables = [(table.schema_name, table.name) for table in catalog.tables]
    columns = [(table.schema_name, table.name, column.name) for table in catalog.tables for column in table.columns]
    schemas = {schema.lower() for schema, _ in tables}
    findings = [
        f"schemas: {schema} is not there, or holds nothing that this role can see"
        for schema in policy.schemas
        if schema.lower() not in schemas
    ]
    named = (
        ("tables.include", policy.tables.include, tables),
        ("tables.exclude", policy.tables.exclude, tables),
        ("columns.exclude", policy.columns.exclude, columns),
        ("columns.mask", tuple(mask.column for mask in policy.columns.mask), columns),
        ("columns.show", policy.columns.show, columns),
        ("row_filters", tuple(rule.table for rule in policy.row_filters), tables),
    )
    for key, names, known in named:
        for name in names:
            compiled = pattern((name,))
            if not any(matches(compiled, *parts) for parts in known):
                findings.append(f"{key}: {name} matches nothing that this role can see")
    return tuple(findings)
