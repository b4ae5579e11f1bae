"""What a kept plan rests on, as hashes, and what of it has changed. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from pydantic import BaseModel

from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.plan import Plan
from rag_core.schema.fingerprint import table_fingerprint

MISSING = "missing"
Value = TypeVar("Value")


def question_key(question: str) -> str:
    """The question without regard to case, spacing and its last sign: the same question has the same key."""
    return re.sub(r"\s+", " ", question.strip().lower()).rstrip(" ?!.")


# By identity, with the value itself, so that its place in memory is not another's: a policy, a semantic model and the
# tables of a schema are the same objects for thousands of questions.
_KNOWN: dict[int, tuple[object, str]] = {}
MAX_KNOWN = 4_096


def _once(value: Value, compute: Callable[[Value], str]) -> str:
    known = _KNOWN.get(id(value))
    if known is not None and known[0] is value:
        return known[1]
    made = compute(value)
    if len(_KNOWN) >= MAX_KNOWN:
        _KNOWN.clear()
    _KNOWN[id(value)] = (value, made)
    return made


def digest(value: BaseModel) -> str:
    """16 hexadecimal digits of the SHA-256 of a frozen value's JSON."""
    return _once(value, lambda given: hashlib.sha256(given.model_dump_json().encode()).hexdigest()[:16])


def take_fingerprints(
    plan: Plan,
    tables: Sequence[str],
    catalog: Catalog,
    *,
    policy: BaseModel,
    semantic_model: BaseModel,
    index_version: str,
    reading: str,
    prompts: str,
    chat_model: str,
) -> dict[str, str]:
    """Hashes by kind. Only what the plan uses: each touched table, the index for searches, and who planned it.

    Args:
        plan: the plan.
        tables: `schema.table` of each table its statements read.
        catalog: the warehouse's schema.
        policy: the warehouse policy.
        semantic_model: metrics and dimensions.
        index_version: the document index that serves, with its embedding model.
        reading: version of the rules that read a question without a model.
        prompts: version of the prompts.
        chat_model: name of the chat model, empty for none.
    """
    prints = {}
    for name in sorted(set(tables)):
        table = catalog.table(name)
        prints[f"table:{name}"] = _once(table, table_fingerprint)[:16] if table is not None else MISSING
    if any(step.kind == "sql" for step in plan.steps):
        prints["policy"] = digest(policy)
    if any(step.kind == "sql" and step.metric_query is not None for step in plan.steps):
        prints["semantic_model"] = digest(semantic_model)
    if any(step.kind == "search" for step in plan.steps):
        prints["index"] = index_version
    if plan.by_model:
        prints["prompts"] = prompts
        prints["chat_model"] = chat_model
    else:
        prints["reading"] = reading
    return prints


def changed(kept: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    """The kinds whose hash differs or that one side lacks, in order."""
    return tuple(kind for kind in sorted({*kept, *now}) if kept.get(kind) != now.get(kind))
