"""Pools of Airflow that Nightshift's tasks need: a task whose pool is missing would wait for ever.

Airflow calls `on_starting` in each of its long-running processes; the first one to start makes what is missing. A pool
that is there is left alone, so that an operator may change its slots.
"""

from __future__ import annotations

import logging
from typing import Any

from airflow.listeners import hookimpl

from nightshift_airflow.defaults import EMBEDDING_POOL, EMBEDDING_SLOTS

POOLS = {EMBEDDING_POOL: (EMBEDDING_SLOTS, "Nightshift: document groups that are embedded at the same time")}

logger = logging.getLogger(__name__)


@hookimpl  # type: ignore[untyped-decorator]  # Airflow's decorators are untyped
def on_starting(component: Any) -> None:
    """Makes missing pools where the starting component is a scheduler or another process with the metadata at hand."""
    # Every task starts with this hook too, and a task has no business in the metadata.
    if type(component).__module__ == "airflow.jobs.job":
        ensure_pools()


def ensure_pools() -> list[str]:
    """Makes the pools that are missing; returns their names. Safe to call from several processes at once."""
    from airflow.models.pool import Pool  # noqa: PLC0415 - the whole of the models
    from airflow.utils.session import create_session  # noqa: PLC0415 - the whole of the models
    from sqlalchemy import select  # noqa: PLC0415 - heavy
    from sqlalchemy.exc import IntegrityError  # noqa: PLC0415 - heavy

    made = []
    for name, (slots, description) in POOLS.items():
        try:
            with create_session() as session:
                if session.scalar(select(Pool.id).where(Pool.pool == name)) is not None:
                    continue
                session.add(Pool(pool=name, slots=slots, description=description, include_deferred=False))
        except IntegrityError:
            continue  # another process was quicker
        made.append(name)
        logger.info("made the pool %s with %d slots", name, slots)
    return made
