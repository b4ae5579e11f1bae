"""Packs postings into segments after an ingest, so that scoring reads a few long values and not a row a posting.

Segments grow like those of a log-structured merge tree (O'Neil et al., 1996): a new one takes in those before it that
are not much larger, so that a posting is packed again only a logarithmic number of times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store

# Positions in a segment are two bytes long.
MOST_CHUNKS = 32_768
# Fewer chunks than these are scored from their rows as quickly as from a segment.
LEAST_UNPACKED = 2_000
# Above this share of chunks that are gone a segment is packed again.
MOST_GONE = 0.25
_NO_END = 2**31 - 1


@dataclass(frozen=True, slots=True)
class SegmentSize:
    """A segment: the chunk numbers that it covers, how many chunks it holds and how many of them are gone."""

    segment_no: int
    first_chunk: int
    last_chunk: int
    chunks: int
    gone: int

    @property
    def living(self) -> int:
        """Chunks that are still there."""
        return self.chunks - self.gone


@dataclass(frozen=True, slots=True)
class Packing:
    """One step: chunks above `after` up to `through` become a segment, in place of those in `replaced`."""

    after: int
    through: int
    replaced: tuple[int, ...]


def plan_packing(segments: Sequence[SegmentSize], unpacked: int) -> Packing | None:
    """What to pack next, None where nothing is worth it.

    Args:
        segments: in the order of their chunks.
        unpacked: chunks after the last segment.
    """
    for place, segment in enumerate(segments):
        if segment.gone > MOST_GONE * segment.chunks:
            before = segments[place - 1].last_chunk if place else 0
            return Packing(before, segment.last_chunk, (segment.segment_no,))
    if unpacked < LEAST_UNPACKED:
        return None
    kept, taken = len(segments), unpacked
    while kept and segments[kept - 1].living < 2 * taken and segments[kept - 1].living + taken <= MOST_CHUNKS:
        kept -= 1
        taken += segments[kept].living
    after = segments[kept - 1].last_chunk if kept else 0
    return Packing(after, _NO_END, tuple(segment.segment_no for segment in segments[kept:]))


def pack_postings(store: Store) -> int:
    """Packs whatever is worth it, a segment a transaction; writers wait for one segment at a time at most.

    Returns how many segments were made. Searches never see half of it: the old segments go in the same transaction.
    """
    made = 0
    while _pack_once(store):
        made += 1
    return made


def _pack_once(store: Store) -> bool:
    with store.connection() as connection:
        connection.execute(statement("index/lock_index_state"))
        segments = [SegmentSize(*row) for row in connection.execute(statement("postings/select_segment_sizes"))]
        last = segments[-1].last_chunk if segments else 0
        row = connection.execute(statement("postings/count_unpacked"), {"after": last}).fetchone()
        packing = plan_packing(segments, int(row[0]) if row else 0)
        replaced = list(packing.replaced) if packing else []
        connection.execute(statement("postings/delete_tombstones"), {"rebuilt": replaced})
        if packing is None:
            return False
        connection.execute(statement("postings/set_sort_memory"))
        connection.execute(statement("postings/delete_blocks"), {"segments": replaced})
        connection.execute(statement("postings/delete_segments"), {"segments": replaced})
        added = connection.execute(
            statement("postings/insert_segment"),
            {"after": packing.after, "through": packing.through, "most": MOST_CHUNKS},
        ).fetchone()
        if added is not None:
            segment_no, first, last = added
            connection.execute(
                statement("postings/insert_blocks"), {"segment": segment_no, "first": first, "last": last}
            )
        # Caches of readers name segments: they have to see that these have changed.
        connection.execute(statement("index/update_index_state"), {"chunks": 0, "terms": 0})
        return True
