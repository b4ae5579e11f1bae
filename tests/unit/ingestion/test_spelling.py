"""Names of files as text: nothing is lost, and no two are the same."""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path

import pytest

from ingestion.spelling import spell, unspell


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"/docs/plain.md", "/docs/plain.md"),
        ("/docs/caf\u00e9.md".encode(), "/docs/caf\u00e9.md"),
        (b"/docs/caf\xe9.md", "/docs/caf\\xe9.md"),
        (b"a\\b.md", "a\\b.md"),
        (b"a\\b\xff.md", "a\\\\b\\xff.md"),
        (b"caf\\xe9.md", "caf\\\\xe9.md"),
    ],
)
def test_a_name_is_spelled_and_found_again(raw: bytes, text: str) -> None:
    assert spell(os.fsdecode(raw)) == text
    assert os.fsencode(unspell(text)) == raw


def test_no_two_names_are_spelled_alike() -> None:
    pieces = (b"a", b"\\", b"\\\\", b"\\xe9", b"\xe9", b"\xe8", b"x", "\u00e9".encode(), "\ufffd".encode())
    names = {b"".join(parts) for parts in product(pieces, repeat=4)}
    spelled = {spell(os.fsdecode(name)): name for name in names}
    assert len(spelled) == len(names)
    for text, name in spelled.items():
        assert os.fsencode(unspell(text)) == name
        assert text.encode().decode() == text
    assert unspell("docs/a.md") == Path("docs/a.md")
