"""Ingestion in the steps of a DAG run: plan, groups side by side, check and finish. Ids and counts travel, no text."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ingestion.checks import check_run, require_passed
from ingestion.config import IngestionRules, load_rules
from ingestion.pipeline import finish_ingest, ingest_batch, plan_ingest
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
    logger.info("%d documents found, %d unchanged, %d to do", plan.discovered, plan.unchanged, plan.pending)
    return {"run_id": plan.run_id, "groups": list(plan.batches)}


def ingest_group(services: Services, run_id: str, group: int) -> int:
    """Works off one group; returns the number of documents."""
    return ingest_batch(
        services.store,
        services.embedder,
        run_id,
        group,
        rules=_rules(services),
        chat_model=services.chat_model,
        passwords=services.settings.ingestion.passwords,
    )


def finish_scheduled_ingest(services: Services, run_id: str, *, prune: bool) -> dict[str, Any]:
    """Checks what the run indexed and closes it; returns its counts.

    Raises IndexCheckFailed where a critical check fails. Documents that could not be read do not fail the run: they
    are listed with their reason.
    """
    require_passed(check_run(services.store, run_id, max_tokens=_rules(services).chunks.max_tokens))
    outcome = finish_ingest(services.store, services.embedder, run_id, prune=prune)
    for failed in outcome.documents_failed:
        logger.warning("%s: %s at %s: %s", failed.path, failed.state, failed.stage, failed.error)
    return {**asdict(outcome), "documents_failed": len(outcome.documents_failed), "skipped": len(outcome.skipped)}


def _rules(services: Services) -> IngestionRules:
    return load_rules(services.config_path(services.settings.ingestion.config))
