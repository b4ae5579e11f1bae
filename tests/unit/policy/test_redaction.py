"""Secrets leave no trace in text; everything else does."""

from __future__ import annotations

import pytest

from rag_core.policy.redaction import redact


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("cannot connect to postgresql://ann:s3cr3t@db.example:5432/shop", "s3cr3t"),
        ("postgresql+psycopg://ann:p@ss@db/shop", "ss@"),
        ("host=db user=ann password=s3cr3t dbname=shop", "s3cr3t"),
        ("snowflake://ann:s3cr3t@acc/db?warehouse=w&passcode=998877", "998877"),
        ("duckdb:///x.db?motherduck_token=abc.def", "abc.def"),
        ("{'password': 'hun ter2', 'user': 'ann'}", "ter2"),
        ('{"api_key": "abcd1234"}', "abcd1234"),
        ("NIGHTSHIFT_LLM__API_KEY=abcd1234", "abcd1234"),
        ("Authorization: Bearer abcdefgh12345678", "abcdefgh12345678"),
        ("invalid key sk-proj-abcdefghijklmnop given", "abcdefghijklmnop"),
        ("AKIAABCDEFGHIJKLMNOP is not valid", "AKIAABCDEFGHIJKLMNOP"),
        ("token eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.c2lnbmF0dXJl ends", "eyJzdWIiOiIxMjM0"),
        ("-----BEGIN PRIVATE KEY-----\nMIIEv\n-----END PRIVATE KEY-----", "MIIEv"),
    ],
)
def test_secrets_are_hidden(text: str, secret: str) -> None:
    hidden = redact(text)
    assert secret not in hidden
    assert "***" in hidden
    assert redact(hidden) == hidden


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://ann@db.example:5432/shop",
        "unknown column token_count; did you mean tokens?",
        "SELECT secret_santa, password_changed_at FROM gifts WHERE id = 7",
        "the key of the table is order_id, see https://example.org/a:b",
        "12:30:05 request done",
    ],
)
def test_harmless_text_stays(text: str) -> None:
    assert redact(text) == text


def test_what_stands_around_a_secret_stays() -> None:
    assert redact("user=ann password=abc host=db") == "user=ann password=*** host=db"
    assert redact("postgresql://ann:abc@db/shop?x=1") == "postgresql://ann:***@db/shop?x=1"
