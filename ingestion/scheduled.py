"""Ingestion in the steps of a DAG run: plan, groups side by side, checks, publication. Only ids and counts travel."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ingestion.config import IngestionRules, load_rules
from ingestion.pipeline import finish_ingest, ingest_batch, judge_ingest
from ingestion.planning import plan_ingest
from rag_core.wiring import Services

logger = logging.getLogger(__name__)


def plan_scheduled_ingest(services: Services, paths: Sequence[str], *, group_size: int) -> dict[str, Any]:
    """Plans a run over these paths, or over the configured sources where none is named.

    Returns `run_id` and `groups`, the numbers of the work batches. Raises ConfigurationError where nothing is there.
    """
    wanted = [Path(path) for path in paths] or list(services.settings.ingestion.sources)
    plan = plan_ingest(
        services.store,
        services.embedder,
        wanted,
        rules=_rules(services),
        batch_size=group_size,
        chat_model=services.chat_model,
    )
    logger.info(
        "%d documents found, %d unchanged, %d to do, %d staged by a run before",
        plan.discovered,
        plan.unchanged,
        plan.pending,
        plan.staged,
    )
    return {"run_id": plan.run_id, "groups": list(plan.batches)}


def ingest_group(services: Services, run_id: str, group: int) -> int:
    """Works off one group and stages it; returns the number of documents."""
    return ingest_batch(
        services.store,
        services.embedder,
        run_id,
        group,
        rules=_rules(services),
        chat_model=services.chat_model,
        passwords=services.settings.ingestion.passwords,
    )


def check_scheduled_ingest(services: Services, run_id: str) -> dict[str, int]:
    """Lets Great Expectations judge what the run has staged; returns how many documents passed and were refused.

    A refused document does not fail the run: it stays as it was published last, and its record says why.
    """
    return asdict(judge_ingest(services.store, run_id, rules=_rules(services)))


def publish_scheduled_ingest(services: Services, run_id: str, *, prune: bool) -> dict[str, Any]:
    """Publishes what passed its checks and closes the run; returns its counts.

    Documents that could not be read or did not pass do not fail the run: they are listed with their reason.
    """
    outcome = finish_ingest(services.store, services.embedder, run_id, rules=_rules(services), prune=prune)
    for failed in outcome.documents_failed:
        kept = "; what was published of it before still answers" if failed.kept else ""
        logger.warning("%s: %s at %s: %s%s", failed.path, failed.state, failed.stage, failed.error, kept)
    counts = {name: len(getattr(outcome, name)) for name in ("documents_failed", "skipped", "notes")}
    return {**asdict(outcome), **counts}


def _rules(services: Services) -> IngestionRules:
    return load_rules(services.config_path(services.settings.ingestion.config))
