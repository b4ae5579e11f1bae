"""The cache forgets what was used longest ago."""

from __future__ import annotations

from rag_core.retrieval.caching import RecentCache


def test_what_was_used_last_stays() -> None:
    cache: RecentCache[str] = RecentCache(2)
    cache.put("a", "1")
    cache.put("b", "2")
    assert cache.get("a") == "1"
    cache.put("c", "3")
    assert cache.get("b") is None
    assert cache.get("a") == "1"
    assert cache.get("c") == "3"
