"""An embedder without weights, for tests and for machines without a model: words hashed to directions."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence

_WORD = re.compile(r"\w+|[^\w\s]")


class WordHashEmbedder:
    """Texts that share words are near one another; nothing else is known of meaning. An `Embedder`.

    A word adds one of `dimensions` directions, chosen by its SHA-256, so vectors are the same on every machine.
    `embedded` counts the texts that were embedded.
    """

    def __init__(self, *, dimensions: int = 64, max_tokens: int = 254, name: str = "word-hash") -> None:
        self.setting = f"memory:{name}-{dimensions}"
        self.embedded = 0
        self._dimensions = dimensions
        self._max_tokens = max_tokens

    @property
    def model_id(self) -> str:
        """Name and version, as stored with an index."""
        return f"{self.setting}@1"

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self._dimensions

    @property
    def max_tokens(self) -> int:
        """Tokens that one text may have."""
        return self._max_tokens

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Character span of each word and punctuation mark."""
        return [match.span() for match in _WORD.finditer(text)]

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One L2-normalised vector a text; a text without words points in the first direction."""
        self.embedded += len(texts)
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        values = [0.0] * self._dimensions
        for word in _WORD.findall(text.casefold())[: self._max_tokens]:
            digest = hashlib.sha256(word.encode("utf-8", "replace")).digest()
            values[int.from_bytes(digest[:4], "big") % self._dimensions] += 1.0
        length = math.sqrt(sum(value * value for value in values))
        if not length:
            return [1.0, *[0.0] * (self._dimensions - 1)]
        return [value / length for value in values]
