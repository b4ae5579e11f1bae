"""Vectors of questions, kept in memory and in the store.

A standing question is the same every night. With its vector at hand a replay embeds nothing, and a process that only
replays never loads the embedding model: seconds and hundreds of megabytes.
"""

from __future__ import annotations

import hashlib
import logging
from typing import TYPE_CHECKING

import numpy as np
import psycopg

from rag_core.connectors.sql_files import statement
from rag_core.retrieval.caching import RecentCache

if TYPE_CHECKING:
    from rag_core.connectors.base import Embedder
    from rag_core.connectors.store import Store

logger = logging.getLogger(__name__)

IN_MEMORY = 1_000
# A vector that is used is marked so at most once in so many days, and forgotten after so many without use.
MARKED_EVERY_DAYS = 7
KEPT_DAYS = 90


class QueryVectors:
    """The vector of a text by an embedding model, made where nobody has made it before. Safe for several threads.

    Vectors are rounded to four-byte floats before they are used for the first time, so that a search is the same
    whether its vector was just made or is years old.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: RecentCache[list[float]] = RecentCache(IN_MEMORY)

    def of(self, embedder: Embedder, text: str) -> list[float]:
        """The L2-normalised vector of a text; `embedder.dimensions` numbers."""
        key = (embedder.model_id, text)
        vector = self._known.get(key)
        if vector is None:
            vector = self._kept(embedder, text)
            self._known.put(key, vector)
        return vector

    def _kept(self, embedder: Embedder, text: str) -> list[float]:
        given = {"model_id": embedder.model_id, "text_hash": hashlib.sha256(text.encode()).digest()}
        with self._store.connection() as connection:
            row = connection.cursor(binary=True).execute(statement("query_vectors/find_vector"), given).fetchone()
        if row is not None and len(row[0]) == embedder.dimensions:
            vector, days = row
            if days < MARKED_EVERY_DAYS:
                return list(vector)
        else:
            vector = np.asarray(embedder.embed([text])[0], dtype=np.float32).tolist()
        try:
            with self._store.connection() as connection:
                connection.execute(statement("query_vectors/save_vector"), {**given, "embedding": vector})
        except (psycopg.errors.ReadOnlySqlTransaction, psycopg.errors.InsufficientPrivilege):
            # A search through a replica, or by a role that may only read, keeps it in memory alone.
            logger.debug("the vector of a question is not kept: the store may only be read")
        return list(vector)
