"""Vectors for windows of text, each computed once for a model and kept in the store's cache."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rag_core.connectors.base import Embedder
from rag_core.connectors.pgvector import vector_text
from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store

# Saved together: a process that is killed loses at most the vectors of one such part.
SAVED_TOGETHER = 256


@dataclass(frozen=True, slots=True)
class EmbeddedTexts:
    """Hashes of texts whose vectors are in the cache now.

    `computed` counts those that were not there before; `broken` are texts for which the model gave no usable vector.
    """

    hashes: frozenset[bytes]
    computed: int
    broken: frozenset[bytes]


def text_hash(text: str) -> bytes:
    """SHA-256 of a text, the key of its vector."""
    return hashlib.sha256(text.encode("utf-8")).digest()


def embed_texts(
    store: Store, embedder: Embedder, texts: Iterable[str], *, on_computed: Callable[[int], None] | None = None
) -> EmbeddedTexts:
    """Sees to it that there is a vector in the cache for each distinct text.

    Args:
        texts: windows that fit the model; the order does not matter.
        on_computed: told the number of vectors computed after each part.
    """
    by_hash = {text_hash(text): text for text in texts}
    cached = _cached(store, embedder.model_id, sorted(by_hash))
    missing = [digest for digest in sorted(by_hash) if digest not in cached]
    # Of like length side by side, so that the model pads little.
    missing.sort(key=lambda digest: (len(by_hash[digest]), digest))
    broken: set[bytes] = set()
    for start in range(0, len(missing), SAVED_TOGETHER):
        part = missing[start : start + SAVED_TOGETHER]
        computed = embedder.embed([by_hash[digest] for digest in part])
        usable: dict[bytes, str] = {}
        for digest, vector in zip(part, computed, strict=True):
            if is_usable(vector, embedder.dimensions):
                usable[digest] = vector_text(vector)
            else:
                broken.add(digest)
        _save(store, embedder.model_id, usable)
        if on_computed is not None:
            on_computed(len(part))
    return EmbeddedTexts(frozenset(by_hash) - broken, len(missing), frozenset(broken))


def is_usable(vector: Sequence[float], dimensions: int) -> bool:
    """Whether a vector may be stored: of the right length, finite, and not all zero, which has no direction."""
    return len(vector) == dimensions and all(math.isfinite(value) for value in vector) and any(vector)


def _cached(store: Store, model_id: str, hashes: list[bytes]) -> set[bytes]:
    if not hashes:
        return set()
    with store.connection() as connection:
        rows = connection.execute(
            statement("index/select_cached_hashes"), {"model_id": model_id, "digests": hashes}
        ).fetchall()
    return {bytes(digest) for (digest,) in rows}


def _save(store: Store, model_id: str, vectors: dict[bytes, str]) -> None:
    if not vectors:
        return
    # In order of the key, so that two processes that save the same texts cannot deadlock.
    hashes = sorted(vectors)
    with store.connection() as connection:
        connection.execute(
            statement("index/insert_cached_vectors"),
            {"model_id": model_id, "digests": hashes, "vectors": [vectors[digest] for digest in hashes]},
        )
