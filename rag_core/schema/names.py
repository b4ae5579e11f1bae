"""Near misses of tables and columns. The guard below this room needs them too, so they live in `policy.names`."""

from __future__ import annotations

from rag_core.policy.names import NameRules, Suggestion, asked_back, name_rules, near_misses, similarity

__all__ = ["NameRules", "Suggestion", "asked_back", "name_rules", "near_misses", "similarity"]
