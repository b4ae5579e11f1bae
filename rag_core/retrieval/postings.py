"""BM25 over packed postings: exact, in memory that a query needs for a moment, from plain PostgreSQL.

A segment is a stretch of chunks whose postings are packed as two short numbers each: the chunk's position in the
segment and the term's frequency. Both are read as they are and scored as whole arrays, so that a posting costs
nanoseconds where a row costs a microsecond. Segments never change; chunks that are gone are left out by their
tombstones, chunks that are too new for a segment are scored by the database from their rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rag_core.retrieval.bm25 import CorpusStatistics, QueryTerm, length_norm
from rag_core.retrieval.caching import RecentCache

if TYPE_CHECKING:
    import numpy.typing as npt

    from rag_core.connectors.pgvector import IndexReader, PostingBlock
    from rag_core.retrieval.selection import Selection

# Sums of floats come in any order: scores are equal, and tied, where they agree to this many digits.
DIGITS = 9
_TIE = 10.0**-DIGITS
# Bytes of a packed position or frequency.
_SHORT = 2
# 32,768 chunks each: 400 kB, so a million chunks stay below 13 MB.
CACHED_SEGMENTS = 256


@dataclass(frozen=True, slots=True)
class Segment:
    """Chunks of a segment by position: their numbers, documents, and lengths in terms."""

    segment_no: int
    chunks: npt.NDArray[np.int32]
    documents: npt.NDArray[np.int32]
    lengths: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Layout:
    """The segments of one state of the index.

    `gone` are the positions in each whose chunks are no more, `last_chunk` is the last one that segments cover, and
    `unpacked` how many chunks there are after it.
    """

    segments: tuple[Segment, ...]
    gone: tuple[npt.NDArray[np.int64], ...]
    last_chunk: int
    unpacked: int


class PackedPostings:
    """Scores with postings in segments; a `LexicalIndex`. Safe to use from several threads."""

    def __init__(self) -> None:
        self._segments: RecentCache[Segment] = RecentCache(CACHED_SEGMENTS)
        self._layouts: RecentCache[Layout] = RecentCache(2)

    def score(
        self,
        reader: IndexReader,
        generation: int,
        terms: Sequence[QueryTerm],
        statistics: CorpusStatistics,
        *,
        depth: int,
        selection: Selection | None,
    ) -> list[tuple[int, float]]:
        """The `depth` best (chunk_no, score), best first, equal scores by chunk number."""
        if not terms or (selection is not None and not selection.documents):
            return []
        layout = self._layout(reader, generation)
        weights = {term.term_no: term.weight for term in terms}
        norm = length_norm(statistics)
        found: list[tuple[int, float]] = []
        if layout.segments:
            blocks = reader.blocks(list(weights))
            found = score_blocks(layout, blocks, weights, norm, depth=depth, selection=selection)
        if layout.unpacked:
            # A filter is applied here, not in the database: it would compare each row with a list of thousands.
            rows = reader.score_unpacked(weights, norm, layout.last_chunk, depth=depth if selection is None else None)
            found += [
                (chunk_no, round(score, DIGITS))
                for chunk_no, document_no, score in rows
                if selection is None or document_no in selection
            ]
            found.sort(key=lambda each: (-each[1], each[0]))
        return found[:depth]

    def _layout(self, reader: IndexReader, generation: int) -> Layout:
        layout = self._layouts.get(generation)
        if layout is None:
            layout = self._read_layout(reader)
            self._layouts.put(generation, layout)
        return layout

    def _read_layout(self, reader: IndexReader) -> Layout:
        listed = reader.segments()
        known = {number: self._segments.get(number) for number, _ in listed}
        missing = [number for number, segment in known.items() if segment is None]
        for number, chunks, documents, lengths in reader.segment_columns(missing):
            segment = Segment(number, _integers(chunks), _integers(documents), _integers(lengths).astype(np.float64))
            self._segments.put(number, segment)
            known[number] = segment
        segments = tuple(segment for segment in known.values() if segment is not None)
        buried = np.asarray(reader.tombstones() if segments else [], dtype=np.int32)
        gone = tuple(np.flatnonzero(np.isin(segment.chunks, buried)) for segment in segments)
        last_chunk = listed[-1][1] if listed else 0
        return Layout(segments, gone, last_chunk, reader.count_chunks(last_chunk))


def score_blocks(
    layout: Layout,
    blocks: Sequence[PostingBlock],
    weights: dict[int, float],
    norm: tuple[float, float],
    *,
    depth: int,
    selection: Selection | None,
) -> list[tuple[int, float]]:
    """The `depth` best (chunk_no, score) of all segments, best first, equal scores by chunk number.

    Args:
        blocks: packed postings of the query's terms.
        weights: of each term by its number.
        norm: `bm25.length_norm` of the index.
    """
    by_segment: dict[int, list[PostingBlock]] = {}
    for block in blocks:
        by_segment.setdefault(block[1], []).append(block)
    best: list[tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]] = []
    least = 0.0
    for segment, gone in zip(layout.segments, layout.gone, strict=True):
        own = by_segment.get(segment.segment_no)
        if not own:
            continue
        scores = _segment_scores(segment, own, weights, norm)
        scores[gone] = 0.0
        if selection is not None:
            scores[~selection.contains(segment.documents)] = 0.0
        kept = _best_positions(scores, depth, least)
        if len(kept) >= depth:
            # What is worse than a whole list of this segment is in no list of all of them.
            least = max(least, float(scores[kept].min()) - _TIE)
        best.append((segment.chunks[kept], scores[kept]))
    if not best:
        return []
    chunks = np.concatenate([each for each, _ in best])
    rounded = np.round(np.concatenate([each for _, each in best]), DIGITS)
    order = np.lexsort((chunks, -rounded))[:depth]
    return [(int(chunks[place]), float(rounded[place])) for place in order]


def _segment_scores(
    segment: Segment, blocks: Sequence[PostingBlock], weights: dict[int, float], norm: tuple[float, float]
) -> npt.NDArray[np.float64]:
    """Scores of all chunks of a segment by position; the blocks are its own, one of each term at most."""
    base, slope = norm
    # All terms as one array: a query has dozens of blocks, most of them too short to pay for calls of their own.
    place = _shorts(b"".join(block[2] for block in blocks)).astype(np.intp)
    frequency = _shorts(b"".join(block[3] for block in blocks)).astype(np.float64)
    weight = np.repeat([weights[block[0]] for block in blocks], [len(block[2]) // _SHORT for block in blocks])
    held = weight * (frequency / (frequency + base + slope * segment.lengths[place]))
    return np.bincount(place, weights=held, minlength=len(segment.chunks)).astype(np.float64, copy=False)


def _best_positions(scores: npt.NDArray[np.float64], depth: int, least: float) -> npt.NDArray[np.intp]:
    """Positions of the scores that are among the `depth` best or tied with the last of them, none below `least`."""
    place = np.flatnonzero(scores >= least) if least > 0 else np.flatnonzero(scores)
    if len(place) <= depth:
        return place
    values = scores[place]
    # Sorted, not partitioned: with many equal scores, as a common word gives them, a partition takes far longer.
    kept: npt.NDArray[np.intp] = place[values >= np.sort(values)[-depth] - _TIE]
    return kept


def _shorts(packed: bytes) -> npt.NDArray[np.int16]:
    return np.frombuffer(packed, dtype=">i2")


def _integers(packed: bytes) -> npt.NDArray[np.int32]:
    return np.frombuffer(packed, dtype=">i4").astype(np.int32)
