"""Drift of the document index: types, metadata keys, embedding model."""

from __future__ import annotations

import pytest
from psycopg.types.json import Jsonb

from rag_core.datamodel.drift import DriftReport
from rag_core.schema.document_schema import DocumentSchema
from rag_core.schema.drift import detect_drift
from tests.integration.schema.conftest import Playground

pytestmark = pytest.mark.integration


def add(playground: Playground, name: str, kind: str, **metadata: object) -> None:
    with playground.store.connection() as connection:
        connection.execute(
            "INSERT INTO nightshift.document (document_id, source, path, location, content_hash, size_bytes, "
            "pipeline_version, lexical_version, state, document_type, metadata) "
            "VALUES (%s, 's', %s, 'l', 'h', 1, 'v', 1, 'ok', %s, %s)",
            (name, name, kind, Jsonb(metadata)),
        )


def serve(playground: Playground, model: str) -> None:
    with playground.store.connection() as connection:
        connection.execute("UPDATE nightshift.index_version SET status = 'retired'")
        connection.execute(
            "INSERT INTO nightshift.index_version (model_id, model_setting, dimensions, max_tokens, status) "
            "VALUES (%s, %s, 384, 254, 'serving')",
            (model, model),
        )


def check(playground: Playground) -> DriftReport:
    return detect_drift(DocumentSchema(playground.store), playground.store)


@pytest.fixture
def index(playground: Playground) -> Playground:
    with playground.store.connection() as connection:
        connection.execute("TRUNCATE nightshift.document, nightshift.index_version CASCADE")
    for number in range(4):
        add(playground, f"runbook-{number}", "runbook", service="billing", severity=number)
    serve(playground, "minilm-1")
    assert check(playground).status == "baseline"
    return playground


def test_more_documents_of_the_same_kind_are_no_drift(index: Playground) -> None:
    add(index, "runbook-9", "runbook", service="ingest", severity=1)
    assert check(index).status == "unchanged"


def test_new_key_and_new_type(index: Playground) -> None:
    add(index, "runbook-9", "runbook", service="ingest", severity=1, reviewed="2026-01-01")
    add(index, "standard-1", "standard", version=2)
    assert [(change.kind, change.object) for change in check(index).changes] == [
        ("column_added", "documents.runbook.reviewed"),
        ("table_added", "documents.standard"),
    ]


def test_missing_key(index: Playground) -> None:
    add(index, "runbook-9", "runbook", service="ingest")
    (change,) = check(index).changes
    assert (change.kind, change.object) == ("became_nullable", "documents.runbook.severity")


def test_key_of_another_type(index: Playground) -> None:
    with index.store.connection() as connection:
        connection.execute('UPDATE nightshift.document SET metadata = metadata || \'{"severity": "high"}\'')
    (change,) = check(index).changes
    assert (change.kind, change.before, change.after) == ("type_changed", "numeric", "text")


def test_another_embedding_model(index: Playground) -> None:
    serve(index, "bge-base")
    (change,) = check(index).changes
    assert (change.kind, change.object, change.severity) == ("type_changed", "documents.embedding.model", "breaking")
    assert "bge-base" in (change.after or "")


def test_warehouse_and_documents_do_not_mix(index: Playground) -> None:
    index.run("CREATE TABLE t (a int)")
    assert index.check().status == "baseline"
    assert check(index).status == "unchanged"
    index.run("ALTER TABLE t ADD b int")
    assert [change.kind for change in index.check().changes] == ["column_added"]
    assert check(index).status == "unchanged"
