from __future__ import annotations

import re
from pathlib import Path

import pytest

from rag_core.semantics import version


def test_the_version_follows_the_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = version.reading_version()
    assert re.fullmatch(r"[0-9a-f]{16}", shipped)
    seen = {shipped}
    monkeypatch.setattr(version, "__file__", str(tmp_path / "version.py"))
    for name, text in (("match.py", "one"), ("match.py", "two"), ("more.py", "")):
        (tmp_path / name).write_text(text)
        version.reading_version.cache_clear()
        seen.add(version.reading_version())
    version.reading_version.cache_clear()
    assert len(seen) == 4
