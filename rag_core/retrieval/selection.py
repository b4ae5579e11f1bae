"""The documents that a filter keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from rag_core.retrieval.caching import RecentCache

if TYPE_CHECKING:
    from rag_core.connectors.pgvector import IndexReader, IndexState

CACHED_SELECTIONS = 200


@dataclass(frozen=True, slots=True)
class Selection:
    """Documents that have all attributes of a filter.

    `filters` are the (name, value) pairs, `documents` the documents' numbers in ascending order, `windows` how many
    vectors they have. `array` is `documents` as PostgreSQL writes an array: thousands of numbers are spelled once.
    """

    filters: tuple[tuple[str, str], ...]
    documents: Sequence[int]
    windows: int
    array: str = field(init=False, repr=False, compare=False)
    _members: npt.NDArray[np.bool_] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        members = np.zeros(self.documents[-1] + 1 if self.documents else 1, dtype=np.bool_)
        members[np.asarray(self.documents, dtype=np.int64)] = True
        object.__setattr__(self, "_members", members)
        object.__setattr__(self, "array", "{" + ",".join(map(str, self.documents)) + "}")

    def contains(self, documents: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        """For each of these document numbers whether it is selected."""
        inside = documents < len(self._members)
        found: npt.NDArray[np.bool_] = inside & self._members[np.where(inside, documents, 0)]
        return found

    def __contains__(self, document: int) -> bool:
        return 0 <= document < len(self._members) and bool(self._members[document])


class Selections:
    """What filters keep, remembered for each state of the index. Safe to use from several threads."""

    def __init__(self) -> None:
        self._known: RecentCache[Selection] = RecentCache(CACHED_SELECTIONS)
        self._windows: RecentCache[int] = RecentCache(2)

    def select(self, reader: IndexReader, state: IndexState, filters: tuple[tuple[str, str], ...]) -> Selection | None:
        """The documents that a filter keeps; None where there is no filter."""
        if not filters:
            return None
        version = state.serving.version_no if state.serving else 0
        key = (state.generation, version, filters)
        selection = self._known.get(key)
        if selection is None:
            windows = reader.count_windows(version, filters) if version else 0
            selection = Selection(filters, reader.filtered_documents(filters), windows)
            self._known.put(key, selection)
        return selection

    def all_windows(self, reader: IndexReader, state: IndexState) -> int:
        """Vectors of the serving version, of all documents."""
        if state.serving is None:
            return 0
        key = (state.generation, state.serving.version_no)
        windows = self._windows.get(key)
        if windows is None:
            windows = reader.count_windows(state.serving.version_no)
            self._windows.put(key, windows)
        return windows
