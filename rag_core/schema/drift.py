"""Schema drift, nightly and when a statement names something that is not there."""

from __future__ import annotations

from rag_core.schema.check import detect_drift
from rag_core.schema.unknown import UnknownName, explain_unknown

__all__ = ["UnknownName", "detect_drift", "explain_unknown"]
