"""The document index as a schema, so that new and missing metadata and another embedding model are drift as well."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import UTC, datetime

from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable

DIALECT = "documents"
# A key that fewer documents of a type have says nothing of the type.
MIN_SHARE = 0.05
UNTYPED = "untyped"


class DocumentSchema:
    """What the indexed documents look like: a table a document type, a column a metadata key.

    A key that every document of its type has is `not null`. The table `documents.embedding` stands for the index that
    serves; the type of its column is the embedding model with its dimensions.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def dialect(self) -> str:
        """`documents`."""
        return DIALECT

    def snapshot(self) -> Catalog:
        """Reads types, keys and the serving index in three queries. Raises ServiceUnavailable."""
        with self._store.connection() as connection:
            types = dict(connection.execute(statement("drift/list_document_types")).fetchall())
            keys = connection.execute(statement("drift/list_document_keys")).fetchall()
            serving = connection.execute(statement("drift/find_serving_index")).fetchone()
        found: defaultdict[str, defaultdict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
        for document_type, key, value_type, documents in keys:
            if value_type != "null":
                found[document_type][key][value_type] += documents
        tables = [
            CatalogTable(
                schema_name=DIALECT,
                name=document_type or UNTYPED,
                columns=_columns(found[document_type], documents),
                row_estimate=documents,
            )
            for document_type, documents in types.items()
        ]
        if serving is not None:
            model, dimensions = serving
            column = CatalogColumn(name="model", type=f'"{model}" ({dimensions})', nullable=False, position=1)
            tables.append(CatalogTable(schema_name=DIALECT, name="embedding", columns=(column,)))
        return Catalog(
            dialect=DIALECT,
            database="index",
            taken_at=datetime.now(UTC),
            tables=tuple(sorted(tables, key=lambda table: table.name)),
        )


def _columns(keys: dict[str, Counter[str]], documents: int) -> tuple[CatalogColumn, ...]:
    kept = {name: kinds for name, kinds in keys.items() if sum(kinds.values()) >= MIN_SHARE * documents}
    return tuple(
        CatalogColumn(
            name=name,
            type=min(kept[name], key=lambda kind: (-kept[name][kind], kind)),
            nullable=sum(kept[name].values()) < documents,
            position=position,
        )
        for position, name in enumerate(sorted(kept), 1)
    )
